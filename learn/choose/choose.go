// Package choose takes a method for a training from what is public of it: the task, the number of
// records and features, the bound on a record's length, the neighbours and the set. No record is
// looked at, so the choice costs nothing and tells nothing.
//
// # Notation
//
//	n, d   Problem.Records, Dim      records and features, a constant one included
//	R      Problem.Radius(2)         bound on the ℓ2 norm of a record's features
package choose

import (
	"cmp"
	"fmt"
	"math"
	"strings"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/learn/convex"
	"github.com/darrm/darrm/learn/geometry"
	"github.com/darrm/darrm/learn/loss"
	"github.com/darrm/darrm/learn/train"
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
	return nil, check.Want("task", fmt.Sprintf("%q", task), "one of "+strings.Join(Tasks(), ", "))
}

// Problem describes a training by what is public: its task, sizes, bounds and target.
// It is immutable and safe for concurrent use, where Radius is.
type Problem struct {
	Task         string // one of Tasks
	Classes      int    // of several, else 0
	Records, Dim int
	// Radius bounds the ℓq norm of a record, a constant feature included; it is needed for q = 2, and for
	// the dual of the norm of Set.
	Radius     func(q float64) float64
	Set        geometry.Set // that the model is kept in; nil is for the choice
	Neighbours accountant.Relation
	Target     accountant.Cost
	// WeightBound is a public bound on the weight of a record; 0 is for records without weights.
	WeightBound float64
}

// Loss returns the loss of the task, of several classes of logistic a softmax.
func (p Problem) Loss() (loss.Loss, error) {
	if p.Classes > 2 && p.Task == "logistic" {
		return loss.NewSoftmax(p.Classes)
	}
	return Loss(p.Task)
}

// Choice is a method with its parameters.
type Choice struct {
	Name    string // of the method, for convex.New
	Options convex.Options
	Reason  string // a line for people
}

const (
	// A slope of 1 is an error of half the response's range, which counts no more where it is larger.
	linearClip = 1
	// usualRadius bounds records where nobody states a bound. Few rows have all columns at their ends, and noise
	// is for a row at the bound.
	usualRadius = 4
)

// Radius returns the bound on a record's ℓ2 norm that is taken, of the bound that the columns' rules add up to: 4
// at most (docs/training.md).
func Radius(bound float64) float64 { return min(bound, usualRadius) }

// CheckTarget refuses a target that no method keeps. δ = 0 is one: the noise of gradient descent and of the
// perturbations is normal, whose δ is above 0 at every ε, and the steps of Frank-Wolfe are composed at a δ.
func CheckTarget(t accountant.Cost) error {
	if t.Delta == 0 && t.Epsilon > 0 {
		return check.Want("target delta", t.Delta, "above 0: no method of training takes 0, since their "+
			"noise is normal; state a delta far below one over the number of records, such as 1e-6 for thousands")
	}
	return check.Target(t.Epsilon, t.Delta)
}

// Method chooses the method, without a price.
//
// A set with vertices is for Frank-Wolfe, and a ball of ℓp, p < 2, for its stochastic form. All else is for
// gradient descent on all records: on the tables that judge (docs/training.md) no other method is better for
// two classes, several or numbers.
func Method(p Problem) (Choice, error) {
	l, err := Loss(p.Task)
	if err != nil {
		return Choice{}, err
	}
	if err := CheckTarget(p.Target); err != nil {
		return Choice{}, err
	}
	var c Choice
	o := &c.Options
	o.Loss, o.Target, o.Neighbours, o.Set = l, p.Target, p.Neighbours, p.Set
	o.WeightBound = p.WeightBound
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
	o.Radius = p.Radius(2)
	if err := check.Positive("radius", o.Radius); err != nil {
		return Choice{}, err
	}
	if o.Loss, err = p.Loss(); err != nil {
		return Choice{}, err
	}
	if _, several := o.Loss.(loss.Softmax); several {
		c.Reason = fmt.Sprintf("one model of all %d classes is one release", p.Classes)
	} else if c.Reason = "its steps follow from public figures, and none is to be tuned"; p.Neighbours == accountant.AddOrRemoveOne {
		c.Reason = "it covers that a record is added or removed"
	}
	c.Name, o.Rate = "dp-sgd", 1
	o.Neighbours = cmp.Or(o.Neighbours, accountant.ReplaceOne)
	return c, nil
}

// NoiseToSignal returns how long normal noise of a training's cost is, in parts of the longest sum of gradients
// that its records have; 0 where nothing has a price. From 1 on a model is expected to be hardly better than a
// constant: at 1 a Forecast of two classes by made-up records, of which the best model has an accuracy of 0.75 to 0.9,
// is 0.52 to 0.58. Steps on all records have that noise, and no other method did better in the experiment
// choice-study. It follows from the price alone, so that it is public.
//
// n gradients of norm at most C add up to nC. One release of m times the sensitivity, C or 2C where a record is
// replaced, has noise of length √d·m·C or √d·2m·C in d dimensions. The steps of frank-wolfe and poly-sfw only compare
// the 2d vertices of an ℓ1 ball, of whose noise the largest is √(2·ln 2d) deviations.
func NoiseToSignal(p train.Price) float64 {
	m, err := train.NoiseFor(p.Cost)
	if err != nil || p.Records < 1 || p.Dim < 1 {
		return 0
	}
	length := math.Sqrt(float64(p.Dim))
	if p.Method == "frank-wolfe" || p.Method == "poly-sfw" {
		length = min(length, math.Sqrt(2*math.Log(2*float64(p.Dim))))
	}
	if p.Relation == accountant.ReplaceOne {
		length *= 2
	}
	return length * m / float64(p.Records)
}
