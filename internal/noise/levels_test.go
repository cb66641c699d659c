package noise

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/darrm/darrm/internal/randsrc"
)

// softmin is Pr[i] ∝ e^{-score_i/scale}, by the formula.
func softmin(scores []int64, scale int64) []float64 {
	low := scores[0]
	for _, s := range scores {
		low = min(low, s)
	}
	p, sum := make([]float64, len(scores)), 0.0
	for i, s := range scores {
		p[i] = math.Exp(-float64(s-low) / float64(scale))
		sum += p[i]
	}
	for i := range p {
		p[i] /= sum
	}
	return p
}

// The law of Levels is that of the exponential mechanism: every way that the coins can fall,
// with its exact probability, for scores in one level, in several, and further apart than
// those that are proposed one by one.
func TestLevelsHaveTheExponentialLaw(t *testing.T) {
	for _, c := range []struct {
		scale  int64
		scores []int64
	}{
		{1, []int64{0}},
		{1, []int64{3, 3, 3}},
		{10, []int64{0, 1, 5, 9}},
		{10, []int64{-25, -7, 0, 0, 13, 42}},
		{7, []int64{6, -1, 7, 14, 21, -21, -22}},
		{10, []int64{0, 19, 20, 21, 29, 40, 63}}, // beyond level 1 with apart = 2
		{5, []int64{-8, 12, -7}},
	} {
		l, err := NewLevels(c.scores, c.scale)
		if err != nil {
			t.Fatal(err)
		}
		for _, apart := range []int{levelsApart, 2} {
			l.apart = apart
			law, missing := accepted(t, map[int]float64{levelsApart: 1e-31, 2: 1e-8}[apart], l)
			if missing > 1e-3 {
				t.Errorf("%v, %d apart: %g of the probability not walked", c.scores, apart, missing)
			}
			for i, want := range softmin(c.scores, c.scale) {
				if got := law[int64(i)]; math.Abs(got-want) > 1e-12*want+10*missing {
					t.Errorf("scores %v at %d, %d apart: item %d has probability %g, want %g", c.scores, c.scale,
						apart, i, got, want)
				}
			}
		}
	}
}

// A Levels that was changed is one that was made so: however its items moved.
func TestLevelsFollowTheirScores(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	scores := make([]int64, 5)
	l, err := NewLevels(scores, 4)
	if err != nil {
		t.Fatal(err)
	}
	for range 60 {
		for range 7 {
			l.Set(rng.IntN(5), rng.Int64N(81)-40)
		}
		law, _ := accepted(t, 1e-31, l)
		for i, want := range softmin(l.scores, 4) {
			if got := law[int64(i)]; math.Abs(got-want) > 1e-12*want+1e-30 {
				t.Fatalf("scores %v: item %d has probability %g, want %g", l.scores, i, got, want)
			}
		}
	}
	// Far away and back.
	l.Set(0, -1<<20)
	l.Set(1, 1<<20)
	l.Set(0, 0)
	if i, err := l.Sample(randsrc.NewSeeded(1)); err != nil || i == 1 {
		t.Errorf("%d, %v", i, err)
	}
}

// What a weight is too large by is refused with exactly the probability of its fraction.
func TestFractionsOfWeights(t *testing.T) {
	for b := 1; b <= levelsApart; b++ {
		law, missing := explore(t, 1e-25, func(c coins) (int64, error) {
			on, err := fraction(c, b, levelWeights()[b].next)
			return map[bool]int64{true: 1}[on], err
		})
		// e^{-b} in 400 bits: the series of e^{-1/2^20}, squared and raised.
		x := new(big.Float).SetPrec(400).SetInt64(1)
		term := new(big.Float).SetPrec(400).SetInt64(1)
		for k := int64(1); k < 120; k++ {
			term.Quo(term, new(big.Float).SetPrec(400).SetInt64(k))
			x.Add(x, term)
		}
		e := new(big.Float).SetPrec(400).SetInt64(1)
		for range b {
			e.Quo(e, x)
		}
		e.SetMantExp(e, weightBits)
		whole, _ := e.Int(nil)
		want, _ := e.Sub(e, new(big.Float).SetPrec(400).SetInt(whole)).Float64()
		if whole.Uint64()+1 != levelWeights()[b].weight {
			t.Errorf("weight of level %d is %v, want %v + 1", b, levelWeights()[b].weight, whole)
		}
		if math.Abs(law[1]-want) > 1e-14 || missing > 1e-14 {
			t.Errorf("level %d: %.17g, want %.17g", b, law[1], want)
		}
	}
}

func TestLevelsRefuse(t *testing.T) {
	for _, c := range []struct {
		scale  int64
		scores []int64
	}{{0, []int64{1}}, {1 << 49, []int64{1}}, {1, nil}, {1, []int64{1 << 40}},
		{1, []int64{0, -1 << 62}}} {
		if _, err := NewLevels(c.scores, c.scale); err == nil {
			t.Errorf("%v", c)
		}
	}
	if l, err := NewLevels([]int64{1, 2}, 1); err != nil {
		t.Fatal(err)
	} else if _, err := l.Sample(nil); err == nil {
		t.Error("a nil source")
	}
}

func BenchmarkLevels(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{1e3, 1e5, 2e6} {
		scores := make([]int64, n)
		for i := range scores {
			scores[i] = int64(rng.NormFloat64() * 3 * (1 << 30))
		}
		l, err := NewLevels(scores, 1<<30)
		if err != nil {
			b.Fatal(err)
		}
		src := randsrc.NewSeeded(1)
		b.Run("draw", func(b *testing.B) {
			for b.Loop() {
				if _, err := l.Sample(src); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run("set", func(b *testing.B) {
			for b.Loop() {
				l.Set(rng.IntN(n), int64(rng.NormFloat64()*3*(1<<30)))
			}
		})
	}
}
