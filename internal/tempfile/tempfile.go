// Package tempfile makes temporary files that no other process can reach.
package tempfile

import (
	"errors"
	"fmt"
	"os"
	"runtime"
)

// A File has no name: it is removed at once, so that private data in it goes when the file is
// closed, however the process ends. On Windows, where the name of an open file cannot be removed,
// Close removes it.
type File struct {
	*os.File
	name string // still to be removed
}

// New makes an empty file, permissions 0600, in the directory dir, or among the system's temporary
// files for "". It must end in Close.
func New(dir string) (*File, error) {
	f, err := os.CreateTemp(dir, ".darrm-")
	if err != nil {
		return nil, fmt.Errorf("create temporary file: %w", err)
	}
	if runtime.GOOS == "windows" {
		return &File{f, f.Name()}, nil
	}
	// An error is reported, not ignored: private data would stay behind.
	if err := os.Remove(f.Name()); err != nil {
		return nil, errors.Join(fmt.Errorf("remove temporary file's name: %w", err), f.Close())
	}
	return &File{f, ""}, nil
}

// Close closes the file, which is then gone.
func (f *File) Close() error {
	err := f.File.Close()
	if f.name != "" {
		err = errors.Join(err, os.Remove(f.name))
		f.name = ""
	}
	return err
}
