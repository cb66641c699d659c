package votes

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// jsonParser reads lines into rec.
type jsonParser struct {
	*jsonDecoder
	rec  record
	seen []int // of every key, the line that had it last
	buf  bytes.Buffer
	dec  jsontext.Decoder
}

func (p *jsonParser) errorf(format string, args ...any) error {
	return p.faultAt(p.rec.place, -1, "", faultf(wholeRow, format, args...))
}

// members reads a line's object but for its end. member gets each key as it is written, valid until it
// reads the value, which it must.
func (p *jsonParser) members(line []byte, member func(key []byte) error) error {
	if err := p.begin(line); err != nil {
		return err
	}
	for p.dec.PeekKind() != '}' {
		raw, err := p.dec.ReadValue()
		if err == nil {
			err = member(raw)
		}
		if _, ours := err.(*ParseError); ours {
			return err
		}
		if err != nil {
			return p.syntax(line, err)
		}
	}
	return nil
}

// begin makes the decoder ready for a line, and reads the brace that it begins with.
func (p *jsonParser) begin(line []byte) error {
	if len(bytes.TrimRight(line, "\r\n")) == 0 {
		return p.errorf("%s", blankLine)
	}
	if len(line) > maxRecordBytes {
		return p.errorf("%s", tooLong)
	}
	if bytes.IndexByte(line[:len(line)-1], '\r') >= 0 {
		if _, rule := textFault(line); rule != "" {
			return p.errorf("%s", rule)
		}
	}
	p.buf = *bytes.NewBuffer(line)
	// Keys that appear twice are found by seen, which must be looked at anyway.
	p.dec.Reset(&p.buf, jsontext.AllowDuplicateNames(true))
	if kind := p.dec.PeekKind(); kind != '{' && kind != 0 {
		err := p.dec.SkipValue()
		switch {
		case kind == '[' && (err != nil || bytes.Contains(line, []byte("{"))):
			return p.errorf("the line begins %s", jsonList)
		case err != nil:
			return p.syntax(line, err)
		}
		hint := ""
		if kind == '[' {
			hint = " (jq -c '{votes: .}' makes one of a list of votes)"
		}
		return p.errorf("the line is not a JSON object, as in {\"votes\":[0,1,1]}%s", hint)
	}
	_, err := p.dec.ReadToken()
	return p.syntax(line, err)
}

// end reads the brace that the line ends with, and makes sure that nothing follows.
func (p *jsonParser) end(line []byte) error {
	if _, err := p.dec.ReadToken(); err != nil {
		return p.syntax(line, err)
	}
	if _, err := p.dec.ReadToken(); err == nil {
		return p.errorf("the line is not JSON: there is text after top-level value")
	} else if err != io.EOF {
		return p.syntax(line, err)
	}
	return nil
}

// syntax explains an error of the JSON decoder.
func (p *jsonParser) syntax(line []byte, err error) error {
	if err == nil {
		return nil
	}
	if _, rule := textFault(line); rule != "" {
		return p.errorf("%s", rule)
	}
	rule := fmt.Sprintf("the line is not JSON: %v", err)
	if errors.Is(err, io.ErrUnexpectedEOF) {
		rule += "; JSON Lines have one object on each line (jq -c . makes them of objects on several)"
	}
	return &ParseError{File: p.name, Line: p.rec.place, Rule: rule, Err: err}
}

// parse reads a line. It finds every key of the first line that is needed, once.
func (p *jsonParser) parse(line []byte) error {
	if p.labels {
		p.rec.label.kind = nullCell
	}
	found := 0
	err := p.members(line, func(raw []byte) error {
		i, ok := p.byRaw[string(raw)]
		if !ok {
			name := nameOf(raw)
			if i, ok = p.byName[name]; !ok && !p.ignores(name) {
				return p.errorf("the key %s is not in the first line: every line has the same keys, and null for "+
					"what is missing", quote(name))
			}
		}
		if !ok || p.keys[i].to == noCell {
			return p.dec.SkipValue()
		}
		key := p.keys[i]
		if p.seen[i] == p.rec.place {
			return p.errorf("the key %s appears twice", quote(key.name))
		}
		p.seen[i] = p.rec.place
		if key.needed() {
			found++
		}
		if key.to == listCell {
			return p.items(key.name)
		}
		raw, err := p.dec.ReadValue()
		if err == nil {
			p.value(raw, key.to)
		}
		return err
	})
	if err != nil {
		return err
	}
	for i, k := range p.keys {
		if found < p.need && p.seen[i] != p.rec.place && k.needed() {
			return p.errorf("the key %s of the first line is missing: every line has the same keys, and null for what "+
				"is missing", quote(k.name))
		}
	}
	return p.end(line)
}

// items reads the list of all votes or counts.
func (p *jsonParser) items(name string) error {
	if kind := p.dec.PeekKind(); kind != '[' && kind != 0 {
		return p.errorf("key %s: not a list", quote(name))
	}
	// The decoder checks the list at once, which takes less than item by item.
	list, err := p.dec.ReadValue()
	if err != nil {
		return err
	}
	n := 0
	for item := range itemsOf(list) {
		if n < len(p.rec.votes) {
			p.value(item, n)
		}
		n++
	}
	if rule := p.listFault(n); rule != "" {
		return p.errorf("key %s: %s", quote(name), rule)
	}
	return nil
}

// itemsOf returns the items of a valid JSON list.
func itemsOf(list []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		if len(list) < 2 {
			return
		}
		for list = trimJSON(list[1 : len(list)-1]); len(list) > 0; {
			var item []byte
			if item, list = firstItem(list); !yield(item) {
				return
			}
		}
	}
}

// trimJSON removes the spaces around a part of valid JSON: the bytes up to ' ' that may stand
// there.
func trimJSON(b []byte) []byte {
	for len(b) > 0 && b[0] <= ' ' {
		b = b[1:]
	}
	for len(b) > 0 && b[len(b)-1] <= ' ' {
		b = b[:len(b)-1]
	}
	return b
}

// firstItem returns the first of the items of a valid JSON list, and the others.
func firstItem(list []byte) (item, others []byte) {
	depth := 0
	for i := 0; i < len(list); i++ {
		switch list[i] {
		case '[', '{':
			depth++
		case ']', '}':
			depth--
		case '"':
			for i++; list[i] != '"'; i++ {
				if list[i] == '\\' {
					i++
				}
			}
		case ',':
			if depth == 0 {
				return trimJSON(list[:i]), trimJSON(list[i+1:])
			}
		}
	}
	return list, nil
}

// cell reads a value into c.
func (p *jsonParser) cell(raw []byte, c *cell) {
	switch raw[0] {
	case '"':
		if bytes.IndexByte(raw, '\\') < 0 {
			c.setText(textCell, p.classes.text(raw[1:len(raw)-1]))
		} else {
			c.setText(textCell, textOf(raw))
		}
	case 't', 'f':
		c.setBool(raw[0] == 't')
	case 'n':
		c.kind = nullCell
	case '[', '{':
		c.setText(otherCell, string(raw))
	default:
		c.setText(numberCell, p.classes.text(raw))
	}
}

// value reads a value into a cell of the record. A text is no count.
func (p *jsonParser) value(raw []byte, at int) {
	c := p.rec.cell(at)
	if p.cell(raw, c); at >= 0 && c.kind == textCell && p.layout == LayoutCounts {
		c.setText(otherCell, string(raw))
	}
}

// nameOf returns the name that a key has.
func nameOf(key []byte) string { return strings.TrimSpace(textOf(key)) }

// textOf returns the text of a JSON string that is known to be valid.
func textOf(raw []byte) string {
	text, _ := jsontext.AppendUnquote(nil, raw)
	return string(text)
}
