package pairwise

import (
	"cmp"
	"errors"
	"math"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/learn/data"
	"github.com/darrm/darrm/learn/loss"
	"github.com/darrm/darrm/learn/train"
)

// What every method has is package train's.
type (
	Method = train.Method // such as OnePass

	samples = train.Samples
	normals = train.Normals
)

// Setting holds the parameters of every method. The only neighbouring relation is ReplaceOne.
type Setting struct {
	Base
	// Ball is the radius of W, a ball around 0 that iterates are projected to; 0 is all of Rᵈ.
	Ball float64
}

// Base holds the parameters that methods of other kinds share.
type Base = train.Setting[loss.Pair]

// task is a checked Setting for n records of dimension d.
type task struct {
	Setting
	n, d   int
	slope  float64 // bounds |ℓ′|, rounded up; +Inf only without privacy
	lowest float64 // slopes are cut to [-slope, highest]
	high   float64
	norm   float64 // G = 2R·slope, rounded up
	smooth float64 // L, +Inf where ℓ has kinks
	// occurrence is c: an occurrence of a record in a run moves it by at most cGη, if another
	// record is there instead.
	occurrence float64
}

// basic checks what all methods need.
func (s Setting) basic(n, d int) (task, error) {
	t := task{Setting: s, n: n, d: d, slope: math.Inf(1), high: math.Inf(1)}
	if s.Loss.Link() == nil {
		return t, check.Want("pair loss", "none", "stated, such as logistic")
	}
	if n < 2 {
		return t, check.Want("number of records", n, "at least 2, so that there is a pair")
	}
	if err := cmp.Or(check.Whole("dimension", d, 1, 0), train.CheckScaleOr0("ball", s.Ball, "0"),
		train.CheckScaleOr0("radius", s.Radius, "0"), train.CheckScaleOr0("clip", s.Clip, "0")); err != nil {
		return t, err
	}
	if s.Clip > 0 {
		t.slope = s.Clip
	}
	t.bound()
	return t, nil
}

// bound sets the interval of slopes.
func (t *task) bound() {
	t.lowest, t.high = -t.slope, t.slope
	if t.Loss.Falling() {
		t.high = 0 // also against rounding: occurrence rests on it
	}
}

// private checks a setting for a private method whose iterates stay in W, or in all of Rᵈ
// where within is false.
//
// A record that is replaced comes into two gradients at each occurrence, as the current example
// and as the one before, and a gradient of norm at most G changes by at most 2G: c = 4. It is 2
//
//   - for Ordered: a positive example counts only as the current one, a negative only as the one
//     before. Of two records of one class one gradient changes, by at most 2G; of two classes
//     each has one gradient, of norm at most G.
//   - for ℓ′ in [-a, 0]: with the partner x′ fixed, all gradients ±ℓ′·(x-x′), 0 included, lie
//     within aR of ±ax′, since ‖a′x-a′x′+ax′‖ ≤ a′R+(a-a′)R for 0 ≤ a′ ≤ a; so each changes by
//     at most 2aR = G.
//
// A pair of a record with itself has no gradient.
func (s Setting) private(n, d int, within bool) (task, error) {
	t, err := s.basic(n, d)
	if err != nil {
		return t, err
	}
	if !(s.Radius > 0) {
		return t, check.Want("radius", s.Radius,
			"above 0: a public bound on the norm of a record's features; longer ones are shortened to it")
	}
	if !s.Loss.Convex() {
		return t, check.SettledBy(check.Want("pair loss", s.Loss.Name(),
			"convex for a private method: steps on others may drive runs apart"), "pair loss=logistic")
	}
	t.Neighbours = cmp.Or(t.Neighbours, accountant.ReplaceOne)
	if t.Neighbours != accountant.ReplaceOne {
		return t, check.Want("neighbours", t.Neighbours,
			"replace one record: blocks and pairs are fixed by the records' numbers")
	}
	if err := check.Target(s.Target.Epsilon, s.Target.Delta); err != nil {
		return t, err
	}
	model := math.Inf(1)
	if within && s.Ball > 0 {
		model = s.Ball
	}
	t.slope = min(t.slope, s.Loss.Slopes(2*s.Radius*model*(1+0x1p-50)))
	if math.IsInf(t.slope, 1) {
		return t, check.SettledBy(check.Wantf("clip", s.Clip,
			"above 0 for the %s loss here, whose slopes have no bound; or a ball for methods with steps",
			s.Loss.Name()), "clip", "ball")
	}
	t.bound()
	t.norm = t.slope * 2 * s.Radius * (1 + 0x1p-50)
	t.smooth = s.Loss.Smoothness(s.Radius)
	t.occurrence = 4
	if s.Loss.Falling() || s.Loss.Orientation() == loss.Ordered {
		t.occurrence = 2
	}
	return t, nil
}

// smoothLoss refuses a loss whose steps may drive runs apart.
func (t *task) smoothLoss() error {
	if math.IsInf(t.smooth, 1) {
		return check.Want("pair loss", t.Loss.Name(),
			"smooth for this method, whose steps must not drive runs apart: logistic or square, or "+
				"the method minimised")
	}
	return nil
}

// steps refuses an η whose first phase, of steps η/4, goes beyond 2/L, up to which steps are
// non-expansive.
func (t *task) steps(eta float64) error {
	if limit := 8 / t.smooth * (1 - train.Slack); !(eta >= train.LeastScale/train.LargestScale &&
		eta <= limit) {
		return check.Wantf("step size", eta,
			"above 0 and at most 8/L = %.6g: the steps of the first phase, a quarter of it, are expansive beyond 2/L",
			limit)
	}
	return nil
}

// take checks the records and shortens the long ones.
func (t *task) take(r *data.Records) (*data.Records, error) {
	if err := train.CheckRecords(r, t.n, t.d, func(_ []float64,
		y float64) error {
		return t.Loss.Check(y)
	}); err != nil {
		return nil, err
	}
	if t.Radius == 0 {
		return r, nil
	}
	return r.Shortened(t.Radius), nil
}

// coefficient returns the gradient of the pair of examples (x, y) and (x2, y2) at w, which is the
// coefficient times x - x2: ±ℓ′, with ℓ′ cut to its bounds.
func (t *task) coefficient(w, x []float64, y float64, x2 []float64, y2 float64) float64 {
	sign := t.Loss.Sign(y, y2)
	if sign == 0 {
		return 0
	}
	s := 0.0
	x, x2 = x[:len(w)], x2[:len(w)]
	for j, v := range w {
		s += v * (x[j] - x2[j])
	}
	return sign * t.cut(t.Loss.Slope(sign*s))
}

// cut keeps a slope in its bounds; a state out of range ends the round elsewhere.
func (t *task) cut(slope float64) float64 {
	if math.IsNaN(slope) {
		return 0
	}
	return max(t.lowest, min(t.high, slope))
}

// move subtracts eta times the gradient from w, whose coefficient at w it is.
func move(w, x, x2 []float64, eta, coefficient float64) {
	if coefficient == 0 {
		return
	}
	c := eta * coefficient
	x, x2 = x[:len(w)], x2[:len(w)]
	for j := range w {
		w[j] -= c * (x[j] - x2[j])
	}
}

// planned is a method on a checked Setting, with its price and the way it runs.
type planned struct {
	task
	price   train.Price
	rounds  int                              // of a run
	details any                              // parameters of a run that neither task nor price has
	rows    func() ([]train.PriceRow, error) // nil without privacy
	start   func(own *data.Records, coins train.Coins) train.Run
}

// Plan returns the plan for others.
func (p *planned) Plan() train.Plan {
	return train.Plan{Price: p.price.Clone(), Rows: p.rows, Train: p.Train}
}

// Train returns the method on these records.
func (p *planned) Train(r *data.Records) (train.Algorithm, error) {
	own, err := p.take(r)
	if err != nil {
		return train.Algorithm{}, err
	}
	noise := p.price.Blocks[len(p.price.Blocks)-1].Deviation
	a := train.Algorithm{Cost: p.price.Cost, Rounds: p.rounds, NoiseScale: noise,
		Start: func(coins train.Coins) train.Run { return p.start(own, coins) },
		Digest: train.DigestOf(own.Digest(), "darrm pairwise %s v1\n%q %v %v %v %v\n%v %v %v\n%v\n",
			p.price.Method, p.Loss.Name(), p.slope, p.Radius, p.Ball, p.n, p.rounds, noise, p.price.Blocks,
			p.details)}
	if !(p.price.Cost.Epsilon >= 0) || math.IsInf(p.price.Cost.Epsilon, 1) {
		a.Refused = errNotPrivate
	}
	return a, nil
}

// phases sets the blocks of private phases of 2 records or more. set sets what is moved and the noise.
func (p *planned) phases(eta float64, set func(k int, b *train.Block) error) (err error) {
	size := 1.0
	if p.Ball > 0 {
		size = p.diameter()
	}
	p.price.Blocks, err = train.Phases(p.n, 2, eta, size, set)
	p.rounds = len(p.price.Blocks)
	if err == nil && p.rounds == 0 {
		err = check.Want("step size", eta, "larger: its noise is within the rounding of float64")
	}
	return err
}

// errNotPrivate refuses the release of a model that no noise protects.
var errNotPrivate = errors.New(
	"the method promises no privacy: simulate it, or take a private one such as one-pass")
