package ensemble

import (
	"slices"

	"github.com/darrm/darrm/gamma"
)

const (
	// OptimalTeachers is the Name of DaRRM with the noise function that is optimal for teachers of a
	// stated promise.
	OptimalTeachers = "optimal-teachers"
	// OptimalCounts is the Name of the table of one answer that is optimal among mechanisms that see vote
	// counts alone, of teachers that promise nothing: of two classes DaRRM, of more a Plurality.
	OptimalCounts = "optimal-counts"
	// TableOfAnswers is the Name of what ManyAnswers returns.
	TableOfAnswers = "many-answers"
	// LabelNoise is the Name of what NoiseOfAnswers returns.
	LabelNoise = "gnmax-label"
	// OtherTable is the Name of a mechanism by a certified table without a proof of optimality,
	// such as one of the caller's own. It claims the least of all names.
	OtherTable = "table"
	// Fallback is the Name of the mechanism that takes the place of the optimal table of many classes
	// where that is not known in time: what PermuteAndFlip returns.
	Fallback = "permute-and-flip"

	gnMax, gnMaxRenyi, confidentGNMax, lnMax = "gnmax", "gnmax-renyi", "confident-gnmax", "lnmax"
)

// mechanisms is the one list of them, in the order in which they are shown. It is no registry:
// whoever could add a row from outside could have a ledger charged what he likes. A new mechanism
// is a file of its law and a row here.
var mechanisms = slices.Concat([]Description{
	{Name: OptimalTeachers, About: "DaRRM with the noise function that is optimal for private teachers",
		Table: NoiseTable, Teachers: true},
	{Name: OptimalCounts, About: "the optimum of one label by vote counts, of teachers that promise nothing",
		Table: PluralityTable},
	{Name: TableOfAnswers, About: "a table that is made and priced for many labels together",
		Delta: true, Missing: true, Table: AnswersTable},
}, baselineRows(), []Description{
	{Name: LabelNoise, About: "GNMax for many labels together, priced by the label alone",
		Delta: true, Missing: true, Table: LabelTable},
	{
		Name: gnMaxRenyi, About: "GNMax: normal noise on the counts, by its Rényi bound",
		Delta: true, Missing: true,
		calibrate: calibratedGNMax(Renyi),
		serves:    func(s Setting) bool { return !s.oneWay() }, guess: gaussianGuess,
	},
	{ // the smaller noise, where the exact law proves anything
		Name: gnMax, About: "GNMax: normal noise on the counts, by its exact law",
		Delta: true, Missing: true,
		calibrate: calibratedGNMax(Exact),
		serves:    Setting.oneWay, guess: gaussianGuess,
	},
	{
		Name: confidentGNMax, About: "GNMax, which answers only where a noisy check passes",
		Delta: true, Check: true, Missing: true,
		calibrate: calibratedConfidentGNMax,
		guess:     gaussianGuess,
	},
	{Name: lnMax, About: "LNMax: Laplace noise on the counts", Missing: true, calibrate: pure(LNMax)},
	{Name: Fallback, About: "coins in random order, better than the exponential mechanism",
		Missing: true, calibrate: pure(PermuteAndFlip)},
})

// baselineRows are DaRRM with the noise functions of package gamma's table.
func baselineRows() (rows []Description) {
	for _, kind := range gamma.BaselineKinds() {
		rows = append(rows, Description{Name: kind.Name, About: kind.About, Teachers: true,
			baseline: &kind})
	}
	return rows
}
