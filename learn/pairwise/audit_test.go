package pairwise

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/internal/randsrc/stream"
	"github.com/darrm/darrm/internal/testing/traintest"
	"github.com/darrm/darrm/learn/data"
	"github.com/darrm/darrm/learn/train"
)

// The audit: an adversary who knows all records but one, and the state before a phase, sees what
// phases release and guesses which of two values that one has. How often it is right bounds the
// privacy from below, by Clopper and Pearson's intervals at 1e-7 a side, for a threshold that is
// chosen on other runs: a sound method is called broken with probability 2e-7 a view. Seeds are
// fixed besides. At μ near 1 and 4000 runs a world, what the intervals leave open is .08; half of
// the noise is .33 above what is allowed, noise without √2 .16, each give or take .011.
const (
	auditRuns = 8_000 // a world; half of them choose the threshold
)

func gaussianAllowed(multiplier float64) traintest.Allowed {
	n := distuv.UnitNormal
	return func(q float64) float64 { return n.CDF(n.Quantile(q) + 1/multiplier) }
}

// eventAllowed is the promise of an event by the accountant, at a few ε.
func eventAllowed(t *testing.T, event accountant.Event) traintest.Allowed {
	t.Helper()
	a, err := accountant.New(event.Relation())
	if err == nil {
		a, err = a.Charge(event, 1)
	}
	if err != nil {
		t.Fatal(err)
	}
	var costs []accountant.Cost
	for _, eps := range []float64{0, .5, 1, 2, 3} {
		at, err := a.AtEpsilon(eps, accountant.MethodPLD)
		best, ok := at.Best()
		if err != nil || !ok {
			t.Fatal(err)
		}
		costs = append(costs, best.Cost)
	}
	return func(q float64) float64 {
		least := 1.0
		for _, c := range costs {
			least = min(least, math.Exp(c.Epsilon)*q+c.Delta)
		}
		return least
	}
}

// audited runs both worlds and reports whether the adversary's view breaks the promise. It looks
// along the line on which the worlds' first releases differ without noise.
func audited(t *testing.T, worlds [2]*data.Records, promise traintest.Allowed,
	start func(r *data.Records, coins train.Coins, noise normals) train.Run,
	view func(line []float64, r train.Run) float64) bool {
	t.Helper()
	line := make([]float64, 2)
	for seed := range uint64(20) { // random draws may miss the record
		var w [2][]float64
		for k, r := range worlds {
			run := start(r, stream.Seeded(seed), traintest.Silent{})
			if err := run.Round(t.Context(), 0); err != nil {
				t.Fatal(err)
			}
			w[k] = run.State()[0].Values
		}
		floats.Add(line, floats.SubTo(make([]float64, 2), w[1], w[0]))
	}
	floats.Scale(1/floats.Norm(line, 2), line)
	var out [2][]float64
	for k, r := range worlds {
		for i := range auditRuns {
			coins := stream.Seeded(uint64(100 + 2*i + k))
			out[k] = append(out[k], view(line, start(r, coins, coins.Normals())))
		}
	}
	return traintest.Broken(out[0], out[1], promise)
}

// worst are the adverse neighbours that move a release most.
func worst(t *testing.T, n int, start func(r *data.Records, coins train.Coins,
	noise normals) train.Run) [2]*data.Records {
	t.Helper()
	var at [2]*data.Records
	most := -1.0
	for number := range 1 << 12 {
		worlds := adverse(t, n, number)
		if moved := released(t, func(r *data.Records) train.Run {
			return start(r, stream.Seeded(1), traintest.Silent{})
		}, worlds); moved > most {
			most, at = moved, worlds
		}
	}
	return at
}

// stretched are worlds whose records are times as long.
func stretched(t *testing.T, worlds [2]*data.Records, times float64) [2]*data.Records {
	t.Helper()
	for k, r := range worlds {
		var x, y []float64
		for i := range r.Len() {
			for _, v := range r.Row(i) {
				x = append(x, v*times)
			}
			y = append(y, r.Response(i))
		}
		var err error
		if worlds[k], err = data.NewRecords(r.Len(), r.Dim(), x, y); err != nil {
			t.Fatal(err)
		}
	}
	return worlds
}

func auditSetting(t *testing.T, name string) Setting {
	s := setting(t)
	s.Loss, s.Ball, s.Target = pair(t, name), 0, accountant.Cost{Epsilon: 3.5, Delta: 1e-2}
	if name == "square" {
		s.Clip = 1
	}
	return s
}

// far is the state before the first phase, at which adverse slopes are at their bounds.
var far = []float64{0, 400}

// atFar starts runs of a plan from far.
func atFar(p *phased) func(r *data.Records, coins train.Coins, noise normals) train.Run {
	return func(r *data.Records, coins train.Coins, noise normals) train.Run {
		run := newPhasedRun(p, r, coins)
		run.noise = noise
		copy(run.w, far)
		return run
	}
}

// firstRelease sees where the first phase goes along a line, per deviation of its noise.
func firstRelease(t *testing.T, b train.Block) func(line []float64, r train.Run) float64 {
	return func(line []float64, r train.Run) float64 {
		if err := r.Round(t.Context(), 0); err != nil {
			t.Fatal(err)
		}
		return floats.Dot(line, floats.SubTo(make([]float64, 2), r.State()[0].Values, far)) / b.Deviation
	}
}

func TestAuditOnePass(t *testing.T) {
	for _, name := range []string{"logistic", "square"} {
		sound := phasedPlan(t, OnePass{Setting: auditSetting(t, name), StepSize: .4}, 16, 2)
		through := func(p *phased) func(r *data.Records, coins train.Coins, noise normals) train.Run {
			return func(r *data.Records, coins train.Coins, noise normals) train.Run {
				own, err := p.take(r)
				if err != nil {
					t.Fatal(err)
				}
				return atFar(p)(own, coins, noise)
			}
		}
		worlds := worst(t, 16, atFar(sound))
		promise := gaussianAllowed(sound.price.Blocks[0].Multiplier())
		see := firstRelease(t, sound.price.Blocks[0])
		if audited(t, worlds, promise, through(sound), see) {
			t.Errorf("%s: the method as it is breaks its promise", name)
		}
		long := stretched(t, worlds, 3)
		if audited(t, long, promise, through(sound), see) {
			t.Errorf("%s: records that are shortened break the promise", name)
		}
		mutant := func() *phased {
			m := *sound
			m.price = sound.price.Clone()
			return &m
		}
		half := mutant() // also the noise for a record that is counted once, being in two pairs
		half.price.Blocks[0].Deviation /= 2
		steep := mutant()
		steep.slope, steep.lowest, steep.high = 2, -2, 2
		if name == "logistic" {
			steep.Setting.Loss = pair(t, "square") // of which the slopes are clipped at 1 only
		}
		mutants := map[string]bool{
			"half the noise":                 audited(t, worlds, promise, through(half), see),
			"records that are not shortened": audited(t, long, promise, atFar(sound), see),
			"slopes that are not clipped to the bound": audited(t, worst(t, 16, atFar(steep)), promise,
				through(steep), see),
		}
		if name == "square" { // whose gradients of one partner differ by 2G
			narrow := mutant()
			narrow.occurrence = 2
			narrow.scales = slices.Clone(sound.scales)
			for k := range narrow.scales {
				narrow.scales[k] /= 2
			}
			narrow.price.Blocks = nil
			if err := narrow.fill(func(int) float64 { return 2 }); err != nil {
				t.Fatal(err)
			}
			mutants["the sensitivity of losses that fall"] = audited(t, worlds, promise, through(narrow),
				see)
		}
		for mutant, caught := range mutants {
			if !caught {
				t.Errorf("%s: mutant %q passes", name, mutant)
			}
		}
	}
}

// Each pass of Cyclic shows the record twice more. Half of the noise is seen: what one pass would
// need, or a G of one record's norm and not of two.
func TestAuditCyclic(t *testing.T) {
	sound := phasedPlan(t, Cyclic{Setting: auditSetting(t, "logistic"), StepSize: .4, Passes: 3}, 16,
		2)
	worlds := worst(t, 16, atFar(sound))
	promise := gaussianAllowed(sound.price.Blocks[0].Multiplier())
	see := firstRelease(t, sound.price.Blocks[0])
	if audited(t, worlds, promise, atFar(sound), see) {
		t.Error("the method as it is breaks its promise")
	}
	m := *sound
	m.price = sound.price.Clone()
	m.price.Blocks[0].Deviation /= 2
	if !audited(t, worlds, promise, atFar(&m), see) {
		t.Error("mutant \"noise for one pass, or by the wrong G\" passes")
	}
}

// A pair of the last record of a phase and the first of the next would show the record in both
// releases, whose noises are independent.
func TestAuditPhaseBoundary(t *testing.T) {
	sound := phasedPlan(t, OnePass{Setting: auditSetting(t, "logistic"), StepSize: .4}, 16, 2)
	carried := *sound
	carried.price = sound.price.Clone()
	carried.price.Blocks[1].From--                         // the mutant reads it again,
	carried.blocks = append([]draws(nil), sound.blocks...) // as the first of its pairs
	carried.blocks[1].steps++
	// Record 7 of the first phase, of 8, is replaced; its partners before and behind are alike.
	rows, y := make([][]float64, 16), make([]float64, 16)
	for i := range rows {
		rows[i], y[i] = []float64{-.995, .0998}, 0
	}
	rows[7], y[7] = []float64{.995, -.0998}, 1
	zero := records(t, rows, y)
	rows[7], y[7] = []float64{-.995, -.0998}, 1
	worlds := [2]*data.Records{zero, records(t, rows, y)}
	for p, want := range map[*phased]bool{sound: false, &carried: true} {
		// The second phase alone: nothing of the record is to be seen in its step.
		got := audited(t, worlds, func(q float64) float64 { return q }, atFar(p),
			func(line []float64, r train.Run) float64 {
				if err := r.Round(t.Context(), 0); err != nil {
					t.Fatal(err)
				}
				before := slices.Clone(r.State()[0].Values)
				if err := r.Round(t.Context(), 1); err != nil {
					t.Fatal(err)
				}
				return floats.Dot(line, floats.SubTo(before, r.State()[0].Values, before))
			})
		if got != want {
			t.Errorf("carried over %v: seen %v", want, got)
		}
	}
}

// The record comes about five times into 40 draws, more or less: what the law of Averaged has for
// rare draws is not seen in so few runs, so that the mutant has a third of the noise.
func TestAuditLocalized(t *testing.T) {
	sound := phasedPlan(t, Localized{Setting: auditSetting(t, "logistic"), StepSize: .4, Passes: 5},
		16, 2)
	worlds := worst(t, 16, atFar(sound))
	see := firstRelease(t, sound.price.Blocks[0])
	promise := eventAllowed(t, sound.price.Event)
	if audited(t, worlds, promise, atFar(sound), see) {
		t.Error("the method as it is breaks its promise")
	}
	third := *sound
	third.price = sound.price.Clone()
	third.price.Blocks[0].Deviation /= 3
	if !audited(t, worlds, promise, atFar(&third), see) {
		t.Error("a third of the noise passes")
	}
}

func TestAuditMinimised(t *testing.T) {
	sound := minimisedPlan(t, Minimised{Setting: auditSetting(t, "hinge"), Scale: .5}, 8, 2)
	start := func(p *minimised) func(r *data.Records, coins train.Coins, noise normals) train.Run {
		return func(r *data.Records, _ train.Coins, noise normals) train.Run {
			run := newMinimisedRun(p, r, noise)
			copy(run.w, far)
			return run
		}
	}
	worlds := worst(t, 8, start(sound))
	promise := gaussianAllowed(sound.price.Blocks[0].Multiplier())
	see := firstRelease(t, sound.price.Blocks[0])
	if audited(t, worlds, promise, start(sound), see) {
		t.Error("the method as it is breaks its promise")
	}
	for name, factor := range map[string]float64{"half the noise": .5,
		"noise without √2": math.Sqrt2 / 2} {
		m := *sound
		m.price = sound.price.Clone()
		m.price.Blocks[0].Deviation *= factor
		if !audited(t, worlds, promise, start(&m), see) {
			t.Errorf("mutant %q passes", name)
		}
	}
	// Not regularised enough: the minimiser moves further than the account has it.
	loose := *sound
	loose.solved = slices.Clone(sound.solved)
	loose.solved[0].alpha /= 2
	if !audited(t, worlds, promise, start(&loose), see) {
		t.Error("mutant \"half the regulariser\" passes")
	}
}
