package convex

import (
	"context"
	"math"
	"runtime"

	"golang.org/x/sync/errgroup"
	"gonum.org/v1/gonum/floats"

	"github.com/darrm/darrm/internal/vec"
	"github.com/darrm/darrm/learn/loss"
)

// gradients adds up the gradients of records, each shortened by itself. Records are read once: prediction,
// slope and sum come in one pass. It is not safe for concurrent use.
//
// A gradient is s·aᵀ, s the slopes of the loss in the scores of the K classes (one of a link) and a the
// record. So its norm, over all classes together, is ‖s‖·‖a‖.
type gradients struct {
	short
	y       []float64 // responses, and that of the row of zeros
	link    loss.Link // nil of several classes
	classes int       // K of softmax, 1 of a link
	dim     int       // of a record
	slope   float64   // bound on ‖s‖ before weights
	limit   float64   // bound on a gradient's norm
	within  []float64 // bounds on ‖s‖ that keep the limit; nil where slope does by itself
	weights []float64 // of the records, from 0 to W, and 0; nil where each is 1
	w       []float64 // the model in the units and widths of rows
	parts   [][]float64
}

// Gradients are added up in parts that depend on their number alone, and the parts in their order: the sum
// has the same bits on one core and on many.
const (
	leastPart = 1024
	mostParts = 16
)

// newGradients returns the sums for a model of size numbers.
func newGradients(t *task, limit float64, rows samples, count int) *gradients {
	g := &gradients{short: newShort(rows, count, t.d, t.Radius), y: make([]float64, count+1), link: t.link,
		classes: t.classes, dim: t.d, slope: t.slope, limit: limit}
	for i := range count {
		g.y[i] = rows.Response(i)
	}
	g.w = make([]float64, g.classes*g.width)
	if limit < t.norm {
		g.measure()
	}
	return g
}

// own returns the same sums for another run: what is of the records is shared, and not written to.
func (g *gradients) own() *gradients {
	c := *g
	c.w, c.parts = make([]float64, len(g.w)), nil
	return &c
}

// measure bounds the slopes of every record by its norm.
func (g *gradients) measure() {
	g.within = make([]float64, g.count+1)
	for i := range g.within {
		g.within[i] = g.limit / g.norm(i) * (1 - 0x1p-50) // +Inf for zeros
	}
}

// weigh gives the records weights, of which larger ones are cut to most. Norms are measured, so that every
// weighted gradient is shortened by its own length: privacy rests on the limit alone, and on no weight.
func (g *gradients) weigh(weights []float64, most float64) {
	if g.within == nil {
		g.measure()
	}
	g.weights = make([]float64, len(weights)+1)
	for i, w := range weights {
		if w > 0 { // NaN becomes 0
			g.weights[i] = min(w, most)
		}
	}
}

// weight returns the weight of record i.
func (g *gradients) weight(i int) float64 {
	if g.weights == nil {
		return 1
	}
	return g.weights[i]
}

// sum sets into to the sum for a model w, over the records of a list, or all records where that is nil.
// Cost: 4·K·d floating-point operations a record, on all cores; memory for up to 16 gradients.
func (g *gradients) sum(ctx context.Context, into, w []float64, list []int32) error {
	count := g.count
	if list != nil {
		count = len(list)
	}
	for k := range g.classes {
		floats.ScaleTo(g.w[k*g.width:k*g.width+g.dim], g.unit, w[k*g.dim:(k+1)*g.dim])
	}
	size := max(leastPart, (count+mostParts-1)/mostParts)
	parts := max(1, (count+size-1)/size)
	for len(g.parts) < parts {
		g.parts = append(g.parts, make([]float64, len(g.w)))
	}
	part := func(k int) { g.part(ctx, g.parts[k], list, k*size, min(count, (k+1)*size)) }
	onCores(parts, part)
	for _, p := range g.parts[1:parts] {
		floats.Add(g.parts[0], p)
	}
	for k := range g.classes {
		floats.ScaleTo(into[k*g.dim:(k+1)*g.dim], g.unit, g.parts[0][k*g.width:k*g.width+g.dim])
	}
	return ctx.Err()
}

// onCores calls do for each part from 0, on all cores.
func onCores(parts int, do func(k int)) {
	if parts == 1 {
		do(0)
		return
	}
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for k := range parts {
		group.Go(func() error {
			do(k)
			return nil
		})
	}
	_ = group.Wait() // no part fails
}

// part sets sum to that of the records from one place of the list to another, four at a time; the last are filled up
// with the row of zeros, whose gradient is 0.
func (g *gradients) part(ctx context.Context, sum []float64, list []int32, from, to int) {
	clear(sum)
	var at [vec.Quad]int
	var rows [vec.Quad][]float32
	s := make([][vec.Quad]float64, g.classes) // scores, then slopes
	one := make([]float64, g.classes)
	for next := from; next < to; next += vec.Quad {
		if (next-from)%checkEvery == 0 && ctx.Err() != nil {
			return
		}
		for q := range at {
			switch {
			case next+q >= to:
				at[q] = g.count
			case list != nil:
				at[q] = int(list[next+q])
			default:
				at[q] = next + q
			}
			rows[q] = g.row(at[q])
		}
		for k := range s {
			vec.Products(&s[k], &rows, g.w[k*g.width:(k+1)*g.width])
		}
		if g.link != nil {
			g.slopes(&s[0], &at)
		} else {
			g.slopesOfClasses(s, one, &at)
		}
		for k := range s {
			vec.AddProducts(sum[k*g.width:(k+1)*g.width], &rows, &s[k])
		}
	}
}

// slopes replaces scores by weighted slopes, so short that each gradient is within the limit. What is not a number
// becomes 0, which is within every limit.
func (g *gradients) slopes(s *[vec.Quad]float64, at *[vec.Quad]int) {
	var y [vec.Quad]float64
	for q, i := range at {
		y[q] = g.y[i]
	}
	if l, ok := g.link.(loss.Logit); ok {
		l.Slopes(s, &y)
	} else {
		for q, z := range s {
			s[q] = g.link.Slope(z, y[q])
		}
	}
	for q, v := range s {
		v = clampSlope(v, g.slope)
		v *= g.weight(at[q])
		if g.within != nil {
			v = clampSlope(v, g.within[at[q]])
		}
		s[q] = v
	}
}

// slopesOfClasses is slopes for a softmax; one is for the slopes of a record.
func (g *gradients) slopesOfClasses(s [][vec.Quad]float64, one []float64, at *[vec.Quad]int) {
	loss.ChancesOfQuad(s)
	for q, i := range at {
		for k := range s {
			one[k] = s[k][q]
		}
		one[int(g.y[i])]--
		most := math.Inf(1)
		if g.weights == nil {
			most = g.slope
		} else {
			floats.Scale(g.weight(i), one)
		}
		if g.within != nil {
			most = min(most, g.within[i])
		}
		vec.Clip(one, most)
		for k, v := range one {
			s[k][q] = v
		}
	}
}

// short are the features of records as a pass reads them: float32s in units of a power of two, half the memory that a
// pass waits for. They are rounded toward 0, each by 2⁻²³ of itself at most, so that no record gets longer; what is below
// 2⁻¹²⁶ units becomes 0. Rounding is of a record by itself: neighbours stay neighbours. Norms, slopes and sums are float64s.
type short struct {
	count int
	width int       // of a row: the features, and zeros up to whole lanes
	x     []float32 // row by row, and a last row of zeros
	unit  float64
}

// newShort rounds d features of count rows, which are of norm radius at most.
func newShort(rows samples, count, d int, radius float64) short {
	_, e := math.Frexp(radius)
	s := short{count: count, width: (d + vec.Lanes - 1) / vec.Lanes * vec.Lanes, unit: math.Ldexp(1, e)}
	s.x = make([]float32, (count+1)*s.width)
	const part = 4096 // rows
	onCores((count+part-1)/part, func(k int) {
		for i := k * part; i < min(count, (k+1)*part); i++ {
			row := s.x[i*s.width:]
			for j, v := range rows.Row(i) {
				row[j] = towardZero(v / s.unit)
			}
		}
	})
	return s
}

// towardZero returns the float32 next to v on the side of 0; 0 for what is not a number, or is too small or too large for
// all digits of a float32.
func towardZero(v float64) float32 {
	cut := math.Float64frombits(math.Float64bits(v) &^ (1<<29 - 1)) // to the 24 digits of a float32
	if size := math.Abs(cut); size >= 0x1p-126 && size <= math.MaxFloat32 {
		return float32(cut)
	}
	return 0
}

// row returns row i, that of zeros for i = count.
func (s *short) row(i int) []float32 { return s.x[i*s.width : (i+1)*s.width] }

// norm returns an upper bound on the norm of row i in the units of the records.
func (s *short) norm(i int) float64 {
	square := 0.0
	for _, v := range s.row(i) {
		square += float64(v) * float64(v)
	}
	return math.Sqrt(square) * s.unit * (1 + vec.Slack(s.width))
}
