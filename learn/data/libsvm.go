package data

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/darrm/darrm/internal/check"
)

// ReadLIBSVM reads lines "response index:value …", with indices from 1 in growing order;
// what is left out is 0, and what follows # is a comment. dim is the dimension; 0 takes
// the largest index, which for private data depends on them.
func ReadLIBSVM(r io.Reader, dim int) (*Records, error) {
	s, err := ReadSparseLIBSVM(r, dim)
	if err != nil {
		return nil, err
	}
	return s.Dense()
}

// ReadSparseLIBSVM is ReadLIBSVM for records that stay without their zeros: memory is that of
// what the file says, 12 bytes for each number, whatever the dimension.
func ReadSparseLIBSVM(r io.Reader, dim int) (*Sparse, error) {
	if dim < 0 || dim > maxValues {
		return nil, check.Wantf("dimension", dim, "between 0 and %d", maxValues)
	}
	b := SparseBuilder{Dim: dim}
	named := 0 // numbers, with those that are 0
	err := scanLIBSVM(r, dim, func(columns []int32, values []float64, y float64, line int) error {
		if named += len(columns); named > maxValues {
			return fmt.Errorf("more than %d numbers", maxValues)
		}
		if len(b.s.y) == maxValues { // lines without a field
			return fmt.Errorf("more than %d records", maxValues)
		}
		b.s.lines = append(b.s.lines, line)
		return b.Add(columns, values, y)
	})
	switch {
	case err != nil:
		return nil, err
	case len(b.s.y) == 0:
		return nil, errors.New("no records")
	case dim == 0 && b.largest == 0:
		return nil, errors.New("no features")
	}
	return b.Records()
}

// ScanLIBSVM calls visit for each record that ReadLIBSVM would read, in order, with its features,
// zeros included, and its response. Memory is that of one line: x is good until the next. dim is
// the dimension, which a stream cannot tell. An error of visit ends it and gets the line's number.
func ScanLIBSVM(r io.Reader, dim int, visit func(x []float64, y float64) error) error {
	if err := check.Whole("dimension", dim, 1, maxValues); err != nil {
		return err
	}
	x := make([]float64, dim)
	return scanLIBSVM(r, dim, func(columns []int32, values []float64, y float64, _ int) error {
		for k, j := range columns {
			x[j] = values[k]
		}
		err := visit(x, y)
		for _, j := range columns {
			x[j] = 0
		}
		return err
	})
}

// scanLIBSVM calls visit for each line with a record.
func scanLIBSVM(r io.Reader, dim int, visit func(columns []int32, values []float64, y float64,
	line int) error) error {
	var columns []int32
	var values []float64
	scan := bufio.NewScanner(given(r))
	scan.Buffer(make([]byte, 64<<10), MaxLine)
	line := 1
	for ; scan.Scan(); line++ {
		text, _, _ := strings.Cut(scan.Text(), "#")
		fields := strings.Fields(text)
		if len(fields) == 0 {
			continue
		}
		y, err := ParseNumber(fields[0])
		if err != nil {
			return fmt.Errorf("line %d, response: %w", line, err)
		}
		last := 0
		columns, values = columns[:0], values[:0]
		for _, f := range fields[1:] {
			i, x, err := parseEntry(f)
			if err != nil {
				return fmt.Errorf("line %d%w", line, err)
			}
			if i <= last {
				return fmt.Errorf("line %d: index %d after %d, but indices must grow", line, i, last)
			}
			if dim > 0 && i > dim {
				return fmt.Errorf("line %d: %w", line, check.Wantf("index", i, "at most the dimension %d",
					dim))
			}
			last = i
			columns, values = append(columns, int32(i-1)), append(values, x)
		}
		if err := visit(columns, values, y, line); err != nil {
			return fmt.Errorf("line %d: %w", line, err)
		}
	}
	if errors.Is(scan.Err(), bufio.ErrTooLong) {
		return fmt.Errorf("line %d is longer than %d bytes", line, MaxLine)
	}
	return scan.Err()
}

// parseEntry parses "index:value". The error begins with ":" or the place.
func parseEntry(f string) (index int, value float64, err error) {
	a, b, ok := strings.Cut(f, ":")
	index, err = strconv.Atoi(a)
	if !ok || err != nil || index < 1 || index > maxValues {
		return 0, 0, fmt.Errorf(": %w", check.Want("field", Shorten(f), "index:value with an index from 1"))
	}
	if value, err = ParseNumber(b); err != nil {
		return 0, 0, fmt.Errorf(", index %d: %w", index, err)
	}
	return index, value, nil
}
