package raced

import (
	"testing"
)

// recorder is a test whose failure is recorded and whose cleanup is called.
type recorder struct {
	testing.TB
	failed  bool
	cleanup func()
}

func (r *recorder) Errorf(string, ...any) { r.failed = true }
func (r *recorder) Cleanup(f func())      { r.cleanup = f }

// A goroutine is seen, though it ended; garbage is none.
func TestSequential(t *testing.T) {
	if Enabled {
		t.Skip("it skips")
	}
	for name, tt := range map[string]struct {
		run  func()
		seen bool
	}{
		"nothing": {func() {}, false},
		"garbage": {func() {
			for range 2000 {
				kept = make([]byte, 1<<18)
			}
		}, false},
		"a goroutine": {func() {
			done := make(chan struct{})
			go close(done)
			<-done
		}, true},
	} {
		r := &recorder{TB: t}
		Sequential(r)
		tt.run()
		r.cleanup()
		if r.failed != tt.seen {
			t.Errorf("%s: seen %t, want %t", name, r.failed, tt.seen)
		}
	}
}

var kept []byte
