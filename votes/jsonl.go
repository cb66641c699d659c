package votes

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/darrm/darrm/internal/check"
)

// jsonDecoder cuts a JSON Lines file into tasks. The first line fixes what all
// lines have in common.
//
//	{"query":"q17","votes":[0,1,1],"label":1}          a list
//	{"query":"q17","t1":0,"t2":1,"t3":1,"label":1}     a key for each teacher
//	{"query":"q17","counts":[1,2]}                     counts as a list
//	{"query":"q17","zeros":1,"ones":2}                 counts, a key for each class
//
// A line is one object. The keys may stand in any order, but every line has the
// same ones, each once. That of the true label may be absent, as may all keys that are not read.
type jsonDecoder struct {
	*fileInfo
	lines  *lineChunks
	ends   lineEnds
	keys   []jsonKey // in the order of the first line
	byName map[string]int
	list   int // the key of the list of all votes or counts, or -1
	need   int // how many keys every line has
}

type jsonKey struct {
	name string
	raw  []byte // as in the first line
	to   int    // as in fault: the teacher or class, labelCell or idCell; or one of these
}

// needed reports whether every line has the key.
func (k jsonKey) needed() bool { return k.to != unusedKey && k.to != labelCell }

const (
	unusedKey = -4
	listKey   = -5 // of all votes, or counts
)

// openJSONL learns the keys from the first line.
func openJSONL(info *fileInfo, r io.Reader) (decoder, error) {
	d := &jsonDecoder{fileInfo: info, lines: newLineChunks(info, r, false),
		byName: make(map[string]int)}
	ch, err := d.lines.next()
	if err == io.EOF {
		return nil, info.errorf("the file is empty")
	}
	if err != nil {
		return nil, err
	}
	line, later := ch.Data, []byte(nil)
	if i := bytes.IndexByte(line, '\n'); i >= 0 {
		line, later = line[:i+1], line[i+1:]
	}
	d.ends = endOf(line)
	if err := d.learnKeys(line, later); err != nil {
		return nil, err
	}
	d.lines.Unread(ch, 0)
	d.lines.Size = info.chunkBytes(d.k)
	return d, nil
}

func (d *jsonDecoder) next() (task, error) {
	ch, err := d.lines.next()
	if err != nil {
		return nil, err
	}
	return func(b *Batch) error { return d.parse(ch, b) }, nil
}

// parse reads the lines of a chunk.
func (d *jsonDecoder) parse(ch chunk, b *Batch) error {
	width := len(d.roles.Votes)
	if d.list >= 0 {
		width = d.roles.Width
	}
	p := jsonParser{jsonDecoder: d, seen: make([]int, len(d.keys)),
		rec: record{place: ch.Line, votes: make([]cell, width)}}
	for line := range bytes.Lines(ch.Data) {
		if rule := d.ends.rule(endOf(line)); rule != "" {
			return d.errorAt(p.rec.place, -1, "", rule)
		}
		if err := p.parse(line); err != nil {
			return err
		}
		if wrong := d.add(b, &p.rec); wrong != nil {
			wrong.rule = check.Named("%s%s", d.cellName(wrong.at), wrong.rule)
			return d.faultAt(p.rec.place, -1, "", wrong)
		}
		p.rec.place++
	}
	return nil
}

// cellName names a cell of a record in a message.
func (d *jsonDecoder) cellName(at int) string {
	if at == wholeRow {
		return ""
	}
	if at >= 0 && d.list >= 0 {
		return fmt.Sprintf("key %s, item %d: ", quote(d.keys[d.list].name), at+1)
	}
	for _, k := range d.keys {
		if k.to == at {
			return "key " + quote(k.name) + ": "
		}
	}
	return ""
}

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

// begin makes the decoder ready for a line, and reads the brace that it begins with.
func (p *jsonParser) begin(line []byte) error {
	if len(bytes.TrimRight(line, "\r\n")) == 0 {
		return p.errorf("blank line before a row")
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
		return p.errorf("the line is not a JSON object, as in {\"votes\":[0,1,1]}")
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
	return &ParseError{File: p.name, Line: p.rec.place,
		Rule: fmt.Sprintf("the line is not JSON: %v", err), Err: err}
}

// parse reads a line. It finds every key of the first line that is needed, once.
func (p *jsonParser) parse(line []byte) error {
	if err := p.begin(line); err != nil {
		return err
	}
	if p.labels {
		p.rec.label.kind = nullCell
	}
	next, found := 0, 0
	for p.dec.PeekKind() != '}' {
		raw, err := p.dec.ReadValue()
		if err != nil {
			return p.syntax(line, err)
		}
		// Most lines have the keys in the order of the first.
		i := next
		if i >= len(p.keys) || !bytes.Equal(raw, p.keys[i].raw) {
			name := strings.TrimSpace(textOf(raw))
			var ok bool
			if i, ok = p.byName[name]; !ok {
				if !p.ignores(name) {
					return p.errorf("the key %s is not in the first line: every line has the same keys, and null "+
						"for what is missing", quote(name))
				}
				if err := p.dec.SkipValue(); err != nil {
					return p.syntax(line, err)
				}
				continue
			}
		}
		next = i + 1
		if p.seen[i] == p.rec.place && p.keys[i].to != unusedKey {
			return p.errorf("the key %s appears twice", quote(p.keys[i].name))
		}
		p.seen[i] = p.rec.place
		if p.keys[i].needed() {
			found++
		}
		if p.keys[i].to == listKey {
			err = p.items(i)
		} else if raw, err = p.dec.ReadValue(); err == nil {
			switch to := p.keys[i].to; to {
			case unusedKey:
			case labelCell:
				p.cell(raw, &p.rec.label)
			case idCell:
				p.cell(raw, &p.rec.id)
			case teacherCell:
				p.cell(raw, &p.rec.teacher)
			default:
				p.voteCell(raw, &p.rec.votes[to])
			}
		}
		if _, ours := err.(*ParseError); ours {
			return err
		}
		if err != nil {
			return p.syntax(line, err)
		}
	}
	if found < p.need {
		for i, k := range p.keys {
			if p.seen[i] != p.rec.place && k.needed() {
				return p.errorf("the key %s of the first line is missing: every line has the same keys, and null for "+
					"what is missing", quote(k.name))
			}
		}
	}
	return p.end(line)
}

// items reads the list of all votes or counts.
func (p *jsonParser) items(key int) error {
	name := func() string { return quote(p.keys[key].name) }
	if kind := p.dec.PeekKind(); kind != '[' && kind != 0 {
		return p.errorf("key %s: not a list", name())
	}
	// The decoder checks the list at once, which takes less than item by item.
	list, err := p.dec.ReadValue()
	if err != nil {
		return err
	}
	n, want := 0, len(p.rec.votes)
	for list = trimJSON(list[1 : len(list)-1]); len(list) > 0; n++ {
		var item []byte
		if item, list = firstItem(list); n < want {
			p.voteCell(item, &p.rec.votes[n])
		}
	}
	if rule := p.listFault(n); rule != "" {
		return p.errorf("key %s: %s", name(), rule)
	}
	return nil
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

// voteCell is cell for votes and counts: text is no count.
func (p *jsonParser) voteCell(raw []byte, c *cell) {
	if p.cell(raw, c); c.kind == textCell && p.layout == LayoutCounts {
		c.setText(otherCell, string(raw))
	}
}

// textOf returns the text of a JSON string that is known to be valid.
func textOf(raw []byte) string {
	text, _ := jsontext.AppendUnquote(nil, raw)
	return string(text)
}

// ignores reports whether a key that the first line lacks is not read.
func (d *jsonDecoder) ignores(name string) bool {
	return d.opts.listed() || d.opts.NoTruth && d.opts.isTruth(name)
}

// lateTruth returns the key of the true labels on the first of these lines that has one.
func (d *jsonDecoder) lateTruth(lines []byte) (key jsonKey, ok bool) {
	p := jsonParser{jsonDecoder: d}
	for line := range bytes.Lines(lines) {
		if p.begin(line) != nil { // parse tells it
			return key, false
		}
		for p.dec.PeekKind() != '}' {
			raw, err := p.dec.ReadValue()
			if err != nil {
				return key, false
			}
			if name := strings.TrimSpace(textOf(raw)); d.opts.isTruth(name) {
				return jsonKey{name: name, raw: bytes.Clone(raw), to: unusedKey}, true
			}
			if p.dec.SkipValue() != nil {
				return key, false
			}
		}
	}
	return key, false
}

// learnKeys takes the keys and their roles from the first line. The true label may be unknown there,
// and its key stand on one of the later lines.
func (d *jsonDecoder) learnKeys(line, later []byte) error {
	p := jsonParser{jsonDecoder: d, rec: record{place: 1}}
	if err := p.begin(line); err != nil {
		return err
	}
	var names []string
	lengths := make(map[string]int) // of lists
	var objects []string
	for p.dec.PeekKind() != '}' {
		raw, err := p.dec.ReadValue()
		if err != nil {
			return p.syntax(line, err)
		}
		key := jsonKey{name: strings.TrimSpace(textOf(raw)), raw: bytes.Clone(raw), to: unusedKey}
		if _, ok := d.byName[key.name]; ok {
			return p.errorf("the key %s appears twice", quote(key.name))
		}
		d.byName[key.name] = len(d.keys)
		d.keys, names = append(d.keys, key), append(names, key.name)
		if p.dec.PeekKind() == '{' {
			objects = append(objects, key.name)
		}
		if p.dec.PeekKind() != '[' {
			err = p.dec.SkipValue()
		} else if _, err = p.dec.ReadToken(); err == nil {
			n := 0
			for ; err == nil && p.dec.PeekKind() != ']'; n++ {
				err = p.dec.SkipValue()
			}
			if err == nil {
				lengths[key.name] = n
				_, err = p.dec.ReadToken()
			}
		}
		if err != nil {
			return p.syntax(line, err)
		}
	}
	if err := p.end(line); err != nil {
		return err
	}
	if !d.opts.NoTruth && d.opts.LabelColumn != NoColumn && d.layout != LayoutLong &&
		!slices.ContainsFunc(names, d.opts.isTruth) {
		if key, ok := d.lateTruth(later); ok {
			d.byName[key.name] = len(d.keys)
			d.keys, names = append(d.keys, key), append(names, key.name)
		}
	}
	var cells [][]cell
	set := &columnSet{what: "key", names: names, n: len(names), sample: func(at int) []cell {
		if _, ok := lengths[names[at]]; ok {
			return []cell{{kind: otherCell}, {kind: otherCell}}
		}
		if cells == nil {
			cells = d.sampleKeys(slices.Concat(line, later))
		}
		return cells[at]
	}}
	if wrong := d.assignKeys(set, lengths); wrong != nil {
		if len(objects) == 1 && !d.opts.listed() {
			wrong = nestedFault(slices.Index(names, objects[0]), objects[0])
		}
		if wrong.at >= 0 {
			wrong.rule = check.Named("key %s: %s", quote(names[wrong.at]), wrong.rule)
		}
		return p.faultAt(1, -1, "", wrong)
	}
	return nil
}

// nestedFault is the fault of votes in an object of their own.
func nestedFault(at int, name string) *fault {
	path := "." + name
	if strings.Trim(strings.ToLower(name), "abcdefghijklmnopqrstuvwxyz_") != "" {
		path = ".[" + strconv.Quote(name) + "]"
	}
	return faultf(at, "it holds an object: write its keys beside the others, one for each teacher (jq -c '. + %s | "+
		"del(%[1]s)' does), or a list of all votes", path)
}

// sampleKeys returns the values of all keys on the first of these lines.
func (d *jsonDecoder) sampleKeys(lines []byte) [][]cell {
	p := jsonParser{jsonDecoder: d}
	cells, rows := make([][]cell, len(d.keys)), 0
	for line := range bytes.Lines(lines) {
		if rows++; rows > sampled || p.begin(line) != nil {
			break
		}
		for p.dec.PeekKind() != '}' {
			raw, err := p.dec.ReadValue()
			if err != nil {
				return cells // parse tells it
			}
			i, known := d.byName[strings.TrimSpace(textOf(raw))]
			if raw, err = p.dec.ReadValue(); err != nil {
				return cells
			}
			if known {
				var c cell
				p.cell(bytes.Clone(raw), &c)
				cells[i] = append(cells[i], c)
			}
		}
	}
	return cells
}

// assignKeys gives every key its role.
func (d *jsonDecoder) assignKeys(set *columnSet, lengths map[string]int) *fault {
	list, cols, wrong := d.assignLists(set, lists{
		func(at int) bool { _, ok := lengths[set.names[at]]; return ok },
		func(at int) int { return lengths[set.names[at]] },
	})
	if d.list = list; wrong != nil {
		return wrong
	}
	for i, at := range cols.votes {
		d.keys[at].to = i
	}
	if cols.id >= 0 {
		d.keys[cols.id].to = idCell
		d.idColumn, d.idName = -1, "" // a key has no number
	}
	if cols.label >= 0 {
		d.keys[cols.label].to = labelCell
	}
	if d.layout == LayoutLong {
		d.keys[cols.teacher].to = teacherCell
	}
	if d.list >= 0 {
		d.keys[d.list].to = listKey
	}
	for _, k := range d.keys {
		if k.needed() {
			d.need++
		}
	}
	return nil
}
