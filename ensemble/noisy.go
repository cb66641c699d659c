package ensemble

import (
	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/internal/num"
)

// twoCounts returns the event of discrete normal noise on the counts, where all changes are known
// to be no worse than t votes from one class to one other (see oneWay): two counts move by t.
func twoCounts(sigma float64, s Setting) (accountant.Event, error) {
	return accountant.Compose(accountant.Charge{
		Event: accountant.DiscreteGaussian{Sigma: sigma, Sensitivity: s.Affected,
			Neighbours: s.Neighbours}, Count: 2,
	})
}

// GNMaxNoise returns the noise σ that GNMax, which adds N(0, σ²) to each class's vote
// count and releases the largest, needs for (ε, δ)-DP when one record changes one
// teacher's vote; where it changes t, t times as much. By Rényi differential privacy of
// order λ, with the classical conversion,
//
//	ε = λ/σ² + ln(1/δ)/(λ-1),   σ² = min over λ > 1 + ln(1/δ)/ε of λ/(ε - ln(1/δ)/(λ-1)),
//
// whose minimum is at λ = 1 + (L + √(L² + Lε))/ε, L = ln(1/δ), and is σ = (√L +
// √(L+ε))/ε, rounded up. It takes ε in (0, 700] and δ in (0,1). One vote changes two
// counts by one, an L2 sensitivity of √2: √2 times GaussianNoise is smaller, and exact,
// for normal noise. This σ serves discrete noise as well, whose Rényi bound is the same.
//
// Sources: Papernot et al., Scalable Private Learning with PATE (2018), Section 4.1;
// Jiang (2025), Appendix B.4.1.
func GNMaxNoise(target accountant.Cost) (float64, error) {
	if err := checkNormal(target); err != nil {
		return 0, err
	}
	eps := num.FromRat(num.Decimal(target.Epsilon))
	log := num.FromInt(0).Sub(num.Log(num.FromRat(num.Decimal(target.Delta))))
	return num.Sqrt(log).Add(num.Sqrt(log.Add(eps))).Quo(eps).DecimalUp(), nil
}
