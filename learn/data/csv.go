package data

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
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

// CSVOptions says how to read a CSV file.
type CSVOptions struct {
	// Response names the column of the response, by its header or, without one, by its
	// number from 1. "" is no response.
	Response string
	// Header says that the first line names the columns.
	Header bool
}

// ReadCSV reads records of numbers, one per line.
func ReadCSV(r io.Reader, o CSVOptions) (*Records, error) {
	cr := NewCSVReader(r)
	cr.TrimLeadingSpace = true
	response := -1
	var names []string
	if o.Header {
		row, err := cr.Read()
		if err != nil {
			return nil, csvError(err)
		}
		names = append(names, row...)
		names[0] = strings.TrimPrefix(names[0], "\ufeff")
		seen := map[string]bool{}
		for i, name := range names {
			if seen[name] {
				return nil, fmt.Errorf("line 1: column %q occurs twice", name)
			}
			seen[name] = true
			if o.Response != "" && name == o.Response {
				response = i
			}
		}
		if o.Response != "" && response < 0 {
			return nil, &check.Error{Name: "response column", Value: o.Response, Rule: "one of the header"}
		}
	}
	var x, y []float64
	n, d := 0, 0
	for {
		row, err := cr.Read()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, csvError(err)
		}
		line, _ := cr.FieldPos(0)
		if n == 0 {
			if !o.Header && o.Response != "" {
				i, err := strconv.Atoi(o.Response)
				if err != nil || i < 1 || i > len(row) {
					return nil, &check.Error{Name: "response column", Value: o.Response, Rule: fmt.Sprintf("a number between 1 and %d in a file without header", len(row))}
				}
				response = i - 1
			}
			d = len(row)
			if response >= 0 {
				d--
			}
			if d < 1 {
				return nil, fmt.Errorf("line %d: no features", line)
			}
		}
		for i, field := range row {
			v, err := ParseNumber(field)
			if err != nil {
				return nil, fmt.Errorf("line %d, column %d: %w", line, i+1, err)
			}
			if i == response {
				y = append(y, v)
			} else {
				x = append(x, v)
			}
		}
		if len(x) > maxValues {
			return nil, fmt.Errorf("line %d: more than %d numbers", line, maxValues)
		}
		n++
	}
	if n == 0 {
		return nil, errors.New("no records")
	}
	return NewRecords(n, d, x, y)
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
