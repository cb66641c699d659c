// Package memory keeps ledgers in the memory of a process, for tests and for a server that is tried
// out. They keep all rules of a ledger and are forgotten at the end, so what they pay for is
// marked as a simulation ([ledger.Ledger.Simulated]) and is no release.
package memory

import (
	"bytes"
	"context"
	"crypto/rand"
	"io"
	"io/fs"
	"slices"
	"sync"

	"github.com/darrm/darrm/ledger"
)

// Make returns the location of a ledger that [ledger.Create] can make, for this process alone. Its
// secret will be the file at the path secret. forget ends the location; ledgers that are open go
// on.
func Make(secret string) (location string, forget func()) {
	s := newStore(secret)
	stores.Store(s.location, s)
	return s.location, func() { stores.Delete(s.location) }
}

// NewStore returns the store of one ledger, for tests that step between a ledger and its store
// ([ledger.Register]).
func NewStore(secret string) ledger.Store { return newStore(secret) }

func newStore(secret string) *store {
	return &store{location: scheme + "://" + rand.Text(), secret: secret, turn: make(chan struct{}, 1)}
}

const scheme = "in-memory"

// stores holds the stores that were not forgotten, by location.
var stores sync.Map

func init() {
	ledger.Register(scheme, func(location string) (ledger.Store, error) {
		s, ok := stores.Load(location)
		if !ok {
			return nil, &fs.PathError{Op: "open", Path: location, Err: fs.ErrNotExist}
		}
		return s.(*store), nil
	})
}

// store is a [ledger.Store].
type store struct {
	location, secret string
	turn             chan struct{} // full while somebody looks
	lines, anchor    []byte        // no lines: no ledger
	kept             sync.Map      // by [ledger.Digest]
}

func (s *store) Location() string            { return s.location }
func (s *store) SecretPath() (string, error) { return s.secret, nil }

// Simulated marks what the ledger pays for.
func (s *store) Simulated() bool { return true }

func (s *store) take(ctx context.Context) error {
	select {
	case s.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s *store) Create(ctx context.Context, first func() ([]byte, error)) error {
	if err := s.take(ctx); err != nil {
		return err
	}
	defer func() { <-s.turn }()
	if s.lines != nil {
		return fs.ErrExist
	}
	line, err := first()
	if err == nil {
		s.lines = slices.Clone(line)
	}
	return err
}

func (s *store) Begin(ctx context.Context, _ bool) (ledger.Tx, error) {
	if err := s.take(ctx); err != nil {
		return nil, err
	}
	if s.lines == nil {
		<-s.turn
		return nil, &fs.PathError{Op: "open", Path: s.location, Err: fs.ErrNotExist}
	}
	return &tx{s}, nil
}

// Keep implements [ledger.Store].
func (s *store) Keep(_ context.Context, name ledger.Digest, content []byte) error {
	s.kept.LoadOrStore(name, slices.Clone(content))
	return nil
}

// Kept implements [ledger.Store].
func (s *store) Kept(_ context.Context, name ledger.Digest) ([]byte, error) {
	content, ok := s.kept.Load(name)
	if !ok {
		return nil, fs.ErrNotExist
	}
	return slices.Clone(content.([]byte)), nil
}

// tx has the turn.
type tx struct{ s *store }

func (x *tx) Anchor() ([]byte, error) { return slices.Clone(x.s.anchor), nil }
func (x *tx) Sync() error             { return nil }
func (x *tx) Atomic() bool            { return true }

func (x *tx) Lines(from int64) io.Reader { return bytes.NewReader(x.s.lines[from:]) }

func (x *tx) Commit(at int64, lines, _, after []byte) error {
	x.s.lines = append(x.s.lines[:at:at], lines...)
	return x.SetAnchor(after)
}

func (x *tx) SetAnchor(anchor []byte) error {
	x.s.anchor = slices.Clone(anchor)
	return nil
}

func (x *tx) Close() error {
	<-x.s.turn
	return nil
}
