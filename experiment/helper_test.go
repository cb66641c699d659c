package experiment_test

import (
	"bytes"
	"encoding/csv"
	"math"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/darrm/darrm/experiment"
	"github.com/darrm/darrm/experiment/choice"
	"github.com/darrm/darrm/experiment/classes"
	"github.com/darrm/darrm/experiment/convex"
	"github.com/darrm/darrm/experiment/federated"
	"github.com/darrm/darrm/experiment/majority"
	"github.com/darrm/darrm/experiment/manyanswers"
	"github.com/darrm/darrm/experiment/pairwise"
	"github.com/darrm/darrm/experiment/pipeline"
	"github.com/darrm/darrm/experiment/shuffled"
	"github.com/darrm/darrm/experiment/sketch"
	"github.com/darrm/darrm/experiment/students"
	"github.com/darrm/darrm/gamma/solve"
	"github.com/darrm/darrm/internal/testing/must"
)

// catalog is the catalog of the command line.
var catalog = catalogWith(solve.Optimal)

func catalogWith(s majority.Solver) *experiment.Catalog {
	return experiment.New(majority.Field(s), shuffled.Field(), pipeline.Field(s), sketch.Field(),
		convex.Field(), federated.Field(), pairwise.Field(), classes.Field(), manyanswers.Field(), students.Field(), choice.Field())
}

// source returns the definition file of a built-in experiment.
func source(t testing.TB, name string) []byte {
	t.Helper()
	return must.Get(catalog.Source(name))(t)
}

// realData returns the folder of real files for experiments that cannot do without, and an
// empty one for those that have a stand-in: their golden values are its.
func realData(t testing.TB, d experiment.Definition) string {
	if d.NeedsData() == "" {
		return t.TempDir()
	}
	return os.Getenv("DARRM_DATA")
}

var numbers = regexp.MustCompile(`[0-9]+(\.[0-9]+)?(e[-+][0-9]+)?`)

// compareWords wants the same sentences, with the same numbers up to a last digit that is shown.
func compareWords(t *testing.T, file, got, want string) {
	t.Helper()
	a, b := strings.Split(got, "\n"), strings.Split(want, "\n")
	if len(a) != len(b) {
		t.Errorf("%s: %d sentences, want %d", file, len(a), len(b))
		return
	}
	for i := range a {
		x, y := numbers.FindAllString(a[i], -1), numbers.FindAllString(b[i], -1)
		same := len(x) == len(y) && numbers.ReplaceAllString(a[i], "0") == numbers.ReplaceAllString(b[i], "0")
		for j := 0; same && j < len(x); j++ {
			u, v := must.Get(strconv.ParseFloat(x[j], 64))(t), must.Get(strconv.ParseFloat(y[j], 64))(t)
			same = math.Abs(u-v) <= 1e-6+1e-3*v
		}
		if !same {
			t.Errorf("%s:%d: %s\nwant %s", file, i+1, a[i], b[i])
		}
	}
}

func TestCompareWordsSeesChanges(t *testing.T) {
	want := "A title\nclaim, true: a is above 2 (3.14)\n"
	for _, mutant := range []string{"A title\n", "Title\nclaim, true: a is above 2 (3.14)\n",
		"A title\nclaim, false: a is above 2 (3.14)\n", "A title\nclaim, true: a is above 3 (3.14)\n"} {
		inner := &testing.T{}
		compareWords(inner, "x", mutant, want)
		if !inner.Failed() {
			t.Errorf("%q passes for %q", mutant, want)
		}
	}
}

// compareCSV wants the same text and the same numbers, up to what processors and solvers
// may differ in: 1e-7 of the value, or 1e-9.
func compareCSV(t *testing.T, file string, got, want []byte) {
	t.Helper()
	a, err := csv.NewReader(bytes.NewReader(got)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	b, err := csv.NewReader(bytes.NewReader(want)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if len(a) != len(b) {
		t.Errorf("%s: %d lines, want %d", file, len(a), len(b))
		return
	}
	for i := range a {
		for j := range a[i] {
			if j >= len(b[i]) {
				t.Errorf("%s:%d: %d cells, want %d", file, i+1, len(a[i]), len(b[i]))
				return
			}
			x, errX := strconv.ParseFloat(a[i][j], 64)
			y, errY := strconv.ParseFloat(b[i][j], 64)
			if errX == nil && errY == nil {
				if math.Abs(x-y) > 1e-9+1e-7*math.Abs(y) {
					t.Errorf("%s:%d: %s = %v, want %v", file, i+1, a[0][j], x, y)
				}
			} else if a[i][j] != b[i][j] {
				t.Errorf("%s:%d: %s = %q, want %q", file, i+1, a[0][j], a[i][j], b[i][j])
			}
		}
	}
}

func TestCompareCSVSeesChanges(t *testing.T) {
	want := []byte("a,b\n1,x\n0.5,y\n")
	for _, mutant := range []string{"a,b\n1,x\n", "a,b\n1,x\n0.5000002,y\n", "a,b\n1,z\n0.5,y\n",
		"a,c\n1,x\n0.5,y\n"} {
		inner := &testing.T{}
		compareCSV(inner, "x", []byte(mutant), want)
		if !inner.Failed() {
			t.Errorf("%q passes for %q", mutant, want)
		}
	}
}
