package majority

import (
	"fmt"
	"math"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/experiment"
	"github.com/darrm/darrm/internal/check"
)

// noiseParameters measure the normal noise that GNMax needs for a promise, by the Rényi order λ.
type noiseParameters struct {
	Targets   []noiseTarget `json:"targets"`
	MaxOrder  float64       `json:"max_order"`  // λ of the grid search
	OrderStep float64       `json:"order_step"` // from λ_min + step on
}

// noiseTarget bounds the cost of one answer of GNMax.
type noiseTarget struct {
	Data         string  `json:"data"`
	Epsilon      float64 `json:"epsilon"`
	Delta        float64 `json:"delta"`
	PrintedOrder string  `json:"printed_order,omitempty"`
	PrintedSigma string  `json:"printed_sigma,omitempty"`
}

// maxGrid bounds the orders of the grid search.
const maxGrid = 100_000

func (p *noiseParameters) Validate() error {
	if err := check.Some("targets", len(p.Targets)); err != nil {
		return err
	}
	if !(p.OrderStep > 0) || !(p.MaxOrder > 1 && p.MaxOrder <= 1e9) ||
		p.MaxOrder/p.OrderStep > maxGrid {
		return check.Wantf("order_step", p.OrderStep,
			"above 0, and at most %d steps up to max_order in (1, 1e9]", maxGrid)
	}
	for _, t := range p.Targets {
		if _, err := ensemble.GNMaxNoise(accountant.Cost{Epsilon: t.Epsilon, Delta: t.Delta}); err !=
			nil {
			return err
		}
		if t.leastOrder()+2*p.OrderStep > p.MaxOrder {
			return check.Wantf("max_order", p.MaxOrder, "well above %g, the least order for ε = %g",
				t.leastOrder(), t.Epsilon)
		}
	}
	return nil
}

func (p *noiseParameters) Steps() int { return len(p.Targets) }

// leastOrder returns λ_min = 1 + ln(1/δ)/ε: below it no noise is enough.
func (t noiseTarget) leastOrder() float64 { return 1 + math.Log(1/t.Delta)/t.Epsilon }

// variance returns σ² = λ/(ε - ln(1/δ)/(λ-1)), for λ above leastOrder.
func (t noiseTarget) variance(order float64) float64 {
	return order / (t.Epsilon - math.Log(1/t.Delta)/(order-1))
}

// calibration holds the noise for one target.
type calibration struct {
	Order     float64 `json:"order"`      // the best of the grid
	GridSigma float64 `json:"grid_sigma"` // there
	Sigma     float64 `json:"sigma"`      // at the best λ of all
	// by the exact formula for normal noise, not by Rényi orders
	Exact     float64   `json:"exact"`
	Orders    []float64 `json:"orders"`
	Variances []float64 `json:"variances"`
}

func (p *noiseParameters) Run(r *experiment.Run) error {
	t := r.TableOf("sigma", nil)
	curve := r.TableOf("variance", nil)
	var panels []experiment.Panel
	for i, target := range p.Targets {
		c, err := experiment.Step(r, fmt.Sprintf("target-%d", i+1),
			[]any{target.Epsilon, target.Delta, p.MaxOrder, p.OrderStep},
			func() (calibration, error) { return p.calibrate(target) })
		if err != nil {
			return err
		}
		var printedOrder, printedSigma, there any
		if target.PrintedOrder != "" {
			printedOrder = target.PrintedOrder
			var order float64
			if _, err := fmt.Sscan(target.PrintedOrder, &order); err == nil && order > target.leastOrder() {
				there = math.Sqrt(target.variance(order))
			}
		}
		if target.PrintedSigma != "" {
			printedSigma = target.PrintedSigma
			r.Sentence("printed", experiment.Agrees(c.GridSigma, target.PrintedSigma) && experiment.Agrees(c.Sigma, target.PrintedSigma),
				map[string]any{"at": target.Data, "grid": c.GridSigma, "value": c.Sigma, "printed": target.PrintedSigma})
		}
		t.Add(target.Data, target.Epsilon, target.Delta, c.Order, c.GridSigma, c.Sigma, c.Exact,
			printedOrder, printedSigma, there)
		r.Sentence("exact", c.Exact < c.Sigma, map[string]any{"at": target.Data, "value": c.Exact, "second": c.Sigma})
		line := experiment.Series{Method: methodGNMax, Name: "σ² by λ", Plain: true}
		for j, o := range c.Orders {
			curve.Add(target.Data, o, c.Variances[j])
			line.Add(o, c.Variances[j])
		}
		best := experiment.Series{Method: methodOpt, Name: "smallest", Marks: true}
		best.Add(c.Order, c.GridSigma*c.GridSigma)
		panels = append(panels, experiment.Panel{Title: fmt.Sprintf("%s: ε = %g, δ = %g", target.Data,
			target.Epsilon, target.Delta), X: "λ, order", Y: "σ²", LogY: true,
			Series: []experiment.Series{line, best}})
	}
	r.Table(t)
	r.Table(curve)
	r.Note("The source's λ column does not go with its σ: at the printed λ the variance is about " +
		"three times the smallest one. The σ are right.")
	return r.Figure("variance",
		"The variance that GNMax needs, by the order λ of the Rényi bound; the mark is the smallest.",
		min(3, len(panels)), panels)
}

func (p *noiseParameters) calibrate(t noiseTarget) (calibration, error) {
	c := calibration{GridSigma: math.Inf(1)}
	target := accountant.Cost{Epsilon: t.Epsilon, Delta: t.Delta}
	var err error
	if c.Sigma, err = ensemble.GNMaxNoise(target); err != nil {
		return c, err
	}
	// One vote changes two counts by one: an L2 sensitivity of √2.
	exact, err := accountant.GaussianNoise(target)
	if err != nil {
		return c, err
	}
	c.Exact = exact * math.Sqrt2
	for i := 1; ; i++ {
		order := t.leastOrder() + float64(i)*p.OrderStep
		if order > p.MaxOrder {
			return c, nil
		}
		v := t.variance(order)
		c.Orders, c.Variances = append(c.Orders, order), append(c.Variances, v)
		if s := math.Sqrt(v); s < c.GridSigma {
			c.Order, c.GridSigma = order, s
		}
	}
}
