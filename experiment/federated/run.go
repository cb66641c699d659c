package federated

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/darrm/darrm/experiment"
	"github.com/darrm/darrm/experiment/datasets"
	"github.com/darrm/darrm/learn/data"
	"github.com/darrm/darrm/learn/federated"
	"github.com/darrm/darrm/learn/loss"
	"github.com/darrm/darrm/learn/train"
)

// measures are the figures of one model.
type measures struct {
	Round    int     `json:"round"`
	Train    float64 `json:"train"`    // mean squared error
	Test     float64 `json:"test"`     //
	Gradient float64 `json:"gradient"` // squared norm of the mean training gradient
}

// outcome is one run of one line.
type outcome struct {
	Step float64 `json:"step"`
	// share of the rounds; below 1 the rule failed at all step sizes, and the rest is of the smallest
	Done  float64    `json:"done"`
	Trace []measures `json:"trace"` // of the last iterate
	Kept  measures   `json:"kept"`  // of one of all iterates, each as likely
}

// failed reports whether no step size passed the rule.
func (o outcome) failed() bool { return o.Done < 1 }

// found holds the results of a line.
type found struct {
	Runs         []outcome `json:"runs"`
	Epsilon      float64   `json:"epsilon"`       // of the priced run; 0 without one
	LocalEpsilon float64   `json:"local_epsilon"` // of a report; 0 without reports
	Reports      int       `json:"reports"`       // of all rounds
	ReportBytes  int       `json:"report_bytes"`  // of one
}

func (p *training) Run(r *experiment.Run) error {
	housing, err := datasets.OpenHousing(r, r.Data,
		datasets.HousingSplit{Silos: p.Silos, ByLatitude: p.ByLatitude, Every: p.Every})
	if err != nil {
		return err
	}
	all := make([]found, len(p.Lines))
	for i, l := range p.Lines {
		key := []any{p.Silos, p.ByLatitude, p.Every, p.Hidden, p.Rounds, p.Delta, p.Step, p.Repeats, l,
			r.Seed, r.Inputs}
		all[i], err = experiment.Step(r, fmt.Sprintf("line-%d", i+1), key, func() (found, error) {
			return p.train(r, l, housing)
		})
		if err != nil {
			return fmt.Errorf("%s: %w", l.Name, err)
		}
	}
	return p.report(r, housing, all)
}

// train runs a line from every start.
func (p *training) train(r *experiment.Run, l line, h datasets.Housing) (found, error) {
	var f found
	for repeat := range p.Repeats {
		seed := r.Seed<<20 + uint64(repeat)
		var o outcome
		for k := range p.Step.Halvings + 1 {
			eta := p.Step.First / float64(uint64(1)<<k)
			plan, err := p.plan(l, h.Sizes, eta, f.LocalEpsilon, seed)
			if err != nil {
				return f, err
			}
			f.describe(plan, l)
			toRun, err := l.toRun(plan)
			if err != nil {
				return f, err
			}
			if o, err = p.once(r, toRun, h, eta, seed); err == nil {
				break
			}
			if !tooLarge(err) {
				return f, err
			}
		}
		f.Runs = append(f.Runs, o)
	}
	return f, nil
}

// describe keeps the price that a plan states. A rehearsal has no price: it gets that of the run it
// stands for.
func (f *found) describe(plan *federated.Plan, l line) {
	if f.Epsilon > 0 || l.Reports == noReports {
		return
	}
	f.Epsilon, f.LocalEpsilon, f.Reports = plan.Price().Cost.Epsilon, plan.LocalEpsilon(),
		plan.Reports()
	if q := plan.Randomizer(); q != nil {
		f.ReportBytes = q.Size()
	}
}

// once is one run at one step size. If that is too large the outcome covers the rounds before.
func (p *training) once(r *experiment.Run, plan *federated.Plan, h datasets.Housing, eta float64,
	seed uint64) (outcome, error) {
	o := outcome{Step: eta}
	algorithm, err := plan.Train(h.Train)
	if err != nil {
		return o, err
	}
	s := train.Simulate(algorithm, seed)
	network, err := loss.NewNetwork(p.Hidden)
	if err != nil {
		return o, err
	}
	e := evaluator{network, h, make([]float64, plan.Dim()), make([]float64, plan.Dim())}
	watch := p.Step.watch()
	look := func(round int, x []float64) error {
		m := e.measure(round, x)
		if !(m.Train+m.Test+m.Gradient <= math.MaxFloat64) { // squares of weights that are numbers still
			return train.ErrDiverged
		}
		o.Trace = append(o.Trace, m)
		return watch(m.Train)
	}
	if err := look(0, s.Model()); err != nil {
		return o, err
	}
	_, err = s.Run(r, func(round int, x []float64) error {
		if round%p.Step.Check != 0 && round != p.Rounds {
			return nil
		}
		return look(round, x)
	})
	if err != nil { // also where the last look failed
		o.Done = min(float64(s.Round()), float64(p.Rounds-1)) / float64(p.Rounds)
		return o, err
	}
	o.Done = 1
	for _, v := range s.State() {
		if v.Name == "kept" {
			o.Kept = e.measure(s.Round(), v.Values)
		}
	}
	return o, nil
}

// evaluator measures models.
type evaluator struct {
	loss   loss.Loss
	h      datasets.Housing
	g, sum []float64
}

func (e evaluator) measure(round int, x []float64) measures {
	m := measures{Round: round, Test: e.mean(e.h.Test, x)}
	clear(e.sum)
	n := float64(e.h.Train.Len())
	for i := range e.h.Train.Len() {
		e.loss.Gradient(e.g, x, e.h.Train.Row(i), e.h.Train.Response(i))
		floats.Add(e.sum, e.g)
	}
	m.Gradient = floats.Dot(e.sum, e.sum) / n / n
	m.Train = e.mean(e.h.Train, x)
	return m
}

func (e evaluator) mean(r *data.Records, x []float64) float64 {
	sum := 0.0
	for i := range r.Len() {
		sum += e.loss.Loss(x, r.Row(i), r.Response(i))
	}
	return sum / float64(r.Len())
}
