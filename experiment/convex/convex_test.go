package convex

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/experiment"
	"github.com/darrm/darrm/experiment/sweep"
	"github.com/darrm/darrm/internal/testing/experimenttest"
	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/learn/convex"
	"github.com/darrm/darrm/learn/data"
	"github.com/darrm/darrm/learn/geometry"
	"github.com/darrm/darrm/learn/loss"
	"github.com/darrm/darrm/learn/train"
)

var catalog = experiment.New(Field())

const small = `{
  "format_version": 1, "name": "small", "kind": "convex", "title": "small", "source": "", "about": "",
  "parameters": {
    "task": "sparse-logistic", "sweep": "n", "at": [256, 512], "dim": 5, "eps": 1, "delta": 1e-6, "fresh": 200, "repeats": 3,
    "lines": [
      {"name": "none", "method": "zero"},
      {"name": "fw", "method": "frank-wolfe", "set": "l1:4.5"},
      {"name": "phased", "method": "phased-sgd", "set": "l2:2.7", "eps": 2}
    ],
    "claims": [{"line": "fw", "of": "none", "factor": [null, 1e9]}, {"line": "fw", "of": "none", "factor": [null, 1e-9]}]
  }
}`

func found(t testing.TB, p *parameters, at float64, workers int,
	o experiment.Options) []sweep.Scores {
	t.Helper()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(workers))
	return must.Get(p.measure(&experiment.Run{Context: context.Background(), Options: o}, at))(t)
}

// decoded returns the parameters of a definition's full form.
func decoded(t testing.TB, text string) *parameters {
	t.Helper()
	experimenttest.Parse(t, catalog, text)
	var f struct{ Parameters parameters }
	if err := json.Unmarshal([]byte(text), &f); err != nil {
		t.Fatal(err)
	}
	return &f.Parameters
}

// The same numbers for any number of workers, others for another seed.
func TestScoresAreTheSameForAnyWorkers(t *testing.T) {
	p := decoded(t, small)
	one := found(t, p, 512, 1, experiment.Options{})
	if !reflect.DeepEqual(one, found(t, p, 512, 4, experiment.Options{})) {
		t.Error("one worker and four find different numbers")
	}
	if reflect.DeepEqual(one[1], found(t, p, 512, 4, experiment.Options{Seed: 1})[1]) {
		t.Error("another seed gives the same numbers")
	}
	if one[0].By[""][0] == one[0].By[""][1] || one[1].By[""][0] == one[1].By[""][1] ||
		len(one[1].By["auc"]) != 3 {
		t.Errorf("repeats are not drawn: %+v", one[1])
	}
}

// Scores are the scores of models that package convex trains, on the price that it states.
func TestScoresAgainstTheirModels(t *testing.T) {
	p := decoded(t, small)
	got := found(t, p, 512, 2, experiment.Options{})
	r := &experiment.Run{Context: context.Background()}
	for repeat := range 3 {
		s, err := p.sample(r, p.task(), 512, repeat)
		if err != nil {
			t.Fatal(err)
		}
		plan, err := convex.PhasedSGD{Setting: convex.Setting{Loss: loss.Logistic{},
			Radius: math.Sqrt(5) * (1 + 1e-12), Target: accountant.Cost{Epsilon: 2, Delta: 1e-6}},
			Ball: 2.7}.Plan(512, 5)
		if err != nil {
			t.Fatal(err)
		}
		a, err := plan.Train(s.private)
		if err != nil {
			t.Fatal(err)
		}
		w, err := train.Simulate(a, uint64(repeat)).Run(context.Background(), nil)
		if err != nil {
			t.Fatal(err)
		}
		mean := train.Problem{Loss: loss.Logistic{}, Regularizer: geometry.NoRegularizer{},
			Records: s.fresh}
		if want := mean.Objective(w) - mean.Objective([]float64{2, -1.5, 1, 0, 0}); math.Abs(want-
			got[2].By[""][repeat]) > 1e-9 {
			t.Errorf("repeat %d: %g, want %g", repeat, got[2].By[""][repeat], want)
		}
		if got[2].Epsilon != plan.Price.Cost.Epsilon || got[0].Epsilon != 0 {
			t.Errorf("priced at %g and %g", got[2].Epsilon, got[0].Epsilon)
		}
	}
}

// No drawn record is longer than the stated radius: what is shortened is other data than the
// truth is of.
func TestRadiusHolds(t *testing.T) {
	for _, task := range tasks {
		for _, d := range []int{3, 50} {
			if task.draw == nil {
				continue
			}
			rng := rand.New(rand.NewPCG(1, uint64(d)))
			_, record := task.draw(rng, d)
			x := make([]float64, d)
			for range 300 {
				y := record(x)
				if err := task.loss.Check(x, y); err != nil {
					t.Fatalf("%s: %v", task.name, err)
				}
				for _, q := range []float64{2, math.Inf(1)} {
					if norm := geometry.Norm(x, q); norm > task.radius(q, d)*(1+1e-9) {
						t.Errorf("%s: a record of norm %g, radius %g", task.name, norm, task.radius(q, d))
					}
				}
			}
		}
	}
}

// Clients are split in public: nobody is trained on and scored on.
func TestClientsAreSplit(t *testing.T) {
	text, err := catalog.Source("convex-credit")
	if err != nil {
		t.Fatal(err)
	}
	p := decoded(t, string(text))
	p.Records, p.Fresh = 50, 20
	s, err := p.sample(&experiment.Run{Context: context.Background(),
		Options: experiment.Options{Data: t.TempDir()}}, p.task(), 1, 0)
	if err != nil || s.private.Len() != 30 || s.fresh.Len() != 20 {
		t.Fatalf("%+v, %v", s, err)
	}
	seen := map[string]bool{}
	for _, r := range []*data.Records{s.private, s.fresh} {
		for i := range r.Len() {
			seen[fmt.Sprint(r.Row(i))] = true
		}
	}
	if len(seen) != 50 {
		t.Errorf("%d different clients of 50", len(seen))
	}
}

// counting is an algorithm whose iterate is the number of rounds done.
func counting(rounds int) train.Algorithm {
	return train.Algorithm{Rounds: rounds, Start: func(train.Coins) train.Run {
		return &countingRun{[]float64{0}}
	}}
}

type countingRun struct{ w []float64 }

func (r *countingRun) Round(context.Context, int) error { r.w[0]++; return nil }
func (r *countingRun) State() []train.Vector {
	return []train.Vector{{Name: "w", Values: r.w}}
}
func (r *countingRun) Output() []float64 { return nil }

func TestMeanOverIterates(t *testing.T) {
	for rounds, want := range map[int]float64{1: 0, 5: 2, 32: 15.5, 96: 47.5, 127: 64} {
		got, err := overIterates(context.Background(), counting(rounds), 1,
			func(w []float64) float64 { return w[0] })
		if err != nil || got != want {
			t.Errorf("%d rounds: %g, want %g, %v", rounds, got, want, err)
		}
	}
}

// Each of two claims that exclude each other is judged, and the one that does not hold says so.
func TestClaimsAreJudged(t *testing.T) {
	out := experimenttest.Run(t, experimenttest.Parse(t, catalog, small), t.TempDir(),
		experiment.Options{})
	if failed := out.Result.Failed(); len(failed) != 2 ||
		!strings.Contains(failed[0].Text, "at most 1e-09 times that of none") {
		t.Errorf("failed: %+v", failed)
	}
}

// Lists of a quick form replace those of the full one: a claim without a place is judged at all of
// them, whatever place the claim had that stood there.
func TestQuickFormsReplaceLists(t *testing.T) {
	text := strings.Replace(small, `[{"line": "fw", "of"`, `[{"line": "fw", "at": {"n": 256}, "of"`, 1)
	text = strings.TrimSuffix(strings.TrimSpace(text), "}") +
		`, "quick": {"repeats": 1, "claims": [{"line": "fw", "of": "none", "factor": [null, 1e9]}]}}`
	d := experimenttest.Parse(t, catalog, text)
	for quick, want := range map[bool]int{false: 1 + 1 + 2, true: 1 + 2} {
		out := experimenttest.Run(t, d, t.TempDir(), experiment.Options{Quick: quick})
		if got := len(out.Result.Claims); got != want {
			t.Errorf("quick %t: %d claims, want %d", quick, got, want)
		}
	}
}

// The claims of the full-size experiments hold on their golden figures, which only the long test
// computes.
func TestClaimsHoldOnGoldenFigures(t *testing.T) {
	for _, d := range catalog.List() {
		p := decoded(t, string(must.Get(catalog.Source(d.Name))(t)))
		f := p.found(nil)
		experimenttest.Golden(t, f, experimenttest.Rows(t, filepath.Join("..", "testdata", "golden", d.Name,
			"scores.csv")), "value", "accuracy", "auc", "eps_accounted")
		r := d.NewRun(context.Background(), experiment.Options{})
		p.judge(r, f)
		experimenttest.Hold(t, r)
	}
}

// A definition that cannot be run is refused, by what is wrong with it.
func TestDefinitionsAreRefused(t *testing.T) {
	experimenttest.Refuses(t, catalog, small, map[string][2]string{
		`"sparse-logistic"`:                   {`"dense"`, "task"},
		`"sweep": "n"`:                        {`"sweep": "m"`, "sweep"},
		`"at": [256, 512]`:                    {`"at": []`, "at and lines"},
		`"at": [256, `:                        {`"at": [1, `, "records"},
		`"dim": 5`:                            {`"dim": 2`, "dim"},
		`"repeats": 3`:                        {`"repeats": 0`, "repeats"},
		`"fresh": 200`:                        {`"fresh": 0`, "fresh"},
		`"delta": 1e-6`:                       {`"delta": 0`, "delta"},
		`"method": "zero"`:                    {`"method": "one"`, "one"},
		`"name": "none"`:                      {`"name": "fw"`, "lines"},
		`"set": "l1:4.5"`:                     {`"set": "l2:4.5"`, "set"},
		`"eps": 2`:                            {`"noise": "loud", "rate": 1`, "Rate"},
		`"line": "fw"`:                        {`"line": "nobody"`, "claim"},
		`"of": "none", "factor": [null, 1e9]`: {`"of": "none"`, "factor"},
		`"line": "fw", `:                      {`"line": "fw", "at": {"n": 3}, `, "no such place"},
		`"factor": [null, 1e9]`:               {`"factor": [null, 1e9], "slope": [1, 2]`, "one of"},
		`"repeats": 3,`:                       {`"repeats": 3, "again": 1,`, "again"},
	})
	d := experimenttest.Load(t, catalog, "convex-credit-real")
	if _, err := d.Run(context.Background(), t.TempDir(),
		experiment.Options{Data: t.TempDir()}); !errors.Is(err, experiment.ErrNoData) {
		t.Errorf("without the real file: %v", err)
	}
}
