package federated

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/experiment"
	"github.com/darrm/darrm/experiment/datasets"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/learn/federated"
	"github.com/darrm/darrm/learn/loss"
	"github.com/darrm/darrm/learn/train"
)

// training: a network on California housing, and lines of methods.
type training struct {
	Silos      int  `json:"silos"`
	ByLatitude bool `json:"by_latitude,omitempty"` // silos of one belt each, not of any districts
	Every      int  `json:"every,omitempty"`       // only each so many-th training record
	Real       bool `json:"real,omitempty"`        // the stand-in will not do
	Hidden     int  `json:"hidden"`
	Rounds     int  `json:"rounds"`

	Delta   float64                `json:"delta"`
	Step    step                   `json:"step"`
	Repeats int                    `json:"repeats"` // starts
	Lines   []line                 `json:"lines"`   // at most 12
	Claims  []experiment.Statement `json:"claims"`
}

// line is one way to train.
type line struct {
	Name   string            `json:"name"`
	Look   experiment.Method `json:"look"`
	Method string            `json:"method"`
	// Reports are "real", or rehearsed by normal noise of their deviation, or none: without noise.
	Reports string `json:"reports,omitempty"`

	Epsilon      float64 `json:"eps,omitempty"`
	LocalEpsilon float64 `json:"local_eps,omitempty"` // ε₀ stated, ε what comes of it
	// Account prices shuffled reports, as federated.PSGM.Account; "" is the best proof.
	Account        string  `json:"account,omitempty"`
	Momentum       float64 `json:"momentum,omitempty"`
	Period         int     `json:"period,omitempty"`
	GradientClip   float64 `json:"gradient_clip"`
	DifferenceClip float64 `json:"difference_clip,omitempty"`
	FirstBatch     int     `json:"first_batch,omitempty"`
	Batch          int     `json:"batch,omitempty"`
	LocalSteps     int     `json:"local_steps,omitempty"`
	LocalBatch     int     `json:"local_batch,omitempty"`
	LocalClip      float64 `json:"local_clip,omitempty"`
}

// What a line's method and reports may be.
const (
	psgm    = "psgm"
	central = "central"

	realReports      = "real"
	rehearsedReports = "rehearsed"
	noReports        = "none"
)

// plan prices the line at a step size, from the start of a seed. A known ε₀ saves its calibration.
func (p *training) plan(l line, sizes []int, stepSize, localEpsilon float64,
	seed uint64) (*federated.Plan, error) {
	network, err := loss.NewNetwork(p.Hidden)
	if err != nil {
		return nil, err
	}
	s := federated.Setting{
		Loss: network, Silos: sizes, StartSeed: seed, Rounds: p.Rounds, StepSize: stepSize,
		GradientClip: l.GradientClip, DifferenceClip: l.DifferenceClip,
		Target: accountant.Cost{Epsilon: l.Epsilon, Delta: p.Delta},
	}
	if l.LocalSteps > 1 {
		s.Local = federated.Local{Steps: l.LocalSteps, Batch: l.LocalBatch, Clip: l.LocalClip,
			NoNoise: l.Reports == noReports}
	}
	n := 0
	for _, size := range sizes {
		n += size
	}
	if l.Method == central {
		return federated.Central{Setting: s, Period: l.Period}.New(n, datasets.HousingFeatures)
	}
	c := federated.PSGM{Setting: s, Momentum: l.Momentum, FirstBatch: each(l.FirstBatch),
		Batch:   each(l.Batch),
		Epsilon: cmp.Or(l.LocalEpsilon, localEpsilon), Account: federated.Account(l.Account)}
	if l.Reports == noReports {
		// Any account will do where there is nothing to account for.
		c.Account, c.Epsilon, c.Target = federated.Unshuffled, 1,
			accountant.Cost{Epsilon: 1, Delta: p.Delta}
	}
	return c.New(n, datasets.HousingFeatures)
}

// each is a batch of every silo, none for 0.
func each(batch int) []int {
	if batch == 0 {
		return nil
	}
	return []int{batch}
}

// toRun returns the part of a priced plan that is run.
func (l line) toRun(priced *federated.Plan) (*federated.Plan, error) {
	switch l.Reports {
	case noReports:
		return priced.Noiseless(), nil
	case rehearsedReports:
		return priced.Rehearsal()
	}
	return priced, nil
}

func (p *training) Validate() error {
	if err := cmp.Or(
		check.Whole("silos", p.Silos, 1, 1000),
		check.Whole("every", p.Every, 0, 1000),
		check.Whole("hidden", p.Hidden, 1, 1000),
		check.Whole("rounds", p.Rounds, 1, 100_000),
		check.Within("delta", p.Delta),
		check.Whole("repeats", p.Repeats, 1, 100),
		check.Whole("lines", len(p.Lines), 1, 12),
		p.Step.check(p.Rounds),
	); err != nil {
		return err
	}
	names := make([]string, len(p.Lines))
	for i, l := range p.Lines {
		names[i] = l.Name
		if _, ok := looks()[prefix+l.Look]; !ok || l.Name == "" {
			return fmt.Errorf("line %q: there is no look %q", l.Name, l.Look)
		}
		if err := cmp.Or(
			check.Among([]string{psgm, central})("method", l.Method),
			check.Among([]string{realReports, rehearsedReports, noReports, ""})("reports", l.Reports),
		); err != nil {
			return err
		}
		if (l.Method == psgm) != (l.Reports != "") {
			return fmt.Errorf("line %q: reports = %q, but psgm has some and central none", l.Name, l.Reports)
		}
		if l.Epsilon != 0 && l.LocalEpsilon != 0 {
			return fmt.Errorf("line %q: eps and local_eps, but one follows from the other", l.Name)
		}
	}
	if err := check.Each("lines", names, nil); err != nil {
		return err
	}
	return experiment.CheckStatements(p.Claims, p.tidy(nil), "", "test", "gradient", "kept", "fall",
		"failed")
}

func (p *training) Steps() int { return len(p.Lines) }

// NeedsData returns the folder of the real file, if nothing may stand in for it.
func (p *training) NeedsData() string {
	if p.Real {
		return datasets.California
	}
	return ""
}

// Inputs returns the hash of the real file's records, nil where there is none.
func (p *training) Inputs(ctx context.Context, root string) (map[string]string, error) {
	return datasets.HousingInputs(ctx, root, p.Real)
}

// step is the rule for the step size: it begins with First, and is halved and the run begun anew
// where the training loss, looked at every Check rounds, was Strikes times above Limit times the
// least so far. A new least loss clears the strikes.
type step struct {
	First    float64 `json:"first"`
	Halvings int     `json:"halvings"` // at most; 0 is a fixed step
	Check    int     `json:"check"`
	Limit    float64 `json:"limit,omitempty"`
	Strikes  int     `json:"strikes,omitempty"`
}

func (s step) check(rounds int) error {
	err := cmp.Or(check.Positive("first step", s.First), check.Whole("halvings", s.Halvings, 0, 50),
		check.Whole("check", s.Check, 1, rounds))
	if err != nil || s.Halvings == 0 {
		return err
	}
	return cmp.Or(check.Whole("strikes", s.Strikes, 1, 1000), check.Positive("limit", s.Limit))
}

// errStruck ends a run whose step size is too large.
var errStruck = errors.New("the training loss grew")

// watch returns a function that takes the losses of a run and fails by the rule.
func (s step) watch() func(loss float64) error {
	least, strikes := 0.0, 0
	first := true
	return func(loss float64) error {
		switch {
		case first || loss < least:
			least, strikes, first = loss, 0, false
		case s.Halvings > 0 && loss > s.Limit*least:
			if strikes++; strikes == s.Strikes {
				return errStruck
			}
		}
		return nil
	}
}

// tooLarge reports whether an error comes from too large a step size.
func tooLarge(err error) bool {
	return errors.Is(err, errStruck) || errors.Is(err, train.ErrDiverged)
}
