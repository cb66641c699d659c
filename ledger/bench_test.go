package ledger

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"testing"
)

func benchLedger(b *testing.B) *Ledger {
	budget, err := NewBudget(1e12, 0)
	if err != nil {
		b.Fatal(err)
	}
	l, err := Create(b.Context(), filepath.Join(b.TempDir(), "ledger"), budget, ReplaceOne)
	if err != nil {
		b.Fatal(err)
	}
	return l
}

// BenchmarkCharge: one request, forced to disk, per operation. The directory is
// the one of temporary files (TMPDIR), so its disk is what is measured.
func BenchmarkCharge(b *testing.B) {
	l := benchLedger(b)
	for i := 0; b.Loop(); i++ {
		if err := chargeOne(l, i); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "charges/s")
}

// BenchmarkChargeAll: requests with ids of their own, n of them to one write.
func BenchmarkChargeAll(b *testing.B) {
	for _, n := range []int{10, 100, 1000} {
		b.Run(fmt.Sprint("n=", n), func(b *testing.B) {
			l := benchLedger(b)
			requests := make([]Request, n)
			for i := 0; b.Loop(); i++ {
				for j := range requests {
					requests[j] = Request{Relation: ReplaceOne, ID: fmt.Sprintf("%d-%d", i, j), Count: 1,
						Unit: unitOfOne}
				}
				if _, err := l.ChargeAll(b.Context(), requests); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.N*n)/b.Elapsed().Seconds(), "charges/s")
		})
	}
}

// BenchmarkChargeGroup: one request that pays for 1,000 equal releases.
func BenchmarkChargeGroup(b *testing.B) {
	l := benchLedger(b)
	for i := 0; b.Loop(); i++ {
		if _, err := l.Charge(context.Background(),
			Request{Relation: ReplaceOne, ID: fmt.Sprint(i), Count: 1000, Unit: unitOfOne}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N)*1000/b.Elapsed().Seconds(), "releases/s")
}

// BenchmarkProcesses: one request per operation, by several processes on one ledger,
// their start and the opening of the ledger included.
func BenchmarkProcesses(b *testing.B) {
	for _, n := range []int{2, 8} {
		b.Run(fmt.Sprint("n=", n), func(b *testing.B) {
			l := benchLedger(b)
			b.ResetTimer()
			children := make([]*exec.Cmd, n)
			for i := range children {
				children[i] = child("charge", l.Path(), fmt.Sprint(i), (b.N+i)/n) // b.N in all
				if err := children[i].Start(); err != nil {
					b.Fatal(err)
				}
			}
			for _, c := range children {
				if err := c.Wait(); err != nil {
					b.Error(err)
				}
			}
			b.StopTimer()
			if spent, err := l.Spent(b.Context()); err != nil || spent != unitOfOne.Times(uint64(b.N)) {
				b.Errorf("%v, %v after %d charges", spent, err, b.N)
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "charges/s")
		})
	}
}

// BenchmarkSameVotes: the votes of a new draw, tried on the names of 10⁴ and 10⁶ draws.
func BenchmarkSameVotes(b *testing.B) {
	for _, n := range []int{10_000, 1_000_000} {
		b.Run(fmt.Sprint("n=", n), func(b *testing.B) {
			book := newBook()
			for i := range n {
				book.add(&located{Entry: Entry{ID: fmt.Sprint("request ", i), Ensemble: "teachers",
					Draw: &Draw{Name: fmt.Sprint("request ", i), Votes: Digest{byte(i)}}}})
			}
			r := drawn("r", "new", 1)
			for b.Loop() {
				if err := r.sameVotes(book); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(b.Elapsed().Seconds()/float64(b.N)/float64(n)*1e9, "ns/draw")
		})
	}
}
