package votes

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"strconv"
	"strings"
	"unicode/utf8"
)

// The format .npy: NumPy Enhancement Proposal 1, versions 1.0, 2.0 and 3.0, which
// differ in the length of the header's length and in the header's encoding. The
// header is read here and not by a library: the one for Go (npyio 0.6.0) makes
// room for whatever length a file claims, up to 4 GiB, panics on a header without
// a line feed, and does not know version 3.
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
	n, err := io.ReadFull(r, pre[:10])
	head := string(pre[:n])
	switch {
	case err != nil && err != io.EOF && err != io.ErrUnexpectedEOF:
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
	if !utf8.Valid(text) {
		return nil, rulef("the header is not text")
	}
	h.size += length
	if err := h.parse(string(text)); err != nil {
		return nil, err
	}
	return h, nil
}

// readHeader fills p.
func readHeader(r io.Reader, p []byte) error {
	_, err := io.ReadFull(r, p)
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return rulef("the header is cut off")
	}
	return err
}

// ruleError is a fault of an array, before it is known where the array stands.
type ruleError struct{ rule string }

func (e *ruleError) Error() string { return e.rule }

func rulef(format string, args ...any) error { return &ruleError{fmt.Sprintf(format, args...)} }

// parse reads the header's dictionary, a Python literal with exactly the keys
// descr, fortran_order and shape. Only what NumPy writes is understood: nothing
// is evaluated.
func (h *npyHeader) parse(text string) error {
	p := literal{strings.TrimRight(text, " \n\x00")}
	seen := make(map[string]bool)
	var err error
	p.expect('{', &err)
	for err == nil && !p.accept('}') {
		key := p.str(&err)
		p.expect(':', &err)
		if err != nil {
			break
		}
		if seen[key] {
			return rulef("the header has the key %s twice", quote(key))
		}
		seen[key] = true
		switch key {
		case "descr":
			if p.peek() == '[' {
				return rulef("the elements are records of several fields; save the votes alone, as integers")
			}
			descr := p.str(&err)
			if err == nil {
				h.dtype, err = parseDtype(descr)
				if err != nil {
					return err
				}
			}
		case "fortran_order":
			h.fortran = p.boolean(&err)
		case "shape":
			h.shape = p.tuple(&err)
		default:
			return rulef("the header has the unknown key %s", quote(key))
		}
		if !p.accept(',') && err == nil {
			p.expect('}', &err)
			break
		}
	}
	if err == nil && p.s != "" {
		err = errors.New("text behind it")
	}
	if err != nil {
		return rulef("the header %s is no dictionary of descr, fortran_order and shape: %v", quote(text), err)
	}
	for _, key := range []string{"descr", "fortran_order", "shape"} {
		if !seen[key] {
			return rulef("the header has no key %s", key)
		}
	}
	n := uint64(h.dtype.size)
	empty := false
	for _, d := range h.shape {
		empty = empty || d == 0
		hi, lo := bits.Mul64(n, uint64(d))
		if hi != 0 || lo > 1<<62 {
			if !empty {
				return rulef("the header claims %s elements of %d bytes, more than any disk holds", h.dims(), h.dtype.size)
			}
			lo = 0
		}
		n = lo
	}
	h.data = int64(n)
	return nil
}

// dims prints the shape as 3 × 4.
func (h *npyHeader) dims() string {
	var b strings.Builder
	for i, d := range h.shape {
		if i > 0 {
			b.WriteString(" × ")
		}
		b.WriteString(strconv.FormatInt(d, 10))
	}
	if len(h.shape) == 0 {
		return "no"
	}
	return b.String()
}

// literal parses the part of Python's literals that headers consist of. After an
// error its methods do nothing.
type literal struct{ s string }

func (p *literal) space() { p.s = strings.TrimLeft(p.s, " \t\n") }

func (p *literal) peek() byte {
	p.space()
	if p.s == "" {
		return 0
	}
	return p.s[0]
}

func (p *literal) accept(c byte) bool {
	if p.peek() != c {
		return false
	}
	p.s = p.s[1:]
	return true
}

func (p *literal) expect(c byte, err *error) {
	if *err == nil && !p.accept(c) {
		*err = fmt.Errorf("%q is missing before %s", string(c), quote(p.s))
	}
}

// str reads a string without escapes: NumPy's own need none.
func (p *literal) str(err *error) string {
	if *err != nil {
		return ""
	}
	q := p.peek()
	if q != '\'' && q != '"' {
		*err = fmt.Errorf("no string at %s", quote(p.s))
		return ""
	}
	end := strings.IndexByte(p.s[1:], q)
	if end < 0 || strings.ContainsAny(p.s[1:1+end], "\\\n") {
		*err = fmt.Errorf("no plain string at %s", quote(p.s))
		return ""
	}
	text := p.s[1 : 1+end]
	p.s = p.s[end+2:]
	return text
}

func (p *literal) boolean(err *error) bool {
	if *err != nil {
		return false
	}
	p.space()
	for _, word := range []string{"True", "False"} {
		if rest, ok := strings.CutPrefix(p.s, word); ok {
			p.s = rest
			return word == "True"
		}
	}
	*err = fmt.Errorf("no True or False at %s", quote(p.s))
	return false
}

// tuple reads whole numbers in parentheses. Python 2 wrote an L behind them.
func (p *literal) tuple(err *error) []int64 {
	p.expect('(', err)
	var out []int64
	for *err == nil && !p.accept(')') {
		p.space()
		n := 0
		for n < len(p.s) && p.s[n] >= '0' && p.s[n] <= '9' {
			n++
		}
		v, e := strconv.ParseInt(p.s[:n], 10, 64)
		switch {
		case e != nil:
			*err = fmt.Errorf("no dimension at %s", quote(p.s))
			return nil
		case len(out) == 32: // NumPy's own limit was 32, and 2 are wanted
			*err = errors.New("too many dimensions")
			return nil
		}
		p.s = strings.TrimPrefix(p.s[n:], "L")
		out = append(out, v)
		if !p.accept(',') {
			p.expect(')', err)
			break
		}
	}
	return out
}
