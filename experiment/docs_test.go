package experiment_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/darrm/darrm/experiment"
	"github.com/darrm/darrm/experiment/experimenttest"
	"github.com/darrm/darrm/internal/must"
	"github.com/darrm/darrm/internal/raced"
	"github.com/darrm/darrm/learn/shuffled"
)

// goldenRows returns the lines of a golden file by the names of its columns.
func goldenRows(t testing.TB, folder, file string) []map[string]string {
	t.Helper()
	return experimenttest.Rows(t, filepath.Join("testdata", "golden", folder, file+".csv"))
}

// only returns the rows whose columns hold what is asked for: "m", "3", "method", "opt".
func only(rows []map[string]string, where ...string) (out []map[string]string) {
	for _, row := range rows {
		match := true
		for i := 0; i < len(where); i += 2 {
			match = match && row[where[i]] == where[i+1]
		}
		if match {
			out = append(out, row)
		}
	}
	return out
}

// column returns the different values of a column, in order.
func column(rows []map[string]string, name string) (out []string) {
	for _, row := range rows {
		if !slices.Contains(out, row[name]) {
			out = append(out, row[name])
		}
	}
	return out
}

// shown returns a golden number as a page shows it. What the figures mean as 0 is 0; no cell
// is empty.
func shown(t testing.TB, cell, format string) string {
	t.Helper()
	if cell == "" {
		return ""
	}
	v, err := strconv.ParseFloat(cell, 64)
	if err != nil {
		t.Fatal(err)
	}
	if v < experiment.Negligible && v > -experiment.Negligible {
		return "0"
	}
	return fmt.Sprintf(format, v)
}

// markdown builds a table.
type markdown struct{ strings.Builder }

func (m *markdown) row(cells ...string) {
	fmt.Fprintf(m, "| %s |\n", strings.Join(cells, " | "))
}

func (m *markdown) header(cells ...string) {
	m.row(cells...)
	m.row(slices.Repeat([]string{"---"}, len(cells))...)
}

// goldenTables are the tables of docs/reproduction.md, docs/mean.md, docs/convex.md,
// docs/many-classes.md, docs/many-answers.md and docs/pairwise-accounting.md, by the names of their
// blocks.
var goldenTables = map[string]func(t *testing.T, m *markdown){
	"experiments": experimentsTable,
	"figure-3.2": func(t *testing.T, m *markdown) {
		rows := goldenRows(t, "figure-3.2", "errors")
		m.header("m", "γ_opt", "γ_Sub", "γ_const", "RR, tight", "as written: γ_opt", "γ_Sub", "γ_const",
			"RR, tight")
		for _, allowance := range column(rows, "m") {
			cells := []string{allowance}
			for _, measure := range []string{"expected_error", "written_error"} {
				for _, method := range []experiment.Method{"opt", "sub", "const", "tight"} {
					cells = append(cells,
						shown(t, only(rows, "m", allowance, "method", string(method))[0][measure], "%.4f"))
				}
			}
			m.row(cells...)
		}
	},
	"figure-b.4": func(t *testing.T, m *markdown) {
		errors := goldenRows(t, "figure-b.4", "errors")
		m.header("M", "m", "τ", "λ", "mε", "δ", "error of γ_opt", "γ_Sub", "γ_const")
		for _, row := range goldenRows(t, "figure-b.4", "parameters") {
			cells := []string{row["subsample"]}
			for _, name := range []string{"m", "tau", "lambda", "epsilon", "delta"} {
				cells = append(cells, shown(t, row[name], "%.4f"))
			}
			for _, method := range []experiment.Method{"opt", "sub", "const"} {
				cells = append(cells, shown(t, only(errors, "subsample", row["subsample"], "method",
					string(method))[0]["expected_error"], "%.4f"))
			}
			m.row(cells...)
		}
	},
	"pure": func(t *testing.T, m *markdown) {
		m.header("K", "m", "γ_opt", "γ_Sub", "γ_DSub", "γ_const")
		for _, figure := range []struct{ name, teachers string }{{"figure-b.5", "11"},
			{"figure-b.6", "101"}} {
			rows := goldenRows(t, figure.name, "errors")
			for _, allowance := range column(rows, "m") {
				cells := []string{figure.teachers, allowance}
				for _, method := range []experiment.Method{"opt", "sub", "dsub", "const"} {
					cells = append(cells,
						shown(t, only(rows, "m", allowance, "method", string(method))[0]["expected_error"], "%.4g"))
				}
				m.row(cells...)
			}
		}
	},
	"figure-b.7": func(t *testing.T, m *markdown) {
		rows := goldenRows(t, "figure-b.7", "errors")
		var p struct{ Methods []experiment.Method }
		decodeParameters(t, experimenttest.Load(t, catalog, "figure-b.7"), &p)
		methods := p.Methods
		head := []string{"m", "teachers", ""}
		for _, method := range methods {
			head = append(head, catalog.Title(method))
		}
		m.header(head...)
		for _, allowance := range column(rows, "m") {
			for _, actual := range column(rows, "actual") {
				for _, measure := range []struct{ column, title string }{{"error", "ℰ as written"},
					{"disagreement", "label ≠ majority"}} {
					cells := []string{allowance, actual, measure.title}
					for _, method := range methods {
						cells = append(cells, shown(t, only(rows, "m", allowance, "actual", actual, "method",
							string(method))[0][measure.column], "%.4g"))
					}
					m.row(cells...)
				}
			}
		}
	},
	"figure-b.8": func(t *testing.T, m *markdown) {
		m.header("data", "(ε, δ)", "σ printed", "σ ours", "λ printed", "best λ of the grid",
			"σ at the printed λ", "σ, exact formula")
		for _, row := range goldenRows(t, "figure-b.8", "sigma") {
			m.row(row["data"], "("+row["epsilon"]+", "+row["delta"]+")", row["printed_sigma"],
				shown(t, row["sigma"], "%.4f"), row["printed_order"],
				shown(t, row["order"], "%.2f"), shown(t, row["sigma_at_printed_order"], "%.2f"),
				shown(t, row["sigma_exact"], "%.2f"))
		}
	},
	"totals": func(t *testing.T, m *markdown) {
		m.header("table", "data", "per query", "Q", "printed", "ours", "optimal composition", "saves")
		for _, row := range goldenRows(t, "accounting", "totals") {
			m.row(row["table"], row["data"], "("+row["epsilon_query"]+", "+row["delta_query"]+")",
				row["queries"], row["printed"],
				fmt.Sprintf("(%s, %s)", shown(t, row["epsilon_total"], "%.3f"),
					shown(t, row["delta_total"], "%.3f")), shown(t, row["epsilon_optimal"], "%.3f"),
				shown(t, row["saved"], "%.0f %%"))
		}
	},
	"mnist":         func(t *testing.T, m *markdown) { accuracies(t, m, "mnist") },
	"fashion-mnist": func(t *testing.T, m *markdown) { accuracies(t, m, "fashion-mnist") },
	"differences": func(t *testing.T, m *markdown) {
		pairs := [][2]experiment.Method{{"opt", "sub"}, {"sub", "gnmax"}, {"opt", "gnmax"}}
		head := []string{"data", "m", "Q"}
		for _, p := range pairs {
			head = append(head, catalog.Title(p[0])+" - "+catalog.Title(p[1]))
		}
		m.header(head...)
		for _, name := range imageSets {
			rows := goldenRows(t, name, "differences")
			for _, allowance := range column(rows, "m") {
				for _, q := range column(rows, "queries") {
					cells := []string{name, allowance, q}
					for _, p := range pairs {
						row := only(rows, "m", allowance, "queries", q, "better", string(p[0]), "worse",
							string(p[1]))[0]
						cells = append(cells, fmt.Sprintf("%s [%s, %s]", shown(t, row["expected"], "%+.3f"),
							shown(t, row["expected_low"], "%+.3f"), shown(t, row["expected_high"], "%+.3f")))
					}
					m.row(cells...)
				}
			}
		}
	},
	"all-images": func(t *testing.T, m *markdown) {
		methods := []experiment.Method{"gnmax", "gnmax_exact", "vote_opt", "sub", "opt", "opt_t1",
			"majority"}
		head := []string{"data", "m"}
		for _, method := range methods {
			head = append(head, catalog.Title(method))
		}
		m.header(head...)
		for _, name := range imageSets {
			rows := goldenRows(t, name, "accuracy")
			for _, allowance := range column(rows, "m") {
				cells := []string{name, allowance}
				for _, method := range methods {
					cells = append(cells, shown(t, only(rows, "m", allowance, "method", string(method))[0]["all"],
						"%.3f"))
				}
				m.row(cells...)
			}
		}
	},
	"trainings": func(t *testing.T, m *markdown) {
		methods := []shuffled.Scheme{shuffled.Interleaved, shuffled.PrivPub, shuffled.PubPriv,
			shuffled.DPShuffleG, shuffled.DPSGD, shuffled.PublicOnly}
		head := []string{"stand-in for", "ε"}
		for _, method := range methods {
			head = append(head, catalog.Title(experiment.Method(method)))
		}
		m.header(append(head, "best private", "best of all")...)
		eachTraining(t, func(d experiment.Definition, p trainingFields) {
			rows := goldenRows(t, d.Name, "summary")
			for _, eps := range p.Epsilons {
				cells := []string{d.Name, fmt.Sprint(eps)}
				var private, all shuffled.Scheme
				leastPrivate, least := math.Inf(1), math.Inf(1)
				for _, method := range methods {
					row := p.main(rows, method, eps)
					if row == nil {
						cells = append(cells, "not run")
						continue
					}
					mean, err := strconv.ParseFloat(row["excess"], 64)
					if err != nil {
						t.Fatal(err)
					}
					cell := fmt.Sprintf("%.4g", mean)
					if row["std"] != "0" {
						cell += " ± " + shown(t, row["std"], "%.1g")
					}
					if row["edge"] != "" {
						cell += " (" + row["edge"] + " step)"
					}
					cells = append(cells, cell)
					if method.IsPrivate() && mean < leastPrivate {
						private, leastPrivate = method, mean
					}
					if mean < least {
						all, least = method, mean
					}
				}
				m.row(append(cells, catalog.Title(experiment.Method(private)),
					catalog.Title(experiment.Method(all)))...)
			}
		})
	},
	"pipeline": func(t *testing.T, m *markdown) {
		rows := goldenRows(t, "pipeline", "accuracy")
		var p struct {
			StepSizes []float64 `json:"step_sizes"`
		}
		decodeParameters(t, experimenttest.Load(t, catalog, "pipeline"), &p)
		methods := []experiment.Method{"teachers", "sub", "opt", "single"}
		m.header("teachers trained by", "total ε", "majority of the teachers", "γ_Sub",
			"γ_opt, t = K, one answer", "one private model")
		for _, trainer := range column(rows, "trainer")[1:] {
			for _, eps := range column(only(rows, "trainer", trainer), "eps") {
				cells := []string{catalog.Title(experiment.Method(trainer)), eps}
				for _, method := range methods {
					row := only(rows, "trainer", trainer, "eps", eps, "method", string(method))[0]
					cell := shown(t, row["accuracy"], "%.3f") + " ± " + shown(t, row["std"], "%.3f")
					if stepSize, err := strconv.ParseFloat(row["step_size"], 64); err != nil {
						t.Fatal(err)
					} else if e := experiment.Edge(stepSize, p.StepSizes); e != "" {
						cell += " (" + e + " step)"
					}
					cells = append(cells, cell)
				}
				m.row(cells...)
			}
		}
		for _, reference := range []experiment.Method{"majority", "single_plain", "public_model"} {
			m.row(catalog.Title(reference), "", shown(t,
				only(rows, "trainer", "", "method", string(reference))[0]["accuracy"], "%.3f"), "", "", "")
		}
	},
	"settings": func(t *testing.T, m *markdown) {
		m.header("experiment", "ε", "orders and p", "repeats", "step sizes tried",
			"lines with the best at the edge")
		eachTraining(t, func(d experiment.Definition, p trainingFields) {
			var variants []string
			for _, v := range p.Variants {
				variants = append(variants, fmt.Sprintf("%s %v", v.Order, v.Fractions))
			}
			sizes := map[string]int{} // lines of the grid table, by method, order, p and ε
			for _, row := range goldenRows(t, d.Name, "grid") {
				sizes[strings.Join([]string{row["method"], row["order"], row["p"], row["eps"]}, " ")]++
			}
			least, most := slices.Min(slices.Collect(maps.Values(sizes))),
				slices.Max(slices.Collect(maps.Values(sizes)))
			tried := fmt.Sprintf("%d to %d", least, most)
			if least == most {
				tried = fmt.Sprint(most)
			}
			summary := goldenRows(t, d.Name, "summary")
			edge := fmt.Sprintf("none of %d", len(summary))
			if n := len(summary) - len(only(summary, "edge", "")); n > 0 {
				edge = fmt.Sprintf("%d of %d", n, len(summary))
			}
			m.row("`"+d.Name+"`", strings.Trim(fmt.Sprint(p.Epsilons), "[]"), strings.Join(variants, ", "),
				fmt.Sprint(p.Repeats), tried, edge)
		})
	},
}

// experimentsTable has every experiment: what its definition repeats, and how many of its claims hold in
// its golden run, the quick one where the full one has no golden sentences.
func experimentsTable(t *testing.T, m *markdown) {
	m.header("experiment", "title", "repeats", "statements that hold")
	for _, d := range catalog.List() {
		form := ""
		text, err := os.ReadFile(filepath.Join(goldenFolder(d, false), goldenWords))
		if errors.Is(err, fs.ErrNotExist) {
			form = ", quick form"
			text, err = os.ReadFile(filepath.Join(goldenFolder(d, true), goldenWords))
		}
		held := "not kept"
		if err == nil {
			held = fmt.Sprintf("%d of %d%s", strings.Count(string(text), "\nclaim, true: "),
				strings.Count(string(text), "\nclaim, "), form)
		}
		m.row("`"+d.Name+"`", d.Title, d.Source, held)
	}
}

var imageSets = []string{"mnist", "fashion-mnist"}

// trainingFields are the parameters of a training that tables show.
type trainingFields struct {
	Epsilons []float64
	Repeats  int
	Variants []struct {
		Order     string
		Fractions []float64
	}
}

// main returns the row of a method in the first variant, with fraction 0.5 or else the first,
// nil if there is none.
func (p trainingFields) main(rows []map[string]string, method shuffled.Scheme,
	eps float64) map[string]string {
	v := p.Variants[0]
	fraction := v.Fractions[0]
	if slices.Contains(v.Fractions, 0.5) {
		fraction = 0.5
	}
	for _, row := range only(rows, "method", string(method)) {
		fits := func(column, value string) bool { return row[column] == value || row[column] == "" }
		if fits("order", v.Order) && fits("p", fmt.Sprint(fraction)) && fits("eps", fmt.Sprint(eps)) {
			return row
		}
	}
	return nil
}

func decodeParameters(t testing.TB, d experiment.Definition, v any) {
	t.Helper()
	text, err := json.Marshal(d.Form(false))
	if err == nil {
		err = json.Unmarshal(text, v)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// eachTraining visits the full-size experiments on training.
func eachTraining(t testing.TB, visit func(experiment.Definition, trainingFields)) {
	for _, d := range catalog.List() {
		if d.Kind == "training" {
			var p trainingFields
			decodeParameters(t, d, &p)
			visit(d, p)
		}
	}
}

// accuracies is the table of one data set: ours, and in brackets what the source prints.
func accuracies(t *testing.T, m *markdown, name string) {
	m.header("table", "m", "Q", "GNMax", "γ_Sub", "γ_opt", "printed order")
	for _, row := range goldenRows(t, name, "tables") {
		cells := []string{row["source_table"], row["m"], row["queries"]}
		for _, method := range []string{"gnmax", "sub", "opt"} {
			cells = append(cells, row[method]+" ["+row["source_"+method]+"]")
		}
		m.row(append(cells, row["same_order"])...)
	}
}

// reproduction is written from a template beside it, which has its words.
const reproduction = "../docs/reproduction.md"

var block = regexp.MustCompile(`(?s)(<!-- golden: ([a-z0-9.-]+) -->\n).*?(<!-- end -->)`)

// docs/reproduction.md is what its template, the definitions and the golden figures give, and the tables
// of docs/mean.md, docs/convex.md, docs/many-classes.md, docs/many-answers.md and
// docs/pairwise-accounting.md are those of the golden figures; -update writes them.
func TestReproductionShowsTheGoldenFigures(t *testing.T) {
	var seen []string
	for _, file := range []string{reproduction, "../docs/mean.md", "../docs/convex.md",
		"../docs/many-classes.md", "../docs/many-answers.md", "../docs/pairwise-accounting.md"} {
		page := must.Get(os.ReadFile(file))(t)
		template := page
		if file == reproduction {
			template = must.Get(os.ReadFile(file + ".tmpl"))(t)
		}
		want := block.ReplaceAllStringFunc(string(template), func(old string) string {
			parts := block.FindStringSubmatch(old)
			build, ok := goldenTables[parts[2]]
			if !ok {
				t.Errorf("%s: no golden table is called %s", file, parts[2])
				return old
			}
			seen = append(seen, parts[2])
			var m markdown
			build(t, &m)
			return parts[1] + m.String() + parts[3]
		})
		if want == string(page) {
			continue
		}
		if !*update {
			t.Errorf("%s is not what the golden figures and the definitions give: go test ./experiment -run "+
				"TestReproduction -update", file)
		} else if err := os.WriteFile(file, []byte(want), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for name := range goldenTables {
		if !slices.Contains(seen, name) {
			t.Errorf("no page shows the table %s", name)
		}
	}
}

// Every experiment of the page's first table exists, and every experiment is on the page.
func TestReproductionNamesEveryExperiment(t *testing.T) {
	page, err := os.ReadFile(reproduction)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range catalog.List() {
		if !strings.Contains(string(page), "`"+d.Name+"`") {
			t.Errorf("%s does not name %s", reproduction, d.Name)
		}
	}
}

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
