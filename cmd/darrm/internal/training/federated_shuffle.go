package training

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/darrm/darrm/cmd/darrm/internal/cli"
	"github.com/darrm/darrm/learn/federated/rounds"
	"github.com/darrm/darrm/release"
)

func newFederatedShuffle(a *cli.App) *cobra.Command {
	var book rounds.Book
	var out string
	c := &cobra.Command{
		Use:   "shuffle PLAN ROUND REPORTS… --book FOLDER",
		Short: "Mix the reports of all silos, so that nobody can tell whose is whose",
		Long: `Take the files of reports of one round and write them as one, each stream in the order
of its reports' bytes. Nothing in the result depends on which silo sent what, on
the names, the order or the times of the files. This is the part that silos trust: run it
where the server cannot look, give it the files over a channel that nobody else reads,
and delete them afterwards.

Nothing is written while fewer reports are in than the plan's price is for. A round is
released once: --book is a folder where the shuffler remembers what it released. The same
reports give the same file again, and an --out that holds it stays as it is; with other
reports the round is refused, because the two results would differ by those of single
silos. So is a round whose predecessor the book does not know: the book may have been
emptied, or be another one. --new-book states that no other book has released the round.

Nothing in a file proves who sent it: check that where the files come in.`,
		Example: `  mkdir book
  darrm federated shuffle plan.json round0.json *.reports --book book -o 0.shuffled`,
		Args:              cobra.MinimumNArgs(3),
		ValidArgsFunction: cli.CompleteFiles(),
		RunE: func(c *cobra.Command, args []string) error {
			if err := cli.Require(c, "book", "out"); err != nil {
				return err
			}
			return runShuffle(c, a, args[0], args[1], args[2:], book, out)
		},
	}
	c.Flags().StringVar(&book.Folder, "book", "",
		"folder where this shuffler remembers which rounds it released; one for all rounds and runs")
	cli.TakesFolder(c, "book")
	c.Flags().BoolVar(&book.Begins, "new-book", false,
		"go on with a --book that does not know the round before: states that no other book has "+
			"released this round")
	registerOut(c, &out, "write the shuffled reports to this file")
	return c
}

func runShuffle(c *cobra.Command, a *cli.App, planPath, roundPath string, paths []string,
	book rounds.Book, out string) error {
	reads := []release.File{{Name: "PLAN", Path: planPath}, {Name: "ROUND", Path: roundPath}}
	for _, path := range paths {
		reads = append(reads, release.File{Name: "REPORTS", Path: path})
	}
	if err := cli.CheckFiles(out, reads...); err != nil {
		return err
	}
	p, r, err := readRun(a, c, planPath, roundPath)
	if err != nil {
		return err
	}
	s, err := p.NewShuffle(r)
	if err != nil {
		return federatedFault(roundPath, err)
	}
	bar := cli.NewProgress(a)
	defer bar.Stop()
	count := bar.Count("shuffling", "silos")
	for i, path := range paths {
		b, err := readAll(c.Context(), a, path, p.MaxReports())
		if err != nil {
			return err
		}
		if _, err := s.Add(c.Context(), b); err != nil {
			return federatedFault(path, err)
		}
		count(i+1, len(paths))
	}
	if err := c.Context().Err(); err != nil {
		return err
	}
	shuffled, err := s.Release(book)
	bar.Stop()
	if errors.Is(err, rounds.ErrPartialRound) {
		return &release.InputError{Err: err}
	}
	if err != nil {
		return federatedFault("", err)
	}
	missing := []int{}
	for _, m := range s.Missing() {
		missing = append(missing, m+1)
	}
	if !a.JSON {
		if len(missing) > 0 {
			a.Say("without silos %v, which the price allows for", missing)
		}
		a.Say("round %d: the reports of %d silos, shuffled", r.Round, len(paths))
	}
	return deliverOnce(c.Context(), a, out, shuffled, func(unchanged bool) any {
		return struct {
			Plan      string `json:"plan"`
			Round     int    `json:"round"`
			Silos     int    `json:"silos"`
			Missing   []int  `json:"missing"`
			Bytes     int    `json:"bytes"`
			Unchanged bool   `json:"unchanged"` // it was there
		}{p.Digest(), r.Round, len(paths), missing, len(shuffled), unchanged}
	})
}
