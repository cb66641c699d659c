package release

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"syscall"

	"github.com/darrm/darrm/internal/atomicfile"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/readfile"
)

// FileOutput publishes to a file of this machine. Its errors of writing are [OutputError]s.
type FileOutput struct {
	Path   string    // "" or "-" for Stdout
	Name   string    // what errors call the file; defaults to the parameter "output file"
	Stdout io.Writer // defaults to os.Stdout
	// Private makes a new file readable by its owner only.
	Private bool
}

func (o FileOutput) toStdout() bool { return o.Path == "" || o.Path == "-" }

// outRoom is the number of free bytes that Check demands where the result is paid for.
const outRoom = 64 << 10

// CheckPlace finds an impossible output before hours are spent on it: a ledger, a directory, or a
// file in a missing folder. It writes nothing. A ledger is a [UsageError].
func (o FileOutput) CheckPlace() error {
	if o.toStdout() {
		return nil
	}
	if err := checkNoLedger(o.Path); err != nil {
		return err
	}
	if info, err := os.Stat(o.Path); err == nil && info.IsDir() {
		return o.errorf("it is a directory, not a file")
	}
	dir := filepath.Dir(o.Path)
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return o.errorf("there is no folder %q%w", dir, missing{})
	case err != nil:
		return o.errorf("the folder %q cannot be used: %w", dir, systemError(err))
	case !info.IsDir():
		return o.errorf("%q is a file, not a folder", dir)
	}
	return nil
}

// CheckFolder finds an impossible folder before hours are spent on its content: a file has its
// name, or that of a folder above it. It writes nothing. name is what the [OutputError] calls it.
func CheckFolder(name, path string) error {
	o := FileOutput{Path: path, Name: name}
	for dir := filepath.Clean(path); ; dir = filepath.Dir(dir) {
		info, err := os.Stat(dir)
		switch {
		case err == nil && info.IsDir():
			return nil
		case err == nil:
			return o.errorf("%q is a file, not a folder", dir)
		case !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR):
			return o.errorf("the folder %q cannot be used: %w", dir, systemError(err))
		case dir == filepath.Dir(dir):
			return o.errorf("there is no folder %q%w", dir, missing{})
		}
	}
}

// systemError returns what the system says, without the path and the name of the call.
func systemError(err error) error {
	var system *fs.PathError
	if errors.As(err, &system) {
		return system.Err
	}
	return err
}

// at is the parameter and its value, for errors.
func (o FileOutput) at() (check.Parameter, string) { return o.parameter(), o.Path }

func (o FileOutput) parameter() check.Parameter { return cmp.Or(check.Parameter(o.Name), pOutput) }

// named is an error of writing, with the file's name.
func (o FileOutput) named(err error) error {
	return &OutputError{check.Namedf("%s: %w", o.parameter(), err)}
}

func (o FileOutput) errorf(format string, args ...any) error {
	return &OutputError{check.Namedf("%s = %q, but "+format,
		append([]any{o.parameter(), o.Path}, args...)...)}
}

// Check makes the file that would take the name and removes it, with something in it where
// the result is paid for. A device or a pipe is not touched, because a reader would see it. A
// disk that fills up later, or has room for this and not for the result, is found too late.
func (o FileOutput) Check(charged bool) error {
	if o.toStdout() {
		return nil
	}
	if err := o.CheckPlace(); err != nil {
		return err
	}
	if beside(o.Path) == "" {
		return nil
	}
	f, err := atomicfile.Create(o.Path)
	if err != nil {
		return o.named(err)
	}
	if charged {
		if _, err = f.Write(make([]byte, outRoom)); err == nil {
			err = f.Sync() // some file systems look for the room only then
		}
	}
	if err = errors.Join(err, f.Abort()); err != nil {
		return o.named(fmt.Errorf("%s: %w", o.Path, err))
	}
	return nil
}

// Open opens the file; stdout, a device and a pipe have nothing to open.
func (o FileOutput) Open(ctx context.Context) (io.ReadCloser, error) {
	if o.toStdout() || beside(o.Path) == "" {
		return nil, fs.ErrNotExist
	}
	return readfile.Open(ctx, o.Path, math.MaxInt64) // read as a stream
}

// WriteNew is Write for a name that no file has. One that came meanwhile is an fs.ErrExist.
func (o FileOutput) WriteNew(ctx context.Context, encode func(io.Writer) error) error {
	if o.toStdout() || beside(o.Path) == "" {
		return o.Write(ctx, encode)
	}
	if err := atomicfile.WriteNew(atomicfile.Target(o.Path), o.permissions(), encode); err != nil {
		return o.named(err)
	}
	return nil
}

func (o FileOutput) permissions() fs.FileMode {
	if o.Private {
		return 0o600
	}
	return 0o666
}

// Write gives the file its content and its name at once.
func (o FileOutput) Write(_ context.Context, encode func(io.Writer) error) error {
	if encode == nil {
		return usagef("encode must be given")
	}
	if !o.toStdout() {
		if err := atomicfile.Write(o.Path, o.permissions(), encode); err != nil {
			return o.named(err)
		}
		return nil
	}
	var stdout io.Writer = os.Stdout
	if o.Stdout != nil {
		stdout = o.Stdout
	}
	w := bufio.NewWriter(stdout)
	err := encode(w)
	if err == nil {
		err = w.Flush()
	}
	if err != nil {
		return &OutputError{fmt.Errorf("stdout: %w", err)}
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

// missing is an fs.ErrNotExist without words.
type missing struct{}

func (missing) Error() string        { return "" }
func (missing) Is(target error) bool { return target == fs.ErrNotExist }
