package shuffled

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/darrm/darrm/experiment"
	"github.com/darrm/darrm/learn/shuffled"
	"github.com/darrm/darrm/learn/shuffled/iteration"
	"github.com/darrm/darrm/learn/train"
)

// bounded is the excess-risk bound of one line at its best step size.
type bounded struct {
	Method    shuffled.Scheme `json:"method"`
	Epsilon   float64         `json:"epsilon"`
	Printed   float64         `json:"printed"`
	Corrected float64         `json:"corrected"`
	StepCap   float64         `json:"step_cap"` // the theorem's
	Fails     []string        `json:"fails"`    // its hypotheses that do not hold
}

// mainTraining returns the line of a method in the first variant, with its fraction 0.5 or, where
// it has none such, its first.
func (p *trainingParameters) mainTraining(m shuffled.Scheme, epsilon float64) training {
	v := p.Variants[0]
	return trainingFor(m, v.Order, v.middleFraction(), epsilon)
}

func (v variant) middleFraction() float64 {
	for _, f := range v.Fractions {
		if f == 0.5 {
			return f
		}
	}
	return v.Fractions[0]
}

// bestSteps returns the step sizes that bounds depend on.
func (p *trainingParameters) bestSteps(found map[training]trained) []float64 {
	var out []float64
	for _, m := range p.Bounds {
		for _, eps := range p.Epsilons {
			out = append(out, found[p.mainTraining(m, eps)].StepSize)
		}
	}
	return out
}

// bound evaluates the source's bound, printed and corrected, with dissimilarity estimated
// at the start and the optimum.
func (p *trainingParameters) bound(r *experiment.Run, lab laboratory,
	found map[training]trained) ([]bounded, error) {
	var out []bounded
	estimates := map[int]shuffled.Dissimilarity{}
	estimate := func(private int) (shuffled.Dissimilarity, error) {
		if d, ok := estimates[private]; ok {
			return d, nil
		}
		d, err := shuffled.EstimateDissimilarity(r, lab.set.Task, lab.set.Private, lab.set.Public,
			private, shuffled.DissimilarityOptions{
				Probes: [][]float64{lab.optimum.X, lab.set.Start}, Permutations: 5, Restarts: 1, Seed: r.Seed,
			})
		if err == nil {
			estimates[private] = d
		}
		return d, err
	}
	for _, m := range p.Bounds {
		for _, eps := range p.Epsilons {
			t := p.mainTraining(m, eps)
			c := p.config(lab.set, t)
			c.StepSize = found[t].StepSize
			plan, err := shuffled.NewPlan(r, c, lab.set.Private, lab.set.Public)
			if err != nil {
				return nil, err
			}
			in, err := plan.Bounds(estimate, lab.optimum, 0)
			if err != nil {
				return nil, err
			}
			b, err := shuffled.ExcessRisk(in)
			if err != nil {
				return nil, err
			}
			out = append(out, bounded{m, eps, b.PrintedExact.Total(), b.CorrectedExact.Total(), b.StepCap,
				b.Fails})
		}
	}
	return out, nil
}

// training is one line of a figure: a method, and what it is run with.
type training struct {
	Method   shuffled.Scheme
	Order    string  // "" where no order is chosen
	Fraction float64 // 0 where the method has none
	Epsilon  float64 // 0 where the method has none
}

// trainings returns all lines, each once: methods without privacy do not depend on ε, and
// Public Only and DP-SGD visit private records in no order that could be chosen.
func (p *trainingParameters) trainings() []training {
	var out []training
	add := func(t training) {
		if !slices.Contains(out, t) {
			out = append(out, t)
		}
	}
	for _, m := range p.Methods {
		for _, v := range p.Variants {
			for _, f := range v.Fractions {
				for _, eps := range p.Epsilons {
					add(trainingFor(m, v.Order, f, eps))
				}
			}
		}
	}
	return out
}

// trainingFor returns the line on which the method appears with such parameters.
func trainingFor(m shuffled.Scheme, order string, fraction, epsilon float64) training {
	t := training{m, order, fraction, epsilon}
	if m == shuffled.PublicOnly || m == shuffled.DPSGD {
		t.Order = ""
	}
	if !m.UsesFraction() {
		t.Fraction = 0
	}
	if !m.IsPrivate() {
		t.Epsilon = 0
	}
	return t
}

func (t training) String() string {
	parts := []string{string(t.Method)}
	if t.Order != "" {
		parts = append(parts, t.Order)
	}
	if t.Fraction > 0 {
		parts = append(parts, "p"+strconv.FormatFloat(t.Fraction, 'g', -1, 64))
	}
	if t.Epsilon > 0 {
		parts = append(parts, "eps"+strconv.FormatFloat(t.Epsilon, 'g', -1, 64))
	}
	return strings.Join(parts, "-")
}

// dependsOnSeed reports whether runs from different seeds can differ.
func (t training) dependsOnSeed() bool {
	return t.Method.IsPrivate() || t.Method == shuffled.ShuffleG &&
		t.Order != iteration.FixedOrder.String()
}

// search runs the configuration at every step size, and at further ones while the best is
// the largest or the smallest tried. The cells are by step size, the largest first, then
// seed.
func (lab laboratory) search(ctx context.Context, c shuffled.Config,
	seeds []uint64) ([]train.Cell, train.Tuned, error) {
	grid := c.Grid(lab.set.Private, lab.set.Public)
	grid.StepSizes, grid.Seeds, grid.KeepTraces = lab.stepSizes, seeds, true
	var cells []train.Cell
	for {
		more, err := grid.Run(ctx, lab.set.Problem().Objective, lab.optimum)
		if err != nil {
			return nil, train.Tuned{}, err
		}
		for i := range more {
			// A loss beyond the range of numbers at any time counts as divergence: JSON and
			// pictures have no place for it.
			if slices.ContainsFunc(more[i].Trace, func(x train.Point) bool {
				return math.IsNaN(x.Excess+x.Distance) || math.IsInf(x.Excess+x.Distance, 0)
			}) {
				more[i].Diverged = true
			}
			if more[i].Diverged {
				more[i].Last.Excess = math.Inf(1)
			}
		}
		cells = append(cells, more...)
		slices.SortStableFunc(cells, func(a, b train.Cell) int {
			return cmp.Compare(b.StepSize, a.StepSize)
		})
		best, err := train.Best(cells)
		if err != nil {
			return nil, best, err
		}
		next, ok := lab.nextStepSize(best.StepSize, cells[0].StepSize, cells[len(cells)-1].StepSize)
		if !ok {
			return cells, best, nil
		}
		grid.StepSizes = []float64{next}
	}
}

// nextStepSize returns the step size that is next to the best one, where that is the largest or
// the smallest of those tried and there is a further one.
func (lab laboratory) nextStepSize(best, largest, smallest float64) (float64, bool) {
	larger, smaller := math.Inf(1), 0.0
	for _, eta := range lab.further {
		if eta > largest {
			larger = min(larger, eta)
		}
		if eta < smallest {
			smaller = max(smaller, eta)
		}
	}
	if best == largest && !math.IsInf(larger, 1) {
		return larger, true
	}
	return smaller, best == smallest && smaller > 0
}

// noteGrid notes the step sizes that were tried, and the lines whose best one is the largest or
// smallest of them.
func (p *trainingParameters) noteGrid(r *experiment.Run, lab laboratory,
	found map[training]trained) {
	further := ""
	if p.Widen {
		further = ", and of further ones of the source's 18 while the best was the largest or the " +
			"smallest tried"
	}
	r.Note("Each method has the step size with the smallest mean excess of the last iterate, of %d "+
		"tried%s; %d above 2/L = %.3g, where steps may be expansive, were left out. Choosing it by the "+
		"private loss is not paid for in ε.",
		len(lab.stepSizes), further, lab.allSizes-len(lab.stepSizes), lab.cap)
	edges := map[string][]string{}
	for _, t := range p.trainings() {
		if e := found[t].gridEdge(); e != "" {
			edges[e] = append(edges[e], t.String())
		}
	}
	for _, e := range []string{"largest", "smallest"} {
		if len(edges[e]) > 0 {
			r.Note("The best step size is the %s that was tried, so that a better one may lie beyond, for "+
				"%d of %d lines: %s.", e, len(edges[e]), len(found), strings.Join(edges[e], ", "))
		}
	}
}
