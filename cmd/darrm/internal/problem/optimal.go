package problem

import (
	"cmp"
	"context"
	"fmt"
	"math/big"
	"time"

	"github.com/spf13/cobra"

	"github.com/darrm/darrm/cmd/darrm/internal/cli"
	"github.com/darrm/darrm/constraints"
	"github.com/darrm/darrm/gamma"
	noisesolve "github.com/darrm/darrm/gamma/solve"
	"github.com/darrm/darrm/internal/num"
	"github.com/darrm/darrm/plan/choose"
	"github.com/darrm/darrm/plurality"
	"github.com/darrm/darrm/plurality/solve"
	"github.com/darrm/darrm/release"
)

// OptimalFlags hold the objective and the time of the optimum of many classes.
type OptimalFlags struct {
	PluralityFlags
	Within time.Duration
}

// Register adds the flags to a command.
func (f *OptimalFlags) Register(c *cobra.Command) {
	f.RegisterPlurality(c)
	f.RegisterGap(c, choose.DefaultGap)
	f.RegisterWithin(c)
}

// RegisterWithin adds --solve-within alone.
func (f *OptimalFlags) RegisterWithin(c *cobra.Command) {
	c.Flags().DurationVar(&f.Within, "solve-within", 0,
		"give up with an error where a table of many classes, or for many labels, is not found after this "+
			"time (default: no limit; what takes too much work is left out by its size)")
}

// solve returns the optimal table of the problem, from the cache if it is there. work is as in
// solve.Options. --solve-within bounds the time. unsaved is the cache's error, to be returned after the
// table was delivered.
func (f *OptimalFlags) solve(ctx context.Context, a *cli.App, flags *Flags, p plurality.Problem,
	o plurality.Objective, work int64) (t *plurality.Table, unsaved, err error) {
	store, err := flags.Store()
	if err != nil {
		return nil, nil, err
	}
	bar := cli.NewProgress(a)
	defer bar.Stop()
	options := solve.Options{Gap: f.Gap, Work: work, Version: cli.Version, Progress: bar.Gap(f.Gap)}
	ctx, cancel := flags.Limit(ctx)
	defer cancel()
	var r solve.Result
	if f.Within > 0 {
		r, err = solve.Within(ctx, f.Within, store, p, o, options)
	} else {
		r, err = solve.Cached(ctx, store, p, o, options)
	}
	err = flags.Late("solve", err)
	bar.Stop()
	if r.Rejected != nil {
		a.Say("darrm: not used, and solved again: %v", r.Rejected)
	}
	if r.Table != nil && err != nil {
		return r.Table, &release.OutputError{Err: err}, nil
	}
	return r.Table, nil, err
}

// OptimalFields are the JSON fields of a table.
type OptimalFields struct {
	Concentration float64 `json:"concentration,omitempty"` // the prior is this, or the next, or counts
	Accuracy      float64 `json:"accuracy,omitempty"`
	AbstainValue  float64 `json:"abstain_value,omitempty"`
	// expected agreement under the prior, and AbstainValue for each abstention
	Value float64 `json:"value"`
	Gap   float64 `json:"gap"`
}

// OptimalFieldsOf returns the fields of a table, nil for none.
func OptimalFieldsOf(t *plurality.Table) *OptimalFields {
	if t == nil {
		return nil
	}
	return &OptimalFields{t.Objective.Concentration, t.Objective.Accuracy, t.Objective.AbstainValue,
		t.Value, t.Gap}
}

// PriorText describes the distribution of votes that an objective presumes.
func PriorText(o plurality.Objective) string {
	switch {
	case o.Concentration != 0:
		return fmt.Sprintf("classes have uneven shares of the votes (concentration %v)", o.Concentration)
	case o.Counts != nil:
		return fmt.Sprintf("%s histograms counted in public data",
			num.Thousands(big.NewInt(int64(len(o.Counts)))))
	}
	return fmt.Sprintf("each teacher is right with probability %v, and otherwise votes for any "+
		"other class", o.Accuracy)
}

// Solvers returns the functions that find optima for a library; unsaved gets the error of a cache
// that could not keep one.
func (f *Flags) Solvers(a *cli.App, o *OptimalFlags, unsaved *error) (
	func(context.Context, constraints.Problem, noisesolve.Options) (*gamma.Table, error),
	func(context.Context, plurality.Problem, plurality.Objective, int64) (*plurality.Table, error),
) {
	return func(ctx context.Context, p constraints.Problem, options noisesolve.Options) (*gamma.Table,
			error) {
			s, err := f.solveProblem(ctx, a, p, options)
			*unsaved = cmp.Or(*unsaved, s.Unsaved)
			return s.Table, err
		}, func(ctx context.Context, p plurality.Problem, objective plurality.Objective,
			work int64) (*plurality.Table, error) {
			t, missed, err := o.solve(ctx, a, f, p, objective, work)
			*unsaved = cmp.Or(*unsaved, missed)
			return t, err
		}
}
