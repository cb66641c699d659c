package choose

import (
	"cmp"
	"context"
	"math"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/constraints"
	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/gamma"
	"github.com/darrm/darrm/internal/check"
)

// Comparison is a request to put all mechanisms side by side, which was checked.
type Comparison struct{ r Request }

// PrepareComparison checks all that does not depend on the votes. Request.Mechanism and the table
// are not looked at.
func PrepareComparison(r Request) (*Comparison, error) {
	if p, ok := r.first(ofOptimum...); ok && r.Classes == 2 && r.Many.Abstain == nil {
		return nil, usagef("%s goes with more than two classes, or with %s", p, pAbstain)
	}
	if err := CheckWithin(r.within()); err != nil {
		return nil, err
	}
	if r.Many.Gap != nil {
		if err := check.Within("gap", *r.Many.Gap); err != nil {
			return nil, err
		}
	}
	// What serves more than two classes presumes nothing of the teachers.
	if (r.Classes > 2 || r.Missing) && r.Stated.LabelEpsilon != nil && r.Stated.Epsilon == nil {
		nothing := math.Inf(1)
		r.Stated.Epsilon = &nothing
	}
	r.Mechanism = ""
	r.Solve.defaults()
	return &Comparison{r}, cmp.Or(r.checkMissing(), r.checkTeachers())
}

// Options solves for the optima and returns what is to be compared, on votes of k teachers. An
// optimum of many classes that is not known in time is among it, with the reason.
func (c *Comparison) Options(ctx context.Context, k int) (o ensemble.CompareOptions, err error) {
	r := &c.r
	p, err := r.Stated.Problem(k)
	if err != nil {
		return o, err
	}
	epsilon, delta := p.Total()
	o = ensemble.CompareOptions{
		Target:   accountant.Cost{Epsilon: epsilon, Delta: delta},
		Teachers: accountant.Cost{Epsilon: p.Epsilon, Delta: p.TeacherDelta},
		Affected: p.Affected, Neighbours: r.Neighbours, Check: r.check(),
	}
	if r.Missing { // the comparison names the tables that it refuses
		return o, nil
	}
	if r.Classes == 2 {
		o.Tables, err = ensemble.OptimalTables(p, func(p constraints.Problem) (*gamma.Certified, error) {
			t, err := r.noise(ctx, p)
			if err != nil {
				return nil, err
			}
			return t.Certified, nil
		})
		if err != nil {
			return o, err
		}
	}
	if r.Classes == 2 && r.Many.Abstain == nil {
		return o, nil
	}
	named := ensemble.NamedPlurality{Name: ensemble.OptimalPlurality, Title: "optimal plurality"}
	many := r.plurality(k, r.Classes)
	many.Epsilon, many.Delta = epsilon, delta
	t, err := r.optimum(ctx, many, r.within())
	if named.Refused = TooLong(err); named.Refused == nil {
		if err != nil {
			return o, err
		}
		named.Certified = t.Certified
	}
	o.Pluralities = append(o.Pluralities, named)
	return o, nil
}
