package solve

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"math"
	"math/big"
	"math/bits"
	"testing"

	"github.com/darrm/darrm/constraints"
	"github.com/darrm/darrm/gamma"
	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/lp"
)

// twoSided asks for agreement with votes of mean 0.75 either way, among the functions of a shape.
func twoSided(t testing.TB, k int, shape gamma.Shape) Options {
	return Options{Counts: must.Get(gamma.TwoSidedCounts(k, DefaultPriorMean))(t), Shape: shape}
}

// What a probability below ½ of naming the majority gains, Δ = 0, m = 1, all teachers reached: the
// disagreement of the best γ ≥ 0 and of the best γ.
func TestAnyShape(t *testing.T) {
	for _, c := range []struct {
		k               int
		eps, free, best float64
	}{
		{7, 0.5, 0.2127, 0.2074}, {9, 0.1, 0.2292, 0.2173}, {11, 0.5, 0.2316, 0.2255},
		{21, 1, 0.2417, 0.2407},
	} {
		p := problem(t, c.k, 1, c.eps, 0)
		free, best := optimal(t, p, twoSided(t, c.k, gamma.Free)), optimal(t, p, twoSided(t, c.k, ""))
		for _, table := range []*gamma.Table{free, best} {
			if table.Gap > 1e-9 {
				t.Errorf("K=%d, %s: gap %g", c.k, table.Shape, table.Gap)
			}
		}
		if best.Shape != gamma.Any || best.Func().Truthful() || !free.Func().Truthful() {
			t.Errorf("K=%d: shapes %s and %s of %v and %v", c.k, best.Shape, free.Shape, best.Func(),
				free.Func())
		}
		if math.Abs(free.ExpectedError-c.free) > 5e-5 || math.Abs(best.ExpectedError-c.best) > 5e-5 {
			t.Errorf("K=%d ε=%g: disagreement %.6f for γ ≥ 0 and %.6f, want %.4f and %.4f", c.k, c.eps,
				free.ExpectedError, best.ExpectedError, c.free, c.best)
		}
		if c.k != 7 {
			continue
		}
		for l, want := range []float64{0.650, 1, -0.139, 1} { // by votes of the minority
			if got := best.Func().At(l); math.Abs(got-want) > 5e-4 {
				t.Errorf("γ(%d) = %.6f, want %.3f", l, got, want)
			}
		}
	}
}

// A table with γ below 0 keeps its sign on the way through its file, and is refused under a shape
// that has none such.
func TestAnyTablesAsFiles(t *testing.T) {
	table := optimal(t, problem(t, 7, 1, 0.5, 0), twoSided(t, 7, gamma.Any))
	var b bytes.Buffer
	if err := table.Encode(&b); err != nil {
		t.Fatal(err)
	}
	claim := must.Get(gamma.ReadClaim(bytes.NewReader(b.Bytes())))(t)
	if again := must.Get(claim.Verify(t.Context()))(t); !again.Func().Equal(table.Func()) {
		t.Errorf("%v became %v", table.Func(), again.Func())
	}
	var raw map[string]any
	if err := json.Unmarshal(b.Bytes(), &raw); err != nil {
		t.Fatal(err)
	}
	for _, shape := range []gamma.Shape{gamma.Free, gamma.Monotone} {
		raw["shape"] = shape
		var format *gamma.FormatError
		data := must.Get(json.Marshal(raw))(t)
		if _, err := gamma.Decode(t.Context(), bytes.NewReader(data)); !errors.As(err, &format) {
			t.Errorf("γ below 0 as %s: %v", shape, err)
		}
	}
	// More noise against the majority than is private.
	values := table.Func().Values()
	values[2] -= 1e-6
	values[5] -= 1e-6
	var violation *gamma.ViolationError
	f := must.Get(gamma.New(values))(t)
	if _, err := gamma.Certify(t.Context(), table.Problem(), f); !errors.As(err, &violation) {
		t.Errorf("γ(2) lower by 1e-6 is certified: %v", err)
	}
}

// teacherPairs lists where a teacher with Δ = 0 may be: (p, p') at the corners.
func teacherPairs(eps float64) [4][2]float64 {
	a := math.Exp(eps) / (math.Exp(eps) + 1)
	return [4][2]float64{{0, 0}, {1, 1}, {a, 1 - a}, {1 - a, a}}
}

// allMechanisms returns the least disagreement of every private mechanism on k votes, by a linear
// program in which nothing is symmetric in the labels: with a variable for each vector of votes,
// or, where alike, for each number of votes.
func allMechanisms(t *testing.T, p constraints.Problem, counts []float64, alike bool) float64 {
	t.Helper()
	variable := func(votes int) int { return votes }
	n, total := 1<<p.K, 0.0
	if alike {
		n, variable = p.K+1, func(votes int) int { return bits.OnesCount(uint(votes)) }
	}
	for _, c := range counts {
		total += c
	}
	base := lp.Problem{C: make([]float64, n), Lower: make([]float64, n), Upper: make([]float64, n)}
	constant := 0.0
	for v := range 1 << p.K { // x(v) = Pr[1 | votes v]
		x, ones := variable(v), bits.OnesCount(uint(v))
		base.Upper[x] = 1
		same := new(big.Int).Binomial(int64(p.K), int64(ones)).Int64()
		weight := counts[ones] / total / float64(same)
		switch { // in a tie either label is right
		case 2*ones > p.K:
			base.C[x] -= weight
			constant += weight
		case 2*ones < p.K:
			base.C[x] += weight
		}
	}
	solver := must.Get(lp.New(base))(t)
	defer solver.Close()
	e, _ := p.Total()
	e = math.Exp(e)
	pairs := teacherPairs(p.Epsilon)
	var rows []lp.Row
	at := make([]int, p.K)
	var place func(i int)
	place = func(i int) {
		if i < p.K {
			first := 0
			if alike && i > 0 {
				first = at[i-1] // the order of the teachers does not matter
			}
			for at[i] = first; at[i] < len(pairs); at[i]++ {
				place(i + 1)
			}
			return
		}
		one, zero := make([]float64, n), make([]float64, n)
		for v := range 1 << p.K {
			x, y := 1.0, 1.0
			for i, c := range at {
				if v>>i&1 == 1 {
					x, y = x*pairs[c][0], y*pairs[c][1]
				} else {
					x, y = x*(1-pairs[c][0]), y*(1-pairs[c][1])
				}
			}
			one[variable(v)] += x - e*y   // Pr[1] ≤ E·Pr'[1]
			zero[variable(v)] += -x + e*y // 1-Pr[1] ≤ E·(1-Pr'[1])
		}
		rows = append(rows, lp.Row{Coef: one}, lp.Row{Coef: zero, RHS: e - 1})
	}
	place(0)
	if err := solver.AddRows(rows); err != nil {
		t.Fatal(err)
	}
	return constant + must.Get(solver.Solve(context.Background()))(t).Objective
}

// No private mechanism on the votes disagrees less often than the best γ of shape any, whether it
// treats every vector of votes by itself or one label unlike the other. From seven teachers on the
// best γ ≥ 0 disagrees more often.
func TestAnyIsTheBestOfAllMechanisms(t *testing.T) {
	for _, c := range []struct {
		k      int
		m, eps float64
		alike  bool
	}{{1, 1, 1, false}, {2, 1, 0.5, false}, {3, 1, 1, false}, {3, 1.5, 0.3, false}, {4, 1, 0.5, false},
		{5, 2, 0.3, true}, {7, 1, 0.5, true}, {7, 1, 0.1, true}, {8, 1, 1, true}} {
		p := problem(t, c.k, c.m, c.eps, 0)
		o := twoSided(t, c.k, gamma.Any)
		got, want := optimal(t, p, o).ExpectedError, allMechanisms(t, p, o.Counts, c.alike)
		if math.Abs(got-want) > 1e-8 {
			t.Errorf("%+v: disagreement %.12f, of all mechanisms %.12f", c, got, want)
		}
		if c.k == 7 && optimal(t, p, twoSided(t, 7, gamma.Free)).ExpectedError < want+1e-3 {
			t.Errorf("%+v: the best γ ≥ 0 is as good: this tests nothing", c)
		}
	}
}

// Counts that favour one label are taken as they are: the best function is that of all mechanisms. Mirrored,
// it disagrees more often.
func TestLopsidedCounts(t *testing.T) {
	p := constraints.Problem{K: 8, TotalEpsilon: 0.981, Epsilon: 1.31, Affected: 8}
	o := Options{Counts: []float64{1, 2, 1, 10, 2, 0, 1, 200, 1}}
	all := allMechanisms(t, p, o.Counts, true)
	byName := optimal(t, p, o)
	if math.Abs(all-0.040590) > 1e-6 || byName.Shape != gamma.ByName || math.Abs(byName.ExpectedError-all) > 1e-8 ||
		byName.Gap > 1e-8 {
		t.Errorf("%.9f within %.3g (shape %s), %.9f for all mechanisms", byName.ExpectedError, byName.Gap, byName.Shape, all)
	}
	o.Shape = gamma.Any
	table := optimal(t, p, o)
	if !table.Lopsided() || math.Abs(table.LowerBound-0.061179) > 1e-6 || table.ExpectedError-table.LowerBound > 1e-8 {
		t.Errorf("lopsided %v: at least %.6f for γ that treats the labels alike", table.Lopsided(), table.LowerBound)
	}
	if o := twoSided(t, 8, gamma.Any); (gamma.Objective{Counts: o.Counts}).Lopsided() {
		t.Error("votes of mean 0.75 either way are called lopsided")
	}
}
