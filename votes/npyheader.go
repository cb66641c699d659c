package votes

import (
	"encoding/binary"
	"io"
	"math/bits"
	"regexp"
	"strconv"
	"strings"
)

// The format .npy: NumPy Enhancement Proposal 1, versions 1.0, 2.0 and 3.0, which
// differ in the length of the header's length and in the header's encoding. The
// header is read here and not by npyio 0.6.0, which knows neither version 3 nor
// the L that Python 2 wrote behind dimensions, refuses a dictionary in double
// quotes or without spaces, and panics if its keys stand in another order.
const npyMagic = "\x93NUMPY"

// maxNPYHeader is what NumPy itself reads since 1.24 (max_header_size).
const maxNPYHeader = 10_000

// npyHeader is what stands in front of the elements.
type npyHeader struct {
	dtype   dtype
	fortran bool
	shape   []int64
	size    int64 // of the header, in bytes
	data    int64 // of all elements, in bytes
}

// readNPYHeader reads a header. Its errors are rules: they do not name the file.
func readNPYHeader(r io.Reader) (*npyHeader, error) {
	var pre [12]byte
	n, err := readFull(r, pre[:10])
	head := string(pre[:n])
	switch {
	case err != nil && err != io.EOF:
		return nil, err
	case strings.HasPrefix(head, npyMagic) && n < 10:
		return nil, rulef("the header is cut off")
	case strings.HasPrefix(head, "\x80") && n > 1 && pre[1] >= 2 && pre[1] <= 5:
		return nil, rulef("the file is a Python pickle, which is a program and is not run: save the votes with numpy.save")
	case strings.HasPrefix(head, "PK\x03\x04"):
		return nil, rulef("the file is a zip archive: say by its name (.npz) or the format that it is one of NumPy")
	case !strings.HasPrefix(head, npyMagic):
		return nil, rulef("the file does not begin as a NumPy array does: %s, want %q", quote(head), npyMagic)
	}
	h := &npyHeader{size: 10}
	length := int64(binary.LittleEndian.Uint16(pre[8:10]))
	switch major, minor := pre[6], pre[7]; {
	case (major == 2 || major == 3) && minor == 0:
		if err := readHeader(r, pre[10:12]); err != nil {
			return nil, err
		}
		h.size, length = 12, int64(binary.LittleEndian.Uint32(pre[8:12]))
	case major != 1 || minor != 0:
		return nil, rulef("version %d.%d of the format is unknown, want 1.0, 2.0 or 3.0", major, minor)
	}
	if length > maxNPYHeader {
		return nil, rulef("the header is %d bytes long, want at most %d", length, maxNPYHeader)
	}
	text := make([]byte, length)
	if err := readHeader(r, text); err != nil {
		return nil, err
	}
	h.size += length
	if err := h.parse(strings.TrimRight(string(text), " \n\x00")); err != nil {
		return nil, err
	}
	return h, nil
}

// readHeader fills p.
func readHeader(r io.Reader, p []byte) error {
	n, err := readFull(r, p)
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
	npyEntry   = regexp.MustCompile(`^\s*['"](\w+)['"]\s*:\s*(?:['"]([^'"\\\n]*)['"]|(True|False)|\(([\dL,\s]*)\))\s*(,\s*|$)`)
	npyRecords = regexp.MustCompile(`['"]descr['"]\s*:\s*\[`)
)

// parse reads the dictionary, which has exactly the keys descr, fortran_order and
// shape.
func (h *npyHeader) parse(text string) error {
	malformed := rulef("the header %s is no dictionary of descr, fortran_order and shape", quote(text))
	rest, open := strings.CutPrefix(text, "{")
	rest, closed := strings.CutSuffix(rest, "}")
	if !open || !closed {
		return malformed
	}
	if npyRecords.MatchString(rest) {
		return rulef("the elements are records of several fields; save the votes alone, as integers")
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
			return rulef("the header has the key %s twice", quote(key))
		}
		seen[key] = true
		switch {
		case key == "descr" && m[3] == "" && m[4] == "":
			var err error
			if h.dtype, err = parseDtype(m[2]); err != nil {
				return err
			}
		case key == "fortran_order" && m[3] != "":
			h.fortran = m[3] == "True"
		case key == "shape" && m[2] == "" && m[3] == "":
			for _, dim := range strings.FieldsFunc(m[4], func(r rune) bool { return strings.ContainsRune(", \t\n", r) }) {
				n, err := strconv.ParseInt(strings.TrimSuffix(dim, "L"), 10, 64)
				if err != nil {
					return malformed
				}
				h.shape = append(h.shape, n)
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
	return h.measure()
}

// measure computes the length of all elements.
func (h *npyHeader) measure() error {
	n, empty := uint64(h.dtype.size), false
	for _, d := range h.shape {
		empty = empty || d == 0
	}
	for _, d := range h.shape {
		hi, lo := bits.Mul64(n, uint64(d))
		if !empty && (hi != 0 || lo > 1<<62) {
			return rulef("the header claims %s elements of %d bytes, more than any disk holds", h.dims(), h.dtype.size)
		}
		n = lo
	}
	if !empty {
		h.data = int64(n)
	}
	return nil
}

// dims prints the shape as 3 × 4.
func (h *npyHeader) dims() string {
	if len(h.shape) == 0 {
		return "no"
	}
	dims := make([]string, len(h.shape))
	for i, d := range h.shape {
		dims[i] = strconv.FormatInt(d, 10)
	}
	return strings.Join(dims, " × ")
}
