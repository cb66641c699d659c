//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package atomicfile

import (
	"os"

	"golang.org/x/sys/unix"
)

// A lock marks a temporary file or directory as in use. It is flock(2)'s: it belongs to the open
// file, so this second descriptor keeps it when the first is closed.
type lock struct{ fd int }

// lockNew locks f, which was just created under the name path; false if a sweep took it in
// between. Where the file system has no locks there is none to hold, and none for a sweep
// to get.
func lockNew(f *os.File, path string) (*lock, bool) {
	fd, err := unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, true
	}
	l := &lock{fd}
	switch flock(fd) {
	case nil:
		if named(fd, path) {
			return l, true
		}
	case unix.EWOULDBLOCK:
	default:
		l.release()
		return nil, true
	}
	l.release()
	return nil, false
}

// release gives the lock up. It may be called twice, and for none.
func (l *lock) release() {
	if l != nil && l.fd >= 0 {
		_ = unix.Close(l.fd) // the last descriptor of a file that is given up or in place
		l.fd = -1
	}
}

// removeLeft removes what a process that was killed left under a name of this package's.
func removeLeft(path string) (bool, error) {
	// A planted link is not followed, a pipe not waited for.
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return false, &os.PathError{Op: "sweep", Path: path, Err: err}
	}
	defer unix.Close(fd)
	var s unix.Stat_t
	if err := unix.Fstat(fd, &s); err != nil {
		return false, &os.PathError{Op: "sweep", Path: path, Err: err}
	}
	kind := s.Mode & unix.S_IFMT
	if kind != unix.S_IFREG && kind != unix.S_IFDIR || int(s.Uid) != os.Geteuid() {
		return false, nil
	}
	if flock(fd) != nil {
		return false, nil
	}
	// If its writer finished before the lock was had, the name is gone, and comes to no other.
	if err := remove(path, kind == unix.S_IFDIR); err != nil {
		return false, err
	}
	return true, nil
}

func flock(fd int) error {
	for {
		err := unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB)
		if err != unix.EINTR {
			return err
		}
	}
}

// named reports whether path is the name of the open file, no link followed.
func named(fd int, path string) bool {
	var open, there unix.Stat_t
	return unix.Fstat(fd, &open) == nil && unix.Lstat(path, &there) == nil && open.Dev == there.Dev &&
		open.Ino == there.Ino
}
