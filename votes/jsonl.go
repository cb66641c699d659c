package votes

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"
)

// jsonShape is what all lines of a JSON Lines file have in common; the first line
// fixes it.
//
//	{"query":"q17","votes":[0,1,1],"label":1}          a list
//	{"query":"q17","t1":0,"t2":1,"t3":1,"label":1}     a key for each teacher
//	{"query":"q17","counts":[1,2]}                     counts as a list
//	{"query":"q17","zeros":1,"ones":2}                 counts, a key for each class
//
// A line is one object. The keys may stand in any order, but every line has the
// same ones, each once.
type jsonShape struct {
	*fileInfo
	roles    map[string]jsonRole
	roleInfo Roles
	names    []string // of the keys, in the order of the first line
	inOrder  []jsonRole
	k        int
	kLine    int
	ids      bool
	label    bool
	ends     lineEnds
}

type jsonRole struct {
	kind  jsonKind
	index int // of the teacher or the class
	key   int // in names
}

type jsonKind int

const (
	jsonID jsonKind = iota
	jsonLabel
	jsonVote   // of one teacher
	jsonVotes  // of all, a list
	jsonCount  // of one class
	jsonCounts // of all, a list
	jsonUnused
)

type jsonDecoder struct {
	shape *jsonShape
	lines *lineChunks
	first *chunk
	bufs  *bufferPool
}

func openJSONL(info *fileInfo, r io.Reader, pool *batchPool) (decoder, error) {
	d := &jsonDecoder{
		shape: &jsonShape{fileInfo: info, roles: make(map[string]jsonRole)},
		lines: newLineChunks(r, info.chunkBytes(1)),
		bufs:  newBufferPool(info.opts.Workers + 2),
	}
	s := d.shape
	ch, err := d.lines.next(nil, 1)
	if err == io.EOF {
		return nil, info.errorf("the file is empty")
	}
	if err != nil {
		return nil, info.sourceError(err, 0)
	}
	if err := s.sniff(&ch); err != nil {
		return nil, err
	}
	line, _, found := bytes.Cut(ch.data, newline)
	if found {
		s.ends = endsLF
		if bytes.HasSuffix(line, []byte{'\r'}) {
			s.ends = endsCRLF
		}
	}
	line = bytes.TrimSuffix(line, []byte{'\r'})
	if len(line) == 0 {
		// Blank lines up to the end are an empty file.
		for len(bytes.Trim(ch.data, "\r\n")) == 0 {
			if ch, err = d.lines.next(ch.data, 1); err == io.EOF {
				return nil, info.errorf("the file is empty")
			} else if err != nil {
				return nil, info.sourceError(err, 0)
			}
		}
		return nil, &ParseError{File: s.name, Line: 1, Rule: "blank line before a row"}
	}
	if err := s.learn(line); err != nil {
		return nil, err
	}
	d.first = &ch
	d.lines.size = info.chunkBytes(s.k)
	return d, nil
}

// sniff recognises what is not UTF-8 text and skips a byte order mark.
func (s *jsonShape) sniff(ch *chunk) error {
	g := guard{name: s.name, buf: ch.data, fill: len(ch.data)}
	if err := g.sniff(); err != nil {
		return err
	}
	ch.data = ch.data[:g.fill]
	return nil
}

func (d *jsonDecoder) about() about {
	return about{k: d.shape.k, ids: d.shape.ids, labels: d.shape.label, roles: d.shape.roleInfo}
}

func (d *jsonDecoder) close() error { return nil }

func (d *jsonDecoder) next() (task, error) {
	var ch chunk
	if d.first != nil {
		ch, d.first = *d.first, nil
	} else {
		var err error
		if ch, err = d.lines.next(d.bufs.get(), 1); err == io.EOF {
			return nil, err
		} else if err != nil {
			return nil, d.shape.sourceError(err, d.lines.end)
		}
	}
	return func(b *Batch) error {
		defer d.bufs.put(ch.data)
		b.reset(d.shape.k, d.shape.classes.len())
		b.file = d.shape.fileInfo
		return d.shape.parse(ch, b)
	}, nil
}

// parse reads the lines of a chunk.
func (s *jsonShape) parse(ch chunk, b *Batch) error {
	p := jsonParser{jsonShape: s, seen: make([]int, len(s.names)), slow: s.opts.slow}
	lastEnd := ch.end
	for rest := ch.data; len(rest) > 0; ch.line++ {
		p.line = ch.line
		line, after, found := bytes.Cut(rest, newline)
		rest = after
		if found {
			now := endsLF
			if bytes.HasSuffix(line, []byte{'\r'}) {
				now = endsCRLF
			}
			if now != s.ends {
				return p.errorf("%s", s.ends.rule(now))
			}
		}
		line = bytes.TrimSuffix(line, []byte{'\r'})
		if len(line) == 0 {
			continue
		}
		if ch.line > lastEnd+1 {
			return &ParseError{File: s.name, Line: lastEnd + 1, Rule: "blank line before a row"}
		}
		lastEnd = ch.line
		n := b.n
		counts, missing, votes := b.Counts, b.Missing, b.Votes
		ids, labels, lines := b.IDs, b.Labels, b.lines
		if p.fastRow(line, b) {
			continue
		}
		undo := func() {
			b.n, b.Counts, b.Missing, b.Votes = n, counts, missing, votes
			b.IDs, b.Labels, b.lines = ids, labels, lines
		}
		undo()
		clear(p.seen) // of what fastRow saw
		err := p.check(line)
		if err == nil {
			err = p.row(line, b)
		}
		if err != nil {
			undo()
			return err
		}
	}
	return nil
}

// jsonParser reads one line after the other.
type jsonParser struct {
	*jsonShape
	line int
	seen []int // per key, the line that had it last
	slow bool  // no short cut, for tests
}

func (p *jsonParser) errorf(format string, args ...any) error {
	return &ParseError{File: p.name, Line: p.line, Rule: fmt.Sprintf(format, args...)}
}

// check makes sure that the line is one JSON object in valid UTF-8, so that the
// rest of the code need only find its parts.
func (p *jsonParser) check(line []byte) error {
	switch {
	case len(line) > MaxRecordBytes:
		return p.errorf("record longer than %d bytes", MaxRecordBytes)
	case printable(line): // as most lines are
	case bytes.IndexByte(line, 0) >= 0:
		return p.errorf("NUL byte: this is not a text file, or it is in UTF-16")
	case bytes.IndexByte(line, '\r') >= 0:
		return p.errorf("carriage return without line feed: convert the line ends to LF or CRLF")
	case !utf8.Valid(line):
		return p.errorf("the line is not valid UTF-8")
	case bytes.Contains(line, []byte("\ufeff")):
		return p.errorf("byte order mark behind the beginning: were files joined?")
	}
	if !json.Valid(line) {
		var raw json.RawMessage
		err := json.Unmarshal(line, &raw)
		return &ParseError{File: p.name, Line: p.line, Rule: fmt.Sprintf("the line is not JSON: %v", err), Err: err}
	}
	if at := skipSpace(line, 0); line[at] != '{' { // valid, so not empty
		return p.errorf("the line is not a JSON object, as in {\"votes\":[0,1,1]}")
	}
	return nil
}

// printable reports whether a line is ASCII without control characters.
func printable(line []byte) bool {
	for _, c := range line {
		if c < 0x20 || c > 0x7e {
			return false
		}
	}
	return true
}

// members calls f with every key and value of an object that is valid JSON.
func (p *jsonParser) members(line []byte, f func(key string, value []byte) error) error {
	at := skipSpace(line, skipSpace(line, 0)+1)
	for line[at] != '}' {
		end := valueEnd(line, at)
		key, err := stringText(line[at:end])
		if err != nil {
			return p.errorf("key %s: %v", quote(string(line[at:end])), err)
		}
		at = skipSpace(line, end)
		at = skipSpace(line, at+1) // the colon
		end = valueEnd(line, at)
		if err := f(key, line[at:end]); err != nil {
			return err
		}
		at = skipSpace(line, end)
		if line[at] == ',' {
			at = skipSpace(line, at+1)
		}
	}
	return nil
}

// items calls f with every item of a list that is valid JSON.
func items(list []byte, f func(i int, value []byte) error) error {
	at := skipSpace(list, 1)
	for i := 0; list[at] != ']'; i++ {
		end := at + 1 // of a digit, as most votes are
		if c := list[end]; list[at] < '0' || list[at] > '9' || c != ',' && c != ']' {
			end = valueEnd(list, at)
		}
		if err := f(i, list[at:end]); err != nil {
			return err
		}
		at = skipSpace(list, end)
		if list[at] == ',' {
			at = skipSpace(list, at+1)
		}
	}
	return nil
}

func skipSpace(s []byte, at int) int {
	for at < len(s) && s[at] <= ' ' { // in valid JSON, one of the four kinds of space
		at++
	}
	return at
}

// valueEnd returns where the value that begins at at ends, in valid JSON.
func valueEnd(s []byte, at int) int {
	depth := 0
	for at < len(s) {
		switch s[at] {
		case '"':
			for at++; s[at] != '"'; at++ {
				if s[at] == '\\' {
					at++
				}
			}
			at++
		case '{', '[':
			depth++
			at++
		case '}', ']':
			if depth--; depth < 0 {
				return at
			}
			at++
		case ',', ':', ' ', '\t', '\r', '\n':
			if depth == 0 {
				return at
			}
			at++
			continue
		default: // a number or a word
			for at < len(s) && s[at] != ',' && s[at] != '}' && s[at] != ']' && s[at] != ' ' && s[at] != '\t' && s[at] != '\r' && s[at] != '\n' {
				at++
			}
		}
		if depth == 0 {
			return at
		}
	}
	return at
}

// stringText returns the text of a JSON string.
func stringText(raw []byte) (string, error) {
	if bytes.IndexByte(raw, '\\') < 0 {
		return string(raw[1 : len(raw)-1]), nil
	}
	var s string
	err := json.Unmarshal(raw, &s)
	return s, err
}

// learn fixes the shape by the first line.
func (s *jsonShape) learn(line []byte) error {
	p := jsonParser{jsonShape: s, line: 1}
	if err := p.check(line); err != nil {
		return err
	}
	type member struct {
		name string
		list bool
	}
	var keys []member
	lists := make(map[string]int) // their lengths
	err := p.members(line, func(key string, value []byte) error {
		if len(keys) == MaxColumns {
			return p.errorf("more than %d keys", MaxColumns)
		}
		keys = append(keys, member{key, value[0] == '['})
		if value[0] == '[' {
			n := 0
			items(value, func(int, []byte) error { n++; return nil })
			lists[key] = n
		}
		return nil
	})
	if err != nil {
		return err
	}
	names := make([]string, len(keys))
	for i, k := range keys {
		names[i] = k.name
	}
	seen := make(map[string]bool, len(names))
	for _, name := range names {
		if seen[name] {
			return p.errorf("the key %s stands there twice", quote(name))
		}
		seen[name] = true
	}
	set := &columnSet{what: "key", names: names, n: len(names)}
	list, fault := p.findList(set, lists)
	var cols columns
	switch {
	case fault != nil:
	case list >= 0:
		cols, fault = p.assignList(set, list)
	default:
		for _, k := range keys {
			if k.list {
				return p.errorf("the key %s holds a list; which key holds the list of %s (--votes-column)?", quote(k.name), s.listName())
			}
		}
		cols, fault = p.assign(set)
	}
	if fault != nil {
		if fault.at >= 0 {
			return p.errorf("key %s: %s", quote(names[fault.at]), fault.rule)
		}
		return p.errorf("%s", fault.rule)
	}
	s.names, s.ids, s.label = names, cols.id >= 0, cols.label >= 0
	s.roleInfo = set.roles(s.fileInfo, cols)
	s.inOrder = make([]jsonRole, len(names))
	for i := range names {
		r := jsonRole{kind: jsonUnused, key: i}
		if i == cols.id {
			r.kind, s.idName = jsonID, names[i]
		} else if i == cols.label {
			r.kind = jsonLabel
		}
		s.inOrder[i] = r
	}
	one, all, n := jsonVote, jsonVotes, len(cols.votes)
	if s.layout == LayoutCounts {
		one, all = jsonCount, jsonCounts
	}
	if list >= 0 {
		s.inOrder[list].kind = all
		n = lists[names[list]]
		s.roleInfo.In, s.roleInfo.Votes, s.roleInfo.Width = "list", []string{names[list]}, n
	}
	for i, at := range cols.votes {
		s.inOrder[at].kind, s.inOrder[at].index = one, i
	}
	for i, name := range names {
		s.roles[name] = s.inOrder[i]
	}
	source := fmt.Sprintf("%d votes", n)
	if s.layout == LayoutCounts {
		k, err := p.firstK(line)
		if err != nil || k == 0 { // row says that there are no votes
			return err
		}
		s.kLine, n, source = 1, k, fmt.Sprintf("%s sum to %d", countsName(s.classes), k)
	}
	if n == 0 {
		return p.errorf("there is no vote: want a list \"votes\", or a key for each teacher")
	}
	if rule := p.kRule(n, source); rule != "" {
		return p.errorf("%s", rule)
	}
	s.k = n
	return nil
}

// listName is the usual key of a list.
func (s *jsonShape) listName() string {
	if s.layout == LayoutCounts {
		return "counts"
	}
	return "votes"
}

// findList returns the key that holds the list of all votes or counts, or -1.
func (p *jsonParser) findList(set *columnSet, lists map[string]int) (int, *roleFault) {
	if len(p.opts.VoteColumns) > 0 {
		return -1, nil
	}
	spec, name := p.opts.VotesColumn, p.listName()
	if spec == NoColumn {
		return -1, nil
	}
	if _, ok := lists[name]; !ok && spec == "" {
		return -1, nil
	}
	probe := &columnSet{what: "key", names: set.names, n: set.n, used: make(map[int]string)}
	at, fault := probe.find("list of "+name, spec, name)
	if fault == nil && at >= 0 {
		if _, ok := lists[set.names[at]]; !ok {
			return -1, faultf(at, "not a list")
		}
	}
	return at, fault
}

// assignList is assign where one key holds the list of all votes or counts.
func (p *jsonParser) assignList(set *columnSet, list int) (c columns, fault *roleFault) {
	set.used = map[int]string{list: "the list of " + p.listName()}
	if c.id, fault = set.find("id", p.opts.IDColumn, "query", "id"); fault != nil {
		return c, fault
	}
	if c.label, fault = set.find("label", p.opts.LabelColumn, "label", "truth"); fault != nil {
		return c, fault
	}
	if free := set.free(); len(free) > 0 {
		return c, faultf(free[0], "it is neither id, label nor %s; name the true labels with --label-column and the ids with --id-column", quote(set.names[list]))
	}
	return c, nil
}

// firstK sums the counts of the first line.
func (p *jsonParser) firstK(line []byte) (int, error) {
	k := 0
	err := p.members(line, func(key string, value []byte) error {
		add := func(what string, value []byte) error {
			n, err := p.count(what, value)
			k += n
			return err
		}
		switch p.roles[key].kind {
		case jsonCount:
			return add("key "+quote(key), value)
		case jsonCounts:
			return items(value, func(i int, value []byte) error { return add(fmt.Sprintf("key %s, item %d", quote(key), i+1), value) })
		}
		return nil
	})
	return k, err
}

// row appends a line to b.
func (p *jsonParser) row(line []byte, b *Batch) error {
	b.addLine(p.line)
	counts := b.addRow()
	votes := len(b.Votes)
	if p.opts.KeepVotes {
		b.Votes = growZero(b.Votes, p.k)
	}
	n := 0
	err := p.members(line, func(key string, value []byte) error {
		role, ok := p.roles[key]
		if !ok {
			return p.errorf("the key %s is not in the first line", quote(key))
		}
		if p.seen[role.key] == p.line {
			return p.errorf("the key %s stands there twice", quote(key))
		}
		p.seen[role.key] = p.line
		n++
		vote := func(teacher int, item bool, value []byte) error {
			c, err := p.vote(value)
			if err != nil {
				if item {
					return p.errorf("key %s, item %d: %v", quote(key), teacher+1, err)
				}
				return p.errorf("key %s: %v", quote(key), err)
			}
			if c < 0 {
				b.addMissing(b.n - 1)
			} else {
				counts[c]++
			}
			if p.opts.KeepVotes {
				b.Votes[votes+teacher] = c
			}
			return nil
		}
		switch role.kind {
		case jsonID:
			id, err := p.id(value)
			if err != nil {
				return p.errorf("key %s: %v", quote(key), err)
			}
			b.IDs = append(b.IDs, id)
		case jsonLabel:
			c := p.class(value)
			if c < 0 {
				return p.errorf("key %s: label %s %s", quote(key), quote(jsonText(value)), p.classes.rule())
			}
			b.Labels = append(b.Labels, c)
		case jsonVote:
			return vote(role.index, false, value)
		case jsonCount:
			n, err := p.count("key "+quote(key), value)
			counts[role.index] = n
			return err
		case jsonVotes, jsonCounts:
			if value[0] != '[' {
				return p.errorf("key %s: not a list", quote(key))
			}
			want, length := p.k, 0
			if role.kind == jsonCounts {
				want = len(counts)
			}
			err := items(value, func(i int, value []byte) error {
				if length++; length > want {
					return nil // too long, see below
				}
				if role.kind == jsonVotes {
					return vote(i, true, value)
				}
				n, err := p.count(fmt.Sprintf("key %s, item %d", quote(key), i+1), value)
				counts[i] = n
				return err
			})
			if err == nil && length != want {
				if role.kind == jsonCounts {
					return p.errorf("key %s: %d counts, want %d, one for each class", quote(key), length, want)
				}
				return p.errorf("key %s: %d votes, but the first line has %d", quote(key), length, want)
			}
			return err
		}
		return nil
	})
	if err != nil {
		return err
	}
	if n != len(p.names) {
		for i, name := range p.names {
			if p.seen[i] != p.line {
				return p.errorf("the key %s of the first line is missing", quote(name))
			}
		}
	}
	if p.layout == LayoutCounts {
		k := 0
		for _, c := range counts {
			k += c
		}
		if k == 0 {
			return p.errorf("%s are all 0: there are no votes", countsName(p.classes))
		}
		if k != p.k {
			return p.errorf("%s sum to K = %d, but to K = %d in line %d", countsName(p.classes), k, p.k, p.kLine)
		}
	}
	return nil
}

// vote returns the class of a vote, or -1 for one that may be missing.
func (p *jsonParser) vote(value []byte) (int, error) {
	c := p.class(value)
	if c >= 0 {
		return c, nil
	}
	text := jsonText(value)
	if p.opts.Missing == MissingCoin && isMissing(text) {
		return c, nil
	}
	return 0, errors.New(voteRule(text, p.classes))
}

// class returns the class of a scalar, or -1.
func (p *jsonParser) class(value []byte) int {
	switch value[0] {
	case '"':
		if bytes.IndexByte(value, '\\') < 0 {
			return p.classes.ofBytes(value[1 : len(value)-1])
		}
		return p.classes.of(jsonText(value))
	case 't':
		return p.classes.ofInt(1)
	case 'f':
		return p.classes.ofInt(0)
	case 'n', '[', '{':
		return -1
	}
	if len(value) == 1 {
		return int(p.classes.byByte[value[0]])
	}
	if n, ok := decimalInt(string(value)); ok {
		return p.classes.ofInt(n)
	}
	return -1
}

// jsonText is the text of a string, and of anything else as it stands.
func jsonText(value []byte) string {
	if value[0] == '"' {
		if text, err := stringText(value); err == nil {
			return text
		}
	}
	return string(value)
}

// count reads a whole number ≥ 0.
func (p *jsonParser) count(what string, value []byte) (int, error) {
	n, ok := canonicalNumber(string(value))
	if !ok {
		if value[0] == 'n' {
			return 0, p.errorf("%s: the count is missing", what)
		}
		return 0, p.errorf("%s: count %s is not a whole number ≥ 0 in digits", what, quote(string(value)))
	}
	if n > MaxTeachers {
		return 0, p.errorf("%s: count %s, want at most %d", what, quote(string(value)), MaxTeachers)
	}
	return int(n), nil
}

// id reads a string or a whole number.
func (p *jsonParser) id(value []byte) (string, error) {
	var id string
	if value[0] == '"' {
		var err error
		if id, err = stringText(value); err != nil {
			return "", err
		}
	} else if _, ok := canonicalInt(string(value)); ok {
		id = string(value)
	} else {
		return "", fmt.Errorf("query id %s is neither a string nor a whole number", quote(string(value)))
	}
	if rule := idRule(id); rule != "" {
		return "", errors.New(rule)
	}
	return id, checkID(id)
}
