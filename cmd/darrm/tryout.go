package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/darrm/darrm/internal/atomicfile"
)

// beside returns the directory of the file that path leads to, links followed; "" for a
// device or a pipe, which has nothing beside it.
func beside(path string) string {
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		return ""
	}
	if err == nil {
		if real, err := filepath.EvalSymlinks(path); err == nil { // not the directory of /dev/stdout
			path = real
		}
	}
	return filepath.Dir(path)
}

// tryRoom is how much room tryOut looks for.
const tryRoom = 64 << 10

// tryOut finds out, before anything is paid for, whether a result can be written to path: it
// makes the file that would take the name, with something in it, and removes it. What a
// reader could see of it, a device or a pipe, is not touched. A disk that fills up later, or
// has room for this and not for the result, is found too late.
func tryOut(path string) error {
	if path == "" || path == "-" || beside(path) == "" {
		return nil
	}
	f, err := atomicfile.Create(path)
	if err != nil {
		return outputError{err}
	}
	_, err = f.Write(make([]byte, tryRoom))
	if err == nil {
		err = f.Sync() // some file systems look for the room only then
	}
	if err = errors.Join(err, f.Abort()); err != nil {
		return outputError{fmt.Errorf("%s: %w", path, err)}
	}
	return nil
}
