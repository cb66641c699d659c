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
	"regexp"
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
	Size    int64 // of the header, in bytes
}

// Error is a rule that a file breaks. It does not name the file.
type Error struct{ Rule string }

func (e *Error) Error() string { return e.Rule }

func rulef(format string, args ...any) error { return &Error{fmt.Sprintf(format, args...)} }

// ReadHeader reads a header. What is wrong with it is an [Error]; an error of r is passed on.
func ReadHeader(r io.Reader) (*Header, error) {
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
	if length > maxHeader {
		return nil, rulef("the header is %d bytes long, want at most %d", length, maxHeader)
	}
	text := make([]byte, length)
	if err := readHeader(r, text); err != nil {
		return nil, err
	}
	h.Size += length
	if err := h.parse(strings.TrimRight(string(text), " \n\x00")); err != nil {
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

// An entry of the header's dictionary, a Python literal, as NumPy and others write
// it: nothing is evaluated. A string, a boolean or a tuple of dimensions stands in
// a group of its own. The type of records of several fields is a list.
var (
	npyEntry = regexp.MustCompile(
		`^\s*['"](\w+)['"]\s*:\s*(?:['"]([^'"\\\n]*)['"]|(True|False)|\(([\dL,\s]*)\))\s*(,\s*|$)`)
	npyRecords = regexp.MustCompile(`['"]descr['"]\s*:\s*\[`)
)

// parse reads the dictionary, which has exactly the keys descr, fortran_order and
// shape.
func (h *Header) parse(text string) error {
	malformed := rulef("the header %s is no dictionary of descr, fortran_order and shape", clip(text))
	rest, open := strings.CutPrefix(text, "{")
	rest, closed := strings.CutSuffix(rest, "}")
	if !open || !closed {
		return malformed
	}
	if npyRecords.MatchString(rest) {
		return rulef("the elements are records of several fields; save numbers alone")
	}
	seen := make(map[string]bool)
	for strings.TrimSpace(rest) != "" {
		m := npyEntry.FindStringSubmatch(rest)
		if m == nil {
			return malformed
		}
		rest = rest[len(m[0]):]
		key := m[1]
		if seen[key] {
			return rulef("the header has the key %s twice", clip(key))
		}
		seen[key] = true
		switch {
		case key == "descr" && m[3] == "" && m[4] == "":
			h.Descr = m[2]
		case key == "fortran_order" && m[3] != "":
			h.Fortran = m[3] == "True"
		case key == "shape" && m[2] == "" && m[3] == "":
			for _, dim := range strings.FieldsFunc(m[4], func(r rune) bool {
				return strings.ContainsRune(", \t\n", r)
			}) {
				n, err := strconv.ParseInt(strings.TrimSuffix(dim, "L"), 10, 64)
				if err != nil {
					return malformed
				}
				h.Shape = append(h.Shape, n)
			}
		default:
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
