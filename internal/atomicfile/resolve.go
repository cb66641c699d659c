package atomicfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// maxLinks bounds a chain of symbolic links, like the kernel's limit.
const maxLinks = 40

// destination is the resolved target of a write.
type destination struct {
	path   string      // the file to rename onto, links resolved
	direct bool        // write to it as it stands
	exists bool        // a regular file is there
	perm   fs.FileMode // its permission bits
}

// resolve follows the links of path to the file that has to be replaced. The
// last name of the chain need not exist.
func resolve(path string) (destination, error) {
	info, err := os.Stat(path)
	switch {
	case err == nil && info.IsDir():
		return destination{}, fmt.Errorf("write: %w",
			&fs.PathError{Op: "open", Path: path, Err: syscall.EISDIR})
	case err == nil && !info.Mode().IsRegular():
		return destination{direct: true}, nil
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return destination{}, fmt.Errorf("write: %w", err)
	}
	for range maxLinks {
		// Split and not Dir: Dir cleans "a/../b" by its text, which is wrong
		// where a is a link.
		dir, base := filepath.Split(path)
		if base == "" || base == "." || base == ".." {
			return destination{}, fmt.Errorf("write: path %q does not end in a file name", path)
		}
		if dir == "" {
			dir = "."
		}
		dir, err := filepath.EvalSymlinks(dir)
		if err != nil {
			return destination{}, fmt.Errorf("write: %w", err)
		}
		if isDescriptorDir(dir) {
			return destination{direct: true}, nil
		}
		path = filepath.Join(dir, base)
		info, err := os.Lstat(path)
		if errors.Is(err, fs.ErrNotExist) {
			return destination{path: path}, nil
		}
		if err != nil {
			return destination{}, fmt.Errorf("write: %w", err)
		}
		if info.Mode()&fs.ModeSymlink == 0 {
			return destination{path: path, exists: true, perm: info.Mode().Perm()}, nil
		}
		link, err := os.Readlink(path)
		if err != nil {
			return destination{}, fmt.Errorf("write: %w", err)
		}
		if filepath.IsAbs(link) {
			path = link
		} else {
			path = dir + string(filepath.Separator) + link
		}
	}
	return destination{}, fmt.Errorf("write %s: more than %d symbolic links", path, maxLinks)
}

// Target is the absolute path of the file that [Write] replaces for path, links followed: also
// those of the folders of a file that does not exist yet, and a link to one that does not. Where
// Write replaces no file, it is that of path itself.
func Target(path string) string {
	if dest, err := resolve(path); err == nil && !dest.direct {
		path = dest.path
	}
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return path
}

// Remove removes the file that [Write] writes for path, durably: links are followed, so that
// the content goes and not a link to it. That nothing is there is no error; what Write would
// write to as it stands is one.
func Remove(path string) error {
	dest, err := resolve(path)
	switch {
	case err != nil:
	case dest.direct:
		return &fs.PathError{Op: "remove", Path: path, Err: errors.New("not a regular file")}
	default:
		err = os.Remove(dest.path)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return syncDir(filepath.Dir(dest.path))
}

// isDescriptorDir reports whether dir lists the open files of a process. Such a
// name stands for a stream that somebody holds open: renaming onto the file
// behind it would write a file that the holder never sees.
func isDescriptorDir(dir string) bool {
	return dir == "/dev/fd" || strings.HasPrefix(dir, "/proc/") && filepath.Base(dir) == "fd"
}
