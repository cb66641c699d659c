package experiment

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat"

	"github.com/darrm/darrm/internal/check"
)

// Statement is a claim of a definition about the mean of a line's measure, at each place that has
// the coordinates At. It has one predicate. Of is the other line of a predicate that compares two.
type Statement struct {
	Line    string             `json:"line"`
	Measure string             `json:"measure,omitempty"`
	At      map[string]float64 `json:"at,omitempty"`
	Of      string             `json:"of,omitempty"`
	// Published is the published figure that a range is compared with.
	Published string `json:"published,omitempty"`

	Range *Bounds `json:"range,omitempty"`
	// Factor bounds the mean in units of the other's.
	Factor *Bounds `json:"factor,omitempty"`
	// Order are lines whose means ascend from Line on.
	Order []string `json:"order,omitempty"`
	// Slope bounds the slope of the mean's logarithm over that of the place's only coordinate.
	Slope *Bounds `json:"slope,omitempty"`
	// Difference bounds the paired difference to the other, with 95 % confidence.
	Difference *Bounds `json:"difference,omitempty"`
	// Within is the largest distance from the other's mean.
	Within float64 `json:"within,omitempty"`
}

// Bounds are a lower and an upper bound. In JSON null is none.
type Bounds struct{ Low, High float64 }

// UnmarshalJSON reads a pair.
func (b *Bounds) UnmarshalJSON(text []byte) error {
	pair := []*float64{nil, nil}
	if err := json.Unmarshal(text, &pair); err != nil {
		return err
	}
	*b = Bounds{math.Inf(-1), math.Inf(1)}
	if len(pair) != 2 || pair[0] == nil && pair[1] == nil {
		return fmt.Errorf("bounds = %s, but they must be a pair of numbers, of which one may be null", text)
	}
	if pair[0] != nil {
		b.Low = *pair[0]
	}
	if pair[1] != nil {
		b.High = *pair[1]
	}
	return nil
}

// MarshalJSON writes a pair.
func (b Bounds) MarshalJSON() ([]byte, error) {
	pair := [2]*float64{&b.Low, &b.High}
	for i, v := range pair {
		if math.IsInf(*v, 0) {
			pair[i] = nil
		}
	}
	return json.Marshal(pair)
}

// predicate returns the name of the predicate, "" unless there is exactly one.
func (c Statement) predicate() string {
	var names []string
	for name, is := range map[string]bool{"range": c.Range != nil, "factor": c.Factor != nil,
		"order": len(c.Order) > 0, "slope": c.Slope != nil, "difference": c.Difference != nil,
		"within": c.Within > 0} {
		if is {
			names = append(names, name)
		}
	}
	if len(names) != 1 {
		return ""
	}
	return names[0]
}

// About reports whether a claim is about a place.
func (c Statement) About(p Place) bool {
	for name, v := range c.At {
		if at, ok := p.At[name]; !ok || at != v {
			return false
		}
	}
	return true
}

// CheckStatements checks that claims are about lines, measures and places of f.
func CheckStatements(claims []Statement, f *Found, measures ...string) error {
	lines := make([]string, len(f.Lines))
	for i, l := range f.Lines {
		lines[i] = l.Name
	}
	for _, c := range claims {
		kind := c.predicate()
		others := slices.Clone(c.Order)
		if two := kind == "factor" || kind == "difference" || kind == "within"; two {
			others = append(others, c.Of)
		} else if c.Of != "" {
			kind = ""
		}
		if err := cmp.Or(
			check.Each("lines of a claim", append(others, c.Line), check.Among(lines)),
			check.Among(measures)("measure of a claim", c.Measure)); err != nil {
			return err
		}
		if kind == "" {
			return fmt.Errorf("the claim about %q must have one of range, order and slope, or another line "+
				"in of and one of factor, difference and within", c.Line)
		}
		if !slices.ContainsFunc(f.Places, c.About) {
			return fmt.Errorf("the claim about %q has no such place: at = %v", c.Line, c.At)
		}
	}
	return nil
}

// State tests the claims and states them in the kind's sentences, which may have values beside the
// claim's own.
func (r *Run) State(f *Found, claims []Statement, values map[string]any) {
	for _, c := range claims {
		j := f.Line(c.Line)
		own := with(values, map[string]any{"line": f.title(j), "what": Fill(r.spec().Measures[c.Measure], values),
			"published": ""})
		if c.Published != "" {
			own["published"] = " (published: " + c.Published + ")"
		}
		if c.Slope != nil {
			slope := f.slope(j, r.measure(c))
			own["value"] = slope
			r.state(c, c.Slope, c.Slope.hold(slope), own)
			continue
		}
		for i, p := range f.Places {
			if c.About(p) {
				own["at"] = p.Name
				r.judge(f, c, i, j, own)
			}
		}
	}
}

// measure returns the name of a claim's measure.
func (r *Run) measure(c Statement) string { return cmp.Or(c.Measure, r.spec().Measures["default"]) }

// judge tests a claim at a place.
func (r *Run) judge(f *Found, c Statement, i, j int, own map[string]any) {
	measure := r.measure(c)
	v := f.Stat(i, j, measure)
	own["value"] = v
	if c.Of != "" {
		k := f.Line(c.Of)
		own["of"], own["second"], own["ratio"] = f.title(k), f.Stat(i, k, measure), v/f.Stat(i, k, measure)
		d := Paired(f.Values(i, j, measure), f.Values(i, k, measure))
		own["mean"], own["from"], own["to"] = d.Mean, d.Low, d.High
		switch {
		case c.Factor != nil:
			r.state(c, c.Factor, c.Factor.times(own["second"].(float64)).hold(v), own)
		case c.Difference != nil && r.spec().Means:
			r.state(c, c.Difference, c.Difference.hold(d.Mean), own)
		case c.Difference != nil:
			r.state(c, c.Difference, d.Low > c.Difference.Low && d.High < c.Difference.High, own)
		default:
			own["within"] = c.Within
			r.state(c, nil, math.Abs(d.Mean) <= c.Within, own)
		}
		return
	}
	if c.Range != nil {
		r.state(c, c.Range, c.Range.hold(v), own)
		return
	}
	holds, names, list := true, []string{f.title(j)}, []float64{v}
	for _, name := range c.Order {
		k := f.Line(name)
		next := f.Stat(i, k, measure)
		holds = holds && v < next
		names, list = append(names, f.title(k)), append(list, next)
		v = next
	}
	own["lines"], own["values"] = strings.Join(names, ", "), list
	r.state(c, nil, holds, own)
}

// state states a claim in its sentence: that of its predicate, or of its predicate with one bound.
func (r *Run) state(c Statement, b *Bounds, holds bool, own map[string]any) {
	kind := c.predicate()
	if b != nil {
		own["low"], own["high"] = b.Low, b.High
		if math.IsInf(b.High, 1) {
			kind += " above"
		} else if math.IsInf(b.Low, -1) {
			kind += " below"
		}
	}
	if one := kind + " of " + c.Measure; r.spec().Claims[one] != [2]string{} {
		kind = one
	}
	r.Sentence(kind, holds, own)
}

// sentences are those of kinds that have none of their own, by predicate and open end.
var sentences = map[string][2]string{
	"range":       {"{at}: {what} of {line} is in [{low}, {high}]{published}", "{value:%.4f}"},
	"range above": {"{at}: {what} of {line} is at least {low}{published}", "{value:%.4f}"},
	"range below": {"{at}: {what} of {line} is at most {high}{published}", "{value:%.4f}"},
	"factor":      {"{at}: {what} of {line} is {low} to {high} times that of {of}", "{ratio:%.4f}"},
	"factor above": {"{at}: {what} of {line} is at least {low} times that of {of}",
		"{value:%.4g} and {second:%.4g}"},
	"factor below": {"{at}: {what} of {line} is at most {high} times that of {of}",
		"{value:%.4g} and {second:%.4g}"},
	"order":       {"{at}: in the order of {what}: {lines}", "{values:%.4g|, }"},
	"slope":       {"{line}: {what} goes with a power of the place between {low} and {high}", "{value:%.3f}"},
	"slope above": {"{line}: {what} goes with a power of the place of at least {low}", "{value:%.3f}"},
	"slope below": {"{line}: {what} goes with a power of the place of at most {high}", "{value:%.3f}"},
	"difference":  {"{at}: {what} of {line} minus that of {of} is in [{low}, {high}]" + confident, interval},
	"difference above": {"{at}: {what} of {line} minus that of {of} is above {low}" + confident,
		interval},
	"difference below": {"{at}: {what} of {line} minus that of {of} is below {high}" + confident,
		interval},
	"within": {"{at}: {what} of {line} and that of {of} differ by less than {within}", interval},
}

const (
	confident = ", with 95 % confidence"
	interval  = "{mean:%+.4f} [{from:%+.4f}, {to:%+.4f}]"
)

// Sentence states a claim in the sentence of that name in the kind's spec, or of its predicate.
func (r *Run) Sentence(name string, holds bool, values map[string]any) {
	s, ok := r.spec().Claims[name]
	if !ok {
		s = sentences[name]
	}
	r.Result.Claims = append(r.Result.Claims, Claim{strings.TrimPrefix(Fill(s[0], values), ": "), holds, Fill(s[1], values)})
}

// hold reports whether v is within the bounds. What is no number is above all.
func (b Bounds) hold(v float64) bool {
	if math.IsNaN(v) {
		v = math.Inf(1)
	}
	return v >= b.Low && v <= b.High
}

// times returns the bounds in units of v.
func (b Bounds) times(v float64) Bounds {
	if !math.IsInf(b.Low, 0) {
		b.Low *= v
	}
	if !math.IsInf(b.High, 0) {
		b.High *= v
	}
	return b
}

func (f *Found) title(line int) string { return cmp.Or(f.Lines[line].Title, f.Lines[line].Name) }

// slope returns the slope of a line's logarithm over that of the places' coordinate, by least
// squares; NaN where a value is not above 0.
func (f *Found) slope(line int, measure string) float64 {
	var x, y []float64
	for i, p := range f.Places {
		for _, at := range slices.Sorted(maps.Values(p.At)) {
			x, y = append(x, math.Log(at)), append(y, math.Log(f.Stat(i, line, measure)))
		}
	}
	_, slope := stat.LinearRegression(x, y, nil, false)
	return slope
}
