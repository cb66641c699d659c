package solve

import (
	"context"
	"math"
	"testing"

	"github.com/darrm/darrm/constraints"
	"github.com/darrm/darrm/gamma"
)

func problem(t testing.TB, k int, m, eps, teacherDelta float64) constraints.Problem {
	t.Helper()
	p, err := constraints.NewProblem(k, m, eps, teacherDelta)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func optimal(t testing.TB, p constraints.Problem, o Options) *gamma.Table {
	t.Helper()
	table, err := Optimal(context.Background(), p, o)
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// The project's reference values, computed by full enumeration and by another
// cutting-plane program, which agree to 1e-10. ε = 0.1, μ = 0.75, δ = 1-(1-Δ)^m.
func TestReferenceOptima(t *testing.T) {
	for _, c := range []struct {
		k     int
		m     float64
		delta float64
		shape gamma.Shape
		want  float64
		gamma []float64 // leading values, to the digits given
	}{
		{11, 1, 1e-5, gamma.Free, 0.215672492986, []float64{1, 9. / 11, 7. / 11, 5. / 11, 3. / 11, 1. / 11}},
		{11, 3, 1e-5, gamma.Free, 0.041269485245, []float64{1, 0.977696, 1, 1, 0.542340, 0.939241}},
		{11, 3, 1e-5, gamma.Monotone, 0.041430263904, []float64{1, 1, 1, 0.92697, 0.70767, 0.70767}},
		{11, 3, 0, gamma.Free, 0.041306023299, nil},
		{11, 7, 0, gamma.Free, 0, []float64{1, 1, 1, 1, 1, 1}},
		{11, 9, 0, gamma.Free, 0, []float64{1, 1, 1, 1, 1, 1}},
		{11, 11, 0, gamma.Free, 0, []float64{1, 1, 1, 1, 1, 1}},
		{13, 2, 1e-5, gamma.Free, 0.1063209979, []float64{1, 1, 0.942984, 0.826745, 0.741627, 0.281205, 0.563592}},
		{15, 4, 0, gamma.Free, 0.024491582496, nil},
		{41, 5, 0, gamma.Free, 0.0174197572, nil},
	} {
		for _, method := range []Method{CuttingPlanes, Exhaustive} {
			table := optimal(t, problem(t, c.k, c.m, 0.1, c.delta), Options{Shape: c.shape, Method: method})
			if got := table.ExpectedError; math.Abs(got-c.want) > 1e-9 {
				t.Errorf("K=%d m=%g Δ=%g %s %s: expected error %.12f, want %.12f", c.k, c.m, c.delta, c.shape, method, got, c.want)
			}
			if table.Gap > 1e-9 {
				t.Errorf("K=%d m=%g Δ=%g %s %s: gap %g", c.k, c.m, c.delta, c.shape, method, table.Gap)
			}
			for l, want := range c.gamma {
				if got := table.Func().At(l); math.Abs(got-want) > 2e-6 {
					t.Errorf("K=%d m=%g Δ=%g %s %s: γ(%d) = %.6f, want %.6f", c.k, c.m, c.delta, c.shape, method, l, got, want)
				}
			}
			t.Logf("K=%d m=%g Δ=%g %s %s: error %.12f gap %.2g slack %.2g proof %d", c.k, c.m, c.delta, c.shape, method, table.ExpectedError, table.Gap, table.Certificate().Slack, len(table.Proof))
		}
	}
}
