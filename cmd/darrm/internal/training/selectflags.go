package training

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/cmd/darrm/internal/cli"
	"github.com/darrm/darrm/learn/loss"
	"github.com/darrm/darrm/learn/model"
	"github.com/darrm/darrm/learn/train"
	"github.com/darrm/darrm/learn/train/selection"
)

// selectFlags hold the private choice among candidates, which every train command has.
type selectFlags struct {
	Grid     []string       `flag:"grid" help:"FLAG=VALUE,VALUE…: train a candidate for each value of a flag of the method, for each combination if given for several flags, and release the best; $eps and $delta pay for all of it. The values must be public, not chosen by the private data"`
	Runs     float64        `flag:"runs" help:"expected number of candidates trained with $stopping (default: as many as $grid has)"`
	Score    selection.Kind `flag:"score" help:"what candidates are compared by on the private records, and $score-eps tells: right classes, \"accuracy\", \"pairs\" of two classes in order (the AUC's numerator), or mean \"loss\" (default: accuracy for classes, pairs where the order counts)"`
	Bound    float64        `flag:"score-bound" help:"public bound that the losses of $score loss are cut to"`
	stopping string
	share    float64
	points   []gridPoint // of --grid
	command  *cobra.Command
}

// gridPoint is one candidate: the values of the flags of --grid.
type gridPoint struct{ names, values []string }

func (p gridPoint) String() string {
	parts := make([]string, len(p.names))
	for i, name := range p.names {
		parts[i] = name + "=" + p.values[i]
	}
	return strings.Join(parts, " ")
}

func (f *selectFlags) register(c *cobra.Command) {
	fl := c.Flags()
	cli.Register(c, f)
	cli.OneOf(c, "score", selection.Kinds()...)
	fl.StringVar(&f.stopping, "stopping", "", "train a random number of candidates, by the law "+
		strings.Join(accountant.StoppingNames(), ", ")+" (default: train each candidate of --grid once)")
	fl.Float64Var(&f.share, "score-share", 0,
		fmt.Sprintf("share of the privacy that goes into the comparison (default %g)",
			selection.DefaultShare))
}

// notInGrid are flags that all candidates share, since they are compared or priced by them.
var notInGrid = append([]string{"task", "intercept", "eps", "delta", "neighbours", "noise", "grid",
	"stopping", "runs", "score", "score-bound", "score-share"}, weightNames...)

// prepare reads --grid, whose flags must be among those of the method, and sets the flags to its
// first point.
func (f *selectFlags) prepare(c *cobra.Command, method func(c *cobra.Command)) error {
	if len(f.Grid) == 0 {
		err := cli.Refuse(c, "goes with --grid", "stopping", "runs", "score-share")
		if err == nil && !c.Flags().Changed("score-eps") {
			err = cli.Refuse(c, "goes with --grid or --score-eps", "score", "score-bound")
		}
		return err
	}
	own := &cobra.Command{}
	method(own)
	var allowed []string
	own.Flags().VisitAll(func(flag *pflag.Flag) {
		if !slices.Contains(notInGrid, flag.Name) {
			allowed = append(allowed, flag.Name)
		}
	})
	f.command, f.points = c, []gridPoint{{}}
	for _, g := range f.Grid {
		name, list, ok := strings.Cut(g, "=")
		if name = strings.TrimPrefix(name, "--"); !ok || !slices.Contains(allowed, name) {
			return cli.Usagef("grid = %q, but it must be FLAG=VALUE,VALUE… with one of the method's flags: "+
				"%s (--grid)", g, strings.Join(allowed, ", "))
		}
		if slices.Contains(f.points[0].names, name) {
			return cli.Usagef("--grid: %s is given twice", name)
		}
		if c.Flags().Changed(name) {
			return cli.Usagef("--%s and --grid %s= exclude each other", name, name)
		}
		values := strings.Split(list, ",")
		var next []gridPoint
		for _, p := range f.points {
			for i, v := range values {
				if slices.Contains(values[:i], v) {
					return cli.Usagef("--grid: %s has %s twice", name, v)
				}
				next = append(next, gridPoint{append(slices.Clone(p.names), name),
					append(slices.Clone(p.values), v)})
			}
		}
		f.points = next
	}
	for _, p := range f.points[1:] {
		if err := f.set(p); err != nil {
			return err
		}
	}
	return f.set(f.points[0])
}

// varies reports whether the points of --grid set the flag.
func (f *selectFlags) varies(name string) bool {
	return len(f.points) > 0 && slices.Contains(f.points[0].names, name)
}

// choose sets the flags to the point that was chosen.
func (f *selectFlags) choose(choice *train.Choice) {
	for _, p := range f.points {
		if choice != nil && p.String() == choice.Name {
			_ = f.set(p) // its values were set before
		}
	}
}

// set sets the flags to a point.
func (f *selectFlags) set(p gridPoint) error {
	for i, name := range p.names {
		if err := f.command.Flags().Set(name, p.values[i]); err != nil {
			return cli.Usagef("--grid: %w", cli.FlagError(f.command, err))
		}
	}
	return nil
}

// plan prices the flags: one method, or a choice among candidates. one prices the method of the
// flags as they are, for the target that privacy holds.
func (f *selectFlags) plan(n, d int, privacy *privacyFlags, task string, link model.Link,
	one func() (train.Plan, error)) (train.Plan, error) {
	if len(f.points) == 0 {
		return one()
	}
	target := privacy.target()
	defer func() { privacy.Epsilon, privacy.Delta = target.Epsilon, target.Delta }()
	s := selection.Selection{Target: target, Stopping: f.stopping, Runs: f.Runs, Share: f.share}
	var err error
	if s.Score, err = f.scoreOf(task, link); err != nil {
		return train.Plan{}, err
	}
	for _, p := range f.points {
		s.Candidates = append(s.Candidates, selection.Candidate{Name: p.String(),
			Plan: func(t accountant.Cost) (train.Plan, error) {
				if err := f.set(p); err != nil {
					return train.Plan{}, err
				}
				privacy.Epsilon, privacy.Delta = t.Epsilon, t.Delta
				return one()
			}})
	}
	plan, err := s.Plan(f.command.Context(), n, d)
	if err != nil {
		return train.Plan{}, fmt.Errorf("--grid: %w", err)
	}
	return plan, f.set(f.points[0])
}

// scoreOf returns the score of --score, or that of a model's link.
func (f *selectFlags) scoreOf(task string, link model.Link) (selection.Score, error) {
	s := selection.Score{Kind: f.Score, Bound: f.Bound}
	if link != model.LinkRank {
		var err error
		if s.Loss, err = loss.ParseSized(task); err != nil {
			return s, err
		}
	}
	switch {
	case f.Score != "":
	case link.Classes():
		s.Kind = selection.Accuracy
	case link == model.LinkRank:
		s.Kind = selection.Pairs
	default:
		s.Kind = selection.MeanLoss
	}
	if several, ok := s.Loss.(loss.Softmax); ok && s.Kind == selection.Accuracy {
		s.Classes = several.Classes()
	}
	return s, nil
}
