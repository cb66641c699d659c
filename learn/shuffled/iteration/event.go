package iteration

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/num"
	"github.com/darrm/darrm/learn/train"
)

// What epochs tell of a record, as privacy losses (docs/training.md). Modes with
// a ρ are one Gaussian mechanism with μ² = 2ρ, noise multiplier 1/μ. In a mixture the pair
// (J, N(μ_J, 1)) against (J, N(0, 1)) dominates, J the record's place, and nothing (μ = 0)
// where it is not visited:
//
//	δ(ε) = Σ_j δ_{μ_j}(ε)/n,   μ_j = 2G/√V_j, times √K_p if one place serves all epochs

// gaussianEpsilonOf returns the exact ε of a Gaussian mechanism with μ² = 2ρ.
func gaussianEpsilonOf(rho, delta float64) (float64, error) {
	eps, err := accountant.GaussianEpsilon(gaussianNoiseOf(rho), delta)
	return eps, nameNoise("noise of all epochs together", err)
}

// nameNoise returns the error of a noise multiplier under the name of the noise that it is of.
func nameNoise(noise string, err error) error {
	var rule *check.Error
	if errors.As(err, &rule) && rule.Name == "noise multiplier" {
		return check.Want(noise, rule.Value, rule.Rule)
	}
	return err
}

// gaussianNoiseOf returns the noise multiplier 1/√(2ρ), rounded down.
func gaussianNoiseOf(rho float64) float64 { return 1 / math.Sqrt(2*rho) * (1 - num.Margin) }

// theoremOfPlaces is in docs/training.md.
const theoremOfPlaces = "the mixture over a record's places"

// Event returns the event of all epochs together for an Accountant. It is a Gaussian event in the
// modes whose loss is at most that of one. In the mixtures it is a Profile for each independent
// place of the record. Best is one of the modes that hold, by their divergence of order 8. Each of
// them bounds the losses, and the order only decides which is likely to be best. Epochs with
// private data but without noise are ErrUnsupported. A mode whose conditions do not hold is
// ErrNotCertified.
func (e Steps) Event() (accountant.Event, error) {
	if err := e.check(); err != nil {
		return nil, err
	}
	modes, err := e.certified()
	if err != nil {
		return nil, err
	}
	switch {
	case !e.private():
		return accountant.ApproxDP{Neighbours: e.Neighbours}, nil // nothing
	case e.Noise == 0:
		return nil, fmt.Errorf("%v, without noise: %w", e, accountant.ErrUnsupported)
	}
	named := slices.MinFunc(modes, func(a, b counted) int {
		return cmp.Compare(a.divergence(8, a.m), b.divergence(8, b.m))
	})
	switch named.mode() {
	case RRMixture:
		places, err := named.placeProfile(1)
		if err != nil {
			return nil, err
		}
		return accountant.Compose(accountant.Charge{Event: places, Count: e.Epochs})
	case SOMixture:
		return named.placeProfile(math.Sqrt(float64(e.Epochs)) * (1 + num.Margin))
	}
	// More noise than the accountant takes is counted as less.
	sigma := min(gaussianNoiseOf(named.rho(named.m)), accountant.MaxNoise)
	return accountant.Gaussian{NoiseMultiplier: sigma, Neighbours: e.Neighbours}, nil
}

// mixtureExact is the cost of runs in a mixture mode by their privacy losses.
func (r *Report) mixtureExact(private []Steps) error {
	charges := make([]accountant.Charge, len(private))
	for i, e := range private {
		event, err := e.Event()
		if err != nil {
			return err
		}
		charges[i] = accountant.Charge{Event: event, Count: 1}
	}
	all, err := accountant.Compose(charges...)
	if err != nil {
		return err
	}
	best, err := train.LeastEpsilon(all, r.Relation, r.Cost.Delta, accountant.MethodPLD)
	if err != nil {
		return err
	}
	r.Cost.Epsilon = best.Cost.Epsilon
	return nil
}

// mixturePositions is up to which place from the end mixtures are taken one by one. More
// make the figure smaller by less than 1e-3 of it, and take longer.
const mixturePositions = 64

// placeProfile returns one secret place of a record, each μ times the factor.
func (e Steps) placeProfile(factor float64) (accountant.Profile, error) {
	n := float64(e.Records)
	var parts []accountant.ProfilePart
	e.eachBlock(mixturePositions, func(i, count float64) {
		sigma := math.Sqrt(e.tail(i)) / (2 * e.Clip * factor) * (1 - num.Margin)
		parts = append(parts, accountant.ProfilePart{Weight: count / n, NoiseMultiplier: sigma})
	})
	if e.Private < e.Records {
		parts = append(parts, accountant.ProfilePart{Weight: float64(e.Records-e.Private) / n,
			NoiseMultiplier: math.Inf(1)})
	}
	profile, err := accountant.NewProfile(e.Neighbours, theoremOfPlaces, parts)
	return profile, nameNoise("noise of the last private step", err)
}
