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
	"github.com/darrm/darrm/internal/testing/experimenttest"
	"github.com/darrm/darrm/internal/testing/must"
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
// docs/many-answers.md, docs/many-answers.md and docs/pairwise.md, by the names of their
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
// of docs/mean.md, docs/convex.md, docs/many-answers.md, docs/students.md and
// docs/pairwise.md are those of the golden figures; -update writes them.
func TestReproductionShowsTheGoldenFigures(t *testing.T) {
	var seen []string
	for _, file := range []string{reproduction, "../docs/mean.md", "../docs/convex.md",
		"../docs/many-answers.md", "../docs/students.md", "../docs/pairwise.md"} {
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
