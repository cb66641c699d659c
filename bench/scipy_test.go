// Package bench holds the measurements that bench/README.md reports. Its only test
// checks that the scipy script solves the same problem as this module.
package bench

import (
	"fmt"
	"math"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/darrm/darrm/constraints"
	"github.com/darrm/darrm/gamma/solve"
)

// Two implementations that share nothing but the formulas: numpy and scipy's own HiGHS
// against the cutting planes of this module. 1e-9 allows for scipy's tolerances.
func TestScipyAgrees(t *testing.T) {
	out, err := exec.Command("./find-python").CombinedOutput()
	if err != nil {
		t.Skip(strings.TrimSpace(string(out)))
	}
	python := strings.TrimSpace(string(out))
	number := func(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }
	args := []string{"-c", allAtOnce}
	for _, tc := range scipyCases {
		args = append(args, strings.Join([]string{strconv.Itoa(tc.k), number(tc.m), number(tc.eps), number(tc.delta),
			number(tc.mu)}, " "))
	}
	text, err := exec.Command(python, args...).Output()
	if err != nil {
		t.Fatal(err)
	}
	printed := strings.Fields(string(text))
	if len(printed) != len(scipyCases) {
		t.Fatalf("%d numbers for %d cases: %s", len(printed), len(scipyCases), text)
	}
	for i, tc := range scipyCases {
		t.Run(fmt.Sprintf("K=%d,m=%g,eps=%g,delta=%g,mu=%g", tc.k, tc.m, tc.eps, tc.delta, tc.mu),
			func(t *testing.T) {
				theirs, err := strconv.ParseFloat(printed[i], 64)
				if err != nil {
					t.Fatal(err)
				}
				p, err := constraints.NewProblem(tc.k, tc.m, tc.eps, tc.delta)
				if err != nil {
					t.Fatal(err)
				}
				table, err := solve.Optimal(t.Context(), p, solve.Options{PriorMean: tc.mu})
				if err != nil {
					t.Fatal(err)
				}
				if d := math.Abs(theirs - table.ExpectedError); !(d <= 1e-9) {
					t.Errorf("scipy's expected error is %.15g, ours %.15g: %g apart", theirs, table.ExpectedError,
						d)
				}
				if !math.IsNaN(tc.knownExpectedError) && !(math.Abs(theirs-tc.knownExpectedError) <= 1e-9) {
					t.Errorf("scipy's expected error is %.15g, must be %g", theirs, tc.knownExpectedError)
				}
			})
	}
}

// allAtOnce runs the script for each of its arguments, which are the script's, in one process: scipy takes
// longer to import than these cases take to solve.
const allAtOnce = `
import runpy, sys
for args in sys.argv[1:]:
    sys.argv = ["scipy_darrm.py", *args.split()]
    runpy.run_path("scipy_darrm.py", run_name="__main__")
`

var scipyCases = []struct {
	k                  int
	m, eps, delta, mu  float64
	knownExpectedError float64 // NaN where only the two are compared
}{
	{5, 2, 0.1, 1e-5, 0.75, math.NaN()},
	{5, 2, 0.1, 0, 0.75, math.NaN()},
	{5, 1.5, 0.5, 1e-3, 0.85, math.NaN()},
	{6, 2, 0.1, 1e-5, 0.75, math.NaN()}, // a tie, l = 3, plays no part
	{5, 3, 0.1, 0, 0.75, 0},             // m ≥ (K+1)/2 and Δ = 0: no noise is needed
}
