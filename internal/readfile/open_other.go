//go:build !unix

package readfile

import "io/fs"

const nonblock = 0

// Shared returns false: a file's mode tells nothing of others than its owner here. On Windows the
// access list does, which a new file takes from its folder.
func Shared(fs.FileInfo) bool { return false }

// SharedByRoot returns false: no file is shared here (see Shared).
func SharedByRoot(fs.FileInfo) bool { return false }
