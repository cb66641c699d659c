//go:build unix

package release

import (
	"os"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// Nobody joins a look that has begun: it may have read before the call.
func TestOnlineStateIsNotJoinedLate(t *testing.T) {
	w := ways(t)["none"]
	o, options := newOnline(t, w.plan, w.charge, 1000)
	f, err := os.Open(options.Charge.Ledger)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	// Who holds the lock keeps the look from its end.
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	look := make(chan error, 1)
	go func() { _, err := o.State(t.Context()); look <- err }()
	for o.looking.TryLock() {
		o.looking.Unlock()
		time.Sleep(time.Millisecond)
	}
	var own atomic.Bool
	for end := time.Now().Add(10 * time.Second); !own.Load() &&
		time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		o.looks.DoChan("", func() (any, error) { own.Store(true); return nil, nil })
	}
	if !own.Load() {
		t.Error("a call joins a look that began before it")
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_UN); err != nil {
		t.Fatal(err)
	}
	if err := <-look; err != nil {
		t.Error(err)
	}
}
