package votes

// fastRow appends a line to b if it is of the plainest kind: printable ASCII, keys
// and texts without escapes, votes of one digit, plain text, true or false, and
// everything in its place. Otherwise it returns false, with b half changed, and
// check and row decide what the line means; so the two cannot disagree on a fault,
// and the tests compare what they accept.
func (p *jsonParser) fastRow(line []byte, b *Batch) bool {
	if p.slow || len(line) > MaxRecordBytes || !printable(line) {
		return false
	}
	b.addLine(p.line)
	counts := b.addRow()
	votes := len(b.Votes)
	if p.opts.KeepVotes {
		b.Votes = growZero(b.Votes, p.k)
	}
	s := jsonScanner{line, 0, p.classes}
	if !s.accept('{') {
		return false
	}
	for n := 1; ; n++ {
		key := s.text()
		var role jsonRole
		ok := n <= len(p.names) && string(key) == p.names[n-1] // in the first line's order
		if ok {
			role = p.inOrder[n-1]
		} else {
			role, ok = p.roles[string(key)]
		}
		if key == nil || !ok || p.seen[role.key] == p.line || !s.accept(':') {
			return false
		}
		p.seen[role.key] = p.line
		switch role.kind {
		case jsonVote:
			c := s.class()
			if c < 0 {
				return false
			}
			counts[c]++
			if p.opts.KeepVotes {
				b.Votes[votes+role.index] = c
			}
		case jsonVotes:
			if !s.accept('[') {
				return false
			}
			for t := range p.k {
				if t > 0 && !s.accept(',') {
					return false
				}
				c := s.class()
				if c < 0 {
					return false
				}
				counts[c]++
				if p.opts.KeepVotes {
					b.Votes[votes+t] = c
				}
			}
			if !s.accept(']') {
				return false
			}
		case jsonCount:
			if counts[role.index], ok = s.count(); !ok {
				return false
			}
		case jsonCounts:
			if !s.accept('[') {
				return false
			}
			for c := range counts {
				if c > 0 && !s.accept(',') {
					return false
				}
				if counts[c], ok = s.count(); !ok {
					return false
				}
			}
			if !s.accept(']') {
				return false
			}
		case jsonLabel:
			c := s.class()
			if c < 0 {
				return false
			}
			b.Labels = append(b.Labels, c)
		case jsonID:
			id := s.text()
			if len(id) == 0 || len(id) > MaxIDBytes {
				return false
			}
			b.IDs = append(b.IDs, string(id))
		case jsonUnused:
			return false // a value of any kind
		}
		if s.accept(',') {
			continue
		}
		if !s.accept('}') || n != len(p.names) {
			return false
		}
		break
	}
	if s.space(); s.at != len(line) {
		return false
	}
	if p.layout == LayoutCounts {
		k := 0
		for _, n := range counts {
			k += n
		}
		return k == p.k && k > 0
	}
	return true
}

// jsonScanner reads tokens. One that is not plain is not there.
type jsonScanner struct {
	line    []byte
	at      int
	classes *classList
}

func (s *jsonScanner) space() {
	for s.at < len(s.line) && s.line[s.at] == ' ' {
		s.at++
	}
}

func (s *jsonScanner) accept(c byte) bool {
	if s.at < len(s.line) && s.line[s.at] == c {
		s.at++
		return true
	}
	if s.space(); s.at < len(s.line) && s.line[s.at] == c {
		s.at++
		return true
	}
	return false
}

// text reads a string; nil if there is none.
func (s *jsonScanner) text() []byte {
	if !s.accept('"') {
		return nil
	}
	from := s.at
	for ; s.at < len(s.line); s.at++ {
		switch s.line[s.at] {
		case '\\':
			return nil
		case '"':
			s.at++
			return s.line[from : s.at-1]
		}
	}
	return nil
}

// class reads a vote; -1 if it is not plain.
func (s *jsonScanner) class() int {
	s.space()
	rest := s.line[s.at:]
	if len(rest) < 2 {
		return -1
	}
	switch c := rest[0]; {
	case '0' <= c && c <= '9':
		if d := rest[1]; d != ',' && d != ']' && d != '}' && d != ' ' {
			return -1
		}
		s.at++
		return int(s.classes.byByte[c])
	case c == '"':
		text := s.text()
		if text == nil {
			return -1
		}
		return s.classes.ofBytes(text)
	case c == 't' && len(rest) > 4 && string(rest[:4]) == "true":
		s.at += 4
		return s.classes.ofInt(1)
	case c == 'f' && len(rest) > 5 && string(rest[:5]) == "false":
		s.at += 5
		return s.classes.ofInt(0)
	}
	return -1
}

// count reads up to five digits without a zero in front.
func (s *jsonScanner) count() (int, bool) {
	s.space()
	from := s.at
	for s.at < len(s.line) && s.line[s.at] >= '0' && s.line[s.at] <= '9' {
		s.at++
	}
	digits := s.line[from:s.at]
	if len(digits) > 1 && digits[0] == '0' {
		return 0, false
	}
	return smallCount(digits)
}
