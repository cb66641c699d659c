package prepare

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/learn/data"
	"github.com/darrm/darrm/votes/format"
)

// Column holds the rules of one column. The zero rules take its numbers as they are.
type Column struct {
	Name string `json:"name"`
	// Scale is a public range. A number is clipped to it and mapped to [-1,1].
	Scale *Range `json:"scale,omitempty"`
	// Center is the number of the range that becomes 0: "" is its middle, and Zero is 0, which stays 0; then
	// the end that is further from 0 becomes 1 or -1.
	Center string `json:"center,omitempty"`
	// Categories are public words. Each is a feature that is 1 where the cell is that word and 0
	// elsewhere; a cell with another word, or a blank one, has 0 for all of them.
	Categories []string `json:"categories,omitempty"`
	// Fill is a number or category that stands in where a cell is blank. Missing makes a feature of
	// its own, which is 1 where the cell is blank; a number is then 0, the middle of its range. nil
	// refuses a blank number.
	Fill *string `json:"fill,omitempty"`
}

// Zero is the value of Column.Center that keeps 0 at 0.
const Zero = "zero"

// Missing is the value of Column.Fill that makes a feature of blank cells.
const Missing = "missing"

// Range is a range of numbers, [0] below [1].
type Range [2]float64

// Low returns the lower end.
func (r Range) Low() float64 { return r[0] }

// High returns the upper end.
func (r Range) High() float64 { return r[1] }

// UnmarshalJSON reads two numbers, and refuses more, which an array would leave out in silence.
func (r *Range) UnmarshalJSON(b []byte) error {
	var ends []float64
	if err := json.Unmarshal(b, &ends); err != nil {
		return err
	}
	if len(ends) != 2 {
		return check.Want("scale", ends, "two numbers, low and high")
	}
	*r = Range(ends)
	return nil
}

// hasZero reports whether 0 is in the range.
func (r Range) hasZero() bool { return r[0] <= 0 && r[1] >= 0 }

// cut returns the number of the range next to x.
func (r *Range) cut(x float64) float64 {
	switch {
	case x < r[0]:
		return r[0]
	case x > r[1]:
		return r[1]
	}
	return x
}

// unit maps x to [-1,1], the middle to 0.
func (r *Range) unit(x float64) float64 {
	// From 0 to 1: a difference and a quotient of numbers in order are rounded in order.
	t := (r.cut(x) - r[0]) / (r[1] - r[0])
	return 2*t - 1
}

// value is the inverse of unit, for any u.
func (r Range) value(u float64) float64 { return r[0] + float64((u+1)/2*(r[1]-r[0])) }

// own reports whether blank cells have a feature of their own.
func (c Column) own() bool {
	return c.Fill != nil && *c.Fill == Missing && !slices.Contains(c.Categories, Missing)
}

// plain reports whether there is no rule.
func (c Column) plain() bool { return c.Scale == nil && c.Categories == nil && c.Fill == nil }

// features returns the names of the column's features.
func (c Column) features() []string {
	var names []string
	for _, word := range c.Categories {
		names = append(names, c.Name+"="+word)
	}
	if c.Categories == nil {
		names = append(names, c.Name)
	}
	if c.own() {
		names = append(names, c.Name+"="+Missing)
	}
	return names
}

// check refuses rules that contradict each other.
func (c Column) check() error {
	bad := func(parameter string, value any, rule string) error {
		return fmt.Errorf("column %q: %w", c.Name,
			check.Want(parameter, value, rule))
	}
	if r := c.Scale; r != nil {
		width := r.High() - r.Low()
		if !(width > 0) || max(math.Abs(r.Low()), math.Abs(r.High())) > data.MaxMagnitude {
			return bad("scale", fmt.Sprintf("%g:%g", r.Low(), r.High()),
				fmt.Sprintf("a finite number and a larger one, at most %g in size", data.MaxMagnitude))
		}
		if c.Categories != nil {
			return bad("scale", fmt.Sprintf("%g:%g", r.Low(), r.High()),
				"left out for a column of categories")
		}
	}
	switch {
	case c.Center != "" && c.Center != Zero:
		return bad("center", fmt.Sprintf("%q", c.Center), `"zero", or left out for the middle of the range`)
	case c.Center == Zero && (c.Scale == nil || !c.Scale.hasZero()):
		return bad("center", c.Center, "left out for a column without a scale that has 0 in it")
	}
	if c.Categories != nil && len(c.Categories) == 0 {
		return bad("categories", "none", "one word or more")
	}
	for i, word := range c.Categories {
		switch {
		case word != strings.TrimSpace(word):
			return bad("categories", fmt.Sprintf("%q", word), "without space around it")
		case word == "":
			return bad("categories", `""`, "words: fill says what a blank cell is")
		case slices.Contains(c.Categories[:i], word):
			return bad("categories", fmt.Sprintf("%q", word), "given once")
		}
	}
	if c.Fill == nil || *c.Fill == Missing {
		return nil
	}
	if c.Categories != nil {
		if !slices.Contains(c.Categories, *c.Fill) {
			return bad("fill", fmt.Sprintf("%q", *c.Fill), "one of the categories, or "+Missing)
		}
		return nil
	}
	if x, err := data.ParseNumber(*c.Fill); err != nil || math.Abs(x) > data.MaxMagnitude {
		return bad("fill", fmt.Sprintf("%q", *c.Fill), "a number, or "+Missing)
	}
	return nil
}

// append appends the features of a cell to a.
func (c Column) append(a []float64, cell string) ([]float64, error) {
	cell = strings.TrimSpace(cell)
	blank := format.IsMissing(cell) && !slices.Contains(c.Categories, cell)
	own := blank && c.own()
	if blank && c.Fill != nil && !own {
		cell = *c.Fill
	}
	switch {
	case c.Categories != nil:
		if !utf8.ValidString(cell) { // else every word of a file in another encoding would be none of the categories
			return nil, fmt.Errorf("column %q: value = %s, but it must be UTF-8: convert the file (iconv -t UTF-8)",
				c.Name, data.Shorten(cell))
		}
		for _, word := range c.Categories {
			a = append(a, indicator(cell == word))
		}
	case own:
		a = append(a, 0)
	default:
		x, err := c.number(cell)
		if err != nil {
			return nil, err
		}
		a = append(a, x)
	}
	if c.own() {
		a = append(a, indicator(own))
	}
	return a, nil
}

// number returns the number of a cell, scaled.
func (c Column) number(cell string) (float64, error) {
	x, err := data.ParseNumber(cell)
	switch {
	case err == nil:
		return c.mapped(x), nil
	case format.IsMissing(cell):
		return 0, check.SettledBy(fmt.Errorf("column %q: the cell is blank, but it must be a number, or "+
			"the column have a rule for blank cells", c.Name), "fill")
	case strings.Contains(cell, ","):
		if _, err := data.ParseNumber(strings.Replace(cell, ",", ".", 1)); err == nil {
			return 0, check.SettledBy(fmt.Errorf("column %q: value = %s has a comma, but numbers have a decimal point",
				c.Name, data.Shorten(cell)), "decimal comma")
		}
	}
	if x, _ := strconv.ParseFloat(cell, 64); math.IsInf(x, 0) {
		return 0, fmt.Errorf("column %q: %w", c.Name, err)
	}
	if _, bare := data.ParseNumber(strings.Trim(strings.ReplaceAll(cell, ",", ""), "%$€£ ")); bare == nil {
		return 0, fmt.Errorf("column %q: %w, without unit and commas between thousands", c.Name, err)
	}
	return 0, check.SettledBy(fmt.Errorf("column %q: %w: words need a list of categories, or the "+
		"column is left out", c.Name, err), "categories", "left out columns")
}

// point returns the cell of a table with decimal commas as others have it. A number with a point is refused: it may be
// one of thousands, or of a file whose numbers have none.
func (c Column) point(cell string) (string, error) {
	if c.Categories != nil || !strings.ContainsAny(cell, ",.") {
		return cell, nil
	}
	if strings.Contains(cell, ".") {
		return "", check.SettledBy(fmt.Errorf("column %q: value = %s has a point, but numbers are stated to have a decimal "+
			"comma, and none between thousands", c.Name, data.Shorten(cell)), "decimal comma")
	}
	return strings.Replace(cell, ",", ".", 1), nil
}

// mapped maps a number to [-1,1] where there is a scale.
func (c *Column) mapped(x float64) float64 {
	switch r := c.Scale; {
	case r == nil:
		return x
	case c.Center != Zero:
		return r.unit(x)
	default:
		return r.cut(x) / max(-r[0], r[1])
	}
}

func indicator(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

// Response is the column of the responses. With Categories it is the number of the word, from 0: of
// two words 0 and 1, of more the class of a model of several.
type Response struct {
	Column
	// Above makes the response 1 where the number is above it, and 0 elsewhere.
	Above *float64 `json:"above,omitempty"`
}

// plain reports whether there is no rule.
func (r *Response) plain() bool { return r == nil || r.Column.plain() && r.Above == nil }

// check refuses rules that make no response.
func (r *Response) check() error {
	bad := func(parameter string, value any, rule string) error {
		return fmt.Errorf("response %q: %w", r.Name,
			check.Want(parameter, value, rule))
	}
	switch {
	case r.Center != "":
		return bad("center", r.Center, "left out: it is of features")
	case r.Fill != nil:
		return bad("fill", fmt.Sprintf("%q", *r.Fill),
			"left out: no record is made up for a blank response")
	case r.Categories != nil && len(r.Categories) < 2:
		return bad("categories", fmt.Sprintf("%q", r.Categories),
			"two words or more: of response 0, of response 1 and so on")
	case r.Above != nil && (r.Categories != nil || r.Scale != nil):
		return bad("response", r.Name, "without scale and categories where it is a number above another")
	case r.Above != nil && math.IsNaN(*r.Above):
		return bad("response", r.Name, "a number above a number")
	}
	return r.Column.check()
}

// value returns the response of a cell.
func (r *Response) value(cell string) (float64, error) {
	cell = strings.TrimSpace(cell)
	if r.Categories != nil {
		i := slices.Index(r.Categories, cell)
		if i < 0 {
			return 0, check.SettledBy(fmt.Errorf("column %q: response = %s, but it must be one of %q",
				r.Name, data.Shorten(cell), r.Categories), "categories", "words of classes")
		}
		return float64(i), nil
	}
	x, err := data.ParseNumber(cell)
	switch {
	case err == nil && r.Above != nil:
		return indicator(x > *r.Above), nil
	case err == nil && r.Scale != nil:
		return r.Scale.unit(x), nil
	case err == nil:
		return x, nil
	case format.IsMissing(cell):
		return 0, fmt.Errorf("column %q: the response is blank, but every record must have one", r.Name)
	}
	return 0, check.SettledBy(fmt.Errorf("column %q: %w; the words of a response are stated, that of 0 first",
		r.Name, err), "categories", "words of classes")
}

// Value returns a prediction in the units of the response's column: the inverse of Scale, and u
// itself without one. nil is a response without rules.
func (r *Response) Value(u float64) float64 {
	if r == nil || r.Scale == nil {
		return u
	}
	return r.Scale.value(u)
}

// Unit returns how much of the column's units is 1 of the response: (high-low)/2, or 1 without a
// scale.
func (r *Response) Unit() float64 {
	if r == nil || r.Scale == nil {
		return 1
	}
	return (r.Scale.High() - r.Scale.Low()) / 2
}

var errNoFeatures = errors.New("no features")
