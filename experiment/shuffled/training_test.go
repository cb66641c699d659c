package shuffled

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/experiment"
	"github.com/darrm/darrm/experiment/datasets"
	"github.com/darrm/darrm/internal/testing/experimenttest"
	"github.com/darrm/darrm/learn/shuffled"
	"github.com/darrm/darrm/learn/shuffled/iteration"
	"github.com/darrm/darrm/learn/train"
)

// smallTraining is an experiment of kind training that takes tenths of a second.
const smallTraining = `{
  "format_version": 1, "name": "small", "kind": "training", "title": "small", "source": "", "about": "",
  "parameters": {
    "data": "credit-card", "data_seed": 1,
    "methods": ["interleaved", "pub-priv", "dp-shuffle-g", "public-only", "dp-sgd", "shuffle-g"],
    "variants": [{"order": "RR", "fractions": [0.5, 0.25]}, {"order": "IG", "fractions": [0.5]}],
    "epsilons": [5, 10], "delta": 1e-6, "epochs": 4, "clip": 10, "step_sizes": [1e-3, 100, 1e-4], "repeats": 2,
    "claims": [
      {"epsilon": 10, "better": ["interleaved"], "worse": ["dp-shuffle-g"], "factor": 1},
      {"epsilon": 10, "better": ["dp-shuffle-g"], "worse": ["interleaved"], "factor": 1}
    ]
  }
}`

var catalog = experiment.New(Field())

// parameters returns those in the full form of a definition.
func parameters(t testing.TB, text string) *trainingParameters {
	t.Helper()
	var f struct{ Parameters trainingParameters }
	if err := json.Unmarshal([]byte(text), &f); err != nil {
		t.Fatal(err)
	}
	return &f.Parameters
}

// The same numbers, from which all files follow, for any number of workers. This is where
// the race detector looks on.
func TestTrainingIsTheSameForAnyWorkers(t *testing.T) {
	p := parameters(t, smallTraining)
	do := func(workers int, seed uint64) []trained {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(workers))
		r := &experiment.Run{Context: context.Background(),
			Options: experiment.Options{Data: t.TempDir(), Seed: seed}}
		lab, err := p.laboratory(r)
		if err != nil {
			t.Fatal(err)
		}
		var out []trained
		for _, line := range []training{p.mainTraining(shuffled.Interleaved, 5),
			p.mainTraining(shuffled.ShuffleG, 0), p.mainTraining(shuffled.DPSGD, 5)} {
			x, err := p.train(r, lab, line)
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, x)
		}
		return out
	}
	one := do(1, 0)
	if !reflect.DeepEqual(one, do(4, 0)) {
		t.Error("one worker and four find different numbers")
	}
	if reflect.DeepEqual(one, do(4, 1)) {
		t.Error("another seed gives the same numbers")
	}
}

// Lines, tables and traces of a small training, against runs of package shuffled itself.
func TestTrainingAgainstItsRuns(t *testing.T) {
	experimenttest.Numbers(t)
	out := experimenttest.Run(t, experimenttest.Parse(t, catalog, smallTraining), t.TempDir(),
		experiment.Options{Data: t.TempDir()})
	summary, grid := experimenttest.Table(t, out.Result, "summary"),
		experimenttest.Table(t, out.Result, "grid")
	// Interleaved 3 × 2, Pub-Priv 3 × 2, DP-ShuffleG 2 × 2, Public Only 1, DP-SGD 2,
	// ShuffleG 2; 100 is above the cap of the step size.
	if len(summary.Rows) != 21 || len(grid.Rows) != 42 || len(out.Record.Steps) != 21 {
		t.Errorf("%d lines, %d grid rows, %d steps", len(summary.Rows), len(grid.Rows),
			len(out.Record.Steps))
	}
	if !strings.HasSuffix(out.Result.Title, "(generated stand-in)") ||
		!strings.Contains(out.Result.Notes[0], "stand-in") {
		t.Errorf("a stand-in is not called so: %q, %q", out.Result.Title, out.Result.Notes[0])
	}
	if out.Record.Inputs != nil {
		t.Errorf("a stand-in has inputs: %v", out.Record.Inputs)
	}
	// The two claims exclude each other.
	failed := out.Result.Failed()
	if len(failed) != 1 || !strings.HasPrefix(failed[0].Text, "ε = 10: DP-ShuffleG better") {
		t.Errorf("failed: %+v", failed)
	}

	file, err := os.ReadFile(filepath.Join(out.Dir, "traces.csv"))
	if err != nil {
		t.Fatal(err)
	}
	lines, err := csv.NewReader(bytes.NewReader(file)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if want := "dataset,task,algorithm,variant,eps,delta,p,eta,seed,epoch,objective,excess,distance_to_opt"; strings.Join(lines[0], ",") != want {
		t.Errorf("columns %v", lines[0])
	}
	set, err := datasets.Standin(datasets.CreditCard, 1)
	if err != nil {
		t.Fatal(err)
	}
	optimum, err := set.Problem().Optimum()
	if err != nil {
		t.Fatal(err)
	}
	number := func(s string) float64 {
		v, err := strconv.ParseFloat(s, 64)
		if err != nil && s != "" {
			t.Fatal(err)
		}
		return v
	}
	// The last epoch of every run, done again by itself.
	sums, runs := map[string]float64{}, map[string]int{}
	for _, l := range lines[1:] {
		if l[9] != "4" {
			continue
		}
		c := shuffled.Config{
			Task: set.Task, Regularizer: set.Regularizer, Start: set.Start, Method: shuffled.Scheme(l[2]),
			Fraction: number(l[6]), Epochs: 4,
			Order: orders[l[3]], Clip: 10, StepSize: number(l[7]),
			Target: accountant.Cost{Epsilon: number(l[4]), Delta: number(l[5])},
			Mode:   iteration.Paper, Conversion: iteration.ConversionClassical,
		}
		plan, err := shuffled.NewPlan(t.Context(), c, set.Private, set.Public)
		if err != nil {
			t.Fatal(err)
		}
		seed, err := strconv.ParseUint(l[8], 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		x, err := train.Simulate(plan.Algorithm(), seed).Run(context.Background(), nil)
		if err != nil {
			t.Fatal(err)
		}
		excess := set.Problem().Objective(x) - optimum.Value
		if math.Abs(excess-number(l[11])) > 1e-12 {
			t.Errorf("%v: excess %g when run again", l, excess)
		}
		key := strings.Join([]string{l[2], l[3], l[6], l[4]}, " ")
		sums[key] += excess
		runs[key]++
	}
	// Summaries are their means, and the smallest of the grid.
	at := func(row []any, columns ...int) string {
		parts := make([]string, len(columns))
		for i, c := range columns {
			if parts[i] = ""; row[c] != nil {
				parts[i] = fmt.Sprint(row[c])
			}
		}
		return strings.Join(parts, " ")
	}
	for _, row := range summary.Rows {
		key := at(row, 0, 1, 2, 3)
		if n := runs[key]; n == 0 || math.Abs(sums[key]/float64(n)-row[4].(float64)) > 1e-12 {
			t.Errorf("%s: mean excess %v, from %d runs %v", key, row[4], n, sums[key]/float64(n))
		}
		least := math.Inf(1)
		for _, g := range grid.Rows {
			if at(g, 0, 1, 2, 3) == key && g[5] != nil {
				least = min(least, g[5].(float64))
			}
		}
		if math.Abs(least-row[4].(float64)) > 1e-15 {
			t.Errorf("%s: %v, but the grid's best is %v", key, row[4], least)
		}
	}
}

// Real files in the folder of the data set's name, in one of another usual name, or in the
// data folder itself are used, and the result says so; damaged ones are an error, and
// nothing stands in for them.
func TestTrainingUsesRealFiles(t *testing.T) {
	experimenttest.Numbers(t)
	text := strings.NewReplacer(`"credit-card"`, `"mnist-69"`,
		`"pub-priv", "dp-shuffle-g", "public-only", "dp-sgd"`, `"dp-shuffle-g"`,
		`, {"order": "IG", "fractions": [0.5]}`, "", `[0.5, 0.25]`, `[0.5]`, `"small"`,
		`"six"`).Replace(smallTraining)
	d := experimenttest.Parse(t, catalog, text)
	digits := func(dir string, bright byte) {
		t.Helper()
		images, labels := experimenttest.Header(3, 40, 2, 2), experimenttest.Header(1, 40)
		for i := range 40 {
			labels = append(labels, byte(6+3*(i%2)))
			images = append(images, bright, byte(5*i), byte(200-i), 90)
		}
		for name, b := range map[string][]byte{"train-images-idx3-ubyte": images,
			"train-labels-idx1-ubyte": labels} {
			if err := os.MkdirAll(dir, 0o777); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, name), b, 0o666); err != nil {
				t.Fatal(err)
			}
		}
	}
	hashes := map[string]bool{}
	for i, folder := range []string{"mnist-69", "mnist", ""} {
		root := t.TempDir()
		digits(filepath.Join(root, folder), byte(100*i))
		set, err := datasets.Open(context.Background(), datasets.MNIST69, root, 1)
		if err != nil || set.Standin || set.Private.Len() != 20 {
			t.Errorf("in %q: %+v, %v", folder, set, err)
		}
		inputs, err := datasets.Inputs(context.Background(), datasets.MNIST69, root, 1)
		if err != nil || len(inputs) != 1 {
			t.Errorf("in %q: inputs %v, %v", folder, inputs, err)
		}
		for _, h := range inputs {
			hashes[h] = true
		}
	}
	if len(hashes) != 3 {
		t.Errorf("three data sets have the hashes %v", hashes)
	}
	out := t.TempDir()
	first, second := t.TempDir(), t.TempDir()
	digits(filepath.Join(first, "mnist-69"), 1)
	digits(filepath.Join(second, "mnist-69"), 2)
	got := experimenttest.Run(t, d, out, experiment.Options{Data: first})
	if !strings.HasSuffix(got.Result.Title, "(real data)") ||
		got.Result.Notes[0] != "The data are the real ones." || len(got.Record.Inputs) != 1 {
		t.Errorf("%q, %v, inputs %v", got.Result.Title, got.Result.Notes, got.Record.Inputs)
	}
	if again := experimenttest.Run(t, d, out, experiment.Options{Data: first}); !again.Reused {
		t.Error("run again on the same files")
	}
	if other := experimenttest.Run(t, d, out, experiment.Options{Data: second}); other.Reused ||
		other.Record.Outputs["traces.csv"] == got.Record.Outputs["traces.csv"] {
		t.Error("not run again on other files")
	}
	root := t.TempDir()
	digits(filepath.Join(root, "mnist-69"), 0)
	if err := os.WriteFile(filepath.Join(root, "mnist-69", "train-labels-idx1-ubyte"),
		[]byte("no labels"), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Run(context.Background(), out, experiment.Options{Data: root}); err == nil ||
		errors.Is(err, experiment.ErrNoData) {
		t.Errorf("damaged files: %v", err)
	}
}

// Two seeds of real files may differ in nothing but the start. What one of them found is not
// what the other finds.
func TestStepsDependOnTheStart(t *testing.T) {
	root, out := t.TempDir(), t.TempDir()
	rows := "age,priors_count,juv_fel_count,juv_misd_count,juv_other_count,decile_score,sex,race,days_b_screening_arrest,c_charge_degree,is_recid,score_text,two_year_recid\n"
	for i := range 80 {
		rows += fmt.Sprintf("%d,%d,0,0,0,%d,Male,%s,0,F,0,Low,%d\n", 20+i%37, i%5, i%11,
			[]string{"Caucasian", "African-American"}[i%2], i%3/2)
	}
	if err := os.WriteFile(filepath.Join(root, "compas-two-years.csv"), []byte(rows), 0o666); err !=
		nil {
		t.Fatal(err)
	}
	seeded := func(seed string) experiment.Outcome {
		text := strings.Replace(smallTraining, `"credit-card", "data_seed": 1`,
			`"compas", "data_seed": `+seed, 1)
		return experimenttest.Run(t, experimenttest.Parse(t, catalog, text), out,
			experiment.Options{Data: root})
	}
	first, second := seeded("1"), seeded("2")
	for _, s := range second.Record.Steps {
		if s.Reused {
			t.Errorf("step %s of the other start was used", s.Name)
		}
	}
	if second.Record.Outputs["traces.csv"] == first.Record.Outputs["traces.csv"] {
		t.Error("two starts have the same traces")
	}
}

// The real files of a folder that DARRM_REAL names: what the source reports of them.
func TestTrainingOnRealFiles(t *testing.T) {
	dir := os.Getenv("DARRM_REAL")
	if dir == "" {
		t.Skip("needs DARRM_REAL")
	}
	for _, name := range []string{"crime", "credit-card", "compas"} {
		out := experimenttest.Run(t, experimenttest.Load(t, catalog, name), t.TempDir(),
			experiment.Options{Quick: !experimenttest.Long(), Data: dir})
		if !strings.HasSuffix(out.Result.Title, "(real data)") {
			t.Errorf("%s: %s", name, out.Result.Title)
		}
		for _, c := range out.Result.Failed() {
			t.Errorf("%s: claim fails: %s (%s)", name, c.Text, c.Evidence)
		}
	}
}

// Seeds matter where something is drawn, and the same seed gives the same bytes.
func TestSeeds(t *testing.T) {
	experimenttest.Numbers(t)
	csv := func(seed uint64) string {
		out := experimenttest.Run(t, experimenttest.Parse(t, catalog, smallTraining), t.TempDir(),
			experiment.Options{Data: t.TempDir(), Seed: seed})
		b, err := os.ReadFile(filepath.Join(out.Dir, "summary.csv"))
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	a, b, c := csv(1), csv(1), csv(2)
	if a != b {
		t.Error("the same seed gives different numbers")
	}
	if a == c {
		t.Error("different seeds give the same numbers")
	}
}

// What only the sources' own scripts do is a parameter, and reaches the runs.
func TestParametersOfTheSources(t *testing.T) {
	set, err := datasets.Standin(datasets.Crime, 1)
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string][2]bool{`{}`: {}, `{"doubled_noise": true}`: {true, false},
		`{"unclipped_public": true}`: {false, true}} {
		var p trainingParameters
		if err := json.Unmarshal([]byte(text), &p); err != nil {
			t.Fatal(err)
		}
		c := p.config(set, training{Method: shuffled.Interleaved})
		if c.DoubledNoise != want[0] || c.UnclippedPublic != want[1] {
			t.Errorf("%s: doubled noise %t, public gradients unclipped %t", text, c.DoubledNoise,
				c.UnclippedPublic)
		}
	}
}
