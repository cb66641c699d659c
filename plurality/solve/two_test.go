package solve

import (
	"context"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/darrm/darrm/constraints"
	"github.com/darrm/darrm/gamma"
	"github.com/darrm/darrm/gamma/solve"
	"github.com/darrm/darrm/plurality"
)

// For two classes the table is the noise function of teachers that promise nothing, which is
// best for agreement: p = (1±γ)/2 at each count, and the same value, bound and error.
func TestTwoClassesAreTheMajority(t *testing.T) {
	ctx := context.Background()
	rapid.Check(t, func(t *rapid.T) {
		k := rapid.IntRange(1, 40).Draw(t, "K")
		p := plurality.Problem{
			K: k, Classes: 2, Epsilon: rapid.SampledFrom([]float64{.05, .3, 1, 4}).Draw(t, "ε"),
			Delta:    rapid.SampledFrom([]float64{0, 1e-5, .02, .3}).Draw(t, "δ"),
			Affected: rapid.IntRange(1, min(k, 5)).Draw(t, "t"),
		}
		var o plurality.Objective
		var counts []float64
		switch rapid.IntRange(0, 2).Draw(t, "prior") {
		case 0:
			counts = make([]float64, k+1)
			for l := range counts {
				counts[l] = float64(rapid.IntRange(0, 9).Draw(t, "count"))
				o.Counts = append(o.Counts, plurality.HistogramCount{Votes: []int{l, k - l}, Count: counts[l]})
			}
			counts[0]++
			o.Counts[0].Count++
		case 1:
			o.Concentration = rapid.SampledFrom([]float64{.3, 1, 20}).Draw(t, "A")
			s, err := plurality.NewSystem(p)
			if err != nil {
				t.Fatal(err)
			}
			w, err := o.Weights(context.Background(), s.Space)
			if err != nil {
				t.Fatal(err)
			}
			counts = make([]float64, k+1)
			for h, x := range w.High {
				counts[s.Histogram(h)[0]] = x
			}
		default:
			o.Accuracy = rapid.SampledFrom([]float64{.51, .6, .75, .95}).Draw(t, "μ")
			var err error
			if counts, err = gamma.TwoSidedCounts(k, o.Accuracy); err != nil {
				t.Fatal(err)
			}
		}
		got, err := Optimal(ctx, p, o, Options{})
		if err != nil {
			t.Fatal(err)
		}
		want, err := solve.Optimal(ctx, constraints.Problem{K: k, TotalEpsilon: p.Epsilon,
			Epsilon: math.Inf(1), Delta: p.Delta, Affected: p.Affected}, solve.Options{Counts: counts, Shape: gamma.Any})
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(got.Solver, string(FirstOrder)) ||
			!strings.Contains(got.Solver, want.Solver) {
			t.Fatalf("solved by %q", got.Solver)
		}
		// What Round mixes in: 2(η + (1+E)/D)/(E-1), where η is a rounding of 1 + E or two.
		tolerance := 1e-15 + 12*(1+got.System().Factor())/(got.System().Factor()-1)*0x1p-53
		if d := math.Abs(got.Value - (1 - want.ExpectedError)); d > tolerance {
			t.Errorf("value %v, the majority's %v", got.Value, 1-want.ExpectedError)
		}
		// the simplex method's tolerance
		if d := math.Abs(got.UpperBound - (1 - want.LowerBound)); d > 1e-10 {
			t.Errorf("bound %v, the majority's %v", got.UpperBound, 1-want.LowerBound)
		}
		for l := range k + 1 {
			law, err := got.Law([]int{l, k - l})
			if err != nil {
				t.Fatal(err)
			}
			phi := want.Func().Phi()[l]
			if d := math.Abs(law[0] - (1+phi)/2); d > tolerance {
				t.Errorf("%d votes: Pr[class 0] = %v, the majority's %v", l, law[0], (1+phi)/2)
			}
		}
	})
}

// The other methods, and this one where abstaining is worth nothing, agree with it.
func TestTwoClassesByOtherMethods(t *testing.T) {
	for _, delta := range []float64{0, 1e-3} {
		p, o := plurality.Problem{K: 21, Classes: 2, Epsilon: .3, Delta: delta, Affected: 2},
			plurality.Objective{Accuracy: .6}
		exact := optimal(t, p, o, Options{})
		if exact.Gap > 1e-12 {
			t.Errorf("δ = %v: gap %v", delta, exact.Gap)
		}
		first := optimal(t, p, o, Options{Method: FirstOrder, Gap: 1e-9})
		p.Abstain = true
		abstaining := optimal(t, p, o, Options{Gap: 1e-9})
		for _, other := range []*plurality.Table{first, abstaining} {
			if other.Value > exact.UpperBound || exact.Value > other.UpperBound || other.Gap > 1e-9 {
				t.Errorf("δ = %v: [%v, %v] and [%v, %v]", delta, exact.Value, exact.UpperBound, other.Value,
					other.UpperBound)
			}
		}
	}
}

// More teachers than the simplex method takes are the first-order method's.
func TestTwoClassesOfManyTeachers(t *testing.T) {
	table := optimal(t, plurality.Problem{K: 400, Classes: 2, Epsilon: .1, Affected: 1},
		plurality.Objective{Accuracy: .55}, Options{Gap: 1e-6})
	if table.Gap > 1e-6 {
		t.Errorf("gap %v by %s", table.Gap, table.Solver)
	}
	// Ghosh, Roughgarden, Sundararajan: k steps past the tie the error is ½e^{-εk}.
	for _, k := range []int{0, 1, 3, 10} {
		law, err := table.Law([]int{200 + k, 200 - k})
		if err != nil {
			t.Fatal(err)
		}
		if want := math.Exp(-.1*float64(k)) / 2; math.Abs(law[1]-want) > 1e-3 {
			t.Errorf("%d past the tie: errs with %v, want %v", k, law[1], want)
		}
	}
}
