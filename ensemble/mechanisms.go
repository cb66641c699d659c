package ensemble

import (
	"slices"
	"strings"

	"github.com/darrm/darrm/gamma"
)

const (
	// OptimalNoise is the Name of what DaRRM returns.
	OptimalNoise = "darrm"
	// OptimalPlurality is the Name of what Plurality returns.
	OptimalPlurality = "optimal"
	// OptimalAnswers is the Name of what ManyAnswers returns.
	OptimalAnswers = "many-answers"
	// Fallback is the Name of the mechanism that takes the optimal plurality's place where that is not
	// known in time: what PermuteAndFlip returns.
	Fallback = "permute-and-flip"

	gnMax, gnMaxRenyi, confidentGNMax, lnMax = "gnmax", "gnmax-renyi", "confident-gnmax", "lnmax"
)

// mechanisms is the one list of them, in the order in which they are shown. It is no registry:
// whoever could add a row from outside could have a ledger charged what he likes. A new mechanism
// is a file of its law and a row here.
var mechanisms = slices.Concat([]Description{
	{Name: OptimalNoise, Title: "DaRRM", Table: NoiseTable, Teachers: true},
	{Name: OptimalPlurality, Title: "optimal plurality", Table: PluralityTable},
	{Name: OptimalAnswers, Title: "best for many answers", Delta: true, Missing: true,
		Table: AnswersTable},
}, baselineRows(), []Description{
	{
		Name: gnMaxRenyi, Title: "GNMax", note: ", Rényi", Delta: true, Missing: true,
		calibrate: calibratedGNMax(Renyi),
		serves:    func(s Setting) bool { return !s.oneWay() }, guess: gaussianGuess,
	},
	{ // the smaller noise, where the exact law proves anything
		Name: gnMax, Title: "GNMax", note: ", exact", Delta: true, Missing: true,
		calibrate: calibratedGNMax(Exact),
		serves:    Setting.oneWay, guess: gaussianGuess,
	},
	{
		Name: confidentGNMax, Title: "Confident-GNMax", Delta: true, Check: true, Missing: true,
		calibrate: calibratedConfidentGNMax,
		guess:     gaussianGuess,
	},
	{Name: lnMax, Title: "LNMax", Missing: true, calibrate: pure(LNMax)},
	{Name: Fallback, Title: "permute-and-flip", Missing: true, calibrate: pure(PermuteAndFlip)},
})

// baselineRows are DaRRM with the noise functions of package gamma's table.
func baselineRows() (rows []Description) {
	for _, kind := range gamma.BaselineKinds() {
		rows = append(rows, Description{Name: baselineName(kind), Title: kind.Title, Teachers: true,
			baseline: &kind})
	}
	return rows
}

// baselineName is the name of a baseline as a mechanism: its title, such as
// "randomised-response-tight".
func baselineName(kind gamma.BaselineKind) string {
	return strings.NewReplacer(", ", "-", " ", "-").Replace(kind.Title)
}
