package votes

import (
	"errors"
	"fmt"
	"os"
	"runtime"
)

// tempFile is a file that only this process can reach: its name is removed at
// once, so the votes in it go when it is closed, however the process ends. Where
// an open file's name cannot be removed, Close does it.
type tempFile struct {
	*os.File
	name string // still to be removed
}

func newTempFile(dir string) (*tempFile, error) {
	f, err := os.CreateTemp(dir, "darrm-") // with permissions 0600
	if err != nil {
		return nil, fmt.Errorf("create temporary file: %w", err)
	}
	if runtime.GOOS == "windows" {
		return &tempFile{f, f.Name()}, nil
	}
	// An error is reported, not ignored: private data would stay behind.
	if err := os.Remove(f.Name()); err != nil {
		return nil, errors.Join(fmt.Errorf("remove temporary file's name: %w", err), f.Close())
	}
	return &tempFile{f, ""}, nil
}

func (f *tempFile) Close() error {
	err := f.File.Close()
	if f.name != "" {
		err = errors.Join(err, os.Remove(f.name))
		f.name = ""
	}
	return err
}
