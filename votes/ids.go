package votes

import "strings"

// idSet finds repeated query ids and remembers the line of each. Ids that count
// up by one on consecutive lines, as most files have them, take constant
// memory; others about 100 bytes each.
type idSet struct {
	run       bool   // there is a run
	first     uint64 // its first number
	firstLine int
	length    uint64
	other     map[string]int // line of every id outside the run
}

// add enters id, and returns the line of the same id if it is there already.
func (s *idSet) add(id string, line int) (earlier int, repeated bool) {
	if earlier, repeated = s.other[id]; repeated {
		return earlier, true
	}
	if n, ok := canonicalNumber(id); ok {
		switch {
		case !s.run:
			// Only a first row starts a run.
			if s.other == nil {
				s.run, s.first, s.firstLine, s.length = true, n, line, 1
				return 0, false
			}
		case n >= s.first && n-s.first < s.length:
			return s.firstLine + int(n-s.first), true
		case n == s.first+s.length && line == s.firstLine+int(s.length):
			s.length++
			return 0, false
		}
	}
	if s.other == nil {
		s.other = make(map[string]int)
	}
	s.other[strings.Clone(id)] = line // the id shares memory with its whole row
	return 0, false
}

// canonicalNumber parses a decimal number in its only spelling: of two equal
// numbers the texts are equal too.
func canonicalNumber(s string) (n uint64, ok bool) {
	if len(s) == 0 || len(s) > 18 || s[0] == '0' && len(s) > 1 {
		return 0, false
	}
	for _, c := range []byte(s) {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = 10*n + uint64(c-'0')
	}
	return n, true
}
