package problem

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/big"
	"time"

	"github.com/darrm/darrm/cmd/darrm/internal/cli"
	"github.com/darrm/darrm/internal/num"
	"github.com/darrm/darrm/plan/choose"
	"github.com/darrm/darrm/plurality"
	"github.com/spf13/cobra"
)

// RegisterPlurality adds the flags of the objective of many classes, but for --prior-counts, which two
// classes have too, with the default of --gap.
func (f *Flags) RegisterPlurality(c *cobra.Command, gap float64) {
	f.Register(c, "concentration", "accuracy", "abstain", "gap")
	c.Flag("gap").DefValue = num.Shortest(gap)
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

// CheckClasses refuses flags of the other kind of problem: of two classes where --num-classes is given,
// of many where it is not, more among them. private states that --eps or --teacher-delta says that
// teachers promise something.
func (f *Flags) CheckClasses(c *cobra.Command, private bool, more ...string) error {
	if !c.Flags().Changed("num-classes") {
		return cli.Refuse(c, "goes with --num-classes", append([]string{"concentration", "accuracy", "abstain"},
			more...)...)
	}
	if err := cmp.Or(cli.Refuse(c, "does not go with --num-classes", "m", "prior", "prior-mean", "shape"),
		f.CheckByVotes("num-classes", private)); err != nil {
		return err
	}
	return cli.Require(c, "K", "label-eps", "affected|data")
}

// CheckByVotes refuses what a table of vote counts has no use for, which this flag asks for: the source's
// objective, and a promise of the teachers, of whom nothing is presumed.
func (f *Flags) CheckByVotes(flag string, private bool) error {
	switch {
	case f.Noise.Objective == choose.Source:
		return cli.Usagef("objective = %q, but with --%s it is always %q", choose.Source, flag, choose.Agreement)
	case private:
		return cli.Usagef("--eps and --teacher-delta do not go with --%s: nothing is presumed of the teachers", flag)
	}
	return nil
}

// TimeoutFlag bounds the time of long work. Work that exceeds it fails and leaves nothing.
type TimeoutFlag struct{ timeout time.Duration }

// RegisterTimeout adds --timeout with its help.
func (f *TimeoutFlag) RegisterTimeout(c *cobra.Command, usage string) {
	c.Flags().DurationVar(&f.timeout, "timeout", 0, usage)
}

// CheckTimeout refuses a limit that is not positive.
func (f *TimeoutFlag) CheckTimeout(c *cobra.Command) error {
	return choose.CheckTimeout(cli.WhenGiven(c, "timeout", &f.timeout))
}

// Limit returns ctx with the time limit, where there is one.
func (f *TimeoutFlag) Limit(ctx context.Context) (context.Context, context.CancelFunc) {
	if f.timeout > 0 {
		return context.WithTimeout(ctx, f.timeout)
	}
	return ctx, func() {}
}

// lateError is the error of a command that its time limit ended. It names the unfinished task.
type lateError struct{ error }

func (e lateError) Unwrap() error { return e.error }

// Late names the flag in an error that is due to the limit. It does so once, and returns other
// errors as they are.
func (f *TimeoutFlag) Late(what string, err error) error {
	var late lateError
	if errors.Is(err, context.DeadlineExceeded) && !errors.As(err, &late) {
		return lateError{fmt.Errorf("timeout = %v was not enough to %s: %w", f.timeout, what, err)}
	}
	return err
}
