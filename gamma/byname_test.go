package gamma

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/darrm/darrm/constraints"
	"github.com/darrm/darrm/internal/testing/must"
)

func drawByName(t *rapid.T, k int) Func {
	f, err := NewByName(rapid.SliceOfN(rapid.Float64Range(-1, 1), k+1, k+1).Draw(t, "γ"))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func drawCounts(t *rapid.T, k int) []float64 {
	return rapid.SliceOfN(rapid.Float64Range(.01, 9), k+1, k+1).Draw(t, "counts")
}

// Whatever the multipliers, of either label, the bound is below the expected cost of every private function.
func TestByNameBoundIsBelowEveryPrivateFunction(t *testing.T) {
	above := 0
	rapid.Check(t, func(rt *rapid.T) {
		p := drawProblem(rt, 7)
		s := must.Get(constraints.NewSystem(p))(t)
		proof := make([]Multiplier, rapid.IntRange(0, 6).Draw(rt, "multipliers"))
		for i := range proof {
			proof[i] = Multiplier{drawMultiset(rt, p), rapid.Bool().Draw(rt, "zero"),
				rapid.SampledFrom([]float64{0, .01, .1, .5, 3}).Draw(rt, "multiplier")}
		}
		// Those of constraints that the plurality breaks prove something.
		plurality := slices.Repeat([]float64{1}, p.K+1)
		for l := 0; 2*l <= p.K; l++ {
			plurality[l] = -.9
		}
		found := must.Get(s.Separate(t.Context(), plurality, 1e-9))(t)
		for _, v := range found[:min(len(found), 3)] {
			proof = append(proof, Multiplier{v.Multiset, v.Zero, rapid.Float64Range(0, .5).Draw(rt, "of the worst")})
		}
		o := Objective{Counts: drawCounts(rt, p.K), Shape: ByName, Costs: [2]float64{rapid.Float64Range(.1, 9).Draw(rt, "cost"), 1}}
		bound, err := o.lowerBound(s, Proof{Multipliers: proof})
		if err != nil {
			rt.Fatal(err)
		}
		if bound > 0 {
			above++
		}
		constant := slices.Repeat([]float64{1}, p.K+1) // always label 1
		for l := 0; 2*l < p.K; l++ {
			constant[l] = -1
		}
		for _, f := range []Func{must.Get(Constant(p.K, 0))(t), drawByName(rt, p.K), must.Get(NewByName(constant))(t)} {
			c := must.Get(CertifyShrunk(t.Context(), p, f))(t)
			if e := o.Error(c.Func()); bound > e {
				rt.Fatalf("bound %v, but %v has the error %v", bound, c.Func(), e)
			}
		}
	})
	if above < 5 {
		t.Errorf("%d bounds are above 0", above)
	}
}

// The error by names is the expected cost of a label, counted vote by vote, and what it says of each label too.
func TestByNameIsTheExpectedCost(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		k := rapid.IntRange(1, 9).Draw(rt, "K")
		f, o := drawByName(rt, k), Objective{Shape: ByName, Counts: drawCounts(rt, k)}
		if rapid.Bool().Draw(rt, "costs") {
			o.Costs = [2]float64{3, .5}
		}
		cost, always, right, most := 0.0, [2]float64{}, [2]float64{}, [2]float64{}
		total := 0.0
		for _, c := range o.Counts {
			total += c
		}
		for ones, c := range o.Counts {
			one := (1 + f.Phi()[ones]) / 2
			probability := [2]float64{1 - one, one}
			lead := 2*ones - k
			for label := range 2 {
				if sign := 2*label - 1; sign*lead < 0 {
					cost += c / total * probability[label] * o.costs()[label]
					always[label] += c / total * o.costs()[label]
				} else {
					right[label] += c * probability[label]
					most[label] += c
				}
			}
		}
		by := o.ByLabel(f)
		if got := o.Error(f); math.Abs(got-cost) > 1e-12 || math.Abs(by.ConstantError-min(always[0], always[1])) > 1e-12 {
			rt.Fatalf("error %v and of a constant %v, counted %v and %v", got, by.ConstantError, cost, always)
		}
		for label, recall := range by.Recall {
			if most[label] > 0 && math.Abs(recall-right[label]/most[label]) > 1e-12 {
				rt.Fatalf("label %d: recall %v, counted %v of %v", label, recall, right[label], most[label])
			}
		}
		if o.Costs == [2]float64{} {
			if d, err := Disagreement(f, o.Counts); err != nil || math.Abs(d-cost) > 1e-12 {
				rt.Fatalf("disagreement %v, %v, counted %v", d, err, cost)
			}
		}
	})
}

// A function that treats the labels by their names has no other shape, and no other objective states costs.
func TestByNameHasItsShape(t *testing.T) {
	f := must.Get(NewByName([]float64{.5, -.25, .125, 1}))(t)
	for _, shape := range alike {
		if shape.check(f) == nil {
			t.Errorf("%v has the shape %s", f, shape)
		}
		if err := (Objective{PriorMean: .75, Shape: shape, Costs: [2]float64{1, 2}}).Validate(3); err == nil ||
			!strings.Contains(err.Error(), "costs") {
			t.Errorf("%s: %v", shape, err)
		}
	}
	for _, o := range []Objective{{Shape: ByName, PriorMean: .75}, {Shape: ByName, WorstCase: true},
		{Shape: ByName, Counts: []float64{1, 1, 1, 1}, Costs: [2]float64{-1, 2}},
		{Shape: ByName, Counts: []float64{1, 1, 1, 1}, Costs: [2]float64{math.NaN(), 2}}} {
		if err := o.Validate(3); err == nil {
			t.Errorf("%+v is valid", o)
		}
	}
	if ByName.check(f) != nil || f.Symmetric() || f.Monotone() {
		t.Errorf("%v by name: %v", f, ByName.check(f))
	}
	if tie := must.Get(NewByName([]float64{1, .5, 1}))(t); tie.Symmetric() || tie.Phi()[1] != .5 {
		t.Errorf("a tie of label 1: %v", tie.Phi())
	}
}

// A file of costs that are all 0 is none of costs that are all 1, which the zero value of Objective.Costs is.
func TestCostsOfAFileAreNotAllZero(t *testing.T) {
	p := must.Get(constraints.NewProblem(3, 1, 1, 0))(t)
	c := must.Get(CertifyShrunk(t.Context(), p, must.Get(NewByName([]float64{.1, .1, .2, .1}))(t)))(t)
	o := Objective{Counts: []float64{1, 2, 3, 4}, Shape: ByName, Costs: [2]float64{1, 1}}
	table := must.Get(NewTable(t.Context(), c, o, Proof{}))(t)
	file := string(must.Get(json.Marshal(table))(t))
	const costs = `"costs":[1,1]`
	if strings.Count(file, costs) != 1 {
		t.Fatalf("no %s in %s", costs, file)
	}
	for _, other := range []string{"[0,0]", "[-0,0]", "[1]", "[]", "[-1,1]"} {
		if _, err := ReadClaim(strings.NewReader(strings.Replace(file, costs, `"costs":`+other, 1))); err == nil ||
			!strings.Contains(err.Error(), "cost") {
			t.Errorf("costs %s: %v", other, err)
		}
	}
	if _, err := ReadClaim(strings.NewReader(file)); err != nil {
		t.Error(err)
	}
}

// No error is negative: that alone shows that a function that is never wrong is optimal, and nothing of others.
func TestBoundedWithoutAProof(t *testing.T) {
	p := must.Get(constraints.NewTotalProblem(4, 1, .5, math.Inf(1), 0))(t)
	o := Objective{Shape: ByName, Counts: []float64{10, 4, 0, 0, 0}} // label 0 always leads
	for _, x := range []struct {
		one  float64 // the probability of label 1
		want bool
	}{{0x1p-46, true}, {.25, false}} {
		label1 := 1 - 2*x.one
		f := must.Get(NewByName([]float64{label1, label1, -label1, -label1, -label1}))(t)
		table := must.Get(NewTable(t.Context(), must.Get(Certify(t.Context(), p, f))(t), o, Proof{}))(t)
		if table.Bounded() != x.want || table.Optimal() != x.want || table.Gap < table.ExpectedError {
			t.Errorf("label 1 in %v: bounded %t, optimal %t, gap %v", x.one, table.Bounded(), table.Optimal(), table.Gap)
		}
	}
	if (*Table)(nil).Optimal() {
		t.Error("no table is optimal")
	}
}
