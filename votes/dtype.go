package votes

import (
	"encoding/binary"
	"math"
	"strings"
	"unicode/utf8"
)

// dtype is the type of an array's elements.
type dtype struct {
	kind  byte // b, i, u, f, U (text in UTF-32) or S (bytes)
	size  int  // of an element, in bytes
	order binary.ByteOrder
	text  string
}

// parseDtype reads a descr such as <i8.
func parseDtype(s string) (dtype, error) {
	d := dtype{text: s, order: binary.LittleEndian}
	if strings.HasPrefix(s, ">") {
		d.order = binary.BigEndian
	}
	rest := s
	if s != "" && strings.ContainsRune("<>|=", rune(s[0])) {
		rest = s[1:]
	}
	if rest == "" {
		return d, rulef("the element type %s is unknown", quote(s))
	}
	d.kind = rest[0]
	n, ok := canonicalNumber(rest[1:])
	switch d.kind {
	case 'O':
		return d, rulef("the elements are Python objects, stored as a pickle, which is a program and " +
			"is not run: save the votes as integers or text")
	case 'U', 'S', 'a':
		if d.kind == 'U' {
			n *= 4
		} else {
			d.kind = 'S'
		}
		ok = ok && n <= 4*maxIDBytes
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
		return d, rulef("the element type %s is not one for votes: want booleans, integers, float32, "+
			"float64 or text", quote(s))
	}
	d.size = int(n)
	return d, nil
}

// isText reports whether elements are text.
func (d dtype) isText() bool { return d.kind == 'U' || d.kind == 'S' }

// read reads an element into c.
func (d *dtype) read(e []byte, c *cell) {
	switch d.kind {
	case 'b', 'u':
		c.setUint(d.bits(e)) // a boolean of 2 is an error, and neither false nor true
	case 'i':
		shift := 64 - 8*d.size
		c.setInt(int64(d.bits(e)<<shift) >> shift)
	case 'f':
		if d.size == 4 {
			c.setFloat(float64(math.Float32frombits(uint32(d.bits(e)))))
		} else {
			c.setFloat(math.Float64frombits(d.bits(e)))
		}
	default:
		d.readText(e, c)
	}
}

// bits returns the bits of a number.
func (d *dtype) bits(e []byte) uint64 {
	switch d.size {
	case 1:
		return uint64(e[0])
	case 2:
		return uint64(d.order.Uint16(e))
	case 4:
		return uint64(d.order.Uint32(e))
	}
	return d.order.Uint64(e)
}

// readText reads text without the NULs that fill it up.
func (d *dtype) readText(e []byte, c *cell) {
	c.kind = brokenCell
	var text []byte
	if d.kind == 'S' {
		text = []byte(strings.TrimRight(string(e), "\x00"))
	} else {
		n := len(e) / 4
		for n > 0 && d.order.Uint32(e[4*n-4:]) == 0 {
			n--
		}
		for i := range n {
			r := d.order.Uint32(e[4*i:])
			if r > utf8.MaxRune || !utf8.ValidRune(rune(r)) {
				return
			}
			text = utf8.AppendRune(text, rune(r))
		}
	}
	if utf8.Valid(text) {
		c.setText(textCell, string(text))
	}
}
