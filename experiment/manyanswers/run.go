package manyanswers

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/experiment"
	"github.com/darrm/darrm/experiment/classes"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/plan"
	"github.com/darrm/darrm/plurality"
	"github.com/darrm/darrm/plurality/answers"
	"github.com/darrm/darrm/plurality/answers/solve"
	pluralitysolve "github.com/darrm/darrm/plurality/solve"
)

// parameters are the parameters of kind answers.
type parameters struct {
	Sets    []set    `json:"sets"`
	Budgets []budget `json:"budgets"`
	Gap     float64  `json:"gap"` // when a solve of one answer's optimum ends, of many classes
	// Glance are the sets of the small picture, at one ε of the budgets.
	Glance glance  `json:"glance"`
	Claims []claim `json:"claims,omitempty"`
}

type glance struct {
	Votes   []string `json:"votes"`
	Epsilon float64  `json:"eps"`
}

// set is votes, and how many of their kind are answered.
type set struct {
	Votes   string `json:"votes"` // a file of experiment/classes/votes
	Title   string `json:"title"`
	Classes int    `json:"classes"`
	Queries []int  `json:"queries"`
}

// budget is the (ε, δ) of all answers together.
type budget struct {
	Epsilon float64 `json:"eps"`
	Delta   float64 `json:"delta"`
}

const affected = 1 // every part of the data is one teacher's

func (p *parameters) Validate() error {
	names := make([]string, len(p.Sets))
	for i, s := range p.Sets {
		names[i] = s.Votes
	}
	err := cmp.Or(
		check.Some("sets and budgets", len(p.Sets), len(p.Budgets)),
		check.Each("votes", names, nil),
		check.Each("budgets", p.Budgets, func(_ string, b budget) error {
			return cmp.Or(check.UpTo("eps", b.Epsilon, check.MaxTotalEpsilon),
				check.Open("delta", b.Delta, 0, 1))
		}),
		check.Open("gap", p.Gap, 0, 1),
	)
	for _, s := range p.Sets {
		err = cmp.Or(err,
			check.Whole("classes", s.Classes, 2, check.MaxClasses),
			check.Some("queries", len(s.Queries)),
			check.Each("queries", s.Queries, check.WholeIn(1, answers.MaxAnswers)),
		)
	}
	err = cmp.Or(err, check.Each("votes of the glance", p.Glance.Votes, check.Among(names)),
		check.Among(p.epsilons())("eps of the glance", p.Glance.Epsilon))
	for _, c := range p.Claims {
		err = cmp.Or(err, c.validate(p))
	}
	return err
}

func (p *parameters) epsilons() (all []float64) {
	for _, b := range p.Budgets {
		all = append(all, b.Epsilon)
	}
	return all
}

// Steps: one for each budget and number of queries of each set.
func (p *parameters) Steps() int {
	n := 0
	for _, s := range p.Sets {
		n += len(p.Budgets) * len(s.Queries)
	}
	return n
}

// row is one mechanism.
type row struct {
	Mechanism string  `json:"mechanism"`
	Title     string  `json:"title"`  // with its parameters
	Agrees    float64 `json:"agrees"` // how often an answer has the most votes
	// Epsilon is the ε of all answers at the budget's δ, as a table's price has it, or as answers
	// of one query each compose.
	Epsilon, Delta float64
}

// outcome holds the results on a set at one budget, for one number of queries.
type outcome struct {
	K    int   `json:"k"`
	Rows []row `json:"rows"`
	// Bound is the largest share of answers that can agree, of any table of two classes for all
	// queries: 1 of more.
	Bound float64 `json:"bound"`
	// Refused is why the optimum of one answer is missing.
	Refused string `json:"refused,omitempty"`
}

// of returns the row of a mechanism, nil if there is none.
func (o outcome) of(mechanism string) *row {
	i := slices.IndexFunc(o.Rows, func(r row) bool { return r.Mechanism == mechanism })
	if i < 0 {
		return nil
	}
	return &o.Rows[i]
}

func (p *parameters) Run(r *experiment.Run) error {
	var found []point
	for _, s := range p.Sets {
		for _, b := range p.Budgets {
			for _, q := range s.Queries {
				o, err := experiment.Step(r, fmt.Sprintf("%s-eps-%g-q-%d", s.Votes, b.Epsilon, q),
					[]any{s.Votes, s.Classes, b, q, p.Gap}, func() (outcome, error) {
						return p.measure(r, s, b, q)
					})
				if err != nil {
					return err
				}
				found = append(found, point{s, b, q, o})
			}
		}
	}
	return p.report(r, found)
}

// point is an outcome, with its votes and its budget.
type point struct {
	set
	budget
	queries int
	outcome
}

// measure scores every mechanism. No mechanism sees the votes: the tables' priors are those that
// are presumed where none is stated.
func (p *parameters) measure(r *experiment.Run, s set, b budget, q int) (outcome, error) {
	counts, err := classes.Counts(r, s.Votes, s.Classes)
	if err != nil {
		return outcome{}, err
	}
	o := outcome{Bound: 1}
	for _, v := range counts[0] {
		o.K += v
	}
	if err := p.composed(r, &o, s, b, q, counts); err != nil {
		return outcome{}, err
	}
	return o, tables(r, &o, s, b, q, counts)
}

// composed adds mechanisms that answer each query by itself, as a plan chooses them.
func (p *parameters) composed(ctx context.Context, o *outcome, s set, b budget, q int,
	counts [][]int) error {
	law, err := plan.NewSample(o.K, s.Classes)
	if err != nil {
		return err
	}
	for _, v := range counts {
		if err := law.Add(v); err != nil {
			return err
		}
	}
	planned, err := plan.New(ctx, plan.Request{
		Stated: ensemble.Stated{K: o.K, Classes: s.Classes, Affected: new(affected), Neighbours: accountant.ReplaceOne},
		Budget: accountant.Cost{Epsilon: b.Epsilon, Delta: b.Delta}, Queries: q, Votes: law,
		SolvePlurality: func(ctx context.Context, of plurality.Problem, prior plurality.Objective,
			_ int64) (*plurality.Table, error) {
			return pluralitysolve.Optimal(ctx, of, prior,
				pluralitysolve.Options{Method: pluralitysolve.FirstOrder, Gap: p.Gap})
		},
		SolveAnswers: noTable})
	if err != nil {
		return err
	}
	names := map[string]string{gnmax: gnmax, flip: flip, ensemble.OptimalCounts: single}
	for _, c := range planned.Choices {
		if name := names[c.Name]; name != "" {
			o.Rows = append(o.Rows, row{name, c.Title(), c.Agreement.Expected, c.Total.Epsilon,
				c.Total.Delta})
		}
	}
	for _, f := range planned.Refused {
		if names[f.Name] == single {
			o.Refused = f.Err.Error()
		}
	}
	slices.SortFunc(o.Rows, func(x, y row) int { return cmp.Compare(x.Mechanism, y.Mechanism) })
	return nil
}

// noTable leaves tables for many answers out of a plan, which are made apart.
func noTable(_ context.Context, p answers.Problem, _ answers.Prior,
) (*answers.Table, error) {
	return nil, &plan.WorkError{Answers: p.Answers}
}

// tables adds tables that are priced for all answers together.
func tables(ctx context.Context, o *outcome, s set, b budget, q int, counts [][]int) error {
	problem := answers.Problem{K: o.K, Classes: s.Classes, Affected: affected, Answers: q,
		Epsilon: b.Epsilon, Delta: b.Delta}
	votes := answers.Prior{Objective: plurality.Objective{
		Counts: plurality.CountHistograms(counts, slices.Repeat([]float64{1}, len(counts)))}}
	solved := func(law answers.Name) (*answers.Table, error) {
		options := solve.Options{Law: law, Work: longEnough}
		if q >= coarseFrom {
			options.Price.Step = coarseStep
			options.Order = solve.DefaultOrder(problem)
		}
		t, err := solve.Best(ctx, problem, answers.DefaultPrior(problem), options)
		if err != nil {
			return nil, fmt.Errorf("%s at %g for %d queries: %w", s.Votes, b.Epsilon, q, err)
		}
		return t, nil
	}
	add := func(mechanism string, t *answers.Table) error {
		law := fmt.Sprintf("normal, σ = %.4g", t.Law.Sigma)
		switch t.Law.Name {
		case answers.NormalLaw:
		case answers.CoinsLaw, answers.OneLaw:
			law = string(t.Law.Name)
		default:
			law = fmt.Sprintf("%s, α = %g", t.Law.Name, t.Law.Order)
		}
		// The same table under the law of these very votes.
		t, err := answers.NewTable(ctx, t.Certified, votes, t.Law, nil)
		if err != nil {
			return err
		}
		o.Bound = min(o.Bound, t.UpperBound)
		o.Rows = append(o.Rows, row{mechanism, law, t.Value, b.Epsilon, t.Certificate().Delta})
		return nil
	}
	chosen, err := solved("") // by the prior, never by the votes
	if err != nil {
		return err
	}
	noise := chosen
	if chosen.Law.Name != answers.NormalLaw {
		if noise, err = solved(answers.NormalLaw); err != nil {
			return err
		}
	}
	if err := add(normal, noise); err != nil {
		return err
	}
	return add(best, chosen)
}

// longEnough is a limit that the convex program does not reach, so that its table is a function of
// the problem.
const longEnough = math.MaxInt64

// From so many queries on, tables are priced on a coarser lattice, which costs some 8 % of δ, and
// no order is searched for: that saves most of the time.
const (
	coarseFrom = 3000
	coarseStep = 1. / 5
)
