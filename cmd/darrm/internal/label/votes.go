package label

import (
	"fmt"
	"reflect"
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

Without flags it prints how it reads the file, and the command that states the same. It
asks what only a person can say, with one command for each answer; figures that depend
on the answer are then left out.

All of it is computed from the raw votes: NOT PRIVATE, do not release it.`,
		Example: `  darrm votes describe votes.csv
  darrm votes describe 'part-*.parquet' --plot votes.svg
  darrm votes describe votes.npy --layout teachers --json
  darrm votes describe people.csv --vote-columns alice,bob,carol --label-column y`,
		Args:              cobra.MinimumNArgs(1),
		ValidArgsFunction: cli.CompleteFiles(votes.FileEndings()...),
		RunE: func(c *cobra.Command, args []string) error {
			if err := picture.CheckPlot(plotFile); err != nil {
				return err
			}
			s, err := lookAt(c, a, &f, args)
			if err != nil {
				return err
			}
			var d *votes.Description // where nothing is asked
			if len(s.Asked) == 0 {
				d = s.Readings[0].Description
			}
			if plotFile != "" && d == nil {
				return cli.Usagef("--plot = %q, but what is drawn depends on an answer: %s", plotFile,
					strings.Join(s.Asked, "; "))
			}
			if err := picture.Deliver(a, "plot", plotFile, func() (figure.Sheet, error) { return votesPicture(d) }); err != nil {
				return err
			}
			return a.Show(describedJSON(c, &f, args, s, d), func(w *terminal.Page) error {
				w.Text("  ", notPrivate)
				classes := ""
				if d != nil {
					classes = ", classes " + strings.Join(d.Classes, ", ")
				}
				w.Text("  ", fmt.Sprintf("%s, K = %d teachers%s", num.Count(int(s.Queries), "query"), s.K, classes))
				w.Text("  ", s.Columns.String())
				for _, fact := range factsOf(c, s)[1:] {
					w.Fact(fact.Title+":", fact.Text)
				}
				for _, reading := range s.Readings {
					if args := readArgs(c, &f, args, reading); args != nil && (d == nil || !states(c, &f, reading)) {
						title := "read by:"
						if reading.Answer != "" {
							w.Fact("if:", reading.Consequence())
							title = ""
						}
						if title != "" {
							w.Fact(title, "this command, which states it all")
						}
						w.Printf("%s\n", strings.Join(shellLines(append([]string{"darrm", "votes", "describe"}, args...),
							w.Width), " \\\n"))
					}
				}
				if d == nil {
					return nil
				}
				return renderVotes(w, d)
			})
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

// states reports whether the flags state a reading themselves.
func states(c *cobra.Command, f *readFlags, r *votes.Reading) bool {
	o := f.options
	o.KeepVotes, o.Missing, o.NoTruth = r.Options.KeepVotes, r.Options.Missing, r.Options.NoTruth
	o.Stdin = r.Options.Stdin
	return statesClasses(c) && reflect.DeepEqual(o, r.Options)
}

// describedJSON is the JSON form of a survey, with the description of the files where nothing is asked.
func describedJSON(c *cobra.Command, f *readFlags, paths []string, s *votes.Survey,
	d *votes.Description) any {
	type found struct {
		Values   []votes.Value   `json:"values"`
		Missing  []votes.Spelled `json:"missing_spellings,omitempty"`
		Truth    []votes.Value   `json:"truth,omitempty"`
		Told     []string        `json:"told,omitempty"`
		Asked    []string        `json:"asked,omitempty"`
		Commands []readCommand   `json:"commands,omitempty"` // one for each answer; none is chosen
	}
	x := found{s.Values, s.Missing, s.Truth, s.Told, s.Asked,
		readCommands(c, f, paths, s, "darrm", "votes", "describe")}
	if d != nil && states(c, f, s.Readings[0]) {
		x.Commands = nil
	}
	if d != nil {
		return struct {
			*votes.Description
			found
		}{d, x}
	}
	return struct {
		Private bool        `json:"private"`
		Queries int64       `json:"queries"`
		K       int         `json:"k"`
		Columns votes.Roles `json:"columns"`
		found
	}{false, s.Queries, s.K, s.Columns, x}
}

func renderVotes(w *terminal.Page, d *votes.Description) error {
	for _, said := range d.Says() {
		w.Text("  ", said)
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
	if err := w.Table(terminal.TextTable{Header: []string{d.HistogramTitle(), "queries", "share", ""},
		Rows: rows}); err != nil {
		return err
	}
	if d.Teachers == nil {
		return nil
	}
	w.Printf("\n")
	header, rows := d.Table()
	return w.Table(terminal.TextTable{Header: header, Rows: rows})
}

// votesPicture draws the histogram.
func votesPicture(d *votes.Description) (figure.Sheet, error) {
	c := figure.NewChart(fmt.Sprintf("NOT PRIVATE: %d queries, %s agreement", d.Queries,
		num.Percent(d.Agreement)), fmt.Sprintf("%s, of %d", d.HistogramTitle(), d.K), "queries")
	values := make(plotter.Values, len(d.Histogram))
	for l, n := range d.Histogram {
		values[l] = float64(n)
	}
	return c.Sheet(), c.Histogram(values)
}
