package convex

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/experiment"
	"github.com/darrm/darrm/experiment/datasets"
	"github.com/darrm/darrm/experiment/sweep"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/learn/convex"
	"github.com/darrm/darrm/learn/geometry"
)

// parameters: one task, lines of models, and what is swept.
type parameters struct {
	Task  string    `json:"task"`
	Sweep string    `json:"sweep"` // "n", "d" or "eps"
	At    []float64 `json:"at"`

	// n where it is not swept; of a data set, training and test together
	Records int     `json:"records,omitempty"`
	Dim     int     `json:"dim,omitempty"`
	Epsilon float64 `json:"eps,omitempty"`
	Delta   float64 `json:"delta"`

	Fresh    int    `json:"fresh"` // records that models are scored on; of a data set the last ones
	Repeats  int    `json:"repeats"`
	DataSeed uint64 `json:"data_seed,omitempty"`
	Real     bool   `json:"real,omitempty"` // the stand-in will not do
	// score the mean over iterates, of which the model is one
	Iterates bool                   `json:"iterates,omitempty"`
	Linear   bool                   `json:"linear,omitempty"` // axes that are not logarithmic in the score
	Lines    []line                 `json:"lines"`            // at most 12
	Claims   []experiment.Statement `json:"claims"`
}

// line is one way to train.
type line struct {
	sweep.Line        // Method is of convex.Methods, zero or optimum
	Set        string `json:"set,omitempty"`

	Epsilon float64   `json:"eps,omitempty"`   // instead of the sweep's
	Start   []float64 `json:"start,omitempty"` // proximally-guided
	convex.Parameters
}

// Methods of no privacy.
const (
	zero    = "zero"    // the model 0
	optimum = "optimum" // the minimiser of the mean loss and (λ/2)‖w‖²
)

// options returns the method's, for n records of a task in d dimensions at ε.
func (l line) options(t *task, d int, target accountant.Cost) (o convex.Options, err error) {
	if l.Set != "" {
		if o.Set, err = geometry.ParseSet(l.Set, d); err != nil {
			return o, err
		}
	}
	if l.Epsilon > 0 {
		target.Epsilon = l.Epsilon
	}
	o.Setting = convex.Setting{Loss: t.loss, Radius: t.radius(convex.DualNorm(o.Set), d),
		Target: target}
	o.Parameters = l.Parameters
	return o, nil
}

// method returns the line's method.
func (l line) method(t *task, d int, target accountant.Cost) (
	convex.Method, convex.Options, error) {
	o, err := l.options(t, d, target)
	if err != nil || l.Method == zero || l.Method == optimum {
		return nil, o, err
	}
	m, err := convex.New(l.Method, o)
	if guided, ok := m.(convex.ProximallyGuided); ok {
		guided.Start = l.Start
		m = guided
	}
	return m, o, err
}

func (p *parameters) lines() []sweep.Line {
	return sweep.Lines(p.Lines, func(l line) sweep.Line { return l.Line })
}

func (p *parameters) task() *task {
	i := slices.IndexFunc(tasks, func(t task) bool { return t.name == p.Task })
	if i < 0 {
		return nil
	}
	return &tasks[i]
}

// place returns n, d and the target at one place of the sweep.
func (p *parameters) place(at float64) (n, d int, target accountant.Cost) {
	n, d, target = p.Records, p.Dim, accountant.Cost{Epsilon: p.Epsilon, Delta: p.Delta}
	switch p.Sweep {
	case "n":
		n = int(at)
	case "d":
		d = int(at)
	case "eps":
		target.Epsilon = at
	}
	return n, d, target
}

func (p *parameters) Validate() error {
	names := make([]string, len(tasks))
	for i, t := range tasks {
		names[i] = t.name
	}
	if err := cmp.Or(
		check.Among(names)("task", p.Task),
		check.Among([]string{"n", "d", "eps"})("sweep", p.Sweep),
		check.Some("at and lines", len(p.At), len(p.Lines)),
		check.Whole("fresh", p.Fresh, 1, 1_000_000),
		check.Whole("repeats", p.Repeats, 1, 1000),
		check.Within("delta", p.Delta),
		check.Each("at", p.At, check.Positive),
	); err != nil {
		return err
	}
	if err := sweep.CheckLines(p.lines(), methodPrefix, looks()); err != nil {
		return err
	}
	for _, at := range p.At {
		n, d, target := p.place(at)
		if p.task().draw == nil { // a data set
			if d != 0 || p.Sweep != "eps" {
				return errors.New("a data set has its own dimension, and is swept over eps")
			}
			d = datasets.ClientFeatures
			n -= p.Fresh
		}
		if err := cmp.Or(check.Whole("records", n, 2, 2_000_000),
			check.Whole("dim", d, 3, 100_000)); err != nil && p.Task != "phase-retrieval" {
			return err
		}
		for _, l := range p.Lines {
			if _, _, err := l.method(p.task(), d, target); err != nil {
				return fmt.Errorf("%s: %w", l.Name, err)
			}
		}
	}
	return experiment.CheckStatements(p.Claims, p.found(nil), "", "accuracy", "auc")
}

func (p *parameters) Steps() int { return len(p.At) }

// NeedsData returns the folder of the real files, if nothing may stand in for them.
func (p *parameters) NeedsData() string {
	if p.Real {
		return datasets.CreditClients
	}
	return ""
}

// Inputs returns the hash of the records that real files give, nil where there are none.
func (p *parameters) Inputs(ctx context.Context, root string) (map[string]string, error) {
	if p.task().draw != nil {
		return nil, nil
	}
	return datasets.PointInputs(ctx, datasets.CreditClients, root, p.Records, p.DataSeed, p.Real)
}
