package release

import (
	"context"
	"encoding/json"
	"fmt"
	"math/big"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/darrm/darrm/ledger"
)

// A chance is never said to be smaller than it is.
func TestOneIn(t *testing.T) {
	for delta, want := range map[float64]string{
		0: "", 0.51: "", 0.5: " (one in 2)", 0.3: " (one in 3)", 1e-3: " (one in 1 thousand)",
		0.001001: " (one in 999)",
		1e-6:     " (one in 1 million)", 6e-7: " (one in 1 million)", 1.1e-6: " (one in 909 thousand)",
		3e-12: " (one in 333 billion)", 1e-16: "",
	} {
		c, err := ledger.NewCost(0, delta)
		if err != nil {
			t.Fatal(err)
		}
		if got := oneIn(c); got != want {
			t.Errorf("δ = %g: %q, want %q", delta, got, want)
		}
	}
}

// Odds are rounded up: at ε = 0.4054651081081644, an ulp above ln 1.5, a person is more than 1.5 times
// as likely, and Exp returns 1.5.
func TestOddsAreRoundedUp(t *testing.T) {
	for epsilon, want := range map[float64]string{0.4054651081081644: "1.51", 0.4054: "1.50", 0: "1.01",
		1e-7: "1.01", 14: "e^14"} {
		c, err := ledger.NewCost(epsilon, 0)
		if err != nil {
			t.Fatal(err)
		}
		if got, plus := odds(c); got != want || plus != "" {
			t.Errorf("ε = %v: %q, %q, want %q", epsilon, got, plus, want)
		}
	}
	if got := digits(1.5e-7, 3, true); got != "1.5e-7" {
		t.Errorf("%q", got)
	}
}

// What remains is what was granted less the sum of the charges, exactly; shares and figures for
// people err on the private side; what protects nobody is said.
func TestBudgetReportSums(t *testing.T) {
	ctx := context.Background()
	for _, tt := range []struct {
		epsilon, delta, unitE, unitD float64
		n                            int
		share                        [2]float64
		spent, remaining             string // ε in short
		meaning, verdict             string
		worthless                    bool
	}{
		{2, 1e-6, 0.1, 0, 3, [2]float64{15, 0}, "0.3", "1.7", "at most 1.35 times",
			"Within the budget: 15 % of ε and 0 % of δ are spent.", false},
		{3, 1e-3, 1.0000001, 1e-4, 1, [2]float64{33.4, 10}, "1.00001", "1.99999",
			"at most 2.72 times as likely with a person's record as with another in its place, plus a " +
				"chance of at most 0.0001 (one in 10 thousand).",
			"Within the budget: 33.4 % of ε and 10 % of δ are spent.", false},
		{50, 0.5, 25, 1e-9, 2, [2]float64{100, 0.1}, "50", "0", "at most e^50 times",
			"What was spent protects nobody.", true},
		{50, 0.5, 1, 1e-9, 1, [2]float64{2, 0.1}, "1", "49", "at most 2.72 times",
			"Within the budget: 2 % of ε and 0.1 % of δ are spent. The whole budget would " +
				"protect nobody.", false},
		{1, 0, 0.5, 0, 2, [2]float64{100, 0}, "1", "0", "at most 2.72 times",
			"All of ε is spent: nothing more can be charged.", false},
		{1, 0, 0.5, 0, 0, [2]float64{0, 0}, "0", "1", "Nothing was spent",
			"Nothing was spent: the whole budget is left.", false},
	} {
		budget, err := ledger.NewBudget(tt.epsilon, tt.delta)
		if err != nil {
			t.Fatal(err)
		}
		l, err := ledger.Create(ctx, filepath.Join(t.TempDir(), "ledger"), budget, ledger.ReplaceOne)
		if err != nil {
			t.Fatal(err)
		}
		unit, err := ledger.NewCost(tt.unitE, tt.unitD)
		if err != nil {
			t.Fatal(err)
		}
		for i := range tt.n {
			if _, err := l.Charge(ctx, ledger.Request{ID: fmt.Sprint("r", i), Count: 1, Unit: unit,
				Event: json.RawMessage("{}"), Relation: ledger.ReplaceOne}); err != nil {
				t.Fatal(err)
			}
		}
		r, err := NewBudgetReport(ctx, l)
		if err != nil {
			t.Fatal(err)
		}
		sum := func(a, b json.Number) string {
			x, ok := new(big.Rat).SetString(string(a))
			y, ok2 := new(big.Rat).SetString(string(b))
			if !ok || !ok2 {
				t.Fatalf("%q and %q", a, b)
			}
			return x.Add(x, y).RatString()
		}
		if got, want := sum(r.Spent.Epsilon, r.Remaining.Epsilon),
			sum(r.Granted.Epsilon, "0"); got != want {
			t.Errorf("ε: spent and remaining are %s, granted %s", got, want)
		}
		if got, want := sum(r.Spent.Delta, r.Remaining.Delta), sum(r.Granted.Delta, "0"); got != want {
			t.Errorf("δ: spent and remaining are %s, granted %s", got, want)
		}
		if r.Share != tt.share || r.Short.Spent[0] != tt.spent || r.Short.Remaining[0] != tt.remaining ||
			!strings.Contains(r.Meaning, tt.meaning) || r.Verdict != tt.verdict {
			t.Errorf("%d times %g of %g: share %v, %s spent, %s remains, %s %s", tt.n, tt.unitE, tt.epsilon,
				r.Share, r.Short.Spent[0], r.Short.Remaining[0], r.Meaning, r.Verdict)
		}
		if worthless := len(r.Warnings) > min(tt.n, 1); worthless != tt.worthless {
			t.Errorf("%g of %g: warnings %q", tt.unitE, tt.epsilon, r.Warnings)
		}
	}
}

// What was promised of teachers is said of their training where that is what stays, and else of
// each vote.
func TestBudgetReportAssumesTheTeachers(t *testing.T) {
	for terms, want := range map[*Charge]string{
		&frozen: "The training of each of the 3 teachers was (0.1, 1e-05)-differentially private, with " +
			"randomness of its own.",
		&fresh: "Each vote of each of the 3 teachers was a new run of a mechanism that is " +
			"(0.1, 1e-05)-differentially private, with randomness of its own.",
	} {
		l := newLedger(t, 10)
		if _, err := newBill(t, private(t, 1e-5, 3), *terms).Pay(t.Context(), l, false); err != nil {
			t.Fatal(err)
		}
		r, err := NewBudgetReport(t.Context(), l)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(r.Assumed, func(a Assumption) bool { return a.Text == want }) {
			t.Errorf("%q is not among %+v", want, r.Assumed)
		}
		for _, of := range []string{"charged to this ledger", "record is replaced by another",
			"had fresh randomness", "decided without the private data", "were trusted", "older copies"} {
			if !slices.ContainsFunc(r.Assumed, func(a Assumption) bool {
				return strings.Contains(a.Text, of)
			}) {
				t.Errorf("nothing says %q: %+v", of, r.Assumed)
			}
		}
	}
}
