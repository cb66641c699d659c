package convex

import (
	"context"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/darrm/darrm/internal/randsrc/stream"
	"github.com/darrm/darrm/learn/geometry"
	"github.com/darrm/darrm/learn/train"
)

// proximalRun is one run of ProximallyGuided. Its state is the iterate and the one that will
// be the model.
type proximalRun struct {
	p     *proximalPlan
	rows  samples
	noise normals
	pick  int // the round before which the iterate is the model

	w, kept   []float64
	mirror    *mirror
	g, z, sum []float64
}

// The streams of a run besides the noise, one each.
const (
	streamStart = "start"
	streamPick  = "pick"
)

func newProximalRun(p *proximalPlan, rows samples, coins train.Coins) *proximalRun {
	v := func() []float64 { return make([]float64, p.d) }
	e := &proximalRun{
		p: p, rows: rows, noise: coins.Normals(),
		pick: int(stream.Below(coins.Stream(streamPick, 0), uint64(p.schedule.Rounds))),
		w:    v(), kept: v(), g: v(), z: v(), sum: v(), mirror: newMirror(p.c.Norm, p.d, p.c.Ball),
	}
	copy(e.w, p.c.Start)
	if p.c.Start == nil {
		e.noise.Restart(streamStart, 0)
		e.noise.Fill(e.w)
		if length := geometry.Norm(e.w, p.c.Norm); length > 0 {
			floats.Scale(p.c.Ball/2/length, e.w)
		}
	}
	copy(e.kept, e.w)
	return e
}

// State returns the iterate and the model, which is the iterate until it was picked.
func (e *proximalRun) State() []train.Vector {
	return []train.Vector{{Name: "w", Values: e.w}, {Name: "model", Values: e.kept}}
}

// Output returns the picked iterate, or the last where it is not reached yet.
func (e *proximalRun) Output() []float64 { return e.kept }

// Round does round k+1 on its block.
func (e *proximalRun) Round(ctx context.Context, k int) error {
	b := e.p.price.Blocks[k]
	m, steps := float64(b.To-b.From), float64(b.Releases)
	e.mirror.restart(e.w)
	v := e.mirror.point
	clear(e.sum)
	e.noise.Restart(streamNoise, k)
	for t := 1.0; t <= steps; t++ {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		clear(e.g)
		for i := b.From; i < b.To; i++ {
			x := e.rows.Row(i)
			s := e.p.link.Slope(floats.Dot(v, x), e.rows.Response(i))
			if math.IsNaN(s) {
				s = 0 // within the bound, and the state ends the round
			}
			floats.AddScaled(e.g, max(-e.p.slope, min(e.p.slope, s)), x)
		}
		e.noise.Fill(e.z)
		floats.AddScaled(e.sum, t, v)
		for j := range e.g {
			e.g[j] = e.g[j]/m + b.Deviation*e.z[j]
		}
		e.mirror.step(e.g, b.StepSize/(t+1), e.p.schedule.Beta)
	}
	for j := range e.w {
		e.w[j] = e.sum[j] * (2 / (steps * (steps + 1)))
	}
	// Steps end up to cutSlack outside.
	floats.Scale(geometry.Shortening(e.w, e.p.c.Ball, e.p.c.Norm), e.w)
	if k < e.pick {
		copy(e.kept, e.w)
	}
	return nil
}
