package shuffled

import (
	"github.com/darrm/darrm/experiment"
	"github.com/darrm/darrm/learn/shuffled"
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
