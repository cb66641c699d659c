package ensemble

import (
	"fmt"
	"math"
	"testing"

	"gonum.org/v1/gonum/integrate/quad"
	"gonum.org/v1/gonum/stat/distuv"
	"pgregory.net/rapid"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/ensemble/labellaw"
	"github.com/darrm/darrm/internal/noise"
	"github.com/darrm/darrm/internal/num"
	"github.com/darrm/darrm/internal/randsrc"
	"github.com/darrm/darrm/internal/testing/raced"
	"github.com/darrm/darrm/plurality"
)

// secondNormalLaw is the integral of each class by itself, by Gauss's rule in pieces.
func secondNormalLaw(counts []int, sigma float64) []float64 {
	out := make([]float64, len(counts))
	for c, v := range counts {
		density := func(x float64) float64 {
			p := distuv.UnitNormal.Prob(x)
			for d, u := range counts {
				if d != c {
					p *= distuv.UnitNormal.CDF(x + float64(v-u)/sigma)
				}
			}
			return p
		}
		for from := -12.0; from < 12; from += 0.5 {
			out[c] += quad.Fixed(density, from, from+0.5, 20, quad.Legendre{}, 0)
		}
	}
	return out
}

// The trapezoidal rule is within 1e-12 of Gauss's in pieces, and two classes have the normal
// distribution's Φ(lead/(σ√2)).
func TestNormalLawAgainstASecondRule(t *testing.T) {
	raced.Sequential(t)
	rapid.Check(t, func(t *rapid.T) {
		counts := rapid.SliceOfN(rapid.IntRange(0, 60), 1, 12).Draw(t, "counts")
		sigma := rapid.Float64Range(0.5, 300).Draw(t, "sigma")
		sum := 0.0
		want := secondNormalLaw(counts, sigma)
		for c, got := range normalLaw(counts, sigma) {
			sum += got
			if math.Abs(got-want[c]) > 1e-12 {
				t.Fatalf("%v, σ = %v: Pr[%d] = %.15g, want %.15g", counts, sigma, c, got, want[c])
			}
		}
		if math.Abs(sum-1) > 1e-12 {
			t.Fatalf("%v, σ = %v: probabilities sum to %.15g", counts, sigma, sum)
		}
		lead := counts[0] - counts[len(counts)-1]
		got, two := normalLaw([]int{counts[0], counts[len(counts)-1]}, sigma)[0],
			distuv.UnitNormal.CDF(float64(lead)/sigma/math.Sqrt2)
		if math.Abs(got-two) > 1e-13 {
			t.Fatalf("lead %d, σ = %v: %.15g, want %.15g", lead, sigma, got, two)
		}
	})
	many := make([]int, 1000) // all alike, and one ahead
	if got := normalLaw(many, 20); math.Abs(got[7]-1e-3) > 1e-15 {
		t.Errorf("one of 1000 equal counts is the label with probability %v", got[7])
	}
	many[0] = 100
	if got, want := normalLaw(many, 20), secondNormalLaw(many[:1], 20)[0]; math.Abs(want-1) > 1e-12 ||
		math.Abs(got[0]+999*got[1]-1) > 1e-12 {
		t.Errorf("a count that is ahead of 999: %v, the others %v", got[0], got[1])
	}
}

// Labels of normal noise and of discrete noise are as the laws say, by n = 40,000 seeded draws for
// each of the 12 cells, at 5 standard deviations: a right law fails for one seed in 140,000. A law
// whose σ is 5 % off is 9 standard deviations away in the first cell.
func TestNormalLawAgainstSimulation(t *testing.T) {
	raced.Sequential(t)
	const n = 40_000
	s := Setting{K: 40, Classes: 4, Affected: 1, Neighbours: accountant.ReplaceOne}
	m, err := GNMax(s, accountant.Cost{Epsilon: 0.3, Delta: 1e-3}, 17.5)
	if err != nil {
		t.Fatal(err)
	}
	coins := randsrc.SeededCoins(7)
	for _, counts := range [][]int{{40, 0, 0, 0}, {20, 18, 1, 1}, {10, 10, 10, 10}} {
		seen := make([]int, 4)
		for i := range n {
			class, err := m.Answer(coins, fmt.Sprint(counts, i), counts)
			if err != nil {
				t.Fatal(err)
			}
			seen[class]++
		}
		for c, p := range normalLaw(counts, 17.5) {
			if d := (float64(seen[c]) - n*p) / math.Sqrt(n*p*(1-p)); math.Abs(d) > 5 {
				t.Errorf("%v: class %d was drawn %d times of %d, want %.0f: %.1f standard deviations", counts,
					c, seen[c], n, n*p, d)
			}
		}
	}
}

// From σ = 16 on GNMax's law is that of its integers to within 0.01/σ⁴, and normal noise of the
// same σ without what ties add is not. Below, the integers are gone through.
func TestLawOfIntegers(t *testing.T) {
	for _, classes := range []int{2, 5, 10, 100} {
		for _, sigma := range []float64{15.99, 16, 40} {
			for _, lead := range []int{10, 40} {
				counts := make([]int, classes)
				counts[0], counts[1] = lead+5, 5
				g, err := noise.NewGaussian(num.Decimal(sigma * sigma))
				if err != nil {
					t.Fatal(err)
				}
				allowed, plain := 1e-11, normalLaw(counts, sigma)
				if sigma >= smooth {
					allowed = 0.01 / math.Pow(sigma, 4)
				}
				got := gaussianMax(g).law(counts)
				for c, want := range g.Table().ArgMax(counts) {
					if math.Abs(got[c]-want) > allowed {
						t.Errorf("%d classes, σ = %v: Pr[%d] = %.12f, want %.12f", classes, sigma, c, got[c], want)
					}
					if c == 0 && math.Abs(plain[c]-want) < allowed {
						t.Errorf("%d classes, σ = %v: normal noise of the same σ is as near", classes, sigma)
					}
				}
			}
		}
	}
}

// Expected agreement under uneven shares, as an independent program worked it out.
func TestNormalLawAgainstKnownAgreements(t *testing.T) {
	for _, x := range []struct {
		k, classes int
		sigma      float64
		want       float64
	}{
		{9, 3, 19.93812, .43266}, {9, 3, 15.2028, .46116}, {11, 3, 21.83350, .44069},
		{11, 3, 16.6564, .47214},
		{13, 4, 16.1186, .41112}, {25, 4, 16.7226, .53938}, {15, 10, 14.3327, .25512},
		{25, 10, 15.3526, .36110},
	} {
		s, err := plurality.NewSystem(plurality.Problem{K: x.k, Classes: x.classes, Epsilon: 1,
			Affected: 1})
		if err != nil {
			t.Fatal(err)
		}
		w, err := plurality.Objective{Concentration: 1}.Weights(t.Context(), s.Space)
		if err != nil {
			t.Fatal(err)
		}
		got := 0.0
		for h, weight := range w.Low {
			counts := s.Histogram(h)
			agrees, _ := labellaw.Plurality(counts, normalLaw(counts, x.sigma))
			got += weight * agrees
		}
		if math.Abs(got-x.want) > 6e-6 {
			t.Errorf("K = %d, %d classes, σ = %v: agreement %.6f, want %v", x.k, x.classes, x.sigma, got,
				x.want)
		}
	}
}
