package game

import (
	"context"
	"math"
	"runtime"
	"sync"

	"github.com/darrm/darrm/internal/meter"
	"github.com/darrm/darrm/internal/num"
)

// smallest is the least value that is kept for W: below it, roundings would not be relative any
// more.
const smallest = 1e-300

// block is the number of points that are worked out together.
const block = 8

// pruned is how much, relatively, pruning may raise a price of listed pairs.
const pruned = 1e-4

// farthest is beyond any point that is worked out: e^700 is the 7·10⁸th of the finest lattice.
const farthest = 1 << 30

// window is the points x_low … x_high of one number of answers.
type window struct{ low, high int }

// windows returns those of 0 … answers answers; the last is from … to. What they leave out
// changes the price by about tiny, upward. With t answers given of Q, a play is seldom below
// x_from by more than fall(t), or above x_to by more than rise(t); with n left, W is below tiny
// above fall(n). Each answer is rounded to one of two points, in the mean by at most h/8 of a step:
// Hoeffding's inequality bounds how far that takes a play.
func (g *Game) windows(from, to, answers int, tiny float64) ([]window, error) {
	l := g.lattice
	log := num.FromInt(0).Sub(num.Log(rational(tiny))).Upper()
	points := func(t int, y float64) int {
		n := float64(t)
		rounding := min(n, math.Sqrt(n*log/2)+float64(n*l.step/8))
		return int(min(math.Ceil(y/l.step+rounding), farthest))
	}
	list := make([]window, answers+1) // 16 MiB at most
	work := 0.0
	for n := range list {
		t := answers - n
		steps := int(min(float64(t)*float64(l.reach), farthest)) // no play goes farther
		w := window{max(0, from-min(steps, points(t, g.renyi.fall(t, log)))),
			to + min(steps, points(t, g.renyi.rise(t, log)))}
		if t > 0 {
			w.high = max(w.low, min(w.high, points(n, g.renyi.fall(n, log))))
		}
		if w.high-w.low >= maxPoints {
			return nil, tooLarge("points of a game", w.high-w.low, maxPoints)
		}
		work += float64(float64(w.high-w.low+block)*float64(g.tree.listed+1)) + float64(2*l.reach)
		list[n] = w
	}
	if most := g.options.Work; work > most {
		return nil, tooLarge("atoms × points × answers of a game", work, most)
	}
	return list, nil
}

// play returns upper bounds of W_answers at x_from … x_to, 0 ≤ from ≤ to.
func (g *Game) play(ctx context.Context, from, to, answers int, tiny float64) ([]float64, error) {
	list, err := g.windows(from, to, answers, tiny)
	if err != nil {
		return nil, err
	}
	widest := 0
	for _, w := range list {
		widest = max(widest, w.high-w.low+1)
	}
	values, wide := make([]float64, widest+block), make([]float64, widest+block+2*g.lattice.reach)
	for i := range values {
		values[i] = smallest // W_0 = 0 at x ≥ 1
	}
	seeds := make([]int32, len(values)/block)
	slack := 1 + g.pruned/float64(answers)
	points, done := 0, 0
	for _, w := range list[1:] {
		points += w.high - w.low + block
	}
	for n, w := range list[1:] {
		now := list[n]
		g.lattice.extend(values[:now.high-now.low+1], now.low, w, wide)
		if err := g.answer(ctx, wide, values[:w.high-w.low+block], seeds, slack); err != nil {
			return nil, err
		}
		done += w.high - w.low + block
		meter.Share(ctx, float64(done), float64(points))
	}
	return values[:to-from+1], nil
}

// extend writes bounds of W at the points that an answer may lead to from the window w: so many
// values from x_low on are known.
//
//   - Above them, W is at most the last one.
//   - Below x_low, W is at most the chord to W(0) = 1: W(x_{low-d}) ≤ 1 - x_{-d} + x_{-d}·W(x_low).
//   - Below x_0, it is  W(x_{-d}) = 1 - x_{-d} + x_{-d}·W(x_d).
func (l *lattice) extend(values []float64, low int, w window, wide []float64) {
	last := len(values) - 1
	// of the first point of wide, counted from x_low; windows only rise from below
	known := w.low - l.reach - low
	for i := range w.high - w.low + block + 2*l.reach {
		j := known + i
		if j < 0 {
			d, v := -j, values[0]
			if low == 0 {
				v = values[min(d, last)]
			}
			wide[i] = min(1, (l.rest[d]+float64(l.up[l.reach-d]*v))*dearer)
			continue
		}
		wide[i] = values[min(j, last)]
	}
}

// answer sets values to the bounds of W with one more answer, at points of which wide holds those
// that it leads to: value i is from wide[i] on, which is reach points below it. So many as fill
// whole blocks are worked out, over GOMAXPROCS processors; no value depends on how many these are.
func (g *Game) answer(ctx context.Context, wide, values []float64, seeds []int32,
	slack float64) error {
	blocks := len(values) / block
	run := func(first, end int) {
		var stack openNodes
		for b := first; b < end && ctx.Err() == nil; b++ {
			around := wide[b*block : b*block+2*g.lattice.reach+block]
			seeds[b] = g.tree.best(around, (*[block]float64)(values[b*block:]), seeds[b], slack,
				&stack)
		}
	}
	workers := min(runtime.GOMAXPROCS(0), 1+blocks*g.tree.leastWork()/20_000)
	var wait sync.WaitGroup
	for i := range workers - 1 {
		wait.Go(func() { run(blocks*i/workers, blocks*(i+1)/workers) })
	}
	run(blocks*(workers-1)/workers, blocks)
	wait.Wait()
	return ctx.Err()
}
