package page_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"testing"

	"github.com/darrm/darrm/ledger"
	"github.com/darrm/darrm/serve/page"
)

// BenchmarkFirstPage: the first page after a start, of ledgers with so many charges. Opening the
// ledger, which reads all of it, is not in the figure.
func BenchmarkFirstPage(b *testing.B) {
	for _, n := range []int{10_000, 100_000, 1_000_000} {
		b.Run(fmt.Sprint("n=", n), func(b *testing.B) {
			budget, err := ledger.NewBudget(1e9, 0)
			if err != nil {
				b.Fatal(err)
			}
			unit, err := ledger.NewCost(0.125, 0)
			if err != nil {
				b.Fatal(err)
			}
			path := filepath.Join(b.TempDir(), "l.ledger")
			l, err := ledger.Create(b.Context(), path, budget, ledger.ReplaceOne)
			if err != nil {
				b.Fatal(err)
			}
			event := json.RawMessage(
				`{"mechanism":"gnmax","queries":1,"k":11,"affected":1,"teachers":"none","per_answer":{"epsilon":0.1,"delta":1e-7},"rule":"one answer"}`)
			for from := 0; from < n; from += 1000 {
				requests := make([]ledger.Request, 1000)
				for i := range requests {
					requests[i] = ledger.Request{ID: fmt.Sprint(from + i), Count: 1, Unit: unit, Event: event,
						Relation: ledger.ReplaceOne}
				}
				if _, err := l.ChargeAll(b.Context(), requests); err != nil {
					b.Fatal(err)
				}
			}
			p, err := page.New(service(b, "gamma"))
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				b.StopTimer()
				l, err := ledger.Open(b.Context(), path)
				if err != nil {
					b.Fatal(err)
				}
				h := p.Handler(func(context.Context) (*ledger.Ledger, error) { return l, nil })
				b.StartTimer()
				if w := get(h); w.Code != http.StatusOK {
					b.Fatal(w.Code)
				}
			}
		})
	}
}
