package filelock

import (
	"errors"
	"math"
	"os"

	"golang.org/x/sys/windows"
)

// region is one byte far behind any file's end. Locks of Windows are mandatory: one on bytes that
// a file has would keep others from reading them, such as a backup.
func region() *windows.Overlapped {
	return &windows.Overlapped{OffsetHigh: math.MaxInt32}
}

// flock waits for the lock on f; it belongs to the open file and goes when f is closed, however the
// process ends. The kernel states no order of those who wait.
func flock(f *os.File, exclusive bool) error {
	var how uint32
	if exclusive {
		how = windows.LOCKFILE_EXCLUSIVE_LOCK
	}
	return windows.LockFileEx(windows.Handle(f.Fd()), how, 0, 1, 0, region())
}

// Unlock gives up the lock and closes f. After a Close alone Windows gives the lock up at a time
// that it does not state.
func Unlock(f *os.File) error {
	// Nothing can be done about an error but to close.
	_ = windows.UnlockFileEx(windows.Handle(f.Fd()), 0, 1, 0, region())
	return f.Close()
}

// Sync forces what was written to the file of f to disk. Windows does that for a file that is open
// for writing, which f need not be.
func Sync(f *os.File) error {
	w, err := os.OpenFile(f.Name(), os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(w.Sync(), w.Close())
}

// Nonblock is no flag here.
const Nonblock = 0
