//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package ledger

import (
	"os"
	"syscall"
)

// flock waits for the lock on f; it belongs to the open file and goes when f is
// closed, however the process ends. bbolt takes the same lock.
func flock(f *os.File, exclusive bool) error {
	how := syscall.LOCK_SH
	if exclusive {
		how = syscall.LOCK_EX
	}
	for {
		err := syscall.Flock(int(f.Fd()), how)
		if err != syscall.EINTR {
			return err
		}
	}
}

// tryFlock is flock without waiting: false if another holds the lock.
func tryFlock(f *os.File, exclusive bool) (bool, error) {
	how := syscall.LOCK_SH | syscall.LOCK_NB
	if exclusive {
		how = syscall.LOCK_EX | syscall.LOCK_NB
	}
	for {
		err := syscall.Flock(int(f.Fd()), how)
		switch err {
		case nil:
			return true, nil
		case syscall.EWOULDBLOCK:
			return false, nil
		case syscall.EINTR:
			continue
		}
		return false, err
	}
}

// unlock gives up the lock and closes f. Closing alone would leave the lock with
// whoever else holds the open file: a child forked by C code, or a memory map that
// bbolt could not take down.
func unlock(f *os.File) error {
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_UN)
		if err != syscall.EINTR {
			break // nothing can be done about any other error but to close
		}
	}
	return f.Close()
}

// nonblock makes opening a named pipe return at once.
const nonblock = syscall.O_NONBLOCK

// syncDir makes new names in a directory durable.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}
