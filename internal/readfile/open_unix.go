//go:build unix

package readfile

import (
	"io/fs"
	"syscall"
)

// nonblock makes opening a named pipe return at once.
const nonblock = syscall.O_NONBLOCK

// Shared reports whether the file's mode lets others than its owner use it.
func Shared(info fs.FileInfo) bool { return info.Mode().Perm()&0o077 != 0 }

// SharedByRoot reports whether a file that others than its owner may use is root's, and its group may
// do no more than read it: so an administrator hands a secret to a service.
func SharedByRoot(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && stat.Uid == 0 && info.Mode().Perm()&0o037 == 0
}
