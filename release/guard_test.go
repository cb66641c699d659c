package release

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/darrm/darrm/ledger"
	"github.com/darrm/darrm/votes"
)

// paidLabels is a release of so many labels that no two are equal by chance.
func paidLabels(t *testing.T) (l planning, dir string, book *ledger.Ledger) {
	l, dir, book = newLabels(t, 1000)
	l.Charge = paidBy(book, "march")
	l.Charge.Draw, l.Charge.AcceptWeak = "drawn", true
	rows := "t1,t2,t3\n" + strings.Repeat("1,1,0\n0,0,0\n", 64)
	if err := os.WriteFile(l.Votes[0], []byte(rows), 0o600); err != nil {
		t.Fatal(err)
	}
	return l, dir, book
}

// What is at an output is replaced by nobody but where that is forced, and what the ledger knows as a
// request's result is replaced by nobody at all: before anything is charged.
func TestOutputIsNotReplaced(t *testing.T) {
	l, dir, book := paidLabels(t)
	if _, err := l.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	labels := contentOf(t, l.Output.Path)
	foreign := filepath.Join(dir, "foreign.csv")
	if err := os.WriteFile(foreign, []byte("foreign"), 0o600); err != nil {
		t.Fatal(err)
	}
	before := entries(t, book)
	model, _, _, _ := newModel(t, 0.5, 1)
	model.Ledger = book.Path()
	for _, force := range []bool{false, true} {
		for name, run := range map[string]func() error{
			"labels": func() error {
				april := l
				april.Charge.RequestID, april.Force = "april", force
				s, err := april.Run(t.Context())
				if s != nil {
					t.Errorf("labels: %+v", s)
				}
				return err
			},
			"a model": func() error {
				other := model
				other.Output, other.Force = l.Output, force
				o, err := other.Run(t.Context())
				if o.Done() {
					t.Errorf("a model: %+v", o)
				}
				return err
			},
		} {
			err := run()
			if !isUsage(err) || !errors.Is(err, fs.ErrExist) || !strings.Contains(err.Error(), `request "march"`) ||
				!strings.Contains(err.Error(), l.Output.Path) {
				t.Errorf("%s, forced %t, over paid labels: %v", name, force, err)
			}
			if contentOf(t, l.Output.Path) != labels || !slices.Equal(entries(t, book), before) {
				t.Errorf("%s, forced %t: something was replaced or charged", name, force)
			}
		}
	}
	// The same request finds its own.
	if s, err := l.Run(t.Context()); err != nil || !s.Before || contentOf(t, l.Output.Path) != labels {
		t.Errorf("again: %+v, %v", s, err)
	}
	// What no ledger knows stays, unless that is stated.
	april := l
	april.Charge.RequestID, april.Output.Path = "april", foreign
	if s, err := april.Run(t.Context()); s != nil || !isUsage(err) || !errors.Is(err, fs.ErrExist) ||
		!strings.Contains(err.Error(), "or force to replace it") || contentOf(t, foreign) != "foreign" ||
		!slices.Equal(entries(t, book), before) {
		t.Errorf("over another file: %+v, %v", s, err)
	}
	april.Force = true
	if s, err := april.Run(t.Context()); err != nil || s.Before || contentOf(t, foreign) == "foreign" {
		t.Errorf("forced over another file: %+v, %v", s, err)
	}
	// A device has nothing to lose.
	may := l
	may.Charge.RequestID, may.Output.Path = "may", os.DevNull
	if _, err := may.Run(t.Context()); err != nil {
		t.Error(err)
	}
}

// What came between the guard and the publication stays too, and the release is finished elsewhere
// with its own coins; what was forced does not replace what is paid for by then.
func TestPublicationReplacesNothing(t *testing.T) {
	for _, force := range []bool{false, true} {
		l, dir, book := paidLabels(t)
		l.Checkpoint, l.Force = filepath.Join(dir, "secret"), force
		other := l
		other.Charge.RequestID, other.Checkpoint, other.Force, other.Each = "april", "", false, nil
		once := false
		l.Each = func(*votes.Batch, []int) error {
			if once {
				return nil
			}
			once = true
			_, err := other.Run(t.Context())
			return err
		}
		s, err := l.Run(t.Context())
		april := contentOf(t, l.Output.Path)
		if s != nil || !errors.Is(err, fs.ErrExist) || !strings.Contains(err.Error(), `request "march" is charged`) ||
			resultAt(t, book, l.Output.Path) != "april" {
			t.Errorf("forced %t: %+v, %v, %q", force, s, err, april)
		}
		l.Output.Path = filepath.Join(dir, "march.csv")
		if s, err := l.Run(t.Context()); err != nil || s.Before || resultAt(t, book, l.Output.Path) != "march" {
			t.Errorf("forced %t, elsewhere: %+v, %v", force, s, err)
		}
	}
}

// resultAt returns the latest request whose result the file is.
func resultAt(t *testing.T, book *ledger.Ledger, path string) (id string) {
	t.Helper()
	f, err := FileOutput{Path: path}.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	digest, err := digestOf(func(w io.Writer) error { _, err := io.Copy(w, f); return err })
	if err != nil {
		t.Fatal(err)
	}
	all, err := book.History(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range all {
		if e.Kind == ledger.KindResult && e.Result == digest {
			id = e.ID
		}
	}
	return id
}
