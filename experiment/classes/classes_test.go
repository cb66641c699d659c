package classes

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/experiment"
	"github.com/darrm/darrm/internal/testing/experimenttest"
	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/plurality"
	"github.com/darrm/darrm/plurality/solve"
)

var catalog = experiment.New(Field())

func prompts(t *testing.T, queries int) (*ballots, ensemble.Setting) {
	t.Helper()
	b, err := open(t.Context(), "prompts-4-50", 4, queries)
	if err != nil {
		t.Fatal(err)
	}
	return b, ensemble.Setting{K: b.k, Classes: b.classes, Affected: affected,
		Neighbours: accountant.ReplaceOne}
}

// Scores by places among sorted counts are those by classes that package ensemble works out: how
// often an answer is right, and how often it abstains.
func TestScoresAreThoseOfTheClasses(t *testing.T) {
	b, s := prompts(t, 60)
	target := accountant.Cost{Epsilon: 0.3, Delta: 1e-6}
	for _, name := range append(slices.Clone(calibrated), "confident-gnmax") {
		m, err := ensemble.Calibrated(name, s, target, ensemble.Check{Ratio: 4})
		if err != nil {
			t.Fatal(err)
		}
		all, err := ensemble.NewBallots(b.k, b.classes)
		if err != nil {
			t.Fatal(err)
		}
		for i, counts := range b.counts {
			if err := all.Add(counts, b.truth[i]); err != nil {
				t.Fatal(err)
			}
		}
		want, err := m.Evaluate(all)
		if err != nil {
			t.Fatal(err)
		}
		got, err := b.score(t.Context(), m)
		if err != nil {
			t.Fatal(err)
		}
		if right, abstains := stat.Mean(got.right, nil),
			stat.Mean(got.abstains, nil); math.Abs(right-want.Accuracy) > 1e-9 ||
			math.Abs(abstains-want.Abstained) > 1e-9 {
			t.Errorf("%s: right on %v, abstains on %v; want %v and %v", name, right, abstains, want.Accuracy,
				want.Abstained)
		}
	}
}

// Under the prior that the votes are themselves, how often an answer has the most votes is the
// value that package plurality works out for the program's objective, and so for permute-and-flip.
func TestAgreementIsTheObjective(t *testing.T) {
	b, s := prompts(t, 200)
	problem := plurality.Problem{K: b.k, Classes: b.classes, Epsilon: 0.2, Affected: affected}
	table, err := solve.Optimal(t.Context(), problem, b.prior(),
		solve.Options{Method: solve.FirstOrder, Gap: 0.1})
	if err != nil {
		t.Fatal(err)
	}
	best, err := ensemble.Plurality(table.Certified, s.Neighbours)
	if err != nil {
		t.Fatal(err)
	}
	other, err := ensemble.PermuteAndFlip(s, problem.Epsilon)
	if err != nil {
		t.Fatal(err)
	}
	baselines := table.Baselines()
	i := slices.IndexFunc(baselines, func(x plurality.Baseline) bool {
		return x.Name == "permute-and-flip"
	})
	if i < 0 {
		t.Fatalf("no permute-and-flip among %+v", baselines)
	}
	for _, c := range []struct {
		m    *ensemble.Mechanism
		want float64
	}{{best, table.Value}, {other, baselines[i].Value}} {
		got, err := b.score(t.Context(), c.m)
		if err != nil {
			t.Fatal(err)
		}
		if v := stat.Mean(got.agrees, nil); math.Abs(v-c.want) > 1e-9 {
			t.Errorf("%s: agrees in %v, by the objective %v", c.m.Name(), v, c.want)
		}
	}
	// Permute-and-flip needs its own ε for what it has, and never less is said to suffice.
	m := &measurement{votes: b, setting: s, run: &experiment.Run{Context: t.Context()}}
	eps, err := m.flipFor(baselines[i].Value, problem.Epsilon)
	if err != nil {
		t.Fatal(err)
	}
	if !(eps <= problem.Epsilon+1e-9 && eps > problem.Epsilon/1.002) {
		t.Errorf("permute-and-flip at ε = %v needs %v", problem.Epsilon, eps)
	}
}

// Ties: without noise each class with the most votes is as likely, and any of them has the most
// votes.
func TestTies(t *testing.T) {
	b := &ballots{k: 5, classes: 3, counts: [][]int{{1, 2, 2}, {5, 0, 0}}, truth: []int{2, 1},
		kinds: []int{0, 1}, histograms: [][]int{{2, 2, 1}, {5, 0, 0}}}
	s, err := b.score(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(s.agrees, []float64{1, 1}) || !slices.Equal(s.right, []float64{0.5, 0}) {
		t.Errorf("%+v", s)
	}
}

func TestRefusals(t *testing.T) {
	text, err := catalog.Source("many-classes")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range [][3]string{
		{`"classes": 4`, `"classes": 2`, "classes"},
		{`"delta": 1e-6`, `"delta": 0`, "delta"},
		{`"concentration": 1`, `"concentration": 0`, "concentration"},
		{`"accuracies": [0.5, 0.3, 0.8]`, `"accuracies": [0.05]`, "accuracies"},
		{`"accuracies": [0.5, 0.3, 0.8]`, `"accuracies": []`, "accuracies"},
		{`"grouped": "mnist-10-groups"`, `"grouped": "none"`, "grouped"},
		{`"votes": "fashion-10-25"`, `"votes": "mnist-10-25"`, "twice"},
		{`"eps": [0.1], "accuracies": [0.5], "grouped"`, `"eps": [0.3], "accuracies": [0.5], "grouped"`,
			"eps of grouped"},
		{`{"votes": "mnist-10-25", "prior"`, `{"votes": "none", "prior"`, "votes of a claim"},
		{`"prior": "uneven shares", "eps": [0.1, 0.2]`, `"prior": "uneven shares", "eps": [0.3]`,
			"eps of a claim"},
		{`"prior": "μ = 0.8"`, `"prior": "μ = 0.9"`, "prior of a claim"},
		{`"more": 0.003`, `"more": -1`, "more"},
	} {
		changed := strings.Replace(string(text), c[0], c[1], 1)
		if _, err := catalog.Parse([]byte(changed)); changed == string(text) || err == nil ||
			!strings.Contains(err.Error(), c[2]) {
			t.Errorf("%s: %v", c[1], err)
		}
	}
	if _, err := open(t.Context(), "none", 3, 0); err == nil {
		t.Error("votes that are not there are opened")
	}
}

// golden returns the golden figures of the whole experiment.
func golden(t *testing.T) (*parameters, [][]outcome) {
	t.Helper()
	text, err := catalog.Source("many-classes")
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Parameters json.RawMessage }
	p := &parameters{}
	if err := json.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(file.Parameters, p); err != nil {
		t.Fatal(err)
	}
	rows := experimenttest.Rows(t, filepath.Join("..", "testdata", "golden", "many-classes",
		"scores.csv"))
	found := make([][]outcome, len(p.Sets))
	for i, s := range p.Sets {
		for _, eps := range s.Epsilons {
			var o outcome
			for _, x := range rows {
				number := func(name string) float64 {
					v, err := strconv.ParseFloat(x[name], 64)
					if err != nil && x[name] != "" {
						t.Fatal(err)
					}
					return v
				}
				if x["votes"] != s.Votes || number("eps") != eps {
					continue
				}
				interval := func(name string) measured {
					return measured{number(name), number(name + "_low"), number(name + "_high")}
				}
				o.K, o.Queries, o.Refused = int(number("teachers")), int(number("queries")), x["refused"]
				o.Rows = append(o.Rows, row{x["mechanism"], x["prior"], interval("agrees"), interval("right"),
					number("abstains"), number("bound"), number("gap"), interval("agrees_over"),
					interval("right_over"), number("flip_eps")})
			}
			if len(o.Rows) == 0 {
				t.Fatalf("no golden figures of %s at ε = %g", s.Votes, eps)
			}
			found[i] = append(found[i], o)
		}
	}
	return p, found
}

// Claims hold on the golden figures, and each fails when one number of them is another.
func TestClaimsHoldOnGoldenFigures(t *testing.T) {
	p, found := golden(t)
	d := experimenttest.Load(t, catalog, "many-classes")
	judged := func() []experiment.Claim {
		r := d.NewRun(context.Background(), experiment.Options{})
		p.judge(r, found)
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
	for i := range found {
		for j := range found[i] {
			for k := range found[i][j].Rows {
				x := &found[i][j].Rows[k]
				for _, v := range []*float64{&x.Agrees.Mean, &x.Right.Low, &x.Right.High, &x.Bound, &x.Gap,
					&x.OverAgrees.Low, &x.OverAgrees.High, &x.FlipEpsilon} {
					old := *v
					for _, other := range []float64{old + 1, old - 1} {
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
		}
	}
	for text := range left {
		t.Errorf("claim holds whatever is broken: %s", text)
	}
}

// The figures of votes/README.md are those of the files, and the programs that made them still
// work.
func TestVotes(t *testing.T) {
	page, err := os.ReadFile("votes/README.md")
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("votes/*.csv.gz")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		name := strings.TrimSuffix(filepath.Base(f), ".csv.gz")
		classes, err := strconv.Atoi(strings.Split(strings.Replace(name, "public-", "", 1), "-")[1])
		if err != nil {
			t.Fatal(err)
		}
		b, err := open(t.Context(), name, classes, 0)
		if err != nil {
			t.Fatal(err)
		}
		right, has := 0.0, 0.0
		for i, counts := range b.counts {
			most := slices.Max(counts)
			has += float64(most)
			if slices.Index(counts, most) == b.truth[i] {
				right++
			}
		}
		n := float64(b.len())
		thousands := fmt.Sprintf("%d,%03d", b.len()/1000, b.len()%1000)
		line := fmt.Sprintf("| `%s` | %d | %d | %s | %.2f %% | %.2f %% |", name, b.k, classes, thousands,
			100*right/n, 100*has/n/float64(b.k))
		if !strings.Contains(string(page), line) {
			t.Errorf("votes/README.md does not say %s", line)
		}
	}
	if n := strings.Count(string(page), "\n| `"); len(files) != n {
		t.Errorf("%d files, %d lines", len(files), n)
	}
	if out, err := exec.Command("go", "vet",
		"votes/make.go").CombinedOutput(); err != nil {
		t.Errorf("make.go: %v\n%s", err, out)
	}
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no Python")
	}
	dir := t.TempDir()
	if out, err := exec.Command(python, "votes/make.py", dir).CombinedOutput(); err != nil {
		t.Fatalf("make.py: %v\n%s", err, out)
	}
	for _, name := range []string{"prompts-4-50", "prompts-public-4-50", "prompts-4-25",
		"mnist-2-101"} {
		if got, want := unpacked(t, filepath.Join(dir, name+".csv.gz")),
			unpacked(t, "votes/"+name+".csv.gz"); !bytes.Equal(got, want) {
			t.Errorf("make.py makes other votes of %s", name)
		}
	}
}

func unpacked(t *testing.T, path string) []byte {
	t.Helper()
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	return must.Get(io.ReadAll(z))(t)
}
