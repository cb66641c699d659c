package choose

import (
	"cmp"
	"context"
	"fmt"
	"math"

	"github.com/darrm/darrm/constraints"
	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/gamma"
	"github.com/darrm/darrm/gamma/solve"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/handle"
	"github.com/darrm/darrm/plan"
	"github.com/darrm/darrm/plurality"
	"github.com/darrm/darrm/plurality/answers"
	"github.com/darrm/darrm/release"
)

// Chooser is a request that was checked.
type Chooser struct {
	r           Request
	replaceable bool    // another mechanism may take the optimum's place
	given       *Choice // of a table
	promise     bool
	tableAlone  bool
}

// Choice is the mechanism of a release and the way it was chosen.
type Choice struct {
	release.Plan
	Noise   *gamma.Table     // of the optimal noise function; else nil
	Optimum *plurality.Table // of the optimum of many classes; else nil
	Answers *answers.Table   // for many answers; else nil
	Instead error            // why Plan is no optimum, where there should have been one
}

// Prepare checks all that does not depend on the votes, and reads the table if one was stated.
func Prepare(ctx context.Context, r Request) (*Chooser, error) {
	if err := cmp.Or(r.CheckThreshold(), r.checkMissing()); err != nil {
		return nil, err
	}
	if r.Missing && r.Mechanism == "" && r.ReadTable == nil {
		r.Mechanism = ensemble.Fallback // no table for one answer takes such votes
	}
	r.Solve.defaults()
	c := &Chooser{r: r, replaceable: r.Mechanism == "" && !r.Service}
	var err error
	if r.ReadTable != nil {
		err = c.useTable(ctx)
	} else if c.promise, err = c.r.validate(); err == nil && (c.r.Classes != 2 || c.r.mechanism().Table != ensemble.NoiseTable) {
		err = r.Many.checkUnused()
	}
	if err != nil {
		return nil, err
	}
	if r.Service {
		return c, c.checkService()
	}
	return c, nil
}

// checkService refuses statements that a service does not take.
func (c *Chooser) checkService() error {
	if c.r.Noise.OnInterrupt == Best {
		return usagef("%s %s is not for serve: a table that the clock made would be another after "+
			"the next start", pOnInterrupt, Best)
	}
	if c.r.K == 0 {
		return usagef("%s must be given, the number of teachers, or %s", pK, pTable)
	}
	return nil
}

// Promise reports whether the teachers are private themselves.
func (c *Chooser) Promise() bool { return handle.Made(c).promise }

// K returns the number of teachers, 0 where the votes determine it.
func (c *Chooser) K() int { return handle.Made(c).r.K }

// Stated returns the stated parameters and those that follow from them. The optimum of two classes
// presumes nothing of the teachers.
func (c *Chooser) Stated() ensemble.Stated { return handle.Deep(handle.Made(c).r.Stated) }

// TeachersOfTable reports whether the teachers' privacy is stated by the table alone.
func (c *Chooser) TeachersOfTable() bool { return handle.Made(c).tableAlone }

// useTable reads the table and compares it with what else is stated.
func (c *Chooser) useTable(ctx context.Context) error {
	r := &c.r
	d := r.mechanism()
	if r.Mechanism != "" && d.Table == ensemble.NoTable {
		return usagef("%s goes with %s %s, %s, %s or %s", pTable, pMechanism, ensemble.OptimalTeachers,
			ensemble.OptimalCounts, ensemble.TableOfAnswers, ensemble.LabelNoise)
	}
	for _, list := range [][]check.Parameter{ofNoise, ofOptimum} {
		if p, ok := r.first(list...); ok {
			return usagef("%s and %s exclude each other: the table is solved", p, pTable)
		}
	}
	if err := CheckTimeout(r.Timeout); err != nil {
		return err
	}
	table, err := r.ReadTable(ctx)
	if err != nil {
		return err
	}
	if err := r.Many.CheckTells(ctx, table.Answers, table.Gamma); err != nil {
		return err
	}
	g := &Choice{Noise: table.Gamma, Optimum: table.Plurality, Answers: table.Answers}
	if g.Plan, err = table.Plan(r.Neighbours); err != nil {
		return err
	}
	if name := g.Mechanism().Name(); r.Mechanism != "" && r.Mechanism != name {
		what := "one of " + name
		if name == ensemble.OtherTable {
			what = "not shown to be an optimum"
		}
		return usagef("%s %s, but %s is %s: leave %s out",
			pMechanism, r.Mechanism, r.TableName, what, pMechanism)
	}
	setting := g.Mechanism().Setting()
	several, err := r.Several.Of(r.K)
	if r.K != 0 && err != nil {
		return &release.UsageError{Err: fmt.Errorf("%s: %w", r.TableName, err)}
	}
	if r.K != 0 || r.Several.YesFrom == "" { // else how many of the votes are teachers' is known by Choose
		known := *r
		known.Several = several
		if err := known.takes(g.Mechanism()); err != nil {
			return err
		}
	}
	if r.K != 0 && several.Votes(r.K) != setting.K {
		return usagef("K = %d, but %s is for K = %d teachers", r.K, r.TableName, setting.K)
	}
	if r.Classes != setting.Classes {
		return usagef("%d classes, but %s is for %d: say %s or %s",
			r.Classes, r.TableName, setting.Classes, pClasses, pNumClasses)
	}
	if err := r.Many.checkTable(table.Answers, table.Gamma, r.names(), r.TableName); err != nil {
		return err
	}
	if r.Several.YesFrom == "" { // else it is for public votes too, of which it does not say how many
		r.K = setting.K
	}
	c.given, c.tableAlone, c.promise = g, !r.OfTeachers(), !math.IsInf(g.Mechanism().Teachers().Epsilon, 1)
	return nil
}

// takes refuses a given mechanism that is for other votes or other teachers than those stated.
func (r *Request) takes(m *ensemble.Mechanism) error {
	if err := r.Several.Fits(m.Setting().K); err != nil {
		return &release.UsageError{Err: fmt.Errorf("%s: %w", r.TableName, err)}
	}
	return release.Match(r.Stated, m.Problem(), r.TableName)
}

// Choose makes the mechanism for k teachers and the given number of classes. Where no table was stated it may
// solve: cost and errors are then those of Request.Solve.
func (c *Chooser) Choose(ctx context.Context, k, classes int) (Choice, error) {
	c, err := handle.Made(c).of(k)
	if err != nil {
		return Choice{}, err
	}
	d := c.r.mechanism()
	switch {
	case c.given != nil:
		if err := c.r.takes(c.given.Mechanism()); err != nil {
			return Choice{}, err
		}
		return *c.given, nil
	case d.Table == ensemble.PluralityTable:
		return c.optimum(ctx, k, classes)
	case !d.Teachers:
		plan, err := c.r.calibrated(d.Name, k, classes)
		return Choice{Plan: plan}, err
	case classes != 2:
		return Choice{}, usagef("number of classes = %d, but it must be 2 for DaRRM and its "+
			"baselines; see %s for others", classes, pMechanism)
	}
	p, err := c.r.Stated.Problem(k)
	if err != nil {
		return Choice{}, err
	}
	if d.Table != ensemble.NoiseTable {
		plan, err := release.Baseline(ctx, d.Name, p, c.r.Neighbours)
		return Choice{Plan: plan}, err
	}
	t, err := c.r.noise(ctx, p)
	if err == nil {
		err = c.r.Many.CheckTells(ctx, nil, t)
	}
	if err != nil {
		return Choice{}, err
	}
	plan, err := release.Table{Gamma: t}.Plan(c.r.Neighbours)
	return Choice{Plan: plan, Noise: t}, err
}

// of returns the request of k teachers.
func (c *Chooser) of(k int) (*Chooser, error) {
	r := c.r
	several, err := r.Several.Of(k)
	if err != nil {
		return nil, &release.UsageError{Err: err}
	}
	r.Several = several
	return &Chooser{r, c.replaceable, c.given, c.promise, c.tableAlone}, nil
}

// optimum makes the optimum of many classes. Where nobody named it and it takes more work than is counted
// for one, another keeps the same ε: by the size alone, so that it is the same mechanism whenever and
// wherever the release is made.
func (c *Chooser) optimum(ctx context.Context, k, classes int) (Choice, error) {
	var work int64
	if c.replaceable {
		work = plan.DefaultWork
	}
	p := c.r.plurality(k, classes)
	t, err := c.r.optimum(ctx, p, work)
	late := TooLong(err)
	switch {
	case plan.ByClock(err) != nil:
		return Choice{}, late
	case late != nil && c.r.Checkpoint:
		return Choice{}, check.Namedf("%w; %s does not take its place, since %s needs a table",
			late, ensemble.Fallback, pCheckpoint)
	case late != nil && c.replaceable && !p.Abstain:
		plan, err := c.r.calibrated(ensemble.Fallback, k, classes)
		if err != nil {
			return Choice{}, err
		}
		return Choice{Plan: plan, Instead: late}, nil
	case err != nil:
		return Choice{}, cmp.Or(late, err)
	}
	plan, err := release.Table{Plurality: t}.Plan(c.r.Neighbours)
	return Choice{Plan: plan, Optimum: t}, err
}

// noise returns the optimal noise function for p.
func (r *Request) noise(ctx context.Context, p constraints.Problem) (*gamma.Table, error) {
	o, err := r.Many.CompleteNoise(ctx, r.judged(), p.K, r.names(), r.Solve.Histogram)
	if err == nil && r.Several.YesFrom != "" {
		err = r.byYesFrom(&o, p.K)
	}
	if err != nil {
		return nil, err
	}
	return r.Solve.Noise(ctx, p, o)
}

// byYesFrom makes o the objective of labels that are yes from another number of teachers on than half.
func (r *Request) byYesFrom(o *solve.Options, votes int) error {
	n := r.judged()
	if agreement, err := n.ForAgreement(); err != nil || !agreement || n.LawOfCounts() != BinomialCounts {
		return cmp.Or(err, usagef("%s goes with %s %s by teachers who vote independently: leave %s and %s out", pYesFrom, pObjective,
			Agreement, pPrior, pPriorCounts))
	}
	losses, err := r.Many.Losses(r.names())
	if err != nil {
		return err
	}
	mean := 0.0
	if n.PriorMean != nil {
		mean = *n.PriorMean
	}
	return (&plan.Request{Stated: r.Stated, Losses: losses}).ByName(o, votes, mean)
}

// optimum returns the optimum of many classes for p.
func (r *Request) optimum(ctx context.Context, p plurality.Problem,
	work int64) (*plurality.Table, error) {
	o, err := r.Many.WithCounts(ctx, r.Noise.PriorCounts, p.K, p.Classes, r.Solve.Histograms)
	if err != nil {
		return nil, err
	}
	return r.Solve.Plurality(ctx, p, o, work)
}

// calibrated returns the mechanism of the name with just as much noise as the promise needs.
func (r *Request) calibrated(name string, k, classes int) (release.Plan, error) {
	m, err := ensemble.Calibrated(name, r.Setting(k, classes), r.PerAnswer(), r.Check())
	if err != nil {
		return release.Plan{}, err
	}
	return release.NewPlan(m)
}

// PriorOf returns the law of votes that the table is made to be best for, and plan.DefaultLaw without a
// table and for one that is made for the worst case. It is as public as the table. Where votes may be
// missing it is of full votes.
func PriorOf(t release.Table, k, classes int) (*plan.Law, error) {
	switch {
	case t.Answers != nil && t.Answers.Problem().Named:
		return plan.NamedPrior(k, classes, t.Answers.Prior.Objective, t.Answers.Prior.Shares)
	case t.Gamma != nil && t.Gamma.Shape == gamma.ByName:
		return plan.NamedOnes(t.Gamma.Counts)
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
