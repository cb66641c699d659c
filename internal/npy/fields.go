package npy

import (
	"encoding/binary"
	"io"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
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
	reads []func([]byte) float64
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
		read, size := elements(f.Descr)
		if f.Descr == "|b1" || f.Descr == "?" {
			read, size = func(b []byte) float64 { return float64(min(b[0], 1)) }, 1
		}
		if read == nil {
			return nil, rulef("column %s has elements of type %s, want numbers", clip(f.Name), clip(f.Descr))
		}
		rows.reads, rows.at = append(rows.reads, read), append(rows.at, rows.size)
		rows.size += size
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
	for j, read := range r.reads {
		x[j] = read(b[r.at[j]:])
	}
}

// cutFields cuts the list of fields, of which descr is made, out of a header.
func cutFields(s string) (fields []Field, rest string, ok bool) {
	key := strings.Index(s, "descr")
	if key < 0 {
		return nil, s, false
	}
	open := strings.IndexByte(s[key:], '[')
	if open < 0 {
		return nil, s, false
	}
	open += key
	at := strings.TrimLeft(s[open+1:], spaces)
	for !strings.HasPrefix(at, "]") {
		var f Field
		if at, ok = strings.CutPrefix(at, "("); !ok {
			return nil, s, false
		}
		for i, value := range []*string{&f.Name, &f.Descr} {
			if *value, at, ok = literal(strings.TrimLeft(at, spaces)); !ok {
				return nil, s, false
			}
			at = strings.TrimLeft(at, spaces)
			if end := ",)"[i : i+1]; !strings.HasPrefix(at, end) {
				return nil, s, false // of a shape or a title too, which no column has
			}
			at = at[1:]
		}
		fields = append(fields, f)
		at = strings.TrimLeft(at, spaces)
		if strings.HasPrefix(at, ",") {
			at = strings.TrimLeft(at[1:], spaces)
		} else if !strings.HasPrefix(at, "]") {
			return nil, s, false
		}
	}
	return fields, s[:open] + "'records'" + at[1:], len(fields) > 0
}

// literal reads a Python literal of text.
func literal(s string) (text, rest string, ok bool) {
	if s == "" || s[0] != '\'' && s[0] != '"' {
		return "", s, false
	}
	var b strings.Builder
	mark := s[0]
	for s = s[1:]; s != ""; {
		c := s[0]
		if c == mark {
			return b.String(), s[1:], true
		}
		if c != '\\' {
			b.WriteByte(c)
			s = s[1:]
			continue
		}
		if len(s) < 2 {
			break
		}
		plain := map[byte]byte{'\\': '\\', '\'': '\'', '"': '"', 'n': '\n', 'r': '\r', 't': '\t'}
		digits := map[byte]int{'x': 2, 'u': 4, 'U': 8}
		if r, is := plain[s[1]]; is {
			b.WriteByte(r)
			s = s[2:]
			continue
		}
		n := digits[s[1]]
		if n == 0 || len(s) < 2+n {
			break
		}
		r, err := strconv.ParseUint(s[2:2+n], 16, 32)
		if err != nil || !utf8.ValidRune(rune(r)) {
			break
		}
		b.WriteRune(rune(r))
		s = s[2+n:]
	}
	return "", s, false
}
