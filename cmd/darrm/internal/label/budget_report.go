package label

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/darrm/darrm/cmd/darrm/internal/cli"
	"github.com/darrm/darrm/ledger"
	"github.com/darrm/darrm/release"
	"github.com/darrm/darrm/release/budgetpage"
)

func newBudgetReport(a *cli.App) *cobra.Command {
	var out string
	c := &cobra.Command{
		Use:   "report LEDGER",
		Short: "Write a page for the person who signs",
		Long: `Write one HTML page about a ledger: what was released and when, what it cost, which
promise that is, what remains, and what all of it rests on. Nothing on it was computed
from private data. The page is whole in itself and can be printed.

The page goes to --out, and the sums to stdout; without --out the page goes to stdout.
With --json stdout has the page's content as JSON.`,
		Example:           "  darrm budget report patients.ledger --out budget.html",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: cli.CompleteFiles(cli.LedgerFiles...),
		RunE: func(c *cobra.Command, args []string) error {
			if err := (release.FileOutput{Path: out}).CheckPlace(); err != nil {
				return err
			}
			l, err := ledger.Open(c.Context(), args[0])
			if err != nil {
				return err
			}
			r, err := release.NewBudgetReport(c.Context(), l)
			if err != nil {
				return err
			}
			write := func(w io.Writer) error { return budgetpage.Write(w, r) }
			file := out != "" && out != "-"
			if file {
				if err := a.Deliver(out, write); err != nil {
					return err
				}
			}
			switch {
			case a.JSON:
				return a.DeliverJSON("", r)
			case file:
				// The page's own sums: somebody may have charged since.
				return deliverSums(a, r.Sums(l))
			}
			return a.Deliver("", write)
		},
	}
	c.Flags().StringVarP(&out, "out", "o", "", "write the page to this file; \"\" or \"-\" for stdout")
	cli.TakesFile(c, "out", "html")
	return c
}
