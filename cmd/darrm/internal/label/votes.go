package label

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"gonum.org/v1/plot/plotter"

	"github.com/darrm/darrm/cmd/darrm/internal/cli"
	"github.com/darrm/darrm/cmd/darrm/internal/picture"
	"github.com/darrm/darrm/cmd/darrm/internal/problem"
	"github.com/darrm/darrm/internal/figure"
	"github.com/darrm/darrm/internal/num"
	"github.com/darrm/darrm/internal/terminal"
	"github.com/darrm/darrm/release"
	"github.com/darrm/darrm/votes"
)

// NewVotes makes the commands about files of votes.
func NewVotes(a *cli.App) *cobra.Command {
	c := &cobra.Command{
		Use:   "votes",
		Short: "Look at files of votes (not private)",
		Long: `Look at files of votes. What these commands print is computed from the raw votes:
it is for the person who holds them, and not private.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(newDescribe(a))
	return c
}

func newDescribe(a *cli.App) *cobra.Command {
	var f readFlags
	var plotFile string
	c := &cobra.Command{
		Use:   "describe FILE...",
		Short: "Count votes, agreement and each teacher's rates (not private)",
		Long: `Describe files of votes: how many queries and teachers, how often the most popular
answer gets how many votes, how often teachers agree with it, what each teacher
answers, and, where the files have true labels, how often each is right. It says
which columns it took for votes, ids and true labels.

A column is a vote if --vote-columns lists it, or if all columns but id and label
have one stem and numbers (t1,t2,t3 or 0,1,2), or if there are --K of them whose
names do not say otherwise. Anything else is an error.

All of it is computed from the raw votes: NOT PRIVATE, do not release it.`,
		Example: `  darrm votes describe votes.csv
  darrm votes describe 'part-*.parquet' --plot votes.svg
  darrm votes describe votes.npy --layout teachers --json
  darrm votes describe people.csv --vote-columns alice,bob,carol --label-column y`,
		Args:              cobra.MinimumNArgs(1),
		ValidArgsFunction: cli.CompleteFiles(votes.FileEndings()...),
		RunE: func(c *cobra.Command, args []string) error {
			if err := f.prepare(c, args); err != nil {
				return err
			}
			if err := picture.CheckPlot(plotFile); err != nil {
				return err
			}
			d, err := describeVotes(c.Context(), a, &f, args)
			if err != nil {
				return err
			}
			if plotFile != "" {
				sheet, err := votesPicture(d)
				if err != nil {
					return err
				}
				if err := picture.DeliverPlot(a, plotFile, sheet); err != nil {
					return err
				}
			}
			if a.JSON {
				return a.DeliverJSON("", d)
			}
			return a.Print(func(w *terminal.Page) error { return renderVotes(w, d) })
		},
	}
	f.register(c)
	c.Flags().StringVar(&plotFile, "plot", "", "draw the histogram of votes into this file ("+
		figure.Formats+")")
	cli.TakesFile(c, "plot", cli.PictureFiles...)
	cli.First(c, problem.FlagGroups, "classes", "num-classes", "K", "id-column", "label-column",
		"vote-columns", "missing", "plot")
	return c
}

func describeVotes(ctx context.Context, a *cli.App, f *readFlags,
	paths []string) (*votes.Description, error) {
	f.options.KeepVotes = f.options.Layout != votes.LayoutCounts
	r, err := f.open(ctx, a.In, paths)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	bar := cli.NewProgress(a)
	defer bar.Stop()
	d, err := votes.Describe(r, bar.Rows("reading"))
	return d, release.Unreadable(ctx, err)
}

func percentOrNone(x *float64) string {
	if x == nil {
		return "-"
	}
	return num.Percent(*x)
}

// histogramTitle returns the title of the histogram: the votes that it counts.
func histogramTitle(d *votes.Description) string {
	if len(d.Classes) == 2 {
		return "votes for " + d.Classes[1]
	}
	return "votes for the most popular"
}

func renderVotes(w *terminal.Page, d *votes.Description) error {
	say := func(format string, args ...any) { w.Text("  ", fmt.Sprintf(format, args...)) }
	say(notPrivate)
	say("%d queries, K = %d teachers, classes %s", d.Queries, d.K, strings.Join(d.Classes, ", "))
	say("%v", d.Columns)
	say("the most popular answer has %s of the votes; %d queries have none (a tie)",
		num.Percent(d.Agreement), d.Ties)
	if d.Accuracy != nil {
		say("it is right in %s of the %d of %d queries whose true label is known",
			num.Percent(*d.Accuracy), d.Labelled, d.Queries)
	}
	if d.Missing > 0 {
		say("%d votes are missing", d.Missing)
	}
	w.Printf("\n")
	width := min(40, w.Width-40) // beside three columns of numbers
	most := max(1, slices.Max(d.Histogram))
	var rows [][]string
	for l, n := range d.Histogram {
		bar := strings.Repeat("█", int((n*int64(width)+most-1)/most)) // whatever occurs is seen
		rows = append(rows, []string{fmt.Sprintf("%d of %d", l, d.K), strconv.FormatInt(n, 10),
			num.Percent(float64(n) / float64(max(1, d.Queries))),
			bar + strings.Repeat("·", width-len([]rune(bar)))})
	}
	if err := w.Table(terminal.TextTable{Header: []string{histogramTitle(d), "queries", "share", ""},
		Rows: rows}); err != nil {
		return err
	}
	if d.Teachers == nil {
		return nil
	}
	w.Printf("\n")
	header := []string{"teacher"}
	for _, c := range d.Classes {
		header = append(header, "answers "+c)
	}
	header = append(header, "like the most popular", "right")
	rows = nil
	for j, t := range d.Teachers {
		row := []string{d.TeacherName(j)}
		for _, rate := range t.Rates {
			row = append(row, num.Percent(rate))
		}
		rows = append(rows, append(row, num.Percent(t.Agreement), percentOrNone(t.Accuracy)))
	}
	return w.Table(terminal.TextTable{Header: header, Rows: rows})
}

// votesPicture draws the histogram.
func votesPicture(d *votes.Description) (figure.Sheet, error) {
	c := picture.NewChart(fmt.Sprintf("NOT PRIVATE: %d queries, %s agreement", d.Queries,
		num.Percent(d.Agreement)), fmt.Sprintf("%s, of %d", histogramTitle(d), d.K), "queries")
	values := make(plotter.Values, len(d.Histogram))
	for l, n := range d.Histogram {
		values[l] = float64(n)
	}
	return c.Sheet(), c.Histogram(values)
}
