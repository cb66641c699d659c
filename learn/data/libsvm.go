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
	if dim < 0 || dim > maxValues {
		return nil, &check.Error{Name: "dimension", Value: dim, Rule: fmt.Sprintf("between 0 and %d", maxValues)}
	}
	type entry struct {
		row, column int
		value       float64
	}
	var entries []entry
	var y []float64
	largest := 0
	scan := bufio.NewScanner(r)
	scan.Buffer(make([]byte, 64<<10), MaxLine)
	for line := 1; scan.Scan(); line++ {
		text, _, _ := strings.Cut(scan.Text(), "#")
		fields := strings.Fields(text)
		if len(fields) == 0 {
			continue
		}
		v, err := ParseNumber(fields[0])
		if err != nil {
			return nil, fmt.Errorf("line %d, response: %w", line, err)
		}
		last := 0
		for _, f := range fields[1:] {
			a, b, ok := strings.Cut(f, ":")
			i, err := strconv.Atoi(a)
			if !ok || err != nil || i < 1 || i > maxValues {
				return nil, fmt.Errorf("line %d: %w", line, &check.Error{Name: "field", Value: shorten(f), Rule: "index:value with an index from 1"})
			}
			if i <= last {
				return nil, fmt.Errorf("line %d: index %d after %d, but indices must grow", line, i, last)
			}
			if dim > 0 && i > dim {
				return nil, fmt.Errorf("line %d: %w", line, &check.Error{Name: "index", Value: i, Rule: fmt.Sprintf("at most the dimension %d", dim)})
			}
			last = i
			x, err := ParseNumber(b)
			if err != nil {
				return nil, fmt.Errorf("line %d, index %d: %w", line, i, err)
			}
			entries = append(entries, entry{len(y), i - 1, x})
			if len(entries) > maxValues {
				return nil, fmt.Errorf("line %d: more than %d numbers", line, maxValues)
			}
		}
		largest = max(largest, last)
		if y = append(y, v); len(y) > maxValues { // lines without a field
			return nil, fmt.Errorf("line %d: more than %d records", line, maxValues)
		}
	}
	if err := scan.Err(); err != nil {
		if errors.Is(err, bufio.ErrTooLong) {
			return nil, fmt.Errorf("line %d is longer than %d bytes", len(y)+1, MaxLine)
		}
		return nil, err
	}
	if dim == 0 {
		dim = largest
	}
	switch {
	case len(y) == 0:
		return nil, errors.New("no records")
	case dim == 0:
		return nil, errors.New("no features")
	case len(y) > maxValues/dim:
		return nil, fmt.Errorf("%d records of dimension %d are more than %d numbers", len(y), dim, maxValues)
	}
	x := make([]float64, len(y)*dim)
	for _, e := range entries {
		x[e.row*dim+e.column] = e.value
	}
	return NewRecords(len(y), dim, x, y)
}
