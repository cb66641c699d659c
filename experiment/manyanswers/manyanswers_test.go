package manyanswers

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

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/experiment"
	"github.com/darrm/darrm/internal/testing/experimenttest"
	"github.com/darrm/darrm/internal/testing/must"
)

var update = flag.Bool("update", false, "write the picture of docs/many-answers.md anew")

var catalog = experiment.New(Field())

func noError(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestRefusals(t *testing.T) {
	text := must.Get(catalog.Source("many-answers"))(t)
	experimenttest.Refuses(t, catalog, string(text), map[string][2]string{
		`"classes": 2`:                   {`"classes": 1`, "classes"},
		`"queries": [1, 3, `:             {`"queries": [0, 3, `, "queries"},
		`"votes": "prompts-4-50"`:        {`"votes": "prompts-4-25"`, "twice"},
		`{"eps": 1, "delta": 1e-6}`:      {`{"eps": 1, "delta": 0}`, "delta"},
		`{"eps": 8, "delta": 1e-6}`:      {`{"eps": 0, "delta": 1e-6}`, "eps"},
		`"gap": 1e-3`:                    {`"gap": 1`, "gap"},
		`"glance": {"votes": ["mnist-2-`: {`"glance": {"votes": ["none", "mnist-2-`, "glance"},
	})
}

// goldenForm is the full form whose results are read from the golden files.
type goldenForm struct {
	parameters
	found []point
}

func (p *goldenForm) Steps() int { return 0 }

func (p *goldenForm) Run(r *experiment.Run) error { return p.report(r, p.found) }

// golden returns the full form with its golden figures. They show how often mechanisms agree, and
// not what they cost.
func golden(t *testing.T) *goldenForm {
	t.Helper()
	var file struct{ Parameters json.RawMessage }
	p := &goldenForm{}
	noError(t, json.Unmarshal(must.Get(catalog.Source("many-answers"))(t), &file))
	noError(t, json.Unmarshal(file.Parameters, &p.parameters))
	rows := experimenttest.Rows(t, filepath.Join("..", "testdata", "golden", "many-answers",
		"agreement.csv"))
	for _, s := range p.Sets {
		for _, b := range p.Budgets {
			for _, q := range s.Queries {
				x := rows[len(p.found)]
				number := func(name string) float64 { return must.Get(strconv.ParseFloat(x[name], 64))(t) }
				if x["votes"] != s.Votes || number("eps") != b.Epsilon || number("queries") != float64(q) {
					t.Fatalf("line %d is of %v", len(p.found), x)
				}
				o := outcome{K: int(number("teachers")), Bound: 1, Refused: x["refused"]}
				if x["bound"] != "" {
					o.Bound = number("bound")
				}
				for _, name := range columns {
					if x[name] != "" {
						o.Rows = append(o.Rows, row{name, x["law"], number(name), b.Epsilon, b.Delta})
					}
				}
				p.found = append(p.found, point{s, b, q, o})
			}
		}
	}
	if len(p.found) != len(rows) {
		t.Errorf("%d golden lines, of which %d are used", len(rows), len(p.found))
	}
	return p
}

// Claims hold on the golden figures, and each fails when one number of them is another.
func TestClaimsHoldOnGoldenFigures(t *testing.T) {
	p := golden(t)
	d := experimenttest.Load(t, catalog, "many-answers")
	judged := func() []experiment.Claim {
		r := d.NewRun(context.Background(), experiment.Options{})
		p.judge(r, p.found)
		return r.Result.Claims
	}
	left := map[string]bool{}
	for _, c := range judged() {
		left[c.Text] = true
		if !c.Holds {
			t.Errorf("claim fails: %s (%s)", c.Text, c.Evidence)
		}
	}
	if len(left) < 10 {
		t.Errorf("%d claims", len(left))
	}
	for i := range p.found {
		x := &p.found[i].outcome
		numbers := []*float64{&x.Bound}
		for j := range x.Rows {
			numbers = append(numbers, &x.Rows[j].Agrees, &x.Rows[j].Delta)
		}
		for _, v := range numbers {
			old := *v
			for _, other := range []float64{old + 0.9, old - 0.9} {
				*v = other
				for _, c := range judged() {
					if !c.Holds {
						delete(left, c.Text)
					}
				}
			}
			*v = old
		}
	}
	for text := range left {
		t.Errorf("claim holds whatever is broken: %s", text)
	}
}

// The picture of the README and of docs/many-answers.md is that of the golden figures; -update
// writes it.
func TestPictureOfTheDocs(t *testing.T) {
	found := golden(t).found
	c := experiment.New(experiment.Field{Looks: Field().Looks, Kinds: []experiment.Kind{{Name: "answers", Spec: Field().Kinds[0].Spec,
		New: func() experiment.Parameters { return &goldenForm{found: found} }}}})
	d := must.Get(c.Parse(must.Get(catalog.Source("many-answers"))(t)))(t)
	out := experimenttest.Run(t, d, t.TempDir(), experiment.Options{})
	got := must.Get(os.ReadFile(filepath.Join(out.Dir, "glance.svg")))(t)
	const picture = "../../docs/images/many-answers.svg"
	if *update {
		noError(t, os.WriteFile(picture, got, 0o666))
	}
	if want := must.Get(os.ReadFile(picture))(t); !bytes.Equal(got, want) {
		t.Errorf("%s is not that of the golden figures: go test ./experiment/manyanswers -run "+
			"TestPictureOfTheDocs -update", picture)
	}
}

// A definition may ask for numbers of queries that no mark is at, even for one alone.
func TestGlanceWithoutMarks(t *testing.T) {
	p := golden(t)
	p.Glance.Votes = p.Glance.Votes[:1]
	found := p.found[slices.IndexFunc(p.found, func(x point) bool {
		return x.Votes == p.Glance.Votes[0] && x.budget.Epsilon == p.Glance.Epsilon
	}):][:1]
	found[0].queries = 50
	r := experimenttest.Load(t, catalog, "many-answers").NewRun(t.Context(), experiment.Options{})
	noError(t, p.small(r, found))
}

// What docs/many-answers.md says of a pure bound: normal noise of σ = 55.2 on the counts of 101
// teachers and two classes is priced at (3, 1e-6) for 1,000 labels, of which each by itself has a
// pure bound, that of the two histograms furthest from a tie.
func TestPureBoundOfTheDocs(t *testing.T) {
	const k, sigma, labels = 101, 55.2, 1000
	loses := func(lead float64) float64 {
		return math.Erfc(lead/(2*sigma)) / 2
	}
	single := math.Log(loses(k-2) / loses(k))
	if math.Abs(single-0.045) > 5e-4 {
		t.Errorf("one label: ε = %v", single)
	}
	all := must.Get(accountant.Optimal(labels, accountant.Cost{Epsilon: single}, 1e-6))(t)
	if math.Abs(all.Epsilon-7.3) > 0.05 {
		t.Errorf("%d labels: %v", labels, all)
	}
	for lead := 1.; lead < k; lead += 2 { // no neighbours are further apart
		if d := math.Log(loses(lead-2) / loses(lead)); d > single {
			t.Errorf("lead %v: %v", lead, d)
		}
	}
}
