// Command uneven measures the gain of stated class shares on real votes with one rare class: those of
// testdata/mnist-5v8-disjoint (101 teachers without privacy on disjoint parts of MNIST), all fives with so many of
// the eights that these have the stated share. It prints a markdown table: the table that treats the classes alike,
// the one for the stated shares, the one for costs 1/share besides, and always five. Noise is averaged out exactly.
//
//	go run ./bench/uneven                      some seconds
//	go run ./bench/uneven -k 25 -queries 40    other sizes
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/bench/peers"
	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/plurality"
	"github.com/darrm/darrm/plurality/answers"
	"github.com/darrm/darrm/plurality/answers/solve"
	"github.com/darrm/darrm/votes"
)

func main() { peers.Main("uneven", run) }

// query is the votes for both classes and the true one.
type query struct {
	counts []int
	truth  int
}

// read returns the votes of the first k teachers: all queries of class 0, and of class 1 the first ones, until it has
// the share.
func read(ctx context.Context, r io.Reader, k int, share float64) (out []query, err error) {
	o := votes.Options{Name: "votes.csv", LabelColumn: "label"}
	for i := range k {
		o.VoteColumns = append(o.VoteColumns, "t"+strconv.Itoa(i+1))
	}
	file, err := votes.NewReader(ctx, r, o)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var ones []query
	for b, err := range file.Batches() {
		if err != nil {
			return nil, err
		}
		for i, truth := range b.Labels {
			if q := (query{slices.Clone(b.Row(i)), truth}); truth == 1 {
				ones = append(ones, q)
			} else {
				out = append(out, q)
			}
		}
		b.Release()
	}
	n := int(float64(len(out))*share/(1-share) + .5)
	if n < 1 || n > len(ones) {
		return nil, fmt.Errorf("share = %v needs %d of %d queries of class 1", share, n, len(ones))
	}
	return append(out, ones[:n]...), nil
}

// score is the worth of labels with some probabilities.
type score struct {
	agrees, right     float64
	recall, trueClass [2]float64 // where a class has the most votes, and where it is the true one
}

// scored returns the score of labels that name class 1 with the probabilities.
func scored(queries []query, one func(counts []int) (float64, error)) (s score, err error) {
	var most, truth [2]float64
	for _, q := range queries {
		p, err := one(q.counts)
		if err != nil {
			return s, err
		}
		of := [2]float64{1 - p, p}
		agrees := 0.0
		for class, x := range of {
			if q.counts[class] >= q.counts[1-class] {
				agrees += x
				most[class]++
				s.recall[class] += x
			}
		}
		s.agrees += agrees
		s.right += of[q.truth]
		truth[q.truth]++
		s.trueClass[q.truth] += of[q.truth]
	}
	n := float64(len(queries))
	s.agrees, s.right = s.agrees/n, s.right/n
	for class := range most {
		s.recall[class] /= max(1, most[class])
		s.trueClass[class] /= max(1, truth[class])
	}
	return s, nil
}

func run(ctx context.Context, args []string, out io.Writer) error {
	fs := flag.NewFlagSet("uneven", flag.ContinueOnError)
	path := fs.String("votes", "testdata/mnist-5v8-disjoint/votes.csv", "file of votes")
	k := fs.Int("k", 51, "number of teachers, the first ones")
	queries := fs.Int("queries", 200, "labels within the budget")
	epsilon := fs.Float64("eps", 3, "ε of all labels")
	delta := fs.Float64("delta", 1e-5, "δ of all labels")
	list := fs.String("shares", "0.1,0.05", "shares of class 1, each for a table of rows")
	if err := fs.Parse(args); err != nil {
		return err
	}
	fmt.Fprintln(out, "| share of 8 | table | expected | agrees | 5 where it leads | 8 where it leads | balanced | right | true 8 found |")
	fmt.Fprintln(out, "|---|---|---:|---:|---:|---:|---:|---:|---:|")
	p := answers.Problem{K: *k, Classes: 2, Affected: 1, Answers: *queries, Epsilon: *epsilon, Delta: *delta}
	for part := range strings.SplitSeq(*list, ",") {
		share, err := strconv.ParseFloat(part, 64)
		if err != nil || !(share > 0 && share < 1) {
			return fmt.Errorf("share = %q, but it must be in (0,1)", part)
		}
		f, err := os.Open(*path)
		if err != nil {
			return err
		}
		votes, err := read(ctx, f, *k, share)
		if err := errors.Join(err, f.Close()); err != nil {
			return err
		}
		prior := answers.Prior{Objective: plurality.DefaultObjective(2)}
		named := prior
		named.Shares = plurality.Shares{1 - share, share}
		balanced := named
		balanced.Costs = plurality.Costs{{0, 1 / share}, {1 / (1 - share), 0}}
		for _, row := range []struct {
			name  string
			prior answers.Prior
		}{{"classes alike", prior}, {"stated shares", named}, {"stated shares, balanced costs", balanced}} {
			p.Named = row.prior.Shares != nil
			t, err := solve.Best(ctx, p, row.prior, solve.Options{})
			if err != nil {
				return err
			}
			m, err := ensemble.ManyAnswers(t.Certified, accountant.ReplaceOne)
			if err != nil {
				return err
			}
			s, err := scored(votes, func(counts []int) (float64, error) {
				of, err := m.Probabilities(counts)
				if err != nil {
					return 0, err
				}
				return of[1], nil
			})
			if err != nil {
				return err
			}
			print(out, part, row.name, t.Value, s)
		}
		s, err := scored(votes, func([]int) (float64, error) { return 0, nil })
		if err != nil {
			return err
		}
		print(out, part, "always 5", -1, s)
	}
	return nil
}

// print writes a row. What is expected is agreement, so that costs have none.
func print(out io.Writer, share, name string, expected float64, s score) {
	of := "-"
	if expected > 0 {
		of = percent(expected)
	}
	fmt.Fprintf(out, "| %s | %s | %s | %s | %s | %s | %s | %s | %s |\n", share, name, of, percent(s.agrees), percent(s.recall[0]),
		percent(s.recall[1]), percent((s.recall[0]+s.recall[1])/2), percent(s.right), percent(s.trueClass[1]))
}

func percent(x float64) string { return fmt.Sprintf("%.1f", 100*x) }
