package release_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"github.com/darrm/darrm/ledger"
	"github.com/darrm/darrm/release"
)

// A view shows the same as a report that reads the whole ledger: sums, head, latest charges, and
// the assumptions of the charges. Its steps are sums that were true. Of a ledger with more charges
// than it reads it has the latest, and their number.
func TestBudgetViewShowsWhatTheReportReads(t *testing.T) {
	folder, partly := t.TempDir(), false
	for n := range 6 {
		random := rand.New(rand.NewPCG(uint64(n), 1))
		budget, err := ledger.NewBudget(1e6, 0.1)
		if err != nil {
			t.Fatal(err)
		}
		l, err := ledger.Create(context.Background(), filepath.Join(folder, fmt.Sprint(n)), budget,
			ledger.ReplaceOne)
		if err != nil {
			t.Fatal(err)
		}
		total := 0
		for range min(n, 4) {
			var requests []ledger.Request
			for range []int{1, 2, 25, 450}[random.IntN(4)] {
				// Sums of δ have more digits than a float64.
				unit, err := ledger.NewCost(float64(1+total%7)/8, []float64{1e-5, 1e-24}[total%2])
				if err != nil {
					t.Fatal(err)
				}
				event := fmt.Sprintf(
					`{"mechanism":"gnmax","queries":1,"k":11,"affected":%d,"teachers":"none","per_answer":{"epsilon":1,"delta":0},"rule":"r"}`, 1+total%3)
				id := fmt.Sprintf("r%d", total)
				if total%10 == 9 {
					id, event = "run:"+id, `{}`
				}
				requests = append(requests, ledger.Request{ID: id, Count: 1, Unit: unit,
					Relation: ledger.ReplaceOne, Event: json.RawMessage(event)})
				total++
			}
			receipts, err := l.ChargeAll(context.Background(), requests)
			if err != nil {
				t.Fatal(err)
			}
			if random.IntN(2) == 0 {
				if _, err := l.RecordResult(context.Background(), receipts[0], ledger.Digest{1}); err != nil {
					t.Fatal(err)
				}
			}
		}
		got, err := release.NewBudgetView(context.Background(), l)
		if err != nil {
			t.Fatal(err)
		}
		want, err := release.NewBudgetReport(context.Background(), l)
		if err != nil {
			t.Fatal(err)
		}
		if got.Spent != want.Spent || got.Remaining != want.Remaining || got.Head != want.Head ||
			got.Entries != want.Entries || got.Meaning != want.Meaning || got.Short != want.Short {
			t.Fatalf("the view has %+v, the report %+v", got.BudgetState, want)
		}
		sums := map[release.SpendingStep]bool{}
		var spent ledger.Cost
		entries, err := l.History(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			spent = spent.Plus(e.Total())
			epsilon, delta := spent.Ceil()
			sums[release.SpendingStep{Time: e.Time, Epsilon: epsilon, Delta: delta}] = true
		}
		var latest []release.ReportEntry
		for _, e := range want.Releases {
			e.Result = ""
			latest = append(latest, e)
		}
		slices.Reverse(latest)
		if latest = latest[:min(20, len(latest))]; !slices.Equal(got.Latest, latest) {
			t.Fatalf("the latest are %+v, not %+v", got.Latest, latest)
		}
		var texts []string
		for _, a := range want.Assumed {
			texts = append(texts, a.Text)
		}
		slices.Sort(texts)
		slices.Sort(got.Assumed)
		if !slices.Equal(got.Assumed, texts) || got.Charges != uint64(total) ||
			got.Read != uint64(min(total, 1000)) {
			t.Fatalf("%d of %d charges, %q; the report has %d, %q", got.Read, got.Charges, got.Assumed,
				total, texts)
		}
		partly = partly || got.Read < got.Charges
		for i, s := range got.Spending {
			if !sums[s] || i > 0 && s.Epsilon <= got.Spending[i-1].Epsilon {
				t.Fatalf("step %d is %+v", i, s)
			}
		}
		if epsilon, _ := spent.Ceil(); total > 0 && got.Spending[len(got.Spending)-1].Epsilon != epsilon {
			t.Fatalf("the last step is %+v, not all that was spent", got.Spending[len(got.Spending)-1])
		}
	}
	if !partly {
		t.Error("no ledger had more charges than are read")
	}
}
