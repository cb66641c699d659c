// Package ledgersuite is the suite that every store of ledgers must pass ([Run]). A package runs the suite in an external test package (ledger_test),
// which must have
//
//	var _ = ledgersuite.Child()
//
// because the tests run their own binary as the processes that they kill.
//
// Values of its types are safe for concurrent use while nobody writes to their fields, but for
// those whose comments say otherwise.
package ledgersuite

import (
	"bufio"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/darrm/darrm/ledger"
)

// Run tests the store of the locations that newLocation returns, each of which has no ledger yet.
func Run(t *testing.T, newLocation func(t *testing.T) string) {
	inOneProcess(t, newLocation)
	t.Run("quota of processes", func(t *testing.T) { quotaOfProcesses(t, newLocation) })
	t.Run("processes", func(t *testing.T) { processes(t, newLocation) })
	t.Run("killed", func(t *testing.T) { killed(t, newLocation) })
}

// inOneProcess has the tests of a store that no other process reaches.
func inOneProcess(t *testing.T, newLocation func(t *testing.T) string) {
	t.Run("refusals", func(t *testing.T) { refusals(t, newLocation) })
	t.Run("reference", func(t *testing.T) { reference(t, newLocation) })
	t.Run("handles", func(t *testing.T) { handles(t, newLocation) })
	t.Run("shares", func(t *testing.T) { sharesOf(t, newLocation) })
	t.Run("quotas", func(t *testing.T) { quotas(t, newLocation) })
	t.Run("heads", func(t *testing.T) { heads(t, newLocation) })
	t.Run("outline", func(t *testing.T) { outline(t, newLocation) })
	t.Run("kept", func(t *testing.T) { kept(t, newLocation) })
}

// Long reports whether the complete runs are wanted (make test-long).
func Long() bool { return os.Getenv("DARRM_LONG") == "1" }

// Create makes a ledger with a budget of n answers, each of ε = 1.
func Create(t testing.TB, location string, n int) *ledger.Ledger {
	t.Helper()
	budget, err := ledger.NewBudget(float64(n), 0)
	if err != nil {
		t.Fatal(err)
	}
	l, err := ledger.Create(t.Context(), location, budget, ledger.ReplaceOne)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// Unit is ε = 1.
func Unit() ledger.Cost {
	c, err := ledger.NewCost(1, 0)
	if err != nil {
		panic(err)
	}
	return c
}

// Request asks for one answer.
func Request(id string) ledger.Request {
	return ledger.Request{ID: id, Count: 1, Unit: Unit(), Relation: ledger.ReplaceOne,
		Event: []byte(`{"mechanism":"none"}`)}
}

// MustSpend fails unless n answers are spent and the ledger is whole.
func MustSpend(t testing.TB, l *ledger.Ledger, n int) {
	t.Helper()
	if got, err := l.Spent(t.Context()); err != nil || got != Unit().Times(uint64(n)) {
		t.Errorf("%v is spent (%v), want %v", got, err, Unit().Times(uint64(n)))
	}
	if err := l.Verify(t.Context()); err != nil {
		t.Error(err)
	}
}

func must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// Each rule once, by name, through two handles that take turns.
func refusals(t *testing.T, newLocation func(t *testing.T) string) {
	location := newLocation(t)
	if _, err := ledger.Open(t.Context(), location); err == nil {
		t.Fatal("a ledger that is not there was opened")
	}
	l := Create(t, location, 7)
	if _, err := ledger.Create(t.Context(), location, l.Budget(), ledger.ReplaceOne); err == nil {
		t.Error("a ledger was made twice")
	}
	other := must(ledger.Open(t.Context(), location))(t)
	if other.Budget() != l.Budget() || other.Relation() != l.Relation() || other.Path() != l.Path() {
		t.Errorf("opened as %v %v %v", other.Budget(), other.Relation(), other.Path())
	}
	draw := func(id string, votes byte, change func(*ledger.Request)) ledger.Request {
		r := Request(id)
		r.Draw = Draw(r.Ensemble, id, int(votes))
		if change != nil {
			change(&r)
		}
		return r
	}
	answer := func(id string, votes byte) ledger.Request {
		return draw(id, votes, func(r *ledger.Request) {
			r.Draw = Draw(r.Ensemble, "draw", int(votes))
		})
	}
	paid := func(r ledger.Request, by string) ledger.Request {
		r.Unit, r.PaidBy = ledger.Cost{}, by
		return r
	}
	cover := answer("cover", 1)
	cover.Draw.Covers = true
	teachers := Request("teachers")
	teachers.Ensemble, teachers.EnsembleDigest = "e", "v1"
	otherTeachers := Request("other teachers")
	otherTeachers.Ensemble, otherTeachers.EnsembleDigest = "e", "v2"
	relation := Request("relation")
	relation.Relation = ledger.AddOrRemoveOne
	changed := Request("one")
	changed.Count = 2
	client := func(id, name string) ledger.Request {
		r := Request(id)
		r.Client = name
		return r
	}
	table := Taking("quota", "table", 1)
	table.Quota.Table = ledger.Digest{2}
	five := Request("five")
	five.Count = 5
	for i, c := range []struct {
		r    ledger.Request
		want error
	}{
		{Request("one"), nil},
		{Request("one"), ledger.ErrReplayed},
		{changed, ledger.ErrConflict},
		{client("one", "alice"), ledger.ErrConflict},
		{relation, ledger.ErrRelation},
		{paid(Request("paid"), "nobody"), ledger.ErrUnpaid},
		{teachers, nil},
		{otherTeachers, ledger.ErrEnsemble},
		{draw("draw", 1, nil), nil},
		{answer("again", 1), ledger.ErrDrawn},
		{answer("other votes", 2), ledger.ErrDraw},
		{draw("same votes", 1, nil), ledger.ErrSameVotes},
		{cover, nil},
		{paid(answer("covered", 1), "cover"), nil},
		{five, ledger.ErrExceeded},
		{draw("cast anew", 1, func(r *ledger.Request) { r.Draw.CastAnew = true }), nil},
		{Request("ünïcode 名"), nil},
		{Taking("quota", "early", 1), ledger.ErrUnpaid},
		{Opening("quota", 3), nil},
		{Taking("quota", "two", 2), nil},
		{Taking("quota", "two", 2), ledger.ErrReplayed},
		{Taking("quota", "two", 1), ledger.ErrConflict},
		{Taking("quota", "more", 2), ledger.ErrAnswers},
		{table, ledger.ErrUnpaid},
		{paid(Request("no table"), "quota"), ledger.ErrUnpaid},
		{Opening("quota", 4), ledger.ErrConflict},
		{Taking("quota", "last", 1), nil},
		{Taking("quota", "none left", 1), ledger.ErrAnswers},
		{Request("too much"), ledger.ErrExceeded},
	} {
		handle := []*ledger.Ledger{l, other}[i%2]
		receipt, err := handle.Charge(t.Context(), c.r)
		if !errors.Is(err, c.want) || (err == nil) != (receipt != nil) {
			t.Errorf("%s: %v, want %v", c.r.ID, err, c.want)
		}
		if err == nil && receipt.Redeem() != nil {
			t.Errorf("%s: no receipt", c.r.ID)
		}
	}
	MustSpend(t, l, 7)
	MustSpend(t, other, 7)
}

// Whatever is asked, a store gives the verdicts and holds the entries of a file in memory.
func reference(t *testing.T, newLocation func(t *testing.T) string) {
	rounds := 150
	if Long() {
		rounds = 3000
	}
	random := rand.New(rand.NewPCG(1, uint64(rounds)))
	dir := must(os.MkdirTemp("", "reference"))(t)
	defer os.RemoveAll(dir)
	a, b := Create(t, newLocation(t), 60), Create(t, dir+"/ledger", 60)
	receipts := map[string][2]*ledger.Receipt{}
	for range rounds {
		requests := make([]ledger.Request, 1+random.IntN(3)/2)
		for i := range requests {
			requests[i] = randomRequest(random)
		}
		charge := (*ledger.Ledger).ChargeAll
		if random.IntN(2) == 0 {
			charge = ChargeDrawn
		}
		x, errA := charge(a, t.Context(), requests)
		y, errB := charge(b, t.Context(), requests)
		if kind(errA) != kind(errB) {
			t.Fatalf("%+v: %v, want %v", requests, errA, errB)
		}
		for i := range x {
			receipts[x[i].Entry().ID] = [2]*ledger.Receipt{x[i], y[i]}
		}
		for _, r := range receipts {
			d := ledger.Digest{byte(random.IntN(2))}
			afterA, errA := a.RecordResult(t.Context(), r[0], d)
			afterB, errB := b.RecordResult(t.Context(), r[1], d)
			if kind(errA) != kind(errB) || afterA.Spent != afterB.Spent ||
				afterA.Remaining != afterB.Remaining || afterA.Head.Seq != afterB.Head.Seq {
				t.Fatalf("result: %v, %v, want %v, %v", afterA, errA, afterB, errB)
			}
			break
		}
	}
	x, y := must(a.History(t.Context()))(t), must(b.History(t.Context()))(t)
	if len(x) != len(y) || len(x) < 20 {
		t.Fatalf("%d entries, want %d", len(x), len(y))
	}
	for i := range x {
		for _, e := range []*ledger.Entry{&x[i], &y[i]} {
			e.Time, e.Previous, e.Hash = time.Time{}, ledger.Digest{}, ledger.Digest{}
		}
		if !reflect.DeepEqual(x[i], y[i]) {
			t.Errorf("entry %d: %+v, want %+v", i, x[i], y[i])
		}
	}
}

// ChargeDrawn charges with a result that follows from the id, and returns the receipt of the last.
func ChargeDrawn(l *ledger.Ledger, ctx context.Context,
	requests []ledger.Request) ([]*ledger.Receipt, error) {
	receipt, _, err := l.ChargeDrawn(ctx, requests, func() (ledger.Digest, error) {
		return sha256.Sum256([]byte(requests[len(requests)-1].ID)), nil
	})
	if err != nil {
		return nil, err
	}
	return []*ledger.Receipt{receipt}, nil
}

// Draw is a draw with one row of votes, under a key of the tests.
func Draw(ensemble, name string, votes int) *ledger.Draw {
	h, _, err := ledger.CutVoteKey([]byte("darrm vote key 1\n" + strings.Repeat("k", 32)))
	if err != nil {
		panic(err)
	}
	h.Add([]int{votes})
	return h.Draw(ensemble, name)
}

func randomRequest(random *rand.Rand) ledger.Request {
	r := Request(fmt.Sprint("r", random.IntN(60)))
	r.Count = uint64(1 + random.IntN(2))
	if random.IntN(2) == 0 {
		r.Ensemble = []string{"", "e", "f"}[random.IntN(3)]
		name := random.IntN(6)
		r.Draw = Draw(r.Ensemble, fmt.Sprint("d", name), 1+name/(1+random.IntN(2)))
		r.Draw.CastAnew, r.Draw.Covers = random.IntN(2) == 0, random.IntN(3) == 0
	}
	if random.IntN(3) == 0 && (r.Draw == nil || !r.Draw.Covers) {
		r.Unit, r.PaidBy = ledger.Cost{}, fmt.Sprint("r", random.IntN(60))
	}
	if r.Draw == nil && random.IntN(2) == 0 {
		r.Quota = &ledger.Quota{Table: ledger.Digest{byte(1 + random.IntN(2))}}
		if r.PaidBy == "" {
			r.Count, r.Quota.Answers = 1, uint64(1+random.IntN(3))
		}
	}
	if random.IntN(4) == 0 {
		r.Client = []string{"alice", "bob"}[random.IntN(2)]
		r.Share = share(4 + random.IntN(4))
	}
	return r
}

// kind names the refusal that an error is.
func kind(err error) string {
	for _, k := range []error{ledger.ErrExceeded, ledger.ErrAnswers, ledger.ErrShare, ledger.ErrReplayed,
		ledger.ErrConflict, ledger.ErrUnpaid, ledger.ErrRelation, ledger.ErrEnsemble, ledger.ErrDraw,
		ledger.ErrDrawn, ledger.ErrSameVotes} {
		if errors.Is(err, k) {
			return k.Error()
		}
	}
	return fmt.Sprint(err)
}

// Goroutines on several handles: 400 charges with room for 100.
func handles(t *testing.T, newLocation func(t *testing.T) string) {
	location := newLocation(t)
	all := []*ledger.Ledger{Create(t, location, 100)}
	for range 2 {
		all = append(all, must(ledger.Open(t.Context(), location))(t))
	}
	var paid, refused atomic.Int32
	var wg sync.WaitGroup
	for g := range 12 {
		wg.Go(func() {
			for i := range 34 {
				// Every id is asked by two.
				receipt, err := all[g%3].Charge(t.Context(), Request(fmt.Sprintf("%d-%d", g/2, i)))
				switch {
				case err == nil && receipt.Redeem() == nil:
					paid.Add(1)
				case errors.Is(err, ledger.ErrExceeded), errors.Is(err, ledger.ErrReplayed):
					refused.Add(1)
				default:
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if paid.Load() != 100 || refused.Load() != 12*34-100 {
		t.Errorf("%d paid, %d refused", paid.Load(), refused.Load())
	}
	MustSpend(t, all[1], 100)
}

// share is a client's share of n answers of [unit].
func share(n int) *ledger.Budget {
	b, err := ledger.NewBudget(float64(n), 0)
	if err != nil {
		panic(err)
	}
	return &b
}

// Three handles that do not know of each other, each asked by several goroutines for more than the
// shares allow: each client gets its share exactly, what is spent is what was answered, and the
// handles agree on it. A client without a share has the rest of the budget.
func sharesOf(t *testing.T, newLocation func(t *testing.T) string) {
	location := newLocation(t)
	all := []*ledger.Ledger{Create(t, location, 60)}
	for range 2 {
		all = append(all, must(ledger.Open(t.Context(), location))(t))
	}
	want := map[string]int{"alice": 7, "bob": 20, "carol": 33}
	got := map[string]*atomic.Int32{"alice": {}, "bob": {}, "carol": {}}
	var wg sync.WaitGroup
	ask := func(handle *ledger.Ledger, id, client string) {
		r := Request(id)
		r.Client = client
		if client != "carol" {
			r.Share = share(want[client])
		}
		var share *ledger.ShareError
		switch receipt, err := handle.Charge(t.Context(), r); {
		case err == nil && receipt.Redeem() == nil:
			got[client].Add(1)
		case errors.As(err, &share):
			if client == "carol" || share.Client != client || share.Share != *r.Share ||
				share.Spent != Unit().Times(uint64(want[client])) || share.Asked != Unit() ||
				!errors.Is(err, ledger.ErrRefused) {
				t.Errorf("%s: %+v", id, share)
			}
		case errors.Is(err, ledger.ErrReplayed), errors.Is(err, ledger.ErrExceeded) && client == "carol":
		default:
			t.Errorf("%s: %v", id, err)
		}
	}
	for g := range 6 {
		for _, client := range []string{"alice", "bob"} {
			wg.Go(func() {
				for i := range 10 { // every id is asked of two handles
					ask(all[g%3], fmt.Sprintf("%s-%d-%d", client, g/2, i), client)
				}
			})
		}
	}
	wg.Wait()
	for i := range 40 {
		ask(all[i%3], fmt.Sprintf("carol-%d", i), "carol")
	}
	for client, n := range want {
		if int(got[client].Load()) != n {
			t.Errorf("%s has %d answers, and a share of %d", client, got[client].Load(), n)
		}
		for i, l := range append(all, must(ledger.Open(t.Context(), location))(t)) {
			if spent := must(l.SpentBy(t.Context(), client))(t); spent != Unit().Times(uint64(n)) {
				t.Errorf("%s has spent %v by handle %d, want %d", client, spent, i, n)
			}
		}
	}
	MustSpend(t, all[0], 60)
}

// Heads that were pinned are found again, and those of another ledger are not. Waiting ends with
// the context, and a look needs no turn of those who charge elsewhere.
func heads(t *testing.T, newLocation func(t *testing.T) string) {
	location := newLocation(t)
	l := Create(t, location, 100)
	pins := []ledger.Head{must(l.Head(t.Context()))(t)}
	for i := range 3 {
		must(l.Charge(t.Context(), Request(fmt.Sprint(i))))(t)
		pins = append(pins, must(l.Head(t.Context()))(t))
	}
	if err := l.Verify(t.Context(), pins...); err != nil {
		t.Error(err)
	}
	other := must(ledger.Open(t.Context(), location))(t)
	if err := other.Verify(t.Context(), ledger.Head{Seq: 2, Hash: pins[3].Hash}); !errors.Is(err,
		ledger.ErrRolledBack) {
		t.Errorf("a head that the ledger never had: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := l.Charge(ctx, Request("late")); !errors.Is(err, context.Canceled) {
		t.Errorf("a context that has ended: %v", err)
	}
	MustSpend(t, l, 3)
	h, err := l.VoteHash()
	if err != nil {
		t.Fatal(err)
	}
	h.Add([]int{0, 1, 1})
	if h.Draw("e", "d").Votes == (ledger.Digest{}) {
		t.Error("no digest of votes")
	}
}

// Three processes, 60 charges each, room for 100: exactly 100 are answered.
func processes(t *testing.T, newLocation func(t *testing.T) string) {
	location := newLocation(t)
	l := Create(t, location, 100)
	var all []*process
	for i := range 3 {
		all = append(all, start(t, location, fmt.Sprint(i), 60))
	}
	s := said{}
	for _, p := range all {
		s.read(t, p.wait(t))
	}
	if len(s.released) != 100 || s.refused != 80 {
		t.Errorf("%d answered, %d refused", len(s.released), s.refused)
	}
	s.check(t, location)
	MustSpend(t, l, 100)
}

// kill -9 of one of two processes that charge, again and again.
func killed(t *testing.T, newLocation func(t *testing.T) string) {
	kills := 8
	if Long() {
		kills = 500
	}
	location := newLocation(t)
	Create(t, location, 1e9)
	s := said{}
	for i := range kills {
		a, b := start(t, location, fmt.Sprintf("%d-a", i), 1e6),
			start(t, location, fmt.Sprintf("%d-b", i), 10)
		<-a.begun
		time.Sleep(time.Duration(rand.Int64N(int64(20 * time.Millisecond))))
		a.kill(t)
		s.read(t, a.wait(nil))
		s.read(t, b.wait(t))
		if i%20 == 19 || i == kills-1 {
			s.check(t, location)
		}
	}
	if s.refused > 0 {
		t.Errorf("%d refused", s.refused)
	}
	t.Logf("%d kills, %d answers, all charged", kills, len(s.released))
}

// said collects what processes reported.
type said struct {
	released map[string]bool
	refused  int
}

func (s *said) read(t testing.TB, output string) {
	t.Helper()
	if s.released == nil {
		s.released = map[string]bool{}
	}
	for line := range strings.Lines(output) {
		word, id, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		switch {
		case !strings.HasSuffix(line, "\n"): // cut short by a kill
		case word == "released" && s.released[id]:
			t.Errorf("%s was released twice", id)
		case word == "released":
			s.released[id] = true
		case word == "refused":
			s.refused++
		default:
			t.Errorf("a process says %q", line)
		}
	}
}

// check opens the ledger anew: all that was released is charged, and the chain is whole.
func (s *said) check(t testing.TB, location string) {
	t.Helper()
	entries := must(must(ledger.Open(t.Context(), location))(t).History(t.Context()))(t)
	charged := map[string]bool{}
	for i, e := range entries {
		if e.Kind == ledger.KindResult && (entries[i-1].ID != e.ID || entries[i-1].Commit != e.Commit) {
			t.Errorf("the result of %s is not with its charge", e.ID)
		}
		charged[e.ID] = true
	}
	for id := range s.released {
		if !charged[id] {
			t.Errorf("%s was released and is not charged", id)
		}
	}
}

const childEnv = "DARRM_LEDGERTEST_CHILD"

// process is a run of this binary that charges.
type process struct {
	cmd   *exec.Cmd
	mu    sync.Mutex
	out   strings.Builder
	once  sync.Once
	begun chan struct{} // closed with its first line
	ended chan error
}

func (p *process) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	defer p.once.Do(func() { close(p.begun) })
	return p.out.Write(b)
}

func start(t testing.TB, location, prefix string, n int) *process {
	t.Helper()
	p := &process{cmd: exec.Command(os.Args[0], location, prefix, strconv.Itoa(n)),
		begun: make(chan struct{}), ended: make(chan error, 1)}
	p.cmd.Env = append(os.Environ(), childEnv+"=1", "GORACE=atexit_sleep_ms=0")
	p.cmd.Stdout, p.cmd.Stderr = p, os.Stderr
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		err := p.cmd.Wait()
		p.once.Do(func() { close(p.begun) })
		p.ended <- err
	}()
	return p
}

func (p *process) kill(t testing.TB) {
	t.Helper()
	if err := p.cmd.Process.Kill(); err != nil {
		t.Error(err)
	}
}

// wait returns what it said; with a t it must have ended well.
func (p *process) wait(t testing.TB) string {
	err := <-p.ended
	p.mu.Lock()
	defer p.mu.Unlock()
	if t != nil && err != nil {
		t.Errorf("process: %v\n%s", err, p.out.String())
	}
	return p.out.String()
}

// Child plays a process that charges and releases, if this is one, and ends it.
func Child() bool {
	if os.Getenv(childEnv) == "" {
		return false
	}
	os.Unsetenv(childEnv)
	if err := runChild(os.Args[1], os.Args[2], os.Args[3]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
	return true
}

func runChild(location, prefix, count string) error {
	n, err := strconv.Atoi(count)
	if err != nil {
		return err
	}
	ctx := context.Background()
	l, err := ledger.Open(ctx, location)
	if err != nil {
		return err
	}
	out := bufio.NewWriter(os.Stdout)
	for i := range n {
		id := fmt.Sprintf("%s-%d", prefix, i)
		r := Request(id)
		if strings.HasPrefix(id, quotaPrefix) {
			r = Taking(quotaPrefix, id, 1)
		}
		if i%2 == 1 { // with its result
			_, err = ChargeDrawn(l, ctx, []ledger.Request{r})
		} else {
			var receipt *ledger.Receipt
			if receipt, err = l.Charge(ctx, r); err == nil {
				err = receipt.Redeem()
			}
		}
		switch {
		case err == nil:
			fmt.Fprintf(out, "released %s\n", id)
		case errors.Is(err, ledger.ErrExceeded), errors.Is(err, ledger.ErrAnswers):
			fmt.Fprintf(out, "refused %s\n", id)
		default:
			return err
		}
		if err := out.Flush(); err != nil {
			return err
		}
	}
	return nil
}
