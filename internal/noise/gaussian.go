package noise

import (
	"fmt"
	"math"
	"math/big"
	"math/bits"

	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/num"
	"github.com/darrm/darrm/internal/randsrc"
)

// Gaussian is the discrete Gaussian law of parameter σ² = num/den,
//
//	Pr[Y = y] = e^{-y²/(2σ²)} / Σ_z e^{-z²/(2σ²)},   y, z integers
//
// for any fraction. Its variance is at most σ². The zero value is no law. It is immutable
// and safe for concurrent use.
type Gaussian struct {
	variance *big.Rat
	proposal Laplace // of the integer scale t = ⌊σ⌋ + 1

	// What attempt computes with, and in 64 and 128 bits where it fits.
	num, step, divisor *big.Int // num, den·t, 2·num·den·t²
	short              *shortGaussian
}

// shortGaussian has a divisor of at most 2¹⁰⁶.
type shortGaussian struct {
	num, step uint64
	divisor   wide
}

// maxVariance bounds σ² and 1/σ²: a Table then has at most four million numbers.
var maxVariance = big.NewRat(1<<34, 1)

// NewGaussian returns the law of σ², between 2⁻³⁴ and 2³⁴. It is sampled faster where σ has at most
// eight digits or so: 2·num·den·t² must be at most 2¹⁰⁶.
func NewGaussian(variance *big.Rat) (Gaussian, error) {
	if variance.Sign() <= 0 || variance.Cmp(maxVariance) > 0 ||
		new(big.Rat).Inv(variance).Cmp(maxVariance) > 0 {
		return Gaussian{}, check.Want("gaussian variance", variance.RatString(), "between 2^-34 and 2^34")
	}
	v := new(big.Rat).Set(variance)
	t := new(big.Int).Quo(v.Num(), v.Denom())
	t.Sqrt(t).Add(t, big.NewInt(1))
	g := Gaussian{
		variance: v,
		proposal: Laplace{t.Uint64(), 1},
		num:      new(big.Int).Set(v.Num()),
		step:     new(big.Int).Mul(v.Denom(), t),
	}
	g.divisor = new(big.Int).Mul(g.num, g.step)
	g.divisor.Mul(g.divisor, t).Lsh(g.divisor, 1)
	if divisor, ok := wideOf(g.divisor); ok && g.num.IsUint64() && g.step.IsUint64() {
		g.short = &shortGaussian{g.num.Uint64(), g.step.Uint64(), divisor}
	}
	return g, nil
}

// Variance returns the parameter σ².
func (g Gaussian) Variance() *big.Rat { return new(big.Rat).Set(g.variance) }

// Sample draws one value. Source: Canonne, Kamath and Steinke (2020), Algorithm 3.
func (g Gaussian) Sample(src randsrc.Source) (int64, error) {
	if g.variance == nil {
		return 0, fmt.Errorf("gaussian variance is not set")
	}
	return sample(fair{src}, g)
}

// attempt proposes y with probability proportional to e^{-|y|/t} and keeps it with
//
//	e^{-(|y|-σ²/t)²/(2σ²)} = e^{-(|y|·den·t - num)²/(2·num·den·t²)},
//
// the product of which is proportional to e^{-y²/(2σ²)}. Any t would do; this one keeps
// most proposals.
func (g Gaussian) attempt(c coins) (int64, bool, error) {
	y, ok, err := g.proposal.attempt(c)
	if err != nil || !ok {
		return 0, false, err
	}
	size := uint64(max(y, -y))
	switch square, fits := g.short.square(size); {
	case fits && square.hi == 0 && g.short.divisor.fits64():
		ok, err = c.exp(square.lo, g.short.divisor.lo)
	case fits:
		ok, err = c.expWide(square, g.short.divisor)
	default:
		x := new(big.Int).SetUint64(size)
		x.Mul(x, g.step).Sub(x, g.num)
		ok, err = c.expBig(x.Mul(x, x), g.divisor)
	}
	if err != nil || !ok {
		return 0, false, err
	}
	return y, true, nil
}

// square returns (size·den·t - num)², and whether every step fits.
func (s *shortGaussian) square(size uint64) (square wide, fits bool) {
	if s == nil {
		return wide{}, false
	}
	high, x := bits.Mul64(size, s.step)
	if high != 0 {
		return wide{}, false
	}
	if x < s.num {
		x = s.num - x
	} else {
		x -= s.num
	}
	square.hi, square.lo = bits.Mul64(x, x)
	return square, true
}

// NormalMax returns, for each run of counts, the probability that a certain one of them is the
// largest once independent normal noise of deviation σ was added to each count. With n_u counts of
// u votes, one of v votes has
//
//	p(v) = ∫ φ(x)·Φ(x)^(n_v-1)·Π_{u≠v} Φ(x + (v-u)/σ)^n_u dx,
//
// an integral over one variable, however many counts there are. The trapezoidal rule of step h
// errs by about e^(-2π²/(C·h²)) of C counts, since the integrand is entire and grows in the
// imaginary direction y like e^(C·y²/2). h makes that 1e-14; beyond 9σ around the largest count
// there is less. Runs are in descending order of their counts, of which no sum is presumed.
//
// Cost: about 23·√C points, each an error function for each different count.
//
// Source of the rule: Trefethen and Weideman, The Exponentially Convergent Trapezoidal Rule (2014).
func NormalMax(runs []Run, sigma float64) []float64 {
	const reach = 9
	counts := 0
	for _, r := range runs {
		counts += r.Size
	}
	step := math.Sqrt(0.61 / float64(counts))
	below, won := make([]float64, len(runs)), make([]float64, len(runs))
	points := int(math.Ceil(reach / step))
	for i := -points; i <= points; i++ {
		x, all := float64(i)*step, 1.0
		for r, of := range runs { // in units of σ, above the largest count
			z := x + float64(runs[0].Count-of.Count)/sigma
			below[r] = math.Erfc(-z/math.Sqrt2) / 2 // above 1e-24, since z > -10
			all *= num.Power(below[r], of.Size)
		}
		for r, of := range runs {
			z := x + float64(runs[0].Count-of.Count)/sigma
			won[r] += step * math.Exp(-z*z/2) / math.Sqrt(2*math.Pi) / below[r] * all
		}
	}
	return won
}
