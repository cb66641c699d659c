package ledger

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/darrm/darrm/internal/testing/raced"
)

// long reports whether the complete grids run (make test-long).
var long = os.Getenv("DARRM_LONG") == "1"

// thin is the step through a grid: 1 if long, larger still under the race
// detector, which makes single-threaded loops 20 times slower and finds nothing in
// them.
func thin(step int) int {
	switch {
	case long:
		return 1
	case raced.Enabled:
		return 10 * step
	}
	return step
}

func mustCost(t testing.TB, epsilon, delta float64) Cost {
	t.Helper()
	c, err := NewCost(epsilon, delta)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// create makes a ledger with budget (ε, δ) in a directory of its own.
func create(t testing.TB, epsilon, delta float64) *Ledger {
	t.Helper()
	b, err := NewBudget(epsilon, delta)
	if err != nil {
		t.Fatal(err)
	}
	l, err := Create(t.Context(), filepath.Join(t.TempDir(), "ledger"), b, ReplaceOne)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func mustCharge(t testing.TB, l *Ledger, r Request) *Receipt {
	t.Helper()
	receipt, err := l.Charge(t.Context(), r)
	if err != nil {
		t.Fatalf("charge %q: %v", r.ID, err)
	}
	return receipt
}

func mustSpend(t testing.TB, l *Ledger, want Cost) {
	t.Helper()
	if got, err := l.Spent(t.Context()); err != nil || got != want {
		t.Fatalf("spent %v, %v, want %v", got, err, want)
	}
}

// files are the bytes of a ledger and its anchor; a nil anchor is no file.
type files struct{ db, anchor []byte }

func readFiles(t testing.TB, path string) files {
	t.Helper()
	var f files
	var err error
	if f.db, err = os.ReadFile(path); err != nil {
		t.Fatal(err)
	}
	if f.anchor, err = os.ReadFile(path + AnchorSuffix); err != nil &&
		!errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return f
}

func (f files) write(t testing.TB, path string) {
	t.Helper()
	if err := os.WriteFile(path, f.db, 0o600); err != nil {
		t.Fatal(err)
	}
	os.Remove(path + AnchorSuffix)
	if f.anchor != nil {
		if err := os.WriteFile(path+AnchorSuffix, f.anchor, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// verify does to bytes what Open does to files, through the same functions.
func (f files) verify(visit func(*Entry) error) (state, error) {
	var a *anchor
	if f.anchor != nil {
		got, err := decodeAnchor(f.anchor)
		if err != nil {
			return state{}, damaged("%w", err)
		}
		a = &got
	}
	c, err := readChain(context.Background(), linesOf{bytes.NewReader(f.db)}, visit)
	if err != nil {
		return state{}, err
	}
	return c.now, c.checkAnchor(a, false)
}

// linesOf makes a content of a reader at any byte.
type linesOf struct{ io.ReaderAt }

func (r linesOf) Lines(from int64) io.Reader {
	return io.NewSectionReader(r, from, math.MaxInt64-from)
}
