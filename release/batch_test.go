package release

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/ledger"
	"github.com/darrm/darrm/ledger/ledgertest"
	"github.com/darrm/darrm/votes"
)

// rowsOf returns n rows of votes, of which none is another's.
func rowsOf(w way, n int) (rows [][]int) {
	classes := w.plan.mechanism.Setting().Classes
	for i := range n {
		row := make([]int, len(w.votes))
		for j := range row {
			row[j], i = i%classes, i/classes
		}
		rows = append(rows, row)
	}
	return rows
}

func mustBatch(t testing.TB, o *Online, b Batch) *AnsweredBatch {
	t.Helper()
	a, err := o.Batch(t.Context(), b)
	if err != nil {
		t.Fatalf("%q: %v", b.Name, err)
	}
	return a
}

// The same batch has one series of labels, paid for once, after every start. The same name with
// other rows, in another order or form, by another mechanism or with another key, gives nothing,
// and nothing is drawn for it.
func TestBatchIsReleasedOnce(t *testing.T) {
	for name, w := range ways(t) {
		t.Run(name, func(t *testing.T) {
			o, options := newOnline(t, w.plan, w.charge, 1e3)
			rows := rowsOf(w, 5)
			first := mustBatch(t, o, Batch{Name: "march", Votes: rows})
			if first.Replayed || first.Simulated || len(first.Labels) != 5 || first.Charge.ID != "march" {
				t.Errorf("%+v", first)
			}
			checkSpent(t, o.book, w.cost(5))
			server := openOnline(t, options)
			again := mustBatch(t, server, Batch{Name: "march", Votes: rows})
			if !again.Replayed || !slices.Equal(again.Labels, first.Labels) {
				t.Errorf("again: %+v, first %v", again, first.Labels)
			}
			swapped, changed := slices.Clone(rows), slices.Clone(rows)
			swapped[0], swapped[1] = swapped[1], swapped[0]
			changed[4] = w.more
			var counts [][]int
			for _, row := range rows {
				counts = append(counts, countsOf(row, w.plan.mechanism.Setting().Classes))
			}
			other := options
			other.Plan, other.Stated = otherPlan(t, w), saidOf(otherPlan(t, w))
			another := options
			another.Key, another.NewKey = filepath.Join(t.TempDir(), "another"), true
			for what, c := range map[string]struct {
				options OnlineOptions
				batch   Batch
			}{
				"another order":     {options, Batch{Name: "march", Votes: swapped}},
				"other rows":        {options, Batch{Name: "march", Votes: changed}},
				"fewer rows":        {options, Batch{Name: "march", Votes: rows[:4]}},
				"counts":            {options, Batch{Name: "march", Counts: counts}},
				"another mechanism": {other, Batch{Name: "march", Votes: rows}},
				"another key":       {another, Batch{Name: "march", Votes: rows}},
			} {
				server, err := OpenOnline(t.Context(), c.options)
				if name == "frozen" && what == "another mechanism" {
					if !errors.Is(err, ledger.ErrConflict) { // other teachers, which were charged
						t.Errorf("%s: %v", what, err)
					}
					continue
				}
				if err != nil {
					t.Fatalf("%s: %v", what, err)
				}
				a, err := server.Batch(t.Context(), c.batch)
				if a != nil || !errors.Is(err, ledger.ErrRefused) {
					t.Errorf("%s: %+v, %v", what, a, err)
				}
				var conflict *ledger.ConflictError
				if errors.As(err, &conflict) && conflict.What == "result" {
					t.Errorf("%s: labels were drawn: %v", what, err)
				}
			}
			checkSpent(t, o.book, w.cost(5))
			// What was refused has taken nothing from the batch.
			if again = mustBatch(t, server, Batch{Name: "march", Votes: rows}); !slices.Equal(again.Labels,
				first.Labels) {
				t.Errorf("at last: %v, first %v", again.Labels, first.Labels)
			}
			// Another release of fresh teachers' votes is no fresh vote.
			april, err := o.Batch(t.Context(), Batch{Name: "april", Votes: rows})
			if name == "fresh" {
				if !errors.Is(err, ledger.ErrSameVotes) {
					t.Errorf("april: %+v, %v", april, err)
				}
			} else if err != nil {
				t.Error(err)
			}
		})
	}
}

// otherPlan is a mechanism for as many teachers and classes that answers otherwise.
func otherPlan(t *testing.T, w way) Plan {
	if w.plan.promise() {
		return private(t, 2e-5, 0)
	}
	m := must.Get(ensemble.LNMax(w.plan.mechanism.Setting(), 0.4))(t)
	return must.Get(NewPlan(m))(t)
}

// A batch is charged by the best composition within the stated slack, and by the sum where none is
// stated; answers one by one cost the sum.
func TestBatchIsComposed(t *testing.T) {
	const n = 400
	w := ways(t)["none"]
	rows := make([][]int, n)
	for i := range rows {
		rows[i] = w.votes
	}
	spent := func(slack *float64) (epsilon, delta float64) {
		c := w.charge
		c.Slack = slack
		o, _ := newOnline(t, w.plan, c, 1e3)
		a := mustBatch(t, o, Batch{Name: "march", Votes: rows})
		total := must.Get(w.plan.WithQueries(n).Totals(new(0.0)))(t)
		if slack != nil {
			total = must.Get(w.plan.WithQueries(n).Totals(slack))(t)
		}
		if a.Totals.Fresh.Cost != total.Fresh.Cost {
			t.Errorf("%v is charged for %v", a.Totals.Fresh.Cost, total.Fresh.Cost)
		}
		return must.Get(o.book.Spent(t.Context()))(t).Ceil()
	}
	if e, d := spent(nil); e != n*0.5 || d != 0 {
		t.Errorf("the sum is (%v, %v)", e, d)
	}
	// Randomised response composes no worse (Kairouz, Oh, Viswanath 2015): about 63.
	if e, d := spent(new(1e-6)); !(e < 100 && d <= 1e-6) {
		t.Errorf("composed it is (%v, %v)", e, d)
	}
}

// Labels follow the mechanism's law, each row with coins of its own.
func TestBatchLaw(t *testing.T) {
	const n = 4000
	w := ways(t)["none"]
	o, _ := newOnline(t, w.plan, w.charge, 1e4)
	counts := countsOf(w.votes, 3)
	rows := make([][]int, n)
	for i := range rows {
		rows[i] = counts
	}
	a := mustBatch(t, o, Batch{Name: "march", Counts: rows})
	law := must.Get(w.plan.mechanism.Probabilities(counts))(t)
	seen := make([]float64, 3)
	for _, label := range a.Labels {
		seen[label]++
	}
	for class, p := range law {
		// Six standard deviations: one run in 10⁸ fails by chance.
		if math.Abs(seen[class]-n*p) > 6*math.Sqrt(n*p*(1-p)) {
			t.Errorf("class %d: %v of %d, want %v", class, seen[class], n, n*p)
		}
	}
	// Rows of the batch and of another one share no coins: as many neighbours agree as by chance.
	b := mustBatch(t, o, Batch{Name: "april", Counts: rows})
	agree, p := 0.0, 0.0
	for i := range n {
		if a.Labels[i] == b.Labels[i] {
			agree++
		}
	}
	for _, x := range law {
		p += x * x
	}
	if math.Abs(agree-n*p) > 6*math.Sqrt(n*p*(1-p)) {
		t.Errorf("two batches agree on %v of %d rows, want %v", agree, n, n*p)
	}
}

// All rows are checked before anything is charged.
func TestBatchRefuses(t *testing.T) {
	for name, w := range ways(t) {
		o, _ := newOnline(t, w.plan, w.charge, 1e3)
		good := rowsOf(w, 2)
		short := [][]int{good[0], good[1][1:]}
		outside := [][]int{good[0], slices.Repeat([]int{7}, len(good[1]))}
		missing := [][]int{good[0], append([]int{-1}, good[1][1:]...)}
		for what, b := range map[string]Batch{
			"no rows":         {Name: "a"},
			"empty":           {Name: "a", Votes: [][]int{}},
			"both":            {Name: "a", Votes: good, Counts: good},
			"a short row":     {Name: "a", Votes: short},
			"no class":        {Name: "a", Votes: outside},
			"a missing vote":  {Name: "a", Votes: missing},
			"a nil row":       {Name: "a", Votes: [][]int{good[0], nil}},
			"counts too few":  {Name: "a", Counts: [][]int{{0, 0}}},
			"no name":         {Votes: good},
			"a shared name":   {Name: "teachers:e", Votes: good},
			"a control in it": {Name: "a\n", Votes: good},
		} {
			a, err := o.Batch(t.Context(), b)
			var input *InputError
			if a != nil || !errors.As(err, &input) {
				t.Errorf("%s, %s: %+v, %v", name, what, a, err)
			}
		}
		if got := entries(t, o.book); len(got) != 0 {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// A missing vote is a fair coin where the release allows it, the same at every replay.
func TestBatchWithMissingVotes(t *testing.T) {
	w := ways(t)["none"]
	_, options := newOnline(t, w.plan, w.charge, 1e3)
	options.Missing = votes.MissingCoin
	o := openOnline(t, options)
	rows := make([][]int, 40)
	for i := range rows {
		rows[i] = slices.Repeat([]int{-1}, 10)
	}
	first := mustBatch(t, o, Batch{Name: "a", Votes: rows})
	again := mustBatch(t, openOnline(t, options), Batch{Name: "a", Votes: rows})
	if !slices.Equal(first.Labels, again.Labels) || len(slices.Compact(slices.Sorted(
		slices.Values(first.Labels)))) != 3 {
		t.Errorf("%v, then %v", first.Labels, again.Labels)
	}
}

// A batch that was paid for and not told is told when it is asked again; of one that is not paid
// for nothing is known.
func TestBatchAfterAnInterruption(t *testing.T) {
	w := ways(t)["none"]
	o, options := newOnline(t, w.plan, w.charge, 2)
	rows := rowsOf(w, 3)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if a, err := o.Batch(ctx, Batch{Name: "a", Votes: rows}); a != nil || err == nil {
		t.Errorf("%+v, %v", a, err)
	}
	// Charged, and dead before the labels were drawn.
	c := must.Get(o.cast(o.book, &Batch{Name: "a", Votes: rows}))(t)
	bill := must.Get(o.batchBill(&Batch{Name: "a"}, &c, new(AnsweredBatch)))(t)
	must.Get(bill.Pay(t.Context(), o.book, false))(t)
	a := mustBatch(t, openOnline(t, options), Batch{Name: "a", Votes: rows})
	if !a.Replayed {
		t.Errorf("%+v", a)
	}
	checkSpent(t, o.book, 1.5)
	if a, err := o.Batch(t.Context(), Batch{Name: "b", Votes: rows}); !errors.Is(err,
		ledger.ErrExceeded) {
		t.Errorf("%+v, %v", a, err)
	}
	checkSpent(t, o.book, 1.5)
}

// The ledger of a batch has nothing that is computed from the votes but keyed digests, and a batch
// and a query of one name are two releases.
func TestBatchAndQuery(t *testing.T) {
	w := ways(t)["none"]
	o, options := newOnline(t, w.plan, w.charge, 10)
	mustBatch(t, o, Batch{Name: "a", Votes: [][]int{w.votes}})
	if a, err := o.Answer(t.Context(), Query{ID: "a", ReplayKey: myKey, Votes: w.votes}); !errors.Is(err,
		ledger.ErrConflict) {
		t.Errorf("%+v, %v", a, err)
	}
	mustAnswer(t, o, Query{ID: "b", ReplayKey: myKey, Votes: w.votes})
	if a, err := o.Batch(t.Context(), Batch{Name: "b", Votes: [][]int{w.votes}}); !errors.Is(err,
		ledger.ErrConflict) {
		t.Errorf("%+v, %v", a, err)
	}
	// The key of a batch is the key of the ledger's answers.
	options.Key = filepath.Join(t.TempDir(), "another")
	if _, err := OpenOnline(t.Context(), options); err == nil {
		t.Error("another key beside a batch and an answer")
	}
	alone, options := newOnline(t, w.plan, w.charge, 10)
	mustBatch(t, alone, Batch{Name: "a", Votes: rowsOf(w, 3)})
	options.Key = filepath.Join(t.TempDir(), "another")
	if _, err := OpenOnline(t.Context(), options); err == nil {
		t.Error("another key beside a batch")
	}
}

// What a ledger in memory pays for is marked.
func TestSimulatedLedger(t *testing.T) {
	w := ways(t)["none"]
	book := ledgertest.New(t, must.Get(ledger.NewBudget(10, 0))(t), ledger.ReplaceOne)
	o := must.Get(OpenOnline(t.Context(), OnlineOptions{Plan: w.plan, Stated: saidOf(w.plan),
		Book: book, Key: filepath.Join(t.TempDir(), "key")}))(t)
	if _, err := OpenOnline(t.Context(), OnlineOptions{Plan: w.plan, Stated: saidOf(w.plan),
		Book: book, Charge: Charge{Ledger: "l"}, Key: filepath.Join(t.TempDir(), "key")}); !isUsage(err) {
		t.Errorf("a book and a ledger: %v", err)
	}
	if a := mustBatch(t, o, Batch{Name: "a", Votes: rowsOf(w, 2)}); !a.Simulated {
		t.Errorf("%+v", a)
	}
	if a := mustAnswer(t, o, Query{ID: "b", Votes: w.votes}); !a.Simulated {
		t.Errorf("%+v", a)
	}
	dir := t.TempDir()
	file, out := filepath.Join(dir, "votes.csv"), filepath.Join(dir, "labels.csv")
	row := strings.Trim(strings.Join(strings.Fields(fmt.Sprint(w.votes)), ","), "[]")
	if err := os.WriteFile(file, []byte(row+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := Labels{Votes: []string{file}, Read: votes.Options{K: len(w.votes),
		Header: votes.HeaderNo, Classes: []string{"0", "1", "2"}},
		Plan:   w.plan,
		Charge: Charge{Ledger: book.Path(), RequestID: "c"}, Output: FileOutput{Path: out}}.Run(t.Context())
	if err != nil || !s.Simulated {
		t.Fatalf("%+v, %v", s, err)
	}
	if got, _ := os.ReadFile(out); !strings.Contains(string(got), "simulat") {
		t.Errorf("a file of a test is not marked:\n%s", got)
	}
}

// lapse is a context that is done from the n-th time on that it is asked after the ledger took a
// charge.
type lapse struct {
	context.Context
	book   string
	empty  int64 // bytes of the ledger without a charge
	n      int
	asked  int
	lapsed bool
}

func (c *lapse) Err() error {
	if at, err := os.Stat(c.book); err != nil || at.Size() == c.empty {
		return nil
	}
	if c.asked++; c.asked >= c.n {
		c.lapsed = true
		return context.Canceled
	}
	return nil
}

// A batch has all its labels or none, at whatever point after the charge it is broken off; it is
// finished by the same batch.
func TestBatchIsBrokenOff(t *testing.T) {
	w := ways(t)["none"]
	rows := rowsOf(w, 3)
	for n, goOn := 1, true; goOn; n++ {
		o, options := newOnline(t, w.plan, w.charge, 10)
		at := must.Get(os.Stat(options.Charge.Ledger))(t)
		ctx := &lapse{Context: t.Context(), book: options.Charge.Ledger, empty: at.Size(), n: n}
		a, err := o.Batch(ctx, Batch{Name: "a", Votes: rows})
		if err == nil && len(a.Labels) != len(rows) {
			t.Errorf("broken off at %d: %d labels", n, len(a.Labels))
		}
		if a := mustBatch(t, o, Batch{Name: "a", Votes: rows}); len(a.Labels) != len(rows) {
			t.Errorf("broken off at %d, and again: %d labels", n, len(a.Labels))
		}
		if goOn = ctx.lapsed; n == 1 && !goOn {
			t.Error("nobody asks the context after the charge")
		}
	}
}

// Labels that nobody waits for any more are not drawn.
func TestLabelsOfABatchHearTheContext(t *testing.T) {
	o, _ := newOnline(t, ways(t)["none"].plan, Charge{}, 10)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	c := castBatch{ballots: []ballot{{counts: [][]int{{2, 1}}}}}
	if labels, err := o.label(ctx, &c, &AnsweredBatch{}); labels != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("%v, %v", labels, err)
	}
}
