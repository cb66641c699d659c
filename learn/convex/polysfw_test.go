package convex

import (
	"math"
	"testing"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/internal/randsrc/stream"
	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/learn/loss"
	"github.com/darrm/darrm/learn/train"
)

// logistics is the logistic loss at (1, 1e-6).
func logistics() Setting {
	return Setting{Loss: loss.Logistic{}, Radius: 1, Target: accountant.Cost{Epsilon: 1, Delta: 1e-6}}
}

func polySFW(t testing.TB, c PolySFW, n, d int) *polySFWPlan {
	t.Helper()
	p, err := c.plan(n, d)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// The published schedule.
func TestAcceptance4PolySFWSchedule(t *testing.T) {
	p := polySFW(t, PolySFW{Setting: logistics(), Set: l1(t, 50, 1), Noise: Printed}, 1_000_000, 50)
	must.Near(t, "X", math.Exp2(1.5*p.theory()), 66.4647, 1e-5)
	must.Near(t, "R before rounding", p.theory(), 4.0363, 1e-4)
	if p.c.Batches.Rounds != 4 || p.c.Batches.Size != 5239 || len(p.batches) != 15 ||
		p.batches[14].to != 38245 {
		t.Errorf("%+v, %d steps, %d records", p.c.Batches, len(p.batches), p.batches[len(p.batches)-1].to)
	}
	// The published scale of task P3.
	c := PolySFW{Setting: logistics(), Set: l1(t, 10, 3), Noise: Printed}
	c.Loss = loss.GLM[loss.SquaredSigmoid]{}
	p = polySFW(t, c, 1_000_000, 10)
	must.Near(t, "s_3", p.printedScale(3), 0.08314, 1e-4)
}

// The published trace: batches [0,1], [2,3], [4].
func TestAcceptance4PolySFWTrace(t *testing.T) {
	p := polySFW(t, PolySFW{Setting: logistics(), Set: l1(t, 2, 1),
		Batches: Batches{Rounds: 2, Size: 2, InOrder: true}}, 8, 2)
	p.quiet = true
	run := p.newRun(labelled(t), stream.Seeded(1))
	for k, want := range []struct{ estimate, w []float64 }{
		{[]float64{-.4, -.2}, []float64{1, 0}},
		{[]float64{-0.1240102075, -0.1569923443}, []float64{0, 1}},
		{[]float64{-0.3880355185, 0.4229696998}, []float64{0, -0.4142135624}},
	} {
		if err := run.Round(t.Context(), k); err != nil {
			t.Fatal(err)
		}
		for j := range 2 {
			if math.Abs(run.estimate[j]-want.estimate[j]) > 1e-9 || math.Abs(run.w[j]-want.w[j]) > 1e-9 {
				t.Errorf("step %d: estimate %v, w %v, want %+v", k, run.estimate, run.w, want)
			}
		}
	}
}

// The published ledger by exact influence, with real batch sizes b/(t+1), L0 = L1·D = 1 and
// ε = 1, and in another proportion.
func TestAcceptance8PolySFWLedger(t *testing.T) {
	const b = 1e6
	ledger := func(r int, l0, change, b float64, c choice, relation accountant.Relation,
		round bool) float64 {
		s := smooth{diameter: 1, change: change}
		s.norm, s.Neighbours, s.Target = l0, relation, accountant.Cost{Epsilon: 1, Delta: 1e-6}
		p := &polySFWPlan{smooth: s, choice: c}
		p.c.Batches.Size = int(b)
		sizes := make([]float64, 1<<r)
		for k := range sizes {
			if sizes[k] = b / float64(k+1); round {
				sizes[k] = math.Floor(sizes[k])
			}
		}
		return must.Get(p.roundEpsilon(s.influences(sizes, p.printedScale(r), 0, c)))(t)
	}
	laplace := choice{LaplaceNoise, Sup}
	zeroed := map[int]float64{0: .1345, 2: .1326, 4: .1493, 6: .1817, 7: .1969, 8: .1754, 10: .1269}
	replaced := map[int]float64{0: .2690, 1: .2690, 2: .2652, 3: .2748, 4: .2987, 5: .3305, 6: .3633,
		7: .3947, 8: .3663, 9: .3123, 10: .2649}
	worst := 0.0
	for r, want := range replaced {
		got := ledger(r, 1, 1, b, laplace, accountant.ReplaceOne, false)
		if math.Abs(got-want) > 2e-4 {
			t.Errorf("round %d: %.5f, want %.4f", r, got, want)
		}
		worst = max(worst, got)
		if want, ok := zeroed[r]; ok {
			// Sum and zCDP are each maximised by itself here, which costs 4e-4 at r = 7.
			if got := ledger(r, 1, 1, b, laplace, accountant.BlankOne, false); math.Abs(got-want) > 5e-4 {
				t.Errorf("round %d, blanked: %.5f, want %.4f", r, got, want)
			}
			if got := ledger(r, 1, 1, b, choice{LaplaceNoise, Range}, accountant.ReplaceOne,
				false); math.Abs(got-want) > 5e-4 {
				t.Errorf("round %d, by the range: %.5f, want %.4f", r, got, want)
			}
		}
		exponential, pure := ledger(r, 1, 1, b, choice{Exponential, Range}, accountant.ReplaceOne, false),
			ledger(r, 1, 1, b, choice{LaplaceNoise, Range}, accountant.ReplaceOne, false)
		if !(exponential <= pure) {
			t.Errorf("round %d: the exponential mechanism costs %g, laplace %g", r, exponential, pure)
		}
	}
	if !(worst <= 0.40 && math.Abs(worst-0.3947) < 2e-4) {
		t.Errorf("the worst round costs %g", worst)
	}
	must.Near(t, "L1 = 0", ledger(0, 2, 0, b, laplace, accountant.ReplaceOne, false), 0.5381, 1e-3)
	// Real sizes: b = 95 in round 5.
	must.Near(t, "b = 95", ledger(5, 1, 1, 95, laplace, accountant.ReplaceOne, true), 0.4361, 1e-3)
	must.Near(t, "b = 95, not rounded", ledger(5, 1, 1, 95, laplace, accountant.ReplaceOne, false),
		0.3305, 1e-3)

	// The source's own route is above its promise, is flagged as no promise, and the corrected
	// rows are below the target.
	p := polySFW(t, PolySFW{Setting: logistics(), Set: l1(t, 50, 1), Noise: Printed}, 1_000_000, 50)
	rows, err := p.Compare()
	if err != nil {
		t.Fatal(err)
	}
	if rows[0].Holds || !(rows[0].Epsilon > 1.4) || !rows[1].Holds || !(rows[1].Epsilon < 0.55) ||
		!rows[2].Holds || !(rows[2].Epsilon < 0.28) {
		t.Errorf("%+v", rows)
	}
	if got := p.price.Cost.Epsilon; got != rows[3].Epsilon || !(got <= rows[2].Epsilon*1.001) {
		t.Errorf("price %g, rows %+v", got, rows)
	}
}

// The products that influences adds up, one by one: no formula in common.
func TestPolySFWInfluenceStepByStep(t *testing.T) {
	p := polySFW(t, PolySFW{Setting: logistics(), Set: l1(t, 3, 2),
		Batches: Batches{Rounds: 4, Size: 500}}, 10000, 3)
	for r, round := range p.rounds {
		worst := influence{}
		for k := range 1 << r {
			pure, rho := 0.0, 0.0
			for t := k; t < 1<<r; t++ {
				x := p.moved(p.batches[1<<r-1+k])
				for j := k + 1; j <= t; j++ {
					x *= 1 - 1/math.Sqrt(float64(j+1))
				}
				eps := p.diameter*x/round.scale + 4*p.floatError()/round.scale + 3.0/(1<<30)
				pure, rho = pure+eps, rho+eps*eps/8
			}
			worst = influence{max(worst.pure, pure), max(worst.rho, rho)}
		}
		must.Near(t, "pure", round.pure, worst.pure, 1e-10)
		must.Near(t, "rho", round.rho, worst.rho, 1e-10)
		if round.pure < worst.pure || round.rho < worst.rho {
			t.Error("rounded to the wrong side")
		}
	}
}

// Calibrated noise meets its target, is near it and far below the printed, and the event by
// itself agrees.
func TestPolySFWCalibration(t *testing.T) {
	for _, kind := range []Selection{Exponential, PermuteAndFlip, LaplaceNoise} {
		for _, target := range []accountant.Cost{{Epsilon: 0.5, Delta: 1e-8}, {Epsilon: 1, Delta: 1e-6},
			{Epsilon: 4, Delta: 1e-5}} {
			c := PolySFW{Setting: logistics(), Set: l1(t, 50, 1), Selection: kind,
				Batches: Batches{Rounds: 5, FullBudget: true}}
			c.Target = target
			p := polySFW(t, c, 100_000, 50)
			if got := p.price.Cost; got != target {
				t.Errorf("%s at %v: %v", kind, target, got)
			}
			for r, round := range p.rounds {
				if !(round.scale < 0.7*p.printedScale(r)) {
					t.Errorf("%s at %v, round %d: scale %g, printed %g", kind, target, r, round.scale,
						p.printedScale(r))
				}
			}
			event, err := train.LeastEpsilon(p.price.Event, accountant.ReplaceOne, target.Delta,
				p.price.Bound)
			if err != nil || !(event.Cost.Epsilon >= 0.999*p.price.Cost.Epsilon &&
				event.Cost.Epsilon <= p.price.Cost.Epsilon) {
				t.Errorf("%s at %v: the event costs %v, %v", kind, target, event, err)
			}
		}
	}
}

// A record is in whichever round costs most, which need not be the last: with printed noise the
// third costs less than the first.
func TestPolySFWPaysForTheWorstRound(t *testing.T) {
	s := logistics()
	s.Target = accountant.Cost{Epsilon: 1, Delta: 1e-6}
	plan, err := PolySFW{Setting: s, Set: l1(t, 3, 0.5), Noise: Printed,
		Batches: Batches{Rounds: 3, Size: 1200}}.plan(10_000, 3)
	if err != nil {
		t.Fatal(err)
	}
	p := plan
	last, worst, costs := 0.0, 0, 0.0
	for r, round := range p.rounds {
		eps, err := p.roundEpsilon(round.influence)
		if err != nil || eps > p.price.Cost.Epsilon {
			t.Errorf("round %d costs %g, the model %g (%v)", r, eps, p.price.Cost.Epsilon, err)
		}
		if eps > costs {
			worst, costs = r, eps
		}
		last = eps
	}
	// The rows of the printed noise are of that round, too.
	rows := must.Get(p.Compare())(t)
	for _, row := range rows[2:] {
		b := p.price.Blocks[worst]
		if row.Sensitivity != b.Sensitivity || row.Deviation != b.Deviation {
			t.Errorf("%s: %g, %g, the worst round is %+v", row.Reading, row.Sensitivity, row.Deviation, b)
		}
	}
	if last >= p.price.Cost.Epsilon {
		t.Errorf("the last round costs %g, the most: the test shows nothing", last)
	}
}
