package npy

import (
	"bytes"
	"encoding/binary"
	"io"
	"math"
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
	read, size := elements(h.Descr)
	if read == nil {
		return Matrix{}, rulef(
			"the element type %s is none for vectors: want float64, float32 or integers", clip(h.Descr))
	}
	length, err := h.Bytes(size)
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
			h.Dims(), size, length, got)
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
		m.X[i] = read(b[at*size : (at+1)*size])
	}
	return m, nil
}

// elements returns how an element of the type is read, and its bytes; nil if it is no number.
func elements(descr string) (read func([]byte) float64, size int) {
	if len(descr) != 3 {
		return nil, 0
	}
	var order binary.ByteOrder = binary.LittleEndian
	switch descr[0] {
	case '<', '=':
	case '|':
		if descr[2] != '1' {
			return nil, 0
		}
	case '>':
		order = binary.BigEndian
	default:
		return nil, 0
	}
	switch descr[1:] {
	case "f8":
		return func(b []byte) float64 { return math.Float64frombits(order.Uint64(b)) }, 8
	case "f4":
		return func(b []byte) float64 { return float64(math.Float32frombits(order.Uint32(b))) }, 4
	case "i1":
		return func(b []byte) float64 { return float64(int8(b[0])) }, 1
	case "u1":
		return func(b []byte) float64 { return float64(b[0]) }, 1
	case "i2":
		return func(b []byte) float64 { return float64(int16(order.Uint16(b))) }, 2
	case "u2":
		return func(b []byte) float64 { return float64(order.Uint16(b)) }, 2
	case "i4":
		return func(b []byte) float64 { return float64(int32(order.Uint32(b))) }, 4
	case "u4":
		return func(b []byte) float64 { return float64(order.Uint32(b)) }, 4
	case "i8":
		return func(b []byte) float64 { return float64(int64(order.Uint64(b))) }, 8
	case "u8":
		return func(b []byte) float64 { return float64(order.Uint64(b)) }, 8
	}
	return nil, 0
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
