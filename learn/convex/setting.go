package convex

import (
	"cmp"
	"math"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/learn/data"
	"github.com/darrm/darrm/learn/geometry"
	"github.com/darrm/darrm/learn/loss"
	"github.com/darrm/darrm/learn/train"
)

// Setting holds the parameters of every method, for a generalised linear loss (loss.Linear).
type Setting = train.Setting[loss.Loss]

// task is a checked Setting for n records of dimension d.
type task struct {
	Setting
	link loss.Link // nil of a softmax
	n, d int
	// classes is the number of scores that a record has: K of a softmax, else 1.
	classes int
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
	t := task{Setting: s, n: n, d: d, classes: 1}
	linear, ok := s.Loss.(loss.Linear)
	if !ok {
		name := "none"
		if s.Loss != nil {
			name = s.Loss.Name()
		}
		return t, check.Want("task", name, "a generalised linear loss: one of a prediction and a response")
	}
	t.link = linear.Scalar()
	err := t.bounded(t.link.Lipschitz(m.within(s.Radius * model * (1 + 0x1p-50))))
	return t, err
}

// checkedScores is checked for losses of several scores too: softmax.
func checkedScores(s Setting, n, d int, model float64) (task, error) {
	several, ok := s.Loss.(loss.Softmax)
	if !ok {
		return checked(s, n, d, model)
	}
	t := task{Setting: s, n: n, d: d, classes: several.Classes()}
	if err := check.Whole("number of classes", t.classes, 3, loss.MaxClasses); err != nil {
		return t, err
	}
	err := t.bounded(math.Sqrt2 * (1 + 0x1p-50)) // ‖p - e_y‖ for probabilities p
	return t, err
}

// bounded checks what is stated, and sets the bounds on slopes and gradients of a loss whose slopes have
// the bound slope.
func (t *task) bounded(slope float64) error {
	s, n, d := t.Setting, t.n, t.d
	if err := cmp.Or(check.Whole("number of records", n, 1, 0), check.Whole("dimension", d, 1, 0),
		train.CheckScale("radius", s.Radius,
			": a public bound on the norm of a record's features; longer ones are shortened to it"),
		train.CheckScaleOr0("clip", s.Clip, "0")); err != nil {
		return err
	}
	t.slope = slope
	if s.Clip > 0 {
		t.slope = min(t.slope, s.Clip)
	}
	if math.IsInf(t.slope, 1) {
		return check.Wantf("clip", s.Clip, "above 0 for %s, whose slopes have no bound", s.Loss.Name())
	}
	t.norm = t.slope * s.Radius * (1 + 0x1p-50)
	return check.Target(s.Target.Epsilon, s.Target.Delta)
}

// replaced resolves the relation of methods for which records are replaced or blanked.
func (t *task) replaced() error {
	t.Neighbours = cmp.Or(t.Neighbours, accountant.ReplaceOne)
	if t.Neighbours != accountant.ReplaceOne && t.Neighbours != accountant.BlankOne {
		return check.Want("neighbours", t.Neighbours,
			"replace one record, or blank one: blocks of records are fixed by their number")
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

// checkBall checks the radius of W, a ball around 0, where 0 is no ball.
func checkBall(radius float64) error { return train.CheckScaleOr0("ball", radius, "0 for none") }

// theorem checks ε ≤ √ln(1/δ), without which the printed noise is not proved to be enough.
func (t *task) theorem() error {
	if limit := math.Sqrt(-math.Log(t.Target.Delta)); !(t.Target.Epsilon <= limit) {
		return check.SettledBy(check.Wantf("target epsilon", t.Target.Epsilon, "at most sqrt(ln(1/delta)) = %.4g for the printed noise: its theorem ends "+
			"there; calibrated noise goes on", limit), "noise=calibrated")
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

// takeIn does what take does, with ‖·‖_q for the norm of the features.
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
		a.Refused = check.Want("neighbours", t.Neighbours,
			"replace one record for a release: no ledger counts blanked records")
	}
	return a
}

// slack makes products of a few factors err to the private side.
const slack = train.Slack

// What every method has is package train's.
type (
	Method = train.Method // such as PhasedSGD
	Plan   = train.Plan
	Noise  = train.Noise

	samples = train.Samples
	normals = train.Normals
)

// The noises.
const (
	Calibrated = train.Calibrated
	Printed    = train.Printed
)

// compare fills in ε of the rows.
func compare(target accountant.Cost, rows []train.PriceRow) (_ []train.PriceRow, err error) {
	for i, r := range rows {
		multiplier := min(r.Deviation/r.Sensitivity*(1-slack), accountant.MaxNoise)
		if rows[i].Epsilon, err = accountant.GaussianEpsilon(multiplier, target.Delta); err != nil {
			return nil, err
		}
	}
	return rows, nil
}

// dense returns the training on dense records, which have responses, by that on sparse ones.
func (t *task) dense(sparse func(*data.Sparse) (train.Algorithm, error)) func(*data.Records) (
	train.Algorithm, error) {
	return func(r *data.Records) (train.Algorithm, error) {
		if err := train.CheckSize(cmp.Or(r, new(data.Records)), t.n, t.d); err != nil {
			return train.Algorithm{}, err
		}
		if r.Weights() != nil { // which sparse records do not have
			return train.Algorithm{}, data.ErrWeighted
		}
		if !r.HasResponses() { // which sparse records have
			if err := r.Check(t.Loss.Check); err != nil {
				return train.Algorithm{}, err
			}
		}
		return sparse(data.SparseOf(r))
	}
}

// takeSparse checks the records and shortens those whose features are longer than the radius
// in ‖·‖_q, each by itself.
func (t *task) takeSparse(r *data.Sparse, q float64) (*data.Sparse, error) {
	if err := train.CheckSize(cmp.Or(r, new(data.Sparse)), t.n, t.d); err != nil {
		return nil, err
	}
	if err := r.Check(t.Loss.Check); err != nil {
		return nil, err
	}
	return r.Scaled(func(values []float64) float64 {
		return geometry.Shortening(values, t.Radius, q)
	}), nil
}

// checkSet checks the set against the dimension.
func checkSet(s geometry.Set, d int) error {
	if s == nil {
		return check.Want("set", "none", "stated: the models are its points")
	}
	if s.Dim() != d {
		return check.Wantf("dimension of the set", s.Dim(), "that of the records, %d", d)
	}
	if s.Diameter() == 0 {
		return check.Want("diameter of the set", s.Diameter(), "above 0: one point needs no training")
	}
	return train.CheckScale("diameter of the set", s.Diameter())
}

// clampSlope returns a slope within ±bound, and 0 for NaN. Sensitivities rest on this, and on no
// property that a loss states.
func clampSlope(s, bound float64) float64 {
	if math.IsNaN(s) {
		return 0
	}
	return min(max(s, -bound), bound) // no branch by its sign, which no processor foresees
}
