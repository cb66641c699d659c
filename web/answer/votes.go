package answer

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/internal/commandline"
	"github.com/darrm/darrm/internal/num"
	"github.com/darrm/darrm/plan/choose"
	"github.com/darrm/darrm/plurality"
	"github.com/darrm/darrm/release"
	"github.com/darrm/darrm/votes"
	"github.com/darrm/darrm/web/answer/chart"
)

// Description describes a file of votes. It is not private.
type Description struct {
	Votes    *votes.Description `json:"votes"`    // that of darrm votes describe --json; null where something is asked
	Facts    []string           `json:"facts"`    // those of votes.Look
	Compares bool               `json:"compares"` // what is stated on the page is enough to compare
	Picture  string             `json:"picture"`  // SVG; "" where something is asked
	Header   []string           `json:"header"`   // of Teachers
	Teachers [][]string         `json:"teachers"`
}

// options are those of votes that were dropped on the page: CSV, with classes separated by commas
// ("0,1" where none are stated).
func options(s Stated, name string) votes.Options {
	o := votes.Options{Name: name, Format: votes.FormatCSV}
	if s.has("classes") {
		for class := range strings.SplitSeq(s["classes"], ",") {
			o.Classes = append(o.Classes, strings.TrimSpace(class))
		}
	}
	return o
}

// Describe describes votes of a CSV file, of which name is the name: what the file holds, what is
// asked, and figures where nothing is. The errors are those of reading.
func Describe(ctx context.Context, s Stated, name string, data []byte) (*Description, error) {
	o := options(s, name)
	found, err := votes.Look(ctx, o, votes.Known{Classes: s.has("classes")}, func(o votes.Options) (*votes.Reader,
		error) {
		return votes.NewReader(ctx, bytes.NewReader(data), o)
	}, nil)
	if err != nil {
		return nil, err
	}
	out := &Description{Facts: append([]string{found.String()}, found.Facts()...)}
	if len(found.Asked) > 0 {
		return out, nil
	}
	reading := found.Readings[0]
	d := reading.Description
	plain := reading.Options
	plain.KeepVotes, plain.NoTruth = o.KeepVotes, o.NoTruth
	if !s.has("classes") && slices.Equal(plain.Classes, votes.IntegerClasses(2)) {
		plain.Classes = nil
	}
	out.Votes, out.Compares = d, reflect.DeepEqual(plain, o)
	out.Facts = append(out.Facts, "classes: "+strings.Join(d.Classes, ", "),
		fmt.Sprintf("the most popular answer has %s of the votes; %d queries have a tie",
			num.Percent(d.Agreement), d.Ties))
	if !out.Compares {
		out.Facts = append(out.Facts, "to compare mechanisms here, state the classes above; missing votes and "+
			"columns are stated to darrm compare")
	}
	if d.Accuracy != nil {
		out.Facts = append(out.Facts, fmt.Sprintf("it is right in %s of the %d of %d queries whose true "+
			"label is known", num.Percent(*d.Accuracy), d.Labelled, d.Queries))
	}
	title := "votes for the most popular"
	if len(d.Classes) == 2 {
		title = "votes for " + d.Classes[1]
	}
	c := chart.Chart{Title: "Not private: queries by their votes", X: title + ", of " +
		strconv.Itoa(d.K)}
	for l, n := range d.Histogram {
		c.High = max(c.High, float64(n))
		c.Bars = append(c.Bars, chart.Bar{Name: strconv.Itoa(l), Class: "c1", Height: float64(n)})
	}
	out.Picture = c.SVG()
	out.Header = []string{"teacher"}
	for _, class := range d.Classes {
		out.Header = append(out.Header, "answers "+class)
	}
	out.Header = append(out.Header, "like the most popular", "right")
	for j, t := range d.Teachers {
		row := []string{d.TeacherName(j)}
		for _, rate := range t.Rates {
			row = append(row, num.Percent(rate))
		}
		right := "-"
		if t.Accuracy != nil {
			right = num.Percent(*t.Accuracy)
		}
		out.Teachers = append(out.Teachers, append(row, num.Percent(t.Agreement), right))
	}
	return out, nil
}

// Comparison puts mechanisms side by side on votes. It is not private.
type Comparison struct {
	Report  *ensemble.ComparisonReport `json:"report"` // that of darrm compare --json
	Header  []string                   `json:"header"` // of Rows
	Rows    [][]string                 `json:"rows"`   // the table that darrm compare prints
	Refused []string                   `json:"refused"`
	Command string                     `json:"command"`
}

// Compare compares the mechanisms that apply to votes of a CSV file, by what is stated of
// label-eps, delta (0), affected and classes. Teachers promise nothing. Cost: that of the optima.
func Compare(ctx context.Context, s Stated, name string, data []byte) (*Comparison, error) {
	epsilon, err1 := s.number("label-eps", "label epsilon", 0)
	delta, err2 := s.number("delta", "delta", 0)
	affected, err3 := s.count("affected", "affected", release.AllTeachers)
	if err := cmp.Or(err1, err2, err3); err != nil {
		return nil, err
	}
	r, err := votes.NewReader(ctx, bytes.NewReader(data), options(s, name))
	if err != nil {
		return nil, err
	}
	defer r.Close()
	classes := len(r.Classes())
	if r.K() > mostTeachers || classes > 2 && plurality.Histograms(r.K(), classes) > mostHistograms {
		return nil, fmt.Errorf("number of teachers K = %d with %d classes, but this page solves for at "+
			"most %d teachers of two classes, or %d sorted histograms: use darrm compare", r.K(), classes,
			mostTeachers, mostHistograms)
	}
	ballots, err := ensemble.NewBallots(r.K(), classes)
	if err != nil {
		return nil, err
	}
	for b, err := range r.Batches() {
		if err != nil {
			return nil, err
		}
		if b.Missing != nil {
			return nil, fmt.Errorf("%s has missing votes, which darrm compare takes with --missing abstain",
				name)
		}
		for i := range b.Len() {
			truth := ensemble.NoTruth
			if b.Labels != nil && b.Labels[i] >= 0 {
				truth = b.Labels[i]
			}
			if err := ballots.Add(b.Row(i), truth); err != nil {
				return nil, err
			}
		}
		b.Release()
	}
	nothing := math.Inf(1)
	prepared, err := choose.PrepareComparison(choose.Request{
		Stated: release.Stated{Epsilon: &nothing, LabelEpsilon: &epsilon, Delta: &delta,
			Affected: &affected},
		K: r.K(), Classes: classes, Neighbours: accountant.ReplaceOne,
	})
	if err != nil {
		return nil, err
	}
	options, err := prepared.Options(ctx, r.K())
	if err != nil {
		return nil, err
	}
	c, err := ensemble.Compare(ctx, ballots, options)
	if err != nil {
		return nil, err
	}
	c.Classes = r.Classes()
	out := &Comparison{Report: c.Report()}
	out.Header, out.Rows = c.Table()
	for _, row := range c.Rows {
		if row.Refused != nil {
			out.Refused = append(out.Refused, fmt.Sprintf("%s: %v", row.Title, row.Refused))
		}
	}
	words := []string{"darrm", "compare", name}
	for _, flag := range []string{"classes", "label-eps", "delta"} {
		if s.has(flag) {
			words = append(words, "--"+flag, s[flag])
		}
	}
	words = append(words, "--eps", "inf")
	if affected == release.AllTeachers {
		words = append(words, "--data", "overlapping")
	} else {
		words = append(words, "--affected", strconv.Itoa(affected))
	}
	out.Command = strings.Join(commandline.ShellWords(words), " ")
	return out, nil
}
