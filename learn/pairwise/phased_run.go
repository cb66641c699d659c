package pairwise

import (
	"context"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"

	"github.com/darrm/darrm/internal/randsrc/stream"
	"github.com/darrm/darrm/internal/vec"
	"github.com/darrm/darrm/learn/train"
)

// The streams of a run. Every round has its own stream of each.
const (
	streamNoise = "noise"
	streamIndex = "index"
)

// checkEvery is after how many steps the context is looked at.
const checkEvery = 1024

// phaseRun is a run in phases: each goes on from the model that noise left, and ends with the noise of its
// block and in W. Its state is that model.
type phaseRun struct {
	p     *planned
	noise normals
	// walk sets to to the model of phase k before noise, from w.
	walk func(ctx context.Context, k int, b train.Block, w, to []float64) error

	w, to, z []float64
}

func newPhaseRun(p *planned, noise normals, walk func(ctx context.Context, k int, b train.Block,
	w, to []float64) error) *phaseRun {
	v := func() []float64 { return make([]float64, p.d) }
	return &phaseRun{p: p, noise: noise, walk: walk, w: v(), to: v(), z: v()}
}

// State returns w_k, which is all that passes from phase to phase: the proof needs that nothing
// else does, neither an iterate nor a record to be paired.
func (e *phaseRun) State() []train.Vector { return []train.Vector{{Name: "w", Values: e.w}} }

// Output returns w_k.
func (e *phaseRun) Output() []float64 { return e.w }

// Round does phase k+1.
func (e *phaseRun) Round(ctx context.Context, k int) error {
	b := e.p.price.Blocks[k]
	if err := e.walk(ctx, k, b, e.w, e.to); err != nil {
		return err
	}
	if b.Deviation == 0 { // of a method that promises nothing
		copy(e.w, e.to)
		return nil
	}
	e.noise.Restart(streamNoise, k)
	e.noise.Fill(e.z)
	for j := range e.w {
		e.w[j] = e.to[j] + b.Deviation*e.z[j]
	}
	e.p.project(e.w)
	return nil
}

// pairWalk goes through the pairs of a phase and averages the iterates.
type pairWalk struct {
	p      *phased
	rows   samples
	coins  train.Coins
	rng    rand.ChaCha8
	u, sum []float64
}

func newPhasedRun(p *phased, rows samples, coins train.Coins) *phaseRun {
	e := &pairWalk{p: p, rows: rows, coins: coins, u: make([]float64, p.d), sum: make([]float64, p.d)}
	return newPhaseRun(&p.planned, coins.Normals(), func(ctx context.Context, k int, b train.Block,
		w, to []float64) error {
		copy(e.u, w)
		clear(e.sum)
		steps := p.blocks[k].steps
		if err := e.walk(ctx, k, b, steps); err != nil {
			return err
		}
		for j, s := range e.sum {
			to[j] = s / float64(steps)
		}
		return nil
	})
}

// walk adds the iterates of a phase to sum.
func (e *pairWalk) walk(ctx context.Context, k int, b train.Block, steps int) error {
	switch e.p.form {
	case allPairs:
		return e.descend(ctx, b, steps)
	case cyclic:
		return e.cycle(ctx, b)
	}
	e.coins.Restart(&e.rng, streamIndex, k)
	next := func(t int) int {
		if e.p.form == drawn {
			return b.From + int(stream.Below(&e.rng, uint64(b.To-b.From)))
		}
		return b.From + t // once: T = n_k - 1
	}
	before := next(0)
	for t := 1; t <= steps; t++ {
		if t%checkEvery == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		now := next(t)
		e.p.step(e.u, e.rows, now, before, b.StepSize)
		floats.Add(e.sum, e.u)
		before = now
	}
	return nil
}

// shift returns s_p of pass p of k over n records: how far before a record its partner stands. It
// depends on nothing but these numbers, and is never 0.
func shift(p, k, n int) int { return 1 + p*(n/2)/k }

// cycle does the passes of a phase of Cyclic.
func (e *pairWalk) cycle(ctx context.Context, b train.Block) error {
	n := b.To - b.From
	for p := range e.p.passes {
		before := b.From + n - shift(p, e.p.passes, n)
		for i := b.From; i < b.To; i++ {
			if (i-b.From)%checkEvery == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
			e.p.step(e.u, e.rows, i, before, b.StepSize)
			floats.Add(e.sum, e.u)
			if before++; before == b.To {
				before = b.From
			}
		}
	}
	return nil
}

// step does w ← Π_W(w - η·∇f(w; z_now, z_before)).
func (t *task) step(w []float64, rows samples, now, before int, eta float64) {
	x, x2 := rows.Row(now), rows.Row(before)
	if c := t.coefficient(w, x, rows.Response(now), x2, rows.Response(before)); c != 0 {
		move(w, x, x2, eta, c)
		t.project(w)
	}
}

// project replaces w by the point of W next to it.
func (t *task) project(w []float64) {
	if t.Ball > 0 {
		vec.Clip(w, t.Ball)
	}
}
