package mechanisms

import (
	"cmp"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/darrm/darrm/cmd/darrm/internal/cli"
	"github.com/darrm/darrm/cmd/darrm/internal/picture"
	"github.com/darrm/darrm/cmd/darrm/internal/problem"
	"github.com/darrm/darrm/gamma"
	"github.com/darrm/darrm/internal/figure"
	"github.com/darrm/darrm/internal/terminal"
	"github.com/darrm/darrm/plan/choose"
	"github.com/darrm/darrm/release"
)

// NewSolve makes the command that finds an optimal table.
func NewSolve(a *cli.App) *cobra.Command {
	var f problem.Flags
	var k int
	var out, plotFile string
	many := answersSolve{pluralitySolve: &pluralitySolve{Flags: &f}}
	c := &cobra.Command{
		Use:   "solve --K teachers --m allowance",
		Short: "Find the optimal private noise function, or plurality of many classes",
		Long: `Find the noise function γ that releases the majority of K private teachers
with the least error, and prove that it is private and optimal.

Each teacher is (ε,Δ)-differentially private (--eps, --teacher-delta); one
released majority is (mε,δ)-differentially private. The defaults ε = 0.1 and
Δ = 1e-5 are those of the literature's figures, not of your teachers.

` + problem.UsageObjective + `
The table shows what a label costs by both metrics. docs/objective.md compares them.

With --num-classes it finds the best private plurality of many classes instead: the
mechanism whose answer is most often a class with the most votes, where one record
changes at most --affected of the votes and nothing is presumed of the teachers.
The votes that are expected are those of which classes have uneven shares, unless
--concentration, --accuracy or a file of --prior-counts says otherwise. Ctrl-C ends
the search and keeps the best table so far. docs/many-classes.md says more.

With --queries it finds the best table for that many labels together, of two classes or
of many (--num-classes), within --budget-eps and --budget-delta: aggregate --table and serve
release them for that price, which is charged once. docs/many-answers.md says more.

The result is certified: every privacy constraint is checked again with rounding
errors accounted for, whatever the solver said. Solved tables are kept in a cache
and certified again whenever they are read.

With --json the table is printed in the form that aggregate and verify read; --out
writes it to a file. --plot draws it.`,
		Example: `  darrm solve --K 11 --m 3 --plot gamma.svg
  darrm solve --K 11 --m 3 --eps 0.13577 --teacher-delta 1e-4 --out table.json
  darrm solve --K 11 --m 3 --objective agreement
  darrm solve --K 41 --m 5 --shape monotone --json
  darrm solve --K 250 --eps inf --affected 1 --label-eps 0.5
  darrm solve --num-classes 4 --K 50 --affected 1 --label-eps 0.1 --gap 1e-4 --out table.json
  darrm solve --K 101 --data disjoint --queries 1000 --budget-eps 3 --budget-delta 1e-6 --out table.json`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := many.check(c); err != nil {
				return err
			}
			if !many.asked(c) {
				if err := cli.Require(c, "K", problem.RequiredBudget); err != nil {
					return err
				}
			}
			if err := picture.CheckPlot(plotFile); err != nil {
				return err
			}
			// Checked before the solve, which can take hours.
			if err := cmp.Or((release.FileOutput{Path: out}).CheckPlace(),
				(release.FileOutput{Path: plotFile, Name: "--plot"}).CheckPlace()); err != nil {
				return err
			}
			switch {
			case many.asked(c):
				return many.run(c, a, k, out)
			case c.Flags().Changed("num-classes"):
				return many.pluralitySolve.run(c, a, k, out, plotFile)
			}
			s, err := f.Solve(c, a, k)
			if err != nil {
				return err
			}
			if out != "" && out != "-" {
				if err := a.Deliver(out, s.Table.Encode); err != nil {
					return err
				}
			}
			if plotFile != "" {
				sheet, err := gammaPicture(s.Table)
				if err != nil {
					return err
				}
				if err := picture.DeliverPlot(a, plotFile, sheet); err != nil {
					return err
				}
			}
			if a.JSON || out == "-" {
				err = a.Deliver("", s.Table.Encode)
			} else {
				err = a.Print(func(w *terminal.Page) error {
					if err := renderTable(w, s.Table); err != nil {
						return err
					}
					w.Text("  ", origin(s))
					return nil
				})
			}
			if err != nil {
				return err
			}
			return s.Unsaved
		},
	}
	c.Flags().IntVar(&k, "K", 0, "number of teachers")
	f.Register(c, choose.Source, 0.1, 1e-5)
	c.Flags().StringVarP(&out, "out", "o", "",
		"also write the table to this file, as JSON; \"-\" for JSON on stdout instead")
	cli.TakesFile(c, "out", cli.TableFiles...)
	c.Flags().StringVar(&plotFile, "plot", "",
		"draw γ against the votes, and the baselines, into this file ("+figure.Formats+")")
	cli.TakesFile(c, "plot", cli.PictureFiles...)
	many.pluralitySolve.register(c)
	many.register(c)
	cli.First(c, problem.FlagGroups, "K", "m", "label-eps", "delta", "data", "num-classes",
		"objective", "out")
	return c
}

// origin describes in a sentence how the table was obtained and where it is kept.
func origin(s problem.Solved) string {
	switch {
	case s.Table.Certificate().Method == gamma.PostProcessing:
		return "Nothing had to be solved."
	case s.Cached:
		return fmt.Sprintf("Read from the cache and certified again: %s", s.Path)
	case s.Path == "" || s.Unsaved != nil:
		return fmt.Sprintf("Solved by %s in %v, not cached.", s.Table.Solver,
			s.Took.Round(time.Millisecond))
	}
	return fmt.Sprintf("Solved by %s in %v, cached in %s", s.Table.Solver,
		s.Took.Round(time.Millisecond), s.Path)
}
