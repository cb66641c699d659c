package votes

import (
	"bytes"
	"encoding/binary"
	"math/bits"
)

// fastRows parses a chunk without quotes straight from its bytes. It takes only
// what encoding/csv would take as it stands: plain ASCII, rows of the right
// width that end as the file's rows do, known classes, small counts. If it
// meets anything else it returns false, and a rowReader decides what the chunk
// means; b is then to be reset. So the two cannot disagree on a fault, and the
// tests compare what they accept.
func (s *csvShape) fastRows(ch chunk, ends lineEnds, b *Batch) bool {
	if ch.line != ch.end+1 || len(ch.data) == 0 { // a blank line before
		return false
	}
	data := ch.data
	if data[len(data)-1] != '\n' {
		return false // the end of the file may be odd
	}
	b.line = ch.line
	p := fastParser{csvShape: s, b: b, data: data, crlf: ends == endsCRLF}
	if s.cols.id >= 0 {
		p.text = string(data) // shared by all ids
		b.IDs = b.ids
	}
	if s.cols.label >= 0 {
		b.Labels = b.labels
	}
	if s.layout != LayoutCounts && s.classes.binary && !s.opts.KeepVotes {
		return p.binary()
	}
	return p.general()
}

type fastParser struct {
	*csvShape
	b    *Batch
	data []byte
	text string // the same as data, where ids are needed
	crlf bool
}

// binary reads rows of zeros and ones. A cell and its comma are 16 bits of which
// only the lowest varies, so four cells are compared, and their ones counted, at
// once.
func (p *fastParser) binary() bool {
	var (
		data    = p.data
		width   = p.width
		mask    = uint64(0xfffe_fffe_fffe_fffe)
		pattern = 0x0001_0001_0001_0001 * (uint64(p.comma)<<8 | '0')
		k       = p.k
		special = p.others // the columns that hold no vote, in order
		n       = len(special)
	)
	counts := p.b.Counts
	rows := 0
	for at := 0; at < len(data); {
		ones, col := 0, 0
		for i := 0; i <= n; i++ {
			stop := width // of this run of votes
			if i < n {
				stop = special[i]
			}
			// All but the last column of the row are followed by a comma.
			pairs := stop - col
			if i == n && pairs > 0 {
				pairs--
			}
			for ; pairs >= 4; pairs -= 4 {
				if at+8 > len(data) {
					return false
				}
				w := binary.LittleEndian.Uint64(data[at:])
				if w&mask != pattern {
					return false
				}
				ones += bits.OnesCount64(w &^ mask)
				at += 8
			}
			if pairs > 0 {
				if at+8 <= len(data) {
					w := binary.LittleEndian.Uint64(data[at:])
					keep := uint64(1)<<(16*pairs) - 1
					if (w^pattern)&mask&keep != 0 {
						return false
					}
					ones += bits.OnesCount64(w &^ mask & keep)
					at += 2 * pairs
				} else {
					for ; pairs > 0; pairs-- {
						if at+2 > len(data) || data[at]&^1 != '0' || data[at+1] != p.comma {
							return false
						}
						ones += int(data[at] & 1)
						at += 2
					}
				}
			}
			if i == n {
				if stop > col { // the last column is a vote
					if at >= len(data) || data[at]&^1 != '0' {
						return false
					}
					ones += int(data[at] & 1)
					at++
				}
				break
			}
			var ok bool
			if at, ok = p.cell(stop, at); !ok {
				return false
			}
			if stop+1 < width {
				if at >= len(data) || data[at] != p.comma {
					return false
				}
				at++
			}
			col = stop + 1
		}
		if p.crlf {
			if at >= len(data) || data[at] != '\r' {
				return false
			}
			at++
		}
		if at >= len(data) || data[at] != '\n' {
			return false
		}
		at++
		counts = append(counts, k-ones, ones)
		rows++
	}
	p.b.Counts = counts
	p.b.n = rows
	return true
}

// cell reads a cell without votes that begins at at, and returns where it ends.
func (p *fastParser) cell(col, at int) (end int, ok bool) {
	field := p.field(at)
	if field == nil {
		return 0, false
	}
	end = at + len(field)
	if col == p.cols.label {
		c := p.classes.ofBytes(field)
		p.b.Labels = append(p.b.Labels, c)
		return end, c >= 0
	}
	if col != p.cols.id {
		return end, plain(field)
	}
	if len(field) == 0 || len(field) > MaxIDBytes || !plain(field) {
		return 0, false
	}
	p.b.IDs = append(p.b.IDs, p.text[at:end])
	return end, true
}

// field returns the cell that begins at at, without its comma or line end, and
// nil if it has neither.
func (p *fastParser) field(at int) []byte {
	rest := p.data[at:]
	for i, c := range rest {
		if c == p.comma || c == '\n' || c == '\r' {
			return rest[:i:i]
		}
	}
	return nil
}

// plain reports whether a cell is printable ASCII: no quote, no control
// character, nothing that needs decoding.
func plain(cell []byte) bool {
	for _, c := range cell {
		if c < 0x20 || c > 0x7e || c == '"' {
			return false
		}
	}
	return true
}

// general reads rows of any classes, or of counts.
func (p *fastParser) general() bool {
	wide, end := p.layout != LayoutCounts, byte('\n')
	if p.crlf {
		end = '\r'
	}
	for at := 0; at < len(p.data); {
		if c := p.data[at]; c == '\n' || c == '\r' {
			return false // a blank line is no row, even if one empty cell could be
		}
		row := p.b.addRow()
		k, votes := 0, len(p.b.Votes)
		if p.opts.KeepVotes {
			p.b.Votes = growZero(p.b.Votes, p.k)
		}
		for col := range p.width {
			if col > 0 {
				if p.data[at] != p.comma {
					return false
				}
				at++
			}
			cell := p.cellOf[col]
			if cell >= 0 && wide && at+1 < len(p.data) {
				// Most classes are one digit.
				if c := p.classes.byByte[p.data[at]]; c >= 0 && (p.data[at+1] == p.comma || p.data[at+1] == end) {
					row[c]++
					if p.opts.KeepVotes {
						p.b.Votes[votes+cell] = int(c)
					}
					at++
					continue
				}
			}
			field := p.field(at)
			if field == nil {
				return false
			}
			switch {
			case cell < 0:
				if _, ok := p.cell(col, at); !ok {
					return false
				}
			case p.layout == LayoutCounts:
				n, ok := smallCount(field)
				if !ok {
					return false
				}
				row[cell] = n
				k += n
			default:
				c := p.classes.ofBytes(field)
				switch {
				case c >= 0:
					row[c]++
				case p.opts.Missing == MissingCoin && plain(field) && isMissing(string(field)):
					p.b.addMissing(p.b.n - 1)
				default:
					return false
				}
				if p.opts.KeepVotes {
					p.b.Votes[votes+cell] = c
				}
			}
			at += len(field)
		}
		if p.layout == LayoutCounts && k != p.k {
			return false
		}
		if p.crlf {
			if p.data[at] != '\r' {
				return false
			}
			at++
		}
		if at >= len(p.data) || p.data[at] != '\n' {
			return false
		}
		at++
	}
	return true
}

// smallCount parses up to five digits, which no limit can refuse.
func smallCount(cell []byte) (n int, ok bool) {
	if len(cell) == 0 || len(cell) > 5 {
		return 0, false
	}
	for _, c := range cell {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = 10*n + int(c-'0')
	}
	return n, true
}

// quoted reports whether a chunk has a quote. From there on, line feeds need not
// end rows, and the rest of the file is read by a rowReader.
func quoted(data []byte) bool { return bytes.IndexByte(data, '"') >= 0 }
