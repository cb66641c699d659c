package votes

import (
	"fmt"
	"hash/maphash"
	"strings"
	"unicode/utf8"
)

// place is the place of a query: its file, and its line or row.
type place struct {
	file *fileInfo
	at   int
}

// idSet finds repeated query ids and remembers the place of each. Ids that count
// up by one on consecutive lines, as most files have them, take constant memory;
// of others a hash of 64 bits is kept, about 60 bytes each. Two different ids of
// n hash to the same with probability below n²/2⁶⁵ (3·10⁻⁸ for a million), with
// a seed that no file can know; the second would then be refused.
type idSet struct {
	run    bool   // there is a run
	first  uint64 // its first number
	start  place  // where that stands
	length uint64
	other  map[uint64]place // of every id outside the run
	seed   maphash.Seed
}

// add enters id, and returns the place of the same id if it is there already.
func (s *idSet) add(id string, at place) (earlier place, repeated bool) {
	if n, ok := canonicalNumber(id); ok {
		switch {
		case !s.run:
			// Only a first row starts a run.
			if s.other == nil {
				s.run, s.first, s.start, s.length = true, n, at, 1
				return place{}, false
			}
		case n >= s.first && n-s.first < s.length:
			return place{s.start.file, s.start.at + int(n-s.first)}, true
		case n == s.first+s.length && at.file == s.start.file && at.at == s.start.at+int(s.length):
			// It may stand among the others, from before the run came that far.
			if len(s.other) > 0 {
				if earlier, repeated = s.other[maphash.String(s.seed, id)]; repeated {
					return earlier, true
				}
			}
			s.length++
			return place{}, false
		}
	}
	if s.other == nil {
		s.other = make(map[uint64]place)
		s.seed = maphash.MakeSeed()
	}
	h := maphash.String(s.seed, id)
	if earlier, repeated = s.other[h]; repeated {
		return earlier, true
	}
	s.other[h] = at
	return place{}, false
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

// idRule returns the rule that a query's id breaks, or "". An id that is read can be written to any
// format, and read again.
func idRule(id string) string {
	switch {
	case id == "":
		return "the query id is empty"
	case len(id) > maxIDBytes:
		return fmt.Sprintf("query id %s, want at most %d bytes", quote(id), maxIDBytes)
	case !utf8.ValidString(id):
		return fmt.Sprintf("query id %s is not valid UTF-8", quote(id))
	case strings.ContainsAny(id, "\x00\r\ufeff"):
		return fmt.Sprintf("query id %s contains a NUL byte, a carriage return or a byte order mark",
			quote(id))
	}
	return ""
}
