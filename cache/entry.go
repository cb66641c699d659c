package cache

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/darrm/darrm/internal/handle"
	"github.com/darrm/darrm/internal/readfile"
)

const (
	magic         = "darrm-cache "
	formatVersion = "1"

	// maxHeader is more than the longest header.
	maxHeader = maxKey + 256
)

// entry is a decoded file.
type entry struct {
	key   string
	value []byte
}

// header returns the lines before the value.
func header(key string, value []byte) string {
	return fmt.Sprintf("%s%s\nkey %s\nsha256 %x\nlength %d\n", magic, formatVersion, key,
		sha256.Sum256(value), len(value))
}

func writeEntry(w io.Writer, key string, value []byte) error {
	if _, err := io.WriteString(w, header(key, value)); err != nil {
		return err
	}
	_, err := w.Write(value)
	return err
}

// readEntry reads and checks the entry at path: [ErrNotFound] where no file is, a
// [*CorruptError] where there is no entry.
func readEntry(path string) (e entry, err error) {
	f, err := readfile.Open(context.Background(), path, maxValue+maxHeader)
	var system *fs.PathError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return e, ErrNotFound
	case errors.As(err, &system):
		return e, fmt.Errorf("read cache entry: %w", err)
	case err != nil:
		return e, &CorruptError{Path: path,
			Reason: fmt.Sprintf("not a regular file of at most %d bytes: %v", maxValue+maxHeader, err)}
	}
	defer f.Close()
	b, err := io.ReadAll(f)
	if err != nil {
		return e, fmt.Errorf("read cache entry %s: %w", path, err)
	}
	if e, err = decodeEntry(b); err != nil {
		return entry{}, &CorruptError{Path: path, Reason: err.Error()}
	}
	return e, nil
}

// decodeEntry accepts exactly what writeEntry writes.
func decodeEntry(b []byte) (entry, error) {
	version, rest, _ := bytes.Cut(b, []byte("\n"))
	key, rest, _ := bytes.Cut(rest, []byte("\n"))
	_, rest, _ = bytes.Cut(rest, []byte("\n")) // compared below
	length, value, whole := bytes.Cut(rest, []byte("\n"))
	number, isVersion := strings.CutPrefix(string(version), magic)
	e := entry{strings.TrimPrefix(string(key), "key "), value}
	switch {
	case !isVersion:
		return e, fmt.Errorf("not a cache entry: it does not start with %q", magic)
	case number != formatVersion:
		return e, fmt.Errorf("format version %.20q, want %s", number, formatVersion)
	case !whole:
		return e, errors.New("truncated header")
	case string(length) != "length "+strconv.Itoa(len(value)):
		return e, fmt.Errorf("length says %.40s bytes, but %d follow",
			bytes.TrimPrefix(length, []byte("length ")), len(value))
	case string(b[:len(b)-len(value)]) != header(e.key, value):
		return e, errors.New("the value does not match its checksum")
	}
	if err := checkKey(e.key); err != nil {
		return e, fmt.Errorf("bad key: %w", err)
	}
	return e, nil
}

func isHexSHA256(s string) bool {
	_, err := hex.DecodeString(s)
	return err == nil && len(s) == 2*sha256.Size && s == strings.ToLower(s)
}

// An Entry describes one file of the store.
type Entry struct {
	Key     string    // "" if the file is too damaged to tell
	Path    string    // the file
	Size    int64     // bytes of the file, header included
	ModTime time.Time // when it was written
	Err     error     // why it is no good, usually a *CorruptError; nil for a sound entry
}

// List returns the entries of the store, sorted by key and then path, with damaged
// ones. Foreign and temporary files are left out. Every entry is read and checked.
func (s *Store) List() ([]Entry, error) {
	s = handle.Made(s)
	files, err := os.ReadDir(s.dir)
	if err != nil {
		return nil, fmt.Errorf("list cache: %w", err)
	}
	var out []Entry
	for _, d := range files {
		if !isEntry(d.Name()) {
			continue
		}
		e := Entry{Path: filepath.Join(s.dir, d.Name())}
		info, err := d.Info()
		if os.IsNotExist(err) {
			continue // removed since the directory was read
		}
		if err == nil {
			e.Size, e.ModTime = info.Size(), info.ModTime()
			var found entry
			found, err = readEntry(e.Path)
			e.Key = found.key
		}
		switch {
		case err == ErrNotFound:
			continue
		case err != nil:
			e.Err = err
		case entryName(e.Key) != d.Name():
			e.Err = &CorruptError{Path: e.Path, Reason: "the file name is not that of the key stored inside"}
		}
		out = append(out, e)
	}
	slices.SortFunc(out, func(a, b Entry) int {
		return cmp.Or(cmp.Compare(a.Key, b.Key), cmp.Compare(a.Path, b.Path))
	})
	return out, nil
}

// Found is a table and where it came from.
type Found[T Table] struct {
	Table T
	// Cached is true if the table was read from the cache (and certified again).
	Cached bool
	// Path is the table's place in the cache, "" without a cache or where it was not stored.
	Path string
	// Rejected is the reason why an existing entry was not used; nil otherwise.
	Rejected error
}

// Table is the type of what a [Search] finds: a pointer to a certified table.
type Table interface {
	comparable
	Encode(io.Writer) error
}

// Search is the search for the table of one key. It is not trusted with the entry: Certify is.
type Search[T Table] struct {
	Key string // everything that determines the table
	// Certify returns the table of an entry, certified again, or why the entry is not used.
	Certify func(entry io.Reader) (T, error)
	Solve   func() (T, error)
	Keep    func(T) bool // whether a solved table is one for the cache
	// BestOnCancel: Solve has a table even where the context has ended.
	BestOnCancel bool
}

// ErrOther is the reason of an entry that is a table of another problem or objective.
var ErrOther = errors.New("it holds a table for other parameters")

// Find returns the table in the store, or the one that Solve finds, which is stored; a nil store is
// none. An error to store comes with the table, which is complete and certified. Else the error is
// Solve's, or ctx.Err().
func (f Search[T]) Find(ctx context.Context, s *Store) (r Found[T], err error) {
	if s != nil {
		var t T
		t, err = f.entry(s)
		switch {
		case err == nil:
			return Found[T]{Table: t, Cached: true, Path: s.Path(f.Key)}, nil
		case ctx.Err() != nil && !f.BestOnCancel:
			return r, ctx.Err()
		case ctx.Err() == nil && !errors.Is(err, ErrNotFound):
			r.Rejected = err
		}
	}
	if r.Table, err = f.Solve(); err != nil || s == nil || !f.Keep(r.Table) {
		return r, err
	}
	var b bytes.Buffer
	if err := r.Table.Encode(&b); err != nil {
		return r, err
	}
	r.Path = s.Path(f.Key)
	return r, s.Put(f.Key, b.Bytes())
}

func (f Search[T]) entry(s *Store) (t T, err error) {
	value, err := s.Get(f.Key)
	if err != nil {
		return t, err
	}
	if t, err = f.Certify(bytes.NewReader(value)); err != nil {
		return t, fmt.Errorf("cache entry %s: %w", s.Path(f.Key), err)
	}
	return t, nil
}
