package cache

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
)

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
