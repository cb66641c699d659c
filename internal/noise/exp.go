package noise

import (
	"fmt"
	"math/big"
)

// exp returns true with probability exactly e^{-num/den}, num ≥ 0, 1 ≤ den ≤ 2⁶³: it flips one coin of
// probability e^{-1} for each whole unit and one for the rest, and all must be heads. The first tails ends it.
// Source: Canonne, Kamath and Steinke (2020), Algorithm 1, after Forsythe and von Neumann.
func (c fair) exp(num, den uint64) (bool, error) { return expOf(c, num, den) }

// The functions are generic, because a fair in an interface would be allocated for each coin.
func expOf[C bernoullis](c C, num, den uint64) (bool, error) {
	for heads := 0; num > den; num -= den {
		on, err := expUnit(func() (bool, error) { return true, nil }, c)
		if err != nil || !on {
			return false, err
		}
		if heads++; heads > patience {
			return false, fmt.Errorf("%w: %d unlikely coins in a row", errSource, heads)
		}
	}
	return expUnit(func() (bool, error) { return c.bernoulli(num, den) }, c)
}

func (c fair) expWide(num, den wide) (bool, error) { return expOfWide(c, num, den) }

func expOfWide[C bernoullis](c C, num, den wide) (bool, error) {
	for heads := 0; den.less(num); num = num.minus(den) {
		on, err := expUnit(func() (bool, error) { return true, nil }, c)
		if err != nil || !on {
			return false, err
		}
		if heads++; heads > patience {
			return false, fmt.Errorf("%w: %d unlikely coins in a row", errSource, heads)
		}
	}
	return expUnit(func() (bool, error) { return c.bernoulliWide(num, den) }, c)
}

func (c fair) expBig(num, den *big.Int) (bool, error) { return expOfBig(c, num, den) }

func expOfBig[C bernoullis](c C, num, den *big.Int) (bool, error) {
	rest := new(big.Int).Set(num)
	for heads := 0; rest.Cmp(den) > 0; rest.Sub(rest, den) {
		on, err := expUnit(func() (bool, error) { return true, nil }, c)
		if err != nil || !on {
			return false, err
		}
		if heads++; heads > patience {
			return false, fmt.Errorf("%w: %d unlikely coins in a row", errSource, heads)
		}
	}
	return expUnit(func() (bool, error) { return c.bernoulliBig(rest, den) }, c)
}

// expUnit returns true with probability e^-g, where coin is true with probability g ≤ 1.
// It goes on for a k-th round with probability g/k, so it ends before round k+1 with
// probability 1 - g/k and reaches it with g^k/k!. The last round is odd with probability
//
//	(1-g) + (g²/2-g³/6) + … = e^-g
//
// The probability g/k is that of two coins, g and 1/k, so that no product of
// denominators can overflow.
func expUnit[C bernoullis](coin func() (bool, error), c C) (bool, error) {
	for k := uint64(1); k <= patience; k++ {
		on, err := coin()
		if err == nil && on {
			on, err = c.bernoulli(1, k)
		}
		if err != nil {
			return false, err
		}
		if !on {
			return k%2 == 1, nil
		}
	}
	return false, fmt.Errorf("%w: %d unlikely coins in a row", errSource, patience)
}
