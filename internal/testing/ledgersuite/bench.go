package ledgersuite

import (
	"crypto/sha256"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/darrm/darrm/ledger"
)

// Goroutines measures one request per operation, by 1, 8 and 64 goroutines on one handle, which
// share commits. floor forces what one commit writes, once, and so measures in the same run the
// least that a commit can be: "floors/charge" is how many of those a charge takes.
func Goroutines(b *testing.B, newLocation func(testing.TB) string, floor func(lines []byte)) {
	for _, n := range []int{1, 8, 64} {
		b.Run(fmt.Sprint("n=", n), func(b *testing.B) {
			l := Create(b, newLocation(b), 1e9)
			const rounds = 100
			lines := make([]byte, 450)
			for i := range lines {
				lines[i] = 'x'
			}
			start := time.Now()
			for range rounds {
				floor(lines)
			}
			least := time.Since(start) / rounds
			var next atomic.Int64
			var all sync.WaitGroup
			b.ResetTimer()
			for range n {
				all.Go(func() {
					for i := int(next.Add(1)); i <= b.N; i = int(next.Add(1)) {
						if _, err := l.Charge(b.Context(), Request(fmt.Sprint(i))); err != nil {
							b.Error(err)
							return
						}
					}
				})
			}
			all.Wait()
			b.StopTimer()
			each := b.Elapsed().Seconds() / float64(b.N)
			b.ReportMetric(1/each, "charges/s")
			b.ReportMetric(1/least.Seconds(), "floors/s")
			b.ReportMetric(each/least.Seconds(), "floors/charge")
		})
	}
}

// Open measures the opening of a ledger of n entries, 1,000 to a commit, with and without draws.
// The floor is one SHA-256 of about as many bytes, which the chain needs in any case.
func Open(b *testing.B, newLocation func(testing.TB) string) {
	for _, n := range []int{10_000, 1_000_000} {
		for _, draws := range []bool{false, true} {
			b.Run(fmt.Sprintf("n=%d/draws=%t", n, draws), func(b *testing.B) {
				location := newLocation(b)
				l := Create(b, location, 1e9)
				fill(b, l, n, draws)
				each := 450
				if draws {
					each += 200
				}
				bytes := make([]byte, n*each)
				start := time.Now()
				sha256.Sum256(bytes)
				floor := time.Since(start)
				b.ResetTimer()
				for range b.N {
					if _, err := ledger.Open(b.Context(), location); err != nil {
						b.Fatal(err)
					}
				}
				b.StopTimer()
				b.ReportMetric(b.Elapsed().Seconds()/float64(b.N)/floor.Seconds(), "×SHA-256")
				before := heap()
				opened, err := ledger.Open(b.Context(), location)
				if err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(float64(heap()-before)/float64(n), "B/entry")
				runtime.KeepAlive(opened)
				runtime.KeepAlive(l)
			})
		}
	}
}

// heap returns the bytes in use, without garbage.
func heap() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

func fill(b *testing.B, l *ledger.Ledger, n int, draws bool) {
	const each = 1000
	requests := make([]ledger.Request, each)
	for i := 0; i < n; i += each {
		for j := range requests {
			id := fmt.Sprint("request ", i+j)
			r := Request(id)
			r.Event = fmt.Appendf(nil, `{"mechanism":"darrm","K":11,"m":3,"epsilon":0.1,"query":%d}`, i+j)
			if draws {
				r.Ensemble, r.EnsembleDigest = "teachers", "v1"
				r.Draw = Draw(r.Ensemble, id, i+j)
				r.Draw.CastAnew, r.Draw.Covers = true, (i+j)%3 == 2
			}
			requests[j] = r
		}
		if _, err := l.ChargeAll(b.Context(), requests); err != nil {
			b.Fatal(err)
		}
	}
}
