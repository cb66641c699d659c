package federated

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/experiment"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/learn/data"
	"github.com/darrm/darrm/learn/federated"
	"github.com/darrm/darrm/learn/loss"
	"github.com/darrm/darrm/learn/train"
)

// localSteps is the demonstration of what steps at one silo gain: M quadratics whose Hessians are
// at distance τ from their mean, without noise. It has no chance in it.
type localSteps struct {
	Dim    int       `json:"dim"`
	Silos  int       `json:"silos"`
	Rounds int       `json:"rounds"`
	Taus   []float64 `json:"taus"`
	Locals []int     `json:"local_steps"`
	// Published has ‖∇F‖² at the end, a row for each τ.
	Published [][]float64 `json:"published,omitempty"`
	// Gains are bounds on how many times less ‖∇F‖² is with the most local steps than with the fewest,
	// a pair for each τ.
	Gains [][2]float64 `json:"gains"`
}

func (p *localSteps) Validate() error {
	if err := cmp.Or(
		check.Whole("dim", p.Dim, 2, 1000), check.Whole("silos", p.Silos, 1, 1000),
		check.Whole("rounds", p.Rounds, 1, 10_000),
		check.Some("taus and local_steps", len(p.Taus), len(p.Locals)),
		check.Each("taus", p.Taus, check.Epsilon),
		check.Each("local_steps", p.Locals, check.WholeIn(1, 1000)),
	); err != nil {
		return err
	}
	if len(p.Gains) != len(p.Taus) || p.Published != nil && len(p.Published) != len(p.Taus) {
		return check.Wantf("gains and published", len(p.Gains), "a row for each of the %d taus",
			len(p.Taus))
	}
	for _, row := range p.Published {
		if len(row) != len(p.Locals) {
			return check.Wantf("published figures of a tau", len(row), "one for each of the %d local_steps",
				len(p.Locals))
		}
	}
	if len(p.Locals) > len(stepLooks) {
		return check.Wantf("local_steps", len(p.Locals), "at most %d", len(stepLooks))
	}
	return nil
}

// Steps returns the number of steps of a run.
func (p *localSteps) Steps() int { return len(p.Taus) }

// stepLooks are the looks of the local steps, in order.
var stepLooks = []experiment.Method{prefix + "one", prefix + "five", prefix + "twenty"}

// quadratics is f(x; A, b) = xᵀAx/2 - bᵀx for a diagonal A: a record is A and b.
type quadratics struct {
	loss.MeanEstimation
	dim int
}

func (q quadratics) ModelDim(int) int                     { return q.dim }
func (quadratics) Start(x []float64, _ int, _ *rand.Rand) { clear(x) }
func (q quadratics) Gradient(g, x, a []float64, _ float64) {
	for j, v := range x {
		g[j] = a[j]*v - a[q.dim+j]
	}
}

// records returns one record for each silo: A = diag(0.01^{j/(d-1)}) ± τ, the sign by bit j mod 3
// of the silo's number m, and b_j = sin(1+10m+j).
func (p *localSteps) records(tau float64) (*data.Records, error) {
	var rows []float64
	for m := range p.Silos {
		a, b := make([]float64, p.Dim), make([]float64, p.Dim)
		for j := range a {
			sign := float64(2*(m>>(j%3)&1) - 1)
			a[j] = math.Pow(0.01, float64(j)/float64(p.Dim-1)) + tau*sign
			b[j] = math.Sin(1 + 10*float64(m) + float64(j))
		}
		rows = append(append(rows, a...), b...)
	}
	return data.NewRecords(p.Silos, 2*p.Dim, rows, nil)
}

// unclipped is a clip that cuts nothing.
const unclipped = 1e12

// trace returns ‖∇F‖² before the first round and after each.
func (p *localSteps) trace(r *experiment.Run, tau float64, steps int) ([]float64, error) {
	records, err := p.records(tau)
	if err != nil {
		return nil, err
	}
	eta := 0.5
	if tau > 0 {
		eta = min(eta, 1/(float64(steps)*tau))
	}
	q := quadratics{dim: p.Dim}
	s := federated.Setting{Loss: q, Silos: slices.Repeat([]int{1}, p.Silos), Rounds: p.Rounds,
		StepSize: eta, GradientClip: unclipped, Target: accountant.Cost{Epsilon: 1, Delta: 1e-5}}
	if steps > 1 {
		s.Local = federated.Local{Steps: steps, Batch: 1, Clip: unclipped, NoNoise: true}
	}
	plan, err := federated.PSGM{Setting: s, Momentum: 1, Epsilon: 1,
		Account: federated.Unshuffled}.New(p.Silos, 2*p.Dim)
	if err != nil {
		return nil, err
	}
	algorithm, err := plan.Noiseless().Train(records)
	if err != nil {
		return nil, err
	}
	g, sum := make([]float64, p.Dim), make([]float64, p.Dim)
	square := func(x []float64) float64 {
		clear(sum)
		for m := range p.Silos {
			q.Gradient(g, x, records.Row(m), 0)
			floats.AddScaled(sum, 1/float64(p.Silos), g)
		}
		return floats.Dot(sum, sum)
	}
	simulation := train.Simulate(algorithm, r.Seed)
	out := []float64{square(simulation.Model())}
	_, err = simulation.Run(r, func(_ int, x []float64) error {
		out = append(out, square(x))
		return nil
	})
	return out, err
}

func (p *localSteps) Run(r *experiment.Run) error {
	all := make([][][]float64, len(p.Taus)) // by τ and H
	for i, tau := range p.Taus {
		var err error
		all[i], err = experiment.Step(r, fmt.Sprintf("tau-%d", i+1),
			[]any{p.Dim, p.Silos, p.Rounds, tau, p.Locals, r.Seed}, func() ([][]float64, error) {
				traces := make([][]float64, len(p.Locals))
				for j, h := range p.Locals {
					var err error
					if traces[j], err = p.trace(r, tau, h); err != nil {
						return nil, err
					}
				}
				return traces, nil
			})
		if err != nil {
			return err
		}
	}
	return p.report(r, all)
}

func (p *localSteps) report(r *experiment.Run, all [][][]float64) error {
	r.Note("%d silos of one quadratic each in %d dimensions, no noise and no clipping; the step "+
		"size is min(1/2, 1/(Hτ)).", p.Silos, p.Dim)
	f := &experiment.Found{}
	for j, h := range p.Locals {
		f.Lines = append(f.Lines, experiment.Line{Name: fmt.Sprintf("H = %d", h), Look: stepLooks[j],
			Plain: true})
	}
	var panels []experiment.Panel
	for i, tau := range p.Taus {
		f.Places = append(f.Places, experiment.Place{At: map[string]float64{"tau": tau}})
		rounds := &experiment.Found{Lines: f.Lines}
		for j, h := range p.Locals {
			for k, v := range all[i][j] {
				if k == len(rounds.Places) {
					rounds.Places = append(rounds.Places, experiment.Place{
						At: map[string]float64{"round": float64(k)}})
				}
				rounds.Add(k, j, "gradient", v)
			}
			end := all[i][j][len(all[i][j])-1]
			f.Add(i, j, "local_steps", float64(h))
			f.Add(i, j, "gradient", end)
			if p.Published != nil {
				f.Add(i, j, "published", p.Published[i][j])
				r.Sentence("published", math.Abs(end-p.Published[i][j]) <= 1e-4*p.Published[i][j],
					map[string]any{"tau": tau, "h": h, "published": p.Published[i][j], "value": end})
			}
		}
		gain := f.Stat(i, 0, "gradient") / f.Stat(i, len(p.Locals)-1, "gradient")
		r.Sentence("gain", gain >= p.Gains[i][0] && gain <= p.Gains[i][1], map[string]any{"tau": tau,
			"most": p.Locals[len(p.Locals)-1], "least": p.Locals[0], "low": p.Gains[i][0],
			"high": p.Gains[i][1], "value": gain})
		panels = append(panels, r.Curves(rounds, experiment.Panel{Title: fmt.Sprintf("τ = %g", tau),
			X: "round", Y: "squared norm", LogY: true}, nil, "round", "gradient", "", ""))
	}
	r.Grid("gradients", nil, f)
	return r.Figure("gradients", "Squared gradient norm of the mean of all silos after each round.",
		len(panels), panels)
}
