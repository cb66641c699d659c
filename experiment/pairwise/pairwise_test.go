package pairwise

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"reflect"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/experiment"
	"github.com/darrm/darrm/experiment/datasets"
	"github.com/darrm/darrm/experiment/sweep"
	"github.com/darrm/darrm/internal/testing/experimenttest"
	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/learn/loss"
	"github.com/darrm/darrm/learn/pairwise"
)

var catalog = experiment.New(Field())

const small = `{
  "format_version": 1, "name": "small", "kind": "pairwise", "title": "small", "source": "", "about": "",
  "parameters": {
    "task": "gaussians", "records": [64, 128], "eps": [1, 4], "dim": 3, "fresh": 200, "radius": 1, "repeats": 3, "risk": true,
    "lines": [
      {"name": "cyclic", "method": "cyclic", "ball": 1},
      {"name": "one pass", "method": "one-pass", "step_size": 4, "eps": 2},
      {"name": "sgd", "method": "sgd", "step_size": 0.1, "passes": 2},
      {"name": "printed", "method": "published", "printed": [0.5, 0.6, 0.7, 0.8], "printed_sd": [0.1, 0.1, 0.1, 0.1]}
    ],
    "claims": [{"line": "sgd", "of": "cyclic", "difference": [-2, null]}, {"line": "sgd", "at": {"records": 64, "eps": 1}, "of": "cyclic", "within": 1e-9}]
  }
}`

func decoded(t testing.TB, text string) *parameters {
	t.Helper()
	experimenttest.Parse(t, catalog, text)
	var f struct{ Parameters parameters }
	if err := json.Unmarshal([]byte(text), &f); err != nil {
		t.Fatal(err)
	}
	return &f.Parameters
}

func found(t testing.TB, p *parameters, at place, workers int,
	o experiment.Options) []sweep.Scores {
	t.Helper()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(workers))
	return must.Get(p.measure(&experiment.Run{Context: context.Background(), Options: o}, at))(t)
}

// The same numbers for any number of workers, others for another seed; every place is another draw.
func TestScoresAreTheSameForAnyWorkers(t *testing.T) {
	p := decoded(t, small)
	at := p.places()[0]
	one := found(t, p, at, 1, experiment.Options{})
	if !reflect.DeepEqual(one, found(t, p, at, 4, experiment.Options{})) {
		t.Error("one worker and four find different numbers")
	}
	if reflect.DeepEqual(one[0], found(t, p, at, 4, experiment.Options{Seed: 1})[0]) {
		t.Error("another seed gives the same numbers")
	}
	if v := one[2].By[""]; v[0] == v[1] || len(v) != 3 ||
		one[2].By["risk"][0] == one[2].By["risk"][1] || one[3].By != nil {
		t.Errorf("repeats are not drawn: %+v", one)
	}
	want := []place{{64, 1, 0}, {64, 4, 0}, {128, 1, 0}, {128, 4, 0}}
	if !reflect.DeepEqual(p.places(), want) {
		t.Errorf("places %v, want %v", p.places(), want)
	}
}

// Scores are the scores of models that package pairwise trains, at the price that it states and the
// δ that the definition means.
func TestScoresAgainstTheirModels(t *testing.T) {
	p := decoded(t, small)
	at := place{records: 128, epsilon: 4}
	got := found(t, p, at, 2, experiment.Options{})
	l, err := loss.ParsePair("logistic")
	if err != nil {
		t.Fatal(err)
	}
	m := pairwise.OnePass{Setting: pairwise.Setting{Base: pairwise.Base{Loss: l, Radius: 1,
		Target: accountant.Cost{Epsilon: 2, Delta: 1. / 128}}}, StepSize: 4}
	plan, err := m.Plan(128, 3)
	if err != nil {
		t.Fatal(err)
	}
	for repeat := range 3 {
		own, fresh, err := p.sample(datasets.Points{}, at, uint64(repeat))
		if err != nil {
			t.Fatal(err)
		}
		w, err := trained(t.Context(), plan, own, uint64(repeat))
		if err != nil {
			t.Fatal(err)
		}
		want := 0.0 // by the definition of the AUC
		pairs := 0.0
		for i := range fresh.Len() {
			for j := range fresh.Len() {
				if fresh.Response(i) != 1 || fresh.Response(j) != 0 {
					continue
				}
				s := 0.0
				for k, v := range w {
					s += v * (fresh.Row(i)[k] - fresh.Row(j)[k])
				}
				pairs++
				if s > 0 {
					want++
				}
			}
		}
		if math.Abs(want/pairs-got[1].By[""][repeat]) > 1e-9 ||
			got[1].By["risk"][repeat] != pairwise.Risk(l, own, w) {
			t.Errorf("repeat %d: %g, want %g", repeat, got[1].By[""][repeat], want/pairs)
		}
	}
	if got[1].Epsilon != plan.Price.Cost.Epsilon || got[2].Epsilon != 0 || got[0].Epsilon != 4 {
		t.Errorf("priced at %g, %g and %g", got[0].Epsilon, got[1].Epsilon, got[2].Epsilon)
	}
}

// A set is split anew in each repeat, in public, and nobody is trained on and scored on.
func TestSetsAreSplit(t *testing.T) {
	p := &parameters{Task: datasets.Diabetes, Records: []int{256}}
	all, err := datasets.OpenPoints(context.Background(), p.Task, t.TempDir(), 768, 1)
	if err != nil {
		t.Fatal(err)
	}
	var first string
	for seed := range uint64(2) {
		own, fresh, err := p.sample(all, p.places()[0], seed)
		if err != nil || own.Len() != 256 || fresh.Len() != 768-614 {
			t.Fatalf("%v, %v", own, err)
		}
		seen := map[string]bool{}
		for i := range own.Len() {
			seen[fmt.Sprint(own.Row(i))] = true
		}
		for i := range fresh.Len() {
			if seen[fmt.Sprint(fresh.Row(i))] {
				t.Fatal("a record is trained on and scored on")
			}
		}
		if s := fmt.Sprint(own.Row(0)); s == first {
			t.Error("two shuffles are the same")
		} else {
			first = s
		}
	}
	p.Records = nil
	if at := p.places(); len(at) != 1 || at[0].records != 614 {
		t.Errorf("%v, want four fifths", at)
	}
}

// Claims that hold are marked apart from claims that do not, and a reader sees the differences that
// they are about.
func TestClaimsAreJudged(t *testing.T) {
	out := experimenttest.Run(t, experimenttest.Parse(t, catalog, small), t.TempDir(),
		experiment.Options{})
	if failed := out.Result.Failed(); len(failed) != 1 ||
		!strings.Contains(failed[0].Text,
			"n = 64, ε = 1: AUC of sgd and that of cyclic differ by less than 1e-09") {
		t.Errorf("failed: %+v", failed)
	}
	if n := len(out.Result.Claims); n != 1+4+1 {
		t.Errorf("%d claims", n)
	}
	if rows := experimenttest.Table(t, out.Result, "differences").Rows; len(rows) != 4 { // each once
		t.Errorf("%d differences", len(rows))
	}
	scores := experimenttest.Table(t, out.Result, "scores")
	if v := experimenttest.Value(t, scores, "auc",
		map[string]any{"line": "printed", "records": 128.0, "eps": 4.0}); v != .8 {
		t.Errorf("printed: %v", v)
	}
}

// The claims of the full-size experiments hold on their golden figures, which only the long test
// computes.
func TestClaimsHoldOnGoldenFigures(t *testing.T) {
	for _, d := range catalog.List() {
		p := decoded(t, string(must.Get(catalog.Source(d.Name))(t)))
		golden := func(name string) []map[string]string {
			return experimenttest.Rows(t, filepath.Join("..", "testdata", "golden", d.Name, name+".csv"))
		}
		f := p.found(nil)
		experimenttest.Golden(t, f, golden("scores"), "auc", "risk", "eps_accounted")
		var alone, pairs []experiment.Statement
		for _, c := range p.Claims {
			if c.Of == "" {
				alone = append(alone, c)
			} else {
				pairs = append(pairs, c)
			}
		}
		r := d.NewRun(context.Background(), experiment.Options{})
		p.Claims = alone
		p.judge(r, f)
		if pairs != nil {
			experimenttest.GoldenDifferences(t, r, f, pairs, "auc", golden("differences"))
		}
		experimenttest.Hold(t, r)
	}
}

// Acceptance 6: on the real diabetes records the standard deviation over shuffles is that of the
// literature, so that the intervals of the claims are right.
func TestSpreadOfRealShuffles(t *testing.T) {
	rows := experimenttest.Rows(t, filepath.Join("..", "testdata", "golden", "auc-diabetes-real",
		"scores.csv"))
	for _, row := range rows {
		if row["line"] != "Algorithm 1, hinge" {
			continue
		}
		if sd, err := strconv.ParseFloat(row["auc_sd"], 64); err != nil || sd < .02 || sd > .05 {
			t.Errorf("standard deviation %s", row["auc_sd"])
		}
		return
	}
	t.Error("no row of Algorithm 1")
}

// A definition that cannot be run is refused, by what is wrong with it.
func TestDefinitionsAreRefused(t *testing.T) {
	experimenttest.Refuses(t, catalog, small, map[string][2]string{
		`"gaussians"`:                {`"laplacians"`, "task"},
		`"records": [64, 128]`:       {`"records": [1]`, "records"},
		`"eps": [1, 4]`:              {`"eps": [1, 0]`, "eps"},
		`"dim": 3`:                   {`"dim": 0`, "dim"},
		`"fresh": 200`:               {`"fresh": 0`, "fresh"},
		`"repeats": 3`:               {`"repeats": 0`, "repeats"},
		`"method": "cyclic"`:         {`"method": "bicyclic"`, "bicyclic"},
		`"name": "sgd"`:              {`"name": "cyclic"`, "lines"},
		`"step_size": 4`:             {`"step_size": 4, "rule": "exact"`, "Rule"},
		`"passes": 2`:                {`"loss": "absolute"`, "pair loss"},
		`[0.5, 0.6, 0.7, 0.8]`:       {`[0.5]`, "printed"},
		`"of": "cyclic"`:             {`"of": "nobody"`, "claim"},
		`"within": 1e-9`:             {`"within": 0`, "within"},
		`"at": {"records": 64`:       {`"at": {"records": 65`, "place"},
		`[-2, null]`:                 {`[null, null]`, "bounds"},
		`"difference": [-2, null]`:   {`"range": [0, 1]`, "another line"},
		`"task": "gaussians"`:        {`"task": "diabetes"`, "dim and fresh"},
		`"risk": true,`:              {`"again": true,`, "again"},
		`"line": "sgd", "of"`:        {`"line": "nobody", "of"`, "claim"},
		`"method": "one-pass", "ste`: {`"method": "one-pass", "look": "none", "ste`, "look"},
	})
	d := experimenttest.Load(t, catalog, "auc-german-real")
	if _, err := d.Run(context.Background(), t.TempDir(),
		experiment.Options{Data: t.TempDir()}); !errors.Is(err, experiment.ErrNoData) {
		t.Errorf("without the real file: %v", err)
	}
}
