// Package npy reads and writes the headers of NumPy's array files, and matrices of numbers.
//
// The format .npy: NumPy Enhancement Proposal 1, versions 1.0, 2.0 and 3.0, which
// differ in the length of the header's length and in the header's encoding. The
// header is read here and not by npyio 0.6.0, which knows neither version 3 nor
// the L that Python 2 wrote behind dimensions, refuses a dictionary in double
// quotes or without spaces, and panics if its keys stand in another order.
package npy

import (
	"encoding/binary"
	"fmt"
	"io"
	"math/bits"
	"strconv"
	"strings"

	"github.com/darrm/darrm/internal/readfile"
)

// Magic is the beginning of every file.
const Magic = "\x93NUMPY"

// maxHeader is the largest header that NumPy itself reads since 1.24 (max_header_size).
const maxHeader = 10_000

// Header is the header of a file, which precedes the elements.
type Header struct {
	Descr   string // the elements' type, as written: "<f8"
	Fortran bool   // the first index varies fastest
	Shape   []int64
	Size    int64   // of the header, in bytes
	Fields  []Field // of an array of records, which NewRows alone reads
}

// Error is a rule that a file breaks. It does not name the file.
type Error struct{ Rule string }

func (e *Error) Error() string { return e.Rule }

func rulef(format string, args ...any) error { return &Error{fmt.Sprintf(format, args...)} }

// ReadHeader reads a header. What is wrong with it is an [Error]; an error of r is passed on.
func ReadHeader(r io.Reader) (*Header, error) { return readHeaderUpTo(r, maxHeader) }

// readHeaderUpTo reads a header of at most so many bytes, of records where that is maxFields.
func readHeaderUpTo(r io.Reader, most int64) (*Header, error) {
	var pre [12]byte
	n, err := readfile.Full(r, pre[:10])
	head := string(pre[:n])
	switch {
	case err != nil && err != io.EOF:
		return nil, err
	case strings.HasPrefix(head, Magic) && n < 10:
		return nil, rulef("the header is cut off")
	case strings.HasPrefix(head, "\x80") && n > 1 && pre[1] >= 2 && pre[1] <= 5:
		return nil, rulef("the file is a Python pickle, which is a program and is not run: save the " +
			"array with numpy.save")
	case strings.HasPrefix(head, "PK\x03\x04"):
		return nil, rulef("the file is a zip archive: say by its name (.npz) or the format that it is " +
			"one of NumPy")
	case !strings.HasPrefix(head, Magic):
		return nil, rulef("the file does not begin as a NumPy array does: %s, want %q", clip(head), Magic)
	}
	h := &Header{Size: 10}
	length := int64(binary.LittleEndian.Uint16(pre[8:10]))
	switch major, minor := pre[6], pre[7]; {
	case (major == 2 || major == 3) && minor == 0:
		if err := readHeader(r, pre[10:12]); err != nil {
			return nil, err
		}
		h.Size, length = 12, int64(binary.LittleEndian.Uint32(pre[8:12]))
	case major != 1 || minor != 0:
		return nil, rulef("version %d.%d of the format is unknown, want 1.0, 2.0 or 3.0", major, minor)
	}
	if length > most {
		return nil, rulef("the header is %d bytes long, want at most %d", length, most)
	}
	var text []byte
	for int64(len(text)) < length { // in pieces: the length may be a lie
		piece := make([]byte, min(length-int64(len(text)), 1<<16))
		if err := readHeader(r, piece); err != nil {
			return nil, err
		}
		text = append(text, piece...)
	}
	h.Size += length
	if err := h.parse(most == maxFields, strings.TrimRight(string(text), " \n\x00")); err != nil {
		return nil, err
	}
	return h, nil
}

// readHeader fills p.
func readHeader(r io.Reader, p []byte) error {
	n, err := readfile.Full(r, p)
	if err == io.EOF && n < len(p) {
		return rulef("the header is cut off")
	}
	if n == len(p) {
		return nil
	}
	return err
}

// parse reads the dictionary, which has exactly the keys descr, fortran_order and shape.
func (h *Header) parse(fields bool, text string) error {
	malformed := rulef("the header %s is no dictionary of descr, fortran_order and shape", clip(text))
	value, rest, ok := literal(text, 0)
	entries, isDict := value.(dict)
	if !ok || !isDict || rest != "" {
		return malformed
	}
	seen := make(map[string]bool)
	for _, x := range entries {
		e := x.(entry)
		if seen[e.key] {
			return rulef("the header has the key %s twice", clip(e.key))
		}
		seen[e.key] = true
		switch v := e.value.(type) {
		case string:
			h.Descr, ok = v, e.key == "descr"
		case bool:
			h.Fortran, ok = v, e.key == "fortran_order"
		case tuple:
			h.Shape, ok = v.dims()
			ok = ok && e.key == "shape"
		case list:
			if ok = e.key == "descr"; ok && !fields {
				return rulef("the elements are records of several fields; save numbers alone")
			}
			if h.Fields = v.fields(); ok && h.Fields == nil {
				return rulef("the header %s has no records of numbers", clip(text))
			}
		default:
			ok = false
		}
		if !ok {
			return malformed
		}
	}
	for _, key := range []string{"descr", "fortran_order", "shape"} {
		if !seen[key] {
			return rulef("the header has no key %s", key)
		}
	}
	return nil
}

// dims returns a shape.
func (t tuple) dims() (shape []int64, ok bool) {
	for _, x := range t {
		n, whole := x.(int64)
		if !whole {
			return nil, false
		}
		shape = append(shape, n)
	}
	return shape, true
}

// fields returns the columns of records, nil where they are not all of a name and a type: a field may have a shape
// or a title, too, which no column has.
func (l list) fields() (fields []Field) {
	for _, x := range l {
		pair, _ := x.(tuple)
		if len(pair) != 2 {
			return nil
		}
		name, isText := pair[0].(string)
		descr, isText2 := pair[1].(string)
		if !isText || !isText2 {
			return nil
		}
		fields = append(fields, Field{name, descr})
	}
	return fields
}

// Bytes returns the length of all elements, which have so many bytes each.
func (h *Header) Bytes(each int) (int64, error) {
	n, empty := uint64(each), false
	for _, d := range h.Shape {
		empty = empty || d == 0
	}
	for _, d := range h.Shape {
		hi, lo := bits.Mul64(n, uint64(d))
		if !empty && (hi != 0 || lo > 1<<62) {
			return 0, rulef("the header claims %s elements of %d bytes, more than any disk holds", h.Dims(),
				each)
		}
		n = lo
	}
	if empty {
		return 0, nil
	}
	return int64(n), nil
}

// Dims prints the shape as 3 × 4.
func (h *Header) Dims() string {
	if len(h.Shape) == 0 {
		return "no"
	}
	dims := make([]string, len(h.Shape))
	for i, d := range h.Shape {
		dims[i] = strconv.FormatInt(d, 10)
	}
	return strings.Join(dims, " × ")
}

// clip quotes what a file holds, cut short.
func clip(s string) string {
	if len(s) <= 40 {
		return strconv.Quote(s)
	}
	return fmt.Sprintf("%.40q… (%d bytes)", s, len(s))
}

// Head returns the header, version 1.0, of an array in C order. Behind it, the elements begin
// at a multiple of 64 bytes. descr is a Python literal, such as '<f8' with its quotes.
func Head(descr string, shape ...int64) []byte {
	var dims strings.Builder
	for _, d := range shape {
		fmt.Fprintf(&dims, "%d, ", d)
	}
	text := fmt.Sprintf("{'descr': %s, 'fortran_order': False, 'shape': (%s), }", descr,
		strings.TrimSuffix(dims.String(), " "))
	for (10+len(text)+1)%64 != 0 {
		text += " "
	}
	text += "\n"
	head := append([]byte(Magic), 1, 0)
	head = binary.LittleEndian.AppendUint16(head, uint16(len(text)))
	return append(head, text...)
}
