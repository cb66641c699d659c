package votes

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/darrm/darrm/internal/check"
)

// maxClassBytes bounds a class's name.
const maxClassBytes = 200

// IntegerClasses returns the classes "0" … "n-1".
func IntegerClasses(n int) []string {
	names := make([]string, max(0, n))
	for i := range names {
		names[i] = strconv.Itoa(i)
	}
	return names
}

// ParseClasses returns the names in a list "cat,dog", in its order. A number n alone is refused:
// it would be the name of one class, and n classes for whoever meant their number. Neither a
// reader nor a planner of votes may guess which.
func ParseClasses(list string) ([]string, error) {
	names := strings.Split(list, ",")
	if len(names) > 1 {
		return names, nil
	}
	rule := "the names of at least two classes, in order, separated by commas"
	if n, err := strconv.Atoi(list); err == nil && check.Classes(n) == nil {
		rule += fmt.Sprintf("; for %d classes that are numbers, write ", n)
		if n <= 20 {
			rule += strings.Join(IntegerClasses(n), ",")
		} else {
			rule += fmt.Sprintf("0,1,2 and so on up to %d: seq -s, 0 %d prints them", n-1, n-1)
		}
	}
	return nil, check.Want("classes", quote(list), rule)
}

// ReadClasses returns the names of a text with one on each line, in its order. name is the text's for
// messages; faults of the text are [*ParseError]s.
func ReadClasses(r io.Reader, name string) ([]string, error) {
	const most = check.MaxClasses * (maxClassBytes + 2)
	if r == nil {
		return nil, errNoReader
	}
	text, err := io.ReadAll(io.LimitReader(r, most+1))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", shownName(name), err)
	}
	if len(text) > most {
		return nil, &ParseError{File: shownName(name), Rule: fmt.Sprintf(
			"more than %d bytes, want the names of classes, one on each line", most)}
	}
	lines := strings.Split(strings.TrimPrefix(string(text), "\ufeff"), "\n")
	if last := len(lines) - 1; lines[last] == "" {
		lines = lines[:last]
	}
	seen := make(map[string]bool)
	for i, line := range lines {
		lines[i] = strings.TrimSpace(line)
		if lines[i] == "" || seen[lines[i]] {
			return nil, &ParseError{File: shownName(name), Line: i + 1, Rule: fmt.Sprintf(
				"%s, want the name of another class on each line", quote(lines[i]))}
		}
		seen[lines[i]] = true
	}
	return lines, nil
}

// CheckClasses validates classes and spellings of them as a reader does.
func CheckClasses(names []string, same []Spelling) error {
	_, err := newClassList(names, same)
	return err
}

// classList knows the classes' names and their other spellings. It is read-only after newClassList.
type classList struct {
	names     []string
	byName    map[string]int // exact names, and spellings that are stated
	canonical map[string]int // the canonical text of each
	byByte    [256]int16     // class of a name of one byte, -1 if there is none
	byInt     map[int64]int  // class of a canonical text that is an integer
	small     [256]int16     // the same for 0 … 255
	binary    bool           // the names are "0" and "1"
	ranks     []int          // place of each name among all canonical ones, in the order of bytes

	zeroMissing bool            // the classes are -1 and 1
	absent      map[string]bool // texts of missing votes beside those of the table; read only where votes may be missing
}

// newClassList checks the list. None means the two classes "0" and "1".
func newClassList(names []string, same []Spelling) (*classList, error) {
	if len(names) == 0 {
		names = IntegerClasses(2)
	}
	if err := check.Classes(len(names)); err != nil {
		return nil, err
	}
	c := &classList{
		names:  append([]string(nil), names...),
		byName: make(map[string]int, len(names)), canonical: make(map[string]int, len(names)),
		byInt: make(map[int64]int), absent: make(map[string]bool),
		binary: len(names) == 2 && names[0] == "0" && names[1] == "1", ranks: ranksOf(names),
	}
	for i := range c.byByte {
		c.byByte[i], c.small[i] = -1, -1
	}
	for i, name := range c.names {
		switch {
		case name == "" || len(name) > maxClassBytes:
			return nil, check.Wantf("class", quote(name), "1 to %d bytes long", maxClassBytes)
		case !utf8.ValidString(name) || strings.ContainsAny(name, "\x00\r\n\ufeff"):
			return nil, check.Want("class", quote(name), "valid UTF-8 without NUL, line end or byte order mark")
		case strings.TrimSpace(name) != name:
			return nil, check.Want("class", quote(name), "without spaces around it")
		}
		if first, ok := c.byName[name]; ok {
			return nil, check.Wantf("class", quote(name),
				"in the list once: it is number %d and %d", first, i)
		}
		c.byName[name] = i
	}
	return c, c.spell(same)
}

func (c *classList) len() int { return len(c.names) }

// ranksOf returns the place of each name among all of them, in the order of the bytes of their
// canonical texts: lists of the same classes in other spellings have the same ranks.
func ranksOf(names []string) []int {
	texts := make([]string, len(names))
	for i, name := range names {
		texts[i] = canonical(name)
	}
	sorted := slices.Sorted(slices.Values(texts))
	ranks := make([]int, len(names))
	for i, text := range texts {
		ranks[i], _ = slices.BinarySearch(sorted, text)
	}
	return ranks
}

// of returns the class of which text is a spelling, or -1.
func (c *classList) of(text string) int {
	if len(text) == 1 {
		return int(c.byByte[text[0]])
	}
	if i, ok := c.byName[text]; ok {
		return i
	}
	if i, ok := c.canonical[canonical(text)]; ok {
		return i
	}
	return -1
}

// ofBytes is of, without the conversion where text is exact.
func (c *classList) ofBytes(text []byte) int {
	if len(text) == 1 {
		return int(c.byByte[text[0]])
	}
	if i, ok := c.byName[string(text)]; ok {
		return i
	}
	return c.of(string(text))
}

// text returns text, without a copy if it names a class.
func (c *classList) text(text []byte) string {
	if len(text) == 1 { // it takes no memory
		return string(text)
	}
	if i, ok := c.byName[string(text)]; ok {
		return c.names[i]
	}
	return string(text)
}

// ofInt returns the class of which v in decimal is a spelling, or -1.
func (c *classList) ofInt(v int64) int {
	if uint64(v) < uint64(len(c.small)) {
		return int(c.small[v])
	}
	if i, ok := c.byInt[v]; ok {
		return i
	}
	return -1
}

// rule completes the message about a vote that is none of the classes.
func (c *classList) rule() check.Text {
	if c.binary {
		return check.Named("is not 0 or 1: %s names others", pClasses)
	}
	return check.Named("%s", c.noneOf("classes"))
}

// noneOf says that a text is none of the names, which are classes or labels.
func (c *classList) noneOf(what string) string {
	const most = 8
	text := "is not one of the " + what + " " + quoteAll(c.names[:min(most, c.len())])
	if c.len() > most {
		text += fmt.Sprintf(" … (%d %s)", c.len(), what)
	}
	return text
}

// zeroOrOne describes the votes of the classes 0 and 1, and is text for others.
func (c *classList) zeroOrOne(text string) string {
	if c.binary {
		return "0 or 1"
	}
	return text
}

// canonicalInt parses a decimal integer of at most 18 digits in its only spelling: of two equal
// numbers the texts are equal too.
func canonicalInt(s string) (int64, bool) {
	const most = 999_999_999_999_999_999
	n, err := strconv.ParseInt(s, 10, 64)
	return n, err == nil && -most <= n && n <= most && strconv.FormatInt(n, 10) == s
}

// decimalInt returns the value of a JSON number if that is exactly an integer of at
// most 18 digits, as canonicalInt takes. It does not round: 1e-400 is no 0.
func decimalInt(number string) (int64, bool) {
	text, negative := strings.CutPrefix(number, "-")
	mantissa, exponent := text, 0
	zero := func() bool { return strings.Trim(mantissa, "0.") == "" }
	if at := strings.IndexAny(text, "eE"); at >= 0 {
		mantissa = text[:at]
		var err error
		if exponent, err = strconv.Atoi(text[at+1:]); (err != nil ||
			max(exponent, -exponent) > 2*maxRecordBytes) && !zero() {
			return 0, false // too far from any number that the mantissa could make up for
		}
	}
	if zero() {
		return 0, true
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	digits := strings.TrimLeft(whole+fraction, "0")
	significant := strings.TrimRight(digits, "0")
	exponent += len(digits) - len(significant) - len(fraction)
	if exponent < 0 || len(significant)+exponent > 18 {
		return 0, false
	}
	n, err := strconv.ParseInt(significant+strings.Repeat("0", exponent), 10, 64)
	if negative {
		n = -n
	}
	return n, err == nil
}

// wholeNumber returns v as an integer, if it is one that a float64 holds beside
// both its neighbours.
func wholeNumber(v float64) (int64, bool) {
	const most = 1 << 53
	if !(v >= -most && v <= most) || v != float64(int64(v)) {
		return 0, false
	}
	return int64(v), true
}
