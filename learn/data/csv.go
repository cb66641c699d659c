package data

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/darrm/darrm/internal/check"
)

// Limits of every reader.
const (
	MaxLine   = 16 << 20 // bytes in a line
	maxValues = 1 << 27  // numbers in a file, a gigabyte of float64s
	// MaxBytes is the most that is read of a file, 5 GiB. A number written out in full, with
	// its index and a space, has at most 35 bytes: maxValues numbers are in the file first.
	MaxBytes = 40 * maxValues
)

// CSVOptions sets the way a CSV file is read.
type CSVOptions struct {
	// Response names the column of the response, by its header or, without one, by its
	// number from 1. "" is no response.
	Response string
	// Header is true where the first line names the columns.
	Header bool
	// Columns names the columns of the features, in the order wanted; other columns are not
	// read. It needs Header. nil takes all columns but the response.
	Columns []string
}

// ReadCSV reads records of numbers, one per line. They keep the names of the header's columns,
// which models publish: a header of numbers is refused, since it may be a record.
func ReadCSV(r io.Reader, o CSVOptions) (*Records, error) {
	var x, y []float64
	n, d := 0, 0
	columns, response, err := ScanCSV(r, o, func(row []float64, v float64) error {
		n, d = n+1, len(row)
		x = append(x, row...)
		if o.Response != "" {
			y = append(y, v)
		}
		if len(x) > maxValues {
			return fmt.Errorf("more than %d numbers", maxValues)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if n == 0 {
		return nil, errors.New("no records")
	}
	records, err := NewRecords(n, d, x, y)
	if err == nil {
		records.columns, records.response = columns, response
	}
	return records, err
}

// ScanCSV calls visit for each record that ReadCSV would read, in order, with its features and its
// response, NaN for none. Memory is that of one line: x is good until the next. It returns the
// names of the features' columns and of the response's, where there is a header. An error of
// visit ends it and gets the line's number.
func ScanCSV(r io.Reader, o CSVOptions, visit func(x []float64, y float64) error) (
	columns []string, response string, err error) {
	cr := NewCSVReader(r)
	cr.TrimLeadingSpace = true
	var header []string
	if o.Header {
		row, err := cr.Read()
		if err != nil {
			return nil, "", csvError(err)
		}
		header = slices.Clone(row)
		header[0] = strings.TrimPrefix(header[0], "\ufeff")
		if isRecord(header) {
			return nil, "", check.SettledBy(errors.New(
				"line 1: only numbers, but it must be the names of the columns: a record there would be "+
					"published as names; with no header say so"), "header")
		}
	} else if o.Columns != nil {
		return nil, "", &check.Error{Name: "columns", Value: o.Columns,
			Rule: "left out where the file has no header"}
	}
	var features []int // numbers of the columns
	at := -1           // of the response
	var x []float64
	for {
		row, err := cr.Read()
		if err == io.EOF {
			return columns, response, nil
		}
		if err != nil {
			return nil, "", csvError(err)
		}
		line, _ := cr.FieldPos(0)
		if features == nil {
			if features, at, err = o.choose(header, len(row)); err != nil {
				return nil, "", err
			}
			if len(features) == 0 {
				return nil, "", fmt.Errorf("line %d: no features", line)
			}
			columns, response = o.names(header, features, at)
		}
		x = x[:0]
		for _, i := range features {
			v, err := parseField(row, i, line)
			if err != nil {
				return nil, "", err
			}
			x = append(x, v)
		}
		y := math.NaN()
		if at >= 0 {
			if y, err = parseField(row, at, line); err != nil {
				return nil, "", err
			}
		}
		if err := visit(x, y); err != nil {
			return nil, "", fmt.Errorf("line %d: %w", line, err)
		}
	}
}

// names returns the header's names of the feature columns and of the response.
func (o CSVOptions) names(header []string, features []int,
	at int) (columns []string, response string) {
	if header == nil {
		return nil, ""
	}
	for _, i := range features {
		columns = append(columns, header[i])
	}
	if at >= 0 {
		response = header[at]
	}
	return columns, response
}

// isRecord reports whether the first line is a record where a header is expected: all its entries
// are numbers. Three or more numbers that count up from 0 or 1 are no record, since some programs
// write such numbers as the names of columns.
func isRecord(header []string) bool {
	first, counts := 0.0, len(header) >= 3
	for i, name := range header {
		v, err := ParseNumber(name)
		if err != nil {
			return false
		}
		if i == 0 {
			first = v
		}
		counts = counts && v == first+float64(i)
	}
	return !counts || first != 0 && first != 1
}

// choose returns the columns of the features, in their order, and the column of the response, -1
// for none. The file has width columns.
func (o CSVOptions) choose(header []string, width int) (features []int, response int, err error) {
	response = -1
	if header == nil {
		if o.Response != "" {
			i, err := strconv.Atoi(o.Response)
			if err != nil || i < 1 || i > width {
				return nil, 0, &check.Error{Name: "response column", Value: o.Response,
					Rule: fmt.Sprintf("a number between 1 and %d in a file without header", width)}
			}
			response = i - 1
		}
	} else {
		number := map[string]int{}
		for i, name := range header {
			if _, twice := number[name]; twice {
				return nil, 0, fmt.Errorf("line 1: column %q occurs twice", name)
			}
			number[name] = i
		}
		var ok bool
		if o.Response != "" {
			if response, ok = number[o.Response]; !ok {
				return nil, 0, &check.Error{Name: "response column", Value: o.Response,
					Rule: "one of the header"}
			}
		}
		for _, name := range o.Columns {
			i, ok := number[name]
			if !ok {
				return nil, 0, &check.Error{Name: "column", Value: name, Rule: "one of the header"}
			}
			features = append(features, i)
		}
	}
	if o.Columns == nil {
		for i := range width {
			if i != response {
				features = append(features, i)
			}
		}
	}
	return features, response, nil
}

// parseField parses field i of a row.
func parseField(row []string, i, line int) (float64, error) {
	v, err := ParseNumber(row[i])
	if err != nil {
		return 0, fmt.Errorf("line %d, column %d: %w", line, i+1, err)
	}
	return v, nil
}

// ParseNumber parses a finite decimal.
func ParseNumber(field string) (float64, error) {
	field = strings.TrimSpace(field)
	v, err := strconv.ParseFloat(field, 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
		return 0, &check.Error{Name: "value", Value: shorten(field), Rule: "a finite number"}
	}
	return v, nil
}

// shorten quotes a field for an error message.
func shorten(s string) string {
	if len(s) > 40 {
		s = s[:40] + "…"
	}
	return strconv.Quote(s)
}

func csvError(err error) error {
	if err == io.EOF {
		return errors.New("no records")
	}
	return err // encoding/csv names the line, lineGuard too
}

// NewCSVReader returns a reader of CSV whose lines are at most MaxLine bytes long. A row is
// good until the next is read.
func NewCSVReader(r io.Reader) *csv.Reader {
	cr := csv.NewReader(&lineGuard{r: r, line: 1})
	cr.ReuseRecord = true
	return cr
}

// lineGuard passes a stream on while its lines are at most MaxLine bytes. Lines inside
// quotes are one: encoding/csv keeps them together.
type lineGuard struct {
	r      io.Reader
	line   int
	length int
	quoted bool
}

func (g *lineGuard) Read(p []byte) (int, error) {
	if len(p) > 1<<16 {
		p = p[:1<<16]
	}
	n, err := g.r.Read(p)
	for _, b := range p[:n] {
		g.length++
		switch {
		case b == '"':
			g.quoted = !g.quoted // a doubled quote is none: it changes twice
		case b == '\n':
			g.line++
			if !g.quoted {
				g.length = 0
			}
		}
		if g.length > MaxLine {
			return 0, fmt.Errorf("line %d is longer than %d bytes", g.line, MaxLine)
		}
	}
	return n, err
}
