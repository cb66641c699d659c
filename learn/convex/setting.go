package convex

import (
	"fmt"
	"math"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/learn/data"
	"github.com/darrm/darrm/learn/loss"
	"github.com/darrm/darrm/learn/train"
)

// Method is a method with its parameters, such as PhasedSGD.
type Method interface {
	// Plan prices the method for n records of dimension d. The error names the parameter that
	// breaks a rule, or what the method cannot do.
	Plan(n, d int) (Plan, error)
}

// Setting holds the parameters of every method, for a generalised linear loss (loss.Linear).
type Setting = train.Setting[loss.Loss]

// task is a checked Setting for n records of dimension d.
type task struct {
	Setting
	link loss.Link
	n, d int
	// slope bounds |φ′|, and norm a gradient: slope·R, rounded up. The source writes L0 and
	// L0·R.
	slope, norm float64
}

// checked returns the task of a setting. The model stays within the norm model, which may be +Inf.
func checked(s Setting, n, d int, model float64) (task, error) {
	return checkedOn(Interval{}, s, n, d, model)
}

// checkedOn is checked for predictions in an interval.
func checkedOn(m Interval, s Setting, n, d int, model float64) (task, error) {
	t := task{Setting: s, n: n, d: d}
	linear, ok := s.Loss.(loss.Linear)
	if !ok {
		name := "none"
		if s.Loss != nil {
			name = s.Loss.Name()
		}
		return t, &check.Error{Name: "task", Value: name,
			Rule: "a generalised linear loss: one of a prediction and a response"}
	}
	t.link = linear.Scalar()
	if n < 1 {
		return t, &check.Error{Name: "number of records", Value: n, Rule: "at least 1"}
	}
	if d < 1 {
		return t, &check.Error{Name: "dimension", Value: d, Rule: "at least 1"}
	}
	if !train.InScale(s.Radius) {
		return t, &check.Error{Name: "radius", Value: s.Radius,
			Rule: train.ScaleRule +
				": a public bound on the norm of a record's features, to which longer ones are shortened"}
	}
	if s.Clip != 0 && !train.InScale(s.Clip) {
		return t, &check.Error{Name: "clip", Value: s.Clip, Rule: "0, or " + train.ScaleRule}
	}
	t.slope = t.link.Lipschitz(m.within(s.Radius * model * (1 + 0x1p-50)))
	if s.Clip > 0 {
		t.slope = min(t.slope, s.Clip)
	}
	if math.IsInf(t.slope, 1) {
		return t, &check.Error{Name: "clip", Value: s.Clip,
			Rule: fmt.Sprintf("above 0 for %s, whose slopes have no bound", t.link.Name())}
	}
	t.norm = t.slope * s.Radius * (1 + 0x1p-50)
	return t, check.Target(s.Target.Epsilon, s.Target.Delta)
}

// replaced resolves the relation of methods for which records are replaced or blanked.
func (t *task) replaced() error {
	if t.Neighbours == 0 {
		t.Neighbours = accountant.ReplaceOne
	}
	if t.Neighbours != accountant.ReplaceOne && t.Neighbours != accountant.BlankOne {
		return &check.Error{Name: "neighbours", Value: t.Neighbours,
			Rule: "replace one record, or blank one: blocks of records are fixed by their number"}
	}
	return nil
}

// gradients returns the number of gradients of a sum that a neighbour changes: 2 where a record is
// replaced, its own and the other's, and 1 where it is blanked.
func (t *task) gradients() float64 {
	if t.Neighbours == accountant.BlankOne {
		return 1
	}
	return 2
}

// checkBall checks the radius of W, a ball around 0; where it may be 0 that is no ball.
func checkBall(radius float64, required bool) error {
	if radius == 0 && !required {
		return nil
	}
	if !train.InScale(radius) {
		rule := train.ScaleRule
		if !required {
			rule = "0 for none, or " + rule
		}
		return &check.Error{Name: "ball", Value: radius, Rule: rule}
	}
	return nil
}

// theorem checks ε ≤ √ln(1/δ), without which the printed noise is not proved to be enough.
func (t *task) theorem() error {
	if limit := math.Sqrt(-math.Log(t.Target.Delta)); !(t.Target.Epsilon <= limit) {
		return check.SettledBy(&check.Error{Name: "target epsilon", Value: t.Target.Epsilon,
			Rule: fmt.Sprintf("at most sqrt(ln(1/delta)) = %.4g for the printed noise: its theorem ends "+
				"there; calibrated noise goes on", limit)}, "noise=calibrated")
	}
	return nil
}

// take checks the records and shortens the long ones.
func (t *task) take(r *data.Records, anyNumber bool) (*data.Records, error) {
	n := t.n
	if anyNumber && r != nil {
		n = r.Len()
	}
	if err := train.CheckRecords(r, n, t.d, t.Loss.Check); err != nil {
		return nil, err
	}
	return r.Shortened(t.Radius), nil
}

// takeIn is take for features that are measured in ‖·‖_q.
func (t *task) takeIn(r *data.Records, q float64) (*data.Records, error) {
	if err := train.CheckRecords(r, t.n, t.d, t.Loss.Check); err != nil {
		return nil, err
	}
	return train.Shortened(r, t.Radius, q), nil
}

// algorithm returns a method of this price, without its start.
func (t *task) algorithm(price train.Price, rounds int, digest [32]byte) train.Algorithm {
	a := train.Algorithm{Cost: price.Cost, Rounds: rounds, Digest: digest}
	if t.Neighbours == accountant.BlankOne {
		a.Refused = &check.Error{Name: "neighbours", Value: t.Neighbours,
			Rule: "replace one record for a release: no ledger counts blanked records"}
	}
	return a
}

// samples are the records of a run; tests count what is read.
type samples interface {
	Row(i int) []float64
	Response(i int) float64
}

// slack makes products of a few factors err to the private side.
const slack = train.Slack

// normals is the source of a run's noise; tests fix it.
type normals interface {
	Restart(purpose string, round int)
	Fill(z []float64)
}
