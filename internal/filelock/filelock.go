// Package filelock locks open files against other processes, for as long as a context allows.
package filelock

import (
	"context"
	"os"
)

// waits bounds the waits in the kernel, which go on after their callers gave up.
// Each holds a thread, and a process that collects 10,000 of them is ended by the
// runtime.
var waits = make(chan struct{}, 64)

// Lock locks f, or closes it. It waits in the kernel, which on Unix serves waiters in their
// order. A wait that ctx cuts short goes on in the background until it can give the lock back.
func Lock(ctx context.Context, f *os.File, exclusive bool) error {
	select {
	case waits <- struct{}{}:
	case <-ctx.Done():
		f.Close()
		return ctx.Err()
	}
	got := make(chan error, 1)
	go func() {
		got <- flock(f, exclusive)
		<-waits
	}()
	select {
	case err := <-got:
		if err != nil {
			f.Close()
		}
		return err
	case <-ctx.Done():
		go func() {
			<-got
			Unlock(f)
		}()
		return ctx.Err()
	}
}
