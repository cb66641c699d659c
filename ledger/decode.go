package ledger

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"
)

// decodeEntry accepts what encode produces for a valid entry, byte for byte, and fills in
// Hash. Of the event it checks that it is JSON without space: that its keys are sorted
// and unique is for [Ledger.Charge] to see to, and nothing rests on it here.
func decodeEntry(line []byte) (Entry, error) {
	var l located
	err := (&decoder{all: true}).decode(line, &l)
	return l.Entry, err
}

// decoder decodes entries one after the other. It is a parser of its own because [Open] decodes
// every entry, and encoding/json takes twenty times as long.
type decoder struct {
	// all is false where Time and Event, whose bytes the hash covers, are left out, and the Draw may
	// lie in the located.
	all  bool
	last lastNames
}

// lastNames are the latest texts of fields in which entries are mostly alike.
type lastNames struct{ paidBy, client, ensemble, teachers string }

// decode fills in l, whose entry is zero, but for where its line begins.
func (d *decoder) decode(line []byte, l *located) error {
	e := &l.Entry
	// The end has a fixed length, so it also marks the end of the event.
	const end = len(`,"previous":"`) + 2*len(e.Previous) + len(`"}`)
	if len(line) < end {
		return errors.New("entry is cut short")
	}
	p := parser{b: line[len(line)-end:], all: d.all}
	p.expect(`,"previous":`)
	e.Previous = p.digest()
	p.expect("}")
	p.b = line[:len(line)-end]
	p.expect(`{"seq":`)
	e.Seq = p.number()
	p.expect(`,"commit":`)
	e.Commit = p.number()
	p.expect(`,"kind":`)
	isCharge := p.skip(`"charge"`)
	if !isCharge {
		p.expect(`"result"`)
	}
	p.expect(`,"id":`)
	e.ID = p.text()
	p.expect(`,"time":`)
	e.Time = p.time()
	if isCharge {
		e.Kind = KindCharge
		p.charge(l, &d.last)
	} else {
		e.Kind = KindResult
		p.expect(`,"sha256":`)
		e.Result = p.digest()
	}
	switch {
	case p.err != nil:
		return p.err
	case len(p.b) > 0:
		return fmt.Errorf("%.40q is not of an entry", p.b)
	case e.Seq == 0 || e.Commit == 0 || e.Commit > e.Seq:
		return fmt.Errorf("seq %d with commit %d: each starts at 1, and every commit has an entry",
			e.Seq, e.Commit)
	}
	// The same rules as for a request, so that a file cannot hold what could not have been
	// asked for.
	if isCharge {
		r := Request{
			ID: e.ID, Count: e.Count, Unit: e.Unit, PaidBy: e.PaidBy, Client: e.Client, Relation: e.Relation,
			Ensemble: e.Ensemble, EnsembleDigest: e.EnsembleDigest, Draw: e.Draw, Quota: e.Quota,
		}
		if err := r.checkFields(); err != nil {
			return err
		}
	} else if err := checkID("request id", e.ID); err != nil {
		return err
	}
	e.Hash = entryHash(e.Previous, line)
	return nil
}

// parser reads a line from left to right. The first error stays.
type parser struct {
	b   []byte
	all bool
	err error
}

func (p *parser) fail(format string, args ...any) {
	if p.err == nil {
		p.err = fmt.Errorf(format, args...)
	}
	p.b = nil
}

// skip takes text if it comes next.
func (p *parser) skip(text string) bool {
	ok := len(p.b) >= len(text) && string(p.b[:len(text)]) == text
	if ok {
		p.b = p.b[len(text):]
	}
	return ok
}

func (p *parser) expect(text string) {
	if !p.skip(text) {
		p.fail("%.40q is found where %s must be", p.b, text)
	}
}

// charge takes what a charge has after its time.
func (p *parser) charge(l *located, last *lastNames) {
	e := &l.Entry
	p.expect(`,"neighbours":`)
	switch {
	case p.skip(`"replace"`):
		e.Relation = ReplaceOne
	case p.skip(`"add-remove"`):
		e.Relation = AddOrRemoveOne
	default:
		p.fail("neighbours %.40q", p.b)
	}
	p.expect(`,"count":`)
	e.Count = p.number()
	p.expect(`,"unit":{"epsilon":`)
	e.Unit.epsilon = p.amount()
	p.expect(`,"delta":`)
	e.Unit.delta = p.amount()
	p.expect("}")
	if p.skip(`,"paid_by":`) {
		e.PaidBy = p.nameLike(&last.paidBy)
	}
	if p.skip(`,"client":`) {
		e.Client = p.nameLike(&last.client)
	}
	if p.skip(`,"ensemble":`) {
		e.Ensemble = p.nameLike(&last.ensemble)
	}
	if p.skip(`,"ensemble_digest":`) {
		e.EnsembleDigest = p.nameLike(&last.teachers)
	}
	if p.skip(`,"draw":`) {
		e.Draw = &l.room
		if p.all {
			e.Draw = &Draw{}
		}
		p.draw(e.Draw, e.ID)
	}
	if p.skip(`,"quota":`) {
		e.Quota = p.quota()
	}
	p.expect(`,"event":`)
	event := p.b
	p.b = nil
	if !p.all || p.err != nil {
		return
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, event); err != nil || !bytes.Equal(compact.Bytes(), event) ||
		len(event) > MaxEvent {
		p.fail("event %.40q is not JSON without space of at most %d bytes", event, MaxEvent)
	}
	e.Event = bytes.Clone(event)
}

// draw takes a draw, whose name is often the id.
func (p *parser) draw(d *Draw, id string) {
	p.expect(`{"name":`)
	d.Name = p.nameLike(&id)
	p.expect(`,"votes":`)
	d.Votes = p.digest()
	d.Query = p.skip(`,"query":true`)
	d.Covers = p.skip(`,"covers":true`)
	p.expect("}")
}

func (p *parser) quota() *Quota {
	q := &Quota{}
	p.expect(`{"table":`)
	q.Table = p.digest()
	if p.skip(`,"answers":`) {
		if q.Answers = p.number(); q.Answers == 0 {
			p.fail("a quota of 0 answers")
		}
	}
	p.expect("}")
	return q
}

// number takes a decimal integer without leading zeros.
func (p *parser) number() uint64 {
	n := 0
	for n < len(p.b) && '0' <= p.b[n] && p.b[n] <= '9' {
		n++
	}
	v, err := uint64(0), error(nil)
	if 0 < n && n < 19 { // below 10¹⁸
		for _, c := range p.b[:n] {
			v = 10*v + uint64(c-'0')
		}
	} else {
		v, err = strconv.ParseUint(string(p.b[:n]), 10, 64)
	}
	if err != nil || p.b[0] == '0' && n > 1 {
		p.fail("%.40q does not begin with a number", p.b)
		return 0
	}
	p.b = p.b[n:]
	return v
}

// quoted takes a string with its quotes.
func (p *parser) quoted() []byte {
	if len(p.b) > 0 && p.b[0] == '"' {
		// No escape before the next quotation mark: so it is for nearly all texts.
		if n := bytes.IndexByte(p.b[1:], '"'); n >= 0 && bytes.IndexByte(p.b[1:n+1], '\\') < 0 {
			s := p.b[:n+2]
			p.b = p.b[n+2:]
			return s
		}
	}
	for i := 1; i < len(p.b) && p.b[0] == '"'; i++ {
		switch p.b[i] {
		case '\\':
			i++
		case '"':
			s := p.b[:i+1]
			p.b = p.b[i+1:]
			return s
		}
	}
	p.fail("%.40q does not begin with a string", p.b)
	return []byte(`""`)
}

// text takes a string in the one form that marshal gives it.
func (p *parser) text() string { return p.textLike("") }

// textLike is text, and returns like where it is the same.
func (p *parser) textLike(like string) string {
	quoted := p.quoted()
	inner := quoted[1 : len(quoted)-1]
	if string(inner) != like {
		like = string(inner)
	}
	s := like
	if plain(s) {
		return s
	}
	if err := json.Unmarshal(quoted, &s); err != nil {
		p.fail("%w", err)
	}
	if again, err := marshal(s); err != nil || !bytes.Equal(again, quoted) {
		p.fail("string %.40q is not in canonical form", quoted)
	}
	return s
}

// plain reports whether JSON needs no escape in s.
func plain(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' || s[i] == '\\' {
			return false
		}
	}
	return true
}

// nameLike is text of a field that is left out where it is empty.
// It is like *like where it is the same, which it then becomes.
func (p *parser) nameLike(like *string) string {
	s := p.textLike(*like)
	if s == "" {
		p.fail("a name is empty")
	}
	*like = s
	return s
}

func (p *parser) amount() amount {
	quoted := p.quoted()
	a, err := parseAmount(quoted[1 : len(quoted)-1])
	if err != nil {
		p.fail("%w", err)
	}
	return a
}

func (p *parser) digest() Digest {
	quoted := p.quoted()
	d, err := parseDigest(quoted[1 : len(quoted)-1])
	if err != nil {
		p.fail("%w", err)
	}
	return d
}

func (p *parser) time() time.Time {
	quoted := p.quoted()
	if !p.all {
		return time.Time{}
	}
	t, err := parseTime(string(quoted[1 : len(quoted)-1]))
	if err != nil {
		p.fail("%w", err)
	}
	if string(t.AppendFormat(nil, `"`+time.RFC3339Nano+`"`)) != string(quoted) {
		p.fail("time %.40s is not in canonical form", quoted)
	}
	return t
}

func parseTime(s string) (time.Time, error) {
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		return t, fmt.Errorf("time: %w", err)
	}
	return t.UTC(), nil
}

// parseDigest reads what [Digest.String] writes.
func parseDigest(s []byte) (d Digest, err error) {
	bad := byte(0)
	if len(s) == 2*len(d) {
		for i := range d {
			high, low := nibbles[s[2*i]], nibbles[s[2*i+1]]
			bad |= high | low
			d[i] = high<<4 | low&0xf
		}
	}
	if len(s) != 2*len(d) || bad&0xf0 != 0 {
		return Digest{}, fmt.Errorf("digest %.80q is not 64 lower-case hexadecimal digits", s)
	}
	return d, nil
}

// nibbles has the value of each lower-case hexadecimal digit, and 0xff for other bytes.
var nibbles = func() (values [256]byte) {
	for i := range values {
		values[i] = 0xff
	}
	for i, c := range []byte("0123456789abcdef") {
		values[c] = byte(i)
	}
	return values
}()
