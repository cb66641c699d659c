package noise_test

import (
	"math"
	"math/big"
	"testing"

	"github.com/darrm/darrm/internal/noise"
	"github.com/darrm/darrm/internal/num"
	"github.com/darrm/darrm/internal/randsrc"
	"github.com/darrm/darrm/internal/testing/raced"
)

// words is a source of given words.
type words []uint64

func (w *words) Uint53() (uint64, error) {
	v := (*w)[0]
	*w = (*w)[1:]
	return v, nil
}

func (w *words) Bit() (bool, error) { panic("no bits") }

// geometric has the masses 1/3·(2/3)^k.
func geometric() func() num.Interval {
	p := num.FromRat(big.NewRat(1, 2))
	return func() num.Interval {
		p = p.Mul(num.FromRat(big.NewRat(2, 3)))
		return p
	}
}

// At the sums themselves the least k whose sum is above the draw is returned, however many words
// it takes to tell: 1/3 in binary is 0.0101…
func TestInvertAtTheSums(t *testing.T) {
	floor := uint64(1<<53) / 3
	for _, c := range []struct {
		w    words
		want int
		left int
	}{
		{words{0}, 0, 0},
		{words{floor - 1}, 0, 0},
		{words{floor, 0}, 0, 0},         // below 1/3 by what the next word lacks
		{words{floor, 1<<53 - 1}, 1, 0}, // above it
		{words{floor + 1}, 1, 0},
		{words{1<<53 - 1, 0}, 90, 0},
	} {
		w := c.w
		k, err := noise.Invert(&w, geometric())
		if err != nil || c.want < 90 && k != c.want || c.want == 90 && k < 80 || len(w) != c.left {
			t.Errorf("%v: %d, %d words left (%v), want %d", c.w, k, len(w), err, c.want)
		}
	}
}

// 40,000 draws against the law, by χ² with 15 classes: a right sampler fails once in 10⁵ runs, one
// whose masses are off by a tenth always.
func TestInvertLaw(t *testing.T) {
	raced.Sequential(t)
	src, counts := randsrc.NewSeeded(7), make([]float64, 15)
	const draws = 40_000
	for range draws {
		k, err := noise.Invert(src, geometric())
		if err != nil {
			t.Fatal(err)
		}
		counts[min(k, 14)]++
	}
	chi, rest := 0.0, 1.0
	for k, n := range counts {
		p := math.Pow(2.0/3, float64(k)) / 3
		if k == 14 {
			p = rest
		}
		rest -= p
		chi += (n - draws*p) * (n - draws*p) / (draws * p)
	}
	if chi > 50 { // 14 degrees of freedom
		t.Errorf("χ² = %g", chi)
	}
}

// A source that is stuck where no word decides is an error.
func TestInvertGivesUp(t *testing.T) {
	w := words{1 << 52, 0, 0, 0, 0, 0, 0}
	half := func() num.Interval { // 1/2, but only to 2⁻³⁰⁰
		wide := new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Lsh(big.NewInt(1), 300))
		return num.FromRat(big.NewRat(1, 2)).Hull(num.FromRat(wide.Add(wide, big.NewRat(1, 2))))
	}
	if k, err := noise.Invert(&w, half); err == nil {
		t.Errorf("%d", k)
	}
}
