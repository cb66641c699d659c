package pairwise

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/experiment"
	"github.com/darrm/darrm/experiment/datasets"
	"github.com/darrm/darrm/experiment/sweep"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/learn/loss"
	"github.com/darrm/darrm/learn/pairwise"
)

// parameters: one task, lines of models, and the places at which they are scored: all combinations
// of Records, Epsilon and Passes.
type parameters struct {
	Task    string    `json:"task"`              // gaussians, or a set of two classes
	Size    int       `json:"size,omitempty"`    // of a set: how many records of it; 0 is all
	Records []int     `json:"records,omitempty"` // to learn from; none, for a set: four fifths of it
	Epsilon []float64 `json:"eps,omitempty"`
	Passes  []float64 `json:"passes,omitempty"` // of the lines that have none of their own

	Delta    float64                `json:"delta,omitempty"`  // 0 is 1/n
	Dim      int                    `json:"dim,omitempty"`    // of gaussians
	Fresh    int                    `json:"fresh,omitempty"`  // of gaussians: records that models are scored on
	Radius   float64                `json:"radius,omitempty"` // to which records are shortened
	Ball     float64                `json:"ball,omitempty"`   // of lines that have none of their own
	Repeats  int                    `json:"repeats"`
	DataSeed uint64                 `json:"data_seed,omitempty"`
	Real     bool                   `json:"real,omitempty"` // the stand-in will not do
	Risk     bool                   `json:"risk,omitempty"` // measure F_S too
	Lines    []line                 `json:"lines"`          // at most 12
	Claims   []experiment.Statement `json:"claims"`
}

// line is one way to train, or what the source prints of one.
type line struct {
	sweep.Line        // Method is of pairwise.Methods, or published
	Loss       string `json:"loss,omitempty"` // "" is logistic

	Epsilon float64 `json:"eps,omitempty"` // instead of the place's
	pairwise.Parameters
	Ball float64 `json:"ball,omitempty"` // instead of the task's; negative for none

	Printed    []float64 `json:"printed,omitempty"` // of published, at each place
	Deviations []float64 `json:"printed_sd,omitempty"`
}

// published is the method of lines that the source prints.
const published = "published"

// place is a condition under which lines are scored.
type place struct {
	records int
	epsilon float64 // 0 where no line is private
	passes  float64
}

// places returns all of them: by records, then ε, then passes.
func (p *parameters) places() (out []place) {
	for _, n := range orZero(p.Records) {
		for _, eps := range orZero(p.Epsilon) {
			for _, passes := range orZero(p.Passes) {
				if n == 0 {
					n = p.size() * 4 / 5
				}
				out = append(out, place{n, eps, passes})
			}
		}
	}
	return out
}

// size returns how many records of a set are taken.
func (p *parameters) size() int { return cmp.Or(p.Size, datasets.ClassesLen(p.Task)) }

func orZero[T int | float64](list []T) []T {
	if len(list) == 0 {
		return []T{0}
	}
	return list
}

func (p *parameters) lines() []sweep.Line {
	return sweep.Lines(p.Lines, func(l line) sweep.Line { return l.Line })
}

// method returns the line's method at a place.
func (p *parameters) method(l line, at place) (pairwise.Method, error) {
	pair, err := loss.ParsePair(cmp.Or(l.Loss, "logistic"))
	if err != nil {
		return nil, err
	}
	target := accountant.Cost{Epsilon: cmp.Or(l.Epsilon, at.epsilon),
		Delta: cmp.Or(p.Delta, 1/float64(at.records))}
	s := pairwise.Setting{Base: pairwise.Base{Loss: pair, Radius: p.Radius},
		Ball: max(0, cmp.Or(l.Ball, p.Ball))}
	if pairwise.Private(l.Method) {
		s.Target = target
	}
	o := pairwise.Options{Setting: s, Parameters: l.Parameters}
	if l.Passes == 0 && !slices.Contains([]string{"localized-sgd", "one-pass", "minimised",
		"random-steps"}, l.Method) { // they have no choice
		o.Passes = at.passes
	}
	return pairwise.New(l.Method, o)
}

// gaussians is the task of two classes N(±e₁, I), scaled to lengths that are hardly above 1.
const gaussians = "gaussians"

func (p *parameters) Validate() error {
	tasks := append(datasets.ClassNames(), gaussians)
	err := cmp.Or(
		check.Among(tasks)("task", p.Task),
		check.Whole("repeats", p.Repeats, 1, 1000),
		check.Each("records", p.Records, check.WholeIn(2, 2_000_000)),
		check.Each("eps", p.Epsilon, check.Positive),
		check.Each("passes", p.Passes, check.Positive),
	)
	if err != nil {
		return err
	}
	if p.Task == gaussians {
		if err := cmp.Or(check.Whole("dim", p.Dim, 1, 10_000),
			check.Whole("fresh", p.Fresh, 2, 1_000_000), check.Some("records", len(p.Records))); err != nil {
			return err
		}
		if p.Size != 0 {
			return errors.New("size is for a set: gaussians have as many records as are asked for")
		}
	} else if err := check.Whole("size", p.size(), 5, datasets.ClassesLen(p.Task)); err != nil {
		return err
	} else if p.Dim != 0 || p.Fresh != 0 {
		return errors.New("dim and fresh are for the task gaussians: a set has its own dimension, and " +
			"a fifth of it is to score on")
	}
	if err := sweep.CheckLines(p.lines(), lookPrefix, looks()); err != nil {
		return err
	}
	for _, l := range p.Lines {
		for _, at := range p.places() {
			if n := p.size(); p.Task != gaussians && at.records > n*4/5 {
				return check.Wantf("records", at.records, "at most four fifths of %d", n)
			}
			for _, list := range [][]float64{l.Printed, l.Deviations} {
				if len(list) != len(p.places()) && (l.Method == published || list != nil) {
					return fmt.Errorf("line %q: %d printed numbers for %d places", l.Name, len(list),
						len(p.places()))
				}
			}
			if l.Method == published {
				continue
			}
			if _, err := p.method(l, at); err != nil {
				return fmt.Errorf("line %q: %w", l.Name, err)
			}
		}
	}
	measures := []string{""}
	if p.Risk {
		measures = append(measures, "risk")
	}
	return experiment.CheckStatements(p.Claims, p.found(nil), measures...)
}

func (p *parameters) Steps() int { return len(p.places()) }

// NeedsData returns the folder of the real files, if nothing may stand in for them.
func (p *parameters) NeedsData() string {
	if p.Real {
		return "pairs"
	}
	return ""
}

// Inputs returns the hash of the records that real files give, nil where there are none.
func (p *parameters) Inputs(ctx context.Context, root string) (map[string]string, error) {
	if p.Task == gaussians {
		return nil, nil
	}
	in, err := datasets.PointInputs(ctx, p.Task, root, p.size(), p.DataSeed, p.Real)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w; scripts/r-data-sets %s writes it", err, root)
	}
	return in, err
}
