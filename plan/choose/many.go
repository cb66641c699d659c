package choose

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/darrm/darrm/constraints"
	"github.com/darrm/darrm/gamma"
	"github.com/darrm/darrm/gamma/solve"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/handle"
	"github.com/darrm/darrm/plan"
	"github.com/darrm/darrm/plurality"
	"github.com/darrm/darrm/plurality/answers"
	pluralitysolve "github.com/darrm/darrm/plurality/solve"
)

// Many holds the objective of the optimum of many classes. Noise.PriorCounts belongs to it too, and
// serves two classes as well.
type Many struct {
	// see plurality.Objective; one of the two
	Accuracy      *float64 `flag:"accuracy" help:"many classes, instead of $concentration: presume that each teacher, independently, is right with this probability, in (1/C,1), and otherwise votes for any other class"`
	Concentration *float64 `flag:"concentration" default:"1" help:"many classes: presume that classes have uneven shares of a query's votes, the more so the smaller this is, in (0,1e6] (for two classes the default is $accuracy 0.75). What is presumed decides what is useful, never what is private"`
	// what no class is worth as an answer; not stated, there is always a class
	Abstain *float64 `flag:"abstain" name:"value of abstaining" help:"many classes: the mechanism may also abstain, which is worth this in [0,1]; a plurality class is worth 1"`
	// see plan.Losses: how frequent the classes are, and what answers cost; "" for classes that are alike
	Shares string `flag:"shares" help:"how frequent the classes are, from public knowledge: \"no=0.95,yes=0.05\", or in their order \"0.95,0.05\"; of several labels the share of yes of each, \"cat=0.1,dog=0.4\". The table then favours the frequent classes, for labels that are used one by one"`
	Cost   string `flag:"cost" help:"cost of an answer where another class has the most votes, from public knowledge: \"no:yes=9,yes:no=1\" (answered:plurality; what is not listed costs 1), \"ordered\" (|i - j|) or \"balanced\" (1/share)"`
	// Labels are the names of a question's labels, nil where a question has one: shares may be stated of each.
	Labels []string
	// AcceptConstant pays for labels that tell no more than always the same answer.
	AcceptConstant bool `flag:"accept-constant" help:"pay even where a constant answer is as good as the table for $shares and $cost"`
	// within which of the optimum's value is enough
	Gap *float64 `flag:"gap" help:"many classes: stop once the value is proved to be this close to the optimum's"`
}

// Lossy reports whether shares or costs of the classes are stated.
func (m Many) Lossy() bool { return m.Shares != "" || m.Cost != "" }

// checkUnused refuses shares and costs that no table is solved for.
func (m Many) checkUnused() error {
	switch {
	case m.Shares != "":
		return usagef("%s goes with a budget of all labels (%s), or with the optimum of two classes", pShares, pBudgetEpsilon)
	case m.Cost != "":
		return usagef("%s goes with a budget of all labels (%s), or with the optimum of two classes", pCost, pBudgetEpsilon)
	}
	return nil
}

// CompleteNoise returns n's options for k teachers, with the counts and costs that are stated of two classes
// with these names; read reads a file of counts.
func (m Many) CompleteNoise(ctx context.Context, n Noise, k int, names []string, read ReadCounts) (o solve.Options, err error) {
	if !m.Lossy() {
		return n.Complete(ctx, k, read)
	}
	if n.Objective == "" && n.Prior == "" {
		n.Objective = Agreement
	}
	l, err := m.Losses(names)
	if err != nil {
		return o, err
	}
	if !l.Stated() { // costs that are all 1
		return n.Complete(ctx, k, read)
	}
	if agreement, err := n.ForAgreement(); err != nil || !agreement {
		return o, cmp.Or(err, usagef("objective = %q treats the labels alike: %s and %s go with %q", Source, pShares, pCost, Agreement))
	}
	if l.Shares != nil && n.LawOfCounts() != BinomialCounts {
		return o, usagef("%s has shares of its own, so leave %s out", pPriorCounts, pShares)
	}
	if o, err = n.Complete(ctx, k, read); err != nil {
		return o, err
	}
	switch o.Shape {
	case "", gamma.ByName:
		o.Shape = gamma.ByName
	default:
		return o, usagef("shape = %q treats the labels alike: leave it out beside %s and %s, or say %q", o.Shape, pShares, pCost, gamma.ByName)
	}
	return o, l.ByName(&o, k, meanOr0(n.PriorMean))
}

// Losses returns the stated shares and costs of classes with these names.
func (m Many) Losses(names []string) (l plan.Losses, err error) {
	yes, each, err := []float64(nil), false, error(nil)
	if len(m.Labels) > 0 {
		yes, each, err = ParseYes(m.Shares, names, m.Labels)
	}
	switch {
	case err != nil:
		return l, err
	case each && m.Cost == BalancedCosts:
		return l, usagef("cost = %q goes with shares of the classes, and not of each label", m.Cost)
	case each:
		l = plan.LabelShares(yes)
	default:
		if l.Shares, err = ParseShares(m.Shares, names); err != nil {
			return l, err
		}
	}
	l.Costs, err = ParseCosts(m.Cost, names, l.Shares)
	return l, err
}

// State sets the losses of a plan for classes with these names, or numbered ones, and its prior of votes: of this
// mean where it is not nil.
func (m Many) State(r *plan.Request, names []string, mean *float64) (err error) {
	r = handle.Made(r)
	if len(names) != r.Classes {
		names = Numbered(r.Classes)
	}
	if r.Losses, err = m.Losses(names); err != nil {
		return err
	}
	if r.Several.YesFrom != "" {
		r.Votes, err = plan.YesLaw(r.Several, meanOr0(mean), r.Losses)
		return err
	}
	if r.Losses.Stated() {
		r.Votes, err = plan.NamedLaw(r.K, r.Classes, meanOr0(mean), r.Losses.ClassShares())
		return err
	}
	r.Votes, err = Prior(r.K, r.Classes, mean)
	return err
}

// Prior returns the prior of votes of a plan: by a mean unless it is nil.
func Prior(k, classes int, mean *float64) (*plan.Law, error) {
	if mean != nil {
		return plan.Prior(k, classes, *mean)
	}
	return plan.DefaultLaw(k, classes)
}

// SolveNoise sets how the plan for r finds noise functions, by a solver: for agreement, since labels are meant for use,
// under a prior of this mean, and for its losses and its threshold.
func SolveNoise(r *plan.Request, mean *float64, by func(context.Context, constraints.Problem, solve.Options) (*gamma.Table, error)) {
	r = handle.Made(r)
	r.Solve = func(ctx context.Context, p constraints.Problem) (*gamma.Table, error) {
		o, err := Noise{Objective: Agreement, PriorMean: mean}.Complete(ctx, p.K, nil)
		if err == nil {
			err = r.ByName(&o, p.K, meanOr0(mean))
		}
		if err != nil {
			return nil, err
		}
		return by(ctx, p, o)
	}
}

func meanOr0(mean *float64) float64 {
	if mean == nil {
		return 0
	}
	return *mean
}

// checkTable refuses shares and costs, where they are stated beside a table, that the table is not for: they name
// the classes, and the table numbers them.
func (m Many) checkTable(t *answers.Table, noise *gamma.Table, names []string, table string) error {
	if !m.Lossy() {
		return nil
	}
	stated, err := m.Losses(names)
	if err != nil {
		return err
	}
	if noise != nil && noise.Shape == gamma.ByName {
		var o solve.Options
		agreement := [2]float64{1, 1}
		if err := stated.ByName(&o, noise.Problem().K, 0); err != nil {
			return err
		}
		if o.Counts != nil && !slices.Equal(o.Counts, noise.Counts) || stated.Costs != nil && cmp.Or(o.Costs, agreement) != cmp.Or(noise.Costs, agreement) {
			return usagef("stated are %s, but %s is for other public counts or costs: leave %s and %s out, or solve for them",
				stated.Text(names, m.Labels...), table, pShares, pCost)
		}
		return nil
	}
	if t == nil || !t.Problem().Named {
		return usagef("%s treats the classes alike: leave %s and %s out", table, pShares, pCost)
	}
	own := plan.LossesOf(t)
	if stated.Shares == nil && stated.Yes == nil {
		stated.Shares, stated.Yes = own.Shares, own.Yes
	}
	if stated.Costs == nil {
		stated.Costs = own.Costs
	}
	if !stated.Equal(own) {
		return usagef("stated are %s, but %s is for %s", stated.Text(names, m.Labels...), table, own.Text(names, m.Labels...))
	}
	return nil
}

// CheckTells refuses a table that tells classes apart and whose labels are worth no more than always the
// same answer: nothing should be spent on them. AcceptConstant accepts such a table. Tables that are nil, or treat
// the classes alike, are not judged. The error is a *release.UsageError.
func (m Many) CheckTells(ctx context.Context, t *answers.Table, noise *gamma.Table) error {
	if m.AcceptConstant {
		return nil
	}
	by, value := plan.ByClassOfNoise(noise)
	if t != nil && t.Problem().Named {
		var err error
		if by, err = t.ByClass(ctx); err != nil {
			return err
		}
		value = t.Value
	}
	if by.Recall == nil || by.Tells(value) {
		return nil
	}
	constant := fmt.Sprintf("the class number %d (from 0)", by.Constant)
	if by.Constant < 0 {
		constant = plan.EachLikelier
	}
	return usagef("always answering %s is as good as this table for the stated classes, to a "+
		"thousandth of what labels without noise would gain: its labels tell nothing: raise the budget, or state %s to pay for them", constant, pAcceptConstant)
}

// Objective returns what is stated, without the histograms where priorCounts names a file.
func (m Many) Objective(priorCounts string, classes int) (o plurality.Objective, err error) {
	switch {
	case priorCounts == UniformCounts || priorCounts == BinomialCounts:
		return o, usagef("prior-counts = %q goes with two classes: give a file of histograms, %s "+
			"or %s", priorCounts, pConcentration, pAccuracy)
	case priorCounts != "" && m.Accuracy != nil:
		return o, exclude(pAccuracy, pPriorCounts)
	case priorCounts != "" && m.Concentration != nil:
		return o, exclude(pConcentration, pPriorCounts)
	case m.Accuracy != nil && m.Concentration != nil:
		return o, exclude(pAccuracy, pConcentration)
	// Checked here, since a 0 that was stated would be none to plurality.
	case m.Accuracy != nil:
		o.Accuracy, err = *m.Accuracy, plurality.CheckAccuracy(*m.Accuracy, classes)
	case m.Concentration != nil:
		o.Concentration, err = *m.Concentration, plurality.CheckConcentration(*m.Concentration)
	case priorCounts == "":
		o = plurality.DefaultObjective(classes)
	}
	if err == nil && m.Abstain != nil {
		o.AbstainValue, err = *m.Abstain, plurality.CheckAbstainValue(*m.Abstain)
	}
	return o, err
}

func exclude(a, b check.Parameter) error { return usagef("%s and %s exclude each other", a, b) }

// WithCounts returns the objective for k teachers with the histograms of priorCounts, which read
// reads if that names a file.
func (m Many) WithCounts(
	ctx context.Context, priorCounts string, k, classes int, read ReadHistograms,
) (plurality.Objective, error) {
	o, err := m.Objective(priorCounts, classes)
	if err == nil && priorCounts != "" {
		o.Counts, err = read(ctx, priorCounts, k, classes)
	}
	return o, err
}

// TooLong returns the error that an optimal table is too large, or took too long, nil for other
// errors.
func TooLong(err error) error {
	var limit *pluralitysolve.LimitError
	var size *plurality.SizeError
	late := plan.ByClock(err)
	switch {
	case late != nil:
		return late
	case errors.As(err, &limit):
		return check.Namedf("%w; a table that was solved for apart may answer (%s)", limit, pTable)
	case errors.As(err, &size):
		return size
	}
	return nil
}
