package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/darrm/darrm/gamma"
	"github.com/darrm/darrm/internal/num"
	"github.com/darrm/darrm/internal/terminal"
)

func newVerify(a *app) *cobra.Command {
	var f timeoutFlag
	c := &cobra.Command{
		Use:   "verify table.json",
		Short: "Check a table's privacy guarantee and its optimality from scratch",
		Long: `Check a table file from scratch: every privacy constraint is evaluated again
with rounding errors accounted for, and the proof of optimality is worked out
again. No solver is needed. A file whose figures about itself are wrong is
refused even if its noise function is private.

The file "-" is stdin; any other is a regular file of at most 16 MiB. With --timeout a
check that takes longer fails: nothing is said of the table.`,
		Example: `  darrm solve --K 11 --m 3 --out table.json
  darrm verify table.json`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: completeFiles(tableFiles...),
		RunE: func(c *cobra.Command, args []string) error {
			if err := f.checkTimeout(c); err != nil {
				return err
			}
			t, err := f.readTable(c, a, args[0])
			if err != nil {
				return err
			}
			if a.json {
				return a.deliver("", t.Encode)
			}
			return a.print(func(w *terminal.Page) error {
				if err := renderTable(w, t); err != nil {
					return err
				}
				w.Text("  ", verdict(t))
				return nil
			})
		},
	}
	f.registerTimeout(c, "give up checking after this time, such as 90s (default none)")
	return c
}

// verdict says in one line what a check found that succeeded.
func verdict(t *gamma.Table) string {
	return fmt.Sprintf("VERIFIED: private as promised; within %s of optimal.", num.Outward(t.Gap, 2, true))
}

// readTable reads and certifies a table file within the time limit.
func (f *timeoutFlag) readTable(c *cobra.Command, a *app, path string) (*gamma.Table, error) {
	ctx, cancel := f.limit(c.Context())
	defer cancel()
	bar := newProgress(a)
	bar.wait("checking the table")
	t, err := a.checkTable(ctx, path)
	bar.stop()
	if errors.Is(err, context.DeadlineExceeded) {
		err = context.DeadlineExceeded // not an error of reading, which it may be wrapped in
	}
	return t, f.late("check "+path, err)
}

func (a *app) checkTable(ctx context.Context, path string) (*gamma.Table, error) {
	r, err := a.open(ctx, path, gamma.MaxTableBytes)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	claim, err := gamma.ReadClaim(r)
	if err != nil {
		return nil, inputError{Err: fmt.Errorf("%s: %w", path, err)}
	}
	t, err := claim.Verify(ctx)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return t, nil
}
