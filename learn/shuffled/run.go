package shuffled

import (
	"context"
	"math"
	"math/rand/v2"

	"github.com/darrm/darrm/internal/randsrc/stream"
	"github.com/darrm/darrm/internal/vec"
	"github.com/darrm/darrm/learn/data"
	"github.com/darrm/darrm/learn/shuffled/iteration"
	"github.com/darrm/darrm/learn/train"
)

// run is one run of a plan. Its state is the iterate; the rest are buffers of its size, and
// nothing grows with the epochs.
type run struct {
	p     *Plan
	coins train.Coins
	x     []float64

	g, z    []float64
	noise   *stream.Normals
	shuffle rand.ChaCha8
	perm    []int
	planned bool // perm holds the order, for orders that stay the same
}

// The streams of a run. Each epoch has one of each.
const (
	streamOrder = "order"
	streamNoise = "noise"
)

// start returns a run before its first epoch, at Config.Start.
func (p *Plan) start(coins train.Coins) train.Run {
	e := &run{
		p: p, coins: coins, noise: coins.Normals(),
		x: make([]float64, p.d), g: make([]float64, p.d), z: make([]float64, p.d), perm: make([]int, p.n),
	}
	copy(e.x, p.c.Start)
	return e
}

// State returns the iterate.
func (e *run) State() []train.Vector { return []train.Vector{{Name: "x", Values: e.x}} }

// Output returns the iterate: no method averages.
func (e *run) Output() []float64 { return e.x }

// Round does epoch k, from 0.
func (e *run) Round(ctx context.Context, k int) error {
	p := e.p
	epoch := p.schedule.at(k)
	e.noise.Restart(streamNoise, k)
	if p.c.Method == DPSGD {
		return e.sampledSteps(ctx, k, epoch.Noise)
	}
	e.order(k)
	for i := range epoch.Private {
		if i%checkEvery == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		e.step(p.private, e.perm[i], p.c.Clip, epoch.Noise)
	}
	limit := p.c.Clip
	if p.c.UnclippedPublic {
		limit = math.Inf(1)
	}
	for i := range p.n - epoch.Private {
		if i%checkEvery == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		e.step(p.public, i, limit, epoch.PublicNoise)
	}
	// Once an epoch, with t = nη: after each step it would bias a shuffled epoch.
	p.c.Regularizer.Prox(e.x, float64(p.n)*p.c.StepSize)
	return nil
}

// checkEvery is after how many steps the context is looked at.
const checkEvery = 256

// order sets perm for epoch k: the fixed one, the one of all epochs, or a new one.
func (e *run) order(k int) {
	switch {
	case e.p.c.Order == iteration.Reshuffled:
		e.shuffled(k)
	case e.planned:
	case e.p.c.Order == iteration.ShuffledOnce:
		e.shuffled(0)
	default:
		identity(e.perm)
	}
	e.planned = true
}

// shuffled sets perm to a random order, by the stream of epoch k.
func (e *run) shuffled(k int) {
	identity(e.perm)
	e.coins.Restart(&e.shuffle, streamOrder, k)
	stream.Shuffle(&e.shuffle, e.perm)
}

// step does x ← x - η·(clip(∇f(x; q_i)) + N(0, σ²I)).
//
// Where clipping is on, a gradient that is not finite counts as 0, which is within the
// clip norm, so the step's sensitivity stays 2ηG; the epoch ends with ErrDiverged if the
// iterate does.
func (e *run) step(r *data.Records, i int, limit, sigma float64) {
	task, eta := e.p.c.Task, e.p.c.StepSize
	x := e.x
	g, z := e.g[:len(x)], e.z[:len(x)]
	task.Gradient(g, x, r.Row(i), r.Response(i))
	factor, finite := vec.ClipFactor(g, limit)
	if !finite {
		clear(g)
		if math.IsInf(limit, 1) {
			x[0] = math.NaN() // no clipping, no promise: it has diverged
		}
	}
	factor *= eta
	if sigma == 0 {
		for j := range x {
			x[j] -= factor * g[j]
		}
		return
	}
	e.noise.Fill(z)
	scale := eta * sigma
	for j := range x {
		x[j] -= factor*g[j] + scale*z[j]
	}
}

// sampledSteps is an epoch's worth of DP-SGD steps.
func (e *run) sampledSteps(ctx context.Context, k int, noise float64) error {
	p := e.p
	e.coins.Restart(&e.shuffle, streamOrder, k)
	for i := range p.n {
		if i%checkEvery == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		e.step(p.private, int(stream.Below(&e.shuffle, uint64(p.n))), p.c.Clip, noise)
		p.c.Regularizer.Prox(e.x, p.c.StepSize)
	}
	return nil
}
