package students

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/darrm/darrm/experiment"
	"github.com/darrm/darrm/experiment/datasets"
	"github.com/darrm/darrm/internal/testing/experimenttest"
	"github.com/darrm/darrm/internal/testing/must"
)

var update = flag.Bool("update", false, "write the picture of docs/students.md anew")

var catalog = experiment.New(Field())

func noError(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestRefusals(t *testing.T) {
	text := must.Get(catalog.Source("students"))(t)
	experimenttest.Refuses(t, catalog, string(text), map[string][2]string{
		`"teachers": 100`:                {`"teachers": 0`, "K"},
		`"eps": 1`:                       {`"eps": 0`, "eps"},
		`"delta": 1e-5`:                  {`"delta": 0`, "delta"},
		`"queries": [50, 100, 200`:       {`"queries": [200, 100, 50`, "ascending"},
		`"l2": 10`:                       {`"l2": -1`, "l2"},
		`"momentum": 0.9`:                {`"momentum": 1`, "momentum"},
		`"data": "mnist"`:                {`"data": "../mnist"`, "folder below"},
		`"shares": [0.9, 0.1]`:           {`"shares": [0.9, 0.2]`, "sum of the shares"},
		`"variances": [1, 1, `:           {`"variances": [`, "length of a mean"},
		`"records": 10000`:               {`"records": 99`, "records"},
		`"near": 1.0`:                    {`"near": 0`, "near"},
		`"side": 2`:                      {`"side": 0`, "side"},
		`"variances": [1, 1, 1, 1, 1, 1`: {`"variances": [-1, 1, 1, 1, 1, 1`, "variance"},
	})
}

// The student of six records has the weights and the loss that another program found (NumPy), with the
// labels as they are and with a last layer of β·K = 5·0.175082.
func TestStudentFigures(t *testing.T) {
	var d records
	for _, x := range []float64{-2, -1, -.5, .5, 1, 2} {
		d.x = append(d.x, []float64{x, 1})
	}
	labels := []int{0, 0, 1, 0, 1, 1}
	for scale, want := range map[float64]float64{0: .760463, 5 * .175082: .600511} {
		w := must.Get(student(d, labels, scale, 1))(t)
		if math.Abs(w[0]-want) > 1e-4 || math.Abs(w[1]) > 1e-4 {
			t.Errorf("scale %v: %v, want %v", scale, w, want)
		}
	}
}

// A teacher is where the derivative of its loss is 0, and votes for the nearer class.
func TestTeacher(t *testing.T) {
	d := records{x: [][]float64{{-1, 1}, {1, 1}, {2, 1}}, y: []int{0, 1, 1}}
	w := training{Steps: 5000, StepSize: .2, Momentum: .9, Lambda: .01}.fit(d)
	g := make([]float64, 2)
	for i, x := range d.x {
		floats.AddScaled(g, (logistic(floats.Dot(w, x))-float64(d.y[i]))/3, x)
	}
	floats.AddScaled(g, .01, w)
	if floats.Norm(g, math.Inf(1)) > 1e-9 {
		t.Errorf("the derivative is %v", g)
	}
	if got := ones([][]float64{w, {1, 0}}, d); !slices.Equal(got, []int{0, 2, 2}) {
		t.Errorf("votes %v", got)
	}
	if got := accuracy(w, d); got != 100 {
		t.Errorf("accuracy %v", got)
	}
}

func TestAveraged(t *testing.T) {
	image := []byte{255, 255, 0, 0, 7, 255, 255, 0, 255, 7, 1, 1, 1, 1, 1}
	if got := datasets.Averaged(image, 3, 5, 2); !slices.Equal(got, []float64{1, .25}) {
		t.Errorf("%v", got)
	}
}

// goldenForm is the full form whose results are read from the golden files.
type goldenForm struct {
	parameters
	found map[string][]outcome
}

func (p *goldenForm) Steps() int { return 0 }

func (p *goldenForm) NeedsData() string { return "" }

func (p *goldenForm) Inputs(context.Context, string) (map[string]string, error) { return nil, nil }

func (p *goldenForm) Run(r *experiment.Run) error { return p.report(r, p.found) }

func golden(t *testing.T) *goldenForm {
	t.Helper()
	var file struct{ Parameters json.RawMessage }
	p := &goldenForm{found: map[string][]outcome{}}
	noError(t, json.Unmarshal(must.Get(catalog.Source("students"))(t), &file))
	noError(t, json.Unmarshal(file.Parameters, &p.parameters))
	rows := experimenttest.Rows(t, filepath.Join("..", "testdata", "golden", "students", "accuracy.csv"))
	for i, name := range p.tasks() {
		o := outcome{Accuracy: map[string][]float64{}, Agrees: map[string][]float64{}}
		for _, x := range rows[i*len(p.Queries) : (i+1)*len(p.Queries)] {
			if x["task"] != p.title(name) {
				t.Fatalf("a line is of %v", x)
			}
			number := func(name string) float64 { return must.Get(strconv.ParseFloat(x[name], 64))(t) }
			for _, way := range ways {
				o.Accuracy[way] = append(o.Accuracy[way], number(way))
			}
			for _, m := range []string{"many-answers", gnmax} {
				o.Agrees[m] = append(o.Agrees[m], number("agrees-"+m))
			}
		}
		p.found[name] = []outcome{o}
	}
	return p
}

// Claims hold on the golden figures.
func TestClaimsHoldOnGoldenFigures(t *testing.T) {
	p := golden(t)
	r := experimenttest.Load(t, catalog, "students").NewRun(t.Context(), experiment.Options{})
	p.judge(r, p.found)
	if len(r.Result.Claims) != 7 {
		t.Errorf("%d claims", len(r.Result.Claims))
	}
	for _, c := range r.Result.Claims {
		if !c.Holds {
			t.Errorf("claim fails: %s (%s)", c.Text, c.Evidence)
		}
	}
}

// The picture of the README and of docs/students.md is that of the golden figures; -update writes it.
func TestPictureOfTheDocs(t *testing.T) {
	found := golden(t).found
	c := experiment.New(experiment.Field{Looks: Field().Looks, Kinds: []experiment.Kind{{Name: "students",
		Spec: Field().Kinds[0].Spec, New: func() experiment.Parameters { return &goldenForm{found: found} }}}})
	d := must.Get(c.Parse(must.Get(catalog.Source("students"))(t)))(t)
	out := experimenttest.Run(t, d, t.TempDir(), experiment.Options{})
	got := must.Get(os.ReadFile(filepath.Join(out.Dir, "glance.svg")))(t)
	const picture = "../../docs/images/students.svg"
	if *update {
		noError(t, os.WriteFile(picture, got, 0o666))
	}
	if want := must.Get(os.ReadFile(picture))(t); !bytes.Equal(got, want) {
		t.Errorf("%s is not that of the golden figures: go test ./experiment/students -run "+
			"TestPictureOfTheDocs -update", picture)
	}
}
