package ledger

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"
)

// decodeEntry accepts what encode produces for a valid entry, byte for byte, and fills in
// Hash. Of the event it checks that it is JSON without space: that its keys are sorted
// and unique is for [Ledger.Charge] to see to, and nothing rests on it here.
func decodeEntry(line []byte) (Entry, error) { return decode(line, true) }

// decode is decodeEntry, or, if not all, leaves out Time and Event, whose bytes the hash covers.
// It is a parser of its own because [Open] decodes every entry, and encoding/json takes
// twenty times as long.
func decode(line []byte, all bool) (e Entry, err error) {
	// The end has a fixed length, so it also marks the end of the event.
	const end = len(`,"previous":"`) + 2*len(e.Previous) + len(`"}`)
	if len(line) < end {
		return e, errors.New("entry is cut short")
	}
	p := parser{b: line[len(line)-end:], all: all}
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
		p.charge(&e)
	} else {
		e.Kind = KindResult
		p.expect(`,"sha256":`)
		e.Result = p.digest()
	}
	switch {
	case p.err != nil:
		return e, p.err
	case len(p.b) > 0:
		return e, fmt.Errorf("%.40q is not of an entry", p.b)
	case e.Seq == 0 || e.Commit == 0 || e.Commit > e.Seq:
		return e, fmt.Errorf("seq %d with commit %d: each starts at 1, and every commit has an entry",
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
			return e, err
		}
	} else if err := checkID("request id", e.ID); err != nil {
		return e, err
	}
	e.Hash = entryHash(e.Previous, line)
	return e, nil
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
		p.fail("%.40q stands where %s must", p.b, text)
	}
}

// charge takes what a charge has after its time.
func (p *parser) charge(e *Entry) {
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
		e.PaidBy = p.name()
	}
	if p.skip(`,"client":`) {
		e.Client = p.name()
	}
	if p.skip(`,"ensemble":`) {
		e.Ensemble = p.name()
	}
	if p.skip(`,"ensemble_digest":`) {
		e.EnsembleDigest = p.name()
	}
	if p.skip(`,"draw":`) {
		e.Draw = p.draw()
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

func (p *parser) draw() *Draw {
	d := &Draw{}
	p.expect(`{"name":`)
	d.Name = p.name()
	p.expect(`,"votes":`)
	d.Votes = p.digest()
	d.Query = p.skip(`,"query":true`)
	d.Covers = p.skip(`,"covers":true`)
	p.expect("}")
	return d
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
	v, err := strconv.ParseUint(string(p.b[:n]), 10, 64)
	if err != nil || p.b[0] == '0' && n > 1 {
		p.fail("%.40q does not begin with a number", p.b)
		return 0
	}
	p.b = p.b[n:]
	return v
}

// quoted takes a string with its quotes.
func (p *parser) quoted() []byte {
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
func (p *parser) text() string {
	quoted := p.quoted()
	s := string(quoted[1 : len(quoted)-1])
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

// name is text of a field that is left out where it is empty.
func (p *parser) name() string {
	s := p.text()
	if s == "" {
		p.fail("a name is empty")
	}
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
	if len(s) == hex.EncodedLen(len(d)) {
		_, err = hex.Decode(d[:], s)
	}
	var again [2 * len(d)]byte
	hex.Encode(again[:], d[:])
	if err != nil || string(again[:]) != string(s) {
		return Digest{}, fmt.Errorf("digest %.80q is not 64 lower-case hexadecimal digits", s)
	}
	return d, nil
}
