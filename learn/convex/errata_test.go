package convex

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/internal/randsrc/stream"
	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/learn/data"
	"github.com/darrm/darrm/learn/geometry"
	"github.com/darrm/darrm/learn/loss"
)

// Counterexamples to what the source prints: docs/errata.md.

// quarterSlope is the source's Algorithm 3 with its comparison the right way round: of the values
// of φ(u) + factor·(u-m)² at the quarter points the larger one's side is dropped, half of the
// interval or only a quarter of it.
func quarterSlope(link loss.Link, m, y, beta, factor float64, half bool, steps int) float64 {
	a, b := m-2/beta, m+2/beta
	h := func(u float64) float64 { return link.Value(u, y) + factor*(u-m)*(u-m) }
	for range steps {
		left, middle, right := a+(b-a)/4, (a+b)/2, a+3*(b-a)/4
		switch {
		case h(left) >= h(right) && half:
			a = middle
		case h(left) >= h(right):
			a = left
		case half:
			b = middle
		default:
			b = right
		}
	}
	return beta * (m - (a+b)/2)
}

// Without the factor β/2 the method solves another proximal problem.
func TestErratumOracleWithoutHalfBeta(t *testing.T) {
	const m, y, beta = 0.5, 1, 10
	hinge := loss.Hinge{}
	printed, right := quarterSlope(hinge, m, y, beta, 1, false, 100),
		quarterSlope(hinge, m, y, beta, beta/2, false, 100)
	must.Near(t, "u as printed", m-printed/beta, 0.7, 1e-9)
	must.Near(t, "u", m-right/beta, 0.6, 1e-7)
	must.Near(t, "the slope", hinge.EnvelopeSlope(m, y, beta), -1, 1e-12)
	must.Near(t, "the slope as printed", printed, -2, 1e-7) // twice what L0 allows
}

// To drop half of the interval after comparing its quarter points can drop the minimiser.
func TestErratumOracleDropsTheMinimiser(t *testing.T) {
	const m, y, beta = 0.376, 0, 0.59 // label 0 is the source's -1
	hinge := loss.Hinge{}
	exact := hinge.EnvelopeSlope(m, y, beta)
	if got := quarterSlope(hinge, m, y, beta, beta/2, true, 100); math.Abs(got-exact) < 0.06 {
		t.Errorf("slope %g, exact %g: no counterexample", got, exact)
	}
	worst, worstQuarter := 0.0, 0.0
	rng := rand.New(rand.NewPCG(3, 3))
	for range 20_000 {
		m, beta := 4*rng.Float64()-2, 0.3+29.7*rng.Float64()*rng.Float64()
		y := float64(rng.IntN(2))
		exact := hinge.EnvelopeSlope(m, y, beta)
		worst = max(worst, math.Abs(quarterSlope(hinge, m, y, beta, beta/2, true, 60)-exact))
		worstQuarter = max(worstQuarter, math.Abs(quarterSlope(hinge, m, y, beta, beta/2, false, 100)-
			exact))
	}
	if !(worst > 0.05) || !(worstQuarter < 1e-6) {
		t.Errorf("worst error %g dropping halves, %g dropping quarters", worst, worstQuarter)
	}
}

// The envelope is L0-Lipschitz on the link's interval, not only 2·L0; outside a bounded interval
// it is not even that, which is where noised iterates are.
func TestErratumEnvelopeSlope(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	most := 0.0
	for range 20_000 {
		m, y, beta := 6*rng.Float64()-3, 2*rng.Float64()-1, 0.1+30*rng.Float64()
		most = max(most, math.Abs(loss.Absolute{}.EnvelopeSlope(m, y, beta)))
	}
	if !(most <= 1) || most < 0.999 {
		t.Errorf("largest slope %g, want L0 = 1", most)
	}
	// M = [-1, 1], |u - 0.95|, β = 4: the proximal map on M is clamped to it.
	slope := func(m float64) float64 {
		const y, beta = 0.95, 4
		u := m - loss.Absolute{}.EnvelopeSlope(m, y, beta)/beta
		return beta * (m - max(-1, min(1, u)))
	}
	must.Near(t, "within M", math.Abs(slope(1)), 0.2, 1e-9)
	must.Near(t, "outside M", slope(1.5), 2, 1e-9)
}

// The printed blocks z_s, …, z_{s+T_k} have T_k + 1 records: neighbours that differ in the last of
// a block differ in two phases, so that the cost is not that of the worst one.
func TestErratumBlocksOverlap(t *testing.T) {
	p := phased(t, PhasedSGD{Setting: setting(), Ball: 1}, 1024, 10)
	blocks := p.schedule.Phases
	for k := 1; k < len(blocks); k++ {
		if printedEnd := blocks[k-1].From + 1024>>k; printedEnd != blocks[k].From { // s + T_k
			t.Errorf("phase %d: the printed end %d is not in phase %d, from %d", k, printedEnd, k+1,
				blocks[k].From)
		}
		if blocks[k-1].To > blocks[k].From {
			t.Errorf("phases %d and %d share records", k, k+1)
		}
	}
}

// σ_k ≤ 1/(4^{k-1}√n), which the proof of Theorem 19 uses, is false; (4/3)4^{-k}·min(1/√θ,
// 1/(ρ√n)) is true.
func TestErratumNoiseOfTheorem19(t *testing.T) {
	s := setting()
	s.Target.Epsilon = 0.2 * math.Sqrt(-math.Log(s.Target.Delta)) // ρ = 0.1
	const n, rank = 10_000, 1
	p := phased(t, PhasedSGD{Setting: s, Rank: rank, Noise: Printed}, n, 5)
	must.Near(t, "rho", p.schedule.Rho, 0.1, 1e-9)
	first := p.schedule.Phases[0].Deviation
	must.Near(t, "sigma 1", first, 1.0/30, 1e-9)
	if !(first > 3*1/math.Sqrt(n)) {
		t.Errorf("sigma_1 = %g is within the printed bound %g", first, 1/math.Sqrt(n))
	}
	for k, b := range p.schedule.Phases {
		limit := 4.0 / 3 * math.Pow(4, -float64(k+1)) * min(1/math.Sqrt(rank),
			1/(p.schedule.Rho*math.Sqrt(n)))
		if !(b.Deviation <= limit*(1+1e-9)) {
			t.Errorf("sigma_%d = %g above %g", k+1, b.Deviation, limit)
		}
	}
}

// Iterates move by up to D·η_{t-1} before step t, not by D·η_t, and so do gradients: the noise of
// nSFW on their differences is too small. The first step of a round moves by D from the far side.
func TestErratumMovementOfAStep(t *testing.T) {
	set := l1(t, 3, 1)
	p := polySFW(t, PolySFW{Setting: logistics(), Set: set,
		Batches: Batches{Rounds: 3, Size: 64, InOrder: true}}, 1000, 3)
	p.quiet = true
	// All of the first round goes to one vertex, the next record's gradients to its opposite.
	rows, y := make([][]float64, 1000), make([]float64, 1000)
	for i := range rows {
		rows[i] = []float64{1, 0, 0}
		if i < 64 {
			y[i] = 1
		}
	}
	run := p.newRun(data.SparseOf(records(t, rows, y)), stream.Seeded(1))
	diameter, farther := set.Diameter(), 0
	for k, b := range run.batches {
		before := slices.Clone(run.w)
		if err := run.Round(t.Context(), k); err != nil {
			t.Fatal(err)
		}
		for j := range before {
			before[j] = run.w[j] - before[j]
		}
		moved := geometry.Norm(before, 1)
		if !(moved <= diameter*stepSize(b.step)*(1+1e-12)) {
			t.Errorf("step %d of round %d moved by %g", b.step, b.round, moved)
		}
		if moved > diameter*stepSize(b.step+1)*1.01 { // what the source has for the next step
			farther++
		}
	}
	if farther == 0 {
		t.Error("no step moved by more than the printed bound")
	}
}

// Theorem 7's route: steps that cost ε·2^{-r/2}/√ln(1/δ) each, 2^r of them. By the source's own
// composition that is more than √2·ε, and by the best there is more than ε.
func TestErratumCompositionOfTheorem7(t *testing.T) {
	const epsilon, delta = 1.0, 1e-6
	for _, r := range []int{4, 6, 8} {
		k := 1 << r
		each := epsilon / math.Sqrt(float64(k)*-math.Log(delta))
		advanced := each*math.Sqrt(2*float64(k)*-math.Log(delta)) + float64(k)*each*math.Expm1(each)
		best, err := accountant.Optimal(k, accountant.Cost{Epsilon: each}, delta)
		if err != nil {
			t.Fatal(err)
		}
		if !(advanced > 1.48) || !(advanced < 1.5) || !(best.Epsilon > 1.03*epsilon) ||
			!(best.Epsilon < advanced) {
			t.Errorf("round %d: %g by advanced composition, %g by optimal", r, advanced, best.Epsilon)
		}
	}
}

// Theorem 16 is homogeneous: a loss and its weak convexity that are c times as large have
// stationary points at the same distance. The printed exponent 3/2 of L0, for 3/4, breaks that.
func TestErratumExponentsOfTheorem16(t *testing.T) {
	rate := func(c, power float64) float64 {
		const n, diameter, rho = 1e5, 2.0, 1.0
		return math.Pow(c, power) * math.Pow(diameter/(n*rho*c), 0.25) / math.Sqrt(rho*c)
	}
	must.Near(t, "corrected", rate(16, 0.75), rate(1, 0.75), 1e-12)
	if printed := rate(16, 1.5) / rate(1, 1.5); !(printed > 7) {
		t.Errorf("the printed expression grows %g times", printed)
	}
	// What is used, where 2ρD stays at its least.
	used := func(c float64) float64 {
		s, err := newProximalSchedule(2, 100_000, 10, 1, 1e-6, 1e-3*c, c, 2)
		if err != nil {
			t.Fatal(err)
		}
		return s.Rate
	}
	must.Near(t, "the schedule's", used(16), used(1), 1e-9)
}

// f + (β/2)‖w - c‖² is (L0 + βD)-Lipschitz on W, not L0, for which Theorem 29 is applied. The
// solver in use adds noise for f alone: the regulariser is of no record.
func TestErratumRegularisedLossIsSteeper(t *testing.T) {
	const ball, beta = 1.5, 4.0
	link := loss.PhaseRetrieval{}
	w, c, x := -ball, ball, 1.0
	slope := link.Slope(w*x, 0)*x + beta*(w-c)
	bound := link.Lipschitz(ball)
	must.Near(t, "L0", bound, 3, 1e-9)
	must.Near(t, "the regularised slope", math.Abs(slope), bound+beta*2*ball, 1e-9)
	p, err := ProximallyGuided{Setting: Setting{Loss: loss.GLM[loss.PhaseRetrieval]{}, Radius: 1,
		Target: setting().Target}, Ball: ball}.Plan(20_000, 2)
	if err != nil {
		t.Fatal(err)
	}
	b := p.Price.Blocks[0]
	must.Near(t, "the sensitivity of a step", b.Sensitivity, 2*bound/float64(b.To-b.From), 1e-9)
}

// A round has 2^r iterates, r from 0 to R-1: 2^R - 1 in all.
func TestErratumNumberOfIterates(t *testing.T) {
	p := polySFW(t, PolySFW{Setting: logistics(), Set: l1(t, 3, 1),
		Batches: Batches{Rounds: 4, Size: 64}}, 1000, 3)
	if got := len(p.batches); got != 15 {
		t.Errorf("%d iterates", got)
	}
}
