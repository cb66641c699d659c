package votes

import (
	"bytes"
	"strings"
)

// parseFast parses a chunk straight from its bytes. It takes only what encoding/csv
// would take as it stands: plain ASCII without quotes, rows of the right width
// that end as the file's rows do, known classes, small counts. If it meets
// anything else it returns false, b is to be reset, and a rowReader decides what
// the chunk means. So the two cannot disagree on a fault, and the tests compare
// what they accept.
func (d *csvDecoder) parseFast(ch chunk, b *Batch) bool {
	data := ch.Data
	if len(data) > maxRecordBytes || bytes.IndexByte(data, '"') >= 0 || endOf(data) != d.ends ||
		d.ends == endsUnknown {
		return false
	}
	p := fastParser{csvDecoder: d, b: b, data: data, crlf: d.ends == endsCRLF}
	if d.ids {
		p.text = string(data) // shared by all ids
	}
	for line := ch.Line; p.at < len(data); line++ {
		if !p.row() {
			return false
		}
		b.places = append(b.places, line)
	}
	return true
}

type fastParser struct {
	*csvDecoder
	b    *Batch
	data []byte
	at   int    // the next byte
	text string // the same as data, where ids are needed
	crlf bool
}

// row reads a row. Behind every cell stands a comma or a line end, at the latest
// the chunk's last byte.
func (p *fastParser) row() bool {
	wide, end := p.layout != LayoutCounts, byte('\n')
	if p.crlf {
		end = '\r'
	}
	if c := p.data[p.at]; c == '\n' || c == '\r' {
		return false // a blank line is no row, even if one empty cell could be
	}
	counts, votes := len(p.b.Counts), len(p.b.Votes)
	for range p.b.Classes {
		p.b.Counts = append(p.b.Counts, 0)
	}
	row := p.b.Counts[counts:]
	if p.opts.KeepVotes {
		p.b.Votes = growZero(p.b.Votes, p.k)
	}
	k, missing := 0, 0
	for col, cell := range p.cellOf {
		if col > 0 {
			if p.data[p.at] != p.comma {
				return false
			}
			p.at++
		}
		if cell >= 0 && wide && p.at+1 < len(p.data) {
			// Most classes are one digit.
			if c := p.classes.byByte[p.data[p.at]]; c >= 0 &&
				(p.data[p.at+1] == p.comma || p.data[p.at+1] == end) {
				row[c]++
				if p.opts.KeepVotes {
					p.b.Votes[votes+cell] = int(c)
				}
				p.at++
				continue
			}
		}
		field := p.field()
		if field == nil {
			return false
		}
		switch {
		case cell < 0:
			if !p.otherCell(cell, field) {
				return false
			}
		case !wide:
			n, ok := smallCount(field)
			if !ok {
				return false
			}
			row[cell] = n
			k += n
		default:
			c := p.classes.ofBytes(field)
			if c >= 0 {
				row[c]++
			} else if p.opts.Missing != MissingError && plain(field) && p.classes.isMissingText(string(field)) {
				missing++
			} else {
				return false
			}
			if p.opts.KeepVotes {
				p.b.Votes[votes+cell] = c
			}
		}
		p.at += len(field)
	}
	switch {
	case wide || k == p.k:
	case p.opts.Missing == MissingAbstain && k < p.k:
		missing = p.k - k
	default:
		return false
	}
	if p.crlf {
		if p.data[p.at] != '\r' {
			return false
		}
		p.at++
	}
	if p.at >= len(p.data) || p.data[p.at] != '\n' {
		return false
	}
	p.at++
	p.b.addMissing(missing, 1)
	return p.addPublic(row, p.k) == nil
}

// field returns the next cell without its comma or line end.
func (p *fastParser) field() []byte {
	rest := p.data[p.at:]
	for i, c := range rest {
		if c == p.comma || c == '\n' || c == '\r' {
			return rest[:i:i]
		}
	}
	return nil
}

// otherCell takes a cell of a column without votes.
func (p *fastParser) otherCell(cell int, field []byte) bool {
	switch cell {
	case labelCell:
		c := p.classes.ofBytes(field)
		p.b.Labels = append(p.b.Labels, c)
		return c >= 0 || plain(field) && p.classes.isMissingText(string(field))
	case idCell:
		id := strings.Trim(p.text[p.at:p.at+len(field)], " ")
		if id == "" || len(id) > maxIDBytes || !plain(field) {
			return false
		}
		p.b.IDs = append(p.b.IDs, id)
		return true
	}
	return plain(field)
}

// plain reports whether a cell is printable ASCII: no control character, nothing
// that needs decoding.
func plain(field []byte) bool {
	for _, c := range field {
		if c < 0x20 || c > 0x7e {
			return false
		}
	}
	return true
}

// smallCount parses up to five digits. A count beyond the limit breaks the sum.
func smallCount(field []byte) (n int, ok bool) {
	if len(field) == 0 || len(field) > 5 {
		return 0, false
	}
	for _, c := range field {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = 10*n + int(c-'0')
	}
	return n, true
}
