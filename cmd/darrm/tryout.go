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
// makes the file that would take the name, and another beside it with something in it,
// and removes both. What a reader could see of it, a device or a pipe, is not touched. A disk
// that fills up later, or has room for this and not for the result, is found too late.
func tryOut(path string) (err error) {
	if path == "" || path == "-" {
		return nil
	}
	dir := beside(path)
	if dir == "" {
		return nil
	}
	f, err := atomicfile.Create(path)
	if err != nil {
		return outputError{err}
	}
	defer f.Abort()
	room, err := os.CreateTemp(dir, ".darrm-room-*")
	if err != nil {
		return outputError{err}
	}
	_, err = room.Write(make([]byte, tryRoom))
	if err == nil {
		err = room.Sync() // some file systems look for the room only then
	}
	if err = errors.Join(err, room.Close(), os.Remove(room.Name())); err != nil {
		return outputError{fmt.Errorf("%s: %w", path, err)}
	}
	return nil
}
