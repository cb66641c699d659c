package ensemble

import (
	"fmt"
	"math/big"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/noise"
	"github.com/darrm/darrm/internal/num"
	"github.com/darrm/darrm/internal/randsrc"
)

// pure is Description.calibrate of a mechanism without δ.
func pure(make func(Setting, float64) (*Mechanism, error)) func(Setting, accountant.Cost,
	Check) (*Mechanism, error) {
	return func(s Setting, target accountant.Cost, _ Check) (*Mechanism, error) {
		return make(s, target.Epsilon)
	}
}

// maxScale bounds LNMax's noise; with more, the votes could be left out as well, and the
// table of its law would not fit the memory.
const maxScale = 1 << 16

// LNMax returns the mechanism that adds discrete Laplace noise of scale b = 2t/ε to each
// vote count and releases the largest, ties broken evenly. It is (ε, 0)-DP: t votes move
// the counts by at most 2t in all, and the probability of no noise vector changes by more
// than e^{1/b} for each unit. b is rounded up where it has too many digits. ε is in (0,
// 700], and so large that b is at most 65536.
//
// Source: Papernot et al., Semi-supervised Knowledge Transfer for Deep Learning from
// Private Training Data (2017), Section 3.1; Ghosh, Roughgarden and Sundararajan,
// Universally Utility-Maximizing Privacy Mechanisms (2009), for the noise.
func LNMax(s Setting, epsilon float64) (*Mechanism, error) {
	claim := accountant.Cost{Epsilon: epsilon}
	if err := checkTarget(s, claim); err != nil {
		return nil, err
	}
	b := new(big.Rat).Quo(big.NewRat(2*int64(s.Affected), 1), num.Decimal(epsilon))
	if b.Cmp(big.NewRat(maxScale, 1)) > 0 {
		return nil, check.Wantf("label epsilon", epsilon, "at least 2·affected/%d = %v for LNMax", maxScale,
			2*float64(s.Affected)/maxScale)
	}
	l, err := noise.LaplaceAtLeast(b)
	if err != nil {
		return nil, fmt.Errorf("label epsilon = %v: %w", epsilon, err)
	}
	scale, _ := l.Scale().Float64()
	a := countMechanism(s, claim, tableMax("b = "+l.Scale().RatString(), l.Sample, l.Table),
		"the scale of its noise, without a δ")
	a.name, a.figures.Scale = lnMax, scale
	a.slowLaw = s.Classes > 2
	return a, nil
}

// PermuteAndFlip returns the mechanism that goes through the classes in random order and
// releases the first whose coin shows heads, the coin of class c having probability
//
//	e^{-ε·(max n - n_c)/(2t)}
//
// It is (ε, 0)-DP: t votes move each count by at most t. It is never worse than the
// exponential mechanism. The factor ε/(2t) is rounded down where it has too many digits.
// ε is in (0, 700].
//
// Source: McKenna and Sheldon, Permute-and-Flip: A New Mechanism for Differentially
// Private Selection (2020), Theorem 1.
func PermuteAndFlip(s Setting, epsilon float64) (*Mechanism, error) {
	claim := accountant.Cost{Epsilon: epsilon}
	if err := checkTarget(s, claim); err != nil {
		return nil, err
	}
	rate := new(big.Rat).Quo(num.Decimal(epsilon), big.NewRat(2*int64(s.Affected), 1))
	n, d, err := noise.RateDown(rate)
	if err != nil {
		return nil, fmt.Errorf("label epsilon = %v: %w", epsilon, err)
	}
	a := countMechanism(s, claim, flip{n, d}, "the probabilities of its coins, without a δ")
	a.name = Fallback
	return a, nil
}

// flip is permute-and-flip with rate num/den.
type flip struct{ num, den uint64 }

func (f flip) draw(src randsrc.Source, counts []int) (int, error) {
	return noise.PermuteAndFlip(src, counts, f.num, f.den)
}

func (f flip) exact() string { return fmt.Sprintf("rate = %d/%d", f.num, f.den) }

func (f flip) law(counts []int) []float64 { return noise.PermuteAndFlipLaw(counts, f.num, f.den) }
