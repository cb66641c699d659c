package majority

import (
	"math"
	"testing"

	"github.com/darrm/darrm/gamma"
	"github.com/darrm/darrm/internal/randsrc"
	"github.com/darrm/darrm/internal/testing/experimenttest"
)

// Errors with teachers of three kinds against two other ways: sampling for what is
// computed exactly, and an integral for what is sampled.
func TestPriorScores(t *testing.T) {
	experimenttest.Numbers(t)
	f, err := gamma.New([]float64{1, 0.5, 0.5, 1})
	if err != nil {
		t.Fatal(err)
	}
	functions := []function{{Method: methodOpt, Gamma: f.Values()}}
	// One side of ½: 20,000 samples of p, a fixed seed; the distance is below 5 standard
	// errors with probability 1 - 6e-7 over seeds.
	a := actual{Low: 0.1, High: 0.4}
	exact, err := a.scores(3, functions)
	if err != nil {
		t.Fatal(err)
	}
	src := randsrc.NewSeeded(2)
	const n = 20_000
	sum, squares := 0.0, 0.0
	p := make([]float64, 3)
	for range n {
		for i := range p {
			u, _ := src.Uint53()
			p[i] = a.Low + (a.High-a.Low)*float64(u)/float64(randsrc.One53)
		}
		e, err := gamma.ErrorAt(f, p)
		if err != nil {
			t.Fatal(err)
		}
		sum += e
		squares += e * e
	}
	se := math.Sqrt((squares/n - sum/n*sum/n) / n)
	if d := math.Abs(exact[0].Error - sum/n); d > 5*se || exact[0].StandardError != 0 {
		t.Errorf("exact %v, sampled %v ± %v", exact[0].Error, sum/n, se)
	}

	// Both sides: K = 3, midpoint rule on a grid of 60³, good to about 1e-4.
	a = actual{Low: 0, High: 1}
	sampled, err := a.scores(3, functions)
	if err != nil {
		t.Fatal(err)
	}
	const grid = 60
	integral := 0.0
	at := func(i int) float64 { return (float64(i) + 0.5) / grid }
	for i := range grid {
		for j := range grid {
			for k := range grid {
				e, err := gamma.ErrorAt(f, []float64{at(i), at(j), at(k)})
				if err != nil {
					t.Fatal(err)
				}
				integral += e / (grid * grid * grid)
			}
		}
	}
	if d := math.Abs(sampled[0].Error - integral); d > 5*sampled[0].StandardError+2e-4 {
		t.Errorf("sampled %v ± %v, integral %v", sampled[0].Error, sampled[0].StandardError, integral)
	}
	// Pr[label ≠ majority] at p = ½: α = 1/8, 3/8, 3/8, 1/8 and γ = ½ in the middle.
	half, err := actual{Low: 0.5, High: 0.5}.scores(3, functions)
	if err != nil {
		t.Fatal(err)
	}
	if math.Abs(half[0].Disagreement-0.75*0.5/2) > 1e-15 || half[0].Error > 1e-15 {
		t.Errorf("p = 0.5: %+v", half[0])
	}
}
