package experiment_test

import (
	"context"
	"math"
	"strings"
	"testing"

	"github.com/darrm/darrm/constraints"
	"github.com/darrm/darrm/experiment"
	"github.com/darrm/darrm/gamma"
	"github.com/darrm/darrm/gamma/solve"
	"github.com/darrm/darrm/internal/testing/experimenttest"
)

// Expected errors computed twice independently before, by full enumeration and by
// cutting planes: K = 11, ε = 0.1, prior mean 0.75. The results are those of TestGolden, of the forms that
// it runs.
func TestErrorsOfFigures(t *testing.T) {
	experimenttest.Numbers(t)
	for _, c := range []struct {
		name   string
		m      float64
		method experiment.Method
		want   float64
		within float64
	}{
		{"figure-3.2", 1, "opt", 0.215672492986, 1e-9},
		{"figure-3.2", 3, "opt", 0.041269485245, 1e-9},
		{"figure-3.2", 3, "sub", 0.121922493, 1e-9},
		{"figure-b.5", 3, "opt", 0.041306023299, 1e-9},
		{"figure-b.5", 3, "dsub", 0.069188118, 1e-9},
		{"figure-b.5", 3, "const", 0.327153282, 1e-9},
		{"figure-b.5", 7, "opt", 0, 1e-10},
		{"figure-b.5", 11, "const", 0, 1e-10},
	} {
		d := experimenttest.Load(t, catalog, c.name)
		quick := d.Quick() && !experimenttest.Long()
		if quick && c.m == 11 {
			continue // the quick form ends at m = 7
		}
		got := experimenttest.Value(t, experimenttest.Table(t, finishedRun(t, d, quick).Result, "errors"),
			"expected_error", map[string]any{"m": c.m, "method": string(c.method)}).(float64)
		if math.Abs(got-c.want) > c.within {
			t.Errorf("%s, m = %v, %s: %.12g, want %.12g", c.name, c.m, c.method, got, c.want)
		}
	}
}

// Planted mutants: the claims of a figure must notice a solver that is not optimal, and
// printed digits that are not met.
func TestClaimsCatchMutants(t *testing.T) {
	experimenttest.Numbers(t)
	// Half of the privacy: every value is private and none is optimal.
	lazy := func(ctx context.Context, p constraints.Problem, o solve.Options) (*gamma.Table, error) {
		sub, err := gamma.Subsampling(p.K, 1)
		if err != nil {
			return nil, err
		}
		c, err := gamma.CertifyShrunk(ctx, p, sub)
		if err != nil {
			return nil, err
		}
		return gamma.NewTable(ctx, c, gamma.Objective{PriorMean: o.PriorMean, Shape: gamma.Free},
			gamma.Proof{})
	}
	out := experimenttest.Run(t, experimenttest.Load(t, catalogWith(lazy), "figure-b.5"), t.TempDir(),
		experiment.Options{Quick: true})
	failed := map[string]bool{}
	for _, c := range out.Result.Failed() {
		for _, about := range []string{"optimal by proof", "below that of"} {
			if strings.Contains(c.Text, about) {
				failed[about] = true
			}
		}
	}
	if len(failed) != 2 {
		t.Errorf("a solver that does not optimise passes: failed are only %v", out.Result.Failed())
	}

	for name, change := range map[string][2]string{
		"accounting": {`"9.901"`, `"9.902"`},
		"figure-b.4": {`"14.0328"`, `"14.0329"`},
		"figure-b.8": {`"21.46"`, `"21.45"`},
	} {
		d := experimenttest.Parse(t, catalog, strings.Replace(string(source(t, name)), change[0],
			change[1], 1))
		if out := experimenttest.Run(t, d, t.TempDir(), experiment.Options{}); len(out.Result.Failed()) !=
			1 {
			t.Errorf("%s: %s for %s is not noticed", name, change[1], change[0])
		}
	}
}

func TestAgrees(t *testing.T) {
	for _, c := range []struct {
		v       float64
		printed string
		want    bool
	}{{9.9014, "9.901", true}, {9.9016, "9.901", false}, {0.04999, "0.050", true},
		{0.04999, "0.05", true}, {0.0494, "0.050", false}, {12, "12", true}, {-1, "1", false}} {
		if experiment.Agrees(c.v, c.printed) != c.want {
			t.Errorf("Agrees(%v, %q) = %t", c.v, c.printed, !c.want)
		}
	}
}

// The σ of the spec, and the grid's best order near the closed form.
func TestNoiseOfGNMax(t *testing.T) {
	experimenttest.Numbers(t)
	out := experimenttest.Run(t, experimenttest.Load(t, catalog, "figure-b.8"), t.TempDir(),
		experiment.Options{})
	sigma := experimenttest.Table(t, out.Result, "sigma")
	for data, want := range map[string]float64{"MNIST": 62.1, "Fashion-MNIST": 65.0} {
		if got := experimenttest.Value(t, sigma, "order",
			map[string]any{"data": data}).(float64); math.Abs(got-want) > 0.5 {
			t.Errorf("%s: best λ = %v, want about %v", data, got, want)
		}
	}
}
