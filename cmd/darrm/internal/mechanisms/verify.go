package mechanisms

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/darrm/darrm/cmd/darrm/internal/cli"
	"github.com/darrm/darrm/cmd/darrm/internal/problem"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/terminal"
	"github.com/darrm/darrm/release"
)

// NewVerify makes the command that checks a table.
func NewVerify(a *cli.App) *cobra.Command {
	var f problem.TimeoutFlag
	c := &cobra.Command{
		Use:   "verify table.json",
		Short: "Check a table's privacy guarantee and its optimality from scratch",
		Long: `Check a table file from scratch, of two classes or of many: every privacy constraint
is evaluated again with rounding errors accounted for, and the proof of optimality
is worked out again. A table for many answers is priced again, over all pairs of
neighbours. No solver is needed. A file that claims more about itself than is
proved is refused, by however little and even if its mechanism is private; one that
claims less is not. Expected errors and rates of disagreement, on which no promise
rests, are compared to within 1e-9.

The file "-" is stdin; any other is a regular file of at most 256 MiB. With --timeout a
check that takes longer fails: nothing is said of the table.`,
		Example: `  darrm solve --K 11 --m 3 --out table.json
  darrm verify table.json`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: cli.CompleteFiles(cli.TableFiles...),
		RunE: func(c *cobra.Command, args []string) error {
			if err := f.CheckTimeout(c); err != nil {
				return err
			}
			t, err := f.ReadAnyTable(c, a, args[0])
			if err != nil {
				return err
			}
			if a.JSON {
				return a.Deliver("", t.Encode)
			}
			return a.Print(func(w *terminal.Page) error {
				if err := render(w, t); err != nil {
					return err
				}
				w.Text("  ", t.Verdict())
				if t.Gamma != nil {
					w.Text("  ", fmt.Sprintf("Expected errors and disagreement, on which no promise rests, are "+
						"within %g of the file's.", check.ExpectationTolerance))
				}
				return nil
			})
		},
	}
	f.RegisterTimeout(c, "give up checking after this time, such as 90s (default none)")
	return c
}

func render(w *terminal.Page, t release.Table) error {
	switch {
	case t.Answers != nil:
		return renderAnswers(w, t.Answers)
	case t.Plurality != nil:
		return renderPlurality(w, t.Plurality)
	}
	return renderTable(w, t.Gamma)
}
