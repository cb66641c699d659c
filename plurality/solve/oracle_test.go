package solve

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/darrm/darrm/lp"
	"github.com/darrm/darrm/plurality"
)

// A second program, written from the definition of differential privacy: no symmetry, no
// sorted histograms, no multiplicities, no cliques. Its inputs are histograms, or the vectors
// of single votes.

// inputs lists all ways to have k votes for c classes: histograms, or vectors, which are
// returned by the histogram of each.
type input struct {
	votes  []int // of each teacher; nil for a histogram
	counts []int
}

func allHistograms(k, c int) []input {
	if c == 1 {
		return []input{{counts: []int{k}}}
	}
	var out []input
	for v := 0; v <= k; v++ {
		for _, rest := range allHistograms(k-v, c-1) {
			out = append(out, input{counts: append([]int{v}, rest.counts...)})
		}
	}
	return out
}

func allVectors(k, c int) []input {
	out := []input{{counts: make([]int, c)}}
	for range k {
		var next []input
		for _, in := range out {
			for class := range c {
				counts := append([]int(nil), in.counts...)
				counts[class]++
				next = append(next, input{append(append([]int(nil), in.votes...), class), counts})
			}
		}
		out = next
	}
	return out
}

// apart returns how many votes must change.
func apart(a, b input) int {
	d := 0
	for i := range a.votes {
		if a.votes[i] != b.votes[i] {
			d++
		}
	}
	if a.votes == nil {
		for c := range a.counts {
			d += max(0, a.counts[c]-b.counts[c])
		}
	}
	return d
}

// likelihood returns the probability of an input when the truth is uniform and each teacher
// right with probability mu.
func likelihood(in input, mu float64) float64 {
	k, c := 0, len(in.counts)
	for _, v := range in.counts {
		k += v
	}
	ways := 1.0
	if in.votes == nil {
		left := k
		for _, v := range in.counts {
			ways *= math.Round(math.Exp(lgamma(left+1) - lgamma(v+1) - lgamma(left-v+1)))
			left -= v
		}
	}
	sum := 0.0
	for _, v := range in.counts {
		sum += math.Pow(mu, float64(v)) * math.Pow((1-mu)/float64(c-1), float64(k-v))
	}
	return ways * sum / float64(c)
}

func lgamma(n int) float64 { x, _ := math.Lgamma(float64(n)); return x }

// oracle is the program: minimise -value over p(input, output).
type oracle struct {
	lp.Sparse
}

func newOracle(ins []input, p plurality.Problem, mu, abstainValue float64) *oracle {
	outputs := p.Classes
	if p.Abstain {
		outputs++
	}
	var o oracle
	for _, in := range ins {
		w, top := likelihood(in, mu), 0
		for _, v := range in.counts {
			top = max(top, v)
		}
		for class := range outputs {
			cost := -w * abstainValue
			if class < p.Classes {
				cost = 0
				if in.counts[class] == top {
					cost = -w
				}
			}
			o.C, o.Lower, o.Upper = append(o.C, cost), append(o.Lower, 0), append(o.Upper, 1)
		}
	}
	at := func(in, class int) int { return in*outputs + class }
	for n := range ins {
		o.row(1, 1)
		for class := range outputs {
			o.add(at(n, class), 1)
		}
	}
	e := math.Exp(p.Epsilon)
	for n, a := range ins {
		for m, b := range ins {
			if n == m || apart(a, b) > p.Affected {
				continue
			}
			if p.Delta == 0 {
				for class := range outputs {
					o.row(math.Inf(-1), 0)
					o.add(at(n, class), 1)
					o.add(at(m, class), -e)
				}
				continue
			}
			for set := 1; set < 1<<outputs; set++ { // every event
				o.row(math.Inf(-1), p.Delta)
				for class := range outputs {
					if set>>class&1 == 1 {
						o.add(at(n, class), 1)
						o.add(at(m, class), -e)
					}
				}
			}
		}
	}
	return &o
}

func (o *oracle) row(lower, upper float64) {
	o.Start = append(o.Start, int32(len(o.Value)))
	o.RowLower, o.RowUpper = append(o.RowLower, lower), append(o.RowUpper, upper)
}

func (o *oracle) add(column int, value float64) {
	o.Index, o.Value = append(o.Index, int32(column)), append(o.Value, value)
}

// optimum returns the value.
func (o *oracle) optimum(t *testing.T) float64 {
	t.Helper()
	sum := 0.0
	for j, x := range o.solution(t) {
		sum -= o.C[j] * x
	}
	return sum
}

// solution solves with HiGHS's simplex method, or gonum's where there is none.
func (o *oracle) solution(t *testing.T) []float64 {
	t.Helper()
	a, err := lp.SolveSparse(context.Background(), o.Sparse, lp.Simplex, 1e-10)
	if errors.Is(err, lp.ErrNoHiGHS) {
		return o.gonum(t)
	}
	if err != nil || a.Status != lp.Optimal {
		t.Fatalf("%v: %v", a.Status, err)
	}
	return a.X
}

func (o *oracle) gonum(t *testing.T) []float64 {
	t.Helper()
	s, err := lp.NewSimplex(lp.Problem{C: o.C, Lower: o.Lower, Upper: o.Upper})
	if errors.Is(err, lp.ErrTooLarge) {
		t.Skip("too large without HiGHS")
	}
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var rows []lp.Row
	for i, from := range o.Start {
		to := len(o.Value)
		if i+1 < len(o.Start) {
			to = int(o.Start[i+1])
		}
		coef, negative := make([]float64, len(o.C)), make([]float64, len(o.C))
		for k := int(from); k < to; k++ {
			coef[o.Index[k]], negative[o.Index[k]] = o.Value[k], -o.Value[k]
		}
		rows = append(rows, lp.Row{Coef: coef, RHS: o.RowUpper[i]})
		if o.RowLower[i] == o.RowUpper[i] {
			rows = append(rows, lp.Row{Coef: negative, RHS: -o.RowLower[i]})
		}
	}
	if err := s.AddRows(rows); err != nil {
		if errors.Is(err, lp.ErrTooLarge) {
			t.Skip("too large without HiGHS")
		}
		t.Fatal(err)
	}
	sol, err := s.Solve(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return sol.X
}

// agree solves both ways.
func agree(t *testing.T, ins []input, p plurality.Problem, mu, abstainValue float64) {
	t.Helper()
	want := newOracle(ins, p, mu, abstainValue).optimum(t)
	table, err := Optimal(context.Background(), p,
		plurality.Objective{Accuracy: mu, AbstainValue: abstainValue}, Options{Gap: 1e-9})
	if err != nil {
		t.Fatal(err)
	}
	// The oracle is as good as its solver's tolerance.
	const tolerance = 2e-8
	if table.Gap > 1e-8 || table.Value > want+tolerance || table.UpperBound < want-tolerance {
		t.Errorf("%+v, mu = %g: [%.12f, %.12f], brute force %.12f", p, mu, table.Value, table.UpperBound,
			want)
	}
}

// Every K ≤ 6, C ≤ 3, t ≤ 2, δ = 0 and > 0, over all histograms. Random ε and μ, from a seed.
func TestBruteForceHistograms(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for k := 1; k <= 6; k++ {
		for c := 2; c <= 3; c++ {
			for reach := 1; reach <= min(2, k); reach++ {
				for _, delta := range []float64{0, 0.03} {
					eps := 0.1 + 1.9*rnd.Float64()
					mu := 1/float64(c) + (1-1/float64(c))*(0.05+0.9*rnd.Float64())
					t.Run(fmt.Sprintf("K=%d,C=%d,t=%d,delta=%g", k, c, reach, delta), func(t *testing.T) {
						p := plurality.Problem{K: k, Classes: c, Affected: reach, Epsilon: eps, Delta: delta}
						agree(t, allHistograms(k, c), p, mu, 0)
					})
				}
			}
		}
	}
}

// The same over all vectors of votes: that teachers may be exchanged too.
func TestBruteForceVectors(t *testing.T) {
	most := 4
	if os.Getenv("DARRM_LONG") != "" {
		most = 6
	}
	for k := 2; k <= most; k++ {
		for reach := 1; reach <= 2; reach++ {
			for _, delta := range []float64{0, 0.05} {
				if delta > 0 && k == 6 && reach == 2 {
					continue // 4 rows for each of 52,000 pairs
				}
				t.Run(fmt.Sprintf("K=%d,t=%d,delta=%g", k, reach, delta), func(t *testing.T) {
					p := plurality.Problem{K: k, Classes: 3, Affected: reach, Epsilon: 0.7, Delta: delta}
					agree(t, allVectors(k, 3), p, 0.55, 0)
				})
			}
		}
	}
}

// Abstaining is one more output.
func TestBruteForceAbstain(t *testing.T) {
	for _, delta := range []float64{0, 0.02} {
		for _, value := range []float64{0, 0.3, 0.5, 1} {
			p := plurality.Problem{K: 5, Classes: 3, Affected: 1, Epsilon: 0.8, Delta: delta, Abstain: true}
			agree(t, allHistograms(5, 3), p, 0.6, value)
		}
	}
}
