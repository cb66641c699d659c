package votes

import (
	"fmt"
	"hash/maphash"
	"strconv"
	"strings"
	"unicode/utf8"
)

// place is the place of a query: its file, and its line or row.
type place struct {
	file *fileInfo
	at   int
}

// idSet finds repeated query ids and remembers the place of each. Ids that count up by one on
// consecutive lines take constant memory, as most files have them: 17, q17, image_0017. Of others a
// hash of 64 bits is kept, 20 to 45 bytes each. Two different ids of n hash to the same with
// probability below n²/2⁶⁵ (3·10⁻⁸ for a million), with a seed that no file can know; the second
// would then be refused.
type idSet struct {
	run    bool   // there is a run
	prefix string // what stands before its numbers
	width  int    // digits of each, with leading zeros; 0 for numbers without
	first  uint64 // its first number
	start  place  // where that stands
	length uint64
	other  idTable // every id outside the run
}

// add enters id, and returns the place of the same id if it is there already.
func (s *idSet) add(id string, at place) (earlier place, repeated bool) {
	prefix, digits := splitNumber(id)
	switch {
	case digits == "":
	case !s.run:
		// Only a first row starts a run.
		if len(s.other.places) == 0 {
			s.run, s.prefix, s.start, s.length = true, strings.Clone(prefix), at, 1
			if s.first = valueOf(digits); padded(digits) {
				s.width = len(digits)
			}
			return place{}, false
		}
	case prefix == s.prefix && (s.width == 0 && !padded(digits) || s.width == len(digits)):
		// An id of this form is told from all others by its number.
		switch n := valueOf(digits); {
		case n >= s.first && n-s.first < s.length:
			return place{s.start.file, s.start.at + int(n-s.first)}, true
		case n == s.first+s.length && at.file == s.start.file && at.at == s.start.at+int(s.length):
			// It may stand among the others, from before the run came that far.
			if earlier, repeated = s.other.find(id); repeated {
				return earlier, true
			}
			s.length++
			return place{}, false
		}
	}
	return s.other.add(id, at)
}

// splitNumber splits the decimal digits, at most 18, off the end of a text.
func splitNumber(s string) (before, digits string) {
	i := len(s)
	for i > 0 && len(s)-i < 18 && '0' <= s[i-1] && s[i-1] <= '9' {
		i--
	}
	return s[:i], s[i:]
}

// padded reports whether a number has leading zeros.
func padded(digits string) bool { return digits[0] == '0' && len(digits) > 1 }

func valueOf(digits string) uint64 {
	n, _ := strconv.ParseUint(digits, 10, 64) // of at most 18 digits
	return n
}

// idTable has the places of ids by their hashes. It has no pointers for each id, so the garbage collector
// need not look at them.
type idTable struct {
	seed   maphash.Seed
	places map[uint64]uint64 // by hash: the number of the file above fileShift, line or row below
	files  []*fileInfo
}

const fileShift = 40

// find returns the place of id, false where it is not there.
func (t *idTable) find(id string) (at place, known bool) {
	if t.places == nil {
		return place{}, false
	}
	p, known := t.places[maphash.String(t.seed, id)]
	if !known {
		return place{}, false
	}
	return place{t.files[p>>fileShift], int(p & (1<<fileShift - 1))}, true
}

// add enters id, and returns the place of the same id if it is there already.
func (t *idTable) add(id string, at place) (earlier place, repeated bool) {
	if t.places == nil {
		t.seed, t.places = maphash.MakeSeed(), make(map[uint64]uint64)
	}
	if earlier, repeated = t.find(id); repeated {
		return earlier, true
	}
	if n := len(t.files); n == 0 || t.files[n-1] != at.file {
		t.files = append(t.files, at.file) // files come one after the other
	}
	t.places[maphash.String(t.seed, id)] = uint64(len(t.files)-1)<<fileShift | uint64(at.at)
	return place{}, false
}

// idRule returns the rule that a query's id breaks, or "". An id that is read can be written to any
// format, and read again.
func idRule(id string) string {
	switch {
	case id == "":
		return "the query id is empty"
	case len(id) <= maxIDBytes && needsNoQuotes(id): // most ids
		return ""
	case strings.TrimSpace(id) != id:
		return fmt.Sprintf("query id %s has blanks around it, which are no part of an id", quote(id))
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
