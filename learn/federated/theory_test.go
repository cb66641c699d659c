package federated

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/learn/loss"
	"github.com/darrm/darrm/learn/train"
)

// The theory's step size by the formulas of the specification, in its variables, and what bounds
// it.
func TestTheoryStep(t *testing.T) {
	const silos, records, dim = 4, 50, 3
	for _, c := range []struct {
		by     string
		change func(*PSGM)
		// of the round's batch K·b, of the local phase K and b
		batch, k, b float64
	}{
		{"smoothness", func(c *PSGM) { c.Epsilon = 8 }, 0, 1, 0},
		{"the noise of reports", func(c *PSGM) { c.Epsilon, c.Rounds, c.Account = 0.01, 300, "" }, 0, 1, 0},
		{"the sampling of batches", func(c *PSGM) {
			c.Batch, c.Momentum, c.Epsilon, c.Account = []int{1}, 0.01, 8, Unshuffled
		}, 1, 1, 0},
		{"that silos may differ", func(c *PSGM) {
			c.Local, c.Epsilon = Local{Steps: 5, Batch: 25, Clip: 1, Noise: 0.05}, 8
		}, 0, 5, 25},
		{"the noise of local steps", func(c *PSGM) {
			c.Local, c.Epsilon = Local{Steps: 5, Batch: 25, Clip: 2, Noise: 30}, 8
		}, 0, 5, 25},
		{"the sampling of local steps", func(c *PSGM) {
			c.Local, c.Epsilon = Local{Steps: 50, Batch: 1, Clip: 2, NoNoise: true}, 8
			c.Batch, c.Account = []int{5}, Unshuffled
			c.Momentum = 1
			c.DifferenceClip = 0
		}, 5, 50, 1},
	} {
		config := PSGM{Setting: Setting{Loss: loss.Logistic{}, Silos: []int{records, records, records,
			records}, Rounds: 10, GradientClip: 1, DifferenceClip: 2, Target: target}, Momentum: 0.1,
			Account: Unshuffled}
		c.change(&config)
		p := must.Get(config.New(silos*records, dim))(t)
		l, eps := 2.0, p.Price().Cost.Epsilon
		want := 1 / (2 * l)
		beta, rounds := config.Momentum, float64(config.Rounds)
		if c.k == 1 {
			want = min(want, math.Sqrt(beta)*silos*records*eps/(math.Sqrt(dim*rounds)*l))
			if c.batch > 0 {
				want = min(want, math.Sqrt(beta*silos*c.batch)/l) // √(βMKb)/L
			}
		} else {
			want = min(want, math.Sqrt(beta)*silos*records*eps/(math.Sqrt(dim*rounds)*c.k*l),
				1/(c.k*2*l), math.Sqrt(c.b)/(math.Sqrt(c.k)*l))
			if p.LocalNoise() > 0 {
				want = min(want, 1/(math.Sqrt(c.k*dim)*l*p.LocalNoise()))
			}
			if c.batch > 0 {
				b := c.batch / c.k
				want = min(want, math.Sqrt(beta*silos*b)/(math.Sqrt(c.k)*l)) // √(βMb)/(√K·L)
			}
		}
		must.Near(t, c.by, p.StepSize, want, 1e-12)
		if _, by := p.theoryStep(); by != c.by && c.by != "the sampling of local steps" {
			t.Errorf("%s: bounded by %s", c.by, by)
		}
		if notes := strings.Join(p.Price().Notes, "\n"); !strings.Contains(notes, "the theory's") {
			t.Errorf("%s: the price does not state the step size: %s", c.by, notes)
		}
		// The run is that of the step size, stated.
		config.StepSize = p.StepSize
		stated := must.Get(config.New(silos*records, dim))(t)
		if !slices.Equal(stated.text(), p.text()) {
			t.Errorf("%s: another run than that of the step size %g", c.by, p.StepSize)
		}
		if blocks := p.Price().Blocks; len(blocks) > 0 && blocks[0].StepSize != p.StepSize {
			t.Errorf("%s: blocks state the step size %g", c.by, blocks[0].StepSize)
		}
	}
	central := Central{Setting: Setting{Loss: loss.Logistic{}, Silos: []int{50}, Rounds: 10,
		GradientClip: 1, Target: target}}
	if _, err := central.New(50, 3); err == nil || !strings.Contains(err.Error(), "step size = 0") {
		t.Errorf("a trusted server without a step size: %v", err)
	}
}

// Each silo may have a batch of its own: as many reports, and the rate of the silo that takes the
// largest share of its records.
func TestBatchOfEachSilo(t *testing.T) {
	sizes := []int{20, 8, 20, 18}
	plan := func(batch ...int) *Plan {
		return networkPlan(t, 66, 10, func(c *PSGM) { c.Account, c.Silos, c.Batch = "", sizes, batch })
	}
	own := plan(5, 2, 5, 4)
	if reports, _ := own.Expected(1); reports != 16 || own.rate(1) != 0.25 || own.rate(0) != 1 {
		t.Errorf("%d reports, rate %g", reports, own.rate(1))
	}
	if text := own.Price().Event.(interface{ String() string }).String(); !strings.Contains(text,
		"2 × 16 shuffled reports at epsilon 0.58, mode ternary, batches of 0.25") {
		t.Error(text)
	}
	same := plan(4)
	if !(own.Price().Cost.Epsilon < same.Price().Cost.Epsilon) {
		t.Errorf("a quarter of each silo costs %v, and 4 of each, half of the smallest, %v",
			own.Price().Cost, same.Price().Cost)
	}
	if r := plan(5, 0, 5, 4).rate(1); r != 1 {
		t.Errorf("a silo that takes all records has the rate %g", r)
	}
	records := noisyRecords(t, 66, 8)
	sent := 0
	for m, size := range sizes {
		first := sent
		sent += size
		rows := make([]int, size)
		for i := range rows {
			rows[i] = first + i
		}
		s := must.Get(own.NewSilo(m, must.Get(records.Select(rows))(t), seeded(1)))(t)
		if b := s.batch(1, "q"); len(b) != []int{5, 2, 5, 4}[m] || slices.Max(b) >= size {
			t.Errorf("silo %d takes %v", m, b)
		}
		if b := s.batch(0, "q"); len(b) != size {
			t.Errorf("silo %d takes %d records first", m, len(b))
		}
	}
	// One process, through reports: as many as are expected, or the round would be refused.
	run := must.Get(own.Train(records))(t)
	if _, err := train.Simulate(run, 1).Run(t.Context(), nil); err != nil {
		t.Error(err)
	}
}
