package ensemble

import (
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/testing/raced"
)

// By the exact laws of GNMax's answers on all small votes and all their neighbours: the
// bound on the probability of another class than the largest holds, and the divergence of an
// answer from that of a neighbour is never above the bound.
func TestAtVotesIsNeverBelowTheTruth(t *testing.T) {
	helped, mutant := 0, false
	for _, shape := range []struct {
		teachers, classes, affected int
		sigma                       float64
	}{{1, 2, 1, 0.5}, {7, 2, 1, 1.2}, {7, 2, 2, 1.2}, {9, 2, 1, 3}, {6, 3, 1, 1}, {6, 3, 2, 1},
		{5, 4, 1, 0.8}} {
		s := Setting{K: shape.teachers, Classes: shape.classes, Affected: shape.affected,
			Neighbours: accountant.ReplaceOne}
		a, err := GNMax(s, accountant.Cost{Epsilon: 700, Delta: 0.5}, shape.sigma)
		if err != nil {
			t.Fatal(err)
		}
		overtaking, err := a.gnmax.Overtaking(s.K)
		if err != nil {
			t.Fatal(err)
		}
		tt := float64(s.Affected)
		rho := tt * tt / (shape.sigma * shape.sigma)
		votesOf(s.K, s.Classes, func(x []int) {
			p := a.rule.law(x)
			logQ := logMiss(overtaking, x)
			lost := 1 - p[slices.Index(x, largest(x))]
			if math.Exp(logQ) < lost-1e-11 {
				t.Errorf("σ = %g, %v: another class with probability %g, bound %g", shape.sigma, x, lost,
					math.Exp(logQ))
			}
			neighboursOf(x, s.Affected, func(y []int) {
				q := a.rule.law(y)
				if slices.Min(p) < 1e-7 || slices.Min(q) < 1e-7 {
					return // the laws are good to 1e-11 only
				}
				for _, lambda := range []float64{1.1, 1.5, 2, 4, 8} {
					beta, err := dataDependentRDP(lambda, rho, logQ)
					if err != nil {
						t.Fatal(err)
					}
					truth := renyi(p, q, lambda)
					if beta < truth-1e-9/(lambda-1) {
						t.Errorf("σ = %g, %v and %v at order %g: bound %g, divergence %g", shape.sigma, x, y, lambda,
							beta, truth)
					}
					if beta < lambda*rho*(1-1e-6) {
						helped++
						// The mutant: ρ of a count that moves alone, half of what it must be.
						if b, _ := dataDependentRDP(lambda, rho/4, logQ); b < truth-1e-6 {
							mutant = true
						}
					}
				}
			})
		})
	}
	if helped < 100 || !mutant {
		t.Errorf("%d bounds are below λρ, mutant caught: %v", helped, mutant)
	}
}

// On the real votes: agreement makes answers cheaper where the noise is small beside it, and
// not at the source's noise.
func TestAtVotesOnRealVotes(t *testing.T) {
	b := mnist(t)
	s := Setting{K: 11, Classes: 2, Affected: 1, Neighbours: accountant.ReplaceOne}
	for _, v := range []struct {
		target  accountant.Cost
		cheaper int
		ratio   float64 // at most, of the ε at these votes and that at any
	}{
		{accountant.Cost{Epsilon: 0.2676, Delta: 3e-4}, 0, 1},
		{accountant.Cost{Epsilon: 4, Delta: 1e-5}, 1000, 0.7},
	} {
		sigma, err := SigmaForGNMax(s, v.target, Renyi)
		if err != nil {
			t.Fatal(err)
		}
		a, err := GNMax(s, v.target, sigma)
		if err != nil {
			t.Fatal(err)
		}
		d, err := a.atVotes(b, v.target.Delta)
		if err != nil || d.Answers != 1866 || d.Delta != v.target.Delta {
			t.Fatalf("%+v, %v", d, err)
		}
		t.Logf("σ = %g: %+v", sigma, d)
		if d.Epsilon > v.ratio*d.AnyVotes || d.Cheaper < v.cheaper || v.cheaper == 0 && d.Cheaper != 0 {
			t.Errorf("σ = %g: %+v", sigma, d)
		}
		// What any votes cost is what the accountant says of the same noise.
		none, err := accountant.New(accountant.ReplaceOne)
		if err != nil {
			t.Fatal(err)
		}
		charged, err := none.Charge(a.Event(), 1866)
		if err != nil {
			t.Fatal(err)
		}
		r, err := charged.AtDelta(v.target.Delta, accountant.MethodRDP)
		if err != nil || math.Abs(r.Bounds[0].Cost.Epsilon/d.AnyVotes-1) > 1e-7 {
			t.Errorf("any votes: %g, by the accountant %+v, %v", d.AnyVotes, r, err)
		}
	}
	// Noise beyond the exact law, two overlapping parts of the data, and what is refused.
	far := accountant.Cost{Epsilon: 0.002, Delta: 1e-5}
	sigma, err := SigmaForGNMax(s, far, Renyi)
	if err != nil || sigma < 2048 {
		t.Fatal(sigma, err)
	}
	a, err := GNMax(s, far, sigma)
	if err != nil {
		t.Fatal(err)
	}
	if d, err := a.atVotes(b, 1e-5); err != nil || d.Epsilon != d.AnyVotes || d.Cheaper != 0 {
		t.Errorf("σ = %g: %+v, %v", sigma, d, err)
	}
	if _, err := a.atVotes(b, 0); err == nil {
		t.Error("δ = 0 is taken")
	}
	other, err := NewBallots(10, 2)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.atVotes(other, 1e-5); err == nil {
		t.Error("votes of other teachers are taken")
	}
	l, err := LNMax(s, 1)
	if err != nil {
		t.Fatal(err)
	}
	if d, err := l.atVotes(b, 1e-5); d != nil || err != nil {
		t.Errorf("LNMax: %+v, %v", d, err)
	}
	checked, err := ConfidentGNMax(s, accountant.Cost{Epsilon: 100, Delta: 0.5}, 7, 4, 2)
	if err != nil {
		t.Fatal(err)
	}
	if d, err := checked.atVotes(b, 1e-5); d != nil || err != nil {
		t.Errorf("Confident-GNMax, whose check costs too: %+v, %v", d, err)
	}
}

// Nothing that releases or charges uses a figure computed from private votes: these files
// alone speak of it.
func TestDataDependentFiguresGoNowhere(t *testing.T) {
	allowed := []string{
		"ensemble/datadependent.go", "ensemble/comparison.go",
		"ensemble/comparisonreport.go", "ensemble/doc.go",
		"cmd/darrm/internal/label/compare_table.go",
	}
	found := 0
	err := filepath.WalkDir("..", func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || !strings.HasSuffix(path, ".go") ||
			strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if !strings.Contains(string(text), "AtVotes") &&
			!strings.Contains(string(text), "DataDependent") {
			return nil
		}
		found++
		if name := filepath.ToSlash(strings.TrimPrefix(path,
			".."+string(filepath.Separator))); !slices.Contains(allowed, name) {
			t.Errorf("%s uses a figure computed from private votes", name)
		}
		return nil
	})
	if err != nil || found < 4 {
		t.Errorf("%d files speak of it, %v", found, err)
	}
}

// Noise that hides t votes behind t times the deviation costs what noise for one does: where votes
// say nothing, as from σ = 2048 on, by ρ = t²/σ² alone.
func TestAtVotesGrowsLikeTheSquareOfTheVotes(t *testing.T) {
	raced.Sequential(t)
	b := twoClasses(t, 9, []int{9, 0, 5, 9}, nil)
	for _, claim := range []accountant.Cost{{Epsilon: 20, Delta: 1e-3}, {Epsilon: 0.01, Delta: 1e-3}} {
		costs := map[int]float64{}
		for _, affected := range []int{1, 2, 6} {
			s := Setting{K: 9, Classes: 2, Affected: affected, Neighbours: accountant.ReplaceOne}
			one, err := SigmaForGNMax(Setting{K: 9, Classes: 2, Affected: 1,
				Neighbours: accountant.ReplaceOne}, claim, Renyi)
			if err != nil {
				t.Fatal(err)
			}
			m, err := GNMax(s, claim, one*float64(affected))
			if err != nil {
				t.Fatal(err)
			}
			d, err := m.atVotes(b, 1e-5)
			if err != nil {
				t.Fatal(err)
			}
			costs[affected] = d.AnyVotes
		}
		if math.Abs(costs[2]/costs[1]-1) > 1e-9 || math.Abs(costs[6]/costs[1]-1) > 1e-9 {
			t.Errorf("%v: at any votes %v", claim, costs)
		}
	}
}

// Votes of other teachers or classes have no bound by this mechanism's noise.
func TestAtVotesRefusesOtherVotes(t *testing.T) {
	s := Setting{K: 9, Classes: 2, Affected: 1, Neighbours: accountant.ReplaceOne}
	m, err := GNMax(s, accountant.Cost{Epsilon: 1, Delta: 1e-3}, 40)
	if err != nil {
		t.Fatal(err)
	}
	for _, size := range [][2]int{{8, 2}, {10, 2}, {9, 3}} {
		b, err := NewBallots(size[0], size[1])
		if err != nil {
			t.Fatal(err)
		}
		var parameter *check.Error
		if d, err := m.atVotes(b, 1e-5); d != nil || !errors.As(err, &parameter) {
			t.Errorf("K = %d and %d classes: %v, %v", size[0], size[1], d, err)
		}
	}
}

// Noise whose law is not known may release anything: the bound on a miss is 1, whatever the counts.
func TestMissWithoutALaw(t *testing.T) {
	for _, counts := range [][]int{{9, 0}, {5, 4}, {3, 3, 3}} {
		if got := logMiss(nil, counts); got != 0 {
			t.Errorf("%v: ln q = %g", counts, got)
		}
	}
}
