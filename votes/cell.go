package votes

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/votes/format"
)

// A cell is one value of a row, as its format has it. CSV has text only; a number
// of the other formats stands for its decimal text if it is exactly an integer, a
// boolean for 0 or 1, and null or NaN for a missing vote.
type cell struct {
	kind cellKind
	text string  // of textCell, numberCell and otherCell
	n    int64   // of intCell, boolCell and classCell
	x    float64 // of floatCell
}

type cellKind uint8

const (
	textCell   cellKind = iota
	numberCell          // a number in decimal notation
	intCell
	boolCell
	floatCell
	classCell // the number of a class
	nullCell
	otherCell  // no scalar: a list or an object
	brokenCell // text that is not valid
)

// The cells of a record are used again for the next: the setters write no more than
// the kind needs, which makes reading numbers twice as fast.
func (c *cell) setText(kind cellKind, text string) { c.kind, c.text = kind, text }
func (c *cell) setInt(n int64)                     { c.kind, c.n = intCell, n }
func (c *cell) setFloat(x float64)                 { c.kind, c.x = floatCell, x }
func (c *cell) setClass(class int)                 { c.kind, c.n = classCell, int64(class) }

// setUint takes what an int64 cannot hold as a number in decimal notation.
func (c *cell) setUint(n uint64) {
	if c.setInt(int64(n)); n > math.MaxInt64 {
		c.setText(numberCell, strconv.FormatUint(n, 10))
	}
}

func (c *cell) setBool(yes bool) {
	c.kind, c.n = boolCell, 0
	if yes {
		c.n = 1
	}
}

// class returns the class that the cell names, or -1.
func (c *cell) class(l *classList) int {
	switch c.kind {
	case textCell, numberCell:
		return l.of(c.text)
	case intCell, boolCell:
		return l.ofInt(c.n)
	case floatCell:
		if n, ok := wholeNumber(c.x); ok {
			return l.ofInt(n)
		}
		return l.of(c.plain())
	case classCell:
		return int(c.n)
	}
	return -1
}

// whole returns the whole number that the cell is.
func (c *cell) whole() (int64, bool) {
	switch c.kind {
	case intCell:
		return c.n, true
	case floatCell:
		return wholeNumber(c.x)
	case textCell, numberCell:
		return wholeText(strings.TrimSpace(c.text))
	}
	return 0, false
}

// missing reports whether the cell stands for a missing vote; so does -1, as in the matrices of
// weak supervision. A class of such a name is looked for first.
func (c *cell) missing() bool {
	if c.kind == nullCell || c.kind == floatCell && math.IsNaN(c.x) ||
		c.kind == textCell && format.IsMissing(c.text) {
		return true
	}
	n, ok := c.whole()
	return ok && n == -1
}

// voteRule returns the rule that a cell without a valid vote breaks.
func (c *cell) voteRule(l *classList) check.Text {
	if !l.isMissing(c) {
		return check.Named("vote %s %s", c, l.rule())
	}
	want := ""
	if c.kind != textCell || strings.TrimSpace(c.text) != "" {
		want = ", want " + l.zeroOrOne("a class")
	}
	return check.Named("the vote is missing (%s)%s: every teacher must answer every query, unless %s "+
		"says what a missing vote is", quote(c.plain()), want, pMissing)
}

// voteFault returns the fault of a vote that stands at a place of its record.
func (c *cell) voteFault(at int, l *classList) *fault {
	wrong := &fault{at: at, rule: c.voteRule(l)}
	if !l.isMissing(c) {
		wrong.value = c.plain()
	}
	return wrong
}

// count returns a count of votes, or the rule that the cell breaks.
func (c *cell) count() (n int, rule string) {
	v, ok := int64(-1), true
	switch c.kind {
	case nullCell:
		return 0, "the count is missing"
	case textCell:
		text := strings.TrimSpace(c.text)
		if text == "" {
			return 0, "the count is missing"
		}
		if isCount(text) {
			var err error
			if v, err = strconv.ParseInt(text, 10, 64); err != nil {
				v = math.MaxInt64
			}
		}
	case numberCell:
		v, ok = canonicalInt(c.text)
	case intCell:
		v = c.n
	case floatCell:
		v, ok = wholeNumber(c.x)
	}
	switch {
	case !ok || v < 0:
		return 0, "count " + c.String() + " is not a whole number ≥ 0 in digits"
	case v > check.MaxTeachers:
		return 0, fmt.Sprintf("count %s, want at most %d", c, check.MaxTeachers)
	}
	return int(v), ""
}

func isCount(text string) bool {
	text = strings.TrimSpace(text)
	return text != "" && strings.Trim(text, "0123456789") == ""
}

// id returns a query's id, or the rule that the cell breaks.
func (c *cell) id() (id, rule string) {
	switch c.kind {
	case textCell:
		id = strings.TrimSpace(c.text)
	case intCell:
		id = strconv.FormatInt(c.n, 10)
	case numberCell:
		if id = c.text; !isNumberID(id) {
			return "", "query id " + c.String() + " is neither a string nor a whole number of 64 bits"
		}
	case nullCell:
		return "", "the query id is missing (null): it is neither a string nor a whole number"
	case brokenCell:
		return "", "the query id is not valid text"
	default:
		return "", "query id " + c.String() + " is neither a string nor a whole number"
	}
	return id, idRule(id)
}

// isNumberID reports whether a number is a whole one of 64 bits, with a sign or without, in its only
// spelling: equal numbers are equal ids.
func isNumberID(text string) bool {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return strconv.FormatInt(n, 10) == text
	}
	n, err := strconv.ParseUint(text, 10, 64)
	return err == nil && strconv.FormatUint(n, 10) == text
}

// String shows the cell in a message.
func (c *cell) String() string {
	switch c.kind {
	case textCell, numberCell, otherCell:
		return quote(c.text)
	case brokenCell:
		return "(invalid text)"
	}
	return c.plain()
}

// plain is String without quotes.
func (c *cell) plain() string {
	switch c.kind {
	case intCell:
		return strconv.FormatInt(c.n, 10)
	case boolCell:
		return strconv.FormatBool(c.n == 1)
	case floatCell:
		if n, ok := wholeNumber(c.x); ok {
			return strconv.FormatInt(n, 10)
		}
		return strconv.FormatFloat(c.x, 'g', -1, 64)
	case nullCell:
		return "null"
	}
	return c.text
}
