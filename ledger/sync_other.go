//go:build !linux

package ledger

import "os"

// syncData forces f to disk.
func syncData(f *os.File) error { return f.Sync() }
