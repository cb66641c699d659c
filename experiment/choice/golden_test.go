package choice

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"

	"github.com/darrm/darrm/experiment"
	"github.com/darrm/darrm/internal/testing/experimenttest"
	"github.com/darrm/darrm/internal/testing/must"
)

var update = flag.Bool("update", false, "write the picture of docs/training.md anew")

// goldenForm is the full form of choice-judge, whose cells are read from the golden files.
type goldenForm struct {
	parameters
	cells []judged
}

func (p *goldenForm) Steps() int { return 0 }

func (p *goldenForm) NeedsData() string { return "" }

func (p *goldenForm) Inputs(context.Context, string) (map[string]string, error) { return nil, nil }

func (p *goldenForm) Run(r *experiment.Run) error {
	p.tell(r, p.cells)
	return r.Figure("regret", "regret", 3, p.panels(p.cells))
}

// golden reads the cells of an experiment.
func golden(t *testing.T, name string) (out []judged) {
	t.Helper()
	for _, row := range experimenttest.Rows(t, filepath.Join("..", "testdata", "golden", name, "cells.csv")) {
		number := func(column string) float64 { return must.Get(strconv.ParseFloat(row[column], 64))(t) }
		j := judged{subject: subject{name: row["table"], classes: int(number("classes"))}, cell: cell{Ratio: number("ratio")},
			means: map[string]float64{}, regret: map[string]float64{}}
		for _, m := range lines() {
			if row[m] != "" {
				j.means[m], j.regret[m] = number(m), number(row["best"])-number(m)
			}
		}
		if math.Abs(j.regret[rule]-number("regret")) > 1e-6 {
			t.Errorf("%s at %v: regret %v, but the means say %v", j.subject.name, j.cell.Ratio, row["regret"], j.regret[rule])
		}
		out = append(out, j)
	}
	return out
}

// The picture of docs/training.md is that of the golden figures; -update writes it. The claims hold on them.
func TestPictureOfTheDocs(t *testing.T) {
	cells := golden(t, "choice-judge")
	c := experiment.New(experiment.Field{Looks: Field().Looks, Kinds: []experiment.Kind{{Name: "choice", Spec: Field().Kinds[0].Spec,
		New: func() experiment.Parameters { return &goldenForm{cells: cells} }}}})
	d := must.Get(c.Parse(must.Get(catalog.Source("choice-judge"))(t)))(t)
	out := experimenttest.Run(t, d, t.TempDir(), experiment.Options{})
	for _, claim := range out.Result.Failed() {
		t.Errorf("claim fails: %s (%s)", claim.Text, claim.Evidence)
	}
	got := must.Get(os.ReadFile(filepath.Join(out.Dir, "regret.svg")))(t)
	const picture = "../../docs/images/choice.svg"
	if *update {
		if err := os.WriteFile(picture, got, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if want := must.Get(os.ReadFile(picture))(t); !bytes.Equal(got, want) {
		t.Errorf("%s is not that of the golden figures: go test ./experiment/choice -run TestPictureOfTheDocs -update", picture)
	}
}

// What the docs say of 0 that stays 0 is that of the golden figures.
func TestZerosOfTheDocs(t *testing.T) {
	page := string(must.Get(os.ReadFile("../../docs/training.md"))(t))
	rows := 0
	for name, tables := range map[string]map[string]string{
		"choice-study": {"made-topics": "made up, five classes, sparse", "made-sparse": "made up, sparse", "default": "card holders who default"},
		"choice-judge": {"spam": "spam (judges)", "digits": "digits (judges)", "diamonds": "diamonds (judges)"},
	} {
		sums, cells := map[string]float64{}, map[string]float64{}
		for _, j := range golden(t, name) {
			sums[j.subject.name] += j.means[zero] - j.means["dp-sgd"]
			cells[j.subject.name]++
		}
		for table, title := range tables {
			row := regexp.MustCompile(fmt.Sprintf(`(?m)^\| %s \| [^|]+ \| %.3f \|$`, regexp.QuoteMeta(title), sums[table]/cells[table]))
			if !row.MatchString(page) {
				t.Errorf("docs/training.md has no row %s", row)
			}
			rows++
		}
	}
	if rows != 6 {
		t.Errorf("%d rows", rows)
	}
}
