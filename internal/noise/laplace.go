package noise

import (
	"fmt"
	"math/big"

	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/randsrc"
)

// maxLaplace bounds numerator and denominator of a scale: with at most patience rounds
// all sums below stay under 2⁴⁸.
const maxLaplace = 1 << 31

// Laplace is the discrete Laplace law of scale b = num/den,
//
//	Pr[Y = y] = (1-a)/(1+a)·a^|y|,   a = e^{-1/b},   y an integer
//
// The zero value is no law. It is immutable.
type Laplace struct{ num, den uint64 }

// NewLaplace returns the law of scale num/den, each between 1 and 2³¹.
func NewLaplace(num, den uint64) (Laplace, error) {
	if num < 1 || num > maxLaplace || den < 1 || den > maxLaplace {
		return Laplace{}, check.Want("laplace scale", fmt.Sprintf("%d/%d", num, den),
			"a fraction of integers between 1 and 2^31")
	}
	return Laplace{num, den}, nil
}

// LaplaceAtLeast returns the law of the scale b where that is a fraction of integers below
// 2³¹, or of b rounded up, which is the private side: by less than 2⁻²⁹ of it while b ≥ 1.
// b is positive and at most 2³¹.
func LaplaceAtLeast(b *big.Rat) (Laplace, error) {
	num, den, err := laplaceGrid.round(b, true)
	if err != nil {
		return Laplace{}, fmt.Errorf("laplace scale: %w", err)
	}
	return NewLaplace(num, den)
}

// Scale returns b, exactly.
func (l Laplace) Scale() *big.Rat { return ratio(l.num, l.den) }

// Sample draws one value. Source: Canonne, Kamath and Steinke (2020), Algorithm 2.
func (l Laplace) Sample(src randsrc.Source) (int64, error) {
	if l.den == 0 {
		return 0, fmt.Errorf("laplace scale is not set")
	}
	return sample(fair{src}, l)
}

// law is a distribution that is sampled by rejection: by attempts until one succeeds.
type law interface {
	// attempt draws one value or fails. Given that it does not fail, the value has the
	// law.
	attempt(c coins) (y int64, ok bool, err error)
}

func sample[L law](c coins, l L) (int64, error) {
	for range patience {
		y, ok, err := l.attempt(c)
		if err != nil {
			return 0, err
		}
		if ok {
			return y, nil
		}
	}
	return 0, fmt.Errorf("%w: %d attempts failed", errSource, patience)
}

// attempt draws x with probability proportional to e^{-x/num} as u + num·v, u < num. Its
// quotient by den is |y|; zero would be counted with either sign and is kept with one.
func (l Laplace) attempt(c coins) (int64, bool, error) {
	u, err := c.uniform(l.num)
	if err != nil {
		return 0, false, err
	}
	if ok, err := c.exp(u, l.num); err != nil || !ok {
		return 0, false, err
	}
	v := uint64(0)
	for {
		more, err := c.exp(1, 1)
		if err != nil {
			return 0, false, err
		}
		if !more {
			break
		}
		if v++; v >= patience {
			return 0, false, fmt.Errorf("%w: %d unlikely coins in a row", errSource, v)
		}
	}
	y := int64((u + l.num*v) / l.den) // below 2³¹·(2¹⁶+1)
	negative, err := c.bernoulli(1, 2)
	if err != nil || negative && y == 0 {
		return 0, false, err
	}
	if negative {
		y = -y
	}
	return y, true, nil
}
