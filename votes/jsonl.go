package votes

import (
	"bytes"
	"io"
	"slices"
	"strconv"
	"strings"

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
	byRaw  map[string]int // by the names as the first line writes them
	cols   columns
	need   int // how many keys every line has
}

type jsonKey struct {
	name string
	to   int // the cell of a record that it holds
}

// needed reports whether every line has the key.
func (k jsonKey) needed() bool { return k.to != noCell && k.to != labelCell }

// openJSONL learns the keys from the first line.
func openJSONL(info *fileInfo, r io.Reader) (decoder, error) {
	d := &jsonDecoder{fileInfo: info, lines: newLineChunks(info, r, false),
		byName: make(map[string]int), byRaw: make(map[string]int), cols: noColumns}
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
	p := jsonParser{jsonDecoder: d, seen: make([]int, len(d.keys)),
		rec: record{place: ch.Line, votes: make([]cell, d.roles.Width)}}
	for line := range bytes.Lines(ch.Data) {
		if rule := d.ends.rule(endOf(line)); rule != "" {
			return d.errorAt(p.rec.place, -1, "", rule)
		}
		if err := p.parse(line); err != nil {
			return err
		}
		if wrong := d.add(b, &p.rec); wrong != nil {
			if at := d.cols.of(wrong.at); at >= 0 && at == d.cols.list {
				wrong.rule = check.Named("key %s, item %d: %s", quote(d.keys[at].name), wrong.at+1, wrong.rule)
			} else if at >= 0 {
				wrong.rule = check.Named("key %s: %s", quote(d.keys[at].name), wrong.rule)
			}
			return d.faultAt(p.rec.place, -1, "", wrong)
		}
		p.rec.place++
	}
	return nil
}

// learnKeys takes the keys and their roles from the first line. The true label may be unknown there,
// and its key stand on one of the later lines.
func (d *jsonDecoder) learnKeys(line, later []byte) error {
	p := jsonParser{jsonDecoder: d, rec: record{place: 1}}
	lengths := make(map[int]int) // of lists, by their keys
	var names, objects []string
	err := p.members(line, func(raw []byte) error {
		name := nameOf(raw)
		if _, ok := d.byName[name]; ok {
			return p.errorf("the key %s appears twice", quote(name))
		}
		names = append(names, d.addKey(raw, name))
		switch p.dec.PeekKind() {
		case '{':
			objects = append(objects, name)
		case '[':
			list, err := p.dec.ReadValue()
			n := 0
			for range itemsOf(list) {
				n++
			}
			lengths[len(names)-1] = n
			return err
		}
		return p.dec.SkipValue()
	})
	if err == nil {
		err = p.end(line)
	}
	if err != nil {
		return err
	}
	if !d.opts.NoTruth && d.opts.LabelColumn != NoColumn && d.layout != LayoutLong &&
		!slices.ContainsFunc(names, d.opts.isTruth) {
		if raw := d.lateTruth(later); raw != nil {
			names = append(names, d.addKey(raw, nameOf(raw)))
		}
	}
	var cells [][]cell
	set := &columnSet{what: "key", names: names, n: len(names),
		isList: func(at int) bool { _, ok := lengths[at]; return ok },
		items:  func(at int) int { return lengths[at] }}
	set.sample = func(at int) []cell {
		if set.isList(at) {
			return []cell{{kind: otherCell}, {kind: otherCell}}
		}
		if cells == nil {
			cells = d.sampleKeys(slices.Concat(line, later))
		}
		return cells[at]
	}
	wrong := d.assignKeys(set)
	if wrong == nil {
		return nil
	}
	if len(objects) == 1 && !d.opts.listed() {
		wrong = nestedFault(slices.Index(names, objects[0]), objects[0])
	}
	if wrong.at >= 0 {
		wrong.rule = check.Named("key %s: %s", quote(names[wrong.at]), wrong.rule)
	}
	return p.faultAt(1, -1, "", wrong)
}

// addKey adds a key of the first line, which has no role yet.
func (d *jsonDecoder) addKey(raw []byte, name string) string {
	d.byName[name], d.byRaw[string(raw)] = len(d.keys), len(d.keys)
	d.keys = append(d.keys, jsonKey{name, noCell})
	return name
}

// ignores reports whether a key that the first line lacks is not read.
func (d *jsonDecoder) ignores(name string) bool {
	return d.opts.listed() || d.opts.NoTruth && d.opts.isTruth(name)
}

// lateTruth returns the key of the true labels on the first of these lines that has one.
func (d *jsonDecoder) lateTruth(lines []byte) (key []byte) {
	p := jsonParser{jsonDecoder: d}
	for line := range bytes.Lines(lines) {
		err := p.members(line, func(raw []byte) error {
			if name := nameOf(raw); key == nil && d.opts.isTruth(name) {
				key = bytes.Clone(raw)
			}
			return p.dec.SkipValue()
		})
		if key != nil || err != nil { // parse tells the error
			break
		}
	}
	return key
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
		if rows++; rows > sampled {
			break
		}
		if p.members(line, func(raw []byte) error {
			i, known := d.byName[nameOf(raw)]
			raw, err := p.dec.ReadValue()
			if known && err == nil {
				var c cell
				p.cell(bytes.Clone(raw), &c)
				cells[i] = append(cells[i], c)
			}
			return err
		}) != nil {
			break // parse tells it
		}
	}
	return cells
}

// assignKeys gives every key its role.
func (d *jsonDecoder) assignKeys(set *columnSet) (wrong *fault) {
	if d.cols, wrong = d.assignLists(set); wrong != nil {
		return wrong
	}
	for _, r := range d.cols.read() {
		if d.keys[r.at].to = r.cell; d.keys[r.at].needed() {
			d.need++
		}
	}
	if d.ids {
		d.idColumn, d.idName = -1, "" // a key has no number
	}
	return nil
}
