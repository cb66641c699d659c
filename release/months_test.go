package release

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/ledger"
	"github.com/darrm/darrm/plurality"
)

// digests finds whole digests, which no error shows people.
var digests = regexp.MustCompile(`[0-9a-f]{64}`)

// monthly is a release of three labels, of which a budget of (2, 0) pays for eight in all, and how
// often it was planned.
func monthly(t *testing.T) (l planning, book *ledger.Ledger, planned *int) {
	t.Helper()
	l, dir, book := newLabels(t, 5)
	planned = new(int)
	l.Plan, l.Charge, l.Queries = nil, paidBy(book, "march"), 8
	l.Charge.Teachers, l.Charge.Slack = "", nil
	l.Output.Path = filepath.Join(dir, "march.csv")
	l.Budget = &LabelBudget{Epsilon: Part{Number: 2}}
	l.Stated = &Statement{Affected: 1, Neighbours: "replace", Prior: "uneven"}
	l.Within = func(_ context.Context, b accountant.Cost, k, classes, n int) (Plan, float64, error) {
		*planned++
		return pluralityPlan(t, plurality.Problem{K: k, Classes: classes, Epsilon: b.Epsilon / float64(n),
			Affected: 1}), 0, nil
	}
	return l, book, planned
}

// month is the release of another month.
func month(l planning, name string) planning {
	l.Charge.RequestID, l.Output.Path = name, filepath.Join(filepath.Dir(l.Output.Path), name+".csv")
	return l
}

// quotas returns how many labels are taken of each charge, the oldest first, and what was spent.
func quotas(t *testing.T, book *ledger.Ledger) (taken []uint64, spent float64) {
	t.Helper()
	for _, use := range must.Get(book.Quotas(t.Context()))(t) {
		taken = append(taken, use.Taken)
	}
	state := must.Get(book.State(t.Context()))(t)
	spent, _ = state.Spent.Floor()
	return taken, spent
}

func checkQuotas(t *testing.T, what string, book *ledger.Ledger, spent float64, taken ...uint64) {
	t.Helper()
	got, cost := quotas(t, book)
	same := len(got) == len(taken)
	for i := range taken {
		same = same && got[i] == taken[i]
	}
	if !same || cost < spent-1e-9 || cost > spent+1e-9 {
		t.Errorf("%s: %d labels are taken and %v is spent, want %d and %v", what, got, cost, taken, spent)
	}
}

// A charge that was stated for many labels pays for later releases of the same statement, which are
// not planned, until too few are left.
func TestMonthsOfOneCharge(t *testing.T) {
	l, book, planned := monthly(t)
	ctx := t.Context()
	for n, name := range []string{"march", "april"} {
		if s, err := month(l, name).Run(ctx); err != nil || s.Charge == nil || s.Charge.Left != uint64(8-3*(n+1)) {
			t.Fatalf("%s: %+v, %v", name, s, err)
		}
	}
	checkQuotas(t, "two months", book, 2, 6)
	if *planned != 1 {
		t.Errorf("planned %d times", *planned)
	}
	var left *LeftError
	s, err := month(l, "may").Run(ctx)
	if s != nil || !errors.As(err, &left) || !strings.Contains(err.Error(), "2 labels are left") ||
		!strings.Contains(err.Error(), "3 are asked for") {
		t.Errorf("too few: %+v, %v", s, err)
	}
	checkQuotas(t, "refused", book, 2, 6)
	if strings.Contains(err.Error(), "too little") {
		t.Errorf("another charge is paid for by what is left, and the error denies it: %v", err)
	}
	may := month(l, "may")
	may.Charge.NewCharge = true
	q, err := may.Quote(ctx)
	if err != nil || !strings.Contains(q.Summary.Charge.String(), "3 of 8 labels would be taken; 5 would be left") {
		t.Errorf("a dry run: %+v, %v", q, err)
	}
	if s, err := may.Run(ctx); err != nil || s.Charge.Left != 5 {
		t.Errorf("a charge of its own: %+v, %v", s, err)
	}
	checkQuotas(t, "two charges", book, 4, 6, 3)
	// The oldest with enough left pays: that is the second by now.
	if s, err := month(l, "june").Run(ctx); err != nil || s.Charge.Left != 2 {
		t.Errorf("june: %+v, %v", s, err)
	}
	checkQuotas(t, "four months", book, 4, 6, 6)
	if _, err := month(l, "july").Run(ctx); !errors.As(err, &left) ||
		!strings.Contains(err.Error(), "too little for another charge") {
		t.Errorf("neither labels nor budget are left: %v", err)
	}
}

// Labels of a calibrated mechanism, which has no table, are repeated and taken by the parameters in the
// charge, whatever would be planned now.
func TestMonthsOfACalibratedMechanism(t *testing.T) {
	l, book, _ := monthly(t)
	ctx := t.Context()
	plan := func(epsilon float64) func(context.Context, int, int) (Plan, error) {
		return func(_ context.Context, k, classes int) (Plan, error) {
			m, err := ensemble.Calibrated(ensemble.Fallback, ensemble.Setting{K: k, Classes: classes, Affected: 1,
				Neighbours: accountant.ReplaceOne}, accountant.Cost{Epsilon: epsilon},
				ensemble.Check{Ratio: ensemble.CheckRatio})
			if err != nil {
				return Plan{}, err
			}
			return NewPlan(m)
		}
	}
	l.Within, l.Budget, l.Plan = nil, nil, plan(0.25)
	l.Stated.Mechanism = "any words"
	if s, err := month(l, "march").Run(ctx); err != nil || s.Charge == nil || s.Charge.Left != 5 {
		t.Fatalf("%+v, %v", s, err)
	}
	for what, epsilon := range map[string]float64{"as planned": 0.25, "planned otherwise": 0.5} {
		l.Plan = plan(epsilon)
		if s, err := month(l, "march").Run(ctx); err != nil || !s.Before || s.PerAnswer.Epsilon != 0.25 {
			t.Errorf("%s, again: %+v, %v", what, s, err)
		}
		checkQuotas(t, what, book, 2, 3)
	}
	if s, err := month(l, "april").Run(ctx); err != nil || s.Before || s.PerAnswer.Epsilon != 0.25 {
		t.Errorf("april: %+v, %v", s, err)
	}
	checkQuotas(t, "april", book, 2, 6)
}

// A release of another statement takes nothing of a charge; what was released is repeated only where
// all that was stated is the same.
func TestMonthsAreComparedWithTheirStatement(t *testing.T) {
	ctx := t.Context()
	for field, change := range map[string]func(*planning){
		"prior":    func(l *planning) { l.Stated.Prior = "another" },
		"budget":   func(l *planning) { l.Budget.Epsilon.Number = 1 },
		"labels":   func(l *planning) { l.Queries = 9 },
		"affected": func(l *planning) { l.Stated.Affected = ensemble.AllTeachers },
	} {
		l, book, planned := monthly(t)
		if _, err := l.Run(ctx); err != nil {
			t.Fatal(err)
		}
		other := l
		stated := *l.Stated
		other.Stated = &stated
		change(&other)
		again := other
		again.Output.Path += ".again"
		if s, err := again.Run(ctx); s != nil || !errors.Is(err, ledger.ErrConflict) ||
			!strings.Contains(err.Error(), "stated otherwise: "+field) {
			t.Errorf("%s, the same request: %+v, %v", field, s, err)
		}
		if s, err := month(other, "april").Run(ctx); err != nil || *planned != 2 {
			t.Errorf("%s, another request: %+v, %v, planned %d times", field, s, err, *planned)
		}
		// Where the plan comes to the very mechanism of the charge, that pays.
		if same := field == "prior" || field == "affected"; same {
			checkQuotas(t, field, book, 2, 6)
		} else if taken, _ := quotas(t, book); len(taken) != 2 || taken[0] != 3 || taken[1] != 3 {
			t.Errorf("%s: taken %d", field, taken)
		}
	}
}

// The table of a charge is kept beside its ledger and judged whenever it is read: without it, and with
// another one in its place, nothing is drawn and nothing is counted.
func TestKeptTableIsJudged(t *testing.T) {
	ctx := t.Context()
	l, book, planned := monthly(t)
	if _, err := l.Run(ctx); err != nil {
		t.Fatal(err)
	}
	folder := book.Path() + ledger.KeptSuffix
	files, err := os.ReadDir(folder)
	if err != nil || len(files) != 1 {
		t.Fatalf("%v, %v", files, err)
	}
	at := filepath.Join(folder, files[0].Name())
	good := contentOf(t, at)
	another, another2, _ := monthly(t)
	another.Budget.Epsilon.Number = 4 // a table that costs more
	if _, err := another.Run(ctx); err != nil {
		t.Fatal(err)
	}
	others := must.Get(os.ReadDir(another2.Path() + ledger.KeptSuffix))(t)
	dearer := contentOf(t, filepath.Join(another2.Path()+ledger.KeptSuffix, others[0].Name()))
	for name, content := range map[string]string{"lost": "", "cut": good[:len(good)/2], "dearer": dearer,
		"no table": "{}"} {
		if err := os.Remove(at); err != nil {
			t.Fatal(err)
		}
		if content != "" {
			if err := os.WriteFile(at, []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		var broken *LedgerError
		s, err := month(l, "april").Run(ctx)
		if s != nil || !errors.As(err, &broken) || !strings.Contains(err.Error(), "kept beside the ledger") ||
			digests.MatchString(err.Error()) {
			t.Errorf("%s: %+v, %v", name, s, err)
		}
		if err := os.WriteFile(at, []byte(good), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	checkQuotas(t, "without its table", book, 2, 3)
	// A version that prices the table above what was paid draws nothing.
	paid := must.Get(book.Quotas(ctx))(t)[0].Charge
	event, _ := paidEvent(&paid)
	if _, err := paidPlan(ctx, book, &paid, event, book.Relation()); err != nil {
		t.Error(err)
	}
	paid.Unit = must.Get(ledger.NewCost(1.9, 0))(t)
	var dear *LedgerError
	if _, err := paidPlan(ctx, book, &paid, event, book.Relation()); !errors.As(err, &dear) ||
		!strings.Contains(err.Error(), "paid (1.9, 0) for 8 labels") {
		t.Errorf("paid too little: %v", err)
	}
	if s, err := month(l, "april").Run(ctx); err != nil || s.Charge.Left != 2 || *planned != 1 {
		t.Errorf("%+v, %v, planned %d times", s, err, *planned)
	}
}

// A server takes labels of the charge that files take of, plans nothing where it is open, and never
// makes a second one.
func TestServerOfTheMonths(t *testing.T) {
	ctx := t.Context()
	l, book, planned := monthly(t)
	if _, err := l.Run(ctx); err != nil {
		t.Fatal(err)
	}
	nothing, affected := math.Inf(1), 1
	stated := *l.Stated
	stated.K, stated.Classes, stated.Labels = 3, 2, 8
	options := OnlineOptions{Statement: stated.Within(*l.Budget), Charge: l.Charge,
		Stated: ensemble.Stated{Epsilon: &nothing, Affected: &affected}, Key: filepath.Join(t.TempDir(), "key")}
	options.Charge.RequestID = ""
	var found bool
	if options.Plan, _, found, _ = FindPaid(ctx, book, *options.Statement); !found {
		t.Error("the open charge is not found")
	}
	o := openOnline(t, options)
	for _, id := range []string{"a", "b"} {
		mustAnswer(t, o, Query{ID: id, Votes: []int{1, 1, 0}})
	}
	checkQuotas(t, "served", book, 2, 5)
	if s, err := month(l, "april").Run(ctx); err != nil || s.Charge.Left != 0 {
		t.Errorf("april: %+v, %v", s, err)
	}
	if a, err := o.Answer(ctx, Query{ID: "c", Votes: []int{1, 1, 0}}); a != nil || err == nil {
		t.Errorf("a ninth label: %+v, %v", a, err)
	}
	checkQuotas(t, "at the end", book, 2, 8)
	// Where all are taken a server starts, repeats its answers, and takes none.
	again := openOnline(t, options)
	if a, err := again.Answer(ctx, Query{ID: "d", Votes: []int{1, 1, 0}}); a != nil || err == nil {
		t.Errorf("after a start: %+v, %v", a, err)
	}
	checkQuotas(t, "after a start", book, 2, 8)
	if *planned != 1 {
		t.Errorf("planned %d times", *planned)
	}
}
