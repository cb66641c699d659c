// Package raced leaves out of the race detector tests that have nothing to race.
package raced

import (
	"runtime"
	"runtime/metrics"
	"sync"
	"testing"
	"time"
)

// Sequential skips, under the race detector, a test that starts no goroutine. Without it, the test
// fails if it started one. A subtest is a goroutine, so it is for tests without them.
func Sequential(t testing.TB) {
	t.Helper()
	if Enabled {
		t.Skip("starts no goroutine, so that there is nothing to race")
	}
	settle()
	before := created()
	t.Cleanup(func() {
		if n := created() - before; n > 0 {
			t.Errorf("%d goroutines were started by a test that is left out of make race", n)
		}
	})
}

// Elsewhere skips, under the race detector, a test of numbers. The test of that name, of the same
// package, runs the same code in parallel and is raced (TestRacedElsewhere of package scripts).
func Elsewhere(t testing.TB, test string) {
	t.Helper()
	if Enabled {
		t.Skip("measures numbers; " + test + " is raced")
	}
}

func created() uint64 {
	s := []metrics.Sample{{Name: "/sched/goroutines-created:goroutines"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}

// settle has the runtime start its own goroutines: those that collect garbage, and the one that
// runs cleanups.
var settle = sync.OnceFunc(func() {
	ran := make(chan struct{})
	func() {
		p := new([64]byte)
		runtime.AddCleanup(p, func(c chan struct{}) { close(c) }, ran)
	}()
	for range 100 {
		runtime.GC()
		select {
		case <-ran:
			return
		case <-time.After(10 * time.Millisecond):
		}
	}
})
