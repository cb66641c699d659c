package sweep

import (
	"context"
	"fmt"

	"github.com/darrm/darrm/cache"
	"github.com/darrm/darrm/plurality"
	"github.com/darrm/darrm/plurality/solve"
)

// ClassGrid is every combination of its values for the plurality of many classes, the last list
// varying fastest.
type ClassGrid struct {
	Classes      []int
	K            []int
	TotalEpsilon []float64
	Affected     []int   // [All] for every teacher
	Delta        float64 // of every problem, and so
	Abstain      bool
}

// className names a problem of a ClassGrid as its flags do.
func className(p plurality.Problem) string {
	return fmt.Sprintf("classes = %d, K = %d, label-eps = %v, affected = %d", p.Classes, p.K,
		p.Epsilon, p.Affected)
}

// Problems returns the grid's problems in order, each once however often it is named, and what is
// wrong with the combinations that are no problem: a *constraints.ParameterError behind the
// combination's name. The error is a *[SizeError].
func (g ClassGrid) Problems() (valid []plurality.Problem, invalid []error, err error) {
	if err := checkSize(axis{"classes", len(g.Classes)}, axis{"K", len(g.K)},
		axis{"label-eps", len(g.TotalEpsilon)}, axis{"affected", len(g.Affected)}); err != nil {
		return nil, nil, err
	}
	seen := map[plurality.Problem]bool{}
	p := plurality.Problem{Delta: g.Delta, Abstain: g.Abstain}
	for _, p.Classes = range g.Classes {
		for _, p.K = range g.K {
			for _, p.Epsilon = range g.TotalEpsilon {
				for _, p.Affected = range g.Affected {
					if p.Affected == All {
						p.Affected = p.K
					}
					if err := p.Validate(); err != nil {
						invalid = append(invalid, fmt.Errorf("%s: %w", className(p), err))
					} else if !seen[p] {
						seen[p] = true
						valid = append(valid, p)
					}
				}
			}
		}
	}
	return valid, invalid, nil
}

// ClassOptions configure the solves of a ClassGrid's problems. Its fields are those of Options.
type ClassOptions struct {
	Solve solve.Options // but for Progress and Workers: jobs fill the cores

	Objective func(plurality.Problem) plurality.Objective

	Store    *cache.Store
	Jobs     int
	Each     func(i int, t *plurality.Table) error
	Progress func(done int)
}

// CheckJobs checks Jobs. The error is a *constraints.ParameterError.
func (o ClassOptions) CheckJobs() error { return checkJobs(o.Jobs) }

// RunClasses is Run for the plurality of many classes.
func RunClasses(ctx context.Context, problems []plurality.Problem, o ClassOptions) (Result, error) {
	if err := o.CheckJobs(); err != nil {
		return Result{}, err
	}
	r := run{points: len(problems), stored: o.Store != nil, progress: o.Progress}
	o.Solve.Workers = 1
	if o.Progress != nil {
		o.Solve.Progress = func(solve.Progress) { o.Progress(r.done()) }
	}
	r.solve = func(ctx context.Context, i int) (outcome, error) {
		s, err := solve.Cached(ctx, o.Store, problems[i], o.Objective(problems[i]), o.Solve)
		return hand(o.Each, i, s.Table, err, outcome{cached: s.Cached, path: s.Path,
			rejected: s.Rejected})
	}
	r.name = func(i int) string { return className(problems[i]) }
	return r.all(ctx, o.Jobs)
}
