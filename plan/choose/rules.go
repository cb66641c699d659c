package choose

import (
	"cmp"
	"math"
	"strings"
	"time"

	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/internal/check"
)

// CheckNames lists the mechanisms that Threshold and CheckRatio go with.
func CheckNames() string {
	var names []string
	for _, d := range ensemble.Mechanisms() {
		if d.Check {
			names = append(names, d.Name)
		}
	}
	return strings.Join(names, ", ")
}

// CheckThreshold refuses a threshold, or its noise, of a mechanism that takes none.
func (r Request) CheckThreshold() error {
	if p, ok := r.first(ofCheck...); ok && !r.mechanism().Check {
		return usagef("%s goes with %s %s", p, pMechanism, CheckNames())
	}
	return nil
}

// validate checks the parameters of the mechanism before a large file is read. It sets the default
// mechanism where none is named. It reports whether the teachers promise any privacy.
func (r *Request) validate() (promise bool, err error) {
	byDefault := r.Mechanism == ""
	switch {
	case !byDefault:
	case r.Classes > 2:
		r.Mechanism = ensemble.OptimalCounts
	default:
		r.Mechanism = ensemble.OptimalTeachers
	}
	d := r.mechanism()
	if !byDefault && d.Table == ensemble.NoiseTable && r.PresumesNothing() {
		return false, usagef("%s %s rests on what the teachers promise, and with %s inf they promise "+
			"nothing: say %s %s, or leave it out", pMechanism, d.Name, pEpsilon, pMechanism,
			ensemble.OptimalCounts)
	}
	if d.Table == ensemble.AnswersTable || d.Table == ensemble.LabelTable {
		return false, usagef("%s %s needs a table, which is made for a number of answers and a budget: "+
			"give %s", pMechanism, d.Name, pTable)
	}
	if r.noVotes && !d.Teachers && (d.Table != ensemble.PluralityTable || r.Classes > 2) {
		if err := r.require(one(pK)); err != nil {
			return false, err
		}
	}
	switch {
	case d.Table == ensemble.PluralityTable:
		majority, err := r.checkOptimum()
		if err != nil || !majority {
			return false, err
		}
	default:
		if p, ok := r.first(ofOptimum...); ok {
			return false, usagef("%s goes with %s %s, not with %s of %d classes",
				p, pMechanism, ensemble.OptimalCounts, d.Name, r.Classes)
		}
		if !d.Teachers {
			return false, r.checkCounts()
		}
	}
	if err := r.checkTeachers(); err != nil {
		return false, err
	}
	if r.mechanism().Table != ensemble.NoiseTable {
		if err := r.solvesNothing(); err != nil {
			return false, err
		}
	}
	return !r.PresumesNothing(), nil
}

// needed are the parameters that a problem of two classes must have. Teachers that promise nothing
// have no Δ.
func (r *Request) needed() [][]check.Parameter {
	var groups [][]check.Parameter
	if r.noVotes {
		groups = append(groups, one(pK))
	}
	groups = append(groups, cost, one(pEpsilon))
	if !r.PresumesNothing() {
		groups = append(groups, one(pTeacherDelta))
	}
	return groups
}

// checkTeachers checks the teachers' promise for mechanisms that rest on it.
func (r *Request) checkTeachers() error {
	if r.Stated.LabelEpsilon != nil && r.Stated.Epsilon == nil && r.Stated.TeacherDelta == nil {
		nothing := math.Inf(1) // teachers promise nothing unless it is stated
		r.Stated.Epsilon = &nothing
	}
	if err := r.require(r.needed()...); err != nil {
		return err
	}
	affected := 0
	if r.Stated.Affected != nil {
		affected = *r.Stated.Affected
	}
	// The votes may determine the number of teachers.
	if _, err := r.Stated.Problem(max(1, r.K, affected)); err != nil {
		return err
	}
	if _, err := r.judged().Options(); err != nil {
		return err
	}
	return CheckTimeout(r.Timeout)
}

// checkMissing refuses what votes that may be missing do not go with, by name.
func (r *Request) checkMissing() error {
	if !r.Missing {
		return nil
	}
	switch {
	case r.Stated.Epsilon != nil && !r.PresumesNothing():
		return usagef("%s = %v goes without %s abstain: this promise need not cover whether a "+
			"teacher votes. %s coin states that it does", pEpsilon, *r.Stated.Epsilon, pMissing, pMissing)
	case r.Mechanism != "" && !r.mechanism().Missing:
		return usagef("%s %s does not go with %s abstain: %w; those that take missing votes "+
			"are %s", pMechanism, r.Mechanism, pMissing, ensemble.ErrMissing,
			strings.Join(ensemble.MissingNames(), ", "))
	}
	return nil
}

// CheckTimeout checks a limit of time, nil for none.
func CheckTimeout(d *time.Duration) error {
	if d != nil && *d <= 0 {
		return usagef("timeout = %v, but it must be > 0", *d)
	}
	return nil
}

// CheckWithin checks Request.SolveWithin, nil for none.
func CheckWithin(d *time.Duration) error {
	if d != nil && *d <= 0 {
		return usagef("solve-within = %v, but it must be > 0", *d)
	}
	return nil
}

// solvesNothing refuses what goes with the linear program where none is solved.
func (r *Request) solvesNothing(more ...check.Parameter) error {
	if p, ok := r.first(append(more, ofNoise...)...); ok {
		return usagef("%s goes with %s %s: %s uses nothing of it",
			p, pMechanism, ensemble.OptimalTeachers, r.Mechanism)
	}
	return nil
}

// checkCounts checks the parameters of a calibrated mechanism over vote counts.
func (r *Request) checkCounts() error {
	if err := r.require(one(pLabelEpsilon), reach); err != nil {
		return err
	}
	if err := r.solvesNothing(pM, pEpsilon, pTeacherDelta, pTimeout); err != nil {
		return err
	}
	if r.mechanism().Delta {
		return r.require(one(pDelta))
	}
	if delta := r.PerAnswer().Delta; delta != 0 {
		return usagef("delta = %v, but %s needs none: leave %s out", delta, r.Mechanism, pDelta)
	}
	return nil
}

// presumesCounts checks the teachers and the objective of the optimum of many classes, which presumes
// nothing of the teachers and is optimal for agreement.
func (r *Request) presumesCounts() error {
	if p, ok := r.first(ofMajority...); ok {
		return usagef("%s goes with two classes and %s %s; %s %s is told %s and %s (or %s)",
			p, pMechanism, ensemble.OptimalTeachers,
			pMechanism, ensemble.OptimalCounts, pLabelEpsilon, pAffected, pData)
	}
	if r.Stated.Epsilon != nil && !r.PresumesNothing() {
		return usagef("eps = %v, but %s %s presumes nothing of the teachers: leave %s out, or say "+
			"inf", *r.Stated.Epsilon, pMechanism, ensemble.OptimalCounts, pEpsilon)
	}
	if r.Noise.Objective == Source {
		return usagef("objective = %q, but %s %s is for %q",
			Source, pMechanism, ensemble.OptimalCounts, Agreement)
	}
	return r.require(one(pLabelEpsilon), reach)
}

// checkOptimum checks the parameters of the optimum of many classes. majority reports whether two classes
// make it the optimal noise function, which r then asks for.
func (r *Request) checkOptimum() (majority bool, err error) {
	if err := cmp.Or(r.presumesCounts(), CheckTimeout(r.Timeout)); err != nil {
		return false, err
	}
	if err := CheckWithin(r.SolveWithin); err != nil {
		return false, err
	}
	if r.Classes == 2 && r.Many.Abstain == nil {
		if r.Many.Gap != nil {
			return false, usagef("%s goes with more than two classes: of two the optimum is known "+
				"exactly", pGap)
		}
		if r.Many.Concentration != nil {
			return false, usagef("%s goes with more than two classes: for two say %s or %s",
				pConcentration, pAccuracy, pPriorCounts)
		}
		r.majority()
		return true, nil
	}
	t := max(1, r.Stated.Reach(1))
	p := r.plurality(t, r.Classes)
	p.Abstain = true // the larger problem, as far as the votes do not matter
	if err := p.Validate(); err != nil && TooLong(err) == nil {
		return false, err
	}
	if _, err := r.Many.Objective(r.Noise.PriorCounts, r.Classes); err != nil {
		return false, err
	}
	if r.Many.Gap != nil {
		return false, check.Within("gap", *r.Many.Gap)
	}
	return false, nil
}

// majority rewrites r to ask for the optimum of two classes: the noise function that agrees most
// often, for teachers that promise nothing. It gives the same answers, coin by coin.
func (r *Request) majority() {
	nothing := math.Inf(1)
	r.Mechanism, r.Stated.Epsilon = ensemble.OptimalTeachers, &nothing
	r.Noise.Objective, r.Noise.PriorMean = Agreement, r.Many.Accuracy
}
