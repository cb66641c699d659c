package cache

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"testing"
)

// note is a table of one line.
type note struct{ text string }

func (n *note) Encode(w io.Writer) error {
	_, err := io.WriteString(w, n.text)
	return err
}

// searchFor is a search for the note "best", which counts its solves.
func searchFor(solved *int) Search[*note] {
	return Search[*note]{
		Key: "a note",
		Certify: func(r io.Reader) (*note, error) {
			b, err := io.ReadAll(r)
			if err == nil && string(b) != "best" {
				err = ErrOther
			}
			return &note{string(b)}, err
		},
		Solve: func() (*note, error) { *solved++; return &note{"best"}, nil },
		Keep:  func(*note) bool { return true },
	}
}

// A table is solved once and read from then on, if it is one for the cache; without a cache it is
// solved each time.
func TestFindKeeps(t *testing.T) {
	for _, c := range []struct {
		cache, keep bool
		solved      int
	}{{false, true, 3}, {true, false, 3}, {true, true, 1}} {
		solved := 0
		f := searchFor(&solved)
		f.Keep = func(*note) bool { return c.keep }
		var store *Store
		if c.cache {
			store = open(t)
		}
		for i := range 3 {
			r, err := f.Find(t.Context(), store)
			if err != nil || r.Table.text != "best" || r.Rejected != nil || r.Cached != (i > 0 && c.solved == 1) ||
				(r.Path != "") != (c.cache && c.keep) {
				t.Errorf("%+v, the %d. time: %+v, %v", c, i+1, r, err)
			}
		}
		if solved != c.solved {
			t.Errorf("%+v: solved %d times", c, solved)
		}
	}
}

// An entry that cannot be certified is never the outcome, says why, and is replaced.
func TestFindBelievesNothing(t *testing.T) {
	solved, store := 0, open(t)
	f := searchFor(&solved)
	if err := store.Put(f.Key, []byte("another")); err != nil {
		t.Fatal(err)
	}
	r, err := f.Find(t.Context(), store)
	if err != nil || r.Cached || r.Table.text != "best" || !errors.Is(r.Rejected, ErrOther) ||
		!strings.Contains(r.Rejected.Error(), store.Path(f.Key)) {
		t.Errorf("%+v, %v", r, err)
	}
	if value, err := store.Get(f.Key); err != nil || string(value) != "best" {
		t.Errorf("the entry is %q, %v", value, err)
	}
}

// Where the context has ended nothing is solved, unless Solve has a table even then.
func TestFindEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	solved, store := 0, open(t)
	f := searchFor(&solved)
	if r, err := f.Find(ctx, store); !errors.Is(err, context.Canceled) || r.Table != nil || solved != 0 {
		t.Errorf("%+v, %v, solved %d times", r, err, solved)
	}
	f.BestOnCancel = true
	if r, err := f.Find(ctx, store); err != nil || r.Table == nil || r.Rejected != nil || solved != 1 {
		t.Errorf("the best so far: %+v, %v, solved %d times", r, err, solved)
	}
}

// A table that the cache does not take comes with the error, and none comes with that of Solve.
func TestFindErrors(t *testing.T) {
	solved := 0
	store, f := open(t), searchFor(&solved)
	if err := errors.Join(os.RemoveAll(store.Dir()), os.WriteFile(store.Dir(), nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	if r, err := f.Find(t.Context(), store); err == nil || r.Table == nil {
		t.Errorf("unsaved: %+v, %v", r, err)
	}
	boom := errors.New("boom")
	f.Solve = func() (*note, error) { return nil, boom }
	if r, err := f.Find(t.Context(), open(t)); !errors.Is(err, boom) || r.Table != nil || r.Path != "" {
		t.Errorf("%+v, %v", r, err)
	}
}
