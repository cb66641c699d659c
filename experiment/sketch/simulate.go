package sketch

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/darrm/darrm/experiment"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/sketch"
)

// simulationParameters: errors of estimators for vectors of length 1 that are all equally
// alike, measured and predicted.
type simulationParameters struct {
	Dimension  int                 `json:"dimension"`
	Panels     []panel             `json:"panels"`
	Estimators []experiment.Method `json:"estimators"`
	Trials     int                 `json:"trials"`
	Root       uint64              `json:"root"`
	Beta       string              `json:"beta"`
	// Order is the estimators from the smallest error to the largest, at every point. It is claimed
	// of the predicted errors, and tested.
	Order []experiment.Method `json:"order"`
	// Against is "k" or "rho": the axis of the figure.
	Against string `json:"against"`
}

// panel is points of one number of clients.
type panel struct {
	Clients int       `json:"clients"`
	Sent    []int     `json:"sent"` // k
	Rho     []float64 `json:"rho"`  // ρ*, 1 for identical vectors
	// Derived, if given, has for each of Sent, each of Rho and each of the estimators the error
	// that was worked out independently; measured errors are claimed to be these.
	Derived [][][]float64 `json:"derived,omitempty"`
}

func (p *simulationParameters) Validate() error {
	_, err := sketch.ParseBetaMode(p.Beta)
	err = cmp.Or(err,
		check.Whole("dimension", p.Dimension, 2, 1<<16),
		check.Some("panels and estimators", len(p.Panels), len(p.Estimators)),
		check.Each("estimators", p.Estimators, check.Among(known[:len(known)-1])),
		check.Each("order", p.Order, check.Among(p.Estimators)),
		check.Whole("trials", p.Trials, 2, 1_000_000),
		check.Among([]string{"k", "rho"})("against", p.Against),
	)
	if err != nil {
		return err
	}
	for _, q := range p.Panels {
		err := cmp.Or(
			check.Whole("clients", q.Clients, 2, p.Dimension-1),
			check.Some("sent and rho", len(q.Sent), len(q.Rho)),
			check.Each("sent", q.Sent, check.WholeIn(1, p.Dimension)),
			check.Each("rho", q.Rho, check.Probability),
		)
		if err != nil {
			return err
		}
		if q.Derived == nil {
			continue
		}
		fits := len(q.Derived) == len(q.Sent)
		for _, byRho := range q.Derived {
			fits = fits && len(byRho) == len(q.Rho)
			for _, byEstimator := range byRho {
				fits = fits && len(byEstimator) == len(p.Estimators)
			}
		}
		if !fits {
			return check.Want("derived", "another shape", "a number for each of sent, rho and estimators")
		}
	}
	return nil
}

func (p *simulationParameters) Steps() int {
	steps := 0
	for _, q := range p.Panels {
		steps += len(q.Sent) * len(q.Rho)
	}
	return steps
}

// measured is an error over trials and what was predicted.
type measured struct {
	Mean      float64 `json:"mean"`
	Error     float64 `json:"standard_error"`
	Predicted float64 `json:"predicted"`
}

// deviation returns the distance of the mean from its expected value, in units of the allowance:
// the standard error, and half a percent for β and for large-d forms.
func (m measured) deviation(should float64) float64 {
	return math.Abs(m.Mean-should) / math.Hypot(m.Error, 0.005*should)
}

// far is the deviation beyond which a claim fails. Standard errors of some tens of trials have
// heavier tails than a normal law: false alarm below 1e-4 over all points of a figure.
const far = 5.5

// measure runs trials, each a round of its own.
func measure(ctx context.Context, c sketch.Compressor, predicted float64, xs [][]float64,
	trials int) (measured, error) {
	v, err := sketch.Measure(ctx, c, xs, trials, nil)
	return measured{v.MSE, v.StandardError, predicted}, err
}

// work measures the estimators at one place.
func (p *simulationParameters) work(r *experiment.Run, n, k int, rho float64,
	beta sketch.BetaMode) ([]measured, error) {
	root := p.Root + r.Seed
	xs, err := sketch.AlikeVectors(r.Context, n, p.Dimension, rho, root)
	if err != nil {
		return nil, err
	}
	var out []measured
	for _, m := range p.Estimators {
		e, err := newEstimator(m, sketch.Config{N: n, K: k, D: p.Dimension, Root: root, Beta: beta,
			Workers: 1}, rho)
		if err != nil {
			return nil, err
		}
		predicted, err := e.Predict(r, xs)
		if err != nil {
			return nil, err
		}
		v, err := measure(r, e, predicted, xs, p.Trials)
		if err != nil {
			return nil, fmt.Errorf("%s, n = %d, k = %d: %w", m, n, k, err)
		}
		out = append(out, v)
	}
	return out, nil
}

func (p *simulationParameters) Run(r *experiment.Run) error {
	beta, err := sketch.ParseBetaMode(p.Beta)
	if err != nil {
		return err
	}
	f := &experiment.Found{Lines: methodLines(p.Estimators)}
	for _, q := range p.Panels {
		for i, k := range q.Sent {
			for j, rho := range q.Rho {
				values, err := experiment.Step(r, fmt.Sprintf("n-%d-k-%d-rho-%g", q.Clients, k, rho),
					[]any{p.Dimension, q.Clients, k, rho, p.Estimators, p.Trials, p.Root + r.Seed, p.Beta},
					func() ([]measured, error) { return p.work(r, q.Clients, k, rho, beta) })
				if err != nil {
					return err
				}
				n := float64(q.Clients)
				place := len(f.Places)
				f.Places = append(f.Places, experiment.Place{
					Name: fmt.Sprintf("n = %d, k = %d, ρ* = %g", q.Clients, k, rho),
					At:   map[string]float64{"n": n, "k": float64(k), "rho": rho, "R": rho * (n - 1)}})
				for e, v := range values {
					f.Add(place, e, "error", v.Mean)
					f.Add(place, e, "standard_error", v.Error)
					f.Add(place, e, "predicted", v.Predicted)
					f.Add(place, e, "deviation", v.deviation(v.Predicted))
					if q.Derived != nil {
						f.Add(place, e, "derived", q.Derived[i][j][e])
						f.Add(place, e, "from_derived", v.deviation(q.Derived[i][j][e]))
					}
				}
			}
		}
	}
	r.Grid("errors", map[string]any{"d": p.Dimension, "trials": p.Trials}, f)
	claimDeviations(r, f, "predicted", "deviation", "%s at %s")
	claimDeviations(r, f, "derived", "from_derived", "%s at %s")
	p.judgeOrder(r, f)
	r.Note("Vectors are √ρ*·e₀ + √(1-ρ*)·e_i for random orthonormal e. The source has groups of "+
		"equal basis vectors, which cannot reach every R; by the theory only R matters. %d trials "+
		"here; the source has 1000.", p.Trials)
	var panels []experiment.Panel
	for _, q := range p.Panels {
		panels = append(panels, p.panelsOf(r, f, q)...)
	}
	return r.Figure("errors", "Measured errors with standard errors, by estimator.",
		min(3, len(panels)), panels)
}

// claimDeviations claims that no deviation of a line at a place is far, where any was measured.
func claimDeviations(r *experiment.Run, f *experiment.Found, claim, measure, where string) {
	worst, worstAt, count := 0.0, "", 0
	for i, at := range f.Places {
		for j, l := range f.Lines {
			if f.Values(i, j, measure) == nil {
				continue
			}
			count++
			if v := f.Stat(i, j, measure); !(v <= worst) {
				worst, worstAt = v, fmt.Sprintf(where, l.Title, at.Name)
			}
		}
	}
	if count > 0 {
		r.Sentence(claim, worst <= far, map[string]any{"count": count, "worst": worst, "at": worstAt})
	}
}

// judgeOrder claims the order of the predicted errors at every place.
func (p *simulationParameters) judgeOrder(r *experiment.Run, f *experiment.Found) {
	if len(p.Order) == 0 {
		return
	}
	var disordered []string
	for i, at := range f.Places {
		for a := 1; a < len(p.Order); a++ {
			of := func(m experiment.Method) float64 { return f.Stat(i, f.Line(string(m)), "predicted") }
			if !(of(p.Order[a-1]) < of(p.Order[a])) {
				disordered = append(disordered, "; "+at.Name)
			}
		}
	}
	r.Sentence("order", len(disordered) == 0, map[string]any{"lines": r.Titles(p.Order),
		"count": len(disordered), "at": strings.Join(disordered, "")})
}

// panelsOf returns one picture for a number of clients, or one for each k against R.
func (p *simulationParameters) panelsOf(r *experiment.Run, f *experiment.Found,
	q panel) []experiment.Panel {
	at := func(k int) (places []int) {
		for i, at := range f.Places {
			if at.At["n"] == float64(q.Clients) && (k == 0 || at.At["k"] == float64(k)) {
				places = append(places, i)
			}
		}
		return places
	}
	if p.Against == "k" {
		return []experiment.Panel{r.Curves(f, experiment.Panel{Title: fmt.Sprintf("n = %d", q.Clients),
			X: "k, numbers per client", Y: "mean squared error", LogX: true, LogY: true}, at(0), "k", "error",
			"standard_error", "")}
	}
	var out []experiment.Panel
	for _, k := range q.Sent { // panels of one label share a scale
		name := fmt.Sprintf("n = %d, k = %d", q.Clients, k)
		out = append(out, r.Curves(f, experiment.Panel{Title: name, X: "R, correlation", Y: "MSE, " + name},
			at(k), "R", "error", "standard_error", ""))
	}
	return out
}
