package choose

import (
	"github.com/darrm/darrm/plan"
	"github.com/darrm/darrm/plurality"
	"github.com/darrm/darrm/release"
)

// PriorOf returns the law of votes that the table is made to be best for, and plan.DefaultLaw without a
// table and for one that is made for the worst case. It is as public as the table. Where votes may be
// missing it is of full votes.
func PriorOf(t release.Table, k, classes int) (*plan.Law, error) {
	switch {
	case t.Answers != nil:
		return priorOf(t.Answers.Prior.Objective, k, classes)
	case t.Plurality != nil:
		return priorOf(t.Plurality.Objective, k, classes)
	case t.Gamma != nil && t.Gamma.Counts != nil:
		return plan.CountedOnes(t.Gamma.Counts)
	case t.Gamma != nil && t.Gamma.PriorMean != 0:
		return plan.Prior(k, classes, t.Gamma.PriorMean)
	}
	return plan.DefaultLaw(k, classes)
}

func priorOf(o plurality.Objective, k, classes int) (*plan.Law, error) {
	switch {
	case o.Counts != nil:
		return plan.Counted(k, classes, o.Counts)
	case o.Accuracy != 0:
		return plan.Prior(k, classes, o.Accuracy)
	case o.Concentration != 0:
		return plan.Uneven(k, classes, o.Concentration)
	}
	return plan.DefaultLaw(k, classes)
}
