package classes

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/experiment"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/plurality"
	"github.com/darrm/darrm/plurality/solve"
)

// parameters are the parameters of kind classes.
type parameters struct {
	Sets    []set   `json:"sets"`
	Delta   float64 `json:"delta"`             // of the mechanisms that need one; the others have 0
	Gap     float64 `json:"gap"`               // when a solve ends
	Queries int     `json:"queries,omitempty"` // the first so many of each set; 0 is all
	// Concentration of the shares that classes have of a query's votes (plurality.Objective): a prior
	// too.
	Concentration float64 `json:"concentration"`
	Claims        []claim `json:"claims,omitempty"`
}

// set is votes, and at which promises they are answered.
type set struct {
	Votes      string    `json:"votes"` // a file of folder votes
	Title      string    `json:"title"`
	Classes    int       `json:"classes"`
	Epsilons   []float64 `json:"eps"`
	Accuracies []float64 `json:"accuracies"` // priors μ; the picture shows the first
	// votes of other data that may be public: a prior too
	Public string `json:"public,omitempty"`
	// votes on the same queries of groups of these teachers, a set at the same ε
	Grouped string `json:"grouped,omitempty"`
}

const (
	affected = 1 // every part of the data is one teacher's
	public   = "public counts"
	uneven   = "uneven shares"
	own      = "these votes"
)

func (p *parameters) Validate() error {
	names := make([]string, len(p.Sets))
	for i, s := range p.Sets {
		names[i] = s.Votes
	}
	err := cmp.Or(
		check.Some("sets", len(p.Sets)),
		check.Each("votes", names, nil),
		check.Open("delta", p.Delta, 0, 1),
		check.Open("gap", p.Gap, 0, 1),
		check.Whole("queries", p.Queries, 0, 1<<20),
		plurality.CheckConcentration(p.Concentration),
	)
	for _, s := range p.Sets {
		err = cmp.Or(err,
			check.Whole("classes", s.Classes, 3, check.MaxClasses),
			check.Some("eps and accuracies", len(s.Epsilons), len(s.Accuracies)),
			check.Each("eps", s.Epsilons, check.AtMost(check.MaxTotalEpsilon)),
			check.Each("accuracies", s.Accuracies, check.OpenIn(1/float64(s.Classes), 1)),
		)
		if s.Grouped != "" && err == nil {
			if err = check.Among(names)("grouped", s.Grouped); err == nil {
				err = check.Each("eps of grouped teachers", s.Epsilons,
					check.Among(p.Sets[slices.Index(names, s.Grouped)].Epsilons))
			}
		}
	}
	for _, c := range p.Claims {
		err = cmp.Or(err, c.validate(p.Sets))
	}
	return err
}

// priors names those for which the set has an optimum.
func (s set) priors() []string {
	all := []string{uneven}
	for _, mu := range s.Accuracies {
		all = append(all, prior(mu))
	}
	if s.Public != "" {
		all = append(all, public)
	}
	return all
}

// Steps: one for each promise of each set.
func (p *parameters) Steps() int {
	n := 0
	for _, s := range p.Sets {
		n += len(s.Epsilons)
	}
	return n
}

// measured is a mean over queries with its 95 % interval.
type measured struct{ Mean, Low, High float64 }

// row is one mechanism on one set at one promise.
type row struct {
	Mechanism string   `json:"mechanism"`
	Prior     string   `json:"prior,omitempty"`
	Agrees    measured `json:"agrees"` // the answer has the most votes
	Right     measured `json:"right"`
	Abstains  float64  `json:"abstains"`
	Bound     float64  `json:"bound"` // U under the table's prior, 0 without a table
	Gap       float64  `json:"gap"`   // by which the table may miss the optimum
	// OverAgrees and OverRight are by how much it exceeds permute-and-flip, on the same queries.
	OverAgrees measured `json:"over_agrees"`
	OverRight  measured `json:"over_right"`
	// FlipEpsilon is at which ε permute-and-flip agrees as often, of an optimum.
	FlipEpsilon float64 `json:"flip_eps"`
}

// outcome holds the results on a set at one promise.
type outcome struct {
	K       int    `json:"k"`
	Queries int    `json:"queries"`
	Rows    []row  `json:"rows"`
	Refused string `json:"refused,omitempty"` // why there is no table
}

// of returns the row of a mechanism, of the prior if one is given. It is nil if there is none.
func (o outcome) of(mechanism, prior string) *row {
	for i := range o.Rows {
		if r := &o.Rows[i]; r.Mechanism == mechanism && (prior == "" || r.Prior == prior) {
			return r
		}
	}
	return nil
}

func (p *parameters) Run(r *experiment.Run) error {
	found := make([][]outcome, len(p.Sets))
	for i, s := range p.Sets {
		for _, eps := range s.Epsilons {
			o, err := experiment.Step(r, fmt.Sprintf("%s-eps-%g", s.Votes, eps),
				[]any{s, eps, p.Delta, p.Gap, p.Queries, p.Concentration}, func() (outcome, error) {
					return p.measure(r, s, eps)
				})
			if err != nil {
				return err
			}
			found[i] = append(found[i], o)
		}
	}
	return p.report(r, found)
}

// measure scores every mechanism.
func (p *parameters) measure(r *experiment.Run, s set, eps float64) (outcome, error) {
	b, err := open(r, s.Votes, s.Classes, p.Queries)
	if err != nil {
		return outcome{}, err
	}
	m := &measurement{parameters: p, run: r, set: s, votes: b,
		outcome: outcome{K: b.k, Queries: b.len()}}
	m.setting = ensemble.Setting{K: b.k, Classes: b.classes, Affected: affected,
		Neighbours: accountant.ReplaceOne}
	for _, name := range calibrated {
		mechanism, err := ensemble.Calibrated(name, m.setting,
			accountant.Cost{Epsilon: eps, Delta: p.Delta}, ensemble.Check{Ratio: 4})
		if err != nil {
			return outcome{}, fmt.Errorf("%s: %w", name, err)
		}
		if err := m.add(row{Mechanism: name}, mechanism); err != nil {
			return outcome{}, err
		}
	}
	if err := m.add(row{Mechanism: plain}, nil); err != nil {
		return outcome{}, err
	}
	problem := plurality.Problem{K: b.k, Classes: b.classes, Epsilon: eps, Affected: affected}
	var size *plurality.SizeError
	if err := problem.Validate(); errors.As(err, &size) {
		m.outcome.Refused = err.Error()
		return m.outcome, nil
	}
	for _, mu := range s.Accuracies {
		if err := m.solve(row{Mechanism: optimum, Prior: prior(mu)}, problem,
			plurality.Objective{Accuracy: mu}); err != nil {
			return outcome{}, err
		}
	}
	if err := m.solve(row{Mechanism: optimum, Prior: uneven}, problem,
		plurality.Objective{Concentration: p.Concentration}); err != nil {
		return outcome{}, err
	}
	if s.Public != "" {
		other, err := open(r, s.Public, s.Classes, 0)
		if err != nil {
			return outcome{}, err
		}
		if err := m.solve(row{Mechanism: optimum, Prior: public}, problem, other.prior()); err != nil {
			return outcome{}, err
		}
	}
	err = m.solve(row{Mechanism: ceiling, Prior: own}, problem, b.prior())
	return m.outcome, err
}

func prior(mu float64) string { return fmt.Sprintf("μ = %g", mu) }

// measurement is a set at one promise, at work.
type measurement struct {
	*parameters
	run     *experiment.Run
	set     set
	votes   *ballots
	setting ensemble.Setting
	flip    scores // of permute-and-flip, the first that is added
	outcome outcome
}

// solve adds the optimum for an objective.
func (m *measurement) solve(x row, problem plurality.Problem, o plurality.Objective) error {
	table, err := solve.Optimal(m.run, problem, o,
		solve.Options{Method: solve.FirstOrder, Gap: m.Gap, Version: m.run.Version})
	if err != nil {
		return fmt.Errorf("%s, %s: %w", m.set.Votes, x.Prior, err)
	}
	mechanism, err := ensemble.Plurality(table.Certified, m.setting.Neighbours)
	if err != nil {
		return err
	}
	x.Bound, x.Gap = table.UpperBound, table.Gap
	return m.add(x, mechanism)
}

// add scores a mechanism; nil is the plurality without noise.
func (m *measurement) add(x row, mechanism *ensemble.Mechanism) error {
	s, err := m.votes.score(m.run, mechanism)
	if err != nil {
		return err
	}
	if m.flip.agrees == nil {
		m.flip = s
	}
	x.Agrees, x.Right, x.Abstains = level(s.agrees), level(s.right), stat.Mean(s.abstains, nil)
	x.OverAgrees, x.OverRight = measured(experiment.Paired(s.agrees, m.flip.agrees)),
		measured(experiment.Paired(s.right, m.flip.right))
	if x.Mechanism == optimum || x.Mechanism == ceiling {
		if x.FlipEpsilon, err = m.flipFor(x.Agrees.Mean, mechanism.PerAnswer().Epsilon); err != nil {
			return err
		}
	}
	m.outcome.Rows = append(m.outcome.Rows, x)
	return nil
}

// level is a mean with Wilson's interval, which is for other queries of the same kind.
func level(v []float64) measured {
	mean := stat.Mean(v, nil)
	i := ensemble.Wilson(mean, len(v))
	return measured{mean, i.Low, i.High}
}

// flipFor returns an ε at which permute-and-flip agrees just less often than that, to 1/1000 of it:
// its agreement grows with ε. It looks between a quarter and four times near.
func (m *measurement) flipFor(agrees, near float64) (float64, error) {
	low, high := near/4, 4*near
	for high/low > 1.001 {
		middle := low + (high-low)/2
		mechanism, err := ensemble.PermuteAndFlip(m.setting, middle)
		if err != nil {
			return 0, err
		}
		s, err := m.votes.score(m.run, mechanism)
		if err != nil {
			return 0, err
		}
		if stat.Mean(s.agrees, nil) < agrees {
			low = middle
		} else {
			high = middle
		}
	}
	return low, nil
}
