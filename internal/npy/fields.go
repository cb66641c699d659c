package npy

import (
	"encoding/binary"
	"io"
	"math"
)

// Field is a column of an array of records: NumPy's structured types.
type Field struct{ Name, Descr string }

// Rows reads the rows of an array of records of numbers, or of a matrix of numbers in C order, a block of rows at a
// time. It is for one goroutine at a time.
type Rows struct {
	Fields []Field // without names for a matrix
	Count  int64   // of rows

	r     io.Reader
	left  int64
	size  int // of a row in bytes
	types []Type
	at    []int
	plain bool // all are float64, little-endian
}

// maxFields is the largest header of records, whose names are in it.
const maxFields = 16 << 20

// NewRows reads the header. What is wrong with it is an [Error]; an error of r is passed on.
func NewRows(r io.Reader) (*Rows, error) {
	h, err := readHeaderUpTo(r, maxFields)
	if err != nil {
		return nil, err
	}
	rows := &Rows{r: r, Fields: h.Fields, plain: true}
	switch {
	case h.Fields != nil && len(h.Shape) != 1:
		return nil, rulef("the array of records has %s elements, want one dimension", h.Dims())
	case h.Fields == nil && len(h.Shape) != 2:
		return nil, rulef("the array has %s elements, want two dimensions, rows and columns", h.Dims())
	case h.Fields == nil && h.Fortran:
		return nil, rulef("the array is in Fortran order: save numpy.ascontiguousarray of it")
	case h.Fields == nil && h.Shape[1] > maxFields/8:
		return nil, rulef("the array has %d columns, want at most %d", h.Shape[1], maxFields/8)
	case h.Fields == nil:
		rows.Fields = make([]Field, h.Shape[1])
		for i := range rows.Fields {
			rows.Fields[i].Descr = h.Descr
		}
	}
	rows.Count, rows.left = h.Shape[0], h.Shape[0]
	for _, f := range rows.Fields {
		t, ok := numbers(f.Descr)
		if f.Descr == "|b1" || f.Descr == "?" {
			t, ok = Type{Kind: 'b', Size: 1}, true
		}
		if !ok {
			return nil, rulef("column %s has elements of type %s, want numbers", clip(f.Name), clip(f.Descr))
		}
		rows.types, rows.at = append(rows.types, t), append(rows.at, rows.size)
		rows.size += t.Size
		rows.plain = rows.plain && f.Descr == "<f8"
	}
	if _, err := (&Header{Shape: []int64{rows.Count}}).Bytes(max(rows.size, 1)); err != nil {
		return nil, err
	}
	return rows, nil
}

// Next returns the bytes of the next n rows, or of fewer, at least one; io.EOF at the end. The caller keeps them.
func (r *Rows) Next(n int) ([]byte, error) {
	if r.left == 0 || r.size == 0 {
		var more [1]byte
		if n, err := io.ReadFull(r.r, more[:]); n > 0 {
			return nil, rulef("there are bytes behind the last element")
		} else if err != io.EOF {
			return nil, err
		}
		return nil, io.EOF
	}
	b := make([]byte, int(min(int64(n), r.left))*r.size)
	if _, err := io.ReadFull(r.r, b); err == io.EOF || err == io.ErrUnexpectedEOF {
		return nil, rulef("the array is cut off: the header claims %d rows", r.Count)
	} else if err != nil {
		return nil, err
	}
	r.left -= int64(len(b) / r.size)
	return b, nil
}

// Len returns how many rows these bytes of Next are.
func (r *Rows) Len(b []byte) int { return len(b) / max(r.size, 1) }

// Row sets x to row i, from 0, of bytes of Next. It is safe for concurrent use.
func (r *Rows) Row(x []float64, b []byte, i int) {
	b = b[i*r.size : (i+1)*r.size]
	if r.plain {
		for j := range x {
			x[j] = math.Float64frombits(binary.LittleEndian.Uint64(b[8*j:]))
		}
		return
	}
	for j := range r.types {
		x[j] = r.types[j].Float(b[r.at[j]:])
	}
}
