package convex

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/internal/testing/raced"
	"github.com/darrm/darrm/internal/testing/traintest"
	"github.com/darrm/darrm/learn/data"
	"github.com/darrm/darrm/learn/loss"
)

// bisecting is the setting of the published schedules: D = 2, calibrated for the bisection.
func bisecting(noise Noise) PhasedSGD {
	return PhasedSGD{Setting: setting(), Ball: 1, Noise: noise, Oracle: Bisection}
}

// The published schedule.
func TestAcceptance4PhasedSchedule(t *testing.T) {
	p := phased(t, bisecting(Printed), 1024, 10)
	s := p.schedule
	must.Near(t, "rho", s.Rho, 0.1345198997, 1e-9)
	must.Near(t, "eta", s.StepSize, 2.08333333e-2, 2e-9)
	must.Near(t, "beta", s.Beta, 16, 1e-12)
	must.Near(t, "alpha", s.Alpha, 9.765625e-5, 1e-12)
	must.Near(t, "2/(beta R²)", 2/(s.Beta*p.Radius*p.Radius), 0.125, 1e-12)
	if len(s.Phases) != 10 {
		t.Fatalf("%d phases", len(s.Phases))
	}
	for _, c := range []struct {
		k, steps     int
		eta, printed float64
	}{{1, 512, 5.20833333e-3, 1.54871758e-1}, {2, 256, 1.30208333e-3, 3.87179395e-2},
		{10, 1, 1.98682149e-8, 5.90788871e-7}} {
		b := s.Phases[c.k-1]
		if b.To-b.From != c.steps {
			t.Errorf("phase %d has %d steps", c.k, b.To-b.From)
		}
		must.Near(t, fmt.Sprint("eta ", c.k), b.StepSize, c.eta, 3e-9)
		must.Near(t, fmt.Sprint("sigma ", c.k), b.Deviation, c.printed, 3e-9)
	}
	must.Near(t, "sensitivity 1", s.Phases[0].Sensitivity, 1.09375e-2, 1e-9)
	must.Near(t, "calibrated sigma 1", phased(t, bisecting(Calibrated), 1024,
		10).schedule.Phases[0].Deviation, 4.62074254e-2, 3e-9)

	s = phased(t, bisecting(Printed), 65536, 50).schedule
	must.Near(t, "eta", s.StepSize, 2.60416667e-3, 2e-9)
	must.Near(t, "sigma 1", s.Phases[0].Deviation, 1.93589697e-2, 3e-9)
	must.Near(t, "sigma 16", s.Phases[15].Deviation, 1.80294455e-11, 3e-9)
}

// traceRecords are the eight records of the published traces.
func traceRecords(t testing.TB) *data.Records {
	return records(t, [][]float64{{.6, .8}, {1, 0}, {0, -1}, {-.8, .6}, {.6, -.8}, {.28, .96}, {-1, 0},
		{0, 1}},
		[]float64{.5, .3, -.9, -.1, .2, .7, -.4, .6})
}

// The published traces: noise off, and noise fixed.
func TestAcceptance4PhasedTrace(t *testing.T) {
	c := PhasedSGD{Setting: setting(), Ball: 1, Noise: Printed}
	p := phased(t, c, 8, 2)
	must.Near(t, "rho", p.schedule.Rho, 0.134519899690, 1e-11)
	must.Near(t, "eta", p.schedule.StepSize, 0.063413288850, 1e-10)
	must.Near(t, "beta", p.schedule.Beta, 1.414213562373, 1e-11)
	for k, want := range []float64{4.714045207910e-1, 1.178511301978e-1, 2.946278254944e-2} {
		must.Near(t, fmt.Sprint("sigma ", k+1), p.schedule.Phases[k].Deviation, want, 1e-11)
	}
	for _, trace := range []struct {
		noise normals
		want  [][]float64
	}{
		{traintest.Silent{}, [][]float64{{0.012124858580, 0.016544055760},
			{0.013352208909, 0.017453808930}, {0.013893998722, 0.017453808930}}},
		{fixed{1, -1}, [][]float64{{0.483529379371, -0.454860465031}, {0.600408554808, -0.568773435179},
			{0.629590515079, -0.598236217728}}},
	} {
		got := rounds(t, newPhasedRun(p, traceRecords(t), trace.noise), 3)
		for k := range got {
			for j := range got[k] {
				must.Near(t, fmt.Sprintf("w%d[%d]", k+1, j), got[k][j], trace.want[k][j], 1e-9)
			}
		}
	}
	c.Loss = loss.GLM[loss.Hinge]{}
	r := traceRecords(t)
	var rows [][]float64
	var y []float64
	for i := range 8 {
		rows = append(rows, r.Row(i))
		y = append(y, 0)
		if r.Response(i) > 0 {
			y[i] = 1
		}
	}
	p = phased(t, c, 8, 2)
	got := rounds(t, newPhasedRun(p, records(t, rows, y), traintest.Silent{}), 3)
	must.Near(t, "hinge w3[0]", got[2][0], 0.028496346677, 1e-9)
	must.Near(t, "hinge w3[1]", got[2][1], 0.016963054767, 1e-9)
}

// A step that leaves the ball ends on it, before the next step and the average.
func TestPhasedStepsStayInTheBall(t *testing.T) {
	p := phased(t, PhasedSGD{Setting: setting(), Ball: 0.05}, 8, 2)
	for k := range p.schedule.Phases {
		p.schedule.Phases[k].StepSize *= 100
	}
	r := traceRecords(t)
	run := newPhasedRun(p, r, traintest.Silent{})
	w, left := make([]float64, 2), 0
	for k, phase := range p.schedule.Phases {
		u, sum := slices.Clone(w), make([]float64, 2)
		for i := phase.From; i < phase.To; i++ {
			x := r.Row(i)
			slope := p.oracle.Slope(u[0]*x[0]+u[1]*x[1], r.Response(i))
			for j := range u {
				u[j] -= phase.StepSize * slope * x[j]
			}
			if norm := math.Hypot(u[0], u[1]); norm > 0.05 {
				left++
				u[0], u[1] = 0.05*u[0]/norm, 0.05*u[1]/norm
			}
			sum[0], sum[1] = sum[0]+u[0], sum[1]+u[1]
		}
		for j := range w {
			w[j] = sum[j] / float64(phase.To-phase.From)
		}
		if err := run.Round(t.Context(), k); err != nil {
			t.Fatal(err)
		}
		for j, got := range run.State()[0].Values {
			must.Near(t, fmt.Sprintf("w%d[%d]", k+1, j), got, w[j], 1e-12)
		}
	}
	if left == 0 {
		t.Error("no step leaves the ball: the test shows nothing")
	}
}

// Noise off, one phase: a neighbour moves its average by at most the sensitivity that the
// account has, for every oracle and both relations; and comes near it.
func TestAcceptance6PhasedSensitivity(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for _, kind := range []OracleKind{Fast, Bisection} {
		for _, relation := range []accountant.Relation{accountant.ReplaceOne, accountant.BlankOne} {
			c := PhasedSGD{Setting: setting(), Ball: 1, Oracle: kind}
			if relation == accountant.BlankOne {
				c.Interval = Interval{-0.2, 0.3} // narrower than predictions are
			}
			if kind == Fast {
				c.StepFactor = 20 // near the end of what is non-expansive
			}
			c.Neighbours = relation
			p := phased(t, c, 64, 3)
			largest := 0.0
			for range 1000 {
				rows, y := make([][]float64, 64), make([]float64, 64)
				for i := range rows {
					rows[i], y[i] = unit(rng, 3), 4*rng.Float64()-2
				}
				a := newPhasedRun(p, records(t, rows, y), traintest.Silent{})
				i := rng.IntN(p.schedule.Phases[0].To)
				if rng.IntN(4) == 0 {
					i = 0
				}
				if relation == accountant.BlankOne {
					rows[i], y[i] = make([]float64, 3), 0
				} else {
					floats.Scale(-1, rows[i]) // the far side; records are copies
					if rng.IntN(2) == 0 {
						rows[i], y[i] = unit(rng, 3), 4*rng.Float64()-2
					}
				}
				b := newPhasedRun(p, records(t, rows, y), traintest.Silent{})
				moved := floats.Distance(rounds(t, a, 1)[0], rounds(t, b, 1)[0], 2)
				largest = max(largest, moved)
				if moved > p.schedule.Phases[0].Sensitivity {
					t.Fatalf("%s, %v: moved by %g, sensitivity %g", kind, relation, moved,
						p.schedule.Phases[0].Sensitivity)
				}
			}
			if largest < 0.5*p.schedule.Phases[0].Sensitivity {
				t.Errorf("%s, %v: the sensitivity %g is never near, the largest is %g", kind, relation,
					p.schedule.Phases[0].Sensitivity, largest)
			}
		}
	}
}

// The printed noise keeps its promise, tight and in the loosest reading.
func TestAcceptance7PhasedLedger(t *testing.T) {
	for _, c := range []struct {
		n, d         int
		target       accountant.Cost
		loose, tight float64
	}{
		{1024, 10, accountant.Cost{Epsilon: 1, Delta: 1e-6}, 0.8421, 0.2737},
		{4096, 20, accountant.Cost{Epsilon: 0.5, Delta: 1e-5}, 0.3799, 0.1199},
		{65536, 50, accountant.Cost{Epsilon: 1, Delta: 1e-6}, 0.8421, 0.2737},
	} {
		config := bisecting(Printed)
		config.Target = c.target
		p := phased(t, config, c.n, c.d)
		price := p.price
		rows, err := p.Compare()
		if err != nil {
			t.Fatal(err)
		}
		loose, tight, calibrated := rows[0], rows[1], rows[2]
		if math.Abs(loose.Epsilon-c.loose) > 6e-5 || loose.Holds || loose.InUse {
			t.Errorf("n = %d: loosest reading %+v, want %v", c.n, loose, c.loose)
		}
		if c.n < 65536 && math.Abs(tight.Epsilon-c.tight) > 6e-5 || !tight.Holds || !tight.InUse ||
			math.Abs(tight.Epsilon-price.Cost.Epsilon) > 1e-12 {
			t.Errorf("n = %d: tight %+v, want %v, price %v", c.n, tight, c.tight, price.Cost)
		}
		if !(loose.Epsilon <= c.target.Epsilon && tight.Epsilon <= c.target.Epsilon) {
			t.Errorf("n = %d: the printed noise breaks its promise", c.n)
		}
		if e := calibrated.Epsilon; !(e <= c.target.Epsilon && e > 0.999*c.target.Epsilon) {
			t.Errorf("n = %d: calibrated to %v", c.n, e)
		}
	}
	// The last phase of the first, where no steps add up: 0.2598.
	p := phased(t, bisecting(Printed), 1024, 10)
	last := p.schedule.Phases[9]
	got, err := accountant.GaussianEpsilon(last.Multiplier(), 1e-6)
	if err != nil || math.Abs(got-0.2598) > 6e-5 {
		t.Error("last phase:", got, err)
	}
	// Beyond the theorem the printed noise is refused by name, the calibrated is not.
	c := bisecting(Printed)
	c.Target.Epsilon = 6
	var broken *check.Error
	if _, err := c.Plan(1024, 10); !errors.As(err, &broken) || broken.Name != "target epsilon" {
		t.Error("epsilon = 6 with printed noise:", err)
	}
	c.Noise = Calibrated
	if p, err := c.Plan(1024, 10); err != nil || p.Price.Cost.Epsilon > 6 ||
		len(p.Price.Notes) != 1 {
		t.Error("epsilon = 6 with calibrated noise:", err)
	}
}

// The closed form of the risk, by its published values.
func TestPhasedRisk(t *testing.T) {
	for _, c := range []struct {
		n, d   int
		target accountant.Cost
		want   float64
	}{
		{1024, 10, accountant.Cost{Epsilon: 1, Delta: 1e-6}, 1.517201},
		{4096, 20, accountant.Cost{Epsilon: 0.5, Delta: 1e-5}, 0.997885},
		{65536, 50, accountant.Cost{Epsilon: 1, Delta: 1e-6}, 0.106480},
	} {
		config := bisecting(Printed)
		config.Target = c.target
		got, err := config.Risk(c.n, c.d, 0)
		if err != nil {
			t.Fatal(err)
		}
		must.Near(t, fmt.Sprint("risk at ", c.n), got, c.want, 2e-6)
	}
	free := PhasedSGD{Setting: setting()}
	small, err := free.Risk(1<<14, 10, 1)
	large, err2 := free.Risk(1<<20, 10, 1)
	if err != nil || err2 != nil || !(large < small/4) {
		t.Error("the risk on all of Rᵈ:", small, large, err, err2)
	}
}

// Each record is read in one phase and once, and never more than n of them; what is written in
// one phase's records moves no earlier phase.
func TestAcceptance13PhasedReadsOnce(t *testing.T) {
	for _, n := range []int{2, 3, 64, 1000, 1024} {
		p := phased(t, PhasedSGD{Setting: setting(), Ball: 1}, n, 2)
		rows, y := make([][]float64, n), make([]float64, n)
		for i := range rows {
			rows[i] = []float64{1, 0}
		}
		c := &counted{samples: records(t, rows, y), reads: map[int]map[int]int{}}
		run := newPhasedRun(p, c, traintest.Silent{})
		for k := range p.schedule.Phases {
			c.round = k
			if err := run.Round(t.Context(), k); err != nil {
				t.Fatal(err)
			}
		}
		if len(c.reads) > n {
			t.Errorf("n = %d: %d records are read", n, len(c.reads))
		}
		for i, by := range c.reads {
			if len(by) != 1 {
				t.Errorf("n = %d: record %d is read in phases %v", n, i, by)
			}
			for k, times := range by {
				if b := p.schedule.Phases[k]; times != 1 || i < b.From || i >= b.To {
					t.Errorf("n = %d: record %d is read %d times in phase %d", n, i, times, k+1)
				}
			}
		}
	}
}

// Robust regression, the published task: mean excess over seeds of data and noise.
func TestAcceptance10RobustRegression(t *testing.T) {
	raced.Sequential(t)
	excess := func(n, seeds int, c PhasedSGD, noise bool) float64 {
		sum := 0.0
		p := phased(t, c, n, 10)
		for s := range seeds {
			rng := rand.New(rand.NewPCG(uint64(s), 77))
			star := unit(rng, 10)
			floats.Scale(0.8, star)
			draw := func() ([]float64, float64) {
				x := unit(rng, 10)
				return x, floats.Dot(x, star) + 0.1*(rng.ExpFloat64()-rng.ExpFloat64())
			}
			rows, y := make([][]float64, n), make([]float64, n)
			for i := range rows {
				rows[i], y[i] = draw()
			}
			var w []float64
			r := records(t, rows, y)
			if noise {
				w = traintest.Simulate(t, traintest.Trained(t, p.Plan(), r), uint64(s))
			} else {
				run := newPhasedRun(p, r, traintest.Silent{})
				rounds(t, run, len(p.schedule.Phases))
				w = run.Output()
			}
			for range 4000 {
				x, v := draw()
				sum += (math.Abs(floats.Dot(x, w)-v) - math.Abs(floats.Dot(x, star)-v)) / 4000 / float64(seeds)
			}
		}
		return sum
	}
	c := PhasedSGD{Setting: setting(), Ball: 1}
	quiet := c
	quiet.Target.Epsilon = 3.7 // η by 1/√n only, for d = 10 and n = 4096
	printed, calibrated := c, c
	printed.Noise, calibrated.Noise = Printed, Calibrated
	const zero = 0.134
	off, p4, c4, p16 := excess(4096, 20, quiet, false), excess(4096, 20, printed, true),
		excess(4096, 20, calibrated, true), excess(16384, 10, printed, true)
	t.Logf("no noise %.4f, printed %.4f, calibrated %.4f; n = 16384 printed %.4f", off, p4, c4, p16)
	if !(off >= 0.020 && off <= 0.029) {
		t.Errorf("without noise %v", off)
	}
	if !(p4 <= 0.055 && p4 < zero) || !(c4 <= 0.032 && c4 < zero) || !(c4 < p4) {
		t.Errorf("n = 4096: printed %v, calibrated %v", p4, c4)
	}
	if !(p16 <= 0.012 && p16 < p4) {
		t.Errorf("n = 16384: printed %v", p16)
	}
}

// Parameters that make no plan are refused by name.
func TestPhasedRefusals(t *testing.T) {
	for name, c := range map[string]struct {
		change func(c *PhasedSGD)
		n, d   int
	}{
		"number of records": {func(*PhasedSGD) {}, 1, 2},
		"dimension":         {func(*PhasedSGD) {}, 8, 0},
		"radius":            {func(c *PhasedSGD) { c.Radius = 0 }, 8, 2},
		"clip":              {func(c *PhasedSGD) { c.Loss = loss.LeastSquares{} }, 8, 2},
		"task":              {func(c *PhasedSGD) { c.Loss = loss.MeanEstimation{} }, 8, 2},
		"target epsilon":    {func(c *PhasedSGD) { c.Target.Epsilon = 0 }, 8, 2},
		"target delta":      {func(c *PhasedSGD) { c.Target.Delta = 0 }, 8, 2},
		"ball":              {func(c *PhasedSGD) { c.Ball = math.NaN() }, 8, 2},
		"noise":             {func(c *PhasedSGD) { c.Noise = "none" }, 8, 2},
		"rank":              {func(c *PhasedSGD) { c.Rank = 1 }, 8, 2},
		"step factor":       {func(c *PhasedSGD) { c.StepFactor = 25 }, 4096, 2},
		"neighbours":        {func(c *PhasedSGD) { c.Neighbours = accountant.AddOrRemoveOne }, 8, 2},
	} {
		config := PhasedSGD{Setting: setting(), Ball: 1}
		c.change(&config)
		var broken *check.Error
		if _, err := config.Plan(c.n, c.d); !errors.As(err, &broken) || broken.Name != name {
			t.Errorf("%s: %v", name, err)
		}
	}
	config := PhasedSGD{Setting: setting(), Ball: 1}
	config.StepFactor = 23.9
	if p, err := config.Plan(4096, 2); err != nil || p.Price.Cost.Epsilon > 1 {
		t.Error("a larger step:", err)
	}
	config.StepFactor = 0
	config.Loss = loss.GLM[loss.PhaseRetrieval]{}
	config.Clip = 1
	if _, err := config.Plan(8, 2); err == nil {
		t.Error("a loss that is not convex")
	}
	// A clip makes the squared loss Lipschitz.
	config.Loss = loss.LeastSquares{}
	p, err := config.Plan(8, 2)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range []*data.Records{nil, records(t, [][]float64{{1, 2}}, []float64{1}),
		records(t, make8(3), make([]float64, 8)), records(t, make8(2), nil)} {
		if _, err := p.Train(r); err == nil {
			t.Error("records that do not fit are taken")
		}
	}
	config.Neighbours = accountant.BlankOne
	blank, err := config.Plan(8, 2)
	if err != nil {
		t.Fatal(err)
	}
	if traintest.Trained(t, blank, records(t, make8(2), make([]float64, 8))).Releasable() == nil {
		t.Error("a blanked record's price is released")
	}
}

func make8(d int) [][]float64 {
	rows := make([][]float64, 8)
	for i := range rows {
		rows[i] = make([]float64, d)
		rows[i][0] = 1
	}
	return rows
}

// Phases end before their noise is lost in the rounding of float64.
func TestPhasesEndBeforeRounding(t *testing.T) {
	for _, ball := range []float64{0, 1} {
		p := phased(t, PhasedSGD{Setting: setting(), Ball: ball}, 1<<26, 10)
		last := p.schedule.Phases[len(p.schedule.Phases)-1]
		scale := 2 * ball
		if ball == 0 {
			scale = math.Sqrt(1 << 26)
		}
		if len(p.schedule.Phases) >= 26 || last.Deviation < 0x1p-40*scale ||
			last.Deviation > 0x1p-37*scale {
			t.Errorf("ball %v: %d phases, the last with noise %g", ball, len(p.schedule.Phases),
				last.Deviation)
		}
	}
}
