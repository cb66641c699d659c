package federated

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/darrm/darrm/experiment"
	"github.com/darrm/darrm/experiment/datasets"
	"github.com/darrm/darrm/internal/testing/experimenttest"
	"github.com/darrm/darrm/learn/train"
)

var catalog = experiment.New(Field())

const small = `{
  "format_version": 1, "name": "small", "kind": "federated", "title": "small", "source": "", "about": "",
  "parameters": {
    "silos": 4, "every": 64, "hidden": 3, "rounds": 12, "delta": 1e-5, "step": {"first": 0.5, "halvings": 2, "check": 3, "limit": 1.05, "strikes": 2}, "repeats": 2,
    "lines": [
      {"name": "none", "look": "quiet", "method": "psgm", "reports": "none", "momentum": 0.5, "gradient_clip": 0.3, "difference_clip": 1},
      {"name": "real", "look": "real", "method": "psgm", "reports": "real", "local_eps": 4, "momentum": 0.5, "gradient_clip": 0.3, "difference_clip": 1},
      {"name": "central", "look": "dp-gd", "method": "central", "eps": 8, "gradient_clip": 0.3}
    ],
    "claims": [{"line": "none", "measure": "fall", "range": [null, 0.99]}, {"line": "none", "range": [null, 1e-9]}, {"line": "none", "measure": "failed", "range": [2, 2]}]
  }
}`

func decoded(t testing.TB, text string) *training {
	t.Helper()
	experimenttest.Parse(t, catalog, text)
	var f struct{ Parameters training }
	if err := json.Unmarshal([]byte(text), &f); err != nil {
		t.Fatal(err)
	}
	return &f.Parameters
}

// Each claim is judged, those that hold and those that do not, and each can fail.
func TestClaimsAreJudged(t *testing.T) {
	d := experimenttest.Parse(t, catalog, small)
	out := experimenttest.Run(t, d, t.TempDir(), experiment.Options{})
	failed := out.Result.Failed()
	if len(failed) != 2 || !strings.Contains(failed[0].Text, "at most 1e-09") ||
		!strings.Contains(failed[1].Text, "fails the rule") {
		t.Errorf("failed: %+v", failed)
	}
	models := experimenttest.Table(t, out.Result, "models")
	if eps := experimenttest.Value(t, models, "eps",
		map[string]any{"line": "central"}); eps.(float64) > 8 || eps.(float64) < 7.9 {
		t.Errorf("the trusted server costs %v", eps)
	}
	if mb := experimenttest.Value(t, models, "megabytes",
		map[string]any{"line": "real"}); math.Abs(mb.(float64)-258*23*9/1e6) > 1e-9 {
		t.Errorf("%v MB", mb) // 258 records, one stream in round 0 and two in eleven
	}
	experimenttest.EveryClaimCanFail(t, catalog, []byte(small), out,
		experimenttest.Replay(out, experiment.Options{}))
}

// The rule for the step size: a loss above the limit is a strike, a new least loss clears them.
func TestStepRule(t *testing.T) {
	s := step{First: 1, Halvings: 1, Check: 1, Limit: 1.05, Strikes: 3}
	for _, c := range []struct {
		losses []float64
		fails  int // at which, -1 for none
	}{
		{[]float64{1, 2, 2, 2}, 3},
		{[]float64{1, 1.04, 1.05, 1.04, 1.02}, -1},
		{[]float64{1, 2, 2, 0.9, 2, 2, 0.8, 2, 2}, -1},
		{[]float64{1, 2, 1.01, 2, 1.01, 2}, 5}, // in all, not in a row
		{[]float64{0, 1, 1, 1}, 3},
	} {
		watch, at := s.watch(), -1
		for i, l := range c.losses {
			if err := watch(l); err != nil {
				if at = i; !tooLarge(err) {
					t.Error(err)
				}
				break
			}
		}
		if at != c.fails {
			t.Errorf("%v fails at %d, want %d", c.losses, at, c.fails)
		}
	}
	s.Halvings = 0
	watch := s.watch()
	for _, l := range []float64{1, 5, 5, 5, 5} {
		if err := watch(l); err != nil {
			t.Error("a fixed step size fails")
		}
	}
	if tooLarge(errors.New("disk full")) || !tooLarge(train.ErrDiverged) {
		t.Error("what a step size is to blame for")
	}
}

// Losses by this package are those of the model: a wide step is halved until it passes, and the
// trace ends at the last round.
func TestStepIsHalved(t *testing.T) {
	text := strings.Replace(small, `"first": 0.5, "halvings": 2`, `"first": 4096, "halvings": 20`, 1)
	p := decoded(t, text)
	h, err := datasets.OpenHousing(context.Background(), t.TempDir(),
		datasets.HousingSplit{Silos: p.Silos, Every: p.Every})
	if err != nil {
		t.Fatal(err)
	}
	f, err := p.train(&experiment.Run{Context: context.Background()}, p.Lines[0], h)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range f.Runs {
		last := o.Trace[len(o.Trace)-1]
		if o.failed() || o.Step >= 4096 || last.Round != p.Rounds || len(o.Trace) != 5 ||
			o.Kept.Train <= 0 {
			t.Errorf("%+v", o)
		}
	}
	if f.Runs[0].Trace[0].Train == f.Runs[1].Trace[0].Train {
		t.Error("two starts are one")
	}
}

// A definition that cannot be run is refused, by what is wrong with it.
func TestDefinitionsAreRefused(t *testing.T) {
	experimenttest.Refuses(t, catalog, small, map[string][2]string{
		`"silos": 4`:              {`"silos": 0`, "silos"},
		`"hidden": 3`:             {`"hidden": 0`, "hidden"},
		`"rounds": 12`:            {`"rounds": 2`, "check"},
		`"delta": 1e-5`:           {`"delta": 1`, "delta"},
		`"strikes": 2`:            {`"strikes": 0`, "strikes"},
		`"look": "quiet"`:         {`"look": "blue"`, "blue"},
		`"method": "central"`:     {`"method": "magic"`, "method"},
		`"reports": "none"`:       {`"reports": "some"`, "reports"},
		`"reports": "real", `:     {``, "reports"},
		`"name": "real"`:          {`"name": "none"`, "lines"},
		`"local_eps": 4`:          {`"local_eps": 4, "eps": 1`, "follows from the other"},
		`"line": "none"`:          {`"line": "nobody"`, "claim"},
		`, "range": [null, 1e-9]`: {``, "one of"},
		`"range": [null, 1e-9]`:   {`"range": [null, 1e-9], "slope": [0, 1]`, "one of"},
		`"measure": "fall"`:       {`"measure": "rise"`, "measure"},
		`"repeats": 2`:            {`"repeats": 2, "again": 1`, "again"},
	})
}

// Acceptance test 17 at the size of continuous integration: without a shuffler ε = 0.8 leaves ε₀ =
// 0.006 of a report, and no step size of ten passes the rule.
func TestNoShufflerFails(t *testing.T) {
	text, err := catalog.Source("federated-california")
	if err != nil {
		t.Fatal(err)
	}
	p := decoded(t, string(text))
	p.Every, p.Repeats = 32, 1
	l := line{Name: "no shuffler", Look: "ldp", Method: psgm, Reports: rehearsedReports, Epsilon: 0.8,
		Account: "unshuffled", Momentum: 0.1, GradientClip: 0.3, DifferenceClip: 1}
	h, err := datasets.OpenHousing(context.Background(), t.TempDir(),
		datasets.HousingSplit{Silos: p.Silos, Every: p.Every})
	if err != nil {
		t.Fatal(err)
	}
	f, err := p.train(&experiment.Run{Context: context.Background()}, l, h)
	if err != nil {
		t.Fatal(err)
	}
	if o := f.Runs[0]; !o.failed() || o.Step != math.Ldexp(0.5, -9) || f.LocalEpsilon > 0.007 {
		t.Errorf("passes at step size %g with eps0 = %g", o.Step, f.LocalEpsilon)
	}
}

// Acceptance test 15 with real reports, at full size and at all ε. At DARRM_LONG=1 all three
// starts; it takes minutes for each. The limits are the specification's; all are below 0.6 of the
// target's variance, 0.04888. One start is about 0.0005 from the mean, so that a method that loses
// 15 % of the fit is found.
func TestRealReportsAtFullSize(t *testing.T) {
	if !experimenttest.Long() {
		t.Skip("minutes: DARRM_LONG=1")
	}
	text, err := catalog.Source("federated-california")
	if err != nil {
		t.Fatal(err)
	}
	p := decoded(t, string(text))
	h, err := datasets.OpenHousing(context.Background(), t.TempDir(),
		datasets.HousingSplit{Silos: p.Silos})
	if err != nil {
		t.Fatal(err)
	}
	base := p.Lines[slices.IndexFunc(p.Lines, func(l line) bool { return l.Reports == realReports })]
	limits := map[float64]float64{1.6: 0.0240, 0.8: 0.0250, 0.4: 0.0290}
	means := map[float64]float64{}
	for epsilon, limit := range limits {
		l := base
		l.Epsilon = epsilon
		f, err := p.train(&experiment.Run{Context: t.Context()}, l, h)
		if err != nil {
			t.Fatal(err)
		}
		tidy := p.tidy([]found{f})
		mean, sd := tidy.Stat(0, 0, "train"), tidy.Stat(0, 0, "train_sd")
		means[epsilon] = mean
		t.Logf("ε = %g, ε₀ = %.6g: training error %.5f ± %.5f", f.Epsilon, f.LocalEpsilon, mean, sd)
		if !(mean <= limit) || !(f.Epsilon <= epsilon) {
			t.Errorf("ε = %g costs %g, and its training error is %.5f, want at most %g", epsilon, f.Epsilon,
				mean, limit)
		}
	}
	if !(means[1.6] <= means[0.4]+0.0005) {
		t.Errorf("ε = 1.6 ends at %.5f, 0.4 at %.5f", means[1.6], means[0.4])
	}
}

// Acceptance tests 15 to 17 of the specification at full size, three starts each: the claims hold
// on the golden figures, which only the long test computes. Of test 15 continuous integration
// computes the quick form, 2064 records and 100 rounds. The figures are means, so each stands for
// one run. The first error of a run is not among them, and claims that it falls are judged where it
// is computed.
func TestClaimsHoldOnGoldenFigures(t *testing.T) {
	for _, name := range []string{"federated-california", "federated-belts"} {
		text, err := catalog.Source(name)
		if err != nil {
			t.Fatal(err)
		}
		p := decoded(t, string(text))
		p.Claims = slices.DeleteFunc(p.Claims, func(c experiment.Statement) bool {
			return c.Measure == "fall"
		})
		f := p.tidy(nil)
		experimenttest.Golden(t, f, experimenttest.Rows(t, filepath.Join("..", "testdata", "golden", name,
			"models.csv")), "train", "test", "gradient", "kept", "eps")
		r := experimenttest.Load(t, catalog, name).NewRun(context.Background(), experiment.Options{})
		p.judge(r, f)
		experimenttest.Hold(t, r)
	}
}
