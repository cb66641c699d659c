package release

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/ledger"
)

// trainer is a training of three steps whose model is its key.
type trainer struct {
	cost  accountant.Cost
	next  int          // the key of the next new training
	stops map[int]bool // after which steps the next one breaks off
	begun []string     // the states that trainings began with
}

var errStopped = errors.New("stopped")

func (tr *trainer) begin(state []byte) (Training, error) {
	tr.begun = append(tr.begun, string(state))
	key, step := tr.next, 0
	if state != nil {
		if _, err := fmt.Sscanf(string(state), "key %d step %d", &key, &step); err != nil {
			return Training{}, &InputError{err}
		}
	} else {
		tr.next++
	}
	return Training{
		ID: fmt.Sprintf("id%d", key), Cost: tr.cost,
		State: func() []byte { return fmt.Appendf(nil, "key %d step %d", key, step) },
		Run: func(_ context.Context, save func() error) (func(io.Writer) error, error) {
			for ; step < 3; step++ {
				if err := save(); err != nil {
					return nil, err
				}
				if tr.stops[step] {
					delete(tr.stops, step)
					return nil, errStopped
				}
			}
			return func(w io.Writer) error { _, err := fmt.Fprintf(w, "model %d", key); return err }, nil
		},
	}, nil
}

func newModel(t *testing.T, eps, budget float64) (
	m Model, tr *trainer, dir string, book *ledger.Ledger) {
	t.Helper()
	tr, dir, book = &trainer{cost: accountant.Cost{Epsilon: eps, Delta: 1e-6}}, t.TempDir(),
		newLedger(t, budget)
	return Model{
		Event: ModelEvent{Mechanism: "shuffled-gradients", Method: "m", Task: "t", Epochs: 3,
			Mode: "best"}, Relation: accountant.ReplaceOne,
		Ledger: book.Path(), RequestID: "model",
		Output:     FileOutput{Path: filepath.Join(dir, "model.json")},
		Checkpoint: filepath.Join(dir, "state"), StateSize: 100, Begin: tr.begin,
	}, tr, dir, book
}

// A model's entry, byte for byte: it must be asked for in the same bytes for ever, or it
// becomes a conflict.
func TestModelEntryIsTheseBytes(t *testing.T) {
	m, _, _, book := newModel(t, 0.5, 1)
	if o, err := m.Run(t.Context()); err != nil || !o.Done() {
		t.Fatalf("%+v, %v", o, err)
	}
	want := []string{
		`charge model 1×(0.5, 1e-6) "" {"epochs":3,"mechanism":"shuffled-gradients","method":"m","mode":"best","release":"id0","task":"t"}`,
		`result model 1×(0, 0) "" `,
	}
	got := entries(t, book)
	if len(got) != 2 || got[0] != want[0] || !strings.HasPrefix(got[1], "result model ") {
		t.Errorf("%q, want %q", got, want)
	}
	m.RequestID, m.Output.Path = "", m.Output.Path+"2"
	m.Ledger = newLedger(t, 1).Path()
	if _, err := m.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	l, err := ledger.Open(t.Context(), m.Ledger)
	if err != nil || !strings.HasPrefix(entries(t, l)[0], "charge training:id1 1×") {
		t.Errorf("%q, %v", entries(t, l), err)
	}
}

// An interrupted training goes on from its last state, whenever it was interrupted. It is
// charged once, and its state is gone when the model is out. Without the state a second draw
// is refused.
func TestModelIsResumed(t *testing.T) {
	m, tr, dir, book := newModel(t, 0.5, 0.9)
	tr.stops = map[int]bool{0: true, 2: true}
	if err := m.Quote(t.Context()); err != nil || entries(t, book) != nil || namesIn(t, dir) != nil {
		t.Errorf("a dry run: %v, entries %q, files %q", err, entries(t, book), namesIn(t, dir))
	}
	for range 2 {
		if o, err := m.Run(t.Context()); !errors.Is(err, errStopped) || o.Done() {
			t.Fatalf("%+v, %v", o, err)
		}
		if err := m.Quote(t.Context()); err != nil {
			t.Errorf("a model that goes on is refused: %v", err)
		}
	}
	second := m
	second.Checkpoint = ""
	if o, err := second.Run(t.Context()); !errors.Is(err, ledger.ErrReplayed) || o.Done() {
		t.Errorf("a second draw: %+v, %v", o, err)
	}
	if err := second.Quote(t.Context()); !errors.Is(err, ledger.ErrReplayed) {
		t.Errorf("a second draw, dry: %v", err)
	}
	if o, err := m.Run(t.Context()); err != nil || !o.Done() ||
		contentOf(t, m.Output.Path) != "model 1" {
		t.Errorf("%+v, %v, %q", o, err, contentOf(t, m.Output.Path))
	}
	want := []string{"", "", "key 1 step 0", "key 1 step 0", "key 1 step 2", "", "", "key 1 step 2"}
	if !slices.Equal(tr.begun, want) {
		t.Errorf("began with %q, want %q", tr.begun, want)
	}
	checkSpent(t, book, 0.5)
	if got := namesIn(t, dir); !slices.Equal(got, []string{"model.json"}) {
		t.Errorf("files %q", got)
	}
	// The request is answered: what is there is the model, another draw is refused.
	if o, err := m.Run(t.Context()); err != nil || !o.Before ||
		contentOf(t, m.Output.Path) != "model 1" {
		t.Errorf("asked again: %+v, %v", o, err)
	}
	m.Output.Path += "2"
	if o, err := m.Run(t.Context()); !errors.Is(err, ledger.ErrReplayed) || o.Done() ||
		contentOf(t, m.Output.Path) != "" || contentOf(t, m.Checkpoint) != "" {
		t.Errorf("elsewhere: %+v, %v", o, err)
	}
}

// A model without a guarantee, or whose randomness has no name, is not released; nor is one
// that the ledger does not pay for. Nothing is left of them.
func TestModelIsRefused(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(*Model, *trainer)
		want   func(error) bool
	}{
		{"beyond the budget", func(_ *Model, tr *trainer) { tr.cost.Epsilon = 2 }, func(err error) bool {
			return errors.Is(err, ledger.ErrExceeded)
		}},
		{"another relation", func(m *Model, _ *trainer) { m.Relation = accountant.AddOrRemoveOne },
			func(err error) bool { return errors.Is(err, ledger.ErrRelation) }},
		{"no relation", func(m *Model, _ *trainer) { m.Relation = 0 },
			func(err error) bool { return err != nil }},
		{"no guarantee", func(_ *Model, tr *trainer) {
			tr.cost.Epsilon = math.Inf(1)
		}, func(err error) bool { return err != nil }},
		{"no guarantee, no ledger", func(m *Model, tr *trainer) {
			m.Ledger, m.RequestID, tr.cost.Epsilon = "", "", math.Inf(1)
		}, func(err error) bool { return err != nil }},
		{"δ = 1, no ledger", func(m *Model, tr *trainer) {
			m.Ledger, m.RequestID, tr.cost.Delta = "", "", 1
		}, func(err error) bool { return err != nil }},
		{"no number, no ledger", func(m *Model, tr *trainer) {
			m.Ledger, m.RequestID, tr.cost.Epsilon = "", "", math.NaN()
		}, func(err error) bool { return err != nil }},
		{"no name", func(m *Model, tr *trainer) {
			begin := m.Begin
			m.Begin = func(state []byte) (Training, error) {
				t, err := begin(state)
				t.ID = ""
				return t,
					err
			}
		}, func(err error) bool { return err != nil }},
		{"a simulation that pays", func(m *Model, _ *trainer) { m.Simulated = true }, isUsage},
		{"a name without a ledger", func(m *Model, _ *trainer) { m.Ledger = "" }, isUsage},
		{"the name of teachers", func(m *Model, _ *trainer) { m.RequestID = "teachers:wards" }, isUsage},
		{"less than no records", func(m *Model, _ *trainer) { m.Records = -1 },
			isUsage},
		{"the name of a draw", func(m *Model, _ *trainer) { m.RequestID = "draw:march" }, isUsage},
		{"over its state", func(m *Model, _ *trainer) { m.Output.Path = m.Checkpoint }, isUsage},
		{"over what it reads", func(m *Model, _ *trainer) {
			m.Reads = []File{{"private", m.Output.Path, false}}
		}, isUsage},
	} {
		m, tr, dir, book := newModel(t, 0.5, 1)
		tr.stops = map[int]bool{0: true} // it does not come so far
		tt.change(&m, tr)
		if o, err := m.Run(t.Context()); o.Done() || !tt.want(err) || errors.Is(err, errStopped) {
			t.Errorf("%s: %+v, %v", tt.name, o, err)
		}
		if err := m.Quote(t.Context()); !tt.want(err) {
			t.Errorf("%s, dry: %v", tt.name, err)
		}
		if got := namesIn(t, dir); got != nil || entries(t, book) != nil {
			t.Errorf("%s: files %q, entries %q", tt.name, got, entries(t, book))
		}
	}
}

// The relation of a model is compared with the ledger's before its cost is known.
func TestCheckRelation(t *testing.T) {
	m, _, _, _ := newModel(t, 0.5, 1)
	if err := m.CheckRelation(t.Context()); err != nil {
		t.Error(err)
	}
	m.Relation = accountant.AddOrRemoveOne
	if err := m.CheckRelation(t.Context()); !errors.Is(err, ledger.ErrRelation) {
		t.Errorf("another relation: %v", err)
	}
	m.Ledger = ""
	if err := m.CheckRelation(t.Context()); err != nil {
		t.Errorf("without a ledger: %v", err)
	}
}

// Without a ledger a model replaces no other, simulated or not, unless it is forced: neither does
// one that goes on from a state.
func TestModelOverwrites(t *testing.T) {
	const old = "old"
	for _, tt := range []struct {
		name   string
		change func(*Model)
		want   string // in the file
	}{
		{"a new one", func(*Model) {}, old},
		{"forced", func(m *Model) { m.Force = true }, "model 0"},
		{"simulated", func(m *Model) { m.Simulated = true }, old},
		{"simulated and forced", func(m *Model) { m.Simulated, m.Force = true, true }, "model 0"},
		{"a state", func(m *Model) {
			if err := os.WriteFile(m.Checkpoint, owner{}.seal([]byte("key 5 step 1")), 0o600); err != nil {
				t.Fatal(err)
			}
		}, old},
		{"a state, forced", func(m *Model) {
			m.Force = true
			if err := os.WriteFile(m.Checkpoint, owner{}.seal([]byte("key 5 step 1")), 0o600); err != nil {
				t.Fatal(err)
			}
		}, "model 5"},
	} {
		m, _, dir, _ := newModel(t, 0.5, 1)
		m.Ledger, m.RequestID = "", ""
		if err := os.WriteFile(m.Output.Path, []byte(old), 0o600); err != nil {
			t.Fatal(err)
		}
		tt.change(&m)
		_, err := m.Run(t.Context())
		if got := contentOf(t, m.Output.Path); got != tt.want ||
			errors.Is(err, fs.ErrExist) != (tt.want == old) {
			t.Errorf("%s: %q, %v", tt.name, got, err)
		}
		left := []string{"model.json"}
		if tt.name == "a state" {
			left = append(left, "state") // for a name that is free
		}
		if got := namesIn(t, dir); !slices.Equal(got, left) {
			t.Errorf("%s: files %q", tt.name, got)
		}
	}
}

// The answers of a run are paid for by the first, whatever each is. A run of another digest under
// the same name is none of them: it is refused, and so is one of another cost.
func TestAnswersOfARun(t *testing.T) {
	m, tr, _, book := newModel(t, 0.5, 0.9)
	m.PartOf, m.Event.Mechanism, m.Event.Run = "r", "federated", "d1"
	answer := func(id string) error {
		a := m
		a.RequestID, a.Event.Part = id, "part "+id
		a.Output.Path += id
		_, err := a.Run(t.Context())
		return err
	}
	for _, id := range []string{"a", "b"} {
		if err := answer(id); err != nil {
			t.Fatal(err)
		}
	}
	got := entries(t, book)
	run := `{"epochs":3,"mechanism":"federated","method":"m","mode":"best","release":"","run":"d1","task":"t"}`
	if len(got) != 5 || got[0] != `charge run:r 1×(0.5, 1e-6) "" `+run ||
		got[1] != `charge a 1×(0, 0) "run:r" {"epochs":3,"mechanism":"federated","method":"m","mode":"best","part":"part a","release":"id0","run":"d1","task":"t"}` {
		t.Errorf("%q", got)
	}
	m.Event.Run = "d2"
	if err := answer("c"); !errors.Is(err, ledger.ErrConflict) ||
		!strings.Contains(err.Error(), "this run was charged before") {
		t.Errorf("another run under the name: %v", err)
	}
	m.Event.Run, tr.cost.Epsilon = "d1", 0.4
	if err := answer("d"); !errors.Is(err, ledger.ErrConflict) {
		t.Errorf("another cost of the run: %v", err)
	}
	if now := entries(t, book); len(now) != len(got) {
		t.Errorf("entries %q", now[len(got):])
	}
	m.Ledger, m.RequestID = "", ""
	if err := m.Check(); err == nil || !strings.Contains(err.Error(), "give ledger") {
		t.Errorf("an answer without a ledger: %v", err)
	}
	if err := (Model{RequestID: "run:x", Ledger: "l"}).Check(); err == nil {
		t.Error("a release has a run's name")
	}
}
