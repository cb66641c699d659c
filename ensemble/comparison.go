package ensemble

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/constraints"
	"github.com/darrm/darrm/gamma"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/plurality/answers"
)

// CompareOptions hold the promise that all mechanisms of a comparison must keep, and the properties
// of the teachers.
type CompareOptions struct {
	Target accountant.Cost // of one answer: ε in (0, 700], δ in [0,1). Required.
	// of one teacher's vote: (ε, Δ), or ε = +Inf if they promise nothing. Required.
	Teachers   accountant.Cost
	Affected   int                 // t, as in Setting. Required.
	Neighbours accountant.Relation // of Target, Teachers and Affected. Required.

	// Tables are noise functions to compare besides the baselines, such as the optimal one
	// for these teachers, and the one for teachers that promise nothing.
	Tables []gamma.Named
	// Pluralities are tables for many classes, such as the optimal one.
	Pluralities []NamedPlurality

	// Check is of mechanisms that take one. Its Ratio defaults to CheckRatio.
	Check Check
}

// Comparison puts mechanisms that promise the same side by side. Its scores are computed
// from the raw votes and are not private.
type Comparison struct {
	Setting Setting
	Target  accountant.Cost
	Queries int
	Plain   Score // the majority without noise, which is not private
	// UpperBound is, for two classes, an agreement with these votes that no mechanism exceeds which
	// keeps the target, presumes nothing of the teachers, sees the counts alone and treats the classes
	// alike; else 1. One that favours a class may exceed it, where that class leads. See
	// [answers.Problem.LeadBound].
	UpperBound float64
	Rows       []ComparisonRow
}

// ComparisonRow is one mechanism.
type ComparisonRow struct {
	Name      string
	Title     string
	Mechanism *Mechanism // calibrated to the target, with what it assumes; nil if it does not apply
	Score     Score      // in expectation over the mechanism's noise
	Refused   error      // why it does not apply; nil if it does

	// AtVotes is, for GNMax, what answers to all queries cost together at these votes, at the
	// target's δ. It is computed from private votes and promises nothing; nil for others.
	AtVotes *DataDependent
}

// contender is a mechanism to compare, under the name and the title of its row.
type contender struct {
	name, title string
	note        string                     // behind the mechanism's own title
	make        func() (*Mechanism, error) // the error says why it does not apply
}

// Compare lists every mechanism for these votes at one promise: the given Tables and
// Pluralities, the baselines of package gamma, and the Mechanisms that are Calibrated, in this
// order. Those that do not apply to such votes, teachers or target have the reason.
//
// A table applies if it promises no more than the target, for teachers that are no better
// than these: a certificate for weaker teachers holds for stronger ones. The other
// mechanisms are given just as much noise as Affected needs.
//
// Cost: some certificates (see gamma.Baselines), the exact calibrations (up to seconds
// for ε below 0.01), and the probabilities of each distinct vector of counts once.
func Compare(ctx context.Context, b *Ballots, o CompareOptions) (*Comparison, error) {
	if b == nil {
		return nil, errors.New("ballots must be given: use NewBallots")
	}
	s := Setting{K: b.K(), Classes: b.Classes(), Affected: o.Affected, Neighbours: o.Neighbours,
		Missing: b.missing}
	if err := o.check(s); err != nil {
		return nil, err
	}
	var all []contender
	for _, t := range o.Tables {
		all = append(all, contender{t.Name, t.Title, "",
			func() (*Mechanism, error) { return o.table(s, t) }})
	}
	for _, t := range o.Pluralities {
		all = append(all, contender{t.Name, t.Title, "",
			func() (*Mechanism, error) { return o.plurality(s, t) }})
	}
	for _, d := range mechanisms { // of which nobody solved a table
		if s.Missing && d.Table != NoTable && !d.Missing {
			all = append(all, contender{d.Name, d.Title, "",
				func() (*Mechanism, error) { return nil, ErrMissing }})
		}
	}
	all = append(all, o.baselines(ctx, s)...)
	for _, d := range mechanisms {
		if d.Calibrated() {
			all = append(all, contender{d.Name, d.Title, d.note, func() (*Mechanism, error) {
				return Calibrated(d.Name, s, o.Target, o.Check)
			}})
		}
	}
	c := &Comparison{Setting: s, Target: o.Target, Queries: b.Len(), Plain: b.score(plainMajority),
		UpperBound: b.upperBound(o.Target)}
	for _, x := range all {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		row, err := x.row(b, o.Target.Delta)
		if err != nil {
			return nil, err
		}
		// of mechanisms of one title, such as two calibrations, the last says why neither applies
		if row.Refused != nil {
			c.Rows = slices.DeleteFunc(c.Rows, func(r ComparisonRow) bool {
				return r.Refused != nil && r.Title == row.Title && r.Refused.Error() == row.Refused.Error()
			})
		}
		c.Rows = append(c.Rows, row)
	}
	return c, nil
}

// upperBound returns Comparison.UpperBound for the target of one answer. Shares of queries are
// rounded by 2⁻⁵³ of themselves, far less than what LeadBound adds.
func (b *Ballots) upperBound(target accountant.Cost) float64 {
	if b.classes != 2 || b.queries == 0 {
		return 1
	}
	p := answers.Problem{K: b.k, Classes: 2, Answers: 1, Epsilon: target.Epsilon, Delta: target.Delta}
	return p.LeadBound(func(yield func(lead int, weight float64) bool) {
		for _, kind := range b.kinds {
			lead := max(kind.counts[0]-kind.counts[1], kind.counts[1]-kind.counts[0])
			if !yield(lead, float64(kind.queries)/float64(b.queries)) {
				return
			}
		}
	})
}

// row makes the mechanism and scores it.
func (x contender) row(b *Ballots, delta float64) (ComparisonRow, error) {
	m, err := x.make()
	if err != nil {
		return ComparisonRow{Name: x.name, Title: x.title, Refused: err}, nil
	}
	m.name = x.name
	row := ComparisonRow{Name: x.name, Title: m.title + x.note, Mechanism: m}
	if row.Score, err = m.Evaluate(b); err == nil {
		row.AtVotes, err = m.atVotes(b, delta)
	}
	return row, err
}

func (o *CompareOptions) check(s Setting) error {
	if err := checkTarget(s, o.Target); err != nil {
		return err
	}
	if o.Teachers == (accountant.Cost{}) {
		return &check.Error{Name: "teachers' cost", Value: o.Teachers,
			Rule: "stated: (ε, Δ), or ε = +Inf for teachers that promise nothing"}
	}
	if !math.IsInf(o.Teachers.Epsilon, 1) {
		if s.Missing {
			return errPrivateSilence
		}
		if err := check.TeacherEpsilon(o.Teachers.Epsilon); err != nil {
			return err
		}
	}
	if err := check.Delta("teacher delta", o.Teachers.Delta); err != nil {
		return err
	}
	for _, t := range o.Tables {
		if t.Certified == nil || t.Certified.Problem().K < 1 {
			return fmt.Errorf("table %q has no certified noise function", t.Name)
		}
	}
	for _, t := range o.Pluralities {
		if t.Refused == nil && t.Certified.Problem().K < 1 {
			return fmt.Errorf("table %q is not certified", t.Name)
		}
	}
	if o.Check.Ratio == 0 {
		o.Check.Ratio = CheckRatio
	}
	return nil
}

// table returns DaRRM of a noise function, or why it does not apply.
func (o *CompareOptions) table(s Setting, t gamma.Named) (*Mechanism, error) {
	p := t.Certified.Problem()
	eps, delta := p.Total()
	if err := cmp.Or(s.noneMissing(), s.twoClasses()); err != nil {
		return nil, err
	}
	switch {
	case p.K != s.K:
		return nil, fmt.Errorf("the table is for K = %d teachers, not %d", p.K, s.K)
	case eps > o.Target.Epsilon || delta > o.Target.Delta:
		return nil, fmt.Errorf("the table promises (%s, %g) only", p.TotalDecimal(), delta)
	case p.Affected < s.Affected:
		return nil, fmt.Errorf(
			"the table presumes that one record reaches at most %d of the teachers, not %d", p.Affected,
			s.Affected)
	case p.Epsilon < o.Teachers.Epsilon || !math.IsInf(p.Epsilon, 1) &&
		p.TeacherDelta < o.Teachers.Delta:
		return nil, fmt.Errorf("the table presumes teachers that are (%g, %g)-differentially private",
			p.Epsilon, p.TeacherDelta)
	}
	a, err := DaRRM(t.Certified, s.Neighbours)
	if err != nil {
		return nil, err
	}
	a.title = t.Title
	return a, nil
}

func (s Setting) twoClasses() error {
	if s.Classes != 2 {
		return fmt.Errorf("DaRRM serves two classes, not %d", s.Classes)
	}
	return nil
}

// baselines returns the baselines of the problem that the options state.
func (o *CompareOptions) baselines(ctx context.Context, s Setting) (all []contender) {
	p := constraints.Problem{
		K: s.K, TotalEpsilon: o.Target.Epsilon, Delta: o.Target.Delta, Affected: s.Affected,
		Epsilon: o.Teachers.Epsilon, TeacherDelta: o.Teachers.Delta,
	}
	refused := cmp.Or(s.noneMissing(), s.twoClasses())
	var found []gamma.Named
	if refused == nil {
		found, refused = gamma.Baselines(ctx, p)
	}
	for _, kind := range gamma.BaselineKinds() {
		all = append(all, contender{baselineName(kind), kind.Title, "", func() (*Mechanism, error) {
			i := slices.IndexFunc(found, func(b gamma.Named) bool { return b.Name == kind.Name })
			if i < 0 {
				return nil, cmp.Or(refused, kind.Applies(p))
			}
			return o.table(s, found[i])
		}})
	}
	return all
}
