package ensemble

import (
	"cmp"
	"context"
	"fmt"
	"math"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/constraints"
	"github.com/darrm/darrm/gamma"
	"github.com/darrm/darrm/internal/check"
)

// CompareOptions say what all mechanisms of a comparison must promise, and what is known
// of the teachers.
type CompareOptions struct {
	Target     accountant.Cost     // of one answer: ε in (0, 700], δ in [0,1). Required.
	Teachers   accountant.Cost     // of one teacher's vote: (ε, Δ), or ε = +Inf if they promise nothing. Required.
	Affected   int                 // t, as in Setting. Required.
	Neighbours accountant.Relation // of Target, Teachers and Affected. Required.

	// Tables are noise functions to compare besides the baselines, such as the optimal one
	// for these teachers, and the one for teachers that promise nothing.
	Tables []Candidate

	// Threshold and CheckRatio are Confident-GNMax's. They default to ⌈0.6·K⌉ votes and to
	// noise of the check four times that of the counts. They must not be chosen by the
	// votes.
	Threshold  int
	CheckRatio float64
}

// Candidate is a certified noise function under a name.
type Candidate struct {
	Name      string // for files
	Title     string // for people
	Certified *gamma.Certified
}

// Comparison puts mechanisms that promise the same side by side. Its scores are computed
// from the raw votes and are not private.
type Comparison struct {
	Setting Setting
	Target  accountant.Cost
	Queries int
	Plain   Score // the majority without noise, which is not private
	Rows    []ComparisonRow
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
	AtVotes *accountant.DataDependent
}

// Compare lists every mechanism for these votes at one promise: the given Tables, the
// baselines of package gamma, GNMax with Rényi and with exact calibration,
// Confident-GNMax, LNMax and permute-and-flip, in this order. Those that do not apply to
// such votes, teachers or target have the reason.
//
// A table applies if it promises no more than the target, for teachers that are no better
// than these: a certificate for weaker teachers holds for stronger ones. The other
// mechanisms are given just as much noise as Affected needs.
//
// Cost: some certificates (see gamma.Baselines), the exact calibrations (up to seconds
// for ε below 0.01), and the probabilities of each distinct vector of counts once.
func Compare(ctx context.Context, b *Ballots, o CompareOptions) (*Comparison, error) {
	s := Setting{K: b.K(), Classes: b.Classes(), Affected: o.Affected, Neighbours: o.Neighbours}
	if err := o.check(s); err != nil {
		return nil, err
	}
	c := &Comparison{Setting: s, Target: o.Target, Queries: b.Len(), Plain: b.score(plainMajority)}
	add := func(name, title string, a *Mechanism, refused error) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		row := ComparisonRow{Name: name, Title: title, Refused: refused}
		if refused == nil {
			var err error
			if row.Score, err = a.Evaluate(b); err != nil {
				return err
			}
			a.name = name
			row.Mechanism = a
			if a.gnmax != nil {
				cost, err := a.AtVotes(b, o.Target.Delta)
				if err != nil {
					return err
				}
				row.AtVotes = &cost
			}
		}
		c.Rows = append(c.Rows, row)
		return nil
	}
	for _, t := range o.Tables {
		a, refused := o.table(s, t)
		if err := add(t.Name, t.Title, a, refused); err != nil {
			return nil, err
		}
	}
	baselines, refused := o.baselines(ctx, s)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	for _, t := range baselines {
		a, reason := (*Mechanism)(nil), refused[t.Name]
		if reason == nil {
			a, reason = o.table(s, t)
		}
		if err := add(t.Name, t.Title, a, reason); err != nil {
			return nil, err
		}
	}
	for _, m := range o.countMechanisms(s) {
		a, reason := m.make()
		title := m.title
		if a != nil {
			title = a.title + m.note
		}
		if err := add(m.name, title, a, reason); err != nil {
			return nil, err
		}
	}
	return c, nil
}

func (o *CompareOptions) check(s Setting) error {
	if err := checkTarget(s, o.Target); err != nil {
		return err
	}
	if o.Teachers == (accountant.Cost{}) {
		return &check.Error{Name: "teachers' cost", Value: o.Teachers, Rule: "stated: (ε, Δ), or ε = +Inf for teachers that promise nothing"}
	}
	if !math.IsInf(o.Teachers.Epsilon, 1) {
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
	if o.Threshold == 0 {
		o.Threshold = (6*s.K + 9) / 10
	}
	if o.CheckRatio == 0 {
		o.CheckRatio = 4
	}
	return nil
}

// table returns DaRRM of a noise function, or why it does not apply.
func (o *CompareOptions) table(s Setting, t Candidate) (*Mechanism, error) {
	p := t.Certified.Problem()
	eps, delta := p.Total()
	switch {
	case s.Classes != 2:
		return nil, fmt.Errorf("DaRRM serves two classes, not %d", s.Classes)
	case p.K != s.K:
		return nil, fmt.Errorf("the table is for K = %d teachers, not %d", p.K, s.K)
	case eps > o.Target.Epsilon || delta > o.Target.Delta:
		return nil, fmt.Errorf("the table promises (%s, %g) only", p.TotalDecimal(), delta)
	case p.Affected < s.Affected:
		return nil, fmt.Errorf("the table presumes that one record reaches at most %d of the teachers, not %d", p.Affected, s.Affected)
	case p.Epsilon < o.Teachers.Epsilon || !math.IsInf(p.Epsilon, 1) && p.TeacherDelta < o.Teachers.Delta:
		return nil, fmt.Errorf("the table presumes teachers that are (%g, %g)-differentially private", p.Epsilon, p.TeacherDelta)
	}
	a, err := DaRRM(t.Certified, s.Neighbours)
	if err != nil {
		return nil, err
	}
	a.title = t.Title
	return a, nil
}

// baselines returns the baselines of the problem that the options state, each with its
// certificate or with a reason why there is none.
func (o *CompareOptions) baselines(ctx context.Context, s Setting) ([]Candidate, map[string]error) {
	p := constraints.Problem{
		K: s.K, TotalEpsilon: o.Target.Epsilon, Delta: o.Target.Delta, Affected: s.Affected,
		Epsilon: o.Teachers.Epsilon, TeacherDelta: o.Teachers.Delta,
	}
	var found []gamma.Baseline
	all := error(nil)
	if s.Classes != 2 {
		all = fmt.Errorf("DaRRM serves two classes, not %d", s.Classes)
	} else {
		found, all = gamma.Baselines(ctx, p)
	}
	var out []Candidate
	refused := map[string]error{}
	for _, kind := range gamma.BaselineKinds() {
		c := Candidate{Name: kind.Name, Title: kind.Title}
		for _, b := range found {
			if b.Name == kind.Name {
				c = Candidate(b)
			}
		}
		if c.Certified == nil {
			refused[c.Name] = cmp.Or(all, kind.Applies(p))
		}
		out = append(out, c)
	}
	return out, refused
}

// calibrated is a mechanism over counts whose noise is chosen for the target.
type calibrated struct {
	name, title, note string
	make              func() (*Mechanism, error)
}

func (o *CompareOptions) countMechanisms(s Setting) []calibrated {
	gnmax := func(how Calibration) func() (*Mechanism, error) {
		return func() (*Mechanism, error) {
			sigma, err := SigmaForGNMax(s, o.Target, how)
			if err != nil {
				return nil, err
			}
			return GNMax(s, o.Target, sigma)
		}
	}
	confident := func(how Calibration) (*Mechanism, error) {
		first, sigma, err := SigmasForConfidentGNMax(s, o.Target, how, o.CheckRatio)
		if err != nil {
			return nil, err
		}
		return ConfidentGNMax(s, o.Target, o.Threshold, first, sigma)
	}
	return []calibrated{
		{"gnmax_renyi", "GNMax", ", Rényi", gnmax(Renyi)},
		{"gnmax", "GNMax", ", exact", gnmax(Exact)},
		{"confident_gnmax", "Confident-GNMax", "", func() (*Mechanism, error) {
			a, err := confident(Exact)
			if a == nil { // beyond the range of the exact law
				a, err = confident(Renyi)
			}
			return a, err
		}},
		{"lnmax", "LNMax", "", func() (*Mechanism, error) { return LNMax(s, o.Target.Epsilon) }},
		{"permute_and_flip", "permute-and-flip", "", func() (*Mechanism, error) { return PermuteAndFlip(s, o.Target.Epsilon) }},
	}
}
