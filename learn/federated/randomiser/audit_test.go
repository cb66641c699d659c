package randomiser_test

import (
	"fmt"
	"math"
	"math/big"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/darrm/darrm/internal/testing/raced"
	"github.com/darrm/darrm/learn/federated/randomiser"
)

// script gives chosen words first, and then those of other coins.
type script struct {
	words []uint64
	then  randomiser.Coins
}

func (s *script) Uint64() uint64 {
	if len(s.words) == 0 {
		return s.then.Uint64()
	}
	w := s.words[0]
	s.words = s.words[1:]
	return w
}

// Acceptance 3: the bit of one seed, for x and -x with ‖x‖ = C and ε₀ = 1. The frequency of 10⁶
// draws has standard error 4.4e-4, so a right sampler fails with probability below 1e-3 by seed,
// and one with ε₀ = 1.01 (0.0020 off) passes with probability 0.13; a bit that is never flipped
// never.
func TestAuditOneBit(t *testing.T) {
	raced.Sequential(t)
	const n = 1_000_000
	x := []float64{0.5, -0.5, 0.1, -0.7}
	floats.Scale(1/floats.Norm(x, 2), x)
	r, c := oneBit(t, 4, 1), coins(3)
	frequency := func(x []float64) float64 {
		ones, m := 0, []byte(nil)
		for range n {
			m, _ = r.Append(m[:0], x, 1, &script{[]uint64{12345}, c})
			ones += int(m[8])
		}
		return float64(ones) / n
	}
	plus := frequency(x)
	floats.Scale(-1, x)
	minus := frequency(x)
	if plus < minus {
		plus, minus = minus, plus
	}
	if math.Abs(plus-0.73106) > 0.0015 || math.Abs(minus-0.26894) > 0.0015 {
		t.Errorf("frequencies %g and %g", plus, minus)
	}
}

// threshold finds by bisection the smallest word that flips the bit of x.
func threshold(t *testing.T, r randomiser.Randomizer, x []float64) uint64 {
	bit := func(u uint64) byte {
		m, err := r.Append(nil, x, 1, &script{[]uint64{5, 0, u}, coins(0)})
		if err != nil {
			t.Fatal(err)
		}
		return m[8]
	}
	low, high := uint64(0), uint64(math.MaxUint64)
	kept := bit(0)
	if bit(high) == kept {
		t.Fatal("no word flips the bit")
	}
	for high-low > 1 {
		if mid := low + (high-low)/2; bit(mid) == kept {
			low = mid
		} else {
			high = mid
		}
	}
	return high
}

// The stated ε₀ is at least that of the words that really flip, at most what was asked for, and
// close to it: e^ε₀ = t/(2⁶⁴-t), in 300 bits against the exponential's series.
func TestEpsilonIsTheThresholds(t *testing.T) {
	for _, eps := range []float64{1e-6, 1e-3, 0.31, 0.58, 1, 2, 7.3, 16, 32} {
		r := oneBit(t, 2, eps)
		flips := new(big.Float).SetPrec(300).SetUint64(threshold(t, r, []float64{1, 0}))
		two64 := new(big.Float).SetPrec(300).SetMantExp(big.NewFloat(1), 64)
		ratio := new(big.Float).SetPrec(300).Quo(flips, new(big.Float).SetPrec(300).Sub(two64, flips))
		if got := exponential(r.Epsilon()); ratio.Cmp(got) > 0 {
			t.Errorf("epsilon %g: stated %.17g is below the words'", eps, r.Epsilon())
		}
		if r.Epsilon() > eps || r.Epsilon() < eps*(1-1e-12)-0x1p-62*math.Exp(eps) {
			t.Errorf("epsilon %g: stated %.17g", eps, r.Epsilon())
		}
	}
}

// exponential is e^x in 300 bits, of x as it is written in decimals.
func exponential(x float64) *big.Float {
	y, _, _ := big.ParseFloat(fmt.Sprint(x), 10, 300, big.ToNearestEven)
	sum, term := big.NewFloat(1).SetPrec(300), big.NewFloat(1).SetPrec(300)
	for i := 1; i < 400; i++ {
		term.Mul(term, y)
		term.Quo(term, new(big.Float).SetPrec(300).SetInt64(int64(i)))
		sum.Add(sum, term)
	}
	return sum
}

// Every message's probability given the seed, by enumeration: the word that decides is walked over
// in the runs of equal results. For any two vectors, long, short or zero, the ratio is at most
// e^ε₀.
func TestLocalPrivacyExact(t *testing.T) {
	for _, v := range []struct {
		bits, projection int
		epsilon          float64
	}{{1, 0, 1}, {2, 0, 0.5}, {4, 0, 2}, {4, 2, 2}, {5, 3, 4}} {
		r, err := randomiser.NewPrivUnit(5, v.epsilon, v.bits, v.projection)
		if err != nil {
			t.Fatal(err)
		}
		near, all := r.Cap()
		// Favoured values by word 0, others by the largest word; each equally likely.
		law := func(x []float64, word uint64) map[byte]bool {
			values := map[byte]bool{}
			for i := range 40 * all {
				m, err := r.Append(nil, x, 1, &script{[]uint64{77, 0, word}, coins(uint64(i))})
				if err != nil {
					t.Fatal(err)
				}
				values[m[8]] = true
			}
			return values
		}
		for _, x := range [][]float64{{1, 0, 0, 0, 0}, {-1, 0, 0, 0, 0}, {0, 0, 0.1, 0, 0.2},
			{0, 0, 0, 0, 0}} {
			favoured, others := law(x, 0), law(x, math.MaxUint64)
			if len(favoured) != near || len(others) != all-near {
				t.Errorf("%+v, %v: %d favoured, %d others; the cap is %d of %d", v, x, len(favoured),
					len(others), near, all)
			}
			for i := range favoured {
				if others[i] {
					t.Errorf("%d is both", i)
				}
			}
		}
		edge := float64(thresholdOf(t, r)) * 0x1p-64
		if eps := math.Log(edge / float64(near) / ((1 - edge) / float64(all-near))); eps > r.Epsilon()*
			(1+1e-12) || eps < v.epsilon*(1-1e-9) {
			t.Errorf("%+v: epsilon by words %.15g, stated %.15g", v, eps, r.Epsilon())
		}
	}
}

// thresholdOf finds the smallest word that leaves the favoured values: they are the first of the
// order.
func thresholdOf(t *testing.T, r *randomiser.PrivUnit) uint64 {
	x := make([]float64, r.Dim())
	x[0] = 1
	value := func(u uint64) byte {
		m, err := r.Append(nil, x, 1, &script{[]uint64{77, 0, u, math.MaxUint64}, coins(0)})
		if err != nil {
			t.Fatal(err)
		}
		return m[8]
	}
	low, high := uint64(0), uint64(math.MaxUint64)
	first := value(0)
	for high-low > 1 {
		if mid := low + (high-low)/2; value(mid) == first {
			low = mid
		} else {
			high = mid
		}
	}
	return high
}

// Seeds of messages are fresh: 2·10⁵ of them, of two records and two rounds with coins of their
// own, never repeat. A shared seed would show two reports of one vector to be linked.
func TestSeedsAreFresh(t *testing.T) {
	r := oneBit(t, 2, 1)
	seen := map[[8]byte]bool{}
	for owner := range uint64(4) {
		c := coins(100 + owner)
		for range 50_000 {
			m, err := r.Append(nil, []float64{1, 0}, 1, c)
			if err != nil {
				t.Fatal(err)
			}
			if seed := [8]byte(m); seen[seed] {
				t.Fatal("a seed is used twice")
			} else {
				seen[seed] = true
			}
		}
	}
}
