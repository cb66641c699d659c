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
	"github.com/darrm/darrm/internal/handle"
	"github.com/darrm/darrm/internal/num"
	"github.com/darrm/darrm/plurality"
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

	// Tables are compared besides the baselines, such as the optimal one for these teachers, and the one
	// for teachers that promise nothing.
	Tables []NamedTable

	// Check is of mechanisms that take one. Its Ratio defaults to CheckRatio.
	Check Check
	// Progress, unless nil, is called with the number of mechanisms that were scored.
	Progress func(done, of int)
}

// Comparison puts mechanisms that promise the same side by side. Its scores are computed
// from the raw votes and are not private.
type Comparison struct {
	Setting Setting
	Target  accountant.Cost
	Answers int // that Target is of, together; 1 of Compare
	Queries int
	// Several is of questions with several labels, of which Answers are so many labels, and of a stated YesFrom.
	Several Several
	// Classes are the names of the classes, for people. The caller sets them; nil for their numbers.
	Classes []string
	Plain   Score // the majority without noise, which is not private
	Always  Always
	// UpperBound is, for two classes, an agreement with these votes that no mechanism exceeds which
	// keeps the target, presumes nothing of the teachers, sees the counts alone and treats the classes
	// alike; else 1. One that favours a class may exceed it, where that class leads. See
	// [answers.Problem.LeadBound].
	UpperBound float64
	Rows       []ComparisonRow
}

// Always is to answer every query by one class, the one that agrees with these votes most often. It
// draws nothing. The choice of the class is not private.
type Always struct {
	Class int
	Score Score
}

// ComparisonRow is one mechanism.
type ComparisonRow struct {
	Name      string
	Title     string
	Mechanism *Mechanism // calibrated to the target, with what it assumes; nil if it does not apply
	Score     Score      // in expectation over the mechanism's noise
	Recall    []*float64 // of each class: how often it is the answer where it has the most votes; nil where it never has
	Refused   error      // why it does not apply; nil if it does
	Planned   *Planned   // what a plan says of it; nil in a comparison without a plan

	// AtVotes is, for GNMax, what answers to all queries cost together at these votes, at the
	// target's δ. It is computed from private votes and promises nothing; nil for others.
	AtVotes *DataDependent
}

// Planned holds the figures of a mechanism from the plan of a release within a budget.
type Planned struct {
	Total    accountant.Cost `json:"all_answers"`              // of all the answers together
	Expected float64         `json:"expected_agreement"`       // agreement by the plan's prior
	Worth    float64         `json:"expected_worth,omitempty"` // by the same prior: so many labels without noise tell a student as much; 0 for unknown
	Chosen   bool            `json:"chosen,omitempty"`         // it is the plan's first choice, which a release takes
}

// Ready is a mechanism that was made before, under the name of its row, or why there is none.
type Ready struct {
	Name      string
	Title     string // of the row; "" for the mechanism's own
	Mechanism *Mechanism
	Refused   error // nil if there is a Mechanism
	Planned   *Planned
}

// NamedTable is a certified table to compare: one of Noise and Plurality, or why there is none.
type NamedTable struct {
	Name      string
	Title     string // of its row; "" for the Name
	Noise     *gamma.Certified
	Plurality *plurality.Certified
	Refused   error
}

// contender is a mechanism to compare, under the name of its row.
type contender struct {
	name  string
	title string                     // the row's title; "" for the mechanism's own
	make  func() (*Mechanism, error) // the error says why it does not apply
	plan  *Planned
}

// Compare lists every mechanism for these votes at one promise: the given Tables, the
// baselines of package gamma, and the Mechanisms that are Calibrated, in this
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
		all = append(all, contender{name: t.Name, title: t.Title, make: func() (*Mechanism, error) {
			switch {
			case t.Refused != nil:
				return nil, t.Refused
			case t.Noise != nil:
				return o.noise(s, t.Noise)
			}
			return o.plurality(s, t.Plurality)
		}})
	}
	for _, d := range mechanisms { // of which nobody solved a table
		if s.Missing && d.Table != NoTable && !d.Missing {
			all = append(all, contender{name: d.Name, make: func() (*Mechanism, error) { return nil, ErrMissing }})
		}
	}
	all = append(all, o.baselines(ctx, s)...)
	for _, d := range mechanisms {
		if d.Calibrated() {
			all = append(all, contender{name: d.Name, make: func() (*Mechanism, error) {
				return Calibrated(d.Name, s, o.Target, o.Check)
			}})
		}
	}
	c := newComparison(b, s, o.Target, 1)
	if err := c.add(ctx, b, all, o.Progress); err != nil {
		return nil, err
	}
	for i, row := range c.Rows {
		if row.Mechanism == nil {
			continue
		}
		var err error
		if c.Rows[i].AtVotes, err = row.Mechanism.atVotes(b, o.Target.Delta); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// CompareTogether scores mechanisms that were made for a number of answers that cost no more than the
// budget together, as a plan makes them. Which of them is released must not follow from the scores:
// that would be a choice by private votes. Cost: the probabilities of each distinct vector of counts,
// once for each mechanism.
func CompareTogether(ctx context.Context, b *Ballots, s Setting, budget accountant.Cost, answers int,
	all []Ready) (*Comparison, error) {
	if b == nil {
		return nil, errors.New("ballots must be given: use NewBallots")
	}
	if err := cmp.Or(s.Validate(), checkTarget(s, budget),
		check.Whole("number of answers", answers, 1, accountant.MaxOptimalCount)); err != nil {
		return nil, err
	}
	contenders := make([]contender, len(all))
	for i, r := range all {
		if r.Refused == nil && r.Mechanism == nil {
			return nil, fmt.Errorf("%s: neither a mechanism nor why there is none", r.Name)
		}
		contenders[i] = contender{r.Name, r.Title, func() (*Mechanism, error) {
			if r.Refused != nil {
				return nil, r.Refused
			}
			return handle.Copy(r.Mechanism), nil // its row has another title
		}, r.Planned}
	}
	c := newComparison(b, s, budget, answers)
	return c, c.add(ctx, b, contenders, nil)
}

func newComparison(b *Ballots, s Setting, target accountant.Cost, answers int) *Comparison {
	return &Comparison{Setting: s, Target: target, Answers: answers, Queries: b.Len(),
		Plain: b.score(plainMajority), Always: b.always(), UpperBound: b.upperBound(target, answers, s.Affected)}
}

// add scores each mechanism, and reports how many of them are.
func (c *Comparison) add(ctx context.Context, b *Ballots, all []contender, progress func(done, of int)) error {
	for i, x := range all {
		if err := ctx.Err(); err != nil {
			return err
		}
		row, err := x.row(b)
		if err != nil {
			return err
		}
		c.Rows = append(c.Rows, row)
		if progress != nil {
			progress(i+1, len(all))
		}
	}
	return nil
}

// AlwaysNote says that always one class agrees more often than any labels that could be had.
func AlwaysNote(class string, agreement float64) string {
	return fmt.Sprintf("Always answering %s agrees in %s: these labels tell less than that.", class,
		num.Percent(agreement))
}

// Worth returns how many labels without noise carry as much as all the labels of the row would, by these
// votes: Labels.
func (c *Comparison) Worth(r ComparisonRow) float64 { return c.worth(r.Score) }

func (c *Comparison) worth(s Score) float64 {
	c = handle.Made(c)
	return s.Worth(max(c.Setting.Classes, 1), c.Labels())
}

// Labels returns the number of labels that Worth is of: those that the Answers are, or one for each query where
// labels are priced one by one.
func (c *Comparison) Labels() int {
	switch c = handle.Made(c); {
	case c.Answers > 1 && c.Several.Labels > 0:
		return c.Answers / c.Several.PerQuestion(c.Setting.Affected) * c.Several.Labels
	case c.Answers > 1:
		return c.Answers
	}
	return c.Queries
}

// Tells reports whether some mechanism agrees with the votes at least as often as always one class.
func (c *Comparison) Tells() bool {
	c = handle.Made(c)
	return c.Queries == 0 || slices.ContainsFunc(c.Rows, func(r ComparisonRow) bool {
		return r.Refused == nil && r.Score.Agreement >= c.Always.Score.Agreement
	})
}

// Bound returns UpperBound where it is of the row: the mechanism presumes nothing of the teachers and treats the
// classes alike. It
// returns 1 for all others, which may agree more often.
func (c *Comparison) Bound(r ComparisonRow) float64 {
	if r.Mechanism == nil || r.Mechanism.Named() {
		return 1
	}
	if _, ok := r.Mechanism.Noise(); !ok {
		return 1
	}
	return c.UpperBound
}

// upperBound returns Comparison.UpperBound for a target of count answers, where one record reaches
// so many teachers. Shares of queries are rounded by 2⁻⁵³ of themselves, far less than what
// LeadBound adds.
func (b *Ballots) upperBound(target accountant.Cost, count, affected int) float64 {
	if b.classes != 2 || b.queries == 0 {
		return 1
	}
	p := answers.Problem{K: b.k, Classes: 2, Affected: affected, Answers: count, Epsilon: target.Epsilon,
		Delta: target.Delta}
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
func (x contender) row(b *Ballots) (ComparisonRow, error) {
	m, err := x.make()
	if err != nil {
		return ComparisonRow{Name: x.name, Title: cmp.Or(x.title, x.name), Refused: err}, nil
	}
	m.name, m.row = x.name, x.title
	row := ComparisonRow{Name: x.name, Title: m.Title(), Mechanism: m, Planned: x.plan}
	row.Score, row.Recall, err = m.evaluate(b)
	return row, err
}

func (o *CompareOptions) check(s Setting) error {
	if err := checkTarget(s, o.Target); err != nil {
		return err
	}
	if o.Teachers == (accountant.Cost{}) {
		return check.Want("teachers' cost", o.Teachers,
			"stated: (ε, Δ), or ε = +Inf for teachers that promise nothing")
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
		if t.Refused == nil && (t.Noise == nil || t.Noise.Problem().K < 1) &&
			(t.Plurality == nil || t.Plurality.Problem().K < 1) {
			return fmt.Errorf("table %q is not certified", t.Name)
		}
	}
	if o.Check.Ratio == 0 {
		o.Check.Ratio = CheckRatio
	}
	return nil
}

// noise returns DaRRM of a noise function, or why it does not apply.
func (o *CompareOptions) noise(s Setting, c *gamma.Certified) (*Mechanism, error) {
	p := c.Problem()
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
	return DaRRM(c, s.Neighbours)
}

// plurality returns the mechanism of a table, or why it does not apply.
func (o *CompareOptions) plurality(s Setting, c *plurality.Certified) (*Mechanism, error) {
	if err := s.noneMissing(); err != nil {
		return nil, err
	}
	p := c.Problem()
	switch {
	case p.K != s.K || p.Classes != s.Classes:
		return nil, fmt.Errorf("the table is for K = %d teachers and %d classes, not %d and %d", p.K,
			p.Classes, s.K, s.Classes)
	case p.Epsilon > o.Target.Epsilon || p.Delta > o.Target.Delta:
		return nil, fmt.Errorf("the table promises (%v, %g) only", p.Epsilon, p.Delta)
	case p.Affected < s.Affected:
		return nil, fmt.Errorf(
			"the table presumes that one record reaches at most %d of the teachers, not %d", p.Affected,
			s.Affected)
	}
	return Plurality(c, s.Neighbours)
}

func (s Setting) twoClasses() error {
	if s.Classes != 2 {
		return fmt.Errorf("it serves two classes, not %d", s.Classes)
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
		all = append(all, contender{name: kind.Name, make: func() (*Mechanism, error) {
			i := slices.IndexFunc(found, func(b gamma.Named) bool { return b.Name == kind.Name })
			if i < 0 {
				return nil, cmp.Or(refused, kind.Applies(p))
			}
			m, err := o.noise(s, found[i].Certified)
			if err == nil {
				m.figures = Figures{Drawn: found[i].Drawn}
			}
			return m, err
		}})
	}
	return all
}
