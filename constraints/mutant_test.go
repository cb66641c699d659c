package constraints

import (
	"testing"

	"github.com/darrm/darrm/internal/testing/mutant"
)

// Changes that a draw found and no test noticed then, each with the test that must fail for it.
// Every day their places are looked for; if long they are planted.
func TestMutantsDie(t *testing.T) {
	mutant.AllDie(t, []mutant.Mutant{
		{Name: "the constraints of label 0 are forgotten", File: "sweep.go",
			Old: "if err != nil || alike(phi) {", New: "if true || err != nil || alike(phi) {",
			Killer: "TestBothLabelsAgainstBruteForce"},
		{Name: "a multiset of label 0 is named by its mirror image", File: "sweep.go",
			Old: "At: zero.At.mirrored(), Zero: true", New: "At: zero.At, Zero: true",
			Killer: "TestBothLabelsAgainstBruteForce"},
		{Name: "no teacher moves from (0,0) to (0,Δ)", File: "screen.go",
			Old: "move(Zeros, NearZeroDown, zero, zeros)", New: "",
			Killer: "TestSplitHasTheValueOfLinear"},
		{Name: "no teacher moves from (1,1) to (1,1-Δ)", File: "screen.go",
			Old: "move(Ones, NearOneUp, one, ones)", New: "", Killer: "TestSplitHasTheValueOfLinear"},
		{Name: "a dominated corner is searched", File: "sweep_macro.go", Old: "lows = lows[:1]",
			New: "lows = lows[1:]", Killer: "TestIncreasingNeedsNoLow"},
		{Name: "the first level rules out no macro multiset", File: "sweep_macro.go",
			Old:    "if sc.linear(n1)+slack < w.sh.threshold.get() {",
			New:    "if false && sc.linear(n1)+slack < w.sh.threshold.get() {",
			Killer: "TestSecondLevelIsSpared"},
		{Name: "the best of a family does not raise the threshold", File: "sweep_macro.go",
			Old: "w.sh.record(top)\nbends = 2", New: "bends = 2", Killer: "TestSecondLevelIsSpared"},
		{Name: "a chain begins with the slopes of another", File: "sweep_macro.go",
			Old: "if n3 == 0 { // nothing", New: "if false { // nothing", Killer: "TestFamilyFindsTheLargest"},
		{Name: "the roundings of an operator add nothing to a slope", File: "sweep_macro.go",
			Old: "return 0x1p-48 * most", New: "return 0 * most", Killer: "TestSlopesOfLaterFamilies"},
		{Name: "without Δ the threshold rules out nothing", File: "sweep_macro.go",
			Old: "if top < w.sh.threshold.get() {", New: "if false && top < w.sh.threshold.get() {",
			Killer: "TestSecondLevelIsSpared"},
		{Name: "the first level allows for errors that are none", File: "sweep_macro.go",
			Old: "float64(2*s.evalError)", New: "float64(2/s.evalError)",
			Killer: "TestSecondLevelIsSpared"},
		{Name: "what is flat has the value of no move", File: "sweep_macro.go",
			Old:    "values[n1], splits[n1] = bound, sc.split(n1)",
			New:    "values[n1], splits[n1] = w.unperturbed(u, v, n1), sc.split(n1)",
			Killer: "TestFlatIsAboveTheBestSplit"},
		{Name: "a bend that one step leads to is left out", File: "screen_local.go",
			Old: "low := n1 - z - 1; low >= 0", New: "low := n1 - z; low >= 0",
			Killer: "TestScreenIsAnUpperBound"},
		{Name: "of many teachers only neighbours are charged", File: "screen_local.go",
			Old:    "(nb.n - 1) / 2 * same",
			New:    "(nb.n - 1) / 4 * same",
			Killer: "TestScreenIsAnUpperBound"},
		{Name: "laws are cut later than need be", File: "error.go", Old: "float64(n-d)",
			New: "float64(n+d)", Killer: "TestTruncationLosesNoMoreThanItSays"},
		{Name: "a search takes the program's processors away", File: "sweep.go",
			Old: "min(n, runtime.GOMAXPROCS(0))", New: "min(n, runtime.GOMAXPROCS(1))",
			Killer: "TestSearchLeavesTheProcessors"},
	})
}
