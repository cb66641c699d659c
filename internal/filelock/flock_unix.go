//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package filelock

import (
	"os"
	"syscall"
)

// flock waits for the lock on f; it belongs to the open file and goes when f is
// closed, however the process ends.
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

// Unlock gives up the lock and closes f. Closing alone would leave the lock with
// whoever else holds the open file, such as a child forked by C code.
func Unlock(f *os.File) error {
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_UN)
		if err != syscall.EINTR {
			break // nothing can be done about any other error but to close
		}
	}
	return f.Close()
}

// Sync forces what was written to the file of f to disk, by whomever and however f is open.
func Sync(f *os.File) error { return f.Sync() }

// Nonblock is the flag that makes opening a named pipe return at once.
const Nonblock = syscall.O_NONBLOCK
