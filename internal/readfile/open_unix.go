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
