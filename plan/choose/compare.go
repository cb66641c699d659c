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
	"github.com/darrm/darrm/internal/handle"
	"github.com/darrm/darrm/plan"
	"github.com/darrm/darrm/release"
)

// Comparison is a request to put all mechanisms side by side, which was checked.
type Comparison struct{ r Request }

// NamedTable is a table of whoever compares, such as one of a mechanism of their own, with the name
// of its row.
type NamedTable struct {
	Name string
	release.Table
}

// errOnePrice is the reason why a table for many answers is in no comparison.
var errOnePrice = check.Namedf("the table is for many answers, which have one price together: a comparison is of mechanisms with "+
	"the same promise for one answer, or for all labels (%s)", pBudgetEpsilon)

// promiseOfTables takes the promise of one answer from the first of the tables, where neither is
// stated, and what is not stated of the teachers.
func (r *Request) promiseOfTables() error {
	if len(r.Tables) == 0 || r.Stated.M != nil || r.Stated.LabelEpsilon != nil {
		return nil
	}
	var epsilon, delta, teachers, teacherDelta float64
	var affected int
	switch t := r.Tables[0]; {
	case t.Gamma != nil:
		p := t.Gamma.Problem()
		epsilon, delta = p.Total()
		affected, teachers, teacherDelta = p.Affected, p.Epsilon, p.TeacherDelta
	case t.Plurality != nil:
		p := t.Plurality.Problem()
		epsilon, delta, affected, teachers = p.Epsilon, p.Delta, p.Affected, math.Inf(1)
	default:
		return usagef("%s is for many answers, which have one price together: it goes with %s and %s", t.Name,
			pBudgetEpsilon, pBudgetDelta)
	}
	r.Stated.LabelEpsilon = &epsilon
	r.Stated.Delta = cmp.Or(r.Stated.Delta, &delta)
	r.Stated.Affected = cmp.Or(r.Stated.Affected, &affected)
	if r.Stated.Epsilon == nil {
		r.Stated.Epsilon = &teachers
		r.Stated.TeacherDelta = cmp.Or(r.Stated.TeacherDelta, &teacherDelta)
	}
	return nil
}

// addTables adds the tables of whoever compares. Compare refuses those that promise too little, or
// that are for others, by name.
func (r *Request) addTables(o *ensemble.CompareOptions) {
	for _, t := range r.Tables {
		// their titles tell them apart
		named := ensemble.NamedTable{Name: ensemble.OtherTable, Title: ensemble.OtherTable + ", " + t.Name}
		switch {
		case t.Gamma != nil:
			named.Noise = t.Gamma.Certified
		case t.Plurality != nil:
			named.Plurality = t.Plurality.Certified
		default:
			named.Refused = errOnePrice
		}
		o.Tables = append(o.Tables, named)
	}
}

// PrepareComparison checks all that does not depend on the votes. Request.Mechanism and the table
// of a release are not looked at. Where Tables are given and no promise is stated, it is that of
// the first one.
func PrepareComparison(r Request) (*Comparison, error) {
	if p, ok := r.first(ofOptimum...); ok && r.Classes == 2 && r.Many.Abstain == nil {
		return nil, usagef("%s goes with more than two classes, or with %s", p, pAbstain)
	}
	if err := CheckWithin(r.SolveWithin); err != nil {
		return nil, err
	}
	if r.Classes != 2 || r.Missing || r.Many.Abstain != nil { // the optimum of two classes takes them
		if err := r.Many.checkUnused(); err != nil {
			return nil, err
		}
	}
	if r.Many.Gap != nil {
		if err := check.Within("gap", *r.Many.Gap); err != nil {
			return nil, err
		}
	}
	if err := r.promiseOfTables(); err != nil {
		return nil, err
	}
	r.Mechanism = ""
	r.Solve.defaults()
	c := &Comparison{r}
	return c, cmp.Or(c.r.checkMissing(), c.r.checkTeachers())
}

// Options solves for the optima and returns the options of a comparison on votes of k teachers. An
// optimum of many classes that is too large or takes too much work is among it, with the reason.
func (c *Comparison) Options(ctx context.Context, k int) (o ensemble.CompareOptions, err error) {
	c = handle.Made(c)
	r := c.r
	if r.Several, err = r.Several.Of(k); err != nil {
		return o, &release.UsageError{Err: err}
	}
	p, err := r.Stated.Problem(k)
	if err != nil {
		return o, err
	}
	epsilon, delta := p.Total()
	o = ensemble.CompareOptions{
		Target:   accountant.Cost{Epsilon: epsilon, Delta: delta},
		Teachers: accountant.Cost{Epsilon: p.Epsilon, Delta: p.TeacherDelta},
		Affected: p.Affected, Neighbours: r.Neighbours, Check: r.Check(),
	}
	r.addTables(&o)
	if r.Missing { // the comparison names the tables that it refuses
		return o, nil
	}
	if r.Classes == 2 {
		optimal, err := ensemble.OptimalTables(p, func(p constraints.Problem) (*gamma.Certified, error) {
			t, err := r.noise(ctx, p)
			if err != nil {
				return nil, err
			}
			return t.Certified, nil
		})
		if err != nil {
			return o, err
		}
		o.Tables = append(o.Tables, optimal...)
	}
	if r.Classes == 2 && r.Many.Abstain == nil {
		return o, nil
	}
	named := ensemble.NamedTable{Name: ensemble.OptimalCounts}
	many := r.plurality(k, r.Classes)
	many.Epsilon, many.Delta = epsilon, delta
	t, err := r.optimum(ctx, many, plan.DefaultWork)
	if late := plan.ByClock(err); late != nil {
		return o, late
	}
	if named.Refused = TooLong(err); named.Refused == nil {
		if err != nil {
			return o, err
		}
		named.Plurality = t.Certified
	}
	o.Tables = append(o.Tables, named)
	return o, nil
}
