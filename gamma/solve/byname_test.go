package solve

import (
	"bytes"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/darrm/darrm/constraints"
	"github.com/darrm/darrm/gamma"
	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/lp"
)

// leastCost is the least expected cost of any function of the votes: a linear program over the probability of
// label 1 at each number of votes, with the constraints of both labels at every multiset, listed one by one.
func leastCost(t testing.TB, p constraints.Problem, counts []float64, of0, of1 float64) float64 {
	t.Helper()
	total := 0.0
	for _, c := range counts {
		total += c
	}
	program, base := lp.Problem{}, 0.0
	for l, c := range counts {
		cost := 0.0
		switch {
		case 2*l < p.K:
			cost = of1 * c / total
		case 2*l > p.K:
			cost = -of0 * c / total
			base -= cost
		}
		program.C = append(program.C, cost)
		program.Lower, program.Upper = append(program.Lower, 0), append(program.Upper, 1)
	}
	solver := must.Get(lp.New(program))(t)
	defer solver.Close()
	epsilon, delta := p.Total()
	factor := math.Exp(epsilon)
	a, b := 1.0, 0.0
	if !math.IsInf(p.Epsilon, 1) {
		a = (math.Exp(p.Epsilon) + p.TeacherDelta) / (math.Exp(p.Epsilon) + 1)
		b = 1 - a
	}
	d := p.TeacherDelta
	corners := [][2]float64{{a, b}, {b, a}, {0, 0}, {1, 1}}
	if d > 0 {
		corners = append(corners, [2]float64{d, 0}, [2]float64{0, d}, [2]float64{1, 1 - d}, [2]float64{1 - d, 1})
	}
	var rows []lp.Row
	var place func(first, left, movable int, laws [2][]float64)
	place = func(first, left, movable int, laws [2][]float64) {
		if left == 0 {
			one, zero := make([]float64, p.K+1), make([]float64, p.K+1)
			for l := range one {
				one[l] = laws[0][l] - factor*laws[1][l]
				zero[l] = -one[l]
			}
			rows = append(rows, lp.Row{Coef: one, RHS: delta}, lp.Row{Coef: zero, RHS: factor - 1 + delta})
			return
		}
		for c := first; c < len(corners); c++ {
			moves := 0
			if corners[c][0] != corners[c][1] {
				moves = 1
			}
			if moves > movable {
				continue
			}
			var next [2][]float64
			for side := range laws {
				q := corners[c][side]
				next[side] = make([]float64, len(laws[side])+1)
				for l, x := range laws[side] {
					next[side][l] += x * (1 - q)
					next[side][l+1] += x * q
				}
			}
			place(c, left-1, movable-moves, next)
		}
	}
	place(0, p.K, p.Affected, [2][]float64{{1}, {1}})
	if err := solver.AddRows(rows); err != nil {
		t.Fatal(err)
	}
	return base + must.Get(solver.Solve(t.Context()))(t).Objective
}

// Where the labels are not alike the optimum is that of a linear program over every multiset and both labels,
// for teachers that are private themselves and for teachers that promise nothing.
func TestByNameIsTheLinearProgram(t *testing.T) {
	apart := 0
	rapid.Check(t, func(rt *rapid.T) {
		k := rapid.IntRange(1, 6).Draw(rt, "K")
		p := constraints.Problem{K: k, Affected: rapid.IntRange(1, k).Draw(rt, "t"),
			Epsilon:      rapid.SampledFrom([]float64{.3, 1.31, math.Inf(1)}).Draw(rt, "epsilon"),
			TotalEpsilon: rapid.SampledFrom([]float64{.2, .981, 2}).Draw(rt, "total")}
		if !math.IsInf(p.Epsilon, 1) {
			p.TeacherDelta = rapid.SampledFrom([]float64{0, 1e-3, .05}).Draw(rt, "Delta")
		}
		p.Delta = max(p.TeacherDelta, rapid.SampledFrom([]float64{0, 1e-3}).Draw(rt, "delta"))
		o := Options{Shape: gamma.ByName, Counts: rapid.SliceOfN(rapid.Float64Range(.001, 1), k+1, k+1).Draw(rt, "counts")}
		if rapid.Bool().Draw(rt, "costs") {
			o.Costs = [2]float64{rapid.Float64Range(.1, 9).Draw(rt, "of 0"), 1}
		}
		costs := o.Costs
		if costs == [2]float64{} {
			costs = [2]float64{1, 1}
		}
		if p.Validate() != nil {
			return
		}
		table, err := Optimal(t.Context(), p, o)
		if err != nil {
			rt.Fatal(err)
		}
		want := leastCost(t, p, o.Counts, costs[0], costs[1])
		if math.Abs(table.ExpectedError-want) > 1e-8 || table.LowerBound > want+1e-12 || table.Gap > 1e-8 {
			rt.Fatalf("%+v %+v: error %.12f within %.3g of %.12f, the linear program %.12f", p, o, table.ExpectedError,
				table.Gap, table.LowerBound, want)
		}
		if !table.Func().Symmetric() {
			apart++
		}
		var file bytes.Buffer
		if err := table.Encode(&file); err != nil {
			rt.Fatal(err)
		}
		claim := must.Get(gamma.ReadClaim(&file))(t)
		if again := must.Get(claim.Verify(t.Context()))(t); !again.Same(table.Certified) || !again.Objective.Equal(table.Objective) {
			rt.Fatal("another table is read")
		}
	})
	if apart < 20 {
		t.Errorf("only %d tables told the labels apart", apart)
	}
}

// Figures of another implementation for teachers that promise nothing, solved by HiGHS and bounded by duals:
// the agreement of the best table where the second class has a share of the queries.
func TestSharesOneAnswer(t *testing.T) {
	for _, x := range []struct {
		k, t           int
		epsilon, delta float64
		share, mean    float64
		costs          [2]float64
		value          float64
	}{
		{25, 1, .3, 0, .05, .75, [2]float64{}, .959146286},
		{25, 1, .3, 0, .05, .8, [2]float64{}, .972773688},
		{25, 1, .3, 0, .1, .75, [2]float64{}, .943138624},
		{25, 1, .3, 0, .3, .75, [2]float64{}, .913135078},
		{25, 1, .1, 0, .1, .75, [2]float64{}, .897303642},
		{25, 1, 1, 0, .1, .75, [2]float64{}, .993648444},
		{11, 1, .5, 0, .1, .75, [2]float64{}, .896771726},
		{10, 1, .5, 0, .2, .75, [2]float64{}, .884176656},
		{25, 2, .3, 0, .1, .75, [2]float64{}, .897303642},
		{25, 1, .3, 1e-3, .1, .75, [2]float64{}, .945671867},
		{25, 3, .5, 1e-4, .2, .7, [2]float64{}, .815699476},
		{101, 1, .05, 0, .1, .75, [2]float64{}, .913485490},
		{25, 1, .02, 0, .1, .75, [2]float64{}, .897303642},
		{25, 1, .3, 0, .5, .75, [2]float64{9, 1}, 1 - .275055089},
		{25, 1, .3, 0, .1, .75, [2]float64{9, 1}, 1 - .177082016},
	} {
		p := constraints.Problem{K: x.k, Affected: x.t, Epsilon: math.Inf(1), TotalEpsilon: x.epsilon, Delta: x.delta}
		counts := must.Get(gamma.SharedCounts(x.k, x.mean, x.share))(t)
		table := must.Get(Optimal(t.Context(), p, Options{Counts: counts, Costs: x.costs, Shape: gamma.ByName}))(t)
		if math.Abs(1-table.ExpectedError-x.value) > 1e-8 || table.Gap > 1e-8 {
			t.Errorf("%+v: value %.9f, gap %.3g", x, 1-table.ExpectedError, table.Gap)
		}
	}
}

// Where everything may be published, a tie is a fair coin: it is no label's.
func TestByNameLeavesATieThatNothingBindsACoin(t *testing.T) {
	p := must.Get(constraints.NewProblem(4, 4, .3, 0))(t)
	for _, counts := range [][]float64{{1, 2, 3, 4, 5}, {9, 2, 3, 1, 0}} {
		table := must.Get(Optimal(t.Context(), p, Options{Counts: counts, Shape: gamma.ByName}))(t)
		if got := table.Func().Phi(); table.Gap != 0 || got[2] != 0 || got[0] != -1 || got[4] != 1 {
			t.Errorf("counts %v: φ = %v, gap %v", counts, got, table.Gap)
		}
	}
}
