package release

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/gamma"
	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/ledger"
	"github.com/darrm/darrm/votes"
)

// newOnline serves from a new ledger. Another call with the same options is another server.
func newOnline(t testing.TB, plan Plan, c Charge, budget float64) (*Online, OnlineOptions) {
	t.Helper()
	c.Ledger = newLedger(t, budget).Path()
	c.AcceptWeak = true // many answers, whatever they cost together
	options := OnlineOptions{Plan: plan, Stated: saidOf(plan), Charge: c,
		Key: filepath.Join(t.TempDir(), "key")}
	return openOnline(t, options), options
}

// saidOf states what the plan presumes of the teachers.
func saidOf(plan Plan) ensemble.Stated {
	p := plan.mechanism.Problem()
	s := ensemble.Stated{Epsilon: &p.Epsilon, Affected: &p.Affected}
	if plan.promise() {
		s.TeacherDelta = &p.TeacherDelta
	}
	return s
}

func openOnline(t testing.TB, options OnlineOptions) *Online {
	t.Helper()
	return must.Get(OpenOnline(t.Context(), options))(t)
}

func mustAnswer(t testing.TB, o *Online, q Query) *Answered {
	t.Helper()
	a, err := o.Answer(t.Context(), q)
	if err != nil {
		t.Fatalf("%q: %v", q.ID, err)
	}
	return a
}

// way is a way to pay, with a mechanism, the votes of a query, others, and what n answers cost.
type way struct {
	plan        Plan
	charge      Charge
	votes, more []int
	cost        func(n int) float64
}

func ways(t testing.TB) map[string]way {
	return map[string]way{
		"fresh": {private(t, 1e-5, 0), Charge{Teachers: "fresh", Slack: new(0.0)}, []int{1, 0, 1},
			[]int{1, 1, 0}, func(n int) float64 { return float64(3*n) / 10 }},
		"frozen": {private(t, 1e-5, 0), Charge{Teachers: "frozen", Ensemble: "e"}, []int{1, 0, 1},
			[]int{1, 1, 0}, func(int) float64 { return 0.3 }},
		"none": {noisy(t, 0), Charge{}, []int{0, 1, 2, 2, 2, 0, 0, 0, 0, 1},
			[]int{2, 1, 2, 2, 2, 0, 0, 0, 0, 1}, func(n int) float64 { return float64(5*n) / 10 }},
		"together": {together(t, 1000), Charge{}, []int{1, 0, 1}, []int{1, 1, 0},
			func(n int) float64 { return 2 }},
	}
}

func countsOf(votes []int, classes int) []int {
	counts := make([]int, classes)
	for _, v := range votes {
		counts[v]++
	}
	return counts
}

// The same query has one answer, paid for once, at every server of the ledger and after every
// start. Other votes under its id are refused and cost nothing, and so is another client and
// another form of the same votes.
func TestOnlineAnswersOnce(t *testing.T) {
	for name, w := range ways(t) {
		t.Run(name, func(t *testing.T) {
			o, options := newOnline(t, w.plan, w.charge, 1e3)
			first := map[string]int{}
			ids := []string{"a", "b", "c"}
			for _, id := range ids {
				a := mustAnswer(t, o, Query{ID: id, ReplayKey: myKey, Votes: w.votes})
				first[id] = a.Class
				if a.Replayed || a.ID != id || a.Charge.ID != id || a.Charge.Seq == 0 {
					t.Errorf("%+v", a)
				}
			}
			checkSpent(t, o.book, w.cost(len(ids)))
			for _, server := range []*Online{o, openOnline(t, options)} {
				for _, id := range ids {
					if a := mustAnswer(t, server, Query{ID: id, ReplayKey: myKey, Votes: w.votes}); a.Class !=
						first[id] || !a.Replayed {
						t.Errorf("%s again: %+v, first %d", id, a, first[id])
					}
					for _, other := range []Query{
						{ID: id, ReplayKey: myKey, Votes: w.more},
						{ID: id, ReplayKey: myKey, Votes: w.votes, Client: "x"},
						{ID: id, ReplayKey: myKey, Counts: countsOf(w.votes, w.plan.mechanism.Setting().Classes)},
					} {
						a, err := server.Answer(t.Context(), other)
						if a != nil || !errors.Is(err, ledger.ErrConflict) && !errors.Is(err, ledger.ErrDraw) {
							t.Errorf("%+v: %+v, %v", other, a, err)
						}
					}
				}
			}
			checkSpent(t, o.book, w.cost(len(ids)))
		})
	}
}

// One ledger and one budget for n answers give exactly n, whoever asks how often and however many
// servers answer; what was answered is answered for ever.
func TestOnlineGivesExactlyWhatTheBudgetAllows(t *testing.T) {
	const n = 7
	w := ways(t)["fresh"]
	o, options := newOnline(t, w.plan, w.charge, w.cost(n))
	servers := []*Online{o, openOnline(t, options), openOnline(t, options)}
	var (
		answered, refused atomic.Int64
		mu                sync.Mutex
		labels            = map[string]int{}
		all               sync.WaitGroup
	)
	for i := range 3 * n {
		for _, server := range servers { // each id at each server at once
			all.Go(func() {
				id := fmt.Sprint(i)
				a, err := server.Answer(t.Context(), Query{ID: id, ReplayKey: myKey, Votes: w.votes})
				switch {
				case errors.Is(err, ledger.ErrExceeded):
					refused.Add(1)
				case err != nil:
					t.Errorf("%s: %v", id, err)
				default:
					answered.Add(1)
					mu.Lock()
					defer mu.Unlock()
					if before, ok := labels[id]; ok && before != a.Class {
						t.Errorf("%s: %d and %d", id, before, a.Class)
					}
					labels[id] = a.Class
				}
			})
		}
	}
	all.Wait()
	if len(labels) != n || answered.Load() != n*int64(len(servers)) ||
		refused.Load() != 2*n*int64(len(servers)) {
		t.Errorf("%d queries answered, %d times; %d refusals", len(labels), answered.Load(),
			refused.Load())
	}
	checkSpent(t, o.book, w.cost(n))
	again := openOnline(t, options) // a budget that is spent keeps no server from starting
	for id, label := range labels {
		if a := mustAnswer(t, again, Query{ID: id, ReplayKey: myKey, Votes: w.votes}); a.Class != label ||
			!a.Replayed {
			t.Errorf("%s: %+v, want %d", id, a, label)
		}
	}
}

// Frozen teachers are charged once, and their name stands for teachers that promise the same.
func TestOnlineFrozenTeachersAreChargedOnce(t *testing.T) {
	w := ways(t)["frozen"]
	o, options := newOnline(t, w.plan, w.charge, 0.3) // their training, and nothing besides
	for i := range 20 {
		mustAnswer(t, o, Query{ID: fmt.Sprint(i), ReplayKey: myKey, Votes: w.votes})
	}
	checkSpent(t, o.book, 0.3)
	options.Plan = private(t, 2e-5, 0)
	options.Stated = saidOf(options.Plan)
	if _, err := OpenOnline(t.Context(), options); !errors.Is(err, ledger.ErrConflict) {
		t.Errorf("other teachers under the same name: %v", err)
	}
}

const onlineKillEnv = "DARRM_TEST_KILL_ONLINE"

// A server that dies at any stage has given no answer that is not paid for, and the next one gives
// the one answer, charged once. It dies before the charge, with the answer drawn and not committed,
// which spends nothing, and when it is committed and not told.
func TestOnlineOutlivesEveryDeath(t *testing.T) {
	die := func() {
		if p, err := os.FindProcess(os.Getpid()); err == nil {
			_ = p.Kill()
		}
		time.Sleep(time.Minute)
	}
	all := ways(t)
	options := func(name, dir string) (way, OnlineOptions) {
		w := all[name]
		w.charge.Ledger = filepath.Join(dir, "ledger")
		return w, OnlineOptions{Plan: w.plan, Stated: saidOf(w.plan), Charge: w.charge,
			Key: filepath.Join(dir, "key")}
	}
	stages := []string{"charging", "drawn", "committed"}
	if child := os.Getenv(onlineKillEnv); child != "" {
		name, rest, _ := strings.Cut(child, " ")
		stage, dir, _ := strings.Cut(rest, " ")
		w, o := options(name, dir)
		server := openOnline(t, o)
		tr, _, err := server.transaction(server.book, Query{ID: "a", ReplayKey: myKey, Votes: w.votes})
		if err != nil {
			t.Fatal(err)
		}
		draw := tr.Draw
		tr.Draw = func(ctx context.Context, paid *ledger.Receipt) (func(io.Writer) error, error) {
			encode, err := draw(ctx, paid)
			if stage == "drawn" {
				die()
			}
			return encode, err
		}
		tr.Output = watched{tr.Output, func() {
			if stage == "committed" {
				die()
			}
		}}
		if stage == "charging" {
			die()
		}
		_, err = tr.Run(t.Context())
		t.Fatal("not killed", err)
	}
	for name := range all {
		for _, stage := range stages {
			dir := t.TempDir()
			budget, _ := ledger.NewBudget(100, 0.9)
			l, err := ledger.Create(t.Context(), filepath.Join(dir, "ledger"), budget, ledger.ReplaceOne)
			if err != nil {
				t.Fatal(err)
			}
			c := exec.Command(os.Args[0], "-test.run=^TestOnlineOutlivesEveryDeath$")
			c.Env = append(os.Environ(), onlineKillEnv+"="+name+" "+stage+" "+dir)
			// by a signal
			if said, err := c.CombinedOutput(); err == nil || c.ProcessState.ExitCode() != -1 {
				t.Fatalf("%s, %s: not killed: %v, %s", name, stage, err, said)
			}
			w, options := options(name, dir)
			charged := stage == "committed"
			want := 0.0
			if charged {
				want = w.cost(1)
			}
			checkSpent(t, l, want)
			o := openOnline(t, options)
			if _, err := o.Answer(t.Context(), Query{ID: "a", ReplayKey: myKey, Votes: w.more}); charged !=
				(errors.Is(err, ledger.ErrConflict) || errors.Is(err, ledger.ErrDraw)) {
				t.Errorf("%s, %s: other votes: %v", name, stage, err)
			}
			if !charged {
				continue // the id is now of the other votes
			}
			a := mustAnswer(t, o, Query{ID: "a", ReplayKey: myKey, Votes: w.votes})
			if !a.Replayed {
				t.Errorf("%s, %s: charged twice: %+v", name, stage, a)
			}
			if b := mustAnswer(t, openOnline(t, options),
				Query{ID: "a", ReplayKey: myKey, Votes: w.votes}); a.Class != b.Class {
				t.Errorf("%s, %s: %d, then %d", name, stage, a.Class, b.Class)
			}
			checkSpent(t, l, w.cost(1))
		}
	}
}

// No answer leaves before it is on disk with its charge: where they cannot be written there is no
// answer, and when the ledger is back there is.
func TestOnlineWithoutItsLedger(t *testing.T) {
	w := ways(t)["none"]
	o, _ := newOnline(t, w.plan, w.charge, 1e3)
	path := o.book.Path()
	away := func() error { return os.Rename(path, path+".away") }
	back := func() error { return os.Rename(path+".away", path) }

	q := Query{ID: "a", ReplayKey: myKey, Votes: w.votes}
	tr, _, err := o.transaction(o.book, q)
	if err != nil {
		t.Fatal(err)
	}
	draw := tr.Draw
	tr.Draw = func(ctx context.Context, paid *ledger.Receipt) (func(io.Writer) error, error) {
		encode, err := draw(ctx, paid)
		return encode, errors.Join(err, away())
	}
	tr.Output = watched{tr.Output, func() { t.Error("told, and not on disk") }}
	if out, err := tr.Run(t.Context()); err == nil || out.Done() {
		t.Errorf("committed to no ledger: %+v, %v", out, err)
	}
	if a, err := o.Answer(t.Context(), q); err == nil {
		t.Errorf("charged in no ledger: %+v", a)
	}
	if err := back(); err != nil {
		t.Fatal(err)
	}
	o.tried = time.Time{} // the time between two tries is over
	if a := mustAnswer(t, o, q); !a.Replayed {
		t.Errorf("%+v", a)
	}
	checkSpent(t, o.book, w.cost(1))

	// A ledger that was exchanged is not this one.
	o.noteFailure(o.book, ledger.ErrBroken)
	o.tried = time.Time{}
	other := newLedger(t, 1).Path()
	for _, end := range []string{"", ledger.AnchorSuffix} {
		if err := os.Rename(other+end, path+end); err != nil {
			t.Fatal(err)
		}
	}
	if a, err := o.Answer(t.Context(), q); !errors.Is(err, ledger.ErrDamaged) {
		t.Errorf("another ledger: %+v, %v", a, err)
	}
}

// The ledger's entries tell nothing of votes and labels to one who does not have the key: queries
// with equal votes, and with equal answers, have nothing in common but their mechanism.
func TestOnlineEntriesTellNothing(t *testing.T) {
	for name, w := range ways(t) {
		o, _ := newOnline(t, w.plan, w.charge, 1e3)
		for i := range 8 {
			mustAnswer(t, o, Query{ID: fmt.Sprint(i), ReplayKey: myKey, Votes: w.votes})
		}
		history, err := o.book.History(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		seen := map[string]string{}
		classes := w.plan.mechanism.Setting().Classes
		var sealed []ledger.Digest // of the answers
		var results int
		for _, e := range history {
			var digests []string
			switch {
			case e.Kind == ledger.KindResult:
				results++
				sealed = append(sealed, e.Result)
				digests = []string{e.Result.String()}
			case e.Draw != nil:
				digests = []string{e.Draw.Votes.String()}
				if !e.Draw.Query { // it is the asker's word that they were cast for it
					t.Errorf("%s: %s: the draw is %+v", name, e.ID, e.Draw)
				}
			default:
				if event, ok := fields(e.Event); ok && event["votes"] != nil {
					digests = []string{event["votes"].(string)}
				} else if !isShared(e.ID) {
					t.Errorf("%s: no digest of the votes in %s", name, e.Event)
				}
			}
			for _, d := range digests {
				if before, ok := seen[d]; ok {
					t.Errorf("%s: %s has the digest of %s", name, e.ID, before)
				}
				seen[d] = e.ID
			}
		}
		// No answer is the digest of a class with what stands in the ledger.
		for d := range seen {
			for class := -1; class < classes; class++ {
				guess := ledger.Digest(sha256.Sum256(fmt.Appendf(nil, "darrm answer 1\n%s\n%d\n", d, class)))
				if slices.Contains(sealed, guess) {
					t.Errorf("%s: %s in the ledger opens the answer %d", name, d, class)
				}
			}
		}
		if results != 8 {
			t.Errorf("%s: %d results", name, results)
		}
	}
}

// The coins are of one ledger, one mechanism, one id and these votes: with any other the digest
// that they come from is another.
func TestOnlineCoinsAreOfOneQuery(t *testing.T) {
	w := ways(t)["fresh"]
	base, options := newOnline(t, w.plan, w.charge, 1e3)
	digest := func(o *Online, q Query) string {
		tr, _, err := o.transaction(o.book, q)
		if err != nil {
			t.Fatal(err)
		}
		return tr.Bill.release.Draw.Votes.String()
	}
	other := options
	other.Charge.Ledger = newLedger(t, 1e3).Path()
	elsewhere := openOnline(t, other)
	// The same promise by another γ, which no field of the event tells apart.
	f, err := gamma.Constant(3, 0.25)
	if err != nil {
		t.Fatal(err)
	}
	c, err := gamma.Certify(t.Context(), w.plan.mechanism.Problem(), f)
	if err != nil {
		t.Fatal(err)
	}
	if options.Plan, err = DaRRM(c, accountant.ReplaceOne); err != nil {
		t.Fatal(err)
	}
	otherGamma := openOnline(t, options)
	q := Query{ID: "a", ReplayKey: myKey, Votes: w.votes}
	seen := map[string]int{}
	for i, d := range []string{
		digest(base, q), digest(elsewhere, q), digest(otherGamma, q),
		digest(base, Query{ID: "b", ReplayKey: myKey, Votes: w.votes}),
		digest(base, Query{ID: "a", ReplayKey: myKey, Votes: w.more}),
		digest(base, Query{ID: "a", ReplayKey: myKey, Counts: []int{1, 2}}),
		digest(base, Query{ID: "a", ReplayKey: otherKey, Votes: w.votes}),
		digest(base, Query{ID: "a", Votes: w.votes}), digest(base, Query{ID: "a", Votes: w.votes}),
	} {
		if before, ok := seen[d]; ok {
			t.Errorf("%d has the coins of %d", i, before)
		}
		seen[d] = i
	}
	if digest(base, q) != digest(openOnline(t, OnlineOptions{Plan: w.plan, Stated: saidOf(w.plan),
		Charge: base.options.Charge, Key: base.options.Key}), q) {
		t.Error("another server has other coins")
	}
}

// What no query may be is refused, quotes no vote, and costs nothing.
func TestOnlineRefuses(t *testing.T) {
	w := ways(t)["none"]
	o, options := newOnline(t, w.plan, w.charge, 1e3)
	ok := w.votes
	with := func(i, vote int) []int {
		v := slices.Clone(ok)
		v[i] = vote
		return v
	}
	for name, q := range map[string]Query{
		"no votes":         {ID: "a"},
		"both":             {ID: "a", Votes: ok, Counts: []int{10, 0, 0}},
		"too few":          {ID: "a", Votes: ok[1:]},
		"none of many":     {ID: "a", Votes: []int{}},
		"no class":         {ID: "a", Votes: with(3, 7319)},
		"below":            {ID: "a", Votes: with(3, -7319)},
		"missing":          {ID: "a", Votes: with(3, -1)},
		"counts too many":  {ID: "a", Counts: []int{5, 6, 0}},
		"counts too few":   {ID: "a", Counts: []int{5, 4, 0}},
		"counts below":     {ID: "a", Counts: []int{12, -2, 0}},
		"two counts":       {ID: "a", Counts: []int{5, 5}},
		"four counts":      {ID: "a", Counts: []int{5, 5, 0, 0}},
		"overflow":         {ID: "a", Counts: []int{1<<63 - 1, 1<<63 - 1, 12}},
		"no id":            {Votes: ok},
		"id of a training": {ID: "teachers:e", Votes: ok},
		"id of a draw":     {ID: "draw:e", Votes: ok},
		"long id":          {ID: strings.Repeat("a", ledger.MaxID+1), Votes: ok},
		"id of lines":      {ID: "a\nb", Votes: ok},
	} {
		a, err := o.Answer(t.Context(), q)
		if a != nil || err == nil || strings.Contains(err.Error(), "7319") ||
			errors.Is(err, ledger.ErrRefused) {
			t.Errorf("%s: %+v, %v", name, a, err)
		}
	}
	if h, err := o.book.History(t.Context()); err != nil || len(h) != 0 {
		t.Errorf("%d entries, %v", len(h), err)
	}
	options.Missing = votes.MissingCoin
	o = openOnline(t, options)
	first := mustAnswer(t, o, Query{ID: "silent", ReplayKey: myKey, Votes: with(3, -1)})
	if again := mustAnswer(t, openOnline(t, options),
		Query{ID: "silent", ReplayKey: myKey, Votes: with(3, -1)}); again.Class != first.Class {
		t.Errorf("guesses differ: %+v, %+v", first, again)
	}
	// A commit that needs another try may have to draw again, the same.
	tr, a, err := o.transaction(o.book, Query{ID: "silent", ReplayKey: myKey, Votes: with(3, -1)})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := tr.Draw(t.Context(), nil); err != nil || a.Class != first.Class {
			t.Errorf("drawn again: %+v, %v, first %+v", a, err, first)
		}
	}
	for name, change := range map[string]func(*OnlineOptions){
		"no ledger":      func(o *OnlineOptions) { o.Charge.Ledger = "" },
		"no key":         func(o *OnlineOptions) { o.Key = "" },
		"no such ledger": func(o *OnlineOptions) { o.Charge.Ledger += "x" },
		"teachers":       func(o *OnlineOptions) { o.Charge.Teachers = "fresh" },
		"relation": func(o *OnlineOptions) {
			s := w.plan.mechanism.Setting()
			s.Neighbours = accountant.AddOrRemoveOne
			o.Plan = must.Get(NewPlan(must.Get(ensemble.LNMax(s, 0.5))(t)))(t)
		},
		"key is ledger": func(o *OnlineOptions) { o.Key = o.Charge.Ledger },
	} {
		bad := options
		change(&bad)
		if _, err := OpenOnline(t.Context(), bad); err == nil {
			t.Errorf("%s: opened", name)
		}
	}
}

// Whatever is asked, by whomever, in whatever order: the first charge of an id decides its votes,
// an id has one answer, and the ledger has spent what the answers cost.
func TestOnlineModel(t *testing.T) {
	w := ways(t)["none"]
	for round := range uint64(20) { // each takes tens of forced writes
		const budget = 6
		r := rand.New(rand.NewPCG(round, 1))
		o, options := newOnline(t, w.plan, w.charge, w.cost(budget))
		servers := []*Online{o, openOnline(t, options)}
		type given struct {
			other bool
			class int
		}
		model := map[string]given{}
		for range 16 {
			id := string(rune('a' + r.IntN(9)))
			other := r.IntN(4) == 0
			q := Query{ID: id, ReplayKey: myKey, Votes: w.votes}
			if other {
				q.Votes = w.more
			}
			a, err := servers[r.IntN(2)].Answer(t.Context(), q)
			before, known := model[id]
			switch {
			case known && before.other != other:
				if !errors.Is(err, ledger.ErrConflict) {
					t.Fatalf("round %d: other votes: %+v, %v", round, a, err)
				}
			case known:
				if err != nil || a.Class != before.class || !a.Replayed {
					t.Fatalf("round %d: again: %+v, %v, first %+v", round, a, err, before)
				}
			case len(model) == budget:
				if !errors.Is(err, ledger.ErrExceeded) {
					t.Fatalf("round %d: beyond the budget: %+v, %v", round, a, err)
				}
			default:
				if err != nil || a.Replayed {
					t.Fatalf("round %d: new: %+v, %v", round, a, err)
				}
				model[id] = given{other, a.Class}
			}
		}
		spent, err := o.book.Spent(t.Context())
		if e, _ := spent.Ceil(); err != nil || e != w.cost(len(model)) {
			t.Fatalf("round %d: spent %v, %v", round, e, err)
		}
	}
}
