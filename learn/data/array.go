package data

import (
	"errors"
	"io"
	"strconv"

	"github.com/darrm/darrm/internal/npy"
)

// NewNPY returns the table of a file of NumPy (.npy): an array of records, whose fields are named columns, or a matrix,
// whose columns have numbers from 1. NaN is a missing number.
func NewNPY(r io.Reader) (*Table, error) {
	rows, err := npy.NewRows(given(r))
	switch {
	case err != nil:
		return nil, err
	case len(rows.Fields) == 0:
		return nil, errors.New("no columns")
	case rows.Count == 0:
		return nil, errors.New("no records")
	}
	t := &Table{}
	for i, f := range rows.Fields {
		t.Named = t.Named || f.Name != ""
		t.Columns = append(t.Columns, strconv.Itoa(i+1))
	}
	if t.Named {
		for i, f := range rows.Fields {
			t.Columns[i] = f.Name
		}
		if err := t.distinct(); err != nil {
			return nil, err
		}
	}
	each := max(1, partBytes/8/len(rows.Fields))
	left := (&arrayRows{rows: rows}).over(func() ([]byte, error) { return rows.Next(each) })
	cells := make([]string, len(t.Columns))
	t.numbers = left.next
	t.next = func() ([]string, int, error) {
		x, record, err := left.next()
		for j, v := range x {
			cells[j] = NumberText(v)
		}
		return cells, record, err
	}
	t.split = func() func() (func() Table, error) {
		read := 0
		return func() (func() Table, error) {
			b, err := rows.Next(each)
			before := read
			read += rows.Len(b)
			return func() Table {
				part := (&arrayRows{rows: rows, block: b, record: before}).over(func() ([]byte, error) { return nil, io.EOF })
				return Table{numbers: part.next}
			}, err
		}
	}
	return t, nil
}

// arrayRows hands out the rows of blocks of an array.
type arrayRows struct {
	rows   *npy.Rows
	more   func() ([]byte, error)
	block  []byte
	at     int
	record int // that was handed out last
	x      []float64
}

func (a *arrayRows) over(more func() ([]byte, error)) *arrayRows {
	a.more, a.x = more, make([]float64, len(a.rows.Fields))
	return a
}

func (a *arrayRows) next() ([]float64, int, error) {
	for a.at == a.rows.Len(a.block) {
		var err error
		if a.block, err = a.more(); err != nil {
			return nil, 0, err
		}
		a.at = 0
	}
	a.rows.Row(a.x, a.block, a.at)
	a.at++
	a.record++
	return a.x, a.record, nil
}
