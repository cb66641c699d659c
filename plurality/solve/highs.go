package solve

import (
	"context"
	"math"

	"github.com/darrm/darrm/lp"
)

// highsTolerance is HiGHS's smallest; its default, 1e-7, is visible in the optimum.
const highsTolerance = 1e-10

// highs solves the dual with HiGHS. The duals of its rows are p. Where it ends proves nothing,
// and is used whatever the solver calls it.
func (p *program) highs(ctx context.Context, best *incumbent, a lp.Algorithm) error {
	share, err := p.shares(ctx, 0)
	if err != nil {
		return err
	}
	g := newEngine(ctx, p, p.cost, share, best.x, 1)
	d, dual := p.rows.dual(p)
	got, err := lp.SolveSparse(ctx, d, a, highsTolerance)
	if err != nil {
		return err
	}
	x := got.RowDual[:len(p.cost)]
	for h := range p.histograms() {
		sum := 0.0
		for i := p.first[h]; i < p.first[h+1]; i++ {
			x[i] = max(0, x[i])
			sum += p.classes[i] * x[i]
		}
		for i := p.first[h]; i < p.first[h+1]; i++ {
			x[i] /= sum // NaN is refused by what compares values, and by certifying
		}
	}
	best.offer(p, g, x)
	best.bound(p, g, dual(got.X))
	return nil
}

// builder writes a dual row by row.
type builder struct{ lp.Sparse }

func (b *builder) columns(n int, cost, lower float64) {
	for range n {
		b.C, b.Lower, b.Upper = append(b.C, cost), append(b.Lower, lower), append(b.Upper, math.Inf(1))
	}
}

func (b *builder) row(lower, upper float64) {
	b.Start = append(b.Start, int32(len(b.Value)))
	b.RowLower, b.RowUpper = append(b.RowLower, lower), append(b.RowUpper, upper)
}

// add adds to the coefficient of the row that was begun last; equal columns come one after
// the other.
func (b *builder) add(column int, value float64) {
	if n := len(b.Value); n > int(b.Start[len(b.Start)-1]) && b.Index[n-1] == int32(column) {
		b.Value[n-1] += value
		return
	}
	b.Index, b.Value = append(b.Index, int32(column)), append(b.Value, value)
}

// simplices adds a column z for each histogram and, for each variable, the row
//
//	m·z + (Gᵀy) ≥ c
//
// without its middle part, which add writes.
func (p *program) simplices(b *builder, add func(i int)) {
	z := len(b.C)
	b.columns(p.histograms(), 1, math.Inf(-1))
	for h := range p.histograms() {
		for i := int(p.first[h]); i < int(p.first[h+1]); i++ {
			b.row(p.cost[i], math.Inf(1))
			b.add(z+h, p.classes[i])
			add(i)
		}
	}
}

// dual: a clique's cone is {u : s ≤ u ≤ e·s for some s}. With multipliers α of u ≤ e·s and β
// of s ≤ u, a dual value is α-β, and s, which is free, asks for Σβ = e·Σα.
func (r *cliqueRows) dual(p *program) (lp.Sparse, func(x []float64) []float64) {
	var b builder
	n := len(r.place)
	b.columns(2*n, 0, 0)
	p.simplices(&b, func(i int) {
		for _, at := range r.place[r.places[i]:r.places[i+1]] {
			b.add(int(at), 1)
			b.add(n+int(at), -1)
		}
	})
	for k := range r.Len() {
		b.row(0, 0)
		for at := int(r.Start[k]); at < int(r.Start[k+1]); at++ {
			b.add(at, r.e)
			b.add(n+at, -1)
		}
	}
	return b.Sparse, func(x []float64) []float64 {
		y := make([]float64, n)
		for at := range y {
			y[at] = x[at] - x[n+at]
		}
		return y
	}
}

// dual: a column θ at the price δ for each pair, and y ≤ n·θ.
func (r *pairRows) dual(p *program) (lp.Sparse, func(x []float64) []float64) {
	var b builder
	n := len(r.i)
	b.columns(n, 0, 0)
	b.columns(r.blocks(), r.delta, 0)
	p.simplices(&b, func(i int) {
		for _, at := range r.place[r.places[i]:r.places[i+1]] {
			if at&1 == 0 {
				b.add(int(at>>1), 1)
			} else {
				b.add(int(at>>1), -r.e)
			}
		}
	})
	for k := range r.blocks() {
		for at := int(r.start[k]); at < int(r.start[k+1]); at++ {
			b.row(0, math.Inf(1))
			b.add(n+k, r.count[at])
			b.add(at, -1)
		}
	}
	return b.Sparse, func(x []float64) []float64 {
		y := make([]float64, n)
		for at := range y {
			y[at] = max(0, x[at])
		}
		return y
	}
}
