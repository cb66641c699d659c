package experiment_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/darrm/darrm/experiment"
	"github.com/darrm/darrm/internal/testing/experimenttest"
)

func TestClaimsThatCannotFailAreFound(t *testing.T) {
	out := experimenttest.Run(t, experimenttest.Load(t, catalog, "accounting"), t.TempDir(),
		experiment.Options{})
	out.Result.Claims = append(out.Result.Claims,
		experiment.Claim{Text: "numbers are numbers", Holds: true})
	inner := &testing.T{}
	if experimenttest.EveryClaimCanFail(inner, catalog, source(t, "accounting"), out,
		experimenttest.Replay(out, experiment.Options{})); !inner.Failed() {
		t.Error("a claim about nothing passes")
	}
}

// Every method that Figure B.7 lists is judged for every kind of teachers.
func TestPriorClaimsJudgeEveryMethod(t *testing.T) {
	var p struct {
		Allowances []float64
		Methods    []string
		Actual     []struct{ Title string }
		Claims     []struct {
			M             float64
			Actual        string
			Better, Worse []string
		}
	}
	decodeParameters(t, experimenttest.Load(t, catalog, "figure-b.7"), &p)
	judged := map[string]bool{}
	for _, c := range p.Claims {
		for _, m := range slices.Concat(c.Better, c.Worse) {
			judged[fmt.Sprint(c.M, c.Actual, m)] = true
		}
	}
	for _, m := range p.Allowances {
		for _, a := range p.Actual {
			for _, method := range p.Methods {
				if !judged[fmt.Sprint(m, a.Title, method)] {
					t.Errorf("m = %v, %s: no claim judges %s", m, a.Title, method)
				}
			}
		}
	}
}

// Student's t with 9 degrees of freedom: the table's 2.262.
func TestPaired(t *testing.T) {
	a := []float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}
	d := experiment.Paired(a, make([]float64, 10))
	sd := math.Sqrt(55.0 / 6)
	if want := 2.262157 * sd / math.Sqrt(10); math.Abs(d.Mean-5.5) > 1e-12 ||
		math.Abs(d.High-d.Mean-want) > 1e-5 || math.Abs(d.Mean-d.Low-want) > 1e-5 {
		t.Errorf("%+v, half width %v", d, want)
	}
}

func TestEdge(t *testing.T) {
	tried := []float64{0.01, 0.001, 1e-4, 0.1} // in any order
	for best, want := range map[float64]string{0.01: "", 1e-4: "smallest", 0.1: "largest"} {
		if got := experiment.Edge(best, tried); got != want {
			t.Errorf("best at %g: edge %q, want %q", best, got, want)
		}
	}
	if got := experiment.Edge(1, []float64{1}); got != "" {
		t.Errorf("a grid of one: edge %q", got)
	}
}

// A figure is below another only if it is less: equal ones are not, unless both stand for 0.
func TestBelow(t *testing.T) {
	for _, c := range []struct {
		a, b float64
		want bool
	}{
		{1, 2, true}, {2, 1, false}, {1, 1, false}, {0.25, math.Nextafter(0.25, 1), true},
		{math.Nextafter(0.25, 1), 0.25, false},
		{0, 0, true}, {experiment.Negligible, 0, true},
		{2 * experiment.Negligible, 2 * experiment.Negligible, false},
		{2 * experiment.Negligible, 0, false},
		{math.NaN(), 1, false}, {1, math.NaN(), false},
	} {
		if got := experiment.Below(c.a, c.b); got != c.want {
			t.Errorf("Below(%v, %v) = %t", c.a, c.b, got)
		}
	}
}
