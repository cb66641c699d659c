// Package atomicfile writes a file completely or not at all.
//
// Use [Write] where the content comes from one function, [Create] with
// [File.Commit] where it is produced piece by piece, and [Replace] for files
// that a program keeps under names of its own. [Remove] removes what Write wrote.
//
// # What is promised
//
// The content goes to a temporary file in the directory of the target, is
// forced to disk, and takes the target's name by rename(2); then the directory
// is forced to disk. A reader sees the old file or the new one, never a
// mixture. After an error, a panic in the writing function or [File.Abort] the
// old file is untouched and the temporary file is gone. One error can come
// later than the rename: when the directory cannot be forced to disk, the new
// file is in place and complete but might not survive a power failure.
//
// A process killed outright leaves its temporary file behind. The next process that writes
// a file of that directory removes it: see [Sweep].
//
// # What is not promised
//
// A replaced file is a new inode: hard links keep the old content, and owner
// and extended attributes are those of a new file. Permission bits are kept.
// Two writers of the same path do not exclude each other: the last rename wins.
package atomicfile

import (
	"bufio"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// writeBuffer is the size of the buffer between a writing function and the file.
const writeBuffer = 64 << 10

// A File is a file being written that does not have its final name yet.
// It is not safe for concurrent use.
type File struct {
	f      *os.File
	name   string // the path as the caller gave it, for messages
	target string // where Commit renames to; "" when writing directly
	temp   string // the temporary file; "" when writing directly
	lock   *lock  // says that temp is in use; nil when writing directly
	fresh  bool   // Commit must not replace a file
	err    error  // first failed Write; makes Commit refuse
	done   bool
}

// Write replaces the content of path by what fn writes.
//
// The writer given to fn is buffered and must not be used after fn returns. A
// new file gets the permission bits perm less the umask; an existing file keeps
// its own, as with [os.WriteFile]. Symbolic links are followed, so a link stays
// a link. A path that exists and is not a regular file (a device, a named
// pipe, /dev/stdout) is written directly, without a temporary file; what fn
// wrote before an error has then been written. Opening a named pipe waits for
// its reader. An error of fn is returned wrapped.
func Write(path string, perm fs.FileMode, fn func(io.Writer) error) error {
	f, err := create(path, perm)
	if err != nil {
		return err
	}
	return f.fill(fn)
}

// Replace puts a new file holding what fn writes under the name path, whatever
// had that name before: a symbolic link is replaced and not followed, a device
// or pipe is replaced and not written to, and the permission bits are perm less
// the umask. A directory of that name is an error. It suits files under names
// that the program owns, where following a planted link would be wrong.
func Replace(path string, perm fs.FileMode, fn func(io.Writer) error) error {
	f, err := createTemp(path, filepath.Clean(path), perm)
	if err != nil {
		return err
	}
	return f.fill(fn)
}

// WriteNew is [Replace] for a name that nothing may have: where something does, even if it came
// while fn wrote, the error is an [fs.ErrExist]. On Unix it needs a file system with hard links.
func WriteNew(path string, perm fs.FileMode, fn func(io.Writer) error) error {
	f, err := createTemp(path, filepath.Clean(path), perm)
	if err != nil {
		return err
	}
	f.fresh = true
	return f.fill(fn)
}

// Create starts writing path, with permission bits 0666 less the umask if the
// file is new. The rules are those of [Write]. Every File must end in
// [File.Commit] or [File.Abort]; the usual form is
//
//	f, err := atomicfile.Create(path)
//	if err != nil { … }
//	defer f.Abort() // does nothing after a Commit
//	…
//	return f.Commit()
func Create(path string) (*File, error) {
	return create(path, 0o666)
}

func create(path string, perm fs.FileMode) (*File, error) {
	dest, err := resolve(path)
	if err != nil {
		return nil, err
	}
	if dest.direct {
		// O_APPEND: reopening /dev/stdout that is redirected to a file starts at
		// offset 0 otherwise, and would overwrite what is already there.
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
		if err != nil {
			return nil, fmt.Errorf("open for writing: %w", err)
		}
		return &File{f: f, name: path}, nil
	}
	if dest.exists {
		// Replacing needs write permission on the directory only. A file marked
		// read-only is refused all the same, as a plain open would refuse it.
		if dest.perm&0o222 == 0 {
			return nil, fmt.Errorf("open for writing: %w",
				&fs.PathError{Op: "open", Path: path, Err: fs.ErrPermission})
		}
		perm = dest.perm
	}
	f, err := createTemp(path, dest.path, perm)
	if err != nil {
		return nil, err
	}
	if dest.exists {
		// The umask must not take bits away that the old file had.
		if err := f.f.Chmod(perm); err != nil {
			return nil, errors.Join(fmt.Errorf("write %s: keep permissions: %w", path, err), f.Abort())
		}
	}
	return f, nil
}

// createTemp opens a fresh temporary file beside target, locked.
func createTemp(name, target string, perm fs.FileMode) (*File, error) {
	dir := filepath.Dir(target)
	sweepOnce(dir)
	for range maxTries {
		temp := filepath.Join(dir, tempName(filepath.Base(target), rand.Text()))
		f, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			var system *fs.PathError // whose name is that of a file which nobody asked for
			if errors.As(err, &system) {
				err = system.Err
			}
			return nil, fmt.Errorf("write %s: no file can be made in %s: %w", name, dir, err)
		}
		l, ok := lockNew(f, temp)
		if !ok { // swept in the moment before it was locked
			f.Close()
			continue
		}
		return &File{f: f, name: name, target: target, temp: temp, lock: l}, nil
	}
	return nil, fmt.Errorf("write %s: no free name for a temporary file in %s", name, dir)
}

// Bytes writes the content of a file that is in memory, for Write, Replace and WriteNew.
func Bytes(content []byte) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := w.Write(content)
		return err
	}
}

// fill runs fn on f and commits, or aborts on any error or panic.
func (f *File) fill(fn func(io.Writer) error) error {
	defer f.Abort()
	w := bufio.NewWriterSize(f, writeBuffer)
	if err := fn(w); err != nil {
		return fmt.Errorf("write %s: %w", f.name, err)
	}
	if err := w.Flush(); err != nil {
		return fmt.Errorf("write %s: %w", f.name, err)
	}
	return f.Commit()
}

// Write appends p to the file. After a failed Write, Commit refuses.
func (f *File) Write(p []byte) (int, error) {
	if f.done {
		return 0, fmt.Errorf("write %s: %w", f.name, fs.ErrClosed)
	}
	if f.err != nil {
		return 0, f.err
	}
	n, err := f.f.Write(p)
	if err != nil {
		f.err = err
	}
	return n, err
}

// Sync forces what was written to disk, where some file systems only then look for the
// room. [File.Commit] does so too.
func (f *File) Sync() error {
	if f.done {
		return fmt.Errorf("sync %s: %w", f.name, fs.ErrClosed)
	}
	if err := f.f.Sync(); err != nil {
		return fmt.Errorf("sync %s: %w", f.name, err)
	}
	return nil
}

// Commit forces the content to disk and gives the file its name. It returns an
// error, and leaves the old file as it was, if an earlier Write failed or the
// file was committed or aborted before.
func (f *File) Commit() error {
	if f.done {
		return fmt.Errorf("commit %s: %w", f.name, fs.ErrClosed)
	}
	if f.err != nil {
		return errors.Join(fmt.Errorf("commit %s: an earlier write failed: %w", f.name, f.err), f.Abort())
	}
	if f.target == "" {
		f.done = true
		if err := f.f.Close(); err != nil {
			return fmt.Errorf("write %s: %w", f.name, err)
		}
		return nil
	}
	// Held until the file has its name: between the close and the rename it would be taken
	// for one that a killed process left.
	defer f.lock.release()
	// Sync before rename: otherwise a power failure can leave the new name on
	// an empty file.
	if err := f.f.Sync(); err != nil {
		return errors.Join(fmt.Errorf("write %s: %w", f.name, err), f.Abort())
	}
	err := f.f.Close()
	f.done = true
	switch {
	case err == nil && f.fresh:
		err = place(f.temp, f.target)
	case err == nil:
		err = os.Rename(f.temp, f.target)
	}
	if err != nil {
		_ = os.Remove(f.temp) // gone already, or costs room only
		return fmt.Errorf("write %s: %w", f.name, err)
	}
	if err := syncDir(filepath.Dir(f.target)); err != nil {
		return fmt.Errorf("write %s: file is in place, but its directory could not be forced to disk: %w",
			f.name, err)
	}
	return nil
}

// Abort gives up the file: the temporary file is removed and the old file
// stays. After Commit or Abort it does nothing and returns nil.
func (f *File) Abort() error {
	if f.done {
		return nil
	}
	f.done = true
	closeErr := f.f.Close()
	if f.temp == "" {
		return closeErr
	}
	defer f.lock.release()
	// The content is thrown away, so a failed close does not matter.
	return os.Remove(f.temp)
}
