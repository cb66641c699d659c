package model

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/learn/data"
	"github.com/darrm/darrm/learn/loss"
)

func read(t *testing.T, text string) *Model {
	t.Helper()
	return must.Get(Read(strings.NewReader(text)))(t)
}

func TestRead(t *testing.T) {
	m := read(t, `{"task":"logistic","link":"logit","columns":["a","b"],"response":"y","intercept":true,"model":[1,-2,0.5]}`)
	if m.Simulated || m.Intercept != 0.5 || len(m.Weights) != 2 || m.score([]float64{3, 1}) != 1.5 ||
		m.Response != "y" {
		t.Errorf("%+v", m)
	}
	m = read(t, `{"task":"ridge","simulated_model":[1,2]}`)
	if !m.Simulated || m.Link != LinkIdentity || m.Columns != nil {
		t.Errorf("%+v", m)
	}
	for text, want := range map[string]string{
		`{`:                                "not a model",
		`{"task":"ridge"}`:                 "dry run",
		`{"task":"ridge","model":[]}`:      "dry run",
		`{"task":"ridge","model":[1e999]}`: "not a model",
		`{"task":"cat","model":[1]}`:       "task = \"cat\"",
		`{"task":"ridge","link":"logit","model":[1]}`:                   "link = \"logit\"",
		`{"task":"ridge","columns":["a"],"model":[1,2]}`:                "names 1 columns",
		`{"task":"ridge","columns":["a"],"intercept":true,"model":[1]}`: "names 1 columns and has weights for 0",
		`{"task":"ridge","model":[1,null]}`:                             "weight 1 = null, but it must be a finite number",
	} {
		if _, err := Read(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// A network's score and loss are its formula, written out, with an intercept and without one.
func TestNetwork(t *testing.T) {
	s := func(z float64) float64 { return math.Log(1 + math.Exp(z)) }
	m := read(t, `{"task":"network:2","link":"identity","columns":["a","b"],"response":"y","model":[1,-2, 0.5,3, 0.1,0.2, 4,-5, 0.7]}`)
	formula := func(a, b float64) float64 { return 0.7 + 4*s(a-2*b+0.1) - 5*s(0.5*a+3*b+0.2) }
	if got := m.score([]float64{0.3, -0.4}); m.Dim() != 2 || m.Link != LinkIdentity ||
		math.Abs(got-formula(0.3, -0.4)) > 1e-14 {
		t.Errorf("%d features, score %v, want %v", m.Dim(), got, formula(0.3, -0.4))
	}
	// The second column of W is the constant feature's.
	c := read(t, `{"task":"network:2","intercept":true,"columns":["a"],"model":[1,-2, 0.5,3, 0.1,0.2, 4,-5, 0.7]}`)
	if got := c.score([]float64{0.3}); c.Dim() != 1 || math.Abs(got-formula(0.3, 1)) > 1e-14 {
		t.Errorf("with a constant: %d features, score %v, want %v", c.Dim(), got, formula(0.3, 1))
	}
	r, err := data.NewRecords(2, 1, []float64{0.3, -1}, []float64{2, 0})
	if err != nil {
		t.Fatal(err)
	}
	e, err := c.Evaluate(r)
	want := (math.Pow(formula(0.3, 1)-2, 2) + math.Pow(formula(-1, 1), 2)) / 2
	if err != nil || math.Abs(*e.Loss-want) > 1e-12*want ||
		math.Abs(*e.RMSE-math.Sqrt(want)) > 1e-12 || e.AUC != nil {
		t.Errorf("evaluated: %+v, %v, want a loss of %v", e, err, want)
	}
	if _, err := m.Evaluate(r); err == nil {
		t.Error("records of one feature for a network of two")
	}
	for _, text := range []string{
		`{"task":"network:2","model":[1,2,3,4,5,6,7,8]}`, `{"task":"network:2","model":[1,2,3,4,5]}`,
		`{"task":"network:0","model":[1]}`, `{"task":"network:x","model":[1]}`,
		`{"task":"network:2","intercept":true,"model":[1,2,3,4,5,6,7]}`,
		`{"task":"network:1000000","model":[1]}`,
		`{"task":"network:2","link":"logit","model":[1,-2,0.5,3,0.1,0.2,4,-5,0.7]}`,
	} {
		if m, err := Read(strings.NewReader(text)); err == nil {
			t.Errorf("%s: %+v", text, m)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add(`{"task":"logistic","intercept":true,"model":[1,-2,0.5]}`)
	f.Add(`{"task":"pinball:0.3","columns":["a"],"simulated_model":[1]}`)
	f.Add(`{"task":"network:1","link":"identity","intercept":true,"model":[1,2,3,4,5]}`)
	f.Fuzz(func(t *testing.T, text string) {
		m, err := Read(strings.NewReader(text))
		if err == nil {
			m.score(make([]float64, m.Dim()))
		}
	})
}

// Every loss has a link, and the loss of a record is least, of the two predictions of classes,
// where the link predicts the response.
func TestLinks(t *testing.T) {
	for _, name := range loss.Names() {
		name = strings.NewReplacer("τ", "0.3", ":e", ":0.1").Replace(name)
		l, err := loss.Parse(name)
		if err != nil {
			t.Fatal(err)
		}
		link := LinkOf(l)
		takesLabels := l.Check([]float64{0}, 0.5) != nil
		if link.Classes() != takesLabels {
			t.Errorf("%s: link %s, but labels: %v", name, link, takesLabels)
		}
		if link == LinkNone {
			continue
		}
		for _, z := range []float64{-1.5, -0.3, 0.4, 2} {
			at := func(y float64) float64 { return l.Loss([]float64{z}, []float64{1}, y) }
			p := link.Predict(z)
			if link.Classes() && !(at(p) < at(1-p)) || !link.Classes() && at(p) > at(p+1) {
				t.Errorf("%s: score %v predicts %v", name, z, p)
			}
		}
	}
}

// Acceptance 1 of pairwise learning: the vectors T1.
func TestAUCVectors(t *testing.T) {
	for _, c := range []struct {
		scores  []float64
		classes string
		want    float64
	}{
		{[]float64{.1, .4, .35, .8}, "--++", .75},
		{[]float64{.5, .5, .5, .2, .9}, "+-+--", .5},
		{[]float64{2, 2, 2}, "+-+", .5},
		{[]float64{3, 2, 1}, "++-", 1},
		{[]float64{1, 2, 3}, "++-", 0},
	} {
		positive := make([]bool, len(c.classes))
		for i, v := range c.classes {
			positive[i] = v == '+'
		}
		if got := AUC(c.scores, positive); got == nil || *got != c.want {
			t.Errorf("%v %s: %v, want %g", c.scores, c.classes, got, c.want)
		}
	}
	if got := AUC([]float64{1, 2}, []bool{true, true}); got != nil {
		t.Errorf("one class: %v", *got)
	}
}

// AUC against the count over all pairs.
func TestAUC(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		n := 1 + rng.IntN(30)
		scores, positive := make([]float64, n), make([]bool, n)
		for i := range n {
			scores[i], positive[i] = float64(rng.IntN(6)), rng.IntN(3) == 0 // ties
		}
		sum, pairs := 0.0, 0
		for i := range n {
			for j := range n {
				if positive[i] && !positive[j] {
					pairs++
					if scores[i] > scores[j] {
						sum++
					} else if scores[i] == scores[j] {
						sum += 0.5
					}
				}
			}
		}
		got := AUC(scores, positive)
		if (got == nil) != (pairs == 0) || got != nil && math.Abs(*got-sum/float64(pairs)) > 1e-15 {
			t.Fatalf("%v %v: %v, want %v of %v", scores, positive, got, sum, pairs)
		}
	}
}

func TestEvaluate(t *testing.T) {
	records := func(y ...float64) *data.Records {
		return must.Get(data.NewRecords(4, 1, []float64{1, 2, 3, 4}, y))(t)
	}
	m := read(t, `{"task":"ridge","intercept":true,"model":[2,1]}`) // 3, 5, 7, 9
	e, err := m.Evaluate(records(3, 5, 8, 8))
	if err != nil || *e.Loss != 0.5 || *e.RMSE != math.Sqrt(0.5) ||
		math.Abs(*e.R2-(1-2/18.)) > 1e-15 || e.Accuracy != nil || e.AUC != nil {
		t.Errorf("%+v %v", e, err)
	}
	m = read(t, `{"task":"hinge","intercept":true,"model":[1,-2.5]}`) // -1.5, -0.5, 0.5, 1.5
	e, err = m.Evaluate(records(0, 1, 0, 1))
	if err != nil || *e.Accuracy != 0.5 || *e.AUC != 0.75 || e.RMSE != nil ||
		math.Abs(*e.Loss-(0+1.5+1.5+0)/4) > 1e-15 {
		t.Errorf("%+v %v", e, err)
	}
	if e, err = m.Evaluate(records(1, 1, 1, 1)); err != nil || e.AUC != nil {
		t.Errorf("one class: %+v %v", e, err)
	}
	if _, err = m.Evaluate(records(0, 1, 0, 2)); err == nil ||
		!strings.Contains(err.Error(), "record 4: label = 2") {
		t.Error(err)
	}
	if _, err = m.Evaluate(records()); err == nil {
		t.Error("evaluated without responses")
	}
	m = read(t, `{"task":"mean","model":[1]}`)
	if _, err = m.Evaluate(records(1, 1, 1, 1)); err == nil ||
		!strings.Contains(err.Error(), "predicts nothing") {
		t.Error(err)
	}
	m = read(t, `{"task":"ridge","model":[1,2]}`)
	if _, err = m.Evaluate(records(1, 1, 1, 1)); err == nil ||
		!strings.Contains(err.Error(), "number of features = 1") {
		t.Error(err)
	}
}

// Squared distances of coordinates are xᵀMx of the differences, and neighbours are by them.
func TestCoordinatesHaveTheDistance(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 5))
	m := read(t, `{"task":"logistic","link":"metric","columns":["a","b","c"],"response":"y","model":[4,1,0, 1,2,0, 0,0,0]}`)
	const n, d = 60, 3
	x, y := make([]float64, n*d), make([]float64, n)
	for i := range y {
		y[i] = float64(rng.IntN(3)) // classes are any numbers
		for j := range d {
			x[i*d+j] = rng.NormFloat64()
		}
		x[i*d] += y[i]
		x[i*d+2] *= 10 // which M does not look at
	}
	r, err := data.NewRecords(n, d, x, y)
	if err != nil {
		t.Fatal(err)
	}
	z, err := m.Coordinates(r)
	if err != nil {
		t.Fatal(err)
	}
	same := 0
	for i := range n {
		best, of := math.Inf(1), 0
		for j := range n {
			form, apart := 0.0, 0.0
			for a := range d {
				for b := range d {
					form += (x[i*d+a] - x[j*d+a]) * m.Weights[a*d+b] * (x[i*d+b] - x[j*d+b])
				}
				apart += (z[i*d+a] - z[j*d+a]) * (z[i*d+a] - z[j*d+a])
			}
			if math.Abs(form-apart) > 1e-9*(1+form) {
				t.Fatalf("%d and %d: %g, in coordinates %g", i, j, form, apart)
			}
			if i != j && form < best {
				best, of = form, j
			}
		}
		if y[of] == y[i] {
			same++
		}
	}
	e, err := m.Evaluate(r)
	if err != nil || *e.Nearest != float64(same)/n || *e.NearestEuclid >= *e.Nearest || e.AUC != nil ||
		e.RMSE != nil || e.Loss != nil {
		t.Errorf("%+v (%v), by brute force %g", e, err, float64(same)/n)
	}
	if _, err := (&Model{Link: LinkRank, Weights: []float64{1, 2, 3}}).Coordinates(r); err == nil {
		t.Error("coordinates of a ranking")
	}
	for _, other := range []*Model{{Link: LinkMetric, Weights: []float64{1, 0, 0, 1}}, {Link: LinkMetric, Weights: m.Weights[:8]}} {
		if z, err := other.Coordinates(r); err == nil {
			t.Errorf("%d weights for %d features: coordinates %v", len(other.Weights), d, z[:d])
		}
	}
	if one, _ := r.Select([]int{0}); one != nil {
		if _, err := m.Evaluate(one); err == nil {
			t.Error("a neighbour of one record")
		}
	}
}

func TestMetricFilesThatAreNone(t *testing.T) {
	for text, want := range map[string]string{
		`{"task":"logistic","link":"metric","model":[1,2,3]}`:                     "number of weights = 3",
		`{"task":"logistic","link":"metric","columns":["a"],"model":[1,0,0,1]}`:   "names 1 columns",
		`{"task":"logistic","link":"metric","intercept":true,"model":[1,0,0,1]}`:  "no intercept",
		`{"task":"logistic","link":"metric","columns":["a","b"],"model":[1,2,3]}`: "number of weights = 3",
	} {
		if _, err := Read(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}
