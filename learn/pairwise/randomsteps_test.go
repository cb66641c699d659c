package pairwise

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/internal/randsrc/stream"
	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/internal/testing/traintest"
	"github.com/darrm/darrm/learn/data"
)

// T6: the source's schedule, with the steps that are proved to be enough.
func TestRandomStepsSchedule(t *testing.T) {
	s := hingeSetting(t)
	s.Ball, s.Target.Delta = .5, 1./256
	p := must.Get(RandomSteps{Setting: s, Noise: Corrected}.plan(256, 8))(t)
	b := p.price.Blocks[0]
	must.Near(t, "zeta", p.zeta, 1.22937511e-2, 1e-8)
	must.Near(t, "zeta_1", b.StepSize, 3.07343778e-3, 1e-8)
	must.Near(t, "sigma_1", b.Deviation, 8.83883476e-2, 1e-8)
	must.Near(t, "steps", stepsOfPhase(128, 1./256), math.Ceil(294*128*128*math.Log(8*256)), 1e-9)
	// The minimiser moves by cGζ/2, and the steps end Gζ away from it in each world.
	must.Near(t, "sensitivity", b.Sensitivity, (p.occurrence/2+2)*p.norm*b.StepSize, 1e-5)

	// Calibrated: the failures take δ/2, the noise the rest.
	c := must.Get(RandomSteps{Setting: s}.plan(256, 8))(t)
	first := c.price.Blocks[0]
	left := must.Get(accountant.GaussianDelta(first.Multiplier(), s.Target.Epsilon))(t)
	if most := s.Target.Delta; left*(1-most/2)+most/2 > most || left < 0.49*most {
		t.Errorf("the noise alone has delta = %g, of %g", left, most)
	}
	certified := minimisedPlan(t, Minimised{Setting: s}, 256, 8)
	if !(first.Multiplier() > certified.price.Blocks[0].Multiplier()) ||
		!(first.Sensitivity > 1.9*certified.price.Blocks[0].Sensitivity*first.StepSize/
			certified.price.Blocks[0].StepSize) {
		t.Error("random steps cost no more than the certified solver")
	}
	rows := must.Get(c.rows())(t)
	if last := rows[len(rows)-1]; len(rows) != 4 || !last.InUse || last.Deviation != first.Deviation {
		t.Errorf("%+v", rows)
	}
	s.Target.Delta = 1e-5
	if _, err := (RandomSteps{Setting: s, Noise: "printed"}).Plan(256, 8); s.Target.Epsilon == 1 &&
		p.occurrence == 4 && err == nil {
		t.Error("printed noise, which lacks √2, passes at (1, 1e-5)")
	}
	if _, err := (RandomSteps{Setting: s}).Plan(1_000_000, 8); err == nil ||
		!strings.Contains(err.Error(), "minimised") {
		t.Errorf("a million records: %v", err)
	}
	s.Ball = 0
	if _, err := (RandomSteps{Setting: s, Scale: .01}).Plan(256, 8); err == nil {
		t.Error("no ball")
	}
}

// The steps end within Gζ_k of the exact minimiser, as the price says, with the centre where noise
// put it; and for neighbours, by the same coins, they move by no more than the sensitivity.
func TestRandomStepsReachTheMinimiser(t *testing.T) {
	const n, d = 16, 2
	rng := rand.New(rand.NewPCG(15, 16))
	s := hingeSetting(t)
	s.Ball = 1
	p := must.Get(RandomSteps{Setting: s}.plan(n, d))(t)
	exact := minimisedPlan(t, Minimised{Setting: s, Scale: p.zeta}, n, d)
	for trial := range 6 {
		own := must.Get(p.take(gaussians(t, rng, n, d, .7, .4, .5)))(t)
		var x []float64
		var y []float64
		for i := range n {
			x, y = append(x, own.Row(i)...), append(y, own.Response(i))
		}
		i := rng.IntN(n / 2) // in the first block
		x[i*d], x[i*d+1], y[i] = -x[i*d], -x[i*d+1], 1-y[i]
		other := must.Get(data.NewRecords(n, d, x, y))(t)
		models := [2][]float64{}
		for world, r := range []samples{own, other} {
			at := newPhaseSteps(&p.task, r, stream.Seeded(uint64(trial)))
			b := p.price.Blocks[0]
			w, v := make([]float64, d), make([]float64, d)
			w[0] = 0.9
			centre := append([]float64(nil), w...)
			steps := int(stepsOfPhase(b.To-b.From, s.Target.Delta))
			if err := at.run(t.Context(), 0, b, p.norm, steps, w); err != nil {
				t.Fatal(err)
			}
			if err := exact.solved[0].minimise(t.Context(), r, b.From, b.To, centre, v); err != nil {
				t.Fatal(err)
			}
			// The smoothed loss's minimiser and that of F̃ are each within Gζ/2 or so of this one.
			if off := floats.Distance(w, v, 2); off > 2*p.norm*b.StepSize {
				t.Errorf("trial %d: %g from the minimiser, Gζ = %g", trial, off, p.norm*b.StepSize)
			}
			models[world] = w
		}
		if moved := floats.Distance(models[0], models[1], 2); moved > p.price.Blocks[0].Sensitivity {
			t.Errorf("a record moves the model by %g, sensitivity %g", moved,
				p.price.Blocks[0].Sensitivity)
		}
	}
	r := gaussians(t, rng, n, d, .7, .4, .5)
	if w := traintest.Simulate(t, traintest.Trained(t, p.Plan(), r), 1); !(floats.Norm(w, 2) <= s.Ball*(1+1e-9)) {
		t.Errorf("a model of length %g", floats.Norm(w, 2))
	}
}
