package ensemble

import (
	"slices"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/gamma"
	"github.com/darrm/darrm/internal/check"
)

// Description is a row of the table of mechanisms: all that this module knows of one by its name.
// What makes it cannot be set from outside, and Calibrated takes names alone.
type Description struct {
	Name  string // its one name, for programs and people: words joined by hyphens
	About string // what it is, for people
	Table TableKind
	// it rests on what the teachers promise, and serves two classes: DaRRM and its baselines
	Teachers bool
	Delta    bool // it needs a δ above 0; others of those that are calibrated spend none
	Check    bool // it takes a Check, by which it may abstain
	Missing  bool // it takes a Setting in which votes may be missing

	// calibrate returns the mechanism over vote counts with just as much noise as the promise needs.
	// The Mechanism knows the rest: its rule draws and is scored by, its event is what an answer is
	// priced at, and its basis is the proof. nil of mechanisms that are made otherwise.
	calibrate func(Setting, accountant.Cost, Check) (*Mechanism, error)
	// whose noise function it is; nil of other mechanisms
	baseline *gamma.BaselineKind
	// nil for always: see Serves
	serves func(Setting) bool
	// see GuessEpsilon
	guess func(budget accountant.Cost, labels int, delta float64) (epsilon float64, err error)
}

// TableKind is the kind of certified table that a mechanism answers by.
type TableKind int

const (
	NoTable        TableKind = iota
	NoiseTable               // a gamma.Certified, which serves two classes
	PluralityTable           // a plurality.Certified
	AnswersTable             // an answers.Certified, of which all answers are priced together
	LabelTable               // a noisymax.Certified, likewise
)

// Mechanisms describes every mechanism there is, in the order in which they are shown.
func Mechanisms() []Description { return slices.Clone(mechanisms) }

// Describe returns the description of the mechanism of that name.
func Describe(name string) (d Description, ok bool) {
	i := slices.IndexFunc(mechanisms, func(d Description) bool { return d.Name == name })
	if i < 0 {
		return d, false
	}
	return mechanisms[i], true
}

// Calibrated reports whether the function of that name makes the mechanism: it looks at vote counts
// alone, presumes nothing of the teachers, and serves any number of classes.
func (d Description) Calibrated() bool { return d.calibrate != nil }

// Baseline returns the kind of noise function that the mechanism is DaRRM with, if it is a
// baseline.
func (d Description) Baseline() (kind gamma.BaselineKind, ok bool) {
	if d.baseline == nil {
		return kind, false
	}
	return *d.baseline, true
}

// Serves reports whether a plan of many labels should try the mechanism, one of those that are
// Calibrated: false where another is known to need less of the same noise.
func (d Description) Serves(s Setting) bool {
	return d.calibrate != nil && (d.serves == nil || d.serves(s))
}

// GuessEpsilon guesses the ε of each label, of this δ, where all labels together cost the budget. It
// is not ok where nothing better is known than that labels are (ε, δ)-DP. No promise rests on it.
func (d Description) GuessEpsilon(budget accountant.Cost, labels int,
	delta float64) (epsilon float64, ok bool) {
	if d.guess == nil {
		return 0, false
	}
	epsilon, err := d.guess(budget, labels, delta)
	return epsilon, err == nil && epsilon > 0
}

// MissingNames returns the names of the mechanisms that take votes that may be missing.
func MissingNames() (names []string) {
	for _, d := range mechanisms {
		if d.Missing {
			names = append(names, d.Name)
		}
	}
	return names
}

// Calibrated returns the mechanism of that name over vote counts, one whose Description is
// Calibrated, with just as much noise as the target needs. c is of those that take a Check.
func Calibrated(name string, s Setting, target accountant.Cost, c Check) (*Mechanism, error) {
	d, _ := Describe(name)
	if !d.Calibrated() {
		return nil, check.Want("mechanism", name, "one that is calibrated by its name")
	}
	if s.Missing && !d.Missing {
		return nil, ErrMissing
	}
	m, err := d.calibrate(s, target, c)
	if err != nil {
		return nil, err
	}
	m.name = name
	return m, nil
}

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
		serves:    func(s Setting) bool { return !s.oneWay() }, guess: accountant.GaussianShare,
	},
	{ // the smaller noise, where the exact law proves anything
		Name: gnMax, About: "GNMax: normal noise on the counts, by its exact law",
		Delta: true, Missing: true,
		calibrate: calibratedGNMax(Exact),
		serves:    Setting.oneWay, guess: accountant.GaussianShare,
	},
	{
		Name: confidentGNMax, About: "GNMax, which answers only where a noisy check passes",
		Delta: true, Check: true, Missing: true,
		calibrate: calibratedConfidentGNMax,
		guess:     accountant.GaussianShare,
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
