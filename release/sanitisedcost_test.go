package release_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/ledger"
	"github.com/darrm/darrm/release"
)

// A cost at given votes is told for a charge alone, the one that its curve gives, and once.
func TestToldIsPaidOnce(t *testing.T) {
	m := must.Get(ensemble.GNMax(ensemble.Setting{K: 4, Classes: 2, Affected: 1,
		Neighbours: accountant.ReplaceOne}, accountant.Cost{Epsilon: 700, Delta: 0.5}, 0.5))(t)
	telling := must.Get(m.NewTelling(ensemble.TellingOptions{Queries: 1, Order: 1.5, Steps: 15, Noise: 8,
		SizeNoise: 6}))(t)
	ballots := must.Get(ensemble.NewBallots(4, 2))(t)
	if err := ballots.Add([]int{4, 0}, ensemble.NoTruth); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	book := filepath.Join(dir, "ledger")
	budget := must.Get(ledger.NewBudget(2, 1e-3))(t)
	l := must.Get(ledger.Create(t.Context(), book, budget, ledger.ReplaceOne))(t)
	drawn := 0
	told := release.Told{Telling: telling, Ballots: ballots, Delta: 1e-6, DrawnDelta: 1e-6,
		Ledger: book, RequestID: "a", Output: release.FileOutput{Path: filepath.Join(dir, "told")},
		Encode: func(d ensemble.DrawnCost, _ accountant.Cost) func(io.Writer) error {
			drawn++
			return func(w io.Writer) error { _, err := fmt.Fprintln(w, d.Divergence); return err }
		}}
	var usage *release.UsageError
	for name, change := range map[string]func(*release.Told){
		"no ledger":           func(o *release.Told) { o.Ledger = "" },
		"no request":          func(o *release.Told) { o.RequestID = "" },
		"a request of others": func(o *release.Told) { o.RequestID = "teachers:a" },
		"the ledger's file":   func(o *release.Told) { o.Output.Path = book },
		"standard output":     func(o *release.Told) { o.Output.Path = "-" },
	} {
		bad := told
		change(&bad)
		if _, err := bad.Run(t.Context()); !errors.As(err, &usage) {
			t.Errorf("%s: %v", name, err)
		}
	}
	var input *release.InputError
	others := told
	others.Ballots = must.Get(ensemble.NewBallots(5, 2))(t)
	if err := others.Ballots.Add([]int{5, 0}, ensemble.NoTruth); err != nil {
		t.Fatal(err)
	}
	if _, err := others.Run(t.Context()); !errors.As(err, &input) {
		t.Errorf("votes of other teachers: %v", err)
	}
	if now := must.Get(l.State(t.Context()))(t); drawn > 0 || now.Spent != (ledger.Cost{}) {
		t.Fatalf("%d draws and %v spent for nothing", drawn, now.Spent)
	}
	if out, err := told.Run(t.Context()); err != nil || !out.Done() || out.Before || drawn != 1 {
		t.Fatalf("%+v, %v, %d draws", out, err, drawn)
	}
	first := must.Get(os.ReadFile(told.Output.Path))(t)
	if out, err := told.Run(t.Context()); err != nil || !out.Before || drawn != 1 {
		t.Errorf("asked again: %+v, %v, %d draws", out, err, drawn)
	}
	elsewhere := told
	elsewhere.Output.Path = filepath.Join(dir, "other")
	if _, err := elsewhere.Run(t.Context()); err == nil || drawn != 1 {
		t.Errorf("into another file: %v, %d draws", err, drawn)
	}
	if again := must.Get(os.ReadFile(told.Output.Path))(t); string(again) != string(first) {
		t.Errorf("%s, then %s", first, again)
	}
	want := must.Get(telling.Cost(1e-6))(t)
	cost := must.Get(ledger.NewCost(want.Epsilon, want.Delta))(t)
	if now := must.Get(l.State(t.Context()))(t); now.Spent != cost {
		t.Errorf("spent %v, want %v", now.Spent, cost)
	}
	// The budget pays for no second figure of this price.
	second := told
	second.RequestID, second.Output.Path = "b", filepath.Join(dir, "second")
	if _, err := second.Run(t.Context()); !errors.Is(err, ledger.ErrExceeded) || drawn != 1 {
		t.Errorf("%v, %d draws", err, drawn)
	}
}
