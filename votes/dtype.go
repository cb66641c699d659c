package votes

import (
	"encoding/binary"
	"math"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/darrm/darrm/internal/npy"
	"github.com/darrm/darrm/votes/format"
)

// dtype is the type of an array's elements.
type dtype struct {
	npy.Type // or U (text in UTF-32), S (bytes) or M (a point in time)

	text  string
	since func(n int64) string // of a point in time: n units after the beginning of 1970
}

// parseDtype reads a descr such as <i8.
func parseDtype(s string) (dtype, error) {
	d := dtype{text: s, Type: npy.Type{Order: binary.LittleEndian}}
	if strings.HasPrefix(s, ">") {
		d.Order = binary.BigEndian
	}
	rest := s
	if s != "" && strings.ContainsRune("<>|=", rune(s[0])) {
		rest = s[1:]
	}
	if rest == "" {
		return d, format.Errorf("the element type %s is unknown", quote(s))
	}
	d.Kind = rest[0]
	n, ok := canonicalInt(rest[1:])
	switch d.Kind {
	case 'O':
		return d, format.Errorf("the elements are Python objects, stored as a pickle, which is a program and " +
			"is not run: save the votes as integers or text")
	case 'U', 'S', 'a':
		if d.Kind == 'U' {
			n *= 4
		} else {
			d.Kind = 'S'
		}
		ok = ok && n <= 4*maxIDBytes
	case 'M':
		unit, found := strings.CutPrefix(rest, "M8[")
		d.since = timeUnits[strings.TrimSuffix(unit, "]")]
		n, ok = 8, found && d.since != nil
	case 'b':
		ok = ok && n == 1
	case 'i', 'u':
		ok = ok && (n == 1 || n == 2 || n == 4 || n == 8)
	case 'f':
		ok = ok && (n == 4 || n == 8)
	default:
		ok = false
	}
	if !ok || n <= 0 {
		return d, format.Errorf("the element type %s is not one for votes: want booleans, integers, float32, "+
			"float64, text, or of ids datetime64", quote(s))
	}
	d.Size = int(n)
	return d, nil
}

// isText reports whether elements are text.
func (d dtype) isText() bool { return d.Kind == 'U' || d.Kind == 'S' }

// read reads an element into c.
func (d *dtype) read(e []byte, c *cell) {
	switch d.Kind {
	case 'b', 'u':
		c.setUint(d.Bits(e)) // a boolean of 2 is an error, and neither false nor true
	case 'i':
		c.setInt(d.Int(e))
	case 'f':
		c.setFloat(d.Float(e))
	case 'M':
		if n := int64(d.Bits(e)); n == math.MinInt64 { // NumPy's NaT
			c.kind = nullCell
		} else {
			c.setText(textCell, d.since(n))
		}
	default:
		d.readText(e, c)
	}
}

// timeUnits are NumPy's units of time, each with what writes so many of them after 1970 began. Longer
// ones than a day have no text of their own here.
var timeUnits = map[string]func(int64) string{
	"D": format.Date,
	"h": since(time.Hour), "m": since(time.Minute), "s": since(time.Second),
	"ms": since(time.Millisecond), "us": since(time.Microsecond), "ns": since(time.Nanosecond),
}

func since(unit time.Duration) func(int64) string {
	return func(n int64) string { return format.Stamp(n, unit) }
}

// readText reads text without the NULs that fill it up.
func (d *dtype) readText(e []byte, c *cell) {
	c.kind = brokenCell
	var text []byte
	if d.Kind == 'S' {
		text = []byte(strings.TrimRight(string(e), "\x00"))
	} else {
		n := len(e) / 4
		for n > 0 && d.Order.Uint32(e[4*n-4:]) == 0 {
			n--
		}
		for i := range n {
			r := d.Order.Uint32(e[4*i:])
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
