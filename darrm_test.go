package darrm_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/darrm/darrm"
	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/constraints"
	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/gamma/solve"
	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/internal/testing/raced"
	"github.com/darrm/darrm/ledger"
	"github.com/darrm/darrm/ledger/ledgertest"
	"github.com/darrm/darrm/release"
)

func newBudget(t *testing.T, epsilon, delta float64) ledger.Budget {
	t.Helper()
	return must.Get(ledger.NewBudget(epsilon, delta))(t)
}

// nine promise nothing, each trained on a part of its own.
var nine = darrm.Teachers{K: 9, Affected: 1, Neighbours: darrm.ReplaceOne}

func newReleaser(t *testing.T, m *darrm.Mechanism, book *ledger.Ledger,
	options ...darrm.Option) *darrm.Releaser {
	t.Helper()
	options = append(options, darrm.KeyFile(filepath.Join(t.TempDir(), "key")))
	return must.Get(darrm.NewReleaser(t.Context(), m, book, options...))(t)
}

// What is planned within a budget is what a batch of as many rows is charged, and three times as
// many do not fit.
func TestWithin(t *testing.T) {
	all := darrm.Teachers{K: 5, Neighbours: darrm.ReplaceOne}
	three, fresh, dear := all, all, all
	three.Classes, three.Affected = 3, 1
	fresh.Epsilon, fresh.Delta, fresh.Randomness = 0.1, 1e-6, darrm.Fresh
	dear.Epsilon, dear.Randomness, dear.Ensemble = 9, darrm.Frozen, "e"
	for name, c := range map[string]struct {
		teachers       darrm.Teachers
		epsilon, delta float64
		row            []int
	}{
		"two classes":                    {nine, 5, 0, []int{2, 7}},
		"composed":                       {nine, 5, 1e-6, []int{2, 7}},
		"three classes":                  {three, 5, 0, []int{1, 1, 3}},
		"all teachers":                   {all, 5, 0, []int{1, 4}},
		"fresh teachers":                 {fresh, 2, 1e-3, []int{1, 4}},
		"a training that costs too much": {dear, 5, 0, []int{1, 4}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const n = 40
			budget := newBudget(t, c.epsilon, c.delta)
			m := must.Get(darrm.Optimal(t.Context(), c.teachers, darrm.Within(budget, n)))(t)
			book := ledgertest.New(t, budget, darrm.ReplaceOne)
			rows := slices.Repeat(darrm.Counts{c.row}, n)
			a, err := newReleaser(t, m, book).Batch(t.Context(), "a", rows)
			if err != nil || len(a.Labels) != n || !a.Simulated {
				t.Fatalf("%+v, %v", a, err)
			}
			// Three times as many are more than the budget, or than a table for n labels answers.
			more, err := newReleaser(t, m, ledgertest.New(t, budget, darrm.ReplaceOne)).Batch(
				t.Context(), "a", slices.Repeat(rows, 3))
			if more != nil || !errors.Is(err, ledger.ErrExceeded) &&
				!strings.Contains(fmt.Sprint(err), "at most 40") {
				t.Errorf("three times as many: %+v, %v", more, err)
			}
		})
	}
}

// A reach that is left out is that of all teachers, by each aim.
func TestUnstatedReachIsAll(t *testing.T) {
	for name, aim := range map[string]darrm.Aim{"a label": darrm.PerLabel(1),
		"a budget": darrm.Within(newBudget(t, 5, 0), 10)} {
		m := must.Get(darrm.Optimal(t.Context(), darrm.Teachers{K: 5, Neighbours: darrm.ReplaceOne}, aim))(t)
		book := ledgertest.New(t, newBudget(t, 9, 0), darrm.ReplaceOne)
		if s := m.Labels(book, "a").Plan.Mechanism().Setting(); s.Affected != 5 {
			t.Errorf("%s: %+v", name, s)
		}
	}
}

// Teachers whose own privacy keeps the budget need no noise, and there is nothing to draw.
func TestWithinNeedsNoNoise(t *testing.T) {
	raced.Sequential(t)
	private := darrm.Teachers{K: 5, Affected: 1, Epsilon: 0.1, Neighbours: darrm.ReplaceOne,
		Randomness: darrm.Frozen, Ensemble: "e"}
	m, err := darrm.Optimal(t.Context(), private, darrm.Within(newBudget(t, 1, 0), 100))
	if m != nil || err == nil || !strings.Contains(err.Error(), "no noise is needed") {
		t.Errorf("%+v, %v", m, err)
	}
}

// A table is for the teachers that it was made for: each field that is stated otherwise is refused.
func TestReadTable(t *testing.T) {
	p := must.Get(constraints.NewProblem(5, 2, 0.1, 1e-6))(t)
	p.Affected = 3
	table := must.Get(solve.Optimal(t.Context(), p, solve.Options{}))(t)
	var file bytes.Buffer
	if err := table.Encode(&file); err != nil {
		t.Fatal(err)
	}
	stated := darrm.Teachers{K: 5, Affected: 3, Epsilon: 0.1, Delta: 1e-6,
		Neighbours: darrm.ReplaceOne, Randomness: darrm.Fresh}
	m := must.Get(darrm.ReadTable(t.Context(), stated, bytes.NewReader(file.Bytes())))(t)
	if e, d := p.Total(); m.PerLabel() != (accountant.Cost{Epsilon: e, Delta: d}) {
		t.Errorf("%v", m.PerLabel())
	}
	book := ledgertest.New(t, newBudget(t, 1, 1e-3), darrm.ReplaceOne)
	if _, err := newReleaser(t, m, book).Answer(t.Context(), "a", []int{0, 1, 1, 1, 0}); err != nil {
		t.Error(err)
	}
	for what, change := range map[string]func(*darrm.Teachers){
		"K":          func(t *darrm.Teachers) { t.K = 7 },
		"affected":   func(t *darrm.Teachers) { t.Affected = 1 },
		"all":        func(t *darrm.Teachers) { t.Affected = 0 },
		"epsilon":    func(t *darrm.Teachers) { t.Epsilon = 0.2 },
		"no epsilon": func(t *darrm.Teachers) { t.Epsilon = 0 },
		"delta":      func(t *darrm.Teachers) { t.Delta = 0 },
		"classes":    func(t *darrm.Teachers) { t.Classes = 3 },
		"neighbours": func(t *darrm.Teachers) { t.Neighbours = 0 },
	} {
		other := stated
		change(&other)
		if m, err := darrm.ReadTable(t.Context(), other, bytes.NewReader(file.Bytes())); m != nil ||
			err == nil {
			t.Errorf("%s: %+v, %v", what, m, err)
		}
	}
	// What the table does not say is the ledger's to refuse.
	other := stated
	other.Neighbours = darrm.AddOrRemoveOne
	m = must.Get(darrm.ReadTable(t.Context(), other, bytes.NewReader(file.Bytes())))(t)
	key := darrm.KeyFile(filepath.Join(t.TempDir(), "key"))
	book = ledgertest.New(t, newBudget(t, 1, 1e-3), darrm.ReplaceOne)
	if _, err := darrm.NewReleaser(t.Context(), m, book, key); !errors.Is(err, ledger.ErrRelation) {
		t.Errorf("another relation: %v", err)
	}
	stated.Randomness = ""
	m = must.Get(darrm.ReadTable(t.Context(), stated, bytes.NewReader(file.Bytes())))(t)
	if _, err := darrm.NewReleaser(t.Context(), m, book, key); err == nil {
		t.Error("nobody said how private teachers spend")
	}
}

// A mechanism from elsewhere is compared with what is stated, field by field.
func TestUse(t *testing.T) {
	setting := ensemble.Setting{K: 9, Classes: 2, Affected: 1, Neighbours: darrm.ReplaceOne}
	noisy := must.Get(release.NewPlan(must.Get(ensemble.LNMax(setting, 0.5))(t)))(t)
	m := must.Get(darrm.Use(nine, noisy))(t)
	book := ledgertest.New(t, newBudget(t, 1, 0), darrm.ReplaceOne)
	if _, err := newReleaser(t, m, book).Batch(t.Context(), "a", darrm.Counts{{2, 7}}); err != nil {
		t.Error(err)
	}
	for what, change := range map[string]func(*darrm.Teachers){
		"K":          func(t *darrm.Teachers) { t.K = 11 },
		"affected":   func(t *darrm.Teachers) { t.Affected = 2 },
		"all":        func(t *darrm.Teachers) { t.Affected = 0 },
		"a promise":  func(t *darrm.Teachers) { t.Epsilon = 0.1 },
		"delta":      func(t *darrm.Teachers) { t.Delta = 1e-5 },
		"classes":    func(t *darrm.Teachers) { t.Classes = 3 },
		"neighbours": func(t *darrm.Teachers) { t.Neighbours = darrm.AddOrRemoveOne },
	} {
		other := nine
		change(&other)
		if m, err := darrm.Use(other, noisy); m != nil || err == nil {
			t.Errorf("%s: %+v, %v", what, m, err)
		}
	}
	if m, err := darrm.Use(nine, release.Plan{}); m != nil || err == nil {
		t.Errorf("the zero plan: %+v, %v", m, err)
	}
}

// Labels of files cost what the mechanism states, and files of other votes are refused uncharged.
func TestLabels(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) []string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return []string{path}
	}
	const head = "query,c1,c2,c3,c4,c5,c6,c7,c8,c9\n"
	m := must.Get(darrm.Optimal(t.Context(), nine, darrm.PerLabel(1)))(t)
	book, _, err := ledger.OpenOrCreate(t.Context(), filepath.Join(dir, "l"), newBudget(t, 5, 0),
		darrm.ReplaceOne)
	if err != nil {
		t.Fatal(err)
	}
	run := func(l release.Labels, votes []string, out string) (*release.Summary, error) {
		l.Votes, l.Output.Path = votes, filepath.Join(dir, out)
		return l.Run(t.Context())
	}
	many := m.Labels(book, "three")
	many.Read.Classes = []string{"0", "1", "2"}
	three := file("three.csv", head+"a,1,1,1,1,1,1,1,1,2\n")
	for what, err := range map[string]error{
		"three classes": second(run(many, three, "three-out.csv")),
		"ten teachers": second(run(m.Labels(book, "ten"),
			file("ten.csv", "query,c1,c2,c3,c4,c5,c6,c7,c8,c9,c10\na,1,1,1,1,1,1,1,1,1,1\n"), "ten-out.csv")),
		"no book":        second(run(m.Labels(nil, "a"), three, "nobook.csv")),
		"zero mechanism": second(run(new(darrm.Mechanism).Labels(book, "a"), three, "zero.csv")),
		"nil mechanism":  second(run((*darrm.Mechanism)(nil).Labels(book, "a"), three, "nil.csv")),
	} {
		if err == nil {
			t.Errorf("%s: no error", what)
		}
	}
	state := must.Get(book.State(t.Context()))(t)
	if state.Spent != (ledger.Cost{}) {
		t.Error("refused files were charged")
	}
	two := file("two.csv", head+"a,1,1,1,1,1,1,1,1,0\nb,0,0,0,0,0,0,0,1,0\n")
	s, err := run(m.Labels(book, "march"), two, "labels.csv")
	if err != nil || s.Cost() != (accountant.Cost{Epsilon: 2}) || s.Simulated || !s.Remembered {
		t.Errorf("%+v, %v", s, err)
	}
	if state = must.Get(book.State(t.Context()))(t); state.Spent != must.Get(ledger.NewCost(2, 0))(t) {
		t.Errorf("spent %v", state.Spent)
	}
}

// second returns the error of a release.
func second(_ *release.Summary, err error) error { return err }

// A release of files has all that its mechanism states, so that nothing is stated twice: the
// teachers, what the plan spends on the composition, and the ledger. What a ledger for tests pays
// for is marked.
func TestLabelsOfFiles(t *testing.T) {
	dir := t.TempDir()
	file, out := filepath.Join(dir, "votes.csv"), filepath.Join(dir, "labels.csv")
	if err := os.WriteFile(file, []byte("a,b,c,d,e,f,g,h,i\n1,1,1,1,0,1,1,1,1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	private := nine
	private.Affected, private.Epsilon, private.Delta = 3, 0.5, 1e-6
	private.Randomness, private.Ensemble = darrm.Frozen, "e"
	m := must.Get(darrm.Optimal(t.Context(), private, darrm.PerLabel(0.7)))(t)
	book := ledgertest.New(t, newBudget(t, 2, 1e-3), darrm.ReplaceOne)
	l := m.Labels(book, "march")
	l.Votes, l.Output.Path = []string{file}, out
	s := must.Get(l.Run(t.Context()))(t)
	spent := must.Get(book.Spent(t.Context()))(t)
	// The training, of which a record reaches three.
	if epsilon, _ := spent.Ceil(); epsilon != 1.5 || s.Cost().Epsilon != 1.5 || !s.Simulated {
		t.Errorf("%v is spent, the labels cost %v, simulated: %t", spent, s.Cost(), s.Simulated)
	}
	if got, _ := os.ReadFile(out); !strings.Contains(string(got), "simulat") {
		t.Errorf("labels of a test are not marked:\n%s", got)
	}
	a := must.Get(newReleaser(t, m, book).Batch(t.Context(), "april", darrm.Counts{{1, 8}}))(t)
	if a.Cost != s.Cost() || a.Charge.PaidBy != "teachers:e" {
		t.Errorf("a batch costs %v, files %v", a.Cost, s.Cost())
	}
	planned := must.Get(darrm.Optimal(t.Context(), nine,
		darrm.Within(newBudget(t, 5, 1e-6), 40)))(t).Labels(book, "b")
	if planned.Charge.Slack == nil || planned.Charge.Teachers != "" || planned.Read.K != 9 {
		t.Errorf("%+v", planned.Charge)
	}
}

// A program that is started again gives the same labels for nothing, and one that has lost its key
// gives none.
func TestRestart(t *testing.T) {
	dir := t.TempDir()
	budget := newBudget(t, 5, 0)
	rows := darrm.Votes{{0, 1, 1, 1, 1, 1, 1, 1, 1}, {0, 1, 0, 1, 0, 1, 0, 0, 0}}
	start := func(key string) (*release.AnsweredBatch, error) {
		m := must.Get(darrm.Optimal(t.Context(), nine, darrm.PerLabel(1)))(t)
		book, _, err := ledger.OpenOrCreate(t.Context(), filepath.Join(dir, "l"), budget,
			darrm.ReplaceOne)
		if err != nil {
			t.Fatal(err)
		}
		r, err := darrm.NewReleaser(t.Context(), m, book, darrm.KeyFile(filepath.Join(dir, key)))
		if err != nil {
			return nil, err
		}
		return r.Batch(t.Context(), "march", rows)
	}
	first := must.Get(start("key"))(t)
	again := must.Get(start("key"))(t)
	if first.Replayed || !again.Replayed || !slices.Equal(first.Labels, again.Labels) ||
		first.Simulated {
		t.Errorf("%+v, then %+v", first, again)
	}
	if a, err := start("another"); a != nil || err == nil {
		t.Errorf("with another key: %+v, %v", a, err)
	}
}

// Calls that make no sense are errors.
func TestMisuse(t *testing.T) {
	ctx := t.Context()
	m := must.Get(darrm.Optimal(ctx, nine, darrm.PerLabel(1)))(t)
	book := ledgertest.New(t, newBudget(t, 9, 0), darrm.ReplaceOne)
	key := darrm.KeyFile(filepath.Join(t.TempDir(), "key"))
	optimal := func(t darrm.Teachers, aim darrm.Aim) error {
		_, err := darrm.Optimal(ctx, t, aim)
		return err
	}
	opened := func(m *darrm.Mechanism, book *ledger.Ledger, options ...darrm.Option) error {
		_, err := darrm.NewReleaser(ctx, m, book, options...)
		return err
	}
	batch := func(r *darrm.Releaser, rows darrm.Rows) error {
		_, err := r.Batch(ctx, "a", rows)
		return err
	}
	with := func(change func(*darrm.Teachers)) darrm.Teachers {
		t := nine
		change(&t)
		return t
	}
	for name, err := range map[string]error{
		"no teachers":        optimal(darrm.Teachers{}, darrm.PerLabel(1)),
		"no teachers at all": optimal(darrm.Teachers{}, darrm.Within(newBudget(t, 1, 0), 1)),
		"no aim":             optimal(nine, darrm.Aim{}),
		"NaN":                optimal(nine, darrm.PerLabel(math.NaN())),
		"no relation": optimal(with(func(t *darrm.Teachers) { t.Neighbours = 0 }),
			darrm.PerLabel(1)),
		"no relation within": optimal(with(func(t *darrm.Teachers) { t.Neighbours = 0 }),
			darrm.Within(newBudget(t, 1, 0), 1)),
		"t above K":   optimal(with(func(t *darrm.Teachers) { t.Affected = 10 }), darrm.PerLabel(1)),
		"t below 0":   optimal(with(func(t *darrm.Teachers) { t.Affected = -1 }), darrm.PerLabel(1)),
		"one class":   optimal(with(func(t *darrm.Teachers) { t.Classes = 1 }), darrm.PerLabel(1)),
		"delta alone": optimal(with(func(t *darrm.Teachers) { t.Delta = 1e-5 }), darrm.PerLabel(1)),
		"frozen teachers that promise nothing": optimal(with(func(t *darrm.Teachers) {
			t.Randomness, t.Ensemble = ensemble.FrozenTeachers, "e"
		}), darrm.PerLabel(1)),
		"epsilon < 0":    optimal(with(func(t *darrm.Teachers) { t.Epsilon = -1 }), darrm.PerLabel(1)),
		"no budget":      optimal(nine, darrm.Within(ledger.Budget{}, 3)),
		"no queries":     optimal(nine, darrm.Within(newBudget(t, 1, 0), 0)),
		"no mechanism":   opened(nil, book, key),
		"zero mechanism": opened(new(darrm.Mechanism), book, key),
		"no book":        opened(m, nil, key),
		"a relation of no ledger": opened(must.Get(darrm.Optimal(ctx, with(func(t *darrm.Teachers) {
			t.Neighbours = accountant.BlankOne
		}), darrm.PerLabel(1)))(t), book, key),
		"zero book":     opened(m, new(ledger.Ledger), key),
		"nil option":    opened(m, book, nil),
		"nil releaser":  batch(nil, darrm.Counts{{1, 8}}),
		"no key":        opened(m, book),
		"slack":         opened(m, book, key, darrm.Slack(1)),
		"zero releaser": batch(new(darrm.Releaser), darrm.Counts{{1, 8}}),
		"no rows":       batch(newReleaser(t, m, book), nil),
		"empty rows":    batch(newReleaser(t, m, book), darrm.Votes{}),
		"a short row":   batch(newReleaser(t, m, book), darrm.Votes{{1}}),
	} {
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if c := new(darrm.Mechanism).PerLabel(); c != (accountant.Cost{Epsilon: math.Inf(1), Delta: 1}) {
		t.Errorf("%v", c)
	}
	if _, err := darrm.ReadTable(ctx, nine, nil); err == nil {
		t.Error("no table: no error")
	}
	if _, err := new(darrm.Releaser).Answer(ctx, "a", []int{1}); err == nil {
		t.Error("zero releaser: no error")
	}
}

// The package's own page is one screen.
func TestDocIsOneScreen(t *testing.T) {
	out, err := exec.Command("go", "doc", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(out, []byte("\n")); n > 50 {
		t.Errorf("%d lines:\n%s", n, out)
	}
}
