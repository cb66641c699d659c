package ledger

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// lock opens the ledger's file and locks it, exclusively or shared, waiting as long as
// ctx allows.
func lock(ctx context.Context, path string, exclusive bool) (*os.File, error) {
	flag := os.O_RDONLY
	if exclusive {
		flag = os.O_RDWR
	}
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		f, err := openRegular(path, flag)
		switch {
		case exclusive && !errors.Is(err, fs.ErrNotExist):
			err = writeError(err)
		case errors.Is(err, errNotRegular):
			err = fmt.Errorf("%w: %w", ErrNotLedger, err)
		}
		if err != nil {
			return nil, err
		}
		if err := lockFile(ctx, f, exclusive); err != nil {
			return nil, fmt.Errorf("lock %s: %w", path, err)
		}
		// While this waited, another file may have taken the name. Its lock
		// would be another one.
		same, err := sameFile(f, path)
		if err == nil && same {
			return f, nil
		}
		unlock(f)
		if err != nil {
			return nil, err
		}
	}
}

// waits bounds the waits in the kernel, which go on after their callers gave up.
// Each holds a thread, and a process that collects 10,000 of them is ended by the
// runtime.
var waits = make(chan struct{}, 64)

// lockFile locks f, or closes it. It waits in the kernel, which serves waiters in their
// order. A wait that ctx cuts short goes on in the background until it can give the lock back.
func lockFile(ctx context.Context, f *os.File, exclusive bool) error {
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
			unlock(f)
		}()
		return ctx.Err()
	}
}

func sameFile(f *os.File, path string) (bool, error) {
	a, err := f.Stat()
	if err != nil {
		return false, err
	}
	b, err := os.Stat(path)
	if err != nil {
		return false, err
	}
	return os.SameFile(a, b), nil
}
