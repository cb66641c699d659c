package silo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/internal/randsrc/stream"
	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/learn/data"
	"github.com/darrm/darrm/learn/federated"
	"github.com/darrm/darrm/learn/federated/rounds"
	"github.com/darrm/darrm/learn/loss"
	"github.com/darrm/darrm/ledger"
	"github.com/darrm/darrm/release"
)

func newPlan(t testing.TB, change func(*federated.PSGM)) *rounds.Run {
	t.Helper()
	c := federated.PSGM{
		Setting: federated.Setting{
			Loss: loss.Logistic{}, Silos: []int{8, 6}, Rounds: 3, StepSize: 0.3, GradientClip: 1,
			DifferenceClip: 1, Target: accountant.Cost{Delta: 1e-5},
		},
		Momentum: 0.4, Epsilon: 1, Account: federated.Unshuffled,
	}
	if change != nil {
		change(&c)
	}
	return must.Get(rounds.New(c, 2, rounds.Columns{}))(t)
}

func newRecords(t testing.TB, n int, seed uint64) *data.Records {
	rng := rand.New(rand.NewPCG(seed, 0))
	x, y := make([]float64, 2*n), make([]float64, n)
	for i := range x {
		x[i] = rng.NormFloat64()
		y[i/2] = float64(i / 2 % 2)
	}
	return must.Get(data.NewRecords(n, 2, x, y))(t)
}

// newAnswer is of the first silo to the first round, with a ledger that pays for one run and a
// half.
func newAnswer(t testing.TB, p *rounds.Run) (Answer, *ledger.Ledger) {
	t.Helper()
	dir := t.TempDir()
	budget := must.Get(ledger.NewBudget(1.5*p.Cost().Epsilon, 1.5e-5))(t)
	book := must.Get(ledger.Create(t.Context(), filepath.Join(dir, "ledger"), budget,
		ledger.ReplaceOne))(t)
	return Answer{
		Plan: p, Round: p.First(), Silo: 0, Records: newRecords(t, 8, 1), Ledger: book.Path(),
		Checkpoint: filepath.Join(dir, "key"),
		Output:     release.FileOutput{Path: filepath.Join(dir, "reports")},
	}, book
}

func entries(t testing.TB, book *ledger.Ledger) (out []string) {
	t.Helper()
	for _, e := range must.Get(book.History(t.Context()))(t) {
		s := string(e.Kind) + " " + e.ID
		if e.Kind == ledger.KindCharge {
			epsilon, _ := e.Total().Decimals()
			s += " " + epsilon + " by " + e.PaidBy
		}
		out = append(out, s)
	}
	return out
}

// The first answer pays for the run, by its price, and every answer is noted at no cost. Another
// run of the same parameters is another charge, which the ledger may refuse.
func TestRunIsChargedOnce(t *testing.T) {
	p := newPlan(t, nil)
	a, book := newAnswer(t, p)
	if out, err := a.Run(t.Context()); err != nil || !out.Done() || out.Before {
		t.Fatalf("%+v, %v", out, err)
	}
	next := *p.First()
	next.Round, next.Model = 1, []float64{0.1, 0.2}
	first := a
	a.Round = &next
	a.Output.Path += "1"
	if _, err := a.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	run := fmt.Sprintf("federated %.16s silo 1", p.Digest())
	spent, _ := must.Get(ledger.NewCost(p.Cost().Epsilon, 1e-5))(t).Decimals()
	want := []string{
		"charge run:" + run + " " + spent + " by ", "charge " + run + " round 0 reports 0 by run:" + run,
		"result " + run + " round 0 reports",
		"charge " + run + " round 1 reports 0 by run:" + run, "result " + run + " round 1 reports",
	}
	if got := entries(t, book); strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("entries\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if info := must.Get(os.Stat(a.Output.Path))(t); info.Mode().Perm() != 0o600 {
		t.Errorf("the reports are open to others: %v", info.Mode())
	}
	if _, err := os.Stat(a.Checkpoint); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the key is still there: %v", err)
	}

	other := first
	other.Plan = newPlan(t, nil)
	other.Round = other.Plan.First()
	other.Output.Path += "other"
	if _, err := other.Run(t.Context()); !errors.Is(err, ledger.ErrExceeded) {
		t.Errorf("a second run beyond the budget: %v", err)
	}
	if _, err := os.Stat(other.Output.Path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the second run has an answer: %v", err)
	}
	if err := other.Quote(t.Context()); !errors.Is(err, ledger.ErrExceeded) {
		t.Errorf("quote of the second run: %v", err)
	}
}

// Records that the plan is not for are refused before anything is paid.
func TestOtherRecordsPayNothing(t *testing.T) {
	a, book := newAnswer(t, newPlan(t, nil))
	a.Records = newRecords(t, 7, 1)
	var input *release.InputError
	if _, err := a.Run(t.Context()); !errors.As(err, &input) {
		t.Errorf("7 records for 8: %v", err)
	}
	if got := entries(t, book); len(got) != 0 {
		t.Errorf("entries %q", got)
	}
	if _, err := os.Stat(a.Output.Path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("an answer was written: %v", err)
	}
}

// A round is answered once: not again to another file, not to another model that the server shows
// in the same round, not with other records. Where the answer is, asking again gives it.
func TestRoundIsAnsweredOnce(t *testing.T) {
	p := newPlan(t, nil)
	a, book := newAnswer(t, p)
	must.Get(a.Run(t.Context()))(t)
	was := must.Get(os.ReadFile(a.Output.Path))(t)
	if out, err := a.Run(t.Context()); err != nil || !out.Before {
		t.Errorf("asked again: %+v, %v", out, err)
	}
	before := entries(t, book)
	another := *a.Round
	another.Model = []float64{3, 4}
	for name, change := range map[string]func(*Answer){
		"another file":  func(a *Answer) {},
		"another model": func(a *Answer) { a.Round = &another },
		"other records": func(a *Answer) { a.Records = newRecords(t, 8, 2) },
		"no checkpoint": func(a *Answer) { a.Checkpoint = "" },
		"over the answer": func(a *Answer) {
			a.Round, a.Output = &another, release.FileOutput{Path: strings.TrimSuffix(a.Output.Path, "2")}
		},
	} {
		b := a
		b.Output.Path += "2"
		change(&b)
		var answered *AnsweredError
		if out, err := b.Run(t.Context()); !errors.As(err, &answered) || out.Done() {
			t.Errorf("%s: %+v, %v", name, out, err)
		}
		if _, err := os.Stat(a.Output.Path + "2"); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: there is a second answer: %v", name, err)
		}
	}
	if got := must.Get(os.ReadFile(a.Output.Path))(t); !bytes.Equal(got, was) {
		t.Error("the answer was replaced")
	}
	if got := entries(t, book); strings.Join(got, "\n") != strings.Join(before, "\n") {
		t.Errorf("entries after refusals: %q", got)
	}
}

// errDied stands for a kill.
var errDied = errors.New("died")

// died runs the answer up to its publication and leaves what a kill would leave there.
func died(t *testing.T, a Answer) {
	t.Helper()
	m := a.model()
	begin := m.Begin
	m.Begin = func(state []byte) (release.Training, error) {
		tr, err := begin(state)
		tr.Run = func(context.Context, func() error) (func(io.Writer) error, error) {
			return nil,
				errDied
		}
		return tr, err
	}
	if _, err := m.Run(t.Context()); !errors.Is(err, errDied) {
		t.Fatal(err)
	}
}

// An answer that died after its charge is finished with the same coins and charged no more; without
// its checkpoint it is lost. The checkpoint is for this question and these records alone.
func TestAnswerIsFinished(t *testing.T) {
	p := newPlan(t, nil)
	a, book := newAnswer(t, p)
	died(t, a)
	_, state, _ := bytes.Cut(must.Get(os.ReadFile(a.Checkpoint))(t), []byte(stateMagic))
	key := [32]byte(state)
	paid := entries(t, book)
	another := *a.Round
	another.Model = []float64{3, 4}
	for name, change := range map[string]func(*Answer){
		"another model": func(a *Answer) { a.Round = &another },
		"other records": func(a *Answer) { a.Records = newRecords(t, 8, 2) },
		"no state":      func(a *Answer) { a.Checkpoint += "2" },
	} {
		b := a
		change(&b)
		if name == "no state" {
			if err := os.WriteFile(b.Checkpoint, []byte("x"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		var input *release.InputError
		if _, err := b.Run(t.Context()); !errors.As(err, &input) {
			t.Errorf("%s: %v", name, err)
		}
	}
	// A state that this version did not write: another magic, and one that is cut short.
	whole := must.Get(os.ReadFile(a.Checkpoint))(t)
	at := bytes.Index(whole, []byte(stateMagic))
	other := bytes.Clone(whole)
	other[at] ^= 1
	for name, content := range map[string][]byte{"another magic": other, "cut": whole[:len(whole)-1],
		"only a magic": whole[:at+len(stateMagic)]} {
		b := a
		b.Checkpoint += name
		if err := os.WriteFile(b.Checkpoint, content, 0o600); err != nil {
			t.Fatal(err)
		}
		var input *release.InputError
		if _, err := b.Run(t.Context()); !errors.As(err, &input) {
			t.Errorf("%s: %v", name, err)
		}
	}
	without := a
	without.Checkpoint = ""
	var answered *AnsweredError
	if _, err := without.Run(t.Context()); !errors.As(err, &answered) {
		t.Errorf("without its checkpoint: %v", err)
	}
	if out, err := a.Run(t.Context()); err != nil || !out.Done() || out.Before {
		t.Fatalf("%+v, %v", out, err)
	}
	want := must.Get(p.Answer(t.Context(), a.Round, 0, a.Records, stream.Restore(key, true)))(t)
	if got := must.Get(os.ReadFile(a.Output.Path))(t); !bytes.Equal(got, want) {
		t.Error("the answer is not that of the coins that were paid for")
	}
	if got := entries(t, book); len(got) != len(paid)+1 || got[len(got)-1][:6] != "result" {
		t.Errorf("entries %q after %q", got, paid)
	}
}

// What is wrong with the records or the round is found before anything is paid.
func TestNothingIsPaidForWhatDoesNotFit(t *testing.T) {
	p := newPlan(t, func(c *federated.PSGM) {
		c.Local = federated.Local{Steps: 2, Batch: 2, Clip: 1, Noise: 4}
	})
	a, book := newAnswer(t, p)
	done := *a.Round
	done.Round = 3
	local := *a.Round
	local.Local = &rounds.LocalRequest{Silo: 0, Direction: []float64{1, 2}, Keep: -1}
	for name, change := range map[string]func(*Answer){
		"records":  func(a *Answer) { a.Records = newRecords(t, 7, 1) },
		"silo":     func(a *Answer) { a.Silo = 2 },
		"number":   func(a *Answer) { a.Silo = -1 },
		"finished": func(a *Answer) { a.Round = &done },
		"local":    func(a *Answer) { a.Round, a.Silo = &local, 1 },
		"ledger":   func(a *Answer) { a.Ledger = "" },
		"no file":  func(a *Answer) { a.Output.Path = filepath.Join(a.Output.Path, "none", "x") },
	} {
		b := a
		change(&b)
		err := b.Check()
		if err == nil {
			_, err = b.Run(t.Context())
		}
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if got := entries(t, book); got != nil {
		t.Errorf("entries %q", got)
	}
	// Local steps are an answer of their own, paid for by the same charge.
	must.Get(a.Run(t.Context()))(t)
	a.Round = &local
	a.Output.Path += "local"
	must.Get(a.Run(t.Context()))(t)
	if got := entries(t, book); len(got) != 5 ||
		!strings.Contains(got[3], "round 0 local steps 0 by run:") {
		t.Errorf("entries %q", got)
	}
	must.Get(p.Accept(&local, must.Get(os.ReadFile(a.Output.Path))(t)))(t)
}

// Two silos with one ledger are charged as two: their numbers are in the names.
func TestSilosShareNoCharge(t *testing.T) {
	p := newPlan(t, nil)
	a, book := newAnswer(t, p)
	must.Get(a.Run(t.Context()))(t)
	a.Silo, a.Records = 1, newRecords(t, 6, 3)
	a.Output.Path += "2"
	if _, err := a.Run(t.Context()); !errors.Is(err, ledger.ErrExceeded) {
		t.Errorf("the second silo of a ledger for one run and a half: %v", err)
	}
	if got := entries(t, book); len(got) != 3 {
		t.Errorf("entries %q", got)
	}
}
