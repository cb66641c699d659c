// Package choose takes a method for a training from what is public of it: the task, the number of
// records and features, the bound on a record's length, the neighbours and the set. No record is
// looked at, so the choice costs nothing and tells nothing.
//
// # Notation
//
//	n, d   Problem.Records, Dim      records and features, a constant one included
//	R      Problem.Radius(2)         bound on the ℓ2 norm of a record's features
//	R∞     Problem.Radius(+Inf)      bound on the largest feature
//	L0     slope of the loss, its Lipschitz constant
//	σ      noise per coordinate on the mean gradient, of objective perturbation
package choose

import (
	"fmt"
	"math"
	"strings"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/learn/convex"
	"github.com/darrm/darrm/learn/geometry"
	"github.com/darrm/darrm/learn/loss"
)

// Tasks returns the names that a Problem takes: classes by probabilities, numbers, the order of two
// classes, classes by a margin.
func Tasks() []string { return []string{"logistic", "linear", "auc", "hinge"} }

// Loss returns the loss of a task. The order of two classes is that of a classifier's scores: at
// the same ε they put more pairs in order than the methods that learn from pairs
// (docs/training.md).
func Loss(task string) (loss.Loss, error) {
	switch task {
	case "logistic", "auc":
		return loss.Logistic{}, nil
	case "linear":
		return loss.LeastSquares{}, nil
	case "hinge":
		return loss.GLM[loss.Hinge]{}, nil
	}
	return nil, &check.Error{Name: "task", Value: fmt.Sprintf("%q", task),
		Rule: "one of " + strings.Join(Tasks(), ", ")}
}

// Problem describes a training by what is public: its task, sizes, bounds and target.
type Problem struct {
	Task         string // one of Tasks
	Records, Dim int
	// Radius bounds the ℓq norm of a record, a constant feature included; it is needed for q of 2 and
	// +Inf, and for the dual of the norm of Set.
	Radius     func(q float64) float64
	Set        geometry.Set // that the model is kept in; nil is for the choice
	Neighbours accountant.Relation
	Target     accountant.Cost
}

// Choice is a method with its parameters.
type Choice struct {
	Name    string // of the method, for convex.New
	Options convex.Options
	Set     string // Options.Set where it was chosen, as geometry.ParseSet reads it
	Reason  string // a line for people
}

const (
	// Scores of a class up to 10 in size are sure enough: the odds are 22,000 to 1.
	largestScore = 10
	// Predictions of a number in [-1,1] need no more than this.
	largestNumber = 5
	// A slope of 1 is an error of half the response's range, which counts no more where it is larger.
	linearClip = 1
	// Smoothing of the hinge: its corner is round within a margin of 1, as the hinge's own is.
	hingeSmoothing = 1
	// sparseFrom is the noise, in parts of what a single feature of a record adds to a gradient, from
	// which single features are lost in ℓ2. docs/convex.md has the figures behind it: with 100
	// features (0.06) both methods are alike, with 320 (0.2) Frank-Wolfe is five times nearer to the
	// optimum.
	sparseFrom = 0.1
	// Up to this many features both methods are alike, or objective perturbation is nearer.
	fewFeatures = 100
)

// Method chooses the method. Cost: that of pricing objective perturbation, below a millisecond.
//
// The order is: neighbours of which one has a record more are for DP-SGD alone; a set with vertices
// is for Frank-Wolfe, and a ball of ℓp, p < 2, for its stochastic form; else objective perturbation
// in an ℓ2 ball, unless classes are predicted, d is above 100 and d·σ above a tenth of L0·R. Then
// what a single one of d features adds to the mean gradient drowns in the noise, which in the ℓ1
// ball grows with the logarithm of d alone. Numbers stay in the ℓ2 ball: vertices of the ℓ1 ball
// that noise chose predict far outside of their range, worse than a constant, and a ball of ℓ2
// never did (bench/models, communities with all columns).
func Method(p Problem) (Choice, error) {
	l, err := Loss(p.Task)
	if err != nil {
		return Choice{}, err
	}
	var c Choice
	o := &c.Options
	o.Loss, o.Target, o.Neighbours, o.Set = l, p.Target, p.Neighbours, p.Set
	if p.Task == "linear" {
		o.Clip = linearClip
	}
	if p.Set != nil && p.Set.Norm() != 2 {
		o.Radius = p.Radius(geometry.Dual(p.Set.Norm()))
		if _, vertices := p.Set.(geometry.Polytope); vertices {
			c.Name, c.Reason = "frank-wolfe", "its steps go to vertices of the set"
		} else {
			c.Name, c.Reason = "nsfw", "it is for balls of lp"
		}
		return c, nil
	}
	if o.Radius = p.Radius(2); p.Set == nil {
		if err := c.keepIn("l2", p); err != nil {
			return Choice{}, err
		}
	}
	if p.Neighbours == accountant.AddOrRemoveOne {
		c.Name, c.Reason = "dp-sgd", "it alone covers that a record is added or removed"
		return c, nil
	}
	c.Name = "objective-perturbation"
	c.Reason = "it needs no tuning, and comes near to no privacy where records are many"
	if p.Task == "auc" {
		c.Reason = "a classifier's scores put more pairs in order than the methods of pairs do"
	}
	if p.Task == "hinge" {
		o.Smoothing = hingeSmoothing
	}
	if p.Set != nil || p.Dim <= fewFeatures || p.Task == "linear" {
		return c, nil
	}
	noise, err := c.noise(p)
	if err != nil || noise <= sparseFrom {
		return c, err
	}
	o.Radius, o.Smoothing = min(o.Radius, p.Radius(math.Inf(1))), 0
	if err := c.keepIn("l1", p); err != nil {
		return Choice{}, err
	}
	c.Name = "frank-wolfe"
	c.Reason = fmt.Sprintf("%d features are many for %d records: in l2 the noise would hide single "+
		"ones", p.Dim, p.Records)
	return c, nil
}

// keepIn sets the set to the ball of a norm whose models predict as large as the task needs.
func (c *Choice) keepIn(norm string, p Problem) error {
	if err := check.Positive("radius", c.Options.Radius); err != nil {
		return err
	}
	size := largestScore / c.Options.Radius
	if p.Task == "linear" {
		size = largestNumber / c.Options.Radius
	}
	c.Set = fmt.Sprintf("%s:%.3g", norm, size)
	var err error
	c.Options.Set, err = geometry.ParseSet(c.Set, p.Dim)
	return err
}

// noise returns d·σ/(L0·R).
func (c Choice) noise(p Problem) (float64, error) {
	method, err := convex.New(c.Name, c.Options)
	if err != nil {
		return 0, err
	}
	plan, err := method.Plan(p.Records, p.Dim)
	if err != nil {
		return 0, err
	}
	b := plan.Price.Blocks[0]
	// b.Sensitivity is 2·L0·R/n
	return float64(p.Dim) * b.Deviation / (b.Sensitivity * float64(p.Records) / 2), nil
}
