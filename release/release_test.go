package release

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/constraints"
	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/gamma"
	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/ledger"
)

// darrm are answers of teachers to whom γ = 0 is certified, whatever they promise.
func darrm(t testing.TB, p constraints.Problem, queries int) Plan {
	t.Helper()
	f, err := gamma.Constant(p.K, 0)
	if err != nil {
		t.Fatal(err)
	}
	c, err := gamma.Certify(t.Context(), p, f)
	if err != nil {
		t.Fatal(err)
	}
	a, err := DaRRM(c, accountant.ReplaceOne)
	if err != nil {
		t.Fatal(err)
	}
	a.queries = queries
	return a
}

// private are answers of 3 teachers, each (0.1, delta)-DP.
func private(t testing.TB, delta float64, queries int) Plan {
	t.Helper()
	p, err := constraints.NewProblem(3, 3, 0.1, delta)
	if err != nil {
		t.Fatal(err)
	}
	return darrm(t, p, queries)
}

// noisy are answers of a mechanism over vote counts.
func noisy(t testing.TB, queries int) Plan {
	t.Helper()
	g, err := ensemble.LNMax(ensemble.Setting{K: 10, Classes: 3, Affected: 1,
		Neighbours: accountant.ReplaceOne}, 0.5)
	if err != nil {
		t.Fatal(err)
	}
	return must.Get(NewPlan(g))(t).WithQueries(queries)
}

func newBill(t testing.TB, r Plan, terms Charge) *Bill {
	t.Helper()
	if terms.fresh() && terms.Votes == nil {
		terms.Votes = cast(byte(17*r.queries + len(terms.RequestID))) // some votes
	}
	if terms.Slack == nil {
		terms.Slack = new(0.0)
	}
	totals, err := r.Totals(terms.Slack)
	if err != nil {
		t.Fatal(err)
	}
	b := must.Get(r.bill(terms, totals))(t)
	b.release.Judge, b.again.Judge = nil, nil // these tests are about who pays, not how much: see weak_test.go
	return b
}

func newLedger(t testing.TB, eps float64) *ledger.Ledger {
	t.Helper()
	budget, err := ledger.NewBudget(eps, 0.9)
	if err != nil {
		t.Fatal(err)
	}
	return must.Get(ledger.Create(t.Context(), filepath.Join(t.TempDir(), "ledger"), budget,
		ledger.ReplaceOne))(t)
}

// entries are a ledger's, without what differs from run to run.
func entries(t testing.TB, l *ledger.Ledger) (out []string) {
	t.Helper()
	history, err := l.History(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range history {
		out = append(out, fmt.Sprintf("%s %s %d×%v %q %s", e.Kind, e.ID, e.Count, e.Unit, e.PaidBy,
			e.Event))
	}
	return out
}

func checkSpent(t testing.TB, l *ledger.Ledger, want float64) {
	t.Helper()
	spent, err := l.Spent(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if got, _ := spent.Ceil(); got != want {
		t.Errorf("the ledger has spent ε = %v, want %v", got, want)
	}
}

var (
	fresh  = Charge{RequestID: "march", Teachers: "fresh"}
	frozen = Charge{RequestID: "march", Teachers: "frozen", Ensemble: "wards"}
)

// The entries of every kind of release, byte for byte: a release that was paid for must be
// asked for in the same bytes for ever, or it becomes a conflict.
func TestEntriesAreTheseBytes(t *testing.T) {
	lone := darrm(t, constraints.Problem{K: 3, TotalEpsilon: 0.5, Epsilon: math.Inf(1), Affected: 1,
		Delta: 1e-6}, 400)
	training := `charge teachers:wards 1×(0.3, 2.9999700001e-5) "" {"affected":3,"k":3,"mechanism":"training","per_teacher":{"delta":0.00001,"epsilon":0.1},"rule":"basic composition of 3 teachers","teachers":"frozen"}`
	answers := `charge march 1×(0, 0) "teachers:wards" {"affected":3,"k":3,"mechanism":"table","per_answer":{"delta":0.000029999700001,"epsilon":0.3},"queries":%d,"rule":"post-processing of the teachers","table":"2e8c5c4ce42e7bf165c62c5995a3d7a6b89dd636c3e4c303dd444ca40d3d5741","teachers":"frozen"}`
	for _, tt := range []struct {
		name    string
		release Plan
		terms   Charge
		want    []string
	}{
		{"fresh", private(t, 1e-5, 3), fresh, []string{
			`charge march 1×(0.9, 8.999640008399875e-5) "" {"affected":3,"k":3,"mechanism":"table","per_answer":{"delta":0.000029999700001,"epsilon":0.3},"per_teacher":{"delta":0.00001,"epsilon":0.1},"queries":3,"rule":"basic composition of 3 answers","table":"2e8c5c4ce42e7bf165c62c5995a3d7a6b89dd636c3e4c303dd444ca40d3d5741","teachers":"fresh"}`,
		}},
		{"slack and key", private(t, 1e-5, 500), Charge{RequestID: "march", Teachers: "fresh",
			Slack: new(1e-3), Key: "abcd"}, []string{
			`charge march 1×(18.70151151629, 0.015873246146541776) "" {"affected":3,"k":3,"key":"abcd","mechanism":"table","per_answer":{"delta":0.000029999700001,"epsilon":0.3},"per_teacher":{"delta":0.00001,"epsilon":0.1},"queries":500,"rule":"optimal composition of 1500 answers of teachers","slack":0.001,"table":"2e8c5c4ce42e7bf165c62c5995a3d7a6b89dd636c3e4c303dd444ca40d3d5741","teachers":"fresh"}`,
		}},
		{"frozen", private(t, 1e-5, 3), frozen, []string{training, fmt.Sprintf(answers, 3)}},
		// The training is charged for any number of answers, not for this one.
		{"frozen, one answer", private(t, 1e-5, 1), frozen, []string{training, fmt.Sprintf(answers, 1)}},
		{"frozen, very many", private(t, 1e-12, 2*accountant.MaxOptimalCount), frozen, []string{
			`charge teachers:wards 1×(0.3, 2.999999999998e-12) "" {"affected":3,"k":3,"mechanism":"training","per_teacher":{"delta":1e-12,"epsilon":0.1},"rule":"basic composition of 3 teachers","teachers":"frozen"}`,
			`charge march 1×(0, 0) "teachers:wards" {"affected":3,"k":3,"mechanism":"table","per_answer":{"delta":2.999999999997e-12,"epsilon":0.3},"queries":20000000,"rule":"post-processing of the teachers","table":"ce19dae7c2c463b63a29534ecb4ff22559362074072f4c9ed6588b829177ccfc","teachers":"frozen"}`,
		}},
		{"promise nothing", lone, Charge{RequestID: "march"}, []string{
			`charge march 1×(0, 0.00039992021058574937) "" {"affected":1,"k":3,"mechanism":"table","per_answer":{"delta":0.000001,"epsilon":0.5},"queries":400,"rule":"the price of up to 400 answers together","table":"bca1a9415f86bad875d28afdbd2bc88c3b7f0a57fff37a6776834445d0135006","teachers":"promise nothing"}`,
		}},
		{"another mechanism", noisy(t, 4), Charge{RequestID: "march"}, []string{
			`charge march 1×(2, 0) "" {"affected":1,"classes":3,"k":10,"mechanism":"lnmax","parameters":"b = 4","per_answer":{"delta":0,"epsilon":0.5},"queries":4,"rule":"basic composition of 4 answers","teachers":"promise nothing"}`,
		}},
	} {
		l := newLedger(t, 1000)
		b := newBill(t, tt.release, tt.terms)
		quoted, err := b.Check(t.Context(), l)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := b.Pay(t.Context(), l, false); err != nil {
			t.Fatal(err)
		}
		if got := entries(t, l); !slices.Equal(got, tt.want) {
			t.Errorf("%s:\n%s\nwant\n%s", tt.name, strings.Join(got, "\n"), strings.Join(tt.want, "\n"))
		}
		if spent, err := l.Spent(t.Context()); err != nil || spent != quoted {
			t.Errorf("%s: %v was spent (%v), and %v quoted", tt.name, spent, err, quoted)
		}
	}
}

// More answers than the optimal composition takes have totals too: the basic one of fresh
// teachers, and of frozen ones the same as of two answers.
func TestTotalsOfMoreAnswersThanTheOptimalCompositionTakes(t *testing.T) {
	many := private(t, 1e-12, 10*accountant.MaxOptimalCount)
	got, err := many.Totals(new(1e-6))
	if err != nil {
		t.Fatal(err)
	}
	basic, err := accountant.Basic(many.queries, many.mechanism.PerAnswer())
	if err != nil || got.Fresh.Cost.Epsilon > basic.Epsilon || got.Fresh.Cost.Delta > basic.Delta+
		1e-6 {
		t.Errorf("fresh %v, %v, want at most %v", got.Fresh.Cost, err, basic)
	}
	few, err := private(t, 1e-12, 2).Totals(new(0.0))
	if err != nil || got.Frozen == nil || got.Frozen.Cost != few.Frozen.Cost {
		t.Errorf("frozen %v, want %v (%v)", got.Frozen, few.Frozen, err)
	}
}

// A training is paid for once, by the first release of its teachers; other teachers under
// the same name are refused, before anything is charged.
func TestTrainingIsPaidForOnce(t *testing.T) {
	l := newLedger(t, 1)
	for i, id := range []string{"march", "april"} {
		terms := frozen
		terms.RequestID = id
		b := newBill(t, private(t, 1e-5, 1000), terms)
		want := b.training.Unit
		if i > 0 {
			want = ledger.Cost{}
		}
		if pay, err := b.Check(t.Context(), l); err != nil || pay != want {
			t.Errorf("%s: quoted %v, %v, want %v", id, pay, err, want)
		}
		if receipt, err := b.Pay(t.Context(), l, false); err != nil || receipt.Entry().ID != id {
			t.Errorf("%s: %v", id, err)
		}
		checkSpent(t, l, 0.3)
	}
	before := entries(t, l)
	b := newBill(t, private(t, 1e-6, 5), Charge{RequestID: "may", Teachers: "frozen",
		Ensemble: "wards"})
	if _, err := b.Check(t.Context(), l); !errors.Is(err, ledger.ErrConflict) {
		t.Errorf("other teachers, checked: %v", err)
	}
	if _, err := b.Pay(t.Context(), l, false); !errors.Is(err, ledger.ErrConflict) {
		t.Errorf("other teachers: %v", err)
	}
	if got := entries(t, l); !slices.Equal(got, before) {
		t.Errorf("entries %q", got)
	}
}

// A death between the training's charge and the release's leaves the training paid; the
// same bill pays the rest.
func TestTrainingPaidAndReleaseNot(t *testing.T) {
	l := newLedger(t, 1)
	b := newBill(t, private(t, 1e-5, 7), frozen)
	if _, err := l.Charge(t.Context(), *b.training); err != nil {
		t.Fatal(err)
	}
	if pay, err := b.Check(t.Context(), l); err != nil || pay != (ledger.Cost{}) {
		t.Errorf("quoted %v, %v", pay, err)
	}
	if _, err := b.Pay(t.Context(), l, false); err != nil {
		t.Fatal(err)
	}
	checkSpent(t, l, 0.3)
	if n := len(entries(t, l)); n != 2 {
		t.Errorf("%d entries, want 2", n)
	}
}

// What does not fit is refused whole: neither the training nor the release is charged.
func TestTooMuchIsRefused(t *testing.T) {
	for _, terms := range []Charge{fresh, frozen} {
		l := newLedger(t, 0.29) // 0.3 is asked for
		b := newBill(t, private(t, 1e-5, 1), terms)
		if _, err := b.Check(t.Context(), l); !errors.Is(err, ledger.ErrExceeded) {
			t.Errorf("%s, checked: %v", terms.Teachers, err)
		}
		if receipt, err := b.Pay(t.Context(), l, false); !errors.Is(err, ledger.ErrExceeded) ||
			receipt != nil {
			t.Errorf("%s: %v", terms.Teachers, err)
		}
		if got := entries(t, l); got != nil {
			t.Errorf("%s: entries %q", terms.Teachers, got)
		}
	}
}

// A request is paid once, with one receipt, which is used up. Only the release of the same
// key goes on, to the same answers. With other coins it is the same request, asked again.
func TestPaidOnce(t *testing.T) {
	keyed := func(key string) *Bill {
		return newBill(t, private(t, 1e-5, 3), Charge{RequestID: "march", Teachers: "fresh", Key: key})
	}
	l := newLedger(t, 100)
	receipt, err := keyed("a").Pay(t.Context(), l, true) // resumed before it was paid for
	if err != nil || receipt == nil {
		t.Fatalf("%v, %v", receipt, err)
	}
	if err := receipt.Redeem(); !errors.Is(err, ledger.ErrReceipt) {
		t.Errorf("the receipt can still be used: %v", err)
	}
	for _, tt := range []struct {
		name    string
		bill    *Bill
		resumed bool
		want    error
	}{
		{"same key, resumed", keyed("a"), true, nil},
		{"same key, not resumed", keyed("a"), false, ledger.ErrReplayed},
		{"another key", keyed("b"), false, ledger.ErrReplayed},
		{"another key, resumed", keyed("b"), true, ledger.ErrReplayed},
		{"no key", keyed(""), false, ledger.ErrReplayed},
		{"no key, resumed", keyed(""), true, ledger.ErrReplayed},
		{"another number", newBill(t, private(t, 1e-5, 4),
			Charge{RequestID: "march", Teachers: "fresh", Key: "a"}), true, ledger.ErrConflict},
		{"other teachers at that price", newBill(t, private(t, 1e-5, 3),
			Charge{RequestID: "march", Teachers: "frozen", Ensemble: "e", Key: "a"}), true,
			ledger.ErrConflict},
	} {
		spent, _ := l.Spent(t.Context())
		if tt.want == ledger.ErrReplayed && !tt.resumed {
			if _, err := tt.bill.Check(t.Context(), l); !errors.Is(err, tt.want) ||
				errors.Is(err, ledger.ErrConflict) {
				t.Errorf("%s, checked: %v, want %v", tt.name, err, tt.want)
			}
		}
		receipt, err := tt.bill.Pay(t.Context(), l, tt.resumed)
		if !errors.Is(err, tt.want) || (receipt != nil) != (tt.want == nil) {
			t.Errorf("%s: %v, %v, want %v", tt.name, receipt, err, tt.want)
		}
		if receipt != nil && !errors.Is(receipt.Redeem(), ledger.ErrReceipt) {
			t.Errorf("%s: its receipt can be used", tt.name)
		}
		if now, _ := l.Spent(t.Context()); now != spent {
			t.Errorf("%s: spent %v, then %v", tt.name, spent, now)
		}
	}
	// Without a key the coins of another try are others, whatever the caller says.
	l = newLedger(t, 100)
	if _, err := keyed("").Pay(t.Context(), l, false); err != nil {
		t.Fatal(err)
	}
	if _, err := keyed("").Pay(t.Context(), l, true); !errors.Is(err, ledger.ErrReplayed) {
		t.Errorf("no key, resumed: %v", err)
	}
	checkSpent(t, l, 0.9)
}

// A release that died before it was noted is noted when it is finished, once, and then says
// so to whoever asks with other coins.
func TestFinishedReleaseIsNoted(t *testing.T) {
	l := newLedger(t, 100)
	bill := func(key string) *Bill {
		return newBill(t, private(t, 1e-5, 3), Charge{RequestID: "march", Teachers: "fresh", Key: key})
	}
	if _, err := bill("a").Pay(t.Context(), l, false); err != nil {
		t.Fatal(err)
	}
	_, err := bill("b").Pay(t.Context(), l, false)
	if err == nil || !strings.Contains(err.Error(), "no result of it is noted") {
		t.Errorf("asked with another key: %v", err)
	}
	for range 2 {
		receipt, err := bill("a").Pay(t.Context(), l, true)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := l.RecordResult(t.Context(), receipt, ledger.Digest{7}); err != nil {
			t.Fatal(err)
		}
		if _, err := l.RecordResult(t.Context(), receipt, ledger.Digest{8}); !errors.Is(err,
			ledger.ErrConflict) {
			t.Errorf("other answers: %v", err)
		}
	}
	_, err = bill("b").Pay(t.Context(), l, false)
	var replayed *ledger.ReplayedError
	if !errors.As(err, &replayed) || replayed.Replays[0].Receipt != nil ||
		*replayed.Replays[0].Result != (ledger.Digest{7}) ||
		!strings.Contains(err.Error(), ledger.Digest{7}.String()[:8]+"…") {
		t.Errorf("asked again: %v", err)
	}
	history, err := l.History(t.Context())
	if err != nil || len(history) != 2 || history[1].Result != (ledger.Digest{7}) {
		t.Errorf("entries %v, %v", history, err)
	}
	checkSpent(t, l, 0.9)
}

// What differs in more than the coins is another release, and so is what cannot be told.
func TestAgain(t *testing.T) {
	unit, err := ledger.NewCost(1, 0)
	if err != nil {
		t.Fatal(err)
	}
	request := func(event string) ledger.Request {
		return ledger.Request{ID: "a", Count: 1, Unit: unit, Event: []byte(event),
			Relation: ledger.ReplaceOne}
	}
	const was = `{"n":{"b":1,"a":1.0},"coins":"x"}`
	dearer, other := request(was), request(`{"n":{"a":1.0,"b":1},"coins":"y"}`)
	dearer.Count, other.ID = 2, "b"
	for _, tt := range []struct {
		name    string
		request ledger.Request
		replay  bool
	}{
		{"other coins", request(`{"coins":"y","n":{"a":1.0,"b":1}}`), true},
		{"no coins", request(`{"n":{"a":1.0,"b":1}}`), true},
		{"another number", request(`{"coins":"y","n":{"a":1.00,"b":1}}`), false},
		{"another field", request(`{"coins":"y","n":{"a":1.0,"b":1},"m":0}`), false},
		{"no object", request(`"coins"`), false},
		{"null", request(``), false},
		{"dearer", dearer, false},
	} {
		l := newLedger(t, 10)
		if _, err := l.Charge(t.Context(), request(was)); err != nil {
			t.Fatal(err)
		}
		_, err := chargeOnce(t.Context(), l, tt.request, "coins", true, nil)
		if want := map[bool]error{true: ledger.ErrReplayed,
			false: ledger.ErrConflict}[tt.replay]; !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", tt.name, err, want)
		}
		if got := replayed(l.Check(t.Context(), tt.request), other, "coins"); !errors.Is(got,
			ledger.ErrConflict) {
			t.Errorf("%s, of another request: %v", tt.name, got)
		}
	}
	for _, err := range []error{nil, ledger.ErrExceeded, &ledger.ConflictError{ID: "a"}} {
		if got := replayed(err, request(was), "coins"); got != err {
			t.Errorf("%v became %v", err, got)
		}
	}
}

func TestReleased(t *testing.T) {
	l := newLedger(t, 100)
	b := newBill(t, private(t, 1e-5, 3), fresh)
	receipt, err := b.Pay(t.Context(), l, false)
	if err != nil {
		t.Fatal(err)
	}
	file := func(content string) func() (io.ReadCloser, error) {
		return func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(content)), nil }
	}
	_, replayed := b.Pay(t.Context(), l, false)
	released := func(err error, open func() (io.ReadCloser, error)) bool {
		transaction := Transaction{Output: opener(open)}
		return transaction.released(t.Context(), err) != nil
	}
	if released(replayed, file("")) {
		t.Error("released before anything was recorded")
	}
	// SHA-256 of "abc" (FIPS 180-4).
	abc := ledger.Digest{
		0xba, 0x78, 0x16, 0xbf, 0x8f, 0x01, 0xcf, 0xea, 0x41, 0x41, 0x40, 0xde, 0x5d, 0xae, 0x22, 0x23,
		0xb0, 0x03, 0x61, 0xa3, 0x96, 0x17, 0x7a, 0x9c, 0xb4, 0x10, 0xff, 0x61, 0xf2, 0x00, 0x15, 0xad,
	}
	if _, err := l.RecordResult(t.Context(), receipt, abc); err != nil {
		t.Fatal(err)
	}
	_, replayed = b.Pay(t.Context(), l, false)
	failing := func() (io.ReadCloser, error) {
		return io.NopCloser(io.MultiReader(strings.NewReader("abc"), badReader{})), nil
	}
	for _, tt := range []struct {
		name string
		err  error
		open func() (io.ReadCloser, error)
		want bool
	}{
		{"the file", replayed, file("abc"), true},
		{"wrapped", fmt.Errorf("pay: %w", replayed), file("abc"), true},
		{"another file", replayed, file("abd"), false},
		{"no file", replayed, func() (io.ReadCloser, error) { return nil, errors.New("not there") },
			false},
		{"a file that fails", replayed, failing, false},
		{"another error", ledger.ErrExceeded, file("abc"), false},
		{"no error", nil, file("abc"), false},
	} {
		if got := released(tt.err, tt.open); got != tt.want {
			t.Errorf("%s: %t", tt.name, got)
		}
	}
}

// opener is an output that can be opened only.
type opener func() (io.ReadCloser, error)

func (o opener) Open(context.Context) (io.ReadCloser, error)      { return o() }
func (opener) Check(bool) error                                   { panic("not called") }
func (opener) Write(context.Context, func(io.Writer) error) error { panic("not called") }

type badReader struct{}

func (badReader) Read([]byte) (int, error) { return 0, errors.New("cannot be read") }

func TestChargeCheck(t *testing.T) {
	for _, tt := range []struct {
		terms            Charge
		promise, charged bool
		want             string // "": accepted
	}{
		{Charge{}, true, false, ""},
		{Charge{}, false, false, ""},
		{Charge{Teachers: "fresh", Slack: new(0.1)}, true, false, ""},
		{Charge{Teachers: "thawed"}, true, false, `teachers = "thawed"`},
		{Charge{Teachers: "fresh"}, false, false, "leave it out"},
		{Charge{Teachers: "frozen", Slack: new(0.1)}, true, false, "slack = 0.1"},
		{Charge{RequestID: "a"}, true, false, "for a ledger, and none is given"},
		{Charge{Ensemble: "a"}, true, false, "for a ledger, and none is given"},
		{Charge{}, true, true, "needs a request id"},
		{Charge{RequestID: "a"}, true, true, `"fresh" or "frozen"`},
		{Charge{RequestID: "a"}, false, true, ""},
		{Charge{RequestID: "a", Slack: new(0.1)}, false, true, ""},
		{fresh, true, true, ""},
		{fresh, false, true, "leave it out"},
		{Charge{RequestID: "teachers:a", Teachers: "fresh"}, true, true, `begin with "teachers:"`},
		{Charge{RequestID: "teachers:a"}, false, true, `begin with "teachers:"`},
		{Charge{RequestID: "a", Teachers: "frozen"}, true, true, "name of their ensemble"},
		{Charge{RequestID: "a", Teachers: "fresh", Ensemble: "e"}, true, true, ""},
		{Charge{RequestID: "a", Teachers: "fresh", Draw: "d"}, true, true, ""},
		{Charge{Draw: "d"}, true, false, "for a ledger, and none is given"},
		{Charge{RequestID: "a", Teachers: "fresh", EnsembleDigest: "d"}, true, true, "needs the name"},
		{Charge{RequestID: "draw:a", Teachers: "fresh"}, true, true, `"draw:"`},
		{Charge{RequestID: "a", Ensemble: "e"}, false, true, `ensemble = "e"`},
		{frozen, true, true, ""},
	} {
		if tt.charged {
			tt.terms.Ledger = "l"
		}
		err := tt.terms.Check(tt.promise)
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%+v, promise %t, charged %t: %v, want %q", tt.terms, tt.promise, tt.charged, err,
				tt.want)
		}
	}
}

func TestEventForPeople(t *testing.T) {
	per := &accountant.Cost{Epsilon: 0.3, Delta: 1e-5}
	for want, e := range map[string]any{
		"training of 3 teachers, one record reaches 2": Event{Mechanism: "training",
			K: 3, Affected: 2, PerTeacher: per},
		"7 labels by darrm, each (0.3, 1e-05)-DP": Event{Mechanism: "darrm",
			Queries: 7, PerAnswer: per},
		"7 rows of votes of 3 teachers, answered again any number of times": Event{Mechanism: "votes",
			Queries: 7, K: 3, PerTeacher: per},
		"model of hinge pairs by minimised, 9 rounds, accounting gaussian":    ModelEvent{Mechanism: "pairwise", Method: "minimised", Task: "hinge pairs", Epochs: 9, Unit: "rounds", Mode: "gaussian"},
		"model of ridge by priv-pub, 4 epochs, accounting best":               ModelEvent{Mechanism: "shuffled-gradients", Method: "priv-pub", Task: "ridge", Epochs: 4, Mode: "best"},
		"1 label of up to 9 by darrm":                                         Event{Mechanism: "darrm", Queries: 1, Answers: 9},
		"7 labels of up to 9 by darrm":                                        Event{Mechanism: "darrm", Queries: 7, Answers: 9},
		"model and its score of ridge by priv-pub, 4 epochs, accounting best": ModelEvent{Mechanism: "shuffled-gradients", Method: "priv-pub", Task: "ridge", Epochs: 4, Mode: "best", ScoreEpsilon: 0.5},
		"": map[string]any{"mechanism": 3}, // of another program
	} {
		b, err := json.Marshal(e)
		if got := Describe(b); err != nil || got != want {
			t.Errorf("%q, %v, want %q", got, err, want)
		}
	}
}
