package votes

import (
	"encoding/binary"
	"math"
	"strconv"
	"unicode/utf8"
)

// dtype is the type of an array's elements.
type dtype struct {
	kind byte // b, i, u, f, U (text in UTF-32) or S (bytes)
	size int  // of an element, in bytes
	big  bool // big-endian
	text string
}

// maxNPYText bounds the length of text elements: an id's limit, in UTF-32.
const maxNPYText = 4 * MaxIDBytes

// parseDtype reads a descr such as <i8.
func parseDtype(s string) (dtype, error) {
	d := dtype{text: s}
	rest := s
	if rest != "" {
		switch rest[0] {
		case '>':
			d.big = true
			rest = rest[1:]
		case '<', '|', '=':
			rest = rest[1:]
		}
	}
	if rest == "" {
		return d, rulef("the element type %s is unknown", quote(s))
	}
	d.kind = rest[0]
	n, ok := canonicalNumber(rest[1:])
	switch d.kind {
	case 'O':
		return d, rulef("the elements are Python objects, stored as a pickle, which is a program and is not run: save the votes as integers or text")
	case 'U':
		n *= 4
		ok = ok && n <= maxNPYText
	case 'S', 'a':
		d.kind = 'S'
		ok = ok && n <= maxNPYText
	case 'b':
		ok = ok && n == 1
	case 'i', 'u':
		ok = ok && (n == 1 || n == 2 || n == 4 || n == 8)
	case 'f':
		ok = ok && (n == 4 || n == 8)
	default:
		ok = false
	}
	if !ok || n == 0 {
		return d, rulef("the element type %s is not one for votes: want booleans, integers, float32, float64 or text", quote(s))
	}
	d.size = int(n)
	return d, nil
}

// isText reports whether elements are text.
func (d dtype) isText() bool { return d.kind == 'U' || d.kind == 'S' }

// integer returns an element as an integer, which it is if ok.
func (d dtype) integer(e []byte) (v int64, ok bool) {
	switch d.kind {
	case 'b':
		return int64(e[0]), e[0] <= 1
	case 'i', 'u':
		u := d.bits(e)
		if d.kind == 'u' {
			return int64(u), u <= math.MaxInt64
		}
		shift := 64 - 8*d.size
		return int64(u<<shift) >> shift, true
	case 'f':
		return wholeNumber(d.float(e))
	}
	return 0, false
}

func (d dtype) float(e []byte) float64 {
	if d.size == 4 {
		return float64(math.Float32frombits(uint32(d.bits(e))))
	}
	return math.Float64frombits(d.bits(e))
}

// bits returns the bits of a number.
func (d dtype) bits(e []byte) uint64 {
	switch {
	case d.size == 1:
		return uint64(e[0])
	case !d.big:
		return littleEndian(e, d.size)
	case d.size == 2:
		return uint64(binary.BigEndian.Uint16(e))
	case d.size == 4:
		return uint64(binary.BigEndian.Uint32(e))
	}
	return binary.BigEndian.Uint64(e)
}

// littleEndian reads 2, 4 or 8 bytes.
func littleEndian(e []byte, size int) uint64 {
	switch size {
	case 2:
		return uint64(binary.LittleEndian.Uint16(e))
	case 4:
		return uint64(binary.LittleEndian.Uint32(e))
	}
	return binary.LittleEndian.Uint64(e)
}

// string returns an element as text: integers in decimal, text without the NULs
// that fill it up. ok is false for text that is not valid.
func (d dtype) string(e []byte) (text string, ok bool) {
	switch d.kind {
	case 'S':
		n := len(e)
		for n > 0 && e[n-1] == 0 {
			n--
		}
		return string(e[:n]), utf8.Valid(e[:n])
	case 'U':
		return d.utf32(e)
	case 'f':
		v := d.float(e)
		if n, ok := wholeNumber(v); ok {
			return strconv.FormatInt(n, 10), true
		}
		return strconv.FormatFloat(v, 'g', -1, 64), true
	case 'u':
		return strconv.FormatUint(d.bits(e), 10), true
	}
	v, _ := d.integer(e)
	return strconv.FormatInt(v, 10), true
}

func (d dtype) utf32(e []byte) (string, bool) {
	var order binary.ByteOrder = binary.LittleEndian
	if d.big {
		order = binary.BigEndian
	}
	n := len(e) / 4
	for n > 0 && order.Uint32(e[4*n-4:]) == 0 {
		n--
	}
	out := make([]byte, 0, n)
	for i := range n {
		c := order.Uint32(e[4*i:])
		if c > utf8.MaxRune || !utf8.ValidRune(rune(c)) {
			return "", false
		}
		out = utf8.AppendRune(out, rune(c))
	}
	return string(out), true
}

// class returns the class of an element; missing says that there is none because
// the element says so (NaN, or text such as "" or NA).
func (d dtype) class(e []byte, c *classList) (class int, missing bool) {
	switch d.kind {
	case 'U', 'S':
		text, ok := d.string(e)
		if !ok {
			return -1, false
		}
		class = c.of(text)
		return class, class < 0 && isMissing(text)
	case 'f':
		f := d.float(e)
		return c.ofFloat(f), f != f
	}
	v, ok := d.integer(e)
	if !ok {
		return -1, false
	}
	return c.ofInt(v), false
}
