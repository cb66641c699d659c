package experiment_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/darrm/darrm/experiment"
	"github.com/darrm/darrm/internal/testing/experimenttest"
)

func TestList(t *testing.T) {
	var names []string
	for _, d := range catalog.List() {
		names = append(names, d.Name)
		if d.Title == "" || d.Source == "" || d.About == "" {
			t.Errorf("%s has no title, source or text", d.Name)
		}
		if d.Form(false).Validate() != nil {
			t.Errorf("%s is not valid", d.Name)
		}
	}
	order := []string{
		"figure-3.2", "figure-b.4", "figure-b.5", "figure-b.6", "figure-b.7", "figure-b.8", "accounting",
		"crime", "compas", "credit-card", "mnist-69", "cifar-10", "pipeline",
		"figure-2.2", "figure-2.3", "figure-2.4", "figure-a.1", "figure-a.2", "figure-a.3", "figure-a.4",
		"figure-a.5", "figure-a.6", "figure-a.7", "figure-a.8", "mean-bits",
		"convex-robust", "convex-sparse", "convex-gap-l1", "convex-gap-l2", "convex-phase", "convex-phase-lp",
		"convex-dimension", "convex-field", "convex-credit",
		"federated-california", "federated-belts", "federated-local-steps", "federated-price",
		"auc-diabetes", "auc-german", "auc-letter", "auc-ijcnn1", "auc-usps", "auc-mnist", "auc-passes",
		"auc-private-diabetes", "auc-private-german", "auc-private-size", "auc-private-size-german",
		"auc-utility", "auc-dpegd", "many-classes", "many-answers",
		"mnist", "fashion-mnist", "figure-2.4-real", "convex-credit-real",
		"auc-diabetes-real", "auc-german-real", "auc-letter-real", "auc-private-diabetes-real",
		"auc-private-german-real", "auc-private-size-real", "auc-private-size-german-real",
		"students", "choice-study", "choice-judge",
	}
	if !slices.Equal(names, order) {
		t.Errorf("listed %v, want those that need data last: %v", names, order)
	}
}

// A user takes a built-in file and changes one number.
func TestLoadAChangedFile(t *testing.T) {
	text, err := catalog.Source("figure-3.2")
	if err != nil {
		t.Fatal(err)
	}
	changed := strings.Replace(string(text), `"teachers": 11`, `"teachers": 13`, 1)
	path := filepath.Join(t.TempDir(), "mine.json")
	if err := os.WriteFile(path, []byte(changed), 0o666); err != nil {
		t.Fatal(err)
	}
	d := experimenttest.Load(t, catalog, path)
	if p := parameters(t, d, false); p["teachers"] != 13. || len(p["allowances"].([]any)) != 4 {
		t.Errorf("%+v", p)
	}
	if _, err := catalog.Load("figure-9"); err == nil ||
		!strings.Contains(err.Error(), "figure-3.2, figure-b.4") {
		t.Errorf("unknown name: %v", err)
	}
	if _, err := catalog.Load(filepath.Join(t.TempDir(), "none.json")); !os.IsNotExist(err) {
		t.Errorf("missing file: %v", err)
	}
}

// The quick form is the full one with some parameters replaced.
func TestQuickLayersOverFull(t *testing.T) {
	d := experimenttest.Load(t, catalog, "figure-b.6")
	full, quick := parameters(t, d, false), parameters(t, d, true)
	if full["teachers"] != 101. || len(full["allowances"].([]any)) != 6 {
		t.Errorf("full: %+v", full)
	}
	if quick["teachers"] != 21. || len(quick["allowances"].([]any)) != 3 ||
		!reflect.DeepEqual(quick["methods"], full["methods"]) {
		t.Errorf("quick: %+v", quick)
	}
}

// parameters returns those of a form as JSON has them.
func parameters(t *testing.T, d experiment.Definition, quick bool) (fields map[string]any) {
	t.Helper()
	text, err := json.Marshal(d.Form(quick))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &fields); err != nil {
		t.Fatal(err)
	}
	return fields
}

func TestParseRefuses(t *testing.T) {
	text := func(name string) string { return string(source(t, name)) }
	tests := []struct{ file, old, new, want string }{
		{"figure-3.2", `"format_version": 1`, `"format_version": 2`, "format_version = 2"},
		{"figure-3.2", `"name": "figure-3.2"`, `"name": "../x"`, "name"},
		{"figure-3.2", `"name": "figure-3.2"`, `"name": "x-quick"`, "name"},
		{"figure-3.2", `"kind": "gamma"`, `"kind": "delta"`, "kind"},
		{"figure-3.2", `"teachers": 11`, `"teacher": 11`, "unknown field"},
		{"figure-3.2", `"teachers": 11`, `"Teachers": 11`, "Teachers"},
		{"figure-3.2", `"teachers": 11`, `"teachers": 11, "teachers": 13`, "twice"},
		{"figure-3.2", `"title": "`, `"title": "\ud800`, "surrogate"},
		{"figure-3.2", `"teachers": 11`, `"teachers": ` + strings.Repeat("[", 20) + strings.Repeat("]", 20),
			"16 levels"},
		{"figure-3.2", `"title": "`, `"title": "` + strings.Repeat("a", 1<<20), "1048576 bytes"},
		{"figure-3.2", `"teachers": 11`, `"teachers": 0`, "number of teachers"},
		{"figure-3.2", `"teachers": 11`, `"teachers": 11.5`, "teachers"},
		{"figure-3.2", `"epsilon": 0.1`, `"epsilon": -1`, "epsilon"},
		{"figure-3.2", `[1, 3, 5, 7]`, `[1, 3, 3]`, "twice"},
		{"figure-3.2", `[1, 3, 5, 7]`, `[]`, "exactly one"},
		{"figure-3.2", `[1, 3, 5, 7]`, `[0]`, "allowance"},
		{"figure-3.2", `"prior_mean": 0.75`, `"prior_mean": 0.5`, "prior mean"},
		{"figure-3.2", `"opt", "sub"`, `"sub"`, `"opt"`},
		{"figure-3.2", `"opt", "sub"`, `"opt", "gnmax"`, "gnmax"},
		{"figure-b.4", `[10, 13, 15, 20]`, `[10, 13, 15, 36]`, "subsamples"},
		{"figure-b.4", `[10, 13, 15, 20]`, `[10, 13, 15]`, "printed"},
		{"figure-b.5", `"quick": {`, `"quick": {"x": 1, `, "quick: "},
		{"figure-b.5", `"quick": {"allowances": [1, 3, 7], "written": false}`, `"quick": null`,
			"quick: "},
		{"figure-b.7", `"high": 0.1`, `"high": 1.1`, "high"},
		{"figure-b.7", `"low": 0.5`, `"low": 0.6`, "low"},
		{"figure-b.7", `"claims": [`,
			`"claims": [{"m": 2, "actual": "p = 0.5", "measure": "error", "better": ["opt"], "worse": ["sub"]},`, "m of a claim"},
		{"figure-b.7", `"actual": "p = 0.5", "measure"`, `"actual": "p = 0.6", "measure"`,
			"actual of a claim"},
		{"figure-b.7", `"measure": "error"`, `"measure": "loss"`, "measure"},
		{"figure-b.7", `"better": ["opt"], "worse": ["opt_clear"]`, `"better": ["opt"], "worse": ["opt"]`,
			"twice"},
		{"figure-b.7", `"better": ["opt"], "worse": ["opt_clear"]`,
			`"better": [], "worse": ["opt_clear"]`, "better and worse"},
		{"figure-b.7", `"better": ["opt"], "worse": ["opt_clear"]`,
			`"better": ["opt"], "worse": ["dsub"]`, "dsub"},
		{"crime", `"epochs": 50`, `"epochs": 50, "widen": true`, "widen"},
		{"figure-b.8", `"order_step": 0.5`, `"order_step": 0`, "order_step"},
		{"figure-b.8", `"max_order": 500`, `"max_order": 20`, "max_order"},
		{"accounting", `"slack": 0.0001`, `"slack": 0`, "slack"},
		{"accounting", `"queries": [20, 50, 100]`, `"queries": [20]`, "printed"},
		{"mnist", `"data": "mnist"`, `"data": "../mnist"`, "data"},
		{"mnist", `"classes": [5, 8]`, `"classes": [5, 5]`, "classes"},
		{"mnist", `"teachers": 11`, `"teachers": 10`, "odd"},
		{"mnist", `"clip": 1`, `"clip": 0`, "private"},
		{"mnist", `"sampling_rate": 0.04`, `"sampling_rate": 1.04`, "sampling_rate"},
		{"mnist", `"draws": 10`, `"draws": 1`, "draws"},
		{"mnist", `"allowances": [1, 3, 5, 7]`, `"allowances": [1, 12]`, "allowances"},
		{"mnist", `"within": [{"m": 1, `, `"within": [{"m": 2, `, "m of within"},
		{"mnist", `"within": [{"m": 1, "accuracy": 0.12}`, `"within": [{"m": 1, "accuracy": 0}`,
			"accuracy of within"},
		{"crime", `"data": "crime"`, `"data": "../crime"`, "data"},
		{"crime", `"interleaved", "priv-pub"`, `"interleaved", "priv-pub2"`, "methods"},
		{"crime", `"interleaved", "priv-pub"`, `"interleaved", "interleaved", "priv-pub"`, "twice"},
		{"crime", `"order": "RR", "fractions": [0.25`, `"order": "rr", "fractions": [0.25`, "order"},
		{"crime", `"order": "SO"`, `"order": "RR"`, "RR twice"},
		{"crime", `[0.25, 0.5, 0.75]`, `[0.25, 1]`, "fractions"},
		{"crime", `[0.25, 0.5, 0.75]`, `[]`, "fractions"},
		{"crime", `"epsilons": [1, 5]`, `"epsilons": [1, 0]`, "epsilons"},
		{"crime", `"epsilons": [1, 5]`, `"epsilons": [1, 4]`, "epsilon of a claim"},
		{"crime", `"delta": 1e-6`, `"delta": 0`, "delta"},
		{"crime", `"epochs": 50`, `"epochs": 1`, "epochs"},
		{"crime", `"clip": 10`, `"clip": 0`, "clip"},
		{"crime", `"repeats": 10`, `"repeats": 1`, "repeats"},
		{"crime", `"factor": 1.5`, `"factor": 0.5`, "factor"},
		{"crime", `"bounds": ["dp-shuffle-g"`, `"bounds": ["shuffle-g"`, "bounds"},
		{"crime", `"better": ["interleaved"]`, `"better": ["public-only"]`, "twice"},
		{"mnist-69", `"step_sizes": [`, `"step_sizes": [-1, `, "step_sizes"},
		{"pipeline", `"data": "compas"`, `"data": "crime"`, "data"},
		{"pipeline", `"teachers": 11`, `"teachers": 12`, "odd"},
		{"pipeline", `"dp-shuffle-g", "interleaved"`, `"shuffle-g"`, "trainers"},
		{"pipeline", `"m": 3`, `"m": 12`, "m = 12"},
		{"pipeline", `"fraction": 0.5`, `"fraction": 1`, "fraction"},
		{"pipeline", `"radius": 5`, `"radius": 0`, "radius"},
		{"pipeline", `[0.5, 1, 2, 5, 10, 20]`, `[0.5, 1, 701]`, "epsilons"},
		{"pipeline", `"queries": 420`, `"queries": 0`, "queries"},
		{"pipeline", `"repeats": 10`, `"repeats": 1`, "repeats"},
	}
	for _, tt := range tests {
		whole := text(tt.file)
		if !strings.Contains(whole, tt.old) {
			t.Errorf("%s does not contain %s", tt.file, tt.old)
			continue
		}
		_, err := catalog.Parse([]byte(strings.Replace(whole, tt.old, tt.new, 1)))
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s with %s: %v; want an error with %q", tt.file, tt.new, err, tt.want)
		}
	}
	for _, bad := range []string{"", "{", "null", "[]", text("accounting") + "x",
		text("accounting") + "{}"} {
		if _, err := catalog.Parse([]byte(bad)); err == nil {
			t.Errorf("%.20q is accepted", bad)
		}
	}
}

// FuzzParse: no panic, and whatever is accepted is valid in every form.
func FuzzParse(f *testing.F) {
	for _, d := range catalog.List() {
		f.Add(source(f, d.Name))
	}
	f.Add([]byte(`{"a":{"b":[{"c":1}]},"a":2}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		d, err := catalog.Parse(data)
		if err != nil {
			return
		}
		full, quick := d.Form(false), d.Form(true)
		if !experiment.FitName(d.Name) || full.Validate() != nil || full.Steps() < 1 || quick != nil &&
			quick.Validate() != nil {
			t.Errorf("accepted: %+v", d)
		}
	})
}
