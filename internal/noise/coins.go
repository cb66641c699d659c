package noise

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/bits"

	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/randsrc"
)

// errSource is returned where the output of a random source is too improbable to be random.
var errSource = errors.New("random source is broken")

// patience is the number of coins in a row that may fall one way, or of attempts that may fail.
// Each does so with probability below 0.9, so all of them with less than 10^-2900.
const patience = 1 << 16

// maxUniform is the largest n of Uniform, 2⁶³.
const maxUniform = 1 << 63

// coins are the draws that samplers are made of. The samplers are written over this
// interface so that tests can walk through every outcome with its exact probability.
type coins interface {
	bernoullis
	uniform(n uint64) (uint64, error)       // on {0 … n-1}, 1 ≤ n ≤ 2⁶³
	exp(num, den uint64) (bool, error)      // true with probability e^{-num/den}, 1 ≤ den ≤ 2⁶³
	expWide(num, den wide) (bool, error)    // the same for 1 ≤ den ≤ 2¹⁰⁶
	expBig(num, den *big.Int) (bool, error) // the same for any num ≥ 0, den ≥ 1
}

// bernoullis are the coins that those of probability e^{-num/den} are made of.
type bernoullis interface {
	bernoulli(num, den uint64) (bool, error)      // true with probability num/den ≤ 1, 1 ≤ den ≤ 2⁶³
	bernoulliWide(num, den wide) (bool, error)    // the same for 1 ≤ den ≤ 2¹⁰⁶
	bernoulliBig(num, den *big.Int) (bool, error) // the same for any den ≥ 1
}

// fair draws coins from a source.
type fair struct{ src randsrc.Source }

// Uniform returns an integer uniform on {0 … n-1}, 1 ≤ n ≤ 2⁶³. Of the 2⁵³ words, or of
// 2⁶⁴ double words where n > 2⁵³, the largest multiple of n that they hold is kept and the
// others are drawn again, so that each result has equally many words: the remainder of an
// unchecked word would prefer the small results. More than half of the words are kept,
// whatever n is.
func Uniform(src randsrc.Source, n uint64) (uint64, error) {
	if n < 1 || n > maxUniform {
		return 0, check.Want("range of a random integer", n, "between 1 and 2^63")
	}
	return fair{src}.uniform(n)
}

func (c fair) uniform(n uint64) (uint64, error) {
	if n == 1 {
		return 0, nil
	}
	wide, top := n > randsrc.One53, randsrc.One53-1
	if wide {
		top = math.MaxUint64
	}
	for range patience {
		u, err := c.word()
		if err == nil && wide {
			var low uint64
			low, err = c.word()
			u = u<<11 | low>>42
		}
		if err != nil {
			return 0, err
		}
		// The last word that is kept is top - (top+1) mod n. Few are so near that it must be worked out.
		if u < top-(n-1) || u <= top-(top%n+1)%n {
			return u % n, nil
		}
	}
	return 0, fmt.Errorf("%w: %d words were all out of range", errSource, patience)
}

// word draws 53 bits.
func (c fair) word() (uint64, error) {
	if c.src == nil {
		return 0, fmt.Errorf("%w: it is nil", errSource)
	}
	u, err := c.src.Uint53()
	if err != nil {
		return 0, fmt.Errorf("draw a random integer: %w", err)
	}
	if u >= randsrc.One53 {
		return 0, fmt.Errorf("%w: it returned %d, want less than 2^53", errSource, u)
	}
	return u, nil
}

// uniformBig is uniform for any n ≥ 1: as many bits as n-1 has, drawn again from n on.
func (c fair) uniformBig(n *big.Int) (*big.Int, error) {
	most := n.BitLen()
	if n.TrailingZeroBits() == uint(most-1) { // n = 2^(most-1)
		most--
	}
	x, next := new(big.Int), new(big.Int)
	for range patience {
		x.SetUint64(0)
		got := 0
		for ; got < most; got += 53 {
			u, err := c.word()
			if err != nil {
				return nil, err
			}
			x.Lsh(x, 53).Or(x, next.SetUint64(u))
		}
		if x.Rsh(x, uint(got-most)); x.Cmp(n) < 0 {
			return x, nil
		}
	}
	return nil, fmt.Errorf("%w: %d numbers were all out of range", errSource, patience)
}

// bernoulli returns true with probability exactly num/den, num ≤ den, 1 ≤ den ≤ 2⁶³.
func (c fair) bernoulli(num, den uint64) (bool, error) {
	u, err := c.uniform(den)
	return err == nil && u < num, err
}

func (c fair) bernoulliBig(num, den *big.Int) (bool, error) {
	u, err := c.uniformBig(den)
	return err == nil && u.Cmp(num) < 0, err
}

// wide is hi·2⁶⁴ + lo.
type wide struct{ hi, lo uint64 }

func (x wide) less(y wide) bool { return x.hi < y.hi || x.hi == y.hi && x.lo < y.lo }

func (x wide) minus(y wide) wide {
	lo, borrow := bits.Sub64(x.lo, y.lo, 0)
	hi, _ := bits.Sub64(x.hi, y.hi, borrow)
	return wide{hi, lo}
}

func (x wide) len() int {
	if x.hi != 0 {
		return 64 + bits.Len64(x.hi)
	}
	return bits.Len64(x.lo)
}

// fits64 reports whether x is a range of Uniform.
func (x wide) fits64() bool { return x.hi == 0 && x.lo <= maxUniform }

// wideOf returns x if it is at most 2¹⁰⁶.
func wideOf(x *big.Int) (w wide, ok bool) {
	if x.Cmp(maxWide) > 0 {
		return wide{}, false
	}
	w.lo = new(big.Int).And(x, new(big.Int).SetUint64(math.MaxUint64)).Uint64()
	w.hi = new(big.Int).Rsh(x, 64).Uint64()
	return w, true
}

var maxWide = new(big.Int).Lsh(big.NewInt(1), 2*53)

// bernoulliWide draws the words that bernoulliBig draws, and decides as it does.
func (c fair) bernoulliWide(num, den wide) (bool, error) {
	n := den.minus(wide{0, 1}).len() // bits of the largest number that is kept
	for range patience {
		var x wide
		got := 0
		for ; got < n; got += 53 {
			u, err := c.word()
			if err != nil {
				return false, err
			}
			x = wide{x.hi<<53 | x.lo>>11, x.lo<<53 | u}
		}
		if down := uint(got - n); down > 0 { // at most 52
			x = wide{x.hi >> down, x.hi<<(64-down) | x.lo>>down}
		}
		if x.less(den) {
			return x.less(num), nil
		}
	}
	return false, fmt.Errorf("%w: %d numbers were all out of range", errSource, patience)
}

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
