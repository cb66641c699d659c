package prepare

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/darrm/darrm/learn/data"
	"github.com/darrm/darrm/votes/format"
)

// Scan calls visit for each row of the table, in order, with the features and the response, NaN
// where the map has none. Memory is that of one row: x is good until the next. An error of a cell
// or of visit ends it and gets the line's number.
func Scan(t *data.Table, m *Map, visit func(x []float64, y float64) error) error {
	return scan(t, m, func(r *row) error { return visit(r.x, r.y) })
}

// row is a row of a table as a record.
type row struct {
	x    []float64
	y, w float64 // NaN where the map has none
	line int     // or number of the record
}

// places are where a map's columns are in a table, -1 for none.
type places struct {
	features         []int
	response, weight int
}

// scan is Scan with the rows' weights and lines.
func scan(t *data.Table, m *Map, visit func(r *row) error) error {
	if err := m.Check(); err != nil {
		return err
	}
	at := places{features: make([]int, len(m.Features)), response: -1, weight: -1}
	for i, c := range m.Features {
		if at.features[i] = slices.Index(t.Columns, c.Name); at.features[i] < 0 {
			return missingColumn(t, "column", c.Name)
		}
	}
	if m.Response != nil {
		if at.response = slices.Index(t.Columns, m.Response.Name); at.response < 0 {
			return missingColumn(t, "response column", m.Response.Name)
		}
	}
	if m.Weight != "" {
		if at.weight = slices.Index(t.Columns, m.Weight); at.weight < 0 {
			return missingColumn(t, "weight column", m.Weight)
		}
	}
	next, place := m.text, "line"
	if t.HasNumbers() {
		next, place = m.numbers, "record"
	}
	var r row
	for {
		r.x, r.y, r.w = r.x[:0], math.NaN(), math.NaN()
		err := next(t, at, &r)
		var inCell *cellError
		switch {
		case errors.As(err, &inCell):
			return &placed{place, r.line, ", ", inCell.error} // "column …"
		case err != nil:
			return ended(err)
		}
		if err := visit(&r); err != nil {
			return &placed{place, r.line, ": ", err}
		}
	}
}

// placed is an error of a row.
type placed struct {
	place string
	line  int
	sep   string
	err   error
}

func (e *placed) Error() string { return fmt.Sprintf("%s %d%s%v", e.place, e.line, e.sep, e.err) }
func (e *placed) Unwrap() error { return e.err }

// cellError is an error of a cell, not of reading.
type cellError struct{ error }

// text makes a record of the next row of text.
func (m *Map) text(t *data.Table, at places, r *row) (err error) {
	var cells []string
	if cells, r.line, err = t.Next(); err != nil {
		return err
	}
	for i := range m.Features {
		c, cell := &m.Features[i], cells[at.features[i]]
		if c.Categories == nil && !t.DecimalComma {
			if x, ok := data.Digits(cell); ok { // most cells
				r.x = append(r.x, c.mapped(x))
				if c.own() {
					r.x = append(r.x, 0)
				}
				continue
			}
		}
		if t.DecimalComma {
			cell, err = c.point(cell)
		}
		if err == nil {
			r.x, err = c.append(r.x, cell)
		}
		if err != nil {
			return &cellError{err}
		}
	}
	if at.response >= 0 {
		cell := cells[at.response]
		if t.DecimalComma {
			cell, err = m.Response.point(cell)
		}
		if err == nil {
			r.y, err = m.Response.value(cell)
		}
		if err != nil {
			return &cellError{err}
		}
	}
	if at.weight >= 0 {
		cell := cells[at.weight]
		if t.DecimalComma {
			cell, err = Column{Name: m.Weight}.point(cell)
		}
		if err == nil {
			r.w, err = m.weight(cell)
		}
		if err != nil {
			return &cellError{err}
		}
	}
	return nil
}

// numbers makes a record of the next row of numbers: that of their text.
func (m *Map) numbers(t *data.Table, at places, r *row) (err error) {
	var cells []float64
	if cells, r.line, err = t.Numbers(); err != nil {
		return err
	}
	for i := range m.Features {
		c, v := &m.Features[i], cells[at.features[i]]
		if c.Categories != nil || math.IsNaN(v-v) { // a word, missing or infinite
			if r.x, err = c.append(r.x, data.NumberText(v)); err != nil {
				return &cellError{err}
			}
			continue
		}
		r.x = append(r.x, c.mapped(v))
		if c.own() {
			r.x = append(r.x, 0)
		}
	}
	if at.response >= 0 {
		if r.y, err = m.Response.value(data.NumberText(cells[at.response])); err != nil {
			return &cellError{err}
		}
	}
	if at.weight >= 0 {
		if r.w, err = m.weight(data.NumberText(cells[at.weight])); err != nil {
			return &cellError{err}
		}
	}
	return nil
}

// weight returns the weight of a cell.
func (m *Map) weight(cell string) (float64, error) {
	w, err := data.ParseNumber(strings.TrimSpace(cell))
	if err == nil {
		err = data.CheckWeight(w)
	} else if format.IsMissing(strings.TrimSpace(cell)) {
		err = errors.New("the weight is blank, but every record must have one")
	}
	if err != nil {
		return 0, fmt.Errorf("column %q: %w", m.Weight, err)
	}
	return w, nil
}
