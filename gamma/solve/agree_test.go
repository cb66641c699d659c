package solve

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/darrm/darrm/constraints"
	"github.com/darrm/darrm/gamma"
	"github.com/darrm/darrm/lp"
)

// gridCase is one program of the grid on which methods and solvers must agree.
type gridCase struct {
	p     constraints.Problem
	shape gamma.Shape
}

func (c gridCase) String() string {
	return fmt.Sprintf("K=%d m=%g ε=%g Δ=%g t=%d %s", c.p.K, c.p.M, c.p.Epsilon, c.p.TeacherDelta,
		c.p.Affected, c.shape)
}

// grid lists every thin-th case up to maxK, the same ones each time.
func grid(t testing.TB, maxK, thin int) []gridCase {
	var out []gridCase
	n := 0
	for k := 1; k <= maxK; k++ {
		for _, m := range []float64{0.5, 1, 1.5, 2, 3, 4} {
			for _, delta := range []float64{0, 1e-8, 1e-5, 1e-2} {
				for _, eps := range []float64{0.01, 0.1, 1, 3} {
					for _, affected := range []int{1, 2, k} {
						if affected > k || affected == 2 && k == 2 || affected == 1 && k == 1 {
							continue // said already, or again later
						}
						for _, shape := range []gamma.Shape{gamma.Free, gamma.Monotone} {
							if n++; n%thin == 0 {
								out = append(out, gridCase{affecting(problem(t, k, m, eps, delta), affected), shape})
							}
						}
					}
				}
			}
		}
	}
	return out
}

// worst keeps the largest number offered, and what it was about.
type worst struct {
	value float64
	about string
}

func (w *worst) offer(x float64, about any) {
	if x > w.value || math.IsNaN(x) {
		w.value, w.about = x, fmt.Sprint(about)
	}
}

// Rows on demand and all rows at once reach the same optimum, each proves it, and
// neither proof contradicts the other's γ.
//
// DARRM_LONG=1 covers the whole grid up to K = 15.
func TestCuttingPlanesAgreeWithExhaustive(t *testing.T) {
	maxK, thin := 9, 11 // 11 shares no factor with the grid's dimensions
	if long() {
		maxK, thin = 15, 1
	}
	var apart, gap worst
	cases := grid(t, maxK, thin)
	for _, c := range cases {
		cut := optimal(t, c.p, Options{Shape: c.shape})
		all := optimal(t, c.p, Options{Shape: c.shape, Method: Exhaustive})
		difference := math.Abs(cut.ExpectedError - all.ExpectedError)
		apart.offer(difference, c)
		gap.offer(max(cut.Gap, all.Gap), c)
		if !(difference <= 1e-9) {
			t.Errorf("%v: cutting planes %.12f, exhaustive %.12f, apart by %.2g", c, cut.ExpectedError,
				all.ExpectedError, difference)
		}
		if !(cut.Gap <= 1e-9 && all.Gap <= 1e-9) {
			t.Errorf("%v: gaps %.2g and %.2g", c, cut.Gap, all.Gap)
		}
		if cut.LowerBound > all.ExpectedError || all.LowerBound > cut.ExpectedError {
			t.Errorf("%v: a lower bound is above the other's optimum", c)
		}
	}
	t.Logf("%d cases with %s: worst disagreement %.2g at %s; worst gap %.2g at %s", len(cases),
		lp.Backend(), apart.value, apart.about, gap.value, gap.about)
}

// HiGHS and the simplex method of plain Go reach the same optimum.
func TestSolversAgree(t *testing.T) {
	if s, err := lp.NewHiGHS(lp.Problem{C: []float64{1}, Lower: []float64{0},
		Upper: []float64{1}}); errors.Is(err, lp.ErrNoHiGHS) {
		t.Skip(err)
	} else if err == nil {
		_ = s.Close()
	}
	var apart worst
	thin := 17
	if long() {
		thin = 1
	}
	for _, c := range grid(t, 9, thin) {
		highs := optimal(t, c.p, Options{Shape: c.shape, NewSolver: lp.NewHiGHS})
		simplex := optimal(t, c.p, Options{Shape: c.shape, NewSolver: lp.NewSimplex})
		difference := math.Abs(highs.ExpectedError - simplex.ExpectedError)
		apart.offer(difference, c)
		if !(difference <= 1e-8) {
			t.Errorf("%v: HiGHS %.12f, simplex %.12f", c, highs.ExpectedError, simplex.ExpectedError)
		}
	}
	t.Logf("worst disagreement %.2g at %s", apart.value, apart.about)
}
