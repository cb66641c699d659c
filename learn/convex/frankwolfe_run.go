package convex

import (
	"context"
	"math"
	"math/bits"

	"github.com/darrm/darrm/internal/noise"
	"github.com/darrm/darrm/internal/randsrc/stream"
	"github.com/darrm/darrm/learn/data"
	"github.com/darrm/darrm/learn/geometry"
	"github.com/darrm/darrm/learn/train"
)

// frankWolfeRun is one run of FrankWolfe. Its state is the iterate w = shrink·direction, which a
// step shrinks without touching every coordinate, and likewise the predictions
// z_i = shrink·margin_i. All else follows from the state:
//
//	slope_i     the envelope's slope at (z_i, y_i), rounded to an integer
//	sum_j       Σ_i slope_i·X_ij, X_ij the feature rounded to an integer: an exact sum
//	ask_i       until shrink falls below it, slope_i cannot change
//
// so that a step need only add the differences of the slopes that changed. Where few features are
// 0 nearly all slopes change, and the differences are multiplied by a dense matrix of the X_ij.
type frankWolfeRun struct {
	p     *frankWolfePlan
	rows  *data.Sparse
	cols  *data.Sparse // transposed
	src   *stream.Source
	axes  geometry.OnAxes // nil for a polytope of another kind
	least picker          // replaces the selection in tests

	shrink            []float64 // one number
	direction, margin []float64

	fresh  int // the round that the following belong to the beginning of; -1 for none
	slope  []int64
	ask    []float64
	sum    []int64
	dense  *integers // nil where most features are 0
	change []int64   // of slopes, for dense
	dirty  []int32   // coordinates whose sum changed since the scores were set
	marked []bool

	scores []int64
	levels *noise.Levels // for exponential selection on the axes
	noisy  *noisy
	out    []float64

	touched int // features visited; benchmarks read it
}

// streamSelection is the stream of the selections of a round.
const streamSelection = "selection"

func newFrankWolfeRun(p *frankWolfePlan, rows, cols *data.Sparse,
	src *stream.Source) *frankWolfeRun {
	e := &frankWolfeRun{
		p: p, rows: rows, cols: cols, src: src, shrink: []float64{1}, direction: make([]float64, p.d),
		margin: make([]float64, p.n), fresh: -1,
		slope: make([]int64, p.n), ask: make([]float64, p.n), sum: make([]int64, p.d),
		marked: make([]bool, p.d),
		scores: make([]int64, p.c.Set.Vertices()),
	}
	e.axes, _ = p.c.Set.(geometry.OnAxes)
	if rows.NonZeros() >= denseShare*p.n*p.d/denseParts {
		e.dense, e.change = p.integers(rows), make([]int64, p.n)
	}
	if p.quiet {
		e.least = least{}
	}
	return e
}

// State returns the vectors that determine the iterate and the predictions.
func (e *frankWolfeRun) State() []train.Vector {
	return []train.Vector{{Name: "shrink", Values: e.shrink}, {Name: "direction", Values: e.direction},
		{Name: "margins", Values: e.margin}}
}

// Output returns w.
func (e *frankWolfeRun) Output() []float64 {
	if e.out == nil {
		e.out = make([]float64, e.p.d)
	}
	for j, v := range e.direction {
		e.out[j] = e.shrink[0] * v
	}
	return e.out
}

// Round does the steps of round k.
func (e *frankWolfeRun) Round(ctx context.Context, k int) error {
	if e.fresh != k {
		e.rebuild()
	}
	e.fresh = -1 // until the round is done
	if e.noisy == nil {
		var err error
		if e.noisy, err = newNoisy(e.p.choice.kind, e.src); err != nil {
			return err
		}
	}
	e.src.Restart(streamSelection, k)
	// Items of one level stand in the order of the changes before. A run that is resumed has not seen
	// these, and must draw the same vertex.
	e.levels = nil
	for t := k*e.p.stride() + 1; t <= min((k+1)*e.p.stride(), e.p.schedule.Steps); t++ {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		e.refresh()
		i, err := e.choose()
		if err != nil {
			return err
		}
		e.move(i, 3/float64(t+2))
	}
	e.fresh = k + 1
	return nil
}

// rebuild forgets all that follows from the state.
func (e *frankWolfeRun) rebuild() {
	clear(e.slope)
	clear(e.sum)
	clear(e.marked)
	e.dirty = e.dirty[:0]
	e.askAll()
}

func (e *frankWolfeRun) askAll() {
	for i := range e.ask {
		e.ask[i] = math.Inf(1)
	}
}

// refresh brings slopes and sums up to date.
func (e *frankWolfeRun) refresh() {
	shrink, changed := e.shrink[0], 0
	for i, at := range e.ask {
		if at <= shrink {
			continue
		}
		slope, margin := e.p.roundedSlope(shrink*e.margin[i], e.rows.Response(i))
		if e.margin[i] == 0 || math.IsInf(margin, 1) {
			e.ask[i] = math.Inf(-1)
		} else {
			// z moves by less than |margin_i|·(shrink - ask), and the slope by β times that.
			e.ask[i] = shrink - margin/math.Abs(e.margin[i])
		}
		if slope == e.slope[i] {
			continue
		}
		change := slope - e.slope[i]
		e.slope[i] = slope
		if e.dense == nil {
			e.add(i, change)
			continue
		}
		e.change[i] = change
		changed++
	}
	switch {
	case changed == 0:
		return
	case changed < e.p.n/denseParts:
		for i, change := range e.change {
			if change != 0 {
				e.add(i, change)
			}
		}
	default:
		e.dense.add(e.sum, e.change)
		e.touched += e.p.n * e.p.d
		for j := range e.marked {
			e.mark(int32(j))
		}
	}
	clear(e.change)
}

// roundedSlope returns the slope at (z, y), clipped to L0 and rounded to a multiple of
// L0·2^-SlopeBits, as that multiple, and how far z may move without changing it: rounding has half
// a multiple of room, less what was used, and the envelope's slope is β-Lipschitz. A bisection's is
// not quite: it is asked each time.
func (p *frankWolfePlan) roundedSlope(z, y float64) (slope int64, room float64) {
	most := int64(1) << p.schedule.SlopeBits
	grid := p.slope / float64(most)
	exact := 0.0
	if p.smooth {
		exact = clampSlope(p.link.Slope(z, y), p.slope)
	} else {
		exact = clampSlope(p.oracle.Slope(z, y), p.slope)
	}
	steps := math.Round(exact / grid)
	slope = max(-most, min(most, int64(steps)))
	if p.oracle.alpha > 0 && !p.smooth {
		return slope, 0
	}
	left := grid*(0.5-math.Abs(exact/grid-steps)) - 1e-12*p.slope // rounding of exact
	return slope, max(0, left) / p.schedule.Beta * (1 - slack)
}

// feature returns a feature in units of R·2^-FeatureBits, rounded towards 0.
func (p *frankWolfePlan) feature(x float64) int64 {
	most := int64(1) << p.schedule.FeatureBits
	return max(-most, min(most, int64(x/p.Radius*float64(most))))
}

// score returns a sum in units of L0·R/M, rounded towards 0.
func (p *frankWolfePlan) score(sum int64) int64 {
	digits := p.schedule.SlopeBits + p.schedule.FeatureBits
	high, low := bits.Mul64(uint64(max(sum, -sum)), uint64(p.schedule.Levels))
	score := int64(high<<(64-digits) | low>>digits)
	if sum < 0 {
		return -score
	}
	return score
}

// add adds the change of a record's slope times its features to the sums.
func (e *frankWolfeRun) add(i int, change int64) {
	columns, values := e.rows.Row(i)
	e.touched += len(columns)
	for k, j := range columns {
		e.sum[j] += change * e.p.feature(values[k])
		e.mark(j)
	}
}

// mark notes that a coordinate's sum changed.
func (e *frankWolfeRun) mark(j int32) {
	if !e.marked[j] {
		e.marked[j] = true
		e.dirty = append(e.dirty, j)
	}
}

// choose selects a vertex by the sums.
func (e *frankWolfeRun) choose() (int, error) {
	switch {
	case e.axes == nil:
		e.hullScores()
		e.clean()
	case e.levels == nil:
		for j, s := range e.sum {
			e.scores[j] = e.p.score(s)
			if e.axes.Signed() {
				e.scores[e.p.d+j] = -e.scores[j]
			}
		}
		e.clean()
		if e.least == nil && e.p.choice.kind == Exponential {
			var err error
			if e.levels, err = noise.NewLevels(e.scores, selectionScale); err != nil {
				return 0, err
			}
		}
	default:
		for _, j := range e.dirty {
			score := e.p.score(e.sum[j])
			e.levels.Set(int(j), score)
			if e.axes.Signed() {
				e.levels.Set(e.p.d+int(j), -score)
			}
		}
		e.clean()
	}
	switch {
	case e.least != nil:
		return e.least.pick(e.scores)
	case e.levels != nil:
		return e.levels.Sample(e.src)
	}
	return e.noisy.pick(e.scores)
}

func (e *frankWolfeRun) clean() {
	for _, j := range e.dirty {
		e.marked[j] = false
	}
	e.dirty = e.dirty[:0]
}

// hullScores sets the scores of vertices given by a list, in units of D/2.
func (e *frankWolfeRun) hullScores() {
	s := &e.p.schedule
	unit := math.Ldexp(float64(s.Levels), -s.SlopeBits-s.FeatureBits) / (e.p.c.Set.Diameter() / 2)
	for i := range e.scores {
		coordinates, values := e.p.c.Set.Vertex(i)
		s := 0.0
		for k, j := range coordinates {
			s += values[k] * float64(e.sum[j])
		}
		e.scores[i] = int64(math.Round(s * unit))
	}
}

// leastShrink is the smallest scale factor kept apart from the iterate. A smaller one is
// multiplied out.
const leastShrink = 0x1p-60

// move goes the share mu of the way to vertex i.
func (e *frankWolfeRun) move(i int, mu float64) {
	shrink := e.shrink[0] * (1 - mu)
	switch {
	case mu == 1:
		clear(e.direction)
		clear(e.margin)
		shrink = 1
		e.askAll()
	case shrink < leastShrink:
		for j := range e.direction {
			e.direction[j] *= shrink
		}
		for j := range e.margin {
			e.margin[j] *= shrink
		}
		shrink = 1
		e.askAll()
	}
	e.shrink[0] = shrink
	coordinates, values := e.p.c.Set.Vertex(i)
	for k, j := range coordinates {
		step := mu / shrink * values[k]
		e.direction[j] += step
		records, features := e.cols.Row(int(j))
		e.touched += len(records)
		for l, r := range records {
			e.margin[r] += step * features[l]
			e.ask[r] = math.Inf(1)
		}
	}
}
