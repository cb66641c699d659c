package solve

import (
	"context"
	"math"
	"sync"
	"sync/atomic"
)

// chunks is into how many parts the work of a step is cut, whatever the number of
// workers, so that sums do not depend on it.
const chunks = 64

// engine iterates primal-dual hybrid gradient steps
//
//	x⁺ = Proj_simplices(x + τ(c - Gᵀy)),   y⁺ = y + σG(2x⁺-x), less its projection
//
// reflected, with Halpern's pull to an anchor: z ← a(2T(z) - z) + (1-a)z₀. Steps are
// ω·σ and τ/ω, a number for each block and each variable.
//
// Source: H. Lu and J. Yang, Restarted Halpern PDHG for Linear Programming (2024).
type engine struct {
	*program
	stopped func() bool // nothing counts any more: what is worked out is wrong from here on
	workers int
	cost    []float64 // the program's, or none
	sigma   []float64 // of each block at ω = 1
	load    []float64 // 1/τ of each variable at ω = 1
	omega   float64

	x, x0, xt, xbar []float64 // xt, yt: T's result in the last measured step
	y, y0, yt       []float64
	near            []float64 // a number of each block that its projection keeps
	primal, dual    float64   // ‖T(z)-z‖² of the last measured step, in the norms of τ and σ at ω = 1
}

// newEngine begins at x and y = 0. Once ctx ends, chunks are left out and the numbers are useless,
// so that a step of millions of variables is not waited for.
func newEngine(ctx context.Context, p *program, cost, share, x []float64, workers int) *engine {
	sigma, load := p.rows.steps(share)
	values := p.values()
	clone := func(v []float64) []float64 { return append([]float64(nil), v...) }
	return &engine{
		program: p, stopped: func() bool { return ctx.Err() != nil }, workers: workers, cost: cost,
		sigma: sigma, load: load, omega: 1,
		x: clone(x), x0: clone(x), xt: clone(x), xbar: clone(x),
		y: make([]float64, values), y0: make([]float64, values), yt: make([]float64, values),
		near: make([]float64, p.rows.blocks()),
	}
}

// parallel calls f for each of the chunks of 0 … n-1 and returns the sum of what it
// returns, in the order of the chunks.
func (g *engine) parallel(n int, f func(from, to int) float64) float64 {
	var parts [chunks]float64
	var next atomic.Int32
	work := func() {
		for c := int(next.Add(1)) - 1; c < chunks && !g.stopped(); c = int(next.Add(1)) - 1 {
			parts[c] = f(n*c/chunks, n*(c+1)/chunks)
		}
	}
	var group sync.WaitGroup
	for range g.workers - 1 {
		group.Go(work)
	}
	work()
	group.Wait()
	sum := 0.0
	for _, p := range parts {
		sum += p
	}
	return sum
}

// step does one step with the weight a of T and 1-a of the anchor. If measure, T's result
// and its distance are kept.
func (g *engine) step(a float64, measure bool) {
	primal := g.parallel(g.histograms(), func(from, to int) float64 {
		return g.primalStep(from, to, a, measure)
	})
	dual := g.parallel(g.rows.blocks(), func(from, to int) float64 {
		return g.dualStep(from, to, a, measure)
	})
	if measure {
		g.primal, g.dual = primal, dual
	}
}

func (g *engine) primalStep(from, to int, a float64, measure bool) (moved float64) {
	var room, steps [64]float64
	q, step := room[:], steps[:]
	for h := from; h < to; h++ {
		first, end := int(g.first[h]), int(g.first[h+1])
		if end-first > len(q) {
			q, step = make([]float64, end-first), make([]float64, end-first)
		}
		q, step := q[:end-first], step[:end-first]
		for k := range q {
			i := first + k
			step[k] = 1 / (g.omega * g.load[i])
			q[k] = g.x[i] + step[k]*(g.cost[i]-g.rows.pull(i, g.y))
		}
		projectSimplex(q, step, g.classes[first:end])
		for k, t := range q {
			i := first + k
			d := t - g.x[i]
			if measure {
				g.xt[i] = t
				moved += d * d * g.load[i]
			}
			g.xbar[i] = t + d
			g.x[i] = a*(t+d) + (1-a)*g.x0[i]
		}
	}
	return moved
}

func (g *engine) dualStep(from, to int, a float64, measure bool) (moved float64) {
	out := make([]float64, 64)
	for n := from; n < to; n++ {
		first, end := g.rows.block(n)
		for end-first > len(out) {
			out = make([]float64, 2*len(out))
		}
		g.rows.advance(n, g.omega*g.sigma[n], g.y[first:end], g.xbar, out[:end-first], &g.near[n])
		for k, t := range out[:end-first] {
			i := first + k
			d := t - g.y[i]
			if measure {
				g.yt[i] = t
				moved += d * d / g.sigma[n]
			}
			g.y[i] = a*(t+d) + (1-a)*g.y0[i]
		}
	}
	return moved
}

// residual returns the length of the last measured step.
func (g *engine) residual() float64 { return math.Sqrt(g.omega*g.primal + g.dual/g.omega) }

// travelled returns how far T's result is from the anchor, as primal and dual are.
func (g *engine) travelled() (primal, dual float64) {
	primal = g.parallel(len(g.x), func(from, to int) (sum float64) {
		for i := from; i < to; i++ {
			d := g.xt[i] - g.x0[i]
			sum += d * d * g.load[i]
		}
		return sum
	})
	dual = g.parallel(g.rows.blocks(), func(from, to int) (sum float64) {
		for n := from; n < to; n++ {
			first, end := g.rows.block(n)
			for i := first; i < end; i++ {
				d := g.yt[i] - g.y0[i]
				sum += d * d / g.sigma[n]
			}
		}
		return sum
	})
	return primal, dual
}

// anchor starts anew from T's result.
func (g *engine) anchor() {
	copy(g.x, g.xt)
	copy(g.x0, g.xt)
	copy(g.y, g.yt)
	copy(g.y0, g.yt)
}

// excess returns the most by which x breaks a block.
func (g *engine) excess(x []float64) float64 {
	var most [chunks]float64
	blocks := g.rows.blocks()
	g.parallel(chunks, func(from, to int) float64 {
		for c := from; c < to; c++ {
			for n := blocks * c / chunks; n < blocks*(c+1)/chunks; n++ {
				most[c] = max(most[c], g.rows.excess(n, x))
			}
		}
		return 0
	})
	eta := 0.0
	for _, x := range most {
		eta = max(eta, x)
	}
	return eta
}

// upper returns U(y).
func (p *program) upper(g *engine, y []float64) float64 {
	sum := g.parallel(p.histograms(), func(from, to int) (sum float64) {
		for h := from; h < to; h++ {
			best := math.Inf(-1)
			for i := int(p.first[h]); i < int(p.first[h+1]); i++ {
				best = max(best, (p.cost[i]-p.rows.pull(i, y))/p.classes[i])
			}
			sum += best
		}
		return sum
	})
	return sum + g.parallel(p.rows.blocks(), func(from, to int) float64 {
		return p.rows.price(from, to, y)
	})
}
