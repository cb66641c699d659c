package model

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/learn/data"
	"github.com/darrm/darrm/learn/loss"
	"github.com/darrm/darrm/learn/prepare"
)

// A document is read as the model that it makes, number by number, of every task and link.
func TestDocuments(t *testing.T) {
	tasks := []string{"rank", "metric", "network:1", "network:3"}
	for _, name := range loss.Names() {
		name = strings.NewReplacer("τ", "0.3", ":e", ":0.25").Replace(name)
		tasks = append(tasks, name)
	}
	number := rapid.OneOf(rapid.Float64Range(-math.MaxFloat64, math.MaxFloat64),
		rapid.SampledFrom([]float64{0, 1, -0.1, 5e-324, 1e22}))
	rapid.Check(t, func(rt *rapid.T) {
		task, d := rapid.SampledFrom(tasks).Draw(rt, "task"), rapid.IntRange(1, 4).Draw(rt, "d")
		doc, width := Document{Task: task, Intercept: rapid.Bool().Draw(rt, "intercept")}, d
		if doc.Intercept && task != "metric" {
			width++
		}
		var hidden int
		switch {
		case task == "rank":
			doc.Task, doc.Link = rapid.SampledFrom(loss.PairNames()).Draw(rt, "pair"), LinkRank
		case task == "metric":
			doc.Task, doc.Link, doc.Intercept, width = "logistic", LinkMetric, false, d*d
		default:
			if _, err := fmt.Sscanf(task, "network:%d", &hidden); err == nil {
				width = hidden*(width+2) + 1
			}
		}
		weights := rapid.SliceOfN(number, width, width).Draw(rt, "weights")
		if task == "metric" { // of a matrix that is symmetric and positive semidefinite
			clear(weights)
			for i := range d {
				weights[i*d+i] = rapid.Float64Range(0, 9).Draw(rt, "diagonal")
			}
		}
		if doc.Model = weights; rapid.Bool().Draw(rt, "simulated") {
			doc.Model, doc.Simulated = nil, weights
		}
		if rapid.Bool().Draw(rt, "named") {
			doc.Columns, doc.Response = rapid.SliceOfN(rapid.String(), d, d).Draw(rt, "columns"),
				rapid.String().Draw(rt, "response")
		}
		if rapid.Bool().Draw(rt, "shortened") {
			doc.Radius = rapid.Float64Range(1e-9, 1e9).Draw(rt, "radius")
			doc.Norm = NormName(rapid.SampledFrom([]float64{1, 1.5, 2, 3, math.Inf(1)}).Draw(rt, "norm"))
		}
		if rapid.Bool().Draw(rt, "held out") {
			doc.HoldOut = &prepare.HoldOut{Share: 0.25, ByContent: rapid.Bool().Draw(rt, "by content")}
		}
		if rapid.Bool().Draw(rt, "prepared") {
			p := &prepare.Map{Response: &prepare.Response{Column: prepare.Column{Name: "y",
				Scale: &prepare.Range{0, 1}}}}
			for j := range d {
				p.Features = append(p.Features, prepare.Column{Name: fmt.Sprint("c", j),
					Scale: &prepare.Range{-1, 9.5}})
			}
			doc.Preparation, doc.Columns, doc.Response = p, p.Names(), "y"
		}
		m, err := New(doc)
		if err != nil {
			rt.Fatal(err)
		}
		file := must.Get(json.Marshal(doc))(rt)
		if again, err := Read(bytes.NewReader(file)); err != nil || !reflect.DeepEqual(m, again) {
			rt.Fatalf("made %+v, read %+v, %v: %s", m, again, err, file)
		}
	})
}

// Files whose rules contradict the model or each other are refused.
func TestRulesOfAModel(t *testing.T) {
	const begin = `{"task": "ridge", "columns": ["a"], "model": [1], `
	for in, want := range map[string]string{
		`"radius": -1}`:                      "radius = -1",
		`"radius": 1, "radius_norm": "0.5"}`: `radius_norm = "0.5"`,
		`"radius": 1, "radius_norm": "x"}`:   `radius_norm = "x"`,
		`"hold_out": {"share": 1}}`:          "hold-out = 1",
		`"preparation": {"features": [{"name": "b"}]}}`: "preparation: its features are not the model's " +
			"columns",
		`"preparation": {"features": [{"name": "a", "scale": [2, 1]}]}}`: `preparation: column "a": scale`,
		`"preparation": {"features": [{"name": "a", "scale": [1]}]}}`:    "two numbers",
	} {
		if _, err := Read(strings.NewReader(begin + in)); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", in, err)
		}
	}
}

// Records are shortened as in training, predictions and errors are in the units of the response.
func TestScoresOfShortenedRecords(t *testing.T) {
	m, err := Read(strings.NewReader(`{"task": "ridge", "columns": ["a", "b"], "response": "y",
		"intercept": true, "model": [0.5, -0.25, 0.125], "radius": 5, "preparation": {"features":
		[{"name": "a"}, {"name": "b"}], "response": {"name": "y", "scale": [100, 300]}}}`))
	if err != nil {
		t.Fatal(err)
	}
	score := func(a ...float64) float64 {
		z, err := m.Score(a)
		if err != nil {
			t.Fatal(err)
		}
		return z
	}
	near := func(a, b float64) bool { return math.Abs(a-b) < 1e-9 }
	if z := score(3, 4); !near(z, 0.625) {
		t.Errorf("score %v of a record of length 5", z)
	}
	if z := score(6, 8); !near(z, 0.625) || !near(m.Predict(z), 262.5) {
		t.Errorf("score %v, prediction %v of a record of length 10", z, m.Predict(z))
	}
	m.Norm = math.Inf(1)
	if z := score(10, 5); !near(z, 5*0.5-2.5*0.25+0.125) {
		t.Errorf("score %v of a record whose largest feature is 10", z)
	}
	m.Norm = 2
	r, err := data.NewRecords(2, 2, []float64{6, 8, 3, 4}, []float64{0.5, 0.75})
	if err != nil {
		t.Fatal(err)
	}
	if e, err := m.Evaluate(r); err != nil || !near(*e.RMSE, 12.5) || !near(*e.Loss, 0.015625) {
		t.Errorf("%+v, %v", e, err)
	}
}
