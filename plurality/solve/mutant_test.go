package solve

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/darrm/darrm/plurality"
)

// mutant is the linear program over sorted histograms, row by row, with a mistake: rows that
// keep does not keep are left out, e^ε is another factor, or more rows are there.
type mutant struct {
	problem  plurality.Problem
	mu       float64
	keep     func(s *plurality.System, p *plurality.Pair, c plurality.Column) bool
	factor   float64
	monotone bool
}

// solve returns the optimum and its probabilities.
func (m mutant) solve(t *testing.T) (*plurality.System, []float64, float64) {
	t.Helper()
	s, err := plurality.NewSystem(m.problem)
	if err != nil {
		t.Fatal(err)
	}
	w, err := plurality.Objective{Accuracy: m.mu}.Weights(context.Background(), s.Space)
	if err != nil {
		t.Fatal(err)
	}
	factor := m.factor
	if factor == 0 {
		factor = math.Exp(m.problem.Epsilon)
	}
	var o oracle
	for range s.Variables() {
		o.C, o.Lower, o.Upper = append(o.C, 0), append(o.Lower, 0), append(o.Upper, 1)
	}
	for h := range s.Histograms() {
		first, end := s.Range(h)
		o.C[first] = -w.Low[h] * float64(s.ClassesOf(first))
		o.row(1, 1)
		for i := first; i < end; i++ {
			o.add(i, float64(s.ClassesOf(i)))
		}
		s.Neighbours(h, m.problem.Affected, func(p *plurality.Pair) bool {
			for _, c := range p.Columns {
				if c.I != c.J && (m.keep == nil || m.keep(s, p, c)) {
					o.row(math.Inf(-1), 0)
					o.add(c.I, 1)
					o.add(c.J, -factor)
				}
				if m.monotone && s.Votes(c.J) > s.Votes(c.I) { // a class that gains a vote
					o.row(math.Inf(-1), 0)
					o.add(c.I, 1)
					o.add(c.J, -1)
				}
			}
			return true
		})
	}
	x := o.solution(t)
	value := 0.0
	for i, c := range o.C {
		value -= c * x[i]
	}
	return s, x, value
}

// Mistakes of a program, with the optima that were computed for them independently. What
// promises too much is not certified; what promises enough is worth less.
func TestMutantPrograms(t *testing.T) {
	distance := func(p *plurality.Pair) int {
		d := 0
		for _, c := range p.Changes {
			d += max(0, c.Delta) * c.Classes
		}
		return d
	}
	for name, x := range map[string]struct {
		mutant
		value, digits, right float64
		private              bool
	}{
		"none": {mutant{problem: plurality.Problem{K: 3, Classes: 2, Epsilon: .1, Affected: 2}, mu: .75},
			.524979187, 1e-9, .524979187, true},
		"d = t only": {mutant{problem: plurality.Problem{K: 3, Classes: 2, Epsilon: .1, Affected: 2},
			mu: .75,
			keep: func(_ *plurality.System, p *plurality.Pair,
				_ plurality.Column) bool {
				return distance(p) == 2
			}}, .5625, 1e-9, .524979187, false},
		"epsilon/t at d = 1": {mutant{problem: plurality.Problem{K: 5, Classes: 3, Epsilon: 1,
			Affected: 2}, mu: .6, factor: math.Exp(.5),
			keep: func(_ *plurality.System, p *plurality.Pair,
				_ plurality.Column) bool {
				return distance(p) == 1
			}}, .634004183, 1e-9, .656649997, true},
		"untouched classes skipped": {mutant{problem: plurality.Problem{K: 11, Classes: 3, Epsilon: .5,
			Affected: 1}, mu: .6,
			keep: func(s *plurality.System, _ *plurality.Pair, c plurality.Column) bool {
				return s.Votes(c.I) != s.Votes(c.J)
			}}, .734051, 1e-6, .732404002, false},
		"monotone": {mutant{problem: plurality.Problem{K: 11, Classes: 4, Epsilon: .5, Affected: 1},
			mu: .5, monotone: true}, .626556720, 1e-9, .626560563, true},
	} {
		s, p, value := x.solve(t)
		if d := math.Abs(value - x.value); d > x.digits {
			t.Errorf("%s: optimum %.9f, want %.9f", name, value, x.value)
		}
		masses := make([]uint64, len(p))
		for h := range s.Histograms() {
			first, end := s.Range(h)
			left := plurality.One
			for i := first + 1; i < end; i++ {
				masses[i] = min(left, uint64(max(0, p[i])*float64(s.ClassesOf(i))*float64(plurality.One)))
				left -= masses[i]
			}
			masses[first] = left
		}
		_, err := plurality.Certify(context.Background(), s, masses)
		var violation *plurality.ViolationError
		if !x.private && !errors.As(err, &violation) {
			t.Errorf("%s: %v, want a violation", name, err)
		}
		c, err := plurality.Round(context.Background(), s, p)
		if err != nil {
			t.Fatal(err)
		}
		table, err := plurality.NewTable(context.Background(), c, plurality.Objective{Accuracy: x.mu},
			plurality.Proof{})
		if err != nil || table.Value > x.right+1e-8 {
			t.Errorf("%s: made private it is worth %.9f, %v; the optimum is %.9f", name, table.Value, err,
				x.right)
		}
	}
}
