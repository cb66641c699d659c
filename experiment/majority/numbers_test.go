package majority

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/darrm/darrm/constraints"
	"github.com/darrm/darrm/gamma"
	"github.com/darrm/darrm/gamma/solve"
	"github.com/darrm/darrm/internal/randsrc"
)

// value returns the cell in column name of the first row in which the columns hold what
// where says.
func value(t *testing.T, table Table, name string, where map[string]any) any {
	t.Helper()
	column := func(n string) int {
		return slices.IndexFunc(table.Columns, func(c Column) bool { return c.Name == n })
	}
	for _, row := range table.Rows {
		match := true
		for n, v := range where {
			match = match && row[column(n)] == v
		}
		if match {
			return row[column(name)]
		}
	}
	t.Fatalf("table %s has no row with %v", table.Name, where)
	return nil
}

func tableOf(t *testing.T, r Result, name string) Table {
	t.Helper()
	i := slices.IndexFunc(r.Tables, func(x Table) bool { return x.Name == name })
	if i < 0 {
		t.Fatalf("%s has no table %s", r.Name, name)
	}
	return r.Tables[i]
}

// Expected errors computed twice independently before, by full enumeration and by
// cutting planes: K = 11, ε = 0.1, prior mean 0.75.
func TestErrorsOfFigures(t *testing.T) {
	numbers(t)
	runs := map[string]Outcome{}
	for _, c := range []struct {
		name   string
		m      float64
		method Method
		want   float64
		within float64
	}{
		{"figure-3.2", 1, MethodOpt, 0.215672492986, 1e-9},
		{"figure-3.2", 3, MethodOpt, 0.041269485245, 1e-9},
		{"figure-3.2", 3, MethodSub, 0.121922493, 1e-9},
		{"figure-b.5", 3, MethodOpt, 0.041306023299, 1e-9},
		{"figure-b.5", 3, MethodDouble, 0.069188118, 1e-9},
		{"figure-b.5", 3, MethodConst, 0.327153282, 1e-9},
		{"figure-b.5", 7, MethodOpt, 0, 1e-10},
		{"figure-b.5", 11, MethodConst, 0, 1e-10},
	} {
		if runs[c.name].Dir == "" {
			runs[c.name] = mustRun(t, load(t, c.name), t.TempDir(), Options{})
		}
		got := value(t, tableOf(t, runs[c.name].Result, "errors"), "expected_error", map[string]any{"m": c.m, "method": string(c.method)}).(float64)
		if math.Abs(got-c.want) > c.within {
			t.Errorf("%s, m = %v, %s: %.12g, want %.12g", c.name, c.m, c.method, got, c.want)
		}
	}
}

// Planted mutants: the claims of a figure must notice a solver that is not optimal, and
// printed digits that are not met.
func TestClaimsCatchMutants(t *testing.T) {
	numbers(t)
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
		return gamma.NewTable(ctx, c, gamma.Objective{PriorMean: o.PriorMean, Shape: gamma.Free}, gamma.Proof{})
	}
	out := mustRun(t, load(t, "figure-b.5"), t.TempDir(), Options{Quick: true, Solve: lazy})
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
		text, err := Source(name)
		if err != nil {
			t.Fatal(err)
		}
		d, err := Parse([]byte(strings.Replace(string(text), change[0], change[1], 1)))
		if err != nil {
			t.Fatal(err)
		}
		if out := mustRun(t, d, t.TempDir(), Options{}); len(out.Result.Failed()) != 1 {
			t.Errorf("%s: %s for %s is not noticed", name, change[1], change[0])
		}
	}
}

func TestAgrees(t *testing.T) {
	for _, c := range []struct {
		v       float64
		printed string
		want    bool
	}{{9.9014, "9.901", true}, {9.9016, "9.901", false}, {0.04999, "0.050", true}, {0.04999, "0.05", true}, {0.0494, "0.050", false}, {12, "12", true}, {-1, "1", false}} {
		if agrees(c.v, c.printed) != c.want {
			t.Errorf("agrees(%v, %q) = %t", c.v, c.printed, !c.want)
		}
	}
}

// The σ of the spec, and the grid's best order near the closed form.
func TestNoiseOfGNMax(t *testing.T) {
	numbers(t)
	out := mustRun(t, load(t, "figure-b.8"), t.TempDir(), Options{})
	sigma := tableOf(t, out.Result, "sigma")
	for data, want := range map[string]float64{"MNIST": 62.1, "Fashion-MNIST": 65.0} {
		if got := value(t, sigma, "order", map[string]any{"data": data}).(float64); math.Abs(got-want) > 0.5 {
			t.Errorf("%s: best λ = %v, want about %v", data, got, want)
		}
	}
}

// Errors with teachers of three kinds against two other ways: sampling for what is
// computed exactly, and an integral for what is sampled.
func TestPriorScores(t *testing.T) {
	numbers(t)
	f, err := gamma.New([]float64{1, 0.5, 0.5, 1})
	if err != nil {
		t.Fatal(err)
	}
	functions := []function{{Method: MethodOpt, Gamma: f.Values()}}
	// One side of ½: 20,000 samples of p, a fixed seed; the distance is below 5 standard
	// errors with probability 1 - 6e-7 over seeds.
	a := Actual{Low: 0.1, High: 0.4}
	exact, err := a.scores(3, functions)
	if err != nil {
		t.Fatal(err)
	}
	src := randsrc.NewSeeded(2)
	const n = 20_000
	sum, squares := 0.0, 0.0
	p := make([]float64, 3)
	for range n {
		for i := range p {
			u, _ := src.Uint53()
			p[i] = a.Low + (a.High-a.Low)*float64(u)/float64(randsrc.One53)
		}
		e, err := gamma.ErrorAt(f, p)
		if err != nil {
			t.Fatal(err)
		}
		sum += e
		squares += e * e
	}
	se := math.Sqrt((squares/n - sum/n*sum/n) / n)
	if d := math.Abs(exact[0].Error - sum/n); d > 5*se || exact[0].StandardError != 0 {
		t.Errorf("exact %v, sampled %v ± %v", exact[0].Error, sum/n, se)
	}

	// Both sides: K = 3, midpoint rule on a grid of 60³, good to about 1e-4.
	a = Actual{Low: 0, High: 1}
	sampled, err := a.scores(3, functions)
	if err != nil {
		t.Fatal(err)
	}
	const grid = 60
	integral := 0.0
	at := func(i int) float64 { return (float64(i) + 0.5) / grid }
	for i := range grid {
		for j := range grid {
			for k := range grid {
				e, err := gamma.ErrorAt(f, []float64{at(i), at(j), at(k)})
				if err != nil {
					t.Fatal(err)
				}
				integral += e / (grid * grid * grid)
			}
		}
	}
	if d := math.Abs(sampled[0].Error - integral); d > 5*sampled[0].StandardError+2e-4 {
		t.Errorf("sampled %v ± %v, integral %v", sampled[0].Error, sampled[0].StandardError, integral)
	}
	// Pr[label ≠ majority] at p = ½: α = 1/8, 3/8, 3/8, 1/8 and γ = ½ in the middle.
	half, err := Actual{Low: 0.5, High: 0.5}.scores(3, functions)
	if err != nil {
		t.Fatal(err)
	}
	if math.Abs(half[0].Disagreement-0.75*0.5/2) > 1e-15 || half[0].Error > 1e-15 {
		t.Errorf("p = 0.5: %+v", half[0])
	}
}
