package cache

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

var (
	// ErrNotFound means that the store has no entry for the key.
	ErrNotFound = errors.New("cache: no entry for this key")
	// ErrNotWritable matches every [*DirError] in errors.Is.
	ErrNotWritable = errors.New("cache directory is not usable")
)

const chooseHint = "choose another directory with " + DirEnv + ", or run without a cache"

// A DirError names the rule that makes a directory unfit for a cache.
type DirError struct {
	Dir  string // the directory
	Rule string // what a cache directory must be
	Hint string // what the user can do
	Err  error  // the cause, if the system gave one
}

func (e *DirError) Error() string {
	msg := fmt.Sprintf("cache directory %q is not usable: %s", e.Dir, e.Rule)
	if e.Err != nil {
		msg += ": " + e.Err.Error()
	}
	return msg + " (" + e.Hint + ")"
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
