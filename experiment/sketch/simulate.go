package sketch

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
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
			check.Each("sent", q.Sent, func(name string, k int) error {
				return check.Whole(name, k, 1, p.Dimension)
			}),
			check.Each("rho", q.Rho, func(name string, rho float64) error {
				return check.Probability(name, rho)
			}),
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
			return &check.Error{Name: "derived", Value: "another shape",
				Rule: "a number for each of sent, rho and estimators"}
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

func (p *simulationParameters) Run(r *experiment.Run) error {
	beta, err := sketch.ParseBetaMode(p.Beta)
	if err != nil {
		return err
	}
	table := experiment.Table{Name: "errors",
		Caption: fmt.Sprintf(
			"Mean squared error of the estimated mean of vectors of length 1, d = %d, over %d trials, "+
				"beside the predicted one.", p.Dimension, p.Trials), Columns: []experiment.Column{
			{Name: "n", Title: "n"}, {Name: "k", Title: "k"}, {Name: "rho", Title: "ρ*"},
			{Name: "estimator", Title: "estimator"},
			{Name: "error", Title: "measured", Format: "%.4g"},
			{Name: "standard_error", Title: "± standard error", Format: "%.1g"},
			{Name: "predicted", Title: "predicted", Format: "%.4g"},
			{Name: "derived", Title: "derived independently"}}}
	var panels []experiment.Panel
	worst, worstAt, points := 0.0, "", 0
	worstDerived, worstDerivedAt, derived := 0.0, "", 0
	disordered := []string{}
	for _, q := range p.Panels {
		lines := map[string]*experiment.Series{}
		var order []string
		for i, k := range q.Sent {
			for j, rho := range q.Rho {
				values, err := experiment.Step(r, fmt.Sprintf("n-%d-k-%d-rho-%g", q.Clients, k, rho),
					[]any{p.Dimension, q.Clients, k, rho, p.Estimators, p.Trials, p.Root + r.Seed, p.Beta},
					func() ([]measured, error) {
						var out []measured
						xs, err := sketch.AlikeVectors(r.Context, q.Clients, p.Dimension, rho, p.Root+r.Seed)
						if err != nil {
							return nil, err
						}
						for _, m := range p.Estimators {
							e, err := newEstimator(m, sketch.Config{N: q.Clients, K: k, D: p.Dimension,
								Root: p.Root + r.Seed, Beta: beta, Workers: 1}, rho)
							if err != nil {
								return nil, err
							}
							predicted, err := e.Predict(r, xs)
							if err != nil {
								return nil, err
							}
							v, err := measure(r, e, predicted, xs, p.Trials)
							if err != nil {
								return nil, fmt.Errorf("%s, n = %d, k = %d: %w", m, q.Clients, k, err)
							}
							out = append(out, v)
						}
						return out, nil
					})
				if err != nil {
					return err
				}
				for e, v := range values {
					m := p.Estimators[e]
					at := fmt.Sprintf("%s at n = %d, k = %d, ρ* = %g", r.Title(m), q.Clients, k, rho)
					points++
					if far := v.deviation(v.Predicted); !(far <= worst) {
						worst, worstAt = far, at
					}
					var known any
					if q.Derived != nil {
						known = q.Derived[i][j][e]
						derived++
						if far := v.deviation(q.Derived[i][j][e]); !(far <= worstDerived) {
							worstDerived, worstDerivedAt = far, at
						}
					}
					table.Add(q.Clients, k, rho, string(m), v.Mean, v.Error, v.Predicted, known)
					place, line := float64(k), ""
					if p.Against == "rho" {
						place, line = rho*float64(q.Clients-1), fmt.Sprint(k)
					}
					key := string(m) + "/" + line
					if lines[key] == nil {
						lines[key] = &experiment.Series{Method: m}
						order = append(order, key)
					}
					lines[key].Add(place, v.Mean)
					lines[key].Spread = append(lines[key].Spread, v.Error)
				}
				for a := 1; a < len(p.Order); a++ {
					of := func(m experiment.Method) float64 {
						return values[slices.Index(p.Estimators, m)].Predicted
					}
					if !(of(p.Order[a-1]) < of(p.Order[a])) {
						disordered = append(disordered, fmt.Sprintf("n = %d, k = %d, ρ* = %g", q.Clients, k, rho))
					}
				}
			}
		}
		panels = append(panels, p.panelsOf(q, lines, order)...)
	}
	r.Table(table)
	r.Claim(worst <= far, "every measured error is the predicted one",
		"largest of %d deviations: %.2f of the standard error and half a percent, for %s", points, worst,
		worstAt)
	if derived > 0 {
		r.Claim(worstDerived <= far, "every measured error is the one that was derived independently",
			"largest of %d deviations: %.2f, for %s", derived, worstDerived, worstDerivedAt)
	}
	if len(p.Order) > 0 {
		r.Claim(len(disordered) == 0,
			"at every point, from the smallest predicted error to the largest: "+r.Titles(p.Order),
			"%d points out of order%s", len(disordered),
			strings.Join(append([]string{""}, disordered...), "; "))
	}
	r.Note("Vectors are √ρ*·e₀ + √(1-ρ*)·e_i for random orthonormal e. The source has groups of "+
		"equal basis vectors, which cannot reach every R; by the theory only R matters. %d trials "+
		"here; the source has 1000.", p.Trials)
	return r.Figure("errors", "Measured errors with standard errors, by estimator.",
		min(3, len(panels)), panels)
}

// panelsOf returns one picture for a number of clients, or one for each k against R.
func (p *simulationParameters) panelsOf(q panel, lines map[string]*experiment.Series,
	order []string) []experiment.Panel {
	if p.Against == "k" {
		out := experiment.Panel{Title: fmt.Sprintf("n = %d", q.Clients), X: "k, numbers per client",
			Y: "mean squared error", LogX: true, LogY: true}
		for _, key := range order {
			out.Series = append(out.Series, *lines[key])
		}
		return []experiment.Panel{out}
	}
	var out []experiment.Panel
	for _, k := range q.Sent {
		// panels of one label share a scale
		one := experiment.Panel{Title: fmt.Sprintf("n = %d, k = %d", q.Clients, k), X: "R, correlation",
			Y: fmt.Sprintf("MSE, n = %d, k = %d", q.Clients, k)}
		for _, key := range order {
			if strings.HasSuffix(key, "/"+fmt.Sprint(k)) {
				one.Series = append(one.Series, *lines[key])
			}
		}
		out = append(out, one)
	}
	return out
}
