package data

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
)

// The items of R's serialisation that are read. An item begins with 32 bits: its type in the
// lowest 8, flags above.
const (
	rSymbol  = 1
	rPairs   = 2
	rChars   = 9
	rLogical = 10
	rInteger = 13
	rReal    = 14
	rStrings = 16
	rVector  = 19
	rCompact = 238 // ALTREP, of version 3
	rNil     = 254
	rAgain   = 255 // a symbol that came before

	rHasAttributes, rHasTag = 0x200, 0x400
)

// rMissing is the integer and logical NA.
const rMissing = math.MinInt32

// maxDepth is how far items may be within each other; those of a data frame are 5 deep. maxItems
// bounds what takes more memory than its bytes in the file.
const maxDepth, maxItems = 32, 1 << 22

// rReader reads items. Lengths that a file claims are not allocated before the bytes are there.
type rReader struct {
	in      *bufio.Reader
	symbols []string
	depth   int
	items   int
}

// rItem is one item. Its numbers, strings and parts are those of its type.
type rItem struct {
	kind       int
	numbers    []float64
	strings    []string
	parts      []rItem // of a vector
	pairs      []rPair
	attributes []rPair
}

type rPair struct {
	tag   string
	value rItem
}

// attribute returns the strings of an attribute.
func (i *rItem) attribute(name string) []string {
	for _, p := range i.attributes {
		if p.tag == name {
			return p.value.strings
		}
	}
	return nil
}

// file reads all of a file.
func (r *rReader) file() ([]Frame, error) {
	head := make([]byte, 7)
	if n, err := io.ReadFull(r.in, head); err != nil {
		return nil, short("header", n, len(head), err)
	}
	if s := string(head); s != "RDX2\nX\n" && s != "RDX3\nX\n" {
		return nil, fmt.Errorf("begins with %q, but a file of R's function save begins with \"RDX2\\nX\\n\" once it is unpacked", s)
	}
	version, err := r.integer()
	if err == nil && version != 2 && version != 3 {
		err = fmt.Errorf("format version %d, but it must be 2 or 3", version)
	}
	for range 2 { // versions of R
		if err == nil {
			_, err = r.integer()
		}
	}
	if err == nil && version == 3 {
		_, err = r.text() // the encoding
	}
	if err != nil {
		return nil, err
	}
	all, err := r.item()
	if err != nil {
		return nil, err
	}
	if all.kind != rPairs && all.kind != rNil {
		return nil, fmt.Errorf("an item of type %d, but it must be a list of variables", all.kind)
	}
	var frames []Frame
	for _, p := range all.pairs {
		if class := p.value.attribute("class"); p.value.kind != rVector || len(class) != 1 || class[0] != "data.frame" {
			continue
		}
		f, err := p.value.frame(p.tag)
		if err != nil {
			return nil, fmt.Errorf("data frame %.60q: %w", p.tag, err)
		}
		frames = append(frames, f)
	}
	return frames, nil
}

// frame returns the data frame that a vector is.
func (i *rItem) frame(name string) (Frame, error) {
	f, names := Frame{Name: name}, i.attribute("names")
	if len(names) != len(i.parts) || len(names) == 0 {
		return f, fmt.Errorf("%d names of %d columns", len(names), len(i.parts))
	}
	for j := range i.parts {
		part := &i.parts[j]
		c := FrameColumn{Name: names[j], Values: part.numbers, Levels: part.attribute("levels")}
		if part.kind != rReal && part.kind != rInteger && part.kind != rLogical {
			return f, fmt.Errorf("column %.60q has items of type %d, but it must have numbers or a factor", c.Name, part.kind)
		}
		if j == 0 {
			f.Rows = len(c.Values)
		}
		if len(c.Values) != f.Rows {
			return f, fmt.Errorf("column %.60q has %d rows, but the first has %d", c.Name, len(c.Values), f.Rows)
		}
		if c.Levels != nil {
			for k, v := range c.Values {
				if math.IsNaN(v) {
					continue
				}
				if v < 1 || v > float64(len(c.Levels)) || v != math.Trunc(v) {
					return f, fmt.Errorf("column %.60q, row %d: level %g of %d", c.Name, k+1, v, len(c.Levels))
				}
				c.Values[k] = v - 1
			}
		}
		f.Columns = append(f.Columns, c)
	}
	return f, nil
}

// item reads an item and what is in it.
func (r *rReader) item() (i rItem, err error) {
	if r.depth++; r.depth > maxDepth {
		return i, fmt.Errorf("items are more than %d deep", maxDepth)
	}
	defer func() { r.depth-- }()
	if r.items++; r.items > maxItems {
		return i, fmt.Errorf("has more than %d items", maxItems)
	}
	flags, err := r.integer()
	if err != nil {
		return i, err
	}
	i.kind = int(flags & 0xff)
	switch i.kind {
	case rNil:
		return i, nil
	case rSymbol, rAgain:
		s, err := r.symbol(flags)
		i.strings = []string{s}
		return i, err
	case rPairs:
		i.pairs, err = r.pairs(flags)
		return i, err
	case rChars:
		s, err := r.text()
		i.strings = []string{s}
		return i, err
	case rLogical, rInteger, rReal, rStrings, rVector:
	case rCompact:
		return i, errors.New("has a vector in R's compact form; save it in R with version = 2")
	default:
		return i, fmt.Errorf("has an item of type %d, of which data frames have none", i.kind)
	}
	length, err := r.integer()
	if err != nil {
		return i, err
	}
	if length < 0 {
		return i, fmt.Errorf("has a vector of length %d", length)
	}
	for range length {
		if err := r.element(&i); err != nil {
			return i, err
		}
	}
	if flags&rHasAttributes != 0 {
		var a rItem
		if a, err = r.item(); err == nil && a.kind != rPairs {
			err = fmt.Errorf("has attributes of type %d", a.kind)
		}
		i.attributes = a.pairs
	}
	return i, err
}

// element reads one element of a vector.
func (r *rReader) element(i *rItem) error {
	switch i.kind {
	case rReal:
		var b [8]byte
		if err := r.full(b[:]); err != nil {
			return err
		}
		i.numbers = append(i.numbers, math.Float64frombits(binary.BigEndian.Uint64(b[:])))
	case rInteger, rLogical:
		v, err := r.integer()
		if err != nil {
			return err
		}
		if v == rMissing {
			i.numbers = append(i.numbers, math.NaN())
		} else {
			i.numbers = append(i.numbers, float64(v))
		}
	default:
		part, err := r.item()
		if err != nil {
			return err
		}
		if i.kind == rVector {
			i.parts = append(i.parts, part)
			return nil
		}
		if part.kind != rChars {
			return fmt.Errorf("has a string of type %d", part.kind)
		}
		i.strings = append(i.strings, part.strings[0])
	}
	return nil
}

// pairs reads a pairlist after the flags of its first pair. Each pair's rest is the next one,
// which is read in a loop: a list is as long as its file.
func (r *rReader) pairs(flags int32) (list []rPair, err error) {
	for {
		if flags&rHasAttributes != 0 {
			return nil, errors.New("has a list with attributes, of which data frames have none")
		}
		var p rPair
		if flags&rHasTag != 0 {
			tag, err := r.item()
			if err != nil {
				return nil, err
			}
			if tag.kind != rSymbol && tag.kind != rAgain {
				return nil, fmt.Errorf("has a tag of type %d", tag.kind)
			}
			p.tag = tag.strings[0]
		}
		if p.value, err = r.item(); err != nil {
			return nil, err
		}
		list = append(list, p)
		if flags, err = r.integer(); err != nil {
			return nil, err
		}
		switch flags & 0xff {
		case rNil:
			return list, nil
		case rPairs:
		default:
			return nil, fmt.Errorf("has a list that goes on with type %d", flags&0xff)
		}
	}
}

// symbol reads a name, or takes one that was read before.
func (r *rReader) symbol(flags int32) (string, error) {
	if flags&0xff == rAgain {
		number := flags >> 8
		if number == 0 {
			var err error
			if number, err = r.integer(); err != nil {
				return "", err
			}
		}
		if number < 1 || int(number) > len(r.symbols) {
			return "", fmt.Errorf("names symbol %d of %d", number, len(r.symbols))
		}
		return r.symbols[number-1], nil
	}
	name, err := r.item()
	if err != nil {
		return "", err
	}
	if name.kind != rChars {
		return "", fmt.Errorf("has a symbol of type %d", name.kind)
	}
	r.symbols = append(r.symbols, name.strings[0])
	return name.strings[0], nil
}

// text reads a string: its length, of which -1 is NA, and its bytes.
func (r *rReader) text() (string, error) {
	length, err := r.integer()
	if err != nil || length == -1 {
		return "NA", err
	}
	if length < 0 || length > 1<<16 {
		return "", fmt.Errorf("has a string of length %d", length)
	}
	b := make([]byte, length)
	err = r.full(b)
	return string(b), err
}

func (r *rReader) integer() (int32, error) {
	var b [4]byte
	err := r.full(b[:])
	return int32(binary.BigEndian.Uint32(b[:])), err
}

// full fills p.
func (r *rReader) full(p []byte) error {
	_, err := io.ReadFull(r.in, p)
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return err
}
