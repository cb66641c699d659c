package accountant

import (
	"fmt"
	"math"

	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/num"
)

// GaussianOnVotes is one answer made from the vote counts of every class with normal
// noise of standard deviation σ on each (GNMax), where one record changes at most
// affected votes. A vote that changes moves one count up and one down, so the counts move
// by at most √2·affected in L2: the noise multiplier is σ/(√2·affected), rounded down.
//
// Noise that hides one vote hides one: for overlapping training data affected is the
// number of teachers that share a record, and σ must grow with it. Source: Papernot et
// al., Scalable Private Learning with PATE (2018), Section 4.1, for affected = 1.
func GaussianOnVotes(sigma float64, affected int, relation Relation) (NoisyAnswer, error) {
	if err := check.Affected(affected, check.MaxTeachers); err != nil {
		return NoisyAnswer{}, err
	}
	if !(sigma > 0) || math.IsInf(sigma, 1) {
		return NoisyAnswer{}, &check.Error{Name: "sigma", Value: sigma, Rule: "a finite number > 0"}
	}
	root := num.Sqrt(num.FromInt(2)).Mul(num.FromInt(int64(affected)))
	e := Gaussian{num.FromRat(num.Decimal(sigma)).Quo(root).DecimalDown(), relation}
	if err := checkEvent(e); err != nil {
		return NoisyAnswer{}, fmt.Errorf("sigma = %g for affected = %d: %w", sigma, affected, err)
	}
	return NoisyAnswer{e, affected}, nil
}

// DiscreteGaussianOnVotes is GaussianOnVotes with discrete noise: two counts move. With
// more than two classes and more than one vote, that may be many counts by little or two
// by much, of which none is known to be the worst: ErrUnsupported.
func DiscreteGaussianOnVotes(sigma float64, classes, affected int, relation Relation) (NoisyAnswer, error) {
	if err := check.Affected(affected, check.MaxTeachers); err != nil {
		return NoisyAnswer{}, err
	}
	if classes < 2 {
		return NoisyAnswer{}, &check.Error{Name: "classes", Value: classes, Rule: "at least 2"}
	}
	if classes > 2 && affected > 1 {
		return NoisyAnswer{}, fmt.Errorf("discrete noise on %d classes of which %d votes may change: %w", classes, affected, ErrUnsupported)
	}
	e, err := Compose(Charge{DiscreteGaussian{sigma, affected, relation}, 2})
	return NoisyAnswer{e, affected}, err
}

// GNMaxNoise returns the noise σ that GNMax, which adds N(0, σ²) to each class's vote
// count and releases the largest, needs for (ε, δ)-DP when one record changes one
// teacher's vote; where it changes t, t times as much. By Rényi differential privacy of
// order λ, with the classical conversion,
//
//	ε = λ/σ² + ln(1/δ)/(λ-1),   σ² = min over λ > 1 + ln(1/δ)/ε of λ/(ε - ln(1/δ)/(λ-1)),
//
// whose minimum is at λ = 1 + (L + √(L² + Lε))/ε, L = ln(1/δ), and is σ = (√L +
// √(L+ε))/ε, rounded up. It takes ε in (0, 1e4] and δ in (0,1). One vote changes two
// counts by one, an L2 sensitivity of √2: √2 times GaussianNoise is smaller, and exact,
// for normal noise. This σ serves discrete noise as well, whose Rényi bound is the same.
//
// Sources: Papernot et al., Scalable Private Learning with PATE (2018), Section 4.1;
// Jiang (2024), Appendix B.4.1.
func GNMaxNoise(target Cost) (float64, error) {
	if err := checkTarget(target); err != nil {
		return 0, err
	}
	eps := num.FromRat(num.Decimal(target.Epsilon))
	log := num.FromInt(0).Sub(num.Log(num.FromRat(num.Decimal(target.Delta))))
	return num.Sqrt(log).Add(num.Sqrt(log.Add(eps))).Quo(eps).DecimalUp(), nil
}
