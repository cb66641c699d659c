package npy

import (
	"bytes"
	"encoding/binary"
	"io"
	"math"
	"strings"
)

// Matrix is numbers in rows of one length. A one-dimensional array is one row.
type Matrix struct {
	Rows, Columns int
	Vector        bool // the file's array has one dimension
	X             []float64
}

// Row returns row i, sharing memory.
func (m Matrix) Row(i int) []float64 {
	return m.X[i*m.Columns : (i+1)*m.Columns : (i+1)*m.Columns]
}

// ReadMatrix reads a whole file of one or two dimensions of numbers, which become float64:
// f4, f8, and integers of 1 to 8 bytes, signed or not, in either byte order and either order of
// indices. It has at least one element. Its size is a claim: memory is taken for what is read.
// What is wrong with the file is an [Error]; NaN and infinities are passed on.
func ReadMatrix(r io.Reader) (Matrix, error) {
	h, err := ReadHeader(r)
	if err != nil {
		return Matrix{}, err
	}
	element, ok := numbers(h.Descr)
	if !ok {
		return Matrix{}, rulef(
			"the element type %s is none for vectors: want float64, float32 or integers", clip(h.Descr))
	}
	length, err := h.Bytes(element.Size)
	if err != nil {
		return Matrix{}, err
	}
	if len(h.Shape) != 1 && len(h.Shape) != 2 {
		return Matrix{}, rulef("the array has %d dimensions, want 1 (a vector) or 2 (one vector per row)",
			len(h.Shape))
	}
	if length == 0 {
		return Matrix{}, rulef("the array is empty (%s elements)", h.Dims())
	}
	var body bytes.Buffer
	if _, err := io.Copy(&body, io.LimitReader(r, length+1)); err != nil {
		return Matrix{}, err
	}
	switch got := int64(body.Len()); {
	case got > length:
		return Matrix{}, rulef("there are more bytes behind the %s elements", h.Dims())
	case got < length:
		return Matrix{}, rulef("the header claims %s elements of %d bytes, %d in all, but there are %d",
			h.Dims(), element.Size, length, got)
	}
	m := Matrix{Rows: 1, Columns: int(h.Shape[0]), Vector: true}
	if len(h.Shape) == 2 {
		m = Matrix{Rows: int(h.Shape[0]), Columns: int(h.Shape[1])}
	}
	m.X = make([]float64, m.Rows*m.Columns)
	b := body.Bytes()
	for i := range m.X {
		at := i
		if h.Fortran {
			at = i%m.Columns*m.Rows + i/m.Columns
		}
		m.X[i] = element.Float(b[at*element.Size:])
	}
	return m, nil
}

// Type is the type of numbers, as NumPy names it: an integer with a sign (i) or without (u), a float (f) or a
// boolean (b), of so many bytes.
type Type struct {
	Kind  byte
	Size  int
	Order binary.ByteOrder
}

// Bits returns the bits of a number.
func (t *Type) Bits(b []byte) uint64 {
	switch t.Size {
	case 1:
		return uint64(b[0])
	case 2:
		return uint64(t.Order.Uint16(b))
	case 4:
		return uint64(t.Order.Uint32(b))
	}
	return t.Order.Uint64(b)
}

// Int returns an integer with a sign.
func (t *Type) Int(b []byte) int64 {
	shift := 64 - 8*t.Size
	return int64(t.Bits(b)<<shift) >> shift
}

// Float returns a number: a float as it is, an integer rounded, and 1 of a boolean that is not false.
func (t *Type) Float(b []byte) float64 {
	switch {
	case t.Kind == 'i':
		return float64(t.Int(b))
	case t.Kind == 'b':
		return float64(min(b[0], 1))
	case t.Kind == 'u':
		return float64(t.Bits(b))
	case t.Size == 4:
		return float64(math.Float32frombits(uint32(t.Bits(b))))
	}
	return math.Float64frombits(t.Bits(b))
}

// numbers returns a type of numbers, false for any other.
func numbers(descr string) (t Type, ok bool) {
	t.Order = binary.LittleEndian
	if strings.HasPrefix(descr, ">") {
		t.Order = binary.BigEndian
	}
	if len(descr) != 3 || !strings.ContainsRune("<=>|", rune(descr[0])) {
		return t, false
	}
	t.Kind, t.Size = descr[1], int(descr[2]-'0')
	switch descr[1:] {
	case "i1", "u1":
		return t, true
	case "f8", "f4", "i2", "u2", "i4", "u4", "i8", "u8":
		return t, descr[0] != '|'
	}
	return t, false
}

// WriteVector writes one dimension of float64.
func WriteVector(w io.Writer, x []float64) error {
	b := Head("'<f8'", int64(len(x)))
	for _, v := range x {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
	}
	_, err := w.Write(b)
	return err
}
