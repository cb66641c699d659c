package iteration

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/num"
	"github.com/darrm/darrm/learn/train"
)

// Report states the privacy cost of a shuffled gradient run and the conditions it rests on.
type Report struct {
	Mode       Mode       // the one whose figure Cost is; never Best
	Conversion Conversion // "" where none is needed
	Trials     []Trial    // what each mode says, where Best was asked for; else nil
	Relation   accountant.Relation
	Released   Released // the most that may be released for Cost to hold
	Order      SampleOrder

	Clip        float64 // G
	Noise       float64 // σ on private steps
	PublicNoise float64 // σ on public steps of private epochs
	Epochs      int     // K_p

	Amplification float64 // m that was counted: 1 is none
	// Rényi divergence at Alpha over Alpha; the zCDP parameter where the divergence is α·ρ; 0 where a
	// mixture's losses are used instead
	Rho   float64
	Alpha float64 // the order used, α*; 0 where none is

	StepSize    float64  // η
	Smoothness  float64  // L_max
	Contractive bool     // all steps are known to be non-expansive
	Fallback    []string // why noise on public steps was not counted; nil if it was, or there is none
	Warnings    []string // what holds but is outside the range that the source states

	Cost accountant.Cost // ε rounded up; +Inf without noise
}

func checkTarget(target accountant.Cost) error {
	return cmp.Or(check.Positive("epsilon", target.Epsilon), check.Within("delta", target.Delta))
}

// Report returns the cost of the event at δ in (0,1). A mode whose conditions fail is
// ErrNotCertified. Paper falls back to m = 1 instead and gives the reason; Best leaves such a mode
// out and gives the reason. An unstated conversion is ConversionClassical, and with Best the one
// with the smaller ε. Without private data ε is 0, with private data and no noise +Inf.
//
// Cost: milliseconds, tenths of a second for ConversionExact of RRMixture, and
// therefore for Best of secretly reshuffled records.
func (e Steps) Report(delta float64) (Report, error) {
	return Account(delta, e)
}

// Account returns the cost of several runs of epochs of one training together. The divergences add
// up. SOMixture and CrossEpoch reach over all epochs, so they take one run only. Mode, conversion,
// order and clip must agree. The report shows the noise of the first run with private data and the
// smallest m.
func Account(delta float64, runs ...Steps) (Report, error) {
	if err := check.Within("delta", delta); err != nil {
		return Report{}, err
	}
	if len(runs) == 0 {
		return Report{}, errors.New("no epochs to account for")
	}
	r, private, ms, err := prepareReport(runs)
	if err != nil {
		return Report{}, err
	}
	if runs[0].mode() == Best {
		return bestReport(delta, runs)
	}
	r.Cost.Delta = delta
	exact := runs[0].conversion() == ConversionExact
	if len(private) == 0 {
		return r, nil // ε = 0
	}
	for _, e := range private {
		if e.Noise == 0 {
			r.Rho, r.Cost.Epsilon = math.Inf(1), math.Inf(1)
			return r, nil
		}
	}
	if pureRho(r.Mode) {
		for i, e := range private {
			r.Rho += e.rho(ms[i])
		}
		r.Rho *= 1 + 1e-15*float64(len(private))
	}
	switch {
	case exact && pureRho(r.Mode):
		r.Cost.Epsilon, err = gaussianEpsilonOf(r.Rho, delta)
	case exact:
		err = r.mixtureExact(private)
	case r.Conversion == ConversionClassical && pureRho(r.Mode):
		r.Alpha = accountant.ZCDPOrder(r.Rho, delta)
		if math.IsInf(r.Rho, 1) {
			r.Alpha, r.Cost.Epsilon = 1, r.Rho
			return r, nil
		}
		r.Cost.Epsilon, err = accountant.EpsilonFromZCDP(r.Rho, delta)
	default:
		convert := accountant.ClassicalEpsilonFromRDP
		if r.Conversion == ConversionImproved {
			convert = accountant.EpsilonFromRDP
		}
		total := func(alpha float64) float64 {
			sum := 0.0
			for i, e := range private {
				sum += e.divergence(alpha, ms[i])
			}
			return sum * (1 + 1e-15*float64(len(private)))
		}
		r.Alpha, r.Cost.Epsilon = num.BestOrder(maxOrder, func(alpha float64) float64 {
			return finite(convert(alpha, total(alpha), delta))
		})
		if math.IsInf(r.Cost.Epsilon, 1) {
			r.Rho, r.Alpha = r.Cost.Epsilon, 0
		} else {
			r.Rho = total(r.Alpha) / r.Alpha
		}
	}
	return r, err
}

// maxOrder is the largest order that is tried.
const maxOrder = 1e10

// finite returns +Inf for a figure that could not be had: the divergence is infinite.
func finite(eps float64, err error) float64 {
	if err != nil {
		return math.Inf(1)
	}
	return eps
}

// pureRho reports whether the mode's loss is at most that of one Gaussian mechanism with μ² = 2ρ.
func pureRho(m Mode) bool {
	return m == Paper || m == CrossEpoch || m == GaussianExact
}

// prepareReport checks the runs and returns those with private data and their m.
func prepareReport(runs []Steps) (r Report, private []Steps, ms []float64, err error) {
	first := runs[0]
	r = Report{
		Mode: first.mode(), Conversion: first.conversion(), Relation: first.Neighbours,
		Order: first.Order, Clip: first.Clip, Amplification: 1, Contractive: true,
		StepSize: first.StepSize, Released: first.Released,
	}
	if r.Mode == GaussianExact {
		r.Conversion = ""
	}
	for i, e := range runs {
		if err := e.check(); err != nil {
			return r, nil, nil, err
		}
		if e.mode() != first.mode() || e.Conversion != first.Conversion || e.Order != first.Order ||
			e.Clip != first.Clip || e.Released != first.Released || e.StepSize != first.StepSize {
			return r, nil, nil, fmt.Errorf("runs 1 and %d differ in more than their steps and noise: %w",
				i+1, accountant.ErrUnsupported)
		}
		r.Smoothness = max(r.Smoothness, e.Smoothness)
		if len(e.Contraction()) > 0 {
			r.Contractive = false
		}
		if !e.private() {
			continue
		}
		m, fallback, err := e.certify()
		if err != nil {
			return r, nil, nil, err
		}
		if len(private) == 0 {
			r.Noise, r.PublicNoise, r.Amplification, r.Fallback = e.Noise, e.PublicNoise, m, fallback
		} else {
			r.Amplification = min(r.Amplification, m)
			if r.Fallback == nil {
				r.Fallback = fallback
			}
		}
		r.Epochs += e.Epochs
		private, ms = append(private, e), append(ms, m)
	}
	if len(private) > 1 && (r.Mode == SOMixture || r.Mode == CrossEpoch) {
		return r, nil, nil, fmt.Errorf("mode %s with %d different runs of private epochs: %w", r.Mode,
			len(private), accountant.ErrUnsupported)
	}
	if hard, stated := stepCap(r.Smoothness); r.Smoothness > 0 && r.StepSize > stated &&
		r.StepSize <= hard {
		r.Warnings = append(r.Warnings,
			fmt.Sprintf("step size %g is above 1/L = %g, the range that the source states, though not "+
				"above 2/L, up to which the theorem holds", r.StepSize, stated))
	}
	// one run is enough: its iterates are hidden
	amplified := slices.ContainsFunc(ms, func(m float64) bool { return m > 1 })
	if !amplified && r.Mode != CrossEpoch && pureRho(r.Mode) {
		r.Released = EveryIterate // nothing rests on hiding them
	} else if r.Mode != CrossEpoch {
		r.Released = EpochEnds
	}
	return r, private, ms, nil
}

// Calibrate returns the event with the smallest noise, rounded up, whose cost is at most
// the target's ε > 0 at its δ in (0,1), and its report. Noise and PublicNoise are taken
// as a pattern of which only the ratio counts: 1 and 0 for noise on private steps only, 1
// and 1 for both. An event without private data gets no noise. What is returned has been
// accounted for: its cost is not above the target. Best takes the smallest noise of
// all modes that hold. The error is that of ctx where ctx ends, which is looked at between
// accounts.
func (e Steps) Calibrate(ctx context.Context, target accountant.Cost) (Steps, Report, error) {
	if err := checkTarget(target); err != nil {
		return Steps{}, Report{}, err
	}
	if e.private() && !(e.Noise > 0) {
		return Steps{}, Report{}, check.Want("noise", e.Noise, "above 0: it is the pattern that is scaled")
	}
	if err := e.check(); err != nil {
		return Steps{}, Report{}, err
	}
	m, _, err := e.certify()
	if err != nil {
		return Steps{}, Report{}, err
	}
	if !e.private() {
		e.Noise, e.PublicNoise = 0, 0 // before the search: there is nothing to find
		r, err := e.Report(target.Delta)
		return e, r, err
	}
	if e.mode() == Best {
		return e.calibrateBest(ctx, target)
	}
	start, tolerance, err := e.startOf(ctx, m, target)
	if err != nil {
		return Steps{}, Report{}, err
	}
	scaled := func(s float64) Steps {
		c := e
		c.Noise, c.PublicNoise = e.Noise*s, e.PublicNoise*s
		return c
	}
	var known Report // of the noise that was last seen to fit, which is what Calibrate returns
	search := train.Search{Start: start, Least: start * 1e-30, Most: start * 16, Tolerance: tolerance}
	s, _, err := train.Calibrate(ctx, target.Epsilon, search, func(s float64) (float64, error) {
		r, err := scaled(s).Report(target.Delta)
		if err == nil && r.Cost.Epsilon <= target.Epsilon {
			known = r
		}
		return r.Cost.Epsilon, err
	})
	if errors.Is(err, train.ErrTarget) {
		err = fmt.Errorf("no noise found for %v: %w", target, accountant.ErrUnsupported)
	}
	if err != nil {
		return Steps{}, Report{}, err
	}
	return scaled(s), known, nil
}

// startOf returns a scale of the noise near the one that a target needs, and how closely to look:
// at privacy losses of mixtures, which take tenths of a second, less closely.
func (e Steps) startOf(ctx context.Context, m float64,
	target accountant.Cost) (scale, tolerance float64, err error) {
	const close = 1e-12
	switch {
	case e.conversion() == ConversionExact && pureRho(e.mode()):
		sigma, err := accountant.GaussianNoise(target)
		// noise multiplier 1/√(2ρ), and ρ falls with the square of the scale
		return sigma * math.Sqrt(2*e.rho(m)), close, err
	case e.conversion() == ConversionExact:
		by, _, err := e.inMode(e.Mode, ConversionImproved).Calibrate(ctx, target)
		return by.Noise / e.Noise, exactTolerance, err
	case !pureRho(e.mode()):
		e.Mode = Paper // whose ρ a mixture never exceeds
	}
	rho, err := accountant.ZCDPFor(target)
	return math.Sqrt(e.rho(m) / rho), close, err
}

// exactTolerance is how far, relatively, the exact account of a mixture may end above the least noise.
const exactTolerance = 1e-5
