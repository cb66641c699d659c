package ledger

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"
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
					requests[j] = Request{Relation: ReplaceOne, ID: fmt.Sprintf("%d-%d", i, j), Count: 1, Unit: unitOfOne}
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
		if _, err := l.Charge(context.Background(), Request{Relation: ReplaceOne, ID: fmt.Sprint(i), Count: 1000, Unit: unitOfOne}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N)*1000/b.Elapsed().Seconds(), "releases/s")
}

// BenchmarkOpen: verifying a ledger of n entries, 100 to a write; with draws, of fresh teachers. The
// last metric is against one SHA-256 of the same bytes, which the chain needs in any case.
func BenchmarkOpen(b *testing.B) {
	for _, n := range []int{100, 10_000, 1_000_000} {
		for _, kind := range []string{"plain", "draws"} {
			b.Run(fmt.Sprintf("n=%d/%s", n, kind), func(b *testing.B) {
				l := benchLedger(b)
				fill(b, l, n, kind == "draws")
				bytes, err := os.ReadFile(l.Path())
				if err != nil {
					b.Fatal(err)
				}
				start := time.Now()
				sha256.Sum256(bytes)
				floor := time.Since(start)
				b.ResetTimer()
				for b.Loop() {
					if _, err := Open(b.Context(), l.Path()); err != nil {
						b.Fatal(err)
					}
				}
				b.StopTimer()
				b.ReportMetric(b.Elapsed().Seconds()/float64(b.N)/floor.Seconds(), "×SHA-256")
			})
		}
	}
}

// fill charges n requests.
func fill(b *testing.B, l *Ledger, n int, draws bool) {
	const each = 100
	for i := 0; i < n; i += each {
		requests := make([]Request, each)
		for j := range requests {
			requests[j] = plainRequest(i + j)
			if draws {
				requests[j] = drawnRequest(i + j)
				requests[j].Draw.Votes = sha256.Sum256([]byte(requests[j].ID))
			}
			requests[j].Event = fmt.Appendf(nil, `{"mechanism":"darrm","K":11,"m":3,"epsilon":0.1,"query":%d}`, i+j)
		}
		if _, err := l.ChargeAll(b.Context(), requests); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkGoroutines: one request per operation, by n goroutines on one handle, which share
// commits. "floors" is how many charges come for one forced append of the same size, the least
// that a commit can be: what is measured in the same run, on the same disk.
func BenchmarkGoroutines(b *testing.B) {
	for _, n := range []int{1, 8, 64} {
		b.Run(fmt.Sprint("n=", n), func(b *testing.B) {
			l := benchLedger(b)
			floor := forcedAppend(b)
			var next atomic.Int64
			var all sync.WaitGroup
			b.ResetTimer()
			for range n {
				all.Go(func() {
					for i := int(next.Add(1)); i <= b.N; i = int(next.Add(1)) {
						if err := chargeOne(l, i); err != nil {
							b.Error(err)
							return
						}
					}
				})
			}
			all.Wait()
			b.StopTimer()
			perCharge := b.Elapsed().Seconds() / float64(b.N)
			b.ReportMetric(1/perCharge, "charges/s")
			b.ReportMetric(floor.Seconds()/perCharge, "floors")
			head, err := l.lastCommit(b)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(float64(b.N)/float64(head), "charges/commit")
		})
	}
}

func (l *Ledger) lastCommit(b *testing.B) (commit uint64, err error) {
	err = l.do(b.Context(), false, func(s *session) error {
		commit = s.now.commit
		return nil
	})
	return commit, err
}

// forcedAppend measures the append of one commit's lines, forced to disk.
func forcedAppend(b *testing.B) time.Duration {
	f, err := os.Create(filepath.Join(b.TempDir(), "floor"))
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	const rounds = 100
	lines := make([]byte, 450)
	start := time.Now()
	for range rounds {
		if _, err := f.Write(lines); err != nil {
			b.Fatal(err)
		}
		if err := f.Sync(); err != nil {
			b.Fatal(err)
		}
	}
	return time.Since(start) / rounds
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
