package release

import (
	"errors"
	"math"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/darrm/darrm/constraints"
	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/ledger"
)

// cast has one row of votes, under a key of the tests.
func cast(votes byte) *ledger.VoteHash {
	h, _, err := ledger.CutVoteKey([]byte("darrm vote key 1\n" + strings.Repeat("k", 32)))
	if err != nil {
		panic(err)
	}
	h.Add([]int{int(votes)})
	return h
}

// anew states that the votes were cast anew.
func anew(c Charge) Charge {
	c.VotesCastAnew = true
	return c
}

// sameVotes are a release of five answers of fresh teachers, and the terms of answering the
// rows with digest votes.
func sameVotes(t *testing.T) (Plan, func(request, draw string, votes byte) Charge) {
	return private(t, 1e-5, 5), func(request, draw string, votes byte) Charge {
		return Charge{RequestID: request, Teachers: "fresh", Draw: draw, Votes: cast(votes)}
	}
}

func mustPay(t *testing.T, l *ledger.Ledger, b *Bill) {
	t.Helper()
	quoted, err := b.Check(t.Context(), l)
	if err != nil {
		t.Fatal(err)
	}
	before, _ := l.Spent(t.Context())
	repeats, err := b.repeats(t.Context(), l)
	if err != nil {
		t.Fatal(err)
	}
	receipt, err := b.Pay(t.Context(), l, false)
	if err != nil {
		t.Fatal(err)
	}
	if paidByDraw := strings.HasPrefix(receipt.Entry().PaidBy, drawPrefix); repeats != paidByDraw ||
		repeated(receipt) != paidByDraw {
		t.Errorf("%q, paid by %q: %t before and %t after", b.release.ID, receipt.Entry().PaidBy, repeats,
			repeated(receipt))
	}
	if after, _ := l.Spent(t.Context()); after != before.Plus(quoted) {
		t.Errorf("%q: %v was quoted, and %v became %v", b.release.ID, quoted, before, after)
	}
}

// The first answer to a draw pays for itself, the second pays for any number of further
// ones, and those that follow pay nothing and name who paid. So does one whose mechanism, and
// so whose price, is another: all are functions of the same votes.
func TestSameVotesTwice(t *testing.T) {
	r, terms := sameVotes(t)
	totals, err := r.Totals(new(0.0))
	if err != nil {
		t.Fatal(err)
	}
	l := newLedger(t, 100)
	spent := func() float64 {
		c, err := l.Spent(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		eps, _ := c.Ceil()
		return eps
	}
	mustPay(t, l, newBill(t, r, terms("march", "", 1)))
	first := spent()
	if want := totals.Fresh.Cost.Epsilon; math.Abs(first-want) > 1e-9 {
		t.Errorf("the first answer costs %v, want %v", first, want)
	}
	mustPay(t, l, newBill(t, r, terms("april", "march", 1)))
	second := spent()
	if want := first + totals.Again.Cost.Epsilon; math.Abs(second-want) > 1e-9 {
		t.Errorf("with the second answer %v is spent, want %v", second, want)
	}
	other := darrm(t, constraints.Problem{K: 3, M: 1, Epsilon: 0.1, TeacherDelta: 1e-5, Affected: 3,
		Delta: 1e-5}, 5)
	mustPay(t, l, newBill(t, r, terms("may", "march", 1)))
	mustPay(t, l, newBill(t, other, terms("june", "march", 1)))
	if now := spent(); now != second {
		t.Errorf("further answers cost %v", now-second)
	}
	got := entries(t, l)
	if len(got) != 5 {
		t.Fatalf("entries %q", got)
	}
	for i, want := range []string{`charge march `, `charge draw:march `,
		`charge april 1×(0, 0) "draw:march" `, `charge may 1×(0, 0) "draw:march" `,
		`charge june 1×(0, 0) "draw:march" `} {
		if !strings.HasPrefix(got[i], want) {
			t.Errorf("entry %d is %q, want %q…", i, got[i], want)
		}
	}
	// Asked again, each is a replay and no new release.
	for _, id := range []string{"march", "april", "may"} {
		draw := "march"
		if id == "march" {
			draw = ""
		}
		b := newBill(t, r, terms(id, draw, 1))
		if _, err := b.Check(t.Context(), l); !errors.Is(err, ledger.ErrReplayed) {
			t.Errorf("%s checked again: %v", id, err)
		}
		if _, err := b.Pay(t.Context(), l, false); !errors.Is(err, ledger.ErrReplayed) {
			t.Errorf("%s again: %v", id, err)
		}
	}
}

// The numbers: K = 5, m = 0.9, ε = 0.3, Δ = 0.01, δ = 1e-9, five ones, answered twice.
// Two answers composed as if cast anew are (0.54, 2e-9); their true δ at 0.54 is above 1.79e-3.
// What is charged now is larger than the truth. (package accountant enumerates the truth.)
func TestSameVotesAreNotComposedAsFresh(t *testing.T) {
	p := constraints.Problem{K: 5, M: 0.9, Epsilon: 0.3, TeacherDelta: 0.01, Affected: 5, Delta: 1e-9}
	r := darrm(t, p, 1)
	l := newLedger(t, 100)
	for i, id := range []string{"a", "b"} {
		terms := Charge{RequestID: id, Teachers: "fresh", Votes: cast(1)}
		if i > 0 {
			terms.Draw = "a"
		}
		mustPay(t, l, newBill(t, r, terms))
	}
	c, err := l.Spent(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if eps, delta := c.Ceil(); eps < 0.9*0.3+5*0.3-1e-9 && delta < 1.79e-3 {
		t.Errorf("two answers to the same votes are charged (%v, %v)", eps, delta)
	}
}

// The teachers of a draw promise one thing. A later answer with another promise would pay for too
// little, or shows that the first one did.
func TestOneDrawHasOnePromise(t *testing.T) {
	first := constraints.Problem{K: 3, M: 1, Epsilon: 0.1, TeacherDelta: 1e-5, Affected: 3,
		Delta: 1e-5}
	changed := func(change func(*constraints.Problem)) constraints.Problem {
		p := first
		change(&p)
		return p
	}
	for _, tt := range []struct {
		name string
		p    constraints.Problem
	}{
		{"smaller epsilon", changed(func(p *constraints.Problem) { p.Epsilon = 0.01 })},
		{"larger epsilon", changed(func(p *constraints.Problem) { p.Epsilon = 0.2 })},
		{"another Delta", changed(func(p *constraints.Problem) { p.TeacherDelta = 0 })},
		{"another reach", changed(func(p *constraints.Problem) { p.Affected = 1 })},
		{"another number of teachers", changed(func(p *constraints.Problem) { p.K = 5 })},
	} {
		l := newLedger(t, 100)
		mustPay(t, l, newBill(t, darrm(t, first, 5),
			Charge{RequestID: "march", Teachers: "fresh", Votes: cast(1)}))
		before := entries(t, l)
		b := newBill(t, darrm(t, tt.p, 5), Charge{RequestID: "april", Teachers: "fresh", Draw: "march",
			Votes: cast(1)})
		_, checked := b.Check(t.Context(), l)
		receipt, paid := b.Pay(t.Context(), l, false)
		if receipt != nil || !errors.Is(paid, ledger.ErrRefused) ||
			!errors.Is(paid, ledger.ErrConflict) || !strings.Contains(paid.Error(), "promise") ||
			checked == nil || checked.Error() != paid.Error() {
			t.Errorf("%s: %v, checked %v", tt.name, paid, checked)
		}
		if got := entries(t, l); len(got) != len(before) {
			t.Errorf("%s: entries %q", tt.name, got)
		}
	}
	// What another program charged as the first answer is not known to be of these teachers.
	l := newLedger(t, 100)
	unit, err := ledger.NewCost(0.1, 0)
	if err != nil {
		t.Fatal(err)
	}
	for i, event := range []string{"null", `"text"`, `{"k":"three"}`} {
		name := "draw" + string(rune('a'+i))
		votes := cast(byte(i + 1))
		_, err := l.Charge(t.Context(), ledger.Request{ID: "by hand " + name, Count: 1, Unit: unit,
			Relation: ledger.ReplaceOne, Draw: votes.Draw("", name), Event: []byte(event)})
		if err != nil {
			t.Fatal(err)
		}
		b := newBill(t, darrm(t, first, 5), Charge{RequestID: "april" + name, Teachers: "fresh",
			Draw: name, Votes: votes})
		if _, err := b.Pay(t.Context(), l, false); !errors.Is(err, ledger.ErrRefused) {
			t.Errorf("event %s: %v", event, err)
		}
	}
}

// What the votes themselves tell does not depend on the slack of an answer, so whoever answers
// them again may state another.
func TestVotesHaveOnePrice(t *testing.T) {
	r := private(t, 1e-5, 5)
	l := newLedger(t, 100)
	for i, slack := range []float64{0, 1e-3, 0.1, 0} {
		terms := Charge{RequestID: string(rune('a' + i)), Teachers: "fresh", Votes: cast(1),
			Slack: &slack}
		if i > 0 {
			terms.Draw = "a"
		}
		mustPay(t, l, newBill(t, r, terms))
	}
}

// Draws of one name in two ensembles are two, each with a price of its own.
func TestDrawsOfTwoEnsembles(t *testing.T) {
	r := private(t, 1e-5, 5)
	l := newLedger(t, 100)
	spent := func() float64 {
		c, err := l.Spent(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		eps, _ := c.Ceil()
		return eps
	}
	pay := func(ensemble, draw string, votes byte) {
		for _, id := range []string{"first", "second"} {
			mustPay(t, l, newBill(t, r, Charge{RequestID: ensemble + draw + id, Teachers: "fresh",
				Ensemble: ensemble, Draw: draw, Votes: cast(votes)}))
		}
	}
	pay("wards", "march", 1)
	once := spent()
	pay("clinics", "march", 2)
	pay("", "march", 3)
	if got := spent(); math.Abs(got-3*once) > 1e-9 {
		t.Errorf("three draws cost %v, one %v", got, once)
	}
	// So are draws whose names run together.
	for i, d := range [][2]string{{"a:b", "c"}, {"a", "b:c"}, {"", "a:b:c"}, {"a%3Ab", "c"}} {
		pay(d[0], d[1], byte(4+i))
	}
	if got := spent(); math.Abs(got-7*once) > 1e-9 {
		t.Errorf("seven draws cost %v, one %v", got, once)
	}
}

// No two draws are covered by one charge, whatever they are called: the ids of the charges differ
// wherever ensembles or names do, and are read by nothing but this. Names that make too long an id
// are refused by the ledger, and not cut short.
func TestCoversAreToldApart(t *testing.T) {
	name := rapid.StringMatching(`[a:%25A3é]{0,4}|[a-z:%]{0,120}`)
	rapid.Check(t, func(t *rapid.T) {
		a, b := [2]string{name.Draw(t, "ensemble"), name.Draw(t, "name")},
			[2]string{name.Draw(t, "another ensemble"), name.Draw(t, "another name")}
		// the case that was missed: the same text, another end of the ensemble
		if rapid.Bool().Draw(t, "cut elsewhere") {
			whole := a[0] + ":" + a[1]
			colons := []int{-1}
			for i, c := range []byte(whole) {
				if c == ':' {
					colons = append(colons, i)
				}
			}
			cut := rapid.SampledFrom(colons).Draw(t, "colon")
			b = [2]string{whole[:max(cut, 0)], whole[cut+1:]}
		}
		if same := coverID(a[0], a[1]) == coverID(b[0], b[1]); same != (a == b) {
			t.Fatalf("%q and %q: %q: one id: %t", a, b, coverID(a[0], a[1]), same)
		}
		if rest, ok := strings.CutPrefix(coverID(a[0], a[1]), drawPrefix); !ok ||
			strings.Count(rest, ":") > 1 {
			t.Fatalf("%q", rest)
		}
	})
	if got := coverID("E", "a"); got != "draw:E:a" {
		t.Errorf("%q", got)
	}
	// An id that is too long is refused before the first answer, and not with the second.
	plan, c := private(t, 1e-5, 0), Charge{RequestID: "a", Teachers: "fresh", Votes: cast(1)}
	c.Ensemble, c.Draw = strings.Repeat("w", 100), strings.Repeat("m:", 30)+strings.Repeat("m", 120)
	totals, err := plan.Totals(new(0.0))
	if err != nil {
		t.Fatal(err)
	}
	var parameter *check.Error
	if _, err := plan.bill(c, totals); !errors.As(err, &parameter) ||
		!strings.Contains(err.Error(), "ensemble and draw") {
		t.Errorf("%v", err)
	}
}

// Whoever finds, when it pays, that another has answered the draw meanwhile pays for the
// votes. All succeed, for the price of two. The test has no false alarms; a bill that gives
// up instead passes a round only if no two of eight meet between looking and paying.
func TestAnswersAtOnce(t *testing.T) {
	r := private(t, 1e-5, 5)
	totals, err := r.Totals(new(0.0))
	if err != nil {
		t.Fatal(err)
	}
	want := totals.Fresh.Cost.Epsilon + totals.Again.Cost.Epsilon
	for range 5 {
		l := newLedger(t, 100)
		begin := make(chan struct{})
		var group sync.WaitGroup
		for i := range 8 {
			bill := newBill(t, r, Charge{RequestID: string(rune('a' + i)), Teachers: "fresh", Draw: "march",
				Votes: cast(1)})
			own, err := ledger.Open(t.Context(), l.Path())
			if err != nil {
				t.Fatal(err)
			}
			group.Go(func() {
				<-begin
				if _, err := bill.Pay(t.Context(), own, false); err != nil {
					t.Errorf("%s: %v", bill.release.ID, err)
				}
			})
		}
		close(begin)
		group.Wait()
		c, err := l.Spent(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if eps, _ := c.Ceil(); math.Abs(eps-want) > 1e-9 {
			t.Errorf("%v is spent, want %v", eps, want)
		}
	}
}

// The same votes under another name are refused, unless they are stated to be cast anew; other
// votes under the same name are refused always. Nothing is charged.
func TestDrawsAreToldApart(t *testing.T) {
	r, terms := sameVotes(t)
	l := newLedger(t, 100)
	mustPay(t, l, newBill(t, r, terms("march", "", 1)))
	before := entries(t, l)
	for _, tt := range []struct {
		name  string
		terms Charge
		want  error
	}{
		{"same votes, another request", terms("april", "", 1), ledger.ErrSameVotes},
		{"same votes, another draw", terms("april", "april's", 1), ledger.ErrSameVotes},
		{"other votes of that name", terms("april", "march", 2), ledger.ErrDraw},
		{"other votes of the first request", terms("march", "", 2), ledger.ErrConflict},
	} {
		b := newBill(t, r, tt.terms)
		if _, err := b.Check(t.Context(), l); !errors.Is(err, tt.want) {
			t.Errorf("%s, checked: %v", tt.name, err)
		}
		if receipt, err := b.Pay(t.Context(), l, false); !errors.Is(err, tt.want) || receipt != nil ||
			!errors.Is(err, ledger.ErrRefused) {
			t.Errorf("%s: %v, %v", tt.name, receipt, err)
		}
	}
	if got := entries(t, l); len(got) != len(before) {
		t.Errorf("entries %q", got)
	}
	mustPay(t, l, newBill(t, r, anew(terms("april", "april's", 1))))
	mustPay(t, l, newBill(t, r, terms("may", "", 3)))
	// The name of a draw does not state that equal votes were cast anew.
	same := terms("june", "march", 1)
	same.Ensemble = "wards"
	if receipt, err := newBill(t, r, same).Pay(t.Context(), l, false); !errors.Is(err,
		ledger.ErrSameVotes) || receipt != nil {
		t.Errorf("the same votes under the same name in another ensemble: %v", err)
	}
	// The same name in another ensemble is another draw.
	other := terms("june", "march", 4)
	other.Ensemble = "wards"
	mustPay(t, l, newBill(t, r, other))
}

// A ledger takes costs of one neighbouring relation only, those of trainings included.
func TestRelationsAreNotMixed(t *testing.T) {
	l := newLedger(t, 100)
	for _, terms := range []Charge{fresh, frozen} {
		b := newBill(t, private(t, 1e-5, 3), terms)
		b.release.Relation = ledger.AddOrRemoveOne
		if b.training != nil {
			b.training.Relation = ledger.AddOrRemoveOne
		}
		if receipt, err := b.Pay(t.Context(), l, false); !errors.Is(err, ledger.ErrRelation) ||
			receipt != nil {
			t.Errorf("%s: %v, %v", terms.Teachers, receipt, err)
		}
	}
	if got := entries(t, l); got != nil {
		t.Errorf("entries %q", got)
	}
}

// An ensemble's digest, once stated, is required, of frozen teachers and of fresh ones.
func TestEnsembleDigest(t *testing.T) {
	for _, kind := range []ensemble.TeacherRandomness{"frozen", "fresh"} {
		l := newLedger(t, 100)
		bill := func(id, digest string) *Bill {
			return newBill(t, private(t, 1e-5, 3), Charge{RequestID: id, Teachers: kind, Ensemble: "wards",
				EnsembleDigest: digest, Votes: cast(id[0])})
		}
		mustPay(t, l, bill("a", ""))
		mustPay(t, l, bill("b", "v1"))
		for _, digest := range []string{"", "v2"} {
			if _, err := bill("c", digest).Pay(t.Context(), l, false); !errors.Is(err, ledger.ErrEnsemble) {
				t.Errorf("%s teachers, digest %q: %v", kind, digest, err)
			}
		}
		mustPay(t, l, bill("c", "v1"))
	}
}

// Where teachers promise nothing, and where they were trained once, there is no draw.
func TestDrawsAreOfFreshTeachers(t *testing.T) {
	for _, terms := range []Charge{{}, {Teachers: ensemble.FrozenTeachers, Ensemble: "e"}} {
		terms.Ledger, terms.RequestID, terms.Draw = "l", "a", "d"
		if err := terms.Check(terms.Teachers != ""); err == nil {
			t.Errorf("%+v: no error", terms)
		}
		if terms.NeedsVotes() {
			t.Errorf("%+v: the votes are asked for", terms)
		}
	}
}
