//go:build !unix

package atomicfile

// syncDir does nothing: the system has no way to force a directory to disk.
func syncDir(string) error { return nil }
