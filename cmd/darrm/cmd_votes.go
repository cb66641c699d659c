package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"gonum.org/v1/plot/plotter"

	"github.com/darrm/darrm/internal/figure"
	"github.com/darrm/darrm/votes"
)

func newVotes(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:   "votes",
		Short: "Look at files of votes (not private)",
		Long: `Look at files of votes. What these commands print is computed from the raw votes:
it is for the person who holds them, and not private.
` + exitStatus,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(newDescribe(a))
	return c
}

func newDescribe(a *app) *cobra.Command {
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

All of it is computed from the raw votes: NOT PRIVATE, do not release it.
` + exitStatus,
		Example: `  darrm votes describe votes.csv
  darrm votes describe 'part-*.parquet' --plot votes.svg
  darrm votes describe votes.npy --layout teachers --json
  darrm votes describe people.csv --vote-columns alice,bob,carol --label-column y`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if err := f.prepare(); err != nil {
				return err
			}
			if err := checkPlot(plotFile); err != nil {
				return err
			}
			d, err := describeVotes(c.Context(), a, &f, args)
			if err != nil {
				return err
			}
			if plotFile != "" {
				picture, err := d.picture()
				if err != nil {
					return err
				}
				if err := a.deliverPlot(plotFile, picture); err != nil {
					return err
				}
			}
			if a.json {
				return a.deliverJSON("", d)
			}
			return a.deliver("", d.render)
		},
	}
	f.register(c)
	c.Flags().StringVar(&plotFile, "plot", "", "draw the histogram of votes into this file ("+figure.Formats+")")
	return c
}

// description is what a file of votes looks like. It is not private.
type description struct {
	Private bool     `json:"private"` // false, always
	Queries int64    `json:"queries"`
	K       int      `json:"k"`
	Classes []string `json:"classes"`

	Columns  votes.Roles `json:"columns"`
	Missing  int64       `json:"missing_votes"`
	Ties     int64       `json:"ties"`              // queries without a single most popular answer
	Accuracy *float64    `json:"majority_accuracy"` // null without true labels

	// Histogram counts the queries by the votes for the second of two classes,
	// 0..K; with more classes, by those for the most popular answer.
	Histogram []int64 `json:"histogram"`
	Agreement float64 `json:"agreement"` // mean share of the votes for the most popular answer

	Teachers []teacherDescription `json:"teachers,omitempty"` // where the files hold votes, not counts

	labelled, right int64
	popular         float64
}

// teacherDescription is what one teacher votes.
type teacherDescription struct {
	Rates     []float64 `json:"rates"`     // share of each class among this teacher's votes
	Agreement float64   `json:"agreement"` // with the single most popular answer, where there is one
	Accuracy  *float64  `json:"accuracy"`  // null without true labels

	counts              []int64
	votes, with, of     int64
	labelled, rightOnes int64
}

func describeVotes(ctx context.Context, a *app, f *readFlags, paths []string) (*description, error) {
	f.options.KeepVotes = f.options.Layout != votes.LayoutCounts
	r, err := f.open(ctx, a.in, paths)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	d := &description{K: r.K(), Classes: r.Classes(), Columns: r.Columns(), Histogram: make([]int64, r.K()+1)}
	if f.options.KeepVotes {
		d.Teachers = make([]teacherDescription, d.K)
		for i := range d.Teachers {
			d.Teachers[i].counts = make([]int64, len(d.Classes))
		}
	}
	bar := newProgress(a)
	defer bar.stop()
	show := bar.rows("reading")
	for b, err := range r.Batches() {
		if err != nil {
			return nil, inputFailure(ctx, err)
		}
		for i := range b.Len() {
			d.add(b, i)
		}
		b.Release()
		show(r.Progress())
	}
	d.finish()
	return d, nil
}

func (d *description) add(b *votes.Batch, i int) {
	d.Queries++
	row := b.Row(i)
	most := slices.Max(row)
	if len(row) == 2 {
		d.Histogram[row[1]]++
	} else {
		d.Histogram[most]++
	}
	d.popular += float64(most)
	if b.Missing != nil {
		d.Missing += int64(b.Missing[i])
	}
	majority := b.Majority(i)
	if majority < 0 {
		d.Ties++
	}
	truth := -1
	if b.Labels != nil {
		truth = b.Labels[i]
	}
	if truth >= 0 {
		d.labelled++
		if majority == truth {
			d.right++
		}
	}
	for j := range d.Teachers {
		v := b.Votes[i*b.K+j]
		if v < 0 {
			continue
		}
		t := &d.Teachers[j]
		t.votes++
		t.counts[v]++
		if majority >= 0 {
			t.of++
			if v == majority {
				t.with++
			}
		}
		if truth >= 0 {
			t.labelled++
			if v == truth {
				t.rightOnes++
			}
		}
	}
}

func (d *description) finish() {
	d.Agreement = share(d.popular, d.Queries*int64(d.K)-d.Missing)
	d.Accuracy = shareOf(d.right, d.labelled)
	for j := range d.Teachers {
		t := &d.Teachers[j]
		for _, n := range t.counts {
			t.Rates = append(t.Rates, share(float64(n), t.votes))
		}
		t.Agreement = share(float64(t.with), t.of)
		t.Accuracy = shareOf(t.rightOnes, t.labelled)
	}
}

func share(x float64, of int64) float64 {
	if of == 0 {
		return 0
	}
	return x / float64(of)
}

func shareOf(n, of int64) *float64 {
	if of == 0 {
		return nil
	}
	x := share(float64(n), of)
	return &x
}

func percent(x float64) string { return fmt.Sprintf("%.2f %%", 100*x) }

func percentOrNone(x *float64) string {
	if x == nil {
		return "-"
	}
	return percent(*x)
}

// histogramTitle says what the histogram counts.
func (d *description) histogramTitle() string {
	if len(d.Classes) == 2 {
		return "votes for " + d.Classes[1]
	}
	return "votes for the most popular"
}

func (d *description) render(w io.Writer) error {
	fmt.Fprintln(w, "NOT PRIVATE, for your eyes only: computed from the raw votes")
	fmt.Fprintf(w, "%d queries, K = %d teachers, classes %s\n", d.Queries, d.K, strings.Join(d.Classes, ", "))
	fmt.Fprintln(w, d.Columns)
	fmt.Fprintf(w, "the most popular answer has %s of the votes; %d queries have none (a tie)\n", percent(d.Agreement), d.Ties)
	if d.Accuracy != nil {
		fmt.Fprintf(w, "it is right in %s of the %d queries that have a true label\n", percent(*d.Accuracy), d.labelled)
	}
	if d.Missing > 0 {
		fmt.Fprintf(w, "%d votes are missing\n", d.Missing)
	}
	fmt.Fprintln(w)
	const width = 40
	most := max(1, slices.Max(d.Histogram))
	var rows [][]string
	for l, n := range d.Histogram {
		bar := strings.Repeat("█", int((n*width+most-1)/most)) // whatever occurs is seen
		rows = append(rows, []string{fmt.Sprintf("%d of %d", l, d.K), strconv.FormatInt(n, 10), percent(share(float64(n), d.Queries)), bar + strings.Repeat("·", width-len([]rune(bar)))})
	}
	if err := renderRows(w, []string{d.histogramTitle(), "queries", "share", ""}, rows, nil); err != nil {
		return err
	}
	if d.Teachers == nil {
		return nil
	}
	fmt.Fprintln(w)
	header := []string{"teacher"}
	for _, c := range d.Classes {
		header = append(header, "answers "+c)
	}
	header = append(header, "like the most popular", "right")
	rows = nil
	for j, t := range d.Teachers {
		row := []string{strconv.Itoa(j + 1)}
		for _, rate := range t.Rates {
			row = append(row, percent(rate))
		}
		rows = append(rows, append(row, percent(t.Agreement), percentOrNone(t.Accuracy)))
	}
	return renderRows(w, header, rows, nil)
}

// picture is the histogram.
func (d *description) picture() (figure.Sheet, error) {
	c := newChart(fmt.Sprintf("NOT PRIVATE: %d queries, %s agreement", d.Queries, percent(d.Agreement)), fmt.Sprintf("%s, of %d", d.histogramTitle(), d.K), "queries")
	values := make(plotter.Values, len(d.Histogram))
	for l, n := range d.Histogram {
		values[l] = float64(n)
	}
	return c.sheet(), c.histogram(values)
}
