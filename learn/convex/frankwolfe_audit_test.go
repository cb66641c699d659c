package convex

import (
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/internal/testing/raced"
	"github.com/darrm/darrm/internal/testing/traintest"
	"github.com/darrm/darrm/learn/data"
	"github.com/darrm/darrm/learn/loss"
	"github.com/darrm/darrm/learn/train"
)

// Audits of the methods that choose vertices, by the means of audit_test.go: false alarms have
// probability 2e-7 each. The adversary sees every vertex chosen. Others than the record that
// differs lean one way, so that the vertex it speaks for is rare in both worlds: there a
// selection loses nearly all of its ε₀. The planted mutants show the power of the audit.

// audited are the selections, of which short tests take the default.
func audited() []Selection {
	if os.Getenv("DARRM_LONG") == "" {
		return []Selection{Exponential}
	}
	return []Selection{Exponential, PermuteAndFlip, LaplaceNoise}
}

// leaningWorlds are n records of one feature 1: the responses of others, and of record i ±1000.
func leaningWorlds(t *testing.T, n, i int, others []float64) [2]*data.Sparse {
	t.Helper()
	var w [2]*data.Sparse
	for k := range w {
		rows, y := repeat(n, 1), slices.Clone(others)
		y[i] = 1000 * float64(2*k-1)
		w[k] = data.SparseOf(records(t, rows, y))
	}
	return w
}

// eitherWay reports whether any of the four directions is broken: high values in one world against
// the other, or low ones.
func eitherWay(zero, one []float64, a traintest.Allowed) bool {
	negated := func(v []float64) []float64 {
		out := make([]float64, len(v))
		for i, x := range v {
			out[i] = -x
		}
		return out
	}
	return traintest.Broken(zero, one, a) || traintest.Broken(one, zero, a) ||
		traintest.Broken(negated(zero), negated(one), a) ||
		traintest.Broken(negated(one), negated(zero), a)
}

func TestAuditFrankWolfe(t *testing.T) {
	raced.Sequential(t)
	config := func(kind Selection) FrankWolfe {
		c := FrankWolfe{Setting: setting(), Set: l1(t, 1, 1), Steps: 1, Selection: kind}
		c.Target = accountant.Cost{Epsilon: 1.5, Delta: 1e-6}
		return c
	}
	others := []float64{0, 1000, 1000} // the model goes to +1
	audit := func(p *frankWolfePlan) bool {
		var starts [2]func(train.Coins) train.Run
		for k, r := range leaningWorlds(t, 3, 0, others) {
			cols := r.Transpose()
			starts[k] = func(coins train.Coins) train.Run {
				return newFrankWolfeRun(p, r, cols, coins.Source())
			}
		}
		zero, one := views(starts, func(r train.Run) float64 {
			if err := r.Round(t.Context(), 0); err != nil {
				t.Fatal(err)
			}
			return r.Output()[0]
		})
		return eitherWay(zero, one, approxAllowed(accountant.Cost{Epsilon: 1.5, Delta: 1e-6}))
	}
	for _, kind := range audited() {
		sound := frankWolfe(t, config(kind), 3, 1)
		if audit(sound) {
			t.Errorf("%s as it is breaks its promise", kind)
		}
		half, steep := *sound, *sound
		half.schedule.Levels *= 2
		steep.slope, steep.norm, steep.schedule.Levels = 2*sound.slope, 2*sound.norm,
			2*sound.schedule.Levels
		steep.link, steep.oracle.link, steep.oracle.prox, steep.oracle.bound = loss.Square{},
			loss.Square{}, loss.Square{}, 2
		blanked := config(kind)
		blanked.Neighbours = accountant.BlankOne
		for name, mutant := range map[string]*frankWolfePlan{
			"half the noise": &half, "slopes that are not clipped to the bound": &steep,
			"one gradient for the two of a replaced record": frankWolfe(t, blanked, 3, 1),
		} {
			if !audit(mutant) {
				t.Errorf("%s: mutant %q passes", kind, name)
			}
		}
	}
}

func TestAuditPolySFW(t *testing.T) {
	raced.Sequential(t)
	// Round 1 has the batches [4, 8) and [8, 10); record 8 differs, of the batch that costs most.
	c := PolySFW{Setting: setting(), Set: l1(t, 1, 0.05),
		Batches: Batches{Rounds: 2, Size: 4, InOrder: true}}
	c.Loss, c.Clip = loss.LeastSquares{}, 1
	c.Target = accountant.Cost{Epsilon: 1.5, Delta: 1e-6}
	const n = 12
	others := []float64{0, 0, 0, 0, 1000, 1000, 1000, 1000, 0, 1000, 0, 0}
	audit := func(p *polySFWPlan) bool {
		var starts [2]func(train.Coins) train.Run
		for k, r := range leaningWorlds(t, n, 8, others) {
			starts[k] = func(coins train.Coins) train.Run { return p.newRun(r, coins) }
		}
		zero, one := views(starts, func(r train.Run) float64 {
			e, chosen := r.(*stochasticRun), 0.0
			for k := range 3 {
				if err := r.Round(t.Context(), k); err != nil {
					t.Fatal(err)
				}
				if k > 0 && e.v[0] < 0 {
					chosen += float64(k)
				}
			}
			return chosen
		})
		return eitherWay(zero, one, approxAllowed(c.Target))
	}
	for _, kind := range audited() {
		c.Selection = kind
		sound := polySFW(t, c, n, 1)
		if audit(sound) {
			t.Errorf("%s as it is breaks its promise", kind)
		}
		mutant := func(change func(p *polySFWPlan)) *polySFWPlan {
			p := *sound
			p.rounds, p.batches = slices.Clone(p.rounds), slices.Clone(p.batches)
			change(&p)
			return &p
		}
		steep := mutant(func(p *polySFWPlan) { p.slope, p.norm = 2*p.slope, 2*p.norm })
		blanked := c
		blanked.Neighbours = accountant.BlankOne
		for name, mutant := range map[string]*polySFWPlan{
			"half the noise": mutant(func(p *polySFWPlan) { p.rounds[1].scale /= 2 }),
			"slopes that are not clipped to the bound":      steep,
			"one gradient for the two of a replaced record": polySFW(t, blanked, n, 1),
			"(t+1)/b for the batch's real size": mutant(
				func(p *polySFWPlan) { p.batches[2].to-- }),
			"a batch that is used twice": mutant(func(p *polySFWPlan) {
				p.batches[1].from, p.batches[1].to = 8, 10
			}),
		} {
			if kind == LaplaceNoise && mutant.batches[2].to < sound.batches[2].to {
				continue // its record is then alone, and Laplace noise near 0 loses half of its ε₀
			}
			if !audit(mutant) {
				t.Errorf("%s: mutant %q passes", kind, name)
			}
		}
	}
}

func TestAuditNSFW(t *testing.T) {
	raced.Sequential(t)
	// The batch of round 1, step 1 is record 4 alone; D is small, so that nearly all of a step's
	// sensitivity is the gradient's.
	set := lp(t, 1, 2, 0.05)
	c := NSFW{Setting: auditSetting(), Set: set, Batches: Batches{Rounds: 2, Size: 2, InOrder: true}}
	c.Loss, c.Clip = loss.LeastSquares{}, 1
	const n = 6
	sound := nsfw(t, c, n, 1)
	audit := func(p *nsfwPlan, raw float64, together float64) bool {
		var starts [2]func(train.Coins) train.Run
		for k := range starts {
			b := data.SparseBuilder{Dim: 1}
			for i := range n {
				x, y := 0.0, 0.0
				if i == 4 {
					x, y = raw, 1000*float64(2*k-1)
				}
				if err := b.Add([]int32{0}, []float64{x}, y); err != nil {
					t.Fatal(err)
				}
			}
			r, err := b.Records()
			if err != nil {
				t.Fatal(err)
			}
			starts[k] = func(coins train.Coins) train.Run { return p.newRun(r, coins, coins.Normals()) }
		}
		// What each step adds to the estimate that was seen before, in units of its noise.
		zero, one := views(starts, func(r train.Run) float64 {
			e, before, seen := r.(*stochasticRun), 0.0, 0.0
			for k := range 3 {
				if err := r.Round(t.Context(), k); err != nil {
					t.Fatal(err)
				}
				added := e.estimate[0] - (1-stepSize(e.batches[k].step))*before
				before = e.estimate[0]
				switch k {
				case 1:
					seen += together * added / sound.blocks[1].Deviation
				case 2:
					seen += added / sound.blocks[2].Deviation
				}
			}
			return -seen
		})
		return traintest.Broken(zero, one, gaussianAllowed(sound.blocks[2].Multiplier()))
	}
	if audit(sound, 1, 0) {
		t.Error("the method as it is breaks its promise")
	}
	mutant := func(change func(p *nsfwPlan)) *nsfwPlan {
		p := *sound
		p.blocks, p.batches = slices.Clone(p.blocks), slices.Clone(p.batches)
		change(&p)
		return &p
	}
	blanked := c
	blanked.Neighbours = accountant.BlankOne
	for name, caught := range map[string]bool{
		"half the noise": audit(mutant(func(p *nsfwPlan) { p.blocks[2].Deviation /= 2 }), 1, 0),
		"slopes that are not clipped to the bound": audit(
			mutant(func(p *nsfwPlan) { p.slope, p.norm = 2, 2 }), 1, 0),
		"one gradient for the two of a replaced record": audit(nsfw(t, blanked, n, 1), 1, 0),
		"records that are not shortened":                audit(sound, 3, 0),
		// The record is in step 0's batch too, of which it is half.
		"a batch that is used twice": audit(mutant(func(p *nsfwPlan) {
			p.batches[1].from, p.batches[1].to = 4, 5
		}), 1, 1),
		// ⌊b/(t+1)⌋ = 1 of b/(t+1) = 1.5: noise for the latter.
		"(t+1)/b for the batch's real size": audit(mutant(func(p *nsfwPlan) {
			p.blocks[2].Deviation /= 1.5
		}), 1, 0),
	} {
		if !caught {
			t.Errorf("mutant %q passes", name)
		}
	}
}

// P2 of the source's tasks: hinge loss on the ℓ1 ball, risk on fresh records.
func TestAcceptance11SparseClassification(t *testing.T) {
	raced.Sequential(t)
	const n, d = 8192, 50
	mean := func(noise Noise, eps float64, quiet bool) float64 {
		c := hinges(t, d)
		c.Target.Epsilon, c.Noise = eps, noise
		p := frankWolfe(t, c, n, d)
		p.quiet = quiet
		sum, seeds := 0.0, 2
		for seed := range seeds {
			rng := rand.New(rand.NewPCG(uint64(seed), 111))
			draw := func(n int) *data.Records {
				x, y := make([]float64, n*d), make([]float64, n)
				for i := range y {
					row := x[i*d : (i+1)*d]
					for j := range row {
						row[j] = 2*rng.Float64() - 1
					}
					if rng.Float64() < 1/(1+math.Exp(-4*(2*row[0]-1.5*row[1]+row[2]))) {
						y[i] = 1
					}
				}
				return must.Get(data.NewRecords(n, d, x, y))(t)
			}
			w := traintest.Simulate(t, traintest.Trained(t, p.Plan(), draw(n)), uint64(seed))
			fresh := draw(5000)
			for i := range 5000 {
				sum += (loss.GLM[loss.Hinge]{}).Loss(w, fresh.Row(i), fresh.Response(i)) / 5000 / float64(seeds)
			}
		}
		return sum
	}
	off, one, four, sharp := mean(Printed, 4, true), mean(Printed, 1, false), mean(Printed, 4, false),
		mean(Calibrated, 1, false)
	t.Logf("no noise %.4f, printed at 1 %.4f, at 4 %.4f, calibrated at 1 %.4f", off, one, four, sharp)
	if !(off <= 0.66) || !(one <= 0.73) || !(four <= 0.67) || !(sharp < one) {
		t.Errorf("no noise %g, printed at 1 %g, at 4 %g, calibrated at 1 %g", off, one, four, sharp)
	}
}
