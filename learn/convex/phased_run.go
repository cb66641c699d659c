package convex

import (
	"context"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/darrm/darrm/internal/vec"
	"github.com/darrm/darrm/learn/train"
)

// phasedRun is one run of PhasedSGD. Its state is the last noised average.
type phasedRun struct {
	p     *phasedPlan
	rows  samples
	noise normals

	w         []float64 // w̃_k
	u, sum, z []float64
	out       []float64
}

// streamNoise is the stream of the noise, of which each round has one.
const streamNoise = "noise"

// checkEvery is after how many records the context is looked at.
const checkEvery = 1024

func newPhasedRun(p *phasedPlan, rows samples, noise normals) *phasedRun {
	v := func() []float64 { return make([]float64, p.d) }
	return &phasedRun{p: p, rows: rows, noise: noise, w: v(), u: v(), sum: v(), z: v(), out: v()}
}

// State returns w̃_k, which is all that passes from phase to phase: the proof needs that
// nothing else does.
func (e *phasedRun) State() []train.Vector { return []train.Vector{{Name: "w", Values: e.w}} }

// Output returns Π_W(w̃_k).
func (e *phasedRun) Output() []float64 {
	copy(e.out, e.w)
	if e.p.c.Ball > 0 {
		vec.Clip(e.out, e.p.c.Ball)
	}
	return e.out
}

// Round does phase k+1.
func (e *phasedRun) Round(ctx context.Context, k int) error {
	phase := e.p.schedule.Phases[k]
	copy(e.u, e.w)
	clear(e.sum)
	for i := phase.From; i < phase.To; i++ {
		if (i-phase.From)%checkEvery == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		x := e.rows.Row(i)
		slope := e.p.oracle.Slope(floats.Dot(e.u, x), e.rows.Response(i))
		if math.IsNaN(slope) { // a state out of range: the round ends with ErrDiverged
			e.w[0] = math.NaN()
			return nil
		}
		floats.AddScaled(e.u, -phase.StepSize*slope, x)
		if e.p.c.Ball > 0 {
			vec.Clip(e.u, e.p.c.Ball)
		}
		floats.Add(e.sum, e.u)
	}
	e.noise.Restart(streamNoise, k)
	e.noise.Fill(e.z)
	count := float64(phase.To - phase.From)
	for j := range e.w {
		e.w[j] = e.sum[j]/count + phase.Deviation*e.z[j]
	}
	return nil
}
