package ledgertest

import (
	"bytes"
	"context"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/darrm/darrm/ledger"
)

// New returns a ledger in memory, for the tests of programs that release. It keeps all rules of a
// ledger and is forgotten with the test, so what it pays for is marked as a simulation
// ([ledger.Ledger.Simulated]).
func New(t testing.TB, budget ledger.Budget, relation ledger.Relation) *ledger.Ledger {
	t.Helper()
	l, err := ledger.Create(t.Context(), Memory(t), budget, relation)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// Memory returns the location of a ledger in memory, which is not made yet. Its secret is a file
// among the temporary ones of the test.
func Memory(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	location := memoryScheme + "://" + filepath.ToSlash(dir)
	memories.Store(location, &memory{
		location: location, secret: filepath.Join(dir, "secret"), turn: make(chan struct{}, 1),
	})
	t.Cleanup(func() { memories.Delete(location) })
	return location
}

const memoryScheme = "ledgertest"

// memories are the ledgers of the tests that run, by location.
var memories sync.Map

func init() {
	ledger.Register(memoryScheme, func(location string) (ledger.Store, error) {
		m, ok := memories.Load(location)
		if !ok {
			return nil, &fs.PathError{Op: "open", Path: location, Err: fs.ErrNotExist}
		}
		return m.(*memory), nil
	})
}

// memory is a [ledger.Store].
type memory struct {
	location, secret string
	turn             chan struct{} // full while somebody looks
	lines, anchor    []byte        // no lines: no ledger
}

func (m *memory) Location() string            { return m.location }
func (m *memory) SecretPath() (string, error) { return m.secret, nil }

// Simulated marks what the ledger pays for.
func (m *memory) Simulated() bool { return true }

func (m *memory) take(ctx context.Context) error {
	select {
	case m.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (m *memory) Create(ctx context.Context, first func() ([]byte, error)) error {
	if err := m.take(ctx); err != nil {
		return err
	}
	defer func() { <-m.turn }()
	if m.lines != nil {
		return fs.ErrExist
	}
	line, err := first()
	if err == nil {
		m.lines = slices.Clone(line)
	}
	return err
}

func (m *memory) Begin(ctx context.Context, _ bool) (ledger.Tx, error) {
	if err := m.take(ctx); err != nil {
		return nil, err
	}
	if m.lines == nil {
		<-m.turn
		return nil, &fs.PathError{Op: "open", Path: m.location, Err: fs.ErrNotExist}
	}
	return &memoryTx{m}, nil
}

// memoryTx has the turn.
type memoryTx struct{ m *memory }

func (x *memoryTx) Anchor() ([]byte, error) { return slices.Clone(x.m.anchor), nil }
func (x *memoryTx) Sync() error             { return nil }
func (x *memoryTx) Atomic() bool            { return true }

func (x *memoryTx) Lines(from int64) io.Reader { return bytes.NewReader(x.m.lines[from:]) }

func (x *memoryTx) Commit(at int64, lines, _, after []byte) error {
	x.m.lines = append(x.m.lines[:at:at], lines...)
	return x.SetAnchor(after)
}

func (x *memoryTx) SetAnchor(anchor []byte) error {
	x.m.anchor = slices.Clone(anchor)
	return nil
}

func (x *memoryTx) Close() error {
	<-x.m.turn
	return nil
}
