//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly || windows)

package filelock

import (
	"errors"
	"fmt"
	"os"
)

// Without a lock two processes could both spend the last of the budget, so there
// is no ledger on these systems.
var errNoLock = fmt.Errorf("file locks: %w", errors.ErrUnsupported)

func flock(*os.File, bool) error { return errNoLock }

// Unlock closes f.
func Unlock(f *os.File) error { return f.Close() }

// Sync forces f to disk.
func Sync(f *os.File) error { return f.Sync() }

// Nonblock is no flag here.
const Nonblock = 0
