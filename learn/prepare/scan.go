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
	rows, place := cells{t: t}, "line"
	if t.HasNumbers() {
		place = "record"
	}
	var r row
	for {
		var err error
		if r.line, err = rows.next(); err != nil {
			return ended(err)
		}
		if err := m.record(&rows, at, &r); err != nil {
			return &placed{place, r.line, ", ", err} // "column …"
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

// cells are a row of a table: of text, or of numbers, NaN where one is missing.
type cells struct {
	t       *data.Table
	texts   []string
	numbers []float64 // nil of a table of text
}

// next reads the next row, and returns its line or its number.
func (c *cells) next() (line int, err error) {
	if c.t.HasNumbers() {
		c.numbers, line, err = c.t.Numbers()
	} else {
		c.texts, line, err = c.t.Next()
	}
	return line, err
}

// number returns the number of a cell, of text as most have it. ok is false of any other cell, which text returns.
func (c *cells) number(i int) (x float64, ok bool) {
	if c.numbers != nil {
		x = c.numbers[i]
		return x, !math.IsNaN(x - x) // neither missing nor infinite
	}
	if c.t.DecimalComma {
		return 0, false
	}
	return data.Digits(c.texts[i])
}

// text returns the text of a cell, whose number has a point.
func (c *cells) text(i int, column Column) (string, error) {
	switch {
	case c.numbers != nil:
		return data.NumberText(c.numbers[i]), nil
	case c.t.DecimalComma:
		return column.point(c.texts[i])
	}
	return c.texts[i], nil
}

// record makes a record of the row.
func (m *Map) record(c *cells, at places, r *row) error {
	r.x, r.y, r.w = r.x[:0], math.NaN(), math.NaN()
	for i := range m.Features {
		column, from := &m.Features[i], at.features[i]
		if column.Categories == nil {
			if x, ok := c.number(from); ok {
				r.x = append(r.x, column.mapped(x))
				if column.own() {
					r.x = append(r.x, 0)
				}
				continue
			}
		}
		cell, err := c.text(from, *column)
		if err == nil {
			r.x, err = column.append(r.x, cell)
		}
		if err != nil {
			return err
		}
	}
	if at.response >= 0 {
		cell, err := c.text(at.response, m.Response.Column)
		if err == nil {
			r.y, err = m.Response.value(cell)
		}
		if err != nil {
			return err
		}
	}
	if at.weight >= 0 {
		cell, err := c.text(at.weight, Column{Name: m.Weight})
		if err == nil {
			r.w, err = m.weight(cell)
		}
		if err != nil {
			return err
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
