// Package sweep trains lines of models at the places of an experiment's sweep and scores them, each
// over repeats: what the fields of learn/convex and learn/pairwise share.
package sweep

import (
	"cmp"
	"context"
	"fmt"
	"runtime"

	"golang.org/x/sync/errgroup"

	"github.com/darrm/darrm/experiment"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/learn/train"
)

// Line holds the fields that every line of a sweep has. A line is one way to train.
type Line struct {
	Name   string            `json:"name"`
	Look   experiment.Method `json:"look,omitempty"` // the method's own if empty
	Method string            `json:"method"`
}

// As returns the line's look in a field whose looks have a prefix.
func (l Line) As(prefix experiment.Method) experiment.Method {
	if l.Look != "" {
		return prefix + l.Look
	}
	return prefix + experiment.Method(l.Method)
}

// CheckLines refuses lines without a name or a look, more than 12, and two of one name.
func CheckLines(
	lines []Line, prefix experiment.Method, looks map[experiment.Method]experiment.Look,
) error {
	if err := check.Whole("lines", len(lines), 1, 12); err != nil {
		return err
	}
	for _, l := range lines {
		if _, ok := looks[l.As(prefix)]; !ok || l.Name == "" {
			return fmt.Errorf("line %q: there is no look %q", l.Name, l.As(prefix))
		}
	}
	return check.Each("lines", Names(lines), func(string, string) error { return nil })
}

// Lines returns the common fields of lines.
func Lines[L any](lines []L, of func(L) Line) []Line {
	out := make([]Line, len(lines))
	for i, l := range lines {
		out[i] = of(l)
	}
	return out
}

// Names returns the names of lines.
func Names(lines []Line) []string {
	names := make([]string, len(lines))
	for i, l := range lines {
		names[i] = l.Name
	}
	return names
}

// Scores are the scores of one line at one place.
type Scores struct {
	By      map[string][]float64 `json:"by"`      // by measure, then repeat; nil without scores
	Epsilon float64              `json:"epsilon"` // accounted; 0 without privacy
}

// Place is a condition under which lines are scored.
type Place struct {
	experiment.Place
	Step string // its name
	Key  any    // what its scores depend on, beside the key of all places
}

// Found returns the measurements at the places, in tidy rows; none if scores is nil. The measure ""
// has the name main.
func Found(places []Place, lines []Line, prefix experiment.Method, main string,
	scores [][]Scores) *experiment.Found {
	f := &experiment.Found{}
	for _, at := range places {
		f.Places = append(f.Places, at.Place)
	}
	for _, l := range lines {
		f.Lines = append(f.Lines, experiment.Line{Name: l.Name, Look: l.As(prefix),
			Text: map[string]string{"method": l.Method}})
	}
	for i, at := range scores {
		for j, s := range at {
			for measure, v := range s.By {
				f.Add(i, j, cmp.Or(measure, main), v...)
			}
			if s.Epsilon > 0 {
				f.Add(i, j, accounted, s.Epsilon)
			}
		}
	}
	return f
}

// accounted is the measure of the ε that a model is accounted at; lines without privacy have none.
const accounted = "eps_accounted"

// ClaimBudgets claims that no model costs more than the ε that is stated for it, unless no line is
// private.
func ClaimBudgets(r *experiment.Run, f *experiment.Found, stated func(place, line int) float64) {
	worst := map[string]any{"share": 0.}
	for i, at := range f.Places {
		for j, l := range f.Lines {
			if share := f.Stat(i, j, accounted) / stated(i, j); share > worst["share"].(float64) {
				worst = map[string]any{"share": share, "line": l.Name, "at": at.Name}
			}
		}
	}
	if worst["share"] != 0. {
		r.Sentence("budget", worst["share"].(float64) <= 1, worst)
	}
}

// Run measures each place, as a step of the run, and returns the scores by place, then line.
func Run(
	r *experiment.Run, key any, places []Place, measure func(place int) ([]Scores, error),
) ([][]Scores, error) {
	found := make([][]Scores, len(places))
	for i, at := range places {
		var err error
		all := []any{"lines", at.Key, key, r.Seed, r.Inputs}
		found[i], err = experiment.Step(r, at.Step, all, func() ([]Scores, error) { return measure(i) })
		if err != nil {
			return nil, err
		}
	}
	return found, nil
}

// Trial is all lines at one place, with repeats' samples of type S.
type Trial[S any] struct {
	Lines   []Line
	Repeats int
	// Plan returns a line's plan, or nil for one that needs none, and the ε that it is accounted at, 0
	// without privacy.
	Plan   func(line int) (plan train.Plan, epsilon float64, err error)
	Sample func(repeat int) (S, error)
	// Score trains a line's model and returns its scores by measure, nil for a line that has none.
	Score func(ctx context.Context, line int, plan train.Plan, s S,
		repeat int) (map[string]float64,
		error)
	// Once reports whether all repeats of a line are the same. May be nil.
	Once func(line int) bool
}

// Measure plans all lines, and trains and scores them in all repeats, as many at a time as there
// are processors.
func (t Trial[S]) Measure(r *experiment.Run) ([]Scores, error) {
	out, plans := make([]Scores, len(t.Lines)), make([]train.Plan, len(t.Lines))
	for i, l := range t.Lines {
		var err error
		if plans[i], out[i].Epsilon, err = t.Plan(i); err != nil {
			return nil, fmt.Errorf("%s: %w", l.Name, err)
		}
	}
	scored := make([][]map[string]float64, t.Repeats) // each repeat writes into places of its own
	g, ctx := errgroup.WithContext(r)
	g.SetLimit(runtime.GOMAXPROCS(0))
	for repeat := range t.Repeats {
		scored[repeat] = make([]map[string]float64, len(t.Lines))
		g.Go(func() error {
			s, err := t.Sample(repeat)
			if err != nil {
				return err
			}
			for i, l := range t.Lines {
				if repeat > 0 && t.once(i) {
					continue
				}
				if scored[repeat][i], err = t.Score(ctx, i, plans[i], s, repeat); err != nil {
					return fmt.Errorf("%s: %w", l.Name, err)
				}
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	for i := range t.Lines {
		for repeat := range t.Repeats {
			from := repeat
			if t.once(i) {
				from = 0
			}
			for measure, v := range scored[from][i] {
				if out[i].By == nil {
					out[i].By = map[string][]float64{}
				}
				out[i].By[measure] = append(out[i].By[measure], v)
			}
		}
	}
	return out, nil
}

func (t Trial[S]) once(line int) bool { return t.Once != nil && t.Once(line) }

// Seed returns the seed of a repeat.
func Seed(r *experiment.Run, repeat int) uint64 { return r.Seed<<20 + uint64(repeat) }
