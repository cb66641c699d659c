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
	if r == nil {
		return nil, errNoReader
	}
	name = shownName(name)
	counts := make([]float64, k+1)
	seen := make([]bool, k+1)
	r, separator := format.PeekSeparator(io.LimitReader(r, MaxHistogramBytes+1))
	in := csv.NewReader(r)
	in.Comma, in.FieldsPerRecord = separator, 2
	rows := 0
	for first := true; ; first = false {
		record, err := in.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		var syntax *csv.ParseError
		if errors.As(err, &syntax) {
			return nil, &ParseError{File: name, Line: syntax.Line,
				Rule: "a histogram of votes must be CSV with two columns, votes and count", Err: syntax.Err}
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		line, _ := in.FieldPos(0)
		fail := func(column int, format string, args ...any) error {
			return &ParseError{File: name, Line: line, Column: column, Rule: fmt.Sprintf(format, args...)}
		}
		if in.InputOffset() > MaxHistogramBytes {
			return nil, fail(0, "a histogram of votes must not be longer than %d bytes", MaxHistogramBytes)
		}
		votes, err := strconv.Atoi(strings.TrimSpace(record[0]))
		if err != nil && first {
			continue // the header
		}
		if err != nil || votes < 0 || votes > k {
			return nil, fail(1, "votes are %s, but must be a whole number between 0 and K = %d",
				quote(record[0]), k)
		}
		count, err := strconv.ParseFloat(strings.TrimSpace(record[1]), 64)
		if err != nil || !(count >= 0) || math.IsInf(count, 1) {
			return nil, fail(2, "count is %s, but must be a finite number ≥ 0", quote(record[1]))
		}
		if seen[votes] {
			return nil, fail(1, "votes %d appear twice", votes)
		}
		seen[votes] = true
		counts[votes] = count
		rows++
	}
	if rows == 0 {
		return nil, &ParseError{File: name, Rule: "there is no count in the file"}
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
	if r == nil {
		return nil, nil, errNoReader
	}
	name = shownName(name)
	in := csv.NewReader(io.LimitReader(r, MaxHistogramsBytes+1))
	in.FieldsPerRecord = classes + 1
	in.ReuseRecord = true
	for first := true; ; first = false {
		record, err := in.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		var syntax *csv.ParseError
		if errors.As(err, &syntax) {
			return nil, nil, &ParseError{File: name, Line: syntax.Line, Err: syntax.Err,
				Rule: fmt.Sprintf("histograms must be CSV with %d columns, the votes for each of %d classes "+
					"and the count", classes+1, classes)}
		}
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", name, err)
		}
		line, _ := in.FieldPos(0)
		fail := func(column int, format string, args ...any) error {
			return &ParseError{File: name, Line: line, Column: column, Rule: fmt.Sprintf(format, args...)}
		}
		if in.InputOffset() > MaxHistogramsBytes {
			return nil, nil, fail(0, "histograms must not be longer than %d bytes", MaxHistogramsBytes)
		}
		count, err := strconv.ParseFloat(strings.TrimSpace(record[classes]), 64)
		if err != nil && first {
			continue // the header
		}
		if err != nil || !(count >= 0) || math.IsInf(count, 1) {
			return nil, nil, fail(classes+1, "count is %s, but must be a finite number ≥ 0",
				quote(record[classes]))
		}
		row := make([]int, classes)
		sum := 0
		for c := range row {
			v, err := strconv.Atoi(strings.TrimSpace(record[c]))
			if err != nil || v < 0 || v > k {
				return nil, nil, fail(c+1, "votes are %s, but must be a whole number between 0 and K = %d",
					quote(record[c]), k)
			}
			row[c] = v
			sum += v
		}
		if sum != k {
			return nil, nil, fail(0, "the votes sum to %d, but must be K = %d", sum, k)
		}
		votes, counts = append(votes, row), append(counts, count)
	}
	if len(votes) == 0 {
		return nil, nil, &ParseError{File: name, Rule: "there is no count in the file"}
	}
	return votes, counts, nil
}
