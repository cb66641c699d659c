// Package cache keeps bytes by key on disk: solved tables, so that a long
// computation is done once.
//
// Open a [Store] in a directory (usually [DefaultDir]), ask [Store.Get], and on
// [ErrNotFound] compute the value and [Store.Put] it. So also on a [*CorruptError]: Put
// replaces what is damaged.
//
// # Trust
//
// A cache is never trusted. The checksum of an entry finds damage, not malice:
// whoever can write to the directory can write a good checksum. The caller must
// establish again whatever it relies on; a table of this module is certified
// again after Get and before use.
//
// # Keys
//
// A key is the canonical text of everything that determines the value,
// including the version of the algorithm. Equal problems must give equal text:
// write numbers in one way only (for example strconv 'g' with precision -1).
// Keys are valid UTF-8 without control characters, 1 byte to 64 KiB long.
//
// # Files
//
// The entry of a key is the file
//
//	<hex SHA-256 of the key>.dtable
//
// with four lines of text and then the value, byte for byte:
//
//	darrm-cache 1
//	key <the key>
//	sha256 <64 lower-case hex digits: SHA-256 of the value>
//	length <bytes of the value, decimal, no leading zeros>
//
// Each line ends in one line feed, and nothing follows the value. The number 1
// is the version of the format. A file that deviates in any way is an error and
// never a value. Values have at most 64 MiB.
//
// # Concurrency
//
// All methods are safe for use by any number of goroutines and processes. Files
// are replaced whole (see package atomicfile), so a reader gets a complete old
// or new value; of two writers of one key the last wins.
package cache

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/darrm/darrm/internal/atomicfile"
	"github.com/darrm/darrm/internal/handle"
)

// Solvers is the version of this module's solvers in the keys of their tables. It rises with every
// change after which one of them may find another table for the same parameters, a better one, so
// that what an earlier build left in the cache is solved again. A table on file stays what it is.
const Solvers = 6

const (
	// maxKey is the greatest length of a key in bytes.
	maxKey = 64 << 10
	// maxValue is the greatest length of a value in bytes.
	maxValue = 64 << 20

	// DirEnv is the environment variable that overrides the default directory.
	DirEnv = "DARRM_CACHE"

	extension = ".dtable"
	probeName = "probe" + extension
)

// A Store is a directory of entries. Make one with [Open].
type Store struct {
	dir string
}

// DefaultDir returns the directory of the cache: $DARRM_CACHE if that is set
// and not empty, otherwise darrm/tables in the user's cache directory (see
// [os.UserCacheDir]). It does not create it.
func DefaultDir() (string, error) {
	if dir := os.Getenv(DirEnv); dir != "" {
		return dir, nil
	}
	base, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("no default cache directory (set %s to choose one): %w", DirEnv, err)
	}
	return filepath.Join(base, "darrm", "tables"), nil
}

// Open returns the store in the directory dir, which is created with
// permissions 0700 if it is missing.
//
// Open writes a small file and removes it again, so that an unusable directory
// is reported before hours of work and not after. Every such failure is a
// [*DirError] and matches [ErrNotWritable].
func Open(dir string) (*Store, error) {
	if dir == "" {
		return nil, &DirError{Rule: "the name of the cache directory must not be empty"}
	}
	// An absolute name stays right if the process changes its directory.
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, &DirError{dir, "the cache directory must have an absolute name", err}
	}
	if info, err := os.Stat(abs); err == nil && !info.IsDir() {
		return nil, &DirError{abs, "the cache directory must be a directory", nil}
	}
	if err := os.MkdirAll(abs, 0o700); err != nil {
		return nil, &DirError{abs, "the cache directory must exist or be creatable", err}
	}
	s := &Store{dir: abs}
	if err := s.probe(); err != nil {
		return nil, &DirError{abs, "files must be creatable in the cache directory", err}
	}
	return s, nil
}

// probe writes and removes a temporary file, as Put would.
func (s *Store) probe() error {
	f, err := atomicfile.Create(filepath.Join(s.dir, probeName))
	if err != nil {
		return err
	}
	_, err = f.Write([]byte(magic))
	return errors.Join(err, f.Abort())
}

// Dir returns the directory of the store as an absolute path.
func (s *Store) Dir() string { return handle.Made(s).dir }

// check refuses the zero Store, whose files would be in the working directory, and keys that
// are none.
func (s *Store) check(key string) error {
	if s.dir == "" {
		return errors.New("cache: a Store without a directory: make one with Open")
	}
	return checkKey(key)
}

// Path returns the path of the file that holds the entry of key.
func (s *Store) Path(key string) string {
	s = handle.Made(s)
	return filepath.Join(s.dir, entryName(key))
}

func entryName(key string) string {
	sum := sha256.Sum256([]byte(key))
	return hex.EncodeToString(sum[:]) + extension
}

// Get returns the value stored under key: [ErrNotFound] if there is none, a
// [*CorruptError] if the file is damaged, foreign or not a regular file. Reading
// is bounded by 64 MiB, whatever the file's size.
func (s *Store) Get(key string) ([]byte, error) {
	s = handle.Made(s)
	if err := s.check(key); err != nil {
		return nil, err
	}
	path := s.Path(key)
	e, err := readEntry(path)
	if err != nil {
		return nil, err
	}
	if e.key != key {
		return nil, &CorruptError{Path: path, Reason: "the key stored inside is not the key asked for"}
	}
	return e.value, nil
}

// Put stores value, at most 64 MiB, under key and replaces what was there, even a damaged entry.
// The value is on disk, forced, when Put returns nil; after an error the old
// entry is unchanged.
func (s *Store) Put(key string, value []byte) error {
	s = handle.Made(s)
	if err := s.check(key); err != nil {
		return err
	}
	if len(value) > maxValue {
		return fmt.Errorf("cache: value has %d bytes, want at most %d", len(value), maxValue)
	}
	// Replace, not Write: a link planted under the entry's name is not followed.
	err := atomicfile.Replace(s.Path(key), 0o600, func(w io.Writer) error {
		return writeEntry(w, key, value)
	})
	if err != nil {
		return fmt.Errorf("store cache entry: %w", err)
	}
	return nil
}

// Clear deletes all entries and what killed processes left (see
// [atomicfile.Sweep]), and returns how many files went. Files that the store did not name,
// directories, and the files of a Put under way stay.
func (s *Store) Clear() (n int, err error) {
	s = handle.Made(s)
	n, err = s.removeEntries()
	if err != nil {
		return n, err
	}
	left, err := atomicfile.Sweep(s.dir)
	return n + left, err
}

// removeEntries removes the entries. It goes on after an error and
// returns all of them. A file that vanishes meanwhile was removed by somebody else and is
// neither counted nor an error.
func (s *Store) removeEntries() (n int, err error) {
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		return 0, fmt.Errorf("clear cache: %w", err)
	}
	var errs []error
	for _, d := range entries {
		if d.IsDir() || !isEntry(d.Name()) {
			continue
		}
		err := os.Remove(filepath.Join(s.dir, d.Name()))
		switch {
		case err == nil:
			n++
		case !errors.Is(err, fs.ErrNotExist):
			errs = append(errs, fmt.Errorf("clear cache: %w", err))
		}
	}
	return n, errors.Join(errs...)
}

// isEntry reports whether a file has the name of an entry.
func isEntry(name string) bool {
	hash, ok := strings.CutSuffix(name, extension)
	return ok && isHexSHA256(hash)
}

var (
	// ErrNotFound means that the store has no entry for the key.
	ErrNotFound = errors.New("cache: no entry for this key")
	// ErrNotWritable matches every [*DirError] in errors.Is.
	ErrNotWritable = errors.New("cache directory is not usable")
)

// A DirError names the rule that makes a directory unfit for a cache.
type DirError struct {
	Dir  string // the directory
	Rule string // what a cache directory must be
	Err  error  // the cause, if the system gave one
}

func (e *DirError) Error() string {
	msg := fmt.Sprintf("cache directory %q is not usable: %s", e.Dir, e.Rule)
	if e.Err != nil {
		msg += ": " + e.Err.Error()
	}
	return msg + " (choose another directory with " + DirEnv + ", or run without a cache)"
}

func (e *DirError) Unwrap() error        { return e.Err }
func (e *DirError) Is(target error) bool { return target == ErrNotWritable }

// A CorruptError reports an entry that is damaged or was not written by a store.
type CorruptError struct {
	Path   string
	Reason string
}

func (e *CorruptError) Error() string {
	return fmt.Sprintf("cache entry %s is damaged: %s", e.Path, e.Reason)
}

// checkKey rejects keys that the file format cannot hold on one line.
func checkKey(key string) error {
	switch {
	case key == "":
		return errors.New("cache: key is empty")
	case len(key) > maxKey:
		return fmt.Errorf("cache: key has %d bytes, want at most %d", len(key), maxKey)
	case !utf8.ValidString(key):
		return fmt.Errorf("cache: key %.80q is not valid UTF-8", key)
	case strings.ContainsFunc(key, unicode.IsControl):
		return fmt.Errorf("cache: key %.80q contains a control character", key)
	}
	return nil
}
