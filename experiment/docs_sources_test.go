package experiment_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/internal/testing/raced"
)

// Every test that docs/errata.md names is there, and it names every test of an erratum.
func TestErrataPageNamesItsTests(t *testing.T) {
	raced.Sequential(t)
	page, err := os.ReadFile("../docs/errata.md")
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]bool{}
	err = filepath.WalkDir("..", func(path string, _ os.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		folder, err := filepath.Rel("..", filepath.Dir(path))
		if err != nil {
			return err
		}
		for _, name := range regexp.MustCompile(`(?m)^func (Test\w+)\(`).FindAllSubmatch(text, -1) {
			tests[filepath.ToSlash(folder)+"."+string(name[1])] = true
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	named := regexp.MustCompile("`([a-z/]+\\.Test\\w+)`").FindAllSubmatch(page, -1)
	for _, m := range named {
		if !tests[string(m[1])] {
			t.Errorf("docs/errata.md names %s, which is not there", m[1])
		}
	}
	if len(named) < 15 {
		t.Errorf("docs/errata.md names %d tests", len(named))
	}
	// Every method that experiments reproduce has a section, and so none is said not to be there.
	if regexp.MustCompile("(?i)not built|does not implement|not implemented").Match(page) {
		t.Error("docs/errata.md says that something is not there")
	}
	sections := map[string]string{
		"majority": "DaRRM, the private majority", "shuffled": "Private shuffled gradient methods",
		"convex": "Private convex and non-convex optimisation",
		"sketch": "Correlated mean estimation", "pairwise": "Private learning from pairs",
		"federated": "Private federated learning without a trusted server",
	}
	for field, title := range sections {
		if _, err := os.Stat(field); err != nil || !strings.Contains(string(page), "\n## "+title+"\n") {
			t.Errorf("docs/errata.md has no section %q for experiment/%s (%v)", title, field, err)
		}
	}
	for name := range tests {
		if strings.Contains(name, ".TestErratum") && !strings.Contains(string(page), "`"+name+"`") {
			t.Errorf("docs/errata.md does not name %s", name)
		}
	}
}

// Two errata that the golden figures show. At K = 101, m = 10 the optimum gives up the counts
// near the middle, where randomised response does not; and the accuracies of Tables 3.1, B.4,
// B.6 and B.8 stand in the printed order in 15 of 24 rows.
func TestErratumHighestProbabilityOfManyTeachers(t *testing.T) {
	rows := goldenRows(t, "figure-b.6", "gamma")
	at := func(method string) float64 {
		return must.Get(strconv.ParseFloat(only(rows, "m", "10", "method", method, "l", "45")[0]["gamma"],
			64))(t)
	}
	if opt, constant := at("opt"), at("const"); opt > 1e-6 || constant < 0.45 {
		t.Errorf("γ_opt(45) = %g, the constant %g", opt, constant)
	}
}

func TestPrintedOrderOfTheImageTables(t *testing.T) {
	same, rows := 0, 0
	for _, name := range imageSets {
		for _, row := range goldenRows(t, name, "tables") {
			rows++
			if row["same_order"] == "yes" {
				same++
			}
		}
	}
	if same != 15 || rows != 24 {
		t.Errorf("%d of %d rows have the printed order; docs/reproduction.md says 15 of 24", same, rows)
	}
}

// sourcesParts are the figures and tables of the sources, as their texts have them. BGM has none.
var sourcesParts = map[string][]string{
	"thesis Figure": {"1.1", "1.2", "1.3", "2.1", "2.2", "2.3", "2.4", "2.5", "3.1", "3.2", "4.1", "4.2",
		"A.1", "A.2", "A.3", "A.4", "A.5", "A.6", "A.7", "A.8", "B.1", "B.2", "B.3", "B.4", "B.5", "B.6",
		"B.7", "B.8", "C.1", "C.2", "C.3", "C.4"},
	"thesis Table": {"3.1", "3.2", "4.1", "4.2", "4.3", "4.4", "4.5", "B.1", "B.2", "B.3", "B.4", "B.5",
		"B.6", "B.7", "B.8"},
	"paper Figure": {"1", "2", "3", "4", "5", "6"},
	"paper Table":  {"1", "2", "3", "4", "5", "6"},
	"PSGM Figure":  {"1", "2"},
	"PSGM Table":   {"1"},
	"YLWYY Figure": {"G.1", "G.2", "G.3", "G.4"},
	"YLWYY Table":  {"1", "G.1", "G.2", "G.3", "G.4", "G.5"},
}

// parts returns what the first cell of a row is about, such as "thesis Table B.1": a list, in which
// a source and a kind hold until others come.
func parts(cell string) (out []string) {
	source, kind := "", ""
	cell = regexp.MustCompile(`\([^)]*\)`).ReplaceAllString(cell, "")
	for _, word := range strings.FieldsFunc(cell, func(r rune) bool { return r == ' ' || r == ',' }) {
		switch strings.TrimSuffix(word, "s") {
		case "thesi", "paper", "PSGM", "YLWYY":
			source = word
		case "Figure", "Table":
			kind = strings.TrimSuffix(word, "s")
		default:
			if source == "" || kind == "" || !regexp.MustCompile(`^([A-C]\.|G\.)?\d`).MatchString(word) {
				return out
			}
			out = append(out, source+" "+kind+" "+word)
		}
	}
	return out
}

// Each figure and table of the five sources has one row or more in docs/reproduction.md, with an
// experiment and its data, or "not run" and the reason.
func TestEveryFigureAndTableHasARow(t *testing.T) {
	page, err := os.ReadFile(reproduction)
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(page), "| source | experiment, table or picture | data |")
	table, _, _ = strings.Cut(table, "\n\n")
	rows := map[string]bool{}
	for _, row := range strings.Split(table, "\n")[2:] {
		cells := strings.Split(strings.Trim(row, "| "), " | ")
		if len(cells) < 3 {
			t.Errorf("a row without its data: %s", row)
			continue
		}
		none, why := cells[1] == "none", len(cells) > 3 && strings.TrimSpace(cells[3]) != ""
		if none != (cells[2] == "not run") || none && !why {
			t.Errorf("%s: a row without experiment is \"not run\", and has its reason", cells[0])
		}
		for _, part := range parts(cells[0]) {
			rows[part] = true
		}
	}
	if !strings.Contains(table, "| BGM, figures and tables | none |") {
		t.Error("no row says that BGM has neither figures nor tables")
	}
	for kind, numbers := range sourcesParts {
		for _, number := range numbers {
			if name := kind + " " + number; !rows[name] {
				t.Errorf("%s has no row for %s", reproduction, name)
			}
		}
	}
	if got := parts("paper Tables 1, 5, thesis Table 4.4 (rates)"); !slices.Equal(got,
		[]string{"paper Table 1", "paper Table 5", "thesis Table 4.4"}) {
		t.Errorf("parts of a cell: %q", got)
	}
}
