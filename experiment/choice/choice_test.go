package choice

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/darrm/darrm/experiment"
	"github.com/darrm/darrm/internal/testing/experimenttest"
	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/learn/data"
	"github.com/darrm/darrm/learn/prepare"
)

var catalog = experiment.New(Field())

func TestRefusals(t *testing.T) {
	text := must.Get(catalog.Source("choice-study"))(t)
	experimenttest.Refuses(t, catalog, string(text), map[string][2]string{
		`"ratios": [10, 30`:             {`"ratios": [0, 30`, "ratios"},
		`"eps": [0.25, 8]`:              {`"eps": [9, 8]`, "eps"},
		`"least_records": 30`:           {`"least_records": 1`, "least_records"},
		`"most_records": 4000`:          {`"most_records": 4`, "most_records"},
		`"most_test": 2000`:             {`"most_test": 0`, "most_test"},
		`"seeds": 9`:                    {`"seeds": 2`, "seeds"},
		`"choosing": 4`:                 {`"choosing": 8`, "choosing"},
		`"judges": false`:               {`"judges": false, "tables": ["digits"]`, "tables"},
		`"classes": 12`:                 {`"classes": 1`, "classes"},
		`"law": "skewed", "relevant"`:   {`"law": "odd", "relevant"`, "law"},
		`"mean": 0.01`:                  {`"mean": 0`, "mean"},
		`"strength": 2, "shift": -2`:    {`"strength": 2, "shift": -2e9`, "shift"},
		`"features": 300, "classes": 2`: {`"features": 3000, "classes": 2`, "features"},
	})
}

// At least 24 tables make the rule and eight others judge it; each has a source, hashes and rules of its columns.
func TestTables(t *testing.T) {
	list := must.Get(tables())(t)
	judges, names := 0, map[string]bool{}
	for _, x := range list {
		if x.Judge {
			judges++
		}
		if names[x.Name] || x.Source == "" || len(x.Files) == 0 || len(x.Columns) == 0 || (x.Range == nil) == (x.Classes == nil) {
			t.Errorf("table %+v", x)
		}
		names[x.Name] = true
		for file, hash := range x.Files {
			if !filepath.IsLocal(file) || len(hash) != 64 {
				t.Errorf("%s: %s %s", x.Name, file, hash)
			}
		}
	}
	own := study(t)
	if n := len(list) - judges + len(own.MadeUp); n < 24 || judges != 8 {
		t.Errorf("%d tables make the rule, %d judge", n, judges)
	}
}

// A file is read by its rules, and another one than was stated is refused.
func TestRead(t *testing.T) {
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "a.csv"), []byte("x,w,y\n1,u,no\n3,,yes\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	x := must.Get(tables())(t)[0]
	x.Files = map[string]string{"a.csv": "ef4db7e6cdc59e9f33c9fe3ea6b4a37a3f16d4b8a4cf5fd4ec7ac4fa2e4a7d45"}
	if _, err := x.read(t.Context(), folder, ""); err == nil || !strings.Contains(err.Error(), "SHA-256") {
		t.Error(err)
	}
	x.Files = map[string]string{"b.csv": ""}
	if _, err := x.read(t.Context(), folder, ""); err == nil || !strings.Contains(err.Error(), x.Source) {
		t.Error(err)
	}
}

// Cells keep n·ε/d where there are records enough, and leave it out where there are not.
func TestCells(t *testing.T) {
	p := &parameters{Ratios: []float64{10, 100, 1000}, Epsilon: [2]float64{0.25, 8}, Least: 30, Most: 4000}
	got := p.cells(10_000, 20)
	if want := []cell{{10, 800, 0.25}, {100, 4000, 0.5}, {1000, 4000, 5}}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if got := p.cells(100, 20); !slices.Equal(got, []cell{{10, 100, 2}}) {
		t.Errorf("%v", got)
	}
}

// Made-up tables are of their kind: as many records, responses of all classes, and a law of their features.
func TestMadeUp(t *testing.T) {
	for _, m := range study(t).MadeUp {
		r := must.Get(m.records(3, prepare.Zero))(t)
		seen, zeros := map[float64]bool{}, 0
		for i := range r.all.Len() {
			seen[r.all.Response(i)] = true
			for _, v := range r.all.Row(i) {
				if v == 0 {
					zeros++
				}
				if !(math.Abs(v) <= 1) {
					t.Fatalf("%s: a feature is %v", m.Name, v)
				}
			}
		}
		share := float64(zeros) / float64(m.Records*m.Features)
		if r.all.Len() != m.Records || m.Classes > 0 && len(seen) != m.Classes || (share > 0.9) != (m.Law == sparse) {
			t.Errorf("%s: %d records, %d responses, %.2f are 0", m.Name, r.all.Len(), len(seen), share)
		}
	}
}

// Scores are those of the definition, by hand.
func TestScore(t *testing.T) {
	r := must.Get(data.NewRecords(4, 1, []float64{-1, -0.5, 0.5, 1}, []float64{0, 1, 0, 1}))(t)
	if got := must.Get(score([]float64{1}, r, 2))(t); got != 0.75 {
		t.Errorf("AUC %v, want 0.75", got)
	}
	if got := must.Get(score([]float64{-1, 1, 0}, r, 3))(t); got != 0.5 {
		t.Errorf("accuracy %v, want 0.5", got)
	}
	numbers := must.Get(data.NewRecords(4, 1, []float64{-1, -0.5, 0.5, 1}, []float64{-1, -1, 1, 1}))(t)
	if got := must.Get(score([]float64{1}, numbers, 0))(t); math.Abs(got-0.875) > 1e-12 {
		t.Errorf("R² %v, want 0.875", got)
	}
	if got := must.Get(score([]float64{-1}, numbers, 0))(t); got != 0 {
		t.Errorf("R² %v, want 0", got)
	}
}

// The best method of a cell is chosen by the first seeds alone, and others say what the rule is behind it.
func TestRegret(t *testing.T) {
	p := &parameters{Seeds: 4, Choosing: 2, Claims: claims{Mean: 0.01, Share: 0.95, Within: 0.03}}
	o := outcome{Cells: []cell{{10, 100, 1}}, Dim: 3, Takes: []string{"dp-sgd"}, Scores: map[string][][]float64{
		rule: {{0.5, 0.5, 0.8, 0.9}}, "dp-sgd": {{0.5, 0.5, 0.8, 0.9}}, "sufficient-statistics": {{0.9, 0.9, 0.9, 0.9}},
		"objective-perturbation": {{0.1, 0.1, 1, 1}}, "output-perturbation": {nil}, "phased-sgd": {nil}}}
	all := p.judge([]subject{{name: "a", classes: 2}}, []outcome{o})
	if len(all) != 1 || all[0].best != "sufficient-statistics" || math.Abs(all[0].regret[rule]-0.05) > 1e-12 ||
		math.Abs(all[0].errors[rule]-0.05) > 1e-12 {
		t.Errorf("%+v", all)
	}
	s := p.summarise(all, rule, func(judged) bool { return true })
	if s.cells != 1 || s.within != 0 || math.Abs(s.worst-0.05) > 1e-12 {
		t.Errorf("%+v", s)
	}
	if s := p.summarise(all, "phased-sgd", func(judged) bool { return true }); s.cells != 0 {
		t.Errorf("a method that is not for the task has %d cells", s.cells)
	}
}

// A small study of one made-up table runs, twice to the same figures, and takes the rule's method.
func TestSmallStudy(t *testing.T) {
	text := `{"format_version": 1, "name": "small", "kind": "choice", "title": "small", "source": "none", "about": "small",
		"parameters": {"judges": false, "tables": [], "ratios": [30, 300], "eps": [0.5, 8], "least_records": 30, "most_records": 400,
		"most_test": 100, "seeds": 4, "choosing": 2, "made_up": [{"name": "made-even", "title": "made up", "records": 600, "features": 3,
		"classes": 2, "law": "even", "relevant": 3, "strength": 3, "shift": 0}], "claims": {"mean": 1, "share": 0.01, "within": 1}}}`
	d := experimenttest.Parse(t, catalog, text)
	var tables [2]experiment.Table
	for k := range tables {
		out := experimenttest.Run(t, d, t.TempDir(), experiment.Options{})
		tables[k] = experimenttest.Table(t, out.Result, "cells")
		if failed := out.Result.Failed(); len(failed) > 0 {
			t.Errorf("%+v", failed)
		}
	}
	if len(tables[0].Rows) != 2 {
		t.Fatalf("%d cells", len(tables[0].Rows))
	}
	for i, row := range tables[0].Rows {
		for j, v := range row {
			if v != tables[1].Rows[i][j] {
				t.Errorf("cell %d differs between two runs: %v, %v", i, v, tables[1].Rows[i][j])
			}
		}
	}
	if v := experimenttest.Value(t, tables[0], "dp-sgd", map[string]any{"ratio": 300.}).(float64); v < 0.8 {
		t.Errorf("AUC %v", v)
	}
}

// study is the parameters of choice-study.
func study(t *testing.T) *parameters {
	t.Helper()
	var file struct{ Parameters parameters }
	if err := json.Unmarshal(must.Get(catalog.Source("choice-study"))(t), &file); err != nil {
		t.Fatal(err)
	}
	return &file.Parameters
}
