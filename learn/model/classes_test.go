package model

import (
	"bytes"
	"encoding/json"
	"math"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/learn/data"
	"github.com/darrm/darrm/learn/prepare"
)

// A model of several classes is a model of two for each: its scores are theirs, its class has the
// highest, its probabilities are theirs in proportion, and what is written is read.
func TestSeveralClassesAreModelsOfTwo(t *testing.T) {
	words := []string{"oak", "fir", "elm", "yew"}
	rapid.Check(t, func(t *rapid.T) {
		count, d := rapid.IntRange(3, 4).Draw(t, "classes"), rapid.IntRange(1, 3).Draw(t, "d")
		number := rapid.Float64Range(-3, 3)
		doc := Document{Task: rapid.SampledFrom([]string{"logistic", "hinge"}).Draw(t, "task"),
			Intercept: rapid.Bool().Draw(t, "intercept"), Classes: words[:count],
			Radius: rapid.SampledFrom([]float64{0, 1}).Draw(t, "radius")}
		each := d
		if doc.Intercept {
			each++
		}
		doc.Model = rapid.SliceOfN(number, count*each, count*each).Draw(t, "weights")
		m, err := New(doc)
		if err != nil {
			t.Fatal(err)
		}
		if m.Dim() != d {
			t.Fatalf("dimension %d, want %d", m.Dim(), d)
		}
		a := rapid.SliceOfN(number, d, d).Draw(t, "a")
		scores, err := m.Scores(a)
		if err != nil {
			t.Fatal(err)
		}
		sum, best := 0.0, 0
		for k := range count {
			one := doc
			one.Classes, one.Model = nil, append([]float64{}, doc.Model[k*each:(k+1)*each]...)
			z, err := must.Get(New(one))(t).Score(a)
			if err != nil || z != scores[k] {
				t.Fatalf("class %d: score %v, want %v (%v)", k, scores[k], z, err)
			}
			sum += Probability(z)
			if z > scores[best] {
				best = k
			}
		}
		if class, err := m.Class(a); err != nil || class != best {
			t.Fatalf("class %d, want %d (%v)", class, best, err)
		}
		for k, p := range LinkLogit.Probabilities(scores) {
			if math.Abs(p-Probability(scores[k])/sum) > 1e-15 {
				t.Fatalf("probability %v of class %d", p, k)
			}
		}
		if _, err := m.Score(a); err == nil {
			t.Fatal("several classes have one score")
		}
		file := must.Get(json.Marshal(doc))(t)
		if again := must.Get(Read(bytes.NewReader(file)))(t); !reflect.DeepEqual(again, m) {
			t.Fatalf("read %+v, written %+v", again, m)
		}
	})
}

// The accuracy is the share of records whose class is predicted; a response that is no class is
// refused.
func TestEvaluationOfSeveralClasses(t *testing.T) {
	m := must.Get(New(Document{Task: "logistic", Classes: []string{"a", "b", "c"},
		Model: []float64{1, 0, 0, 1, -1, -1}}))(t)
	x := []float64{2, 0, 0, 2, -1, -1, 1, 0}
	r := must.Get(data.NewRecords(4, 2, x, []float64{0, 1, 2, 2}))(t)
	e := must.Get(m.Evaluate(r))(t)
	if e.Records != 4 || *e.Accuracy != 0.75 || e.AUC != nil || e.Loss != nil || e.RMSE != nil {
		t.Errorf("%+v", e)
	}
	if _, err := m.Evaluate(must.Get(data.NewRecords(1, 2, x[:2], []float64{3}))(t)); err == nil {
		t.Error("class 3 of three was taken")
	}
	// Parts of one's own making may have other features than the first.
	m.Parts[1] = must.Get(New(Document{Task: "logistic", Model: []float64{1, 2, 3}}))(t)
	if e, err := m.Evaluate(r); err == nil {
		t.Errorf("parts of two and three features: %+v", e)
	}
}

// Documents that are no model of several classes are refused.
func TestClassesRefused(t *testing.T) {
	good := Document{Task: "logistic", Classes: []string{"a", "b", "c"}, Model: make([]float64, 6)}
	for name, change := range map[string]func(d *Document){
		"two classes":       func(d *Document) { d.Classes = d.Classes[:2] },
		"one twice":         func(d *Document) { d.Classes = []string{"a", "b", "a"} },
		"a weight too few":  func(d *Document) { d.Model = d.Model[:5] },
		"a task of numbers": func(d *Document) { d.Task = "absolute" },
		"a ranking":         func(d *Document) { d.Link = LinkRank },
		"a distance":        func(d *Document) { d.Link = LinkMetric },
		"a network":         func(d *Document) { d.Task = "network:1" },
		"other columns":     func(d *Document) { d.Columns = []string{"x"} },
		"other words": func(d *Document) {
			d.Columns = []string{"x", "y"}
			d.Preparation = &prepare.Map{Features: []prepare.Column{{Name: "x"}, {Name: "y"}},
				Response: &prepare.Response{Column: prepare.Column{Name: "z",
					Categories: []string{"a", "b", "d"}}}}
		},
	} {
		d := good
		change(&d)
		if _, err := New(d); err == nil {
			t.Errorf("%s: taken", name)
		}
	}
	if _, err := New(good); err != nil {
		t.Error(err)
	}
}
