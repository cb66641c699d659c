package problem

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/darrm/darrm/cmd/darrm/internal/cli"
	"github.com/darrm/darrm/plan/choose"
)

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
