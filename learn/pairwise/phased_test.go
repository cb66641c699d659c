package pairwise

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/randsrc/stream"
	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/internal/testing/traintest"
	"github.com/darrm/darrm/learn/data"
	"github.com/darrm/darrm/learn/loss"
	"github.com/darrm/darrm/learn/train"
	"github.com/darrm/darrm/poissonbinom"
)

func phasedPlan(t testing.TB, m Method, n, d int) *phased {
	t.Helper()
	return must.Get(m.(interface {
		plan(n, d int) (*phased, error)
	}).plan(n, d))(t)
}

// T4: Algorithm 3's schedule with the text's noise and the corrected step size.
func TestLocalizedSchedule(t *testing.T) {
	s := setting(t)
	for _, c := range []struct {
		n, d         int
		eps, delta   float64
		ball         float64
		eta, perStep float64
		sigma        []float64
		steps        []int
	}{
		{256, 8, 1, 1. / 256, .5, 5.91204459e-4, 598.022199,
			[]float64{8.83883476e-2, 2.20970869e-2, 5.52427173e-3}, []int{888, 444, 222}},
		{256, 24, 1, 1. / 256, .5, 3.41332054e-4, 598.022199, []float64{5.10310363e-2}, nil},
		{256, 8, .2, 1. / 256, .5, 1.18240892e-4, 2990.110994, nil, nil},
		{256, 8, 2, 1. / 256, .5, 1.18240892e-3, 299.011099, nil, nil},
		{16384, 8, 1, 1. / 16384, 1, 5.76426420e-4, 0, []float64{1.76776695e-1}, []int{90853}},
	} {
		s.Ball, s.Target = c.ball, accountant.Cost{Epsilon: c.eps, Delta: c.delta}
		p := phasedPlan(t, Localized{Setting: s, Rule: Paper, Noise: train.Printed}, c.n, c.d)
		must.Near(t, "eta", p.eta, c.eta, 1e-8)
		b := p.price.Blocks
		for k, want := range c.sigma {
			must.Near(t, "sigma", b[k].Deviation, want, 1e-8)
		}
		for k, want := range c.steps {
			if p.blocks[k].steps != want {
				t.Errorf("T_%d = %d, want %d", k+1, p.blocks[k].steps, want)
			}
		}
		if c.perStep > 0 {
			must.Near(t, "sigma over step", b[0].Deviation/b[0].StepSize, c.perStep, 1e-8)
		}
		if !(p.price.Cost.Epsilon <= c.eps) {
			t.Errorf("epsilon = %g", p.price.Cost.Epsilon)
		}
	}
	// The printed step size, and the corrected terms, of the first.
	must.Near(t, "printed", 1./2*math.Log(4*256)/16, 2.16608494e-1, 1e-8)
	must.Near(t, "corrected", defaultStep(1, 2, 1e-9, 1/(16*math.Log(4*256)), 1e-9, 8), 4.50842200e-3,
		1e-8)
}

// T5: the ways to the sensitivity, in units of Gη, and what Mixture needs of noise.
func TestSensitivityMultipliers(t *testing.T) {
	for _, c := range []struct {
		n                             int
		delta                         float64
		paper, chernoff, exact, mixed float64
		halved                        float64 // 4Qσ*(1, δ/2)
	}{
		{128, 1. / 256, 83.1777, 83.2178, 64, 76.0785, 152.4369},
		{2048, 1e-5, 154.7906, 154.7919, 128, 262.7566, 497.1700},
		{8192, 1e-6, 182.4217, 182.4223, 152, 356.5546, 663.5036},
	} {
		d, target := draws{c.n, int(math.Ceil(float64(c.n) * math.Log(4/c.delta)))},
			accountant.Cost{Epsilon: 1, Delta: c.delta}
		for rule, want := range map[Rule]float64{Paper: c.paper, Chernoff: c.chernoff, Exact: c.exact} {
			q, err := rule.count(d, c.delta/2)
			if err != nil {
				t.Fatal(err)
			}
			must.Near(t, string(rule), 4*q, want, 1e-6)
		}
		star, err := accountant.GaussianNoise(halved(target))
		if err != nil {
			t.Fatal(err)
		}
		must.Near(t, "exact rule's noise", c.exact*star, c.halved, 1e-6)
		must.Near(t, "mixture's noise", 4*must.Get(counted([]draws{d}, c.delta*1e-5).noise(target))(t),
			c.mixed, 1e-4)
	}
	if _, err := Paper.count(draws{128, 128 * 100}, 1./512); err == nil {
		t.Error("12Gη·ln(4/δ) is taken for runs that are too long")
	}
	// E5: n = 100, t = 10⁶, γ = 2e⁻⁵: the text's threshold 10228.6 is exceeded too often, the
	// corrected is not.
	tails := occurrences(1_000_000, 100, 1e-9)
	at := func(x float64) float64 { return tails[int(x)] }
	text, corrected := 10_000+5+math.Sqrt(5*10_000), chernoff(1_000_000, 100, 2*math.Exp(-5))
	if g := math.Exp(-5); at(text) < g || at(corrected) > g {
		t.Errorf("exceeded with %g and %g, allowed %g", at(text), at(corrected), g)
	}
	must.Near(t, "the text's threshold is exceeded with", at(text), 0.0110, 0.01)
}

// The tails are at least the exact ones, and hardly more.
func TestOccurrences(t *testing.T) {
	for _, c := range []draws{{2, 9}, {2, 1}, {7, 50}, {128, 888}, {1000, 12_000}, {50, 3}} {
		tails := occurrences(c.steps, c.records, 1e-30)
		pmf := poissonbinom.Binomial(c.steps, 1/float64(c.records))
		rest := 0.0
		for q := len(pmf) - 1; q >= 0; q-- {
			if q < len(tails) && (tails[q] < rest*(1-1e-13) || tails[q] > rest*(1+1e-9)+1e-40) {
				t.Errorf("%v: P(N > %d) = %g, exactly %g", c, q, tails[q], rest)
			}
			rest += pmf[q]
		}
		if last := tails[len(tails)-1]; last >= 1e-30 && len(tails) <= c.steps {
			t.Errorf("%v: ends at %g", c, last)
		}
	}
}

// Acceptance 5: what is refused, by name.
func TestPrivateRefusals(t *testing.T) {
	refused := func(name, says string, m Method, n, d int) {
		t.Helper()
		_, err := m.Plan(n, d)
		if err == nil || !strings.Contains(err.Error(), says) &&
			!slices.Contains(check.Settling(err), says) {
			t.Errorf("%s: %v", name, err)
		}
	}
	with := func(change func(s *Setting)) Setting {
		s := setting(t)
		change(&s)
		return s
	}
	hinge, loglink := with(func(s *Setting) { s.Loss = pair(t, "hinge") }), with(func(s *Setting) {
		s.Loss = pair(t, "loglink")
	})
	for _, form := range []func(s Setting) Method{
		func(s Setting) Method { return OnePass{Setting: s} },
		func(s Setting) Method { return Localized{Setting: s} },
		func(s Setting) Method { return FullBatch{Setting: s} },
	} {
		refused("hinge", "smooth", form(hinge), 64, 2)
		refused("loglink", "convex", form(loglink), 64, 2)
		refused("no radius", "radius", form(with(func(s *Setting) { s.Radius = 0 })), 64, 2)
		refused("no ball", "ball", form(with(func(s *Setting) { s.Ball = 0 })), 64, 2)
		refused("no loss", "pair loss", form(with(func(s *Setting) { s.Loss = loss.Pair{} })), 64, 2)
		refused("no delta", "target delta", form(with(func(s *Setting) { s.Target.Delta = 0 })), 64, 2)
		refused("no epsilon", "target epsilon", form(with(func(s *Setting) { s.Target.Epsilon = 0 })), 64,
			2)
		refused("square without bound", "clip", form(with(func(s *Setting) {
			s.Loss, s.Ball = pair(t, "square"), 0
		})), 64, 2)
		refused("blank one", "replace one", form(with(func(s *Setting) {
			s.Neighbours = accountant.BlankOne
		})), 64, 2)
		refused("few records", "at least 4", form(setting(t)), 3, 2)
	}
	// L = 1: η_1 = η/4 may be 2.
	for eta, fits := range map[float64]bool{7.99: true, 8.01: false} {
		if _, err := (OnePass{Setting: setting(t), StepSize: eta}).Plan(64, 2); (err == nil) != fits {
			t.Errorf("eta = %g: %v", eta, err)
		}
	}
	// Lemma 5's noise holds up to ε = 4 at δ = 1/256, and calibrated noise beyond.
	for eps, fits := range map[float64]bool{.2: true, .5: true, 1: true, 2: true, 4: true, 8: false} {
		s := with(func(s *Setting) { s.Target.Epsilon = eps })
		p, err := Localized{Setting: s, Rule: Paper, Noise: train.Printed}.Plan(256, 8)
		if (err == nil) != fits {
			t.Errorf("printed noise at epsilon = %g: %v", eps, err)
		}
		if err == nil && !(p.Price.Cost.Epsilon <= eps) {
			t.Errorf("printed noise at epsilon = %g costs %v", eps, p.Price.Cost)
		}
	}
	s := with(func(s *Setting) { s.Target.Epsilon = 8 })
	for _, rule := range []Rule{Averaged, Mixture, Exact, Chernoff, Paper} {
		if p := plan(t, Localized{Setting: s, Rule: rule}, 256, 8); p.Price.Cost != s.Target {
			t.Errorf("%s costs %v", rule, p.Price.Cost)
		}
	}
	refused("an unknown rule", "rule", Localized{Setting: setting(t), Rule: "guess"}, 64, 2)
	refused("printed mixture", "rule", Localized{Setting: setting(t), Rule: Mixture,
		Noise: train.Printed}, 64, 2)
	refused("printed, by default", "noise", Localized{Setting: setting(t), Noise: train.Printed}, 64,
		2)
	refused("too many passes for the paper's", "rule=exact",
		Localized{Setting: setting(t), Rule: Paper, Passes: 100}, 64, 2)
	refused("too many passes for a law", "rule=exact", Localized{Setting: setting(t), Passes: 1001},
		64, 2)
}

// Rules that bound the occurrences take passes at will, and are compared without the laws, which
// would be worked out for hours. The smallest δ has few enough passes for the default.
func TestManyPassesArePriced(t *testing.T) {
	rows, err := plan(t, Localized{Setting: setting(t), Rule: Exact, Passes: maxPasses}, 64,
		2).Compare()
	if err != nil || len(rows) == 0 {
		t.Fatalf("%v, %v", rows, err)
	}
	for _, r := range rows {
		if strings.HasPrefix(r.Reading, "mixture") || strings.HasPrefix(r.Reading, "averaged") {
			t.Errorf("%q is compared", r.Reading)
		}
	}
	if least := math.Log(4) - math.Log(5e-324); least > maxPricedPasses {
		t.Errorf("the default takes up to %g passes", least)
	}
}

// Deviations of the rules, each with certainty at the same (ε, δ): the order of the comparison.
func TestCompareOrdersRules(t *testing.T) {
	p := plan(t, Localized{Setting: setting(t)}, 256, 8)
	rows, err := p.Compare()
	if err != nil || len(rows) != 8 {
		t.Fatalf("%d rows (%v)", len(rows), err)
	}
	used := 0
	for _, r := range rows {
		if r.InUse {
			used++
			must.Near(t, "noise in use", r.Deviation, p.Price.Blocks[0].Deviation, 1e-9)
		}
		if !(r.Epsilon <= 1) || !r.Holds {
			t.Errorf("%+v", r)
		}
	}
	if used != 1 {
		t.Errorf("%d rows are in use", used)
	}
	// printed > paper > chernoff (with c = 2) > exact > mixture > averaged > one pass
	for i := 1; i < 7; i++ {
		if rows[i].Deviation >= rows[i-1].Deviation {
			t.Errorf("%q has noise %g, %q %g", rows[i].Reading, rows[i].Deviation, rows[i-1].Reading,
				rows[i-1].Deviation)
		}
	}
	// The passes in order are those that these methods take with the same step size.
	eta := p.Price.Blocks[0].StepSize * 4
	for i, m := range []Method{OnePass{setting(t), eta}, Cyclic{setting(t), eta, 0}} {
		first := plan(t, m, 256, 8).Price.Blocks[0]
		must.Near(t, rows[6+i].Reading, rows[6+i].Deviation, first.Deviation, 1e-9)
		must.Near(t, rows[6+i].Reading, rows[6+i].Sensitivity, first.Sensitivity, 1e-9)
	}
	rows, err = plan(t, OnePass{Setting: setting(t)}, 256, 8).Compare()
	if err != nil || len(rows) != 3 || !rows[1].InUse || rows[2].InUse {
		t.Fatalf("%+v (%v)", rows, err)
	}
	// The formula's noise is more than is needed at ε ≤ 1, and what it costs is exact.
	must.Near(t, "the formula's noise", rows[2].Deviation/rows[2].Sensitivity,
		math.Sqrt(2*math.Log(1.25*256)), 1e-9)
	if !(rows[2].Epsilon < 1 && rows[2].Deviation > rows[1].Deviation) {
		t.Errorf("%+v", rows[2])
	}
	must.Near(t, "the sharper sensitivity's noise", rows[1].Deviation, rows[0].Deviation/2, 1e-9)
	// The square loss has neither sign: the wider holds.
	s := setting(t)
	s.Loss = pair(t, "square")
	if p := phasedPlan(t, OnePass{Setting: s}, 64, 2); p.occurrence != 4 {
		t.Errorf("square: c = %g", p.occurrence)
	}
	s.Loss = pair(t, "square:ordered")
	if p := phasedPlan(t, OnePass{Setting: s}, 64, 2); p.occurrence != 2 {
		t.Errorf("square, ordered: c = %g", p.occurrence)
	}
}

// No phase reads another's records, and the one-pass reads its own once as current.
func TestPhasesKeepApart(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	r := gaussians(t, rng, 37, 3, 1, .5, .3)
	for _, m := range []Method{OnePass{Setting: setting(t)}, Cyclic{Setting: setting(t), Passes: 7},
		Localized{Setting: setting(t), Rule: Exact}, FullBatch{Setting: setting(t)}} {
		p := phasedPlan(t, m, 37, 3)
		c := &reader{samples: r}
		run := newPhasedRun(p, c, stream.Seeded(1))
		for k, b := range p.price.Blocks {
			c.low, c.high = r.Len(), -1
			if err := run.Round(t.Context(), k); err != nil {
				t.Fatal(err)
			}
			if c.low < b.From || c.high >= b.To {
				t.Errorf("%s: phase %d reads records %d to %d of %d to %d", p.form, k+1, c.low, c.high, b.From,
					b.To-1)
			}
			if k > 0 && b.From != p.price.Blocks[k-1].To || b.To-b.From != 37>>(k+1) {
				t.Errorf("%s: block %+v", p.form, b)
			}
		}
		if len(p.price.Blocks) != 4 { // 18, 9, 4, 2
			t.Errorf("%s: %d phases", p.form, len(p.price.Blocks))
		}
	}
}

// reader notes which records are read.
type reader struct {
	samples
	low, high int
	rows      []int
}

func (c *reader) Row(i int) []float64 {
	c.low, c.high = min(c.low, i), max(c.high, i)
	c.rows = append(c.rows, i)
	return c.samples.Row(i)
}

// What Cyclic's sensitivity rests on: in each pass each record is once the current one and once a
// partner, never its own; and what its figures rest on: pairs are different until all are used.
func TestCyclicPairs(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for _, n := range []int{4, 6, 20, 41, 64} {
		r := gaussians(t, rng, n, 2, 1, .5, .3)
		for _, k := range []int{1, 2, 5, n} {
			p := phasedPlan(t, Cyclic{Setting: setting(t), Passes: k}, n, 2)
			c := &reader{samples: r}
			if err := newPhasedRun(p, c, stream.Seeded(1)).Round(t.Context(), 0); err != nil {
				t.Fatal(err)
			}
			records := p.blocks[0].records
			if len(c.rows) != 2*k*records || p.blocks[0].steps != k*records {
				t.Fatalf("n = %d, k = %d: %d rows read in %d steps", n, k, len(c.rows), p.blocks[0].steps)
			}
			pairs := map[[2]int]bool{}
			for pass := range k {
				partner := map[int]bool{}
				for i := range records {
					now, before := c.rows[2*(pass*records+i)], c.rows[2*(pass*records+i)+1]
					if now != i || before == now || partner[before] {
						t.Fatalf("n = %d, k = %d, pass %d: step %d is on %d and %d", n, k, pass, i, now, before)
					}
					partner[before] = true
					pairs[[2]int{min(now, before), max(now, before)}] = true
				}
			}
			most := records * (records - 1) / 2
			if k >= records/2 && len(pairs) != most || k < records/2 && len(pairs) != k*records {
				t.Errorf("n = %d, k = %d: %d different pairs of %d", n, k, len(pairs), most)
			}
		}
	}
}

// Where the textbook's noise, to compare with, would cost more than accounts go to, the plan stands
// without that row.
func TestLargestTarget(t *testing.T) {
	s := setting(t)
	s.Target.Epsilon = 10_000
	rows, err := plan(t, Cyclic{Setting: s}, 256, 8).Compare()
	if err != nil || len(rows) != 2 {
		t.Errorf("%d rows (%v)", len(rows), err)
	}
}

// The published sensitivity of DPEGD costs up to four times the noise of the one proved here. The
// comparison states so.
func TestFullBatchPrinted(t *testing.T) {
	s := setting(t)
	proved := plan(t, FullBatch{Setting: s, StepSize: 1}, 512, 5).Price.Blocks[0]
	p := plan(t, FullBatch{Setting: s, StepSize: 1, Noise: train.Printed}, 512, 5)
	printed := p.Price.Blocks[0]
	must.Near(t, "sensitivity", printed.Sensitivity, 4*2*printed.StepSize, 1e-9)
	must.Near(t, "ratio", printed.Deviation/proved.Deviation, 4/(257./256), 1e-9)
	rows, err := p.Compare()
	if err != nil || len(rows) != 1 || rows[0].Deviation != printed.Deviation || !rows[0].InUse ||
		rows[0].Noise != train.Printed {
		t.Errorf("%+v, %v", rows, err)
	}
	if _, err := (FullBatch{Setting: s, StepSize: 1, Noise: "loud"}).Plan(512, 5); err == nil {
		t.Error("an unknown noise passes")
	}
}

// For all numbers in a setting, a plan is refused or its runs end, however long the records are: a
// failure caused by a record would reveal it.
func TestRunsEnd(t *testing.T) {
	rng := rand.New(rand.NewPCG(61, 62))
	rows, y := make([][]float64, 16), make([]float64, 16)
	for i := range rows {
		rows[i], y[i] = unit(rng, 2), float64(i%2)
		for j := range rows[i] {
			rows[i][j] *= math.Pow(10, float64(12*(i%5)-30))
		}
	}
	rows[3][0], rows[4][1] = data.MaxMagnitude, -data.MaxMagnitude
	r := records(t, rows, y)
	scales := []float64{0, 1e-40, 1e-30, 1, 1e30, 1e40}
	ran := 0
	for _, radius := range scales {
		for _, ball := range scales {
			for _, step := range []float64{0, 1e-20, 1, 1e30} {
				s := setting(t)
				s.Radius, s.Ball = radius, ball
				hinge := s
				hinge.Loss = pair(t, "hinge")
				for _, m := range []Method{OnePass{s, step}, Cyclic{s, step, 3},
					Minimised{Setting: hinge, Scale: step}} {
					p, err := m.Plan(16, 2)
					if err != nil {
						continue
					}
					ran++
					w, err := train.Simulate(traintest.Trained(t, p, r), 1).Run(t.Context(), nil)
					if err != nil || math.IsNaN(w[0]+w[1]) {
						t.Errorf("%T, radius %g, ball %g, step %g: %v (%v)", m, radius, ball, step, w, err)
					}
				}
			}
		}
	}
	if ran < 40 {
		t.Errorf("%d plans only", ran)
	}
}
