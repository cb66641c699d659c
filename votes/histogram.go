package votes

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/darrm/darrm/votes/format"
)

// MaxHistogramBytes bounds what ReadHistogram reads; K+1 short lines need far less.
const MaxHistogramBytes = 1 << 20

// ReadHistogram reads how often each number of votes for 1 occurs among k teachers,
// as CSV with two columns, a number of votes 0 … k and a count:
//
//	ones,count
//	0,120
//	1,35
//
// A header is optional; numbers of votes that do not occur may be left out. It
// returns k+1 counts. name is the file's name for messages; faults of the file are
// [*ParseError]s.
func ReadHistogram(r io.Reader, name string, k int) ([]float64, error) {
	counts, seen := make([]float64, k+1), make([]bool, k+1)
	t := countTable{what: "a histogram of votes", with: "two columns, votes and count", columns: 1, most: MaxHistogramBytes}
	err := t.read(r, name, k, func(votes []int, count float64) (column int, rule string) {
		n := votes[0]
		if seen[n] {
			return 1, fmt.Sprintf("votes %d appear twice", n)
		}
		seen[n], counts[n] = true, count
		return 0, ""
	})
	if err != nil {
		return nil, err
	}
	return counts, nil
}

// MaxHistogramsBytes bounds what ReadHistograms reads.
const MaxHistogramsBytes = 32 << 20

// ReadHistograms reads how often histograms of k votes for classes occur, as CSV with one column
// of votes for each class and one of counts at the end:
//
//	cat,dog,bird,count
//	50,0,0,120
//	30,15,5,35.5
//
// A header is optional, and so are histograms that do not occur. It returns the votes and the
// count of each row, of which there is one at least. name is the file's name for messages; faults
// of the file are [*ParseError]s.
func ReadHistograms(r io.Reader, name string, k,
	classes int) (votes [][]int, counts []float64, err error) {
	t := countTable{what: "histograms", columns: classes, most: MaxHistogramsBytes, byCount: true,
		with: fmt.Sprintf("%d columns, the votes for each of %d classes and the count", classes+1, classes)}
	err = t.read(r, name, k, func(row []int, count float64) (column int, rule string) {
		sum := 0
		for _, n := range row {
			sum += n
		}
		if sum != k {
			return 0, fmt.Sprintf("the votes sum to %d, but must be K = %d", sum, k)
		}
		votes, counts = append(votes, row), append(counts, count)
		return 0, ""
	})
	if err != nil {
		return nil, nil, err
	}
	return votes, counts, nil
}

// countTable describes a CSV file whose rows are numbers of votes and, at the end, a count.
type countTable struct {
	what, with string // for messages
	columns    int    // of votes
	most       int64  // bytes
	byCount    bool   // the count of the first row says whether it is a header; else the votes do
}

// read passes the rows to take, which returns the rule that a row breaks, or "", and its column, 0 for the row.
func (t countTable) read(r io.Reader, name string, k int, take func(votes []int, count float64) (int, string)) error {
	if r == nil {
		return errNoReader
	}
	name = shownName(name)
	r, separator := format.PeekSeparator(io.LimitReader(r, t.most+1))
	in := csv.NewReader(r)
	in.Comma, in.FieldsPerRecord, in.ReuseRecord = separator, t.columns+1, true
	rows := 0
	for first := true; ; first = false {
		cells, err := in.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		var syntax *csv.ParseError
		if errors.As(err, &syntax) {
			return &ParseError{File: name, Line: syntax.Line, Rule: t.what + " must be CSV with " + t.with, Err: syntax.Err}
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		line, _ := in.FieldPos(0)
		fail := func(column int, rule string) error {
			return &ParseError{File: name, Line: line, Column: column, Rule: rule}
		}
		if in.InputOffset() > t.most {
			return fail(0, fmt.Sprintf("%s must not be longer than %d bytes", t.what, t.most))
		}
		votes := make([]int, t.columns)
		count, wrong := strconv.ParseFloat(strings.TrimSpace(cells[t.columns]), 64)
		badCount, badVotes, header := wrong != nil || !(count >= 0) || math.IsInf(count, 1), -1, wrong != nil && t.byCount
		for c := range votes {
			if votes[c], wrong = strconv.Atoi(strings.TrimSpace(cells[c])); badVotes < 0 && (wrong != nil || votes[c] < 0 || votes[c] > k) {
				badVotes = c
			}
			header = header || wrong != nil && !t.byCount
		}
		switch {
		case first && header:
			continue
		case badVotes >= 0 && !(badCount && t.byCount):
			return fail(badVotes+1, fmt.Sprintf("votes are %s, but must be a whole number between 0 and K = %d",
				quote(cells[badVotes]), k))
		case badCount:
			return fail(t.columns+1, fmt.Sprintf("count is %s, but must be a finite number ≥ 0", quote(cells[t.columns])))
		}
		if column, rule := take(votes, count); rule != "" {
			return fail(column, rule)
		}
		rows++
	}
	if rows == 0 {
		return &ParseError{File: name, Rule: "there is no count in the file"}
	}
	return nil
}
