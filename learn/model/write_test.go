package model

import (
	"bytes"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/darrm/darrm/learn/loss"
)

// What Write writes Read reads: the same model, number by number, of every task and link.
func TestWriteAndRead(t *testing.T) {
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
		m, err := New(doc)
		if err != nil {
			rt.Fatal(err)
		}
		var file bytes.Buffer
		if err := m.Write(&file); err != nil {
			rt.Fatal(err)
		}
		again, err := Read(bytes.NewReader(file.Bytes()))
		if err != nil {
			rt.Fatalf("%v: %s", err, file.Bytes())
		}
		if !reflect.DeepEqual(m, again) {
			rt.Fatalf("wrote %+v, read %+v: %s", m, again, file.Bytes())
		}
	})
}

// What Read would refuse is not written, and a number that JSON does not have neither.
func TestWriteRefuses(t *testing.T) {
	ridge := loss.LeastSquares{}
	for want, m := range map[string]Model{
		"no \"model\"":     {Task: ridge, Link: LinkIdentity},
		"link = \"logit\"": {Task: ridge, Link: LinkLogit, Weights: []float64{1}},
		"names 2 columns": {Task: ridge, Link: LinkIdentity, Weights: []float64{1},
			Columns: []string{"a", "b"}},
		"task = \"\"":       {Weights: []float64{1}},
		"unsupported value": {Task: ridge, Link: LinkIdentity, Weights: []float64{math.NaN()}},
		"unsupported value: ": {Task: ridge, Link: LinkIdentity, Weights: []float64{1},
			Intercept: math.Inf(1)},
	} {
		var file bytes.Buffer
		if err := m.Write(&file); err == nil || !strings.Contains(err.Error(), want) || file.Len() > 0 {
			t.Errorf("%q: %v, %d bytes", want, err, file.Len())
		}
	}
	// Writing does not change what a library user made.
	weights := make([]float64, 1, 2)
	var file bytes.Buffer
	if err := (&Model{Task: ridge, Link: LinkIdentity, Weights: weights, Intercept: 3}).Write(
		&file); err != nil || weights[:2][1] != 0 {
		t.Errorf("%v, %v", err, weights[:2])
	}
}
