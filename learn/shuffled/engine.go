package shuffled

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/darrm/darrm/internal/vec"
	"github.com/darrm/darrm/learn/data"
)

// ErrDiverged says that the model left the range of numbers: the step size is too large.
var ErrDiverged = errors.New("the run diverged: the step size is too large")

// engine runs a plan. It holds the iterate between epochs and buffers of its size; nothing
// grows with the epochs.
type engine struct {
	p     *Plan
	key   key
	epoch int // epochs done
	x     []float64

	before  []float64 // x as the epoch began
	g, z    []float64
	noise   normals
	shuffle rand.ChaCha8
	perm    []int
	planned bool // perm holds the order, for orders that stay the same
	proxes  int  // proximal maps applied
}

func newEngine(p *Plan, k key, four bool) *engine {
	e := &engine{
		p: p, key: k, noise: normals{new(rand.ChaCha8), four},
		x: make([]float64, p.d), before: make([]float64, p.d),
		g: make([]float64, p.d), z: make([]float64, p.d), perm: make([]int, p.n),
	}
	copy(e.x, p.c.Start)
	return e
}

func (e *engine) done() bool { return e.epoch == e.p.Epochs() }

// beyond is the size from which on an iterate counts as diverged, far below overflow.
const beyond = 1e100

// runEpoch does one epoch. On an error, the context's or ErrDiverged, the iterate is that
// of before the epoch.
func (e *engine) runEpoch(ctx context.Context) error {
	copy(e.before, e.x)
	err := e.steps(ctx)
	if err == nil {
		for _, v := range e.x {
			if !(math.Abs(v) <= beyond) {
				err = ErrDiverged
			}
		}
	}
	if err != nil {
		copy(e.x, e.before)
		return err
	}
	e.epoch++
	return nil
}

func (e *engine) steps(ctx context.Context) error {
	p := e.p
	run := p.schedule.at(e.epoch)
	e.key.restart(e.noise.rng, streamNoise, e.epoch)
	if p.c.Method == DPSGD {
		return e.sampledSteps(ctx, run)
	}
	e.order()
	for i := range run.Private {
		if i%checkEvery == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		e.step(p.private, e.perm[i], p.c.Clip, run.Noise)
	}
	limit := p.c.Clip
	if p.c.UnclippedPublic {
		limit = math.Inf(1)
	}
	for i := range p.n - run.Private {
		if i%checkEvery == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		e.step(p.public, i, limit, run.PublicNoise)
	}
	// Once an epoch, with t = nη: after each step it would bias a shuffled epoch.
	p.c.Regularizer.Prox(e.x, float64(p.n)*p.c.StepSize)
	e.proxes++
	return nil
}

// checkEvery is after how many steps the context is looked at.
const checkEvery = 256

// order sets perm for the coming epoch: the fixed one, the one of all epochs, or a new one.
func (e *engine) order() {
	switch {
	case e.p.c.Order == reshuffled:
		identity(e.perm)
		e.key.restart(&e.shuffle, streamOrder, e.epoch)
		permute(&e.shuffle, e.perm)
	case e.planned:
	case e.p.c.Order == shuffledOnce:
		identity(e.perm)
		e.key.restart(&e.shuffle, streamOrder, 0)
		permute(&e.shuffle, e.perm)
	case e.p.c.Permutation != nil:
		copy(e.perm, e.p.c.Permutation)
	default:
		identity(e.perm)
	}
	e.planned = true
}

// step does x ← x - η·(clip(∇f(x; q_i)) + N(0, σ²I)).
//
// Where clipping is on, a gradient that is not finite counts as 0, which is within the
// clip norm, so the step's sensitivity stays 2ηG; the epoch ends with ErrDiverged if the
// iterate does.
func (e *engine) step(r *data.Records, i int, limit, sigma float64) {
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
	e.noise.fill(z)
	scale := eta * sigma
	for j := range x {
		x[j] -= factor*g[j] + scale*z[j]
	}
}

// sampledSteps is an epoch's worth of DP-SGD steps.
func (e *engine) sampledSteps(ctx context.Context, run Run) error {
	p := e.p
	e.key.restart(&e.shuffle, streamOrder, e.epoch)
	for i := range p.n {
		if i%checkEvery == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		e.step(p.private, int(below(&e.shuffle, uint64(p.n))), p.c.Clip, run.Noise)
		p.c.Regularizer.Prox(e.x, p.c.StepSize)
		e.proxes++
	}
	return nil
}

// model returns a copy of the iterate.
func (e *engine) model() []float64 { return slices.Clone(e.x) }
