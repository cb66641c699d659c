package release

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/darrm/darrm/internal/atomicfile"
)

// outRoom is how much room CheckOut looks for.
const outRoom = 64 << 10

// CheckOut finds out, before anything is paid for, whether a result can be written to path.
// It makes the file that would take the name, with something in it, and removes it. A device or a pipe is not touched, because a reader would see it. A
// disk that fills up later, or has room for this and not for the result, is found too
// late. The error is an [OutputError].
func CheckOut(path string) error {
	if path == "" || path == "-" {
		return nil
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return OutputError{fmt.Errorf("%s is a directory, not a file", path)}
	}
	if beside(path) == "" {
		return nil
	}
	f, err := atomicfile.Create(path)
	if err != nil {
		return OutputError{err}
	}
	_, err = f.Write(make([]byte, outRoom))
	if err == nil {
		err = f.Sync() // some file systems look for the room only then
	}
	if err = errors.Join(err, f.Abort()); err != nil {
		return OutputError{fmt.Errorf("%s: %w", path, err)}
	}
	return nil
}

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
