package convex

import (
	"context"
	"math"
	"math/bits"

	"github.com/darrm/darrm/internal/randsrc/stream"
	"github.com/darrm/darrm/learn/data"
	"github.com/darrm/darrm/learn/geometry"
	"github.com/darrm/darrm/learn/train"
)

// features are the records of a run; tests count what is read.
type features interface {
	Row(i int) (columns []int32, values []float64)
	Response(i int) float64
}

var _ features = (*data.Sparse)(nil)

// stochasticRun is one run of a stochastic Frank-Wolfe method, a step a round:
//
//	G ← (1-η_t)(G + Δ) + η_t·g,  w ← (1-η_t)w + η_t·v,  v by direct(G)
//
// where g and Δ are the means of a batch's gradients and of their changes since the iterate
// before. The model is one of the iterates, drawn beforehand. Its state is these vectors.
type stochasticRun struct {
	s       smooth
	batches []batch
	rows    features
	order   []int // nil: as they stand
	picked  int   // the iterate that is the model: before the step of this number

	w, before, estimate, model []float64

	sum []int64
	v   []float64
	// direct sets v to the point to go to, by a noised look at the estimate.
	direct func(k int, estimate, v []float64) error
	after  func(k int) // for tests; may be nil
}

// streamOrder is the stream of the records' order.
const streamOrder = "order"

func newStochasticRun(s smooth, batches []batch, rows features, coins train.Coins,
	inOrder bool) *stochasticRun {
	v := func() []float64 { return make([]float64, s.d) }
	e := &stochasticRun{s: s, batches: batches, rows: rows, w: v(), before: v(), estimate: v(),
		model: v(), v: v(), sum: make([]int64, s.d)}
	if !inOrder {
		e.order = make([]int, s.n)
		for i := range e.order {
			e.order[i] = i
		}
		stream.Shuffle(coins.Stream(streamOrder, 0), e.order)
	}
	e.picked = int(stream.Below(coins.Stream(streamPick, 0), uint64(len(batches))))
	// w_0 is 0 where that is in the set for sure, else the point where ⟨v, 0⟩ is least: any.
	if _, ball := s.set.(geometry.LpBall); !ball {
		if axes, ok := s.set.(geometry.OnAxes); !ok || !axes.Signed() {
			s.set.Minimize(e.w, e.v)
		}
	}
	return e
}

// State returns all that later rounds depend on.
func (e *stochasticRun) State() []train.Vector {
	return []train.Vector{{Name: "w", Values: e.w}, {Name: "before", Values: e.before},
		{Name: "estimate", Values: e.estimate}, {Name: "model", Values: e.model}}
}

// Output returns the drawn iterate, after all rounds.
func (e *stochasticRun) Output() []float64 { return e.model }

// gradientUnit is a power of two, so that division by it is exact. The coordinates of a batch's
// gradients are multiples of it.
func (s smooth) gradientUnit(b batch) float64 {
	_, exponent := math.Frexp(s.norm + s.change)
	return math.Ldexp(1, exponent-min(40, 60-bits.Len(uint(b.to-b.from))))
}

// dots returns ⟨x,v⟩ and ⟨x,w⟩ of a record x. Each is summed in the order of the columns, as
// geometry.SparseDot does, and the two sums go on side by side.
func dots(columns []int32, values, v, w []float64) (xv, xw float64) {
	if len(columns) == len(v) { // all of them, in order
		v, w = v[:len(values)], w[:len(values)]
		for j, x := range values {
			xv += float64(x * v[j])
			xw += float64(x * w[j])
		}
		return xv, xw
	}
	for k, j := range columns {
		xv += float64(values[k] * v[j])
		xw += float64(values[k] * w[j])
	}
	return xv, xw
}

// addScaled adds the record x, scaled by factor and rounded towards 0, to sum.
func addScaled(sum []int64, columns []int32, values []float64, factor float64) {
	if len(columns) == len(sum) {
		sum = sum[:len(values)]
		for j, x := range values {
			sum[j] += int64(factor * x)
		}
		return
	}
	for k, j := range columns {
		sum[j] += int64(factor * values[k])
	}
}

// Round does the step of batch k.
func (e *stochasticRun) Round(ctx context.Context, k int) error {
	b := e.batches[k]
	if k <= e.picked {
		copy(e.model, e.w)
	}
	eta := stepSize(b.step)
	// Gradients are added up as integers, exactly: what a record adds does not depend on the
	// others. They are rounded towards 0, and so are no longer than the bound.
	unit := e.s.gradientUnit(b)
	clear(e.sum)
	for i := b.from; i < b.to; i++ {
		if (i-b.from)%checkEvery == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		record := i
		if e.order != nil {
			record = e.order[i]
		}
		columns, values := e.rows.Row(record)
		y := e.rows.Response(record)
		at, was := dots(columns, values, e.w, e.before)
		factor := clampSlope(e.s.link.Slope(at, y), e.s.slope)
		if b.step > 0 {
			was := clampSlope(e.s.link.Slope(was, y), e.s.slope)
			most := e.s.change / e.s.Radius * stepSize(b.step-1)
			factor = (1-eta)*clampSlope(factor-was, most) + eta*factor
		}
		addScaled(e.sum, columns, values, factor/unit)
	}
	if b.step == 0 {
		clear(e.estimate)
	}
	for j, s := range e.sum {
		e.estimate[j] = (1-eta)*e.estimate[j] + float64(s)*unit/b.records()
	}
	if err := e.direct(k, e.estimate, e.v); err != nil {
		return err
	}
	copy(e.before, e.w)
	for j, v := range e.v {
		e.w[j] = (1-eta)*e.w[j] + eta*v
	}
	if e.after != nil {
		e.after(k)
	}
	return nil
}
