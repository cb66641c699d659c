package noise

import (
	"testing"

	"github.com/darrm/darrm/internal/randsrc"
	"github.com/darrm/darrm/internal/testing/noisetest"
	"github.com/darrm/darrm/internal/testing/raced"
)

// Each test here draws from a seeded source, so it always does the same; for another
// seed it gives a false alarm with probability at most 1e-6 (noisetest.Check). The
// number of draws is such that the mutants below, a σ that is too small by 1 % among
// them, are rejected: the probability of Y < -1.5σ changes by 2.9 %, which at a million
// draws is 7.7 of its standard deviations, and Check rejects at about 6.2.
const draws = 1_000_000

// tally counts n draws within ±reach; all others come first and last.
func tally(t testing.TB, n, reach int, draw func() (int64, error)) []int {
	t.Helper()
	counts := make([]int, 2*reach+1)
	for range n {
		y, err := draw()
		if err != nil {
			t.Fatal(err)
		}
		counts[max(0, min(2*reach, int(y)+reach))]++
	}
	return counts
}

// lawWithin returns the probabilities for tally.
func lawWithin(l Law, reach int) []float64 {
	p := make([]float64, 2*reach+1)
	for i := range p {
		p[i] = l.Mass(i - reach).Nearest()
	}
	p[0] = l.Tail(reach).Nearest() // Pr[Y ≤ -reach]
	p[2*reach] = p[0]
	return p
}

func TestGaussianSampling(t *testing.T) {
	raced.Sequential(t)
	exact := func(num, den uint64) Gaussian { return mustGaussian(t, num, den) }
	src := randsrc.NewSeeded(20240)
	for _, c := range []struct {
		name     string
		claimed  Gaussian
		sampled  Gaussian
		n, reach int
		passes   bool
	}{
		{"σ = 4.6", exact(2116, 100), exact(2116, 100), draws, 25, true},
		{"more than 64 bits", exact(5<<33+7, 1<<34), exact(5<<33+7, 1<<34), draws / 12, 8, true},
		{"σ = 0.2", exact(1, 25), exact(1, 25), draws / 12, 3, true},
		{"σ too small by 1 %", exact(2116, 100), exact(20739, 1000), draws, 25, false},
	} {
		got := tally(t, c.n, c.reach, func() (int64, error) { return c.sampled.Sample(src) })
		err := noisetest.Check(got, lawWithin(c.claimed.Law(c.reach), c.reach))
		if (err == nil) != c.passes {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

func TestLaplaceSampling(t *testing.T) {
	raced.Sequential(t)
	src := randsrc.NewSeeded(20241)
	claimed := Laplace{14, 3}
	for _, c := range []struct {
		name    string
		sampled Laplace
		n       int
		passes  bool
	}{
		{"b = 14/3", claimed, draws * 6 / 10, true},
		{"b too small by 2 %", Laplace{1372, 300}, draws * 6 / 10, false},
	} {
		got := tally(t, c.n, 40, func() (int64, error) { return c.sampled.Sample(src) })
		err := noisetest.Check(got, lawWithin(claimed.Law(40), 40))
		if (err == nil) != c.passes {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// What is sampled is the law that was asked for and no other: Sample draws what the attempts
// draw whose law TestLaplaceIsExact and TestGaussianIsExact show, word by word of the source.
// A scale that differs in its tenth digit would use other words.
func TestSampleIsTheExactAttempt(t *testing.T) {
	type sampler interface {
		law
		Sample(src randsrc.Source) (int64, error)
	}
	for i, l := range []sampler{
		mustGaussian(t, 2116, 100), mustGaussian(t, 1, 25), mustGaussian(t, 5<<33+7, 1<<34),
		mustGaussian(t, 1<<30, 1),
		Laplace{14, 3}, Laplace{1 << 31, 1}, Laplace{1, 1 << 31}, Laplace{1<<31 - 1, 1<<31 - 3},
	} {
		src, same := randsrc.NewSeededStream(20244, uint64(i)),
			fair{randsrc.NewSeededStream(20244, uint64(i))}
		for n := range 2000 {
			want, ok := int64(0), false
			for !ok {
				var err error
				if want, ok, err = l.attempt(same); err != nil {
					t.Fatal(err)
				}
			}
			if got, err := l.Sample(src); err != nil || got != want {
				t.Fatalf("%+v: draw %d is %d, %v; its attempts draw %d", l, n, got, err, want)
			}
		}
	}
	src, same := randsrc.NewSeeded(20245), fair{randsrc.NewSeeded(20245)}
	scores, values := []int{4, 7, 7, 0, 6}, []int64{2, 5, 5, 1, 5}
	for n := range 2000 {
		want, err := permuteAndFlip(same, scores, 1<<32-1, 1<<33)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := PermuteAndFlip(src, scores, 1<<32-1, 1<<33); err != nil || got != want {
			t.Fatalf("permute-and-flip: draw %d is %d, %v; want %d", n, got, err, want)
		}
		if want, err = argMax(same, values); err != nil {
			t.Fatal(err)
		}
		if got, err := ArgMax(src, values); err != nil || got != want {
			t.Fatalf("largest: draw %d is %d, %v; want %d", n, got, err, want)
		}
	}
}

// Uniform integers where a remainder that is not checked would prefer small ones: for n
// = ¾·2⁵³ the lowest third would come twice as often. In bins of n/6.
func TestUniformSampling(t *testing.T) {
	const n = 3 << 51
	src := randsrc.NewSeeded(20242)
	sixth := []float64{1. / 6, 1. / 6, 1. / 6, 1. / 6, 1. / 6, 1. / 6}
	for name, draw := range map[string]func() (uint64, error){
		"": func() (uint64, error) { return Uniform(src, n) },
		"modulo bias": func() (uint64, error) {
			u, err := src.Uint53()
			return u % n, err
		},
	} {
		bins := make([]int, 6)
		for range 100_000 {
			u, err := draw()
			if err != nil {
				t.Fatal(err)
			}
			bins[u/(n/6)]++
		}
		if err := noisetest.Check(bins, sixth); (err == nil) != (name == "") {
			t.Errorf("%q: %v", name, err)
		}
	}
	// A die, where the bias would be 2^-51, and coins with their threshold off by one.
	bins := make([]int, 6)
	for range 200_000 {
		u, err := Uniform(src, 6)
		if err != nil {
			t.Fatal(err)
		}
		bins[u]++
	}
	if err := noisetest.Check(bins, sixth); err != nil {
		t.Error(err)
	}
	for name, threshold := range map[string]uint64{"": 5, "off by one": 6} {
		heads := make([]int, 2)
		for range 400_000 {
			on, err := fair{src}.bernoulli(threshold, 30)
			if err != nil {
				t.Fatal(err)
			}
			if on {
				heads[1]++
			} else {
				heads[0]++
			}
		}
		if err := noisetest.Check(heads, []float64{25. / 30, 5. / 30}); (err == nil) != (name == "") {
			t.Errorf("coin %q: %v", name, err)
		}
	}
}

// Ties, and permute-and-flip, with mutants that prefer the first of equals.
func TestSelectionSampling(t *testing.T) {
	src := randsrc.NewSeeded(20243)
	values := []int64{2, 5, 5, 1, 5}
	scores := []int{4, 7, 7, 0}
	third := []float64{0, 1. / 3, 1. / 3, 0, 1. / 3}
	flip := PermuteAndFlipLaw(scores, 1, 4)
	for _, c := range []struct {
		name   string
		law    []float64
		draw   func() (int, error)
		passes bool
	}{
		{"largest", third, func() (int, error) { return ArgMax(src, values) }, true},
		{"permute-and-flip", flip, func() (int, error) { return PermuteAndFlip(src, scores, 1, 4) },
			true},
		{"first of those tied, once in a hundred", third, func() (int, error) {
			if u, err := Uniform(src, 100); err != nil || u == 0 {
				return 1, err
			}
			return ArgMax(src, values)
		}, false},
		{"rate too large by 5 %", flip, func() (int, error) {
			return PermuteAndFlip(src, scores, 105, 400)
		}, false},
	} {
		counts := make([]int, len(c.law))
		for range draws / 4 {
			i, err := c.draw()
			if err != nil {
				t.Fatal(err)
			}
			counts[i]++
		}
		if err := noisetest.Check(counts, c.law); (err == nil) != c.passes {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}
