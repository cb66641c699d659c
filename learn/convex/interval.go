package convex

import (
	"math"
	"strconv"
	"strings"

	"github.com/darrm/darrm/internal/check"
)

// Interval is M, the predictions ⟨w,x⟩ that a loss is for; the zero value is all numbers. A loss
// with an Interval is minimised through its Moreau envelope over M,
//
//	env(m) = min_{u∈M} φ(u) + (β/2)(u-m)²,
//
// and predictions beyond M, which noised iterates have, count as its nearest end. So slopes stay
// within [-L0, L0] and grow with the prediction, and a step is non-expansive: beyond M the
// unclipped β(m-u) grows without end, and with it what a record does. L0 is the loss's bound within
// M.
//
// Near an end the envelope is flat where φ falls beyond it: with |u-3| and M = [-1,1] nothing draws
// a prediction of 1 further. Every loss here is one for all numbers, so that no interval learns
// more; state one where only the bound of the slopes on M is known, or to repeat the source.
// UnmarshalText is for one goroutine at a time.
type Interval struct{ Low, High float64 }

// ParseInterval reads "low:high"; either may be left out for none.
func ParseInterval(text string) (Interval, error) {
	i := Interval{math.Inf(-1), math.Inf(1)}
	low, high, ok := strings.Cut(text, ":")
	var err error
	if ok && low != "" {
		i.Low, err = strconv.ParseFloat(low, 64)
	}
	if ok && high != "" && err == nil {
		i.High, err = strconv.ParseFloat(high, 64)
	}
	if !ok || err != nil {
		return i, &check.Error{Name: "interval", Value: strconv.Quote(text),
			Rule: "low:high, such as -1:1 or 0:"}
	}
	return i, i.check()
}

func (i Interval) check() error {
	if i == (Interval{}) || i.Low < i.High && (!math.IsInf(i.Low, -1) || !math.IsInf(i.High, 1)) {
		return nil
	}
	return &check.Error{Name: "interval", Value: i.String(), Rule: "of a low end below a high one, one " +
		"of them finite"}
}

// String is the form that ParseInterval reads.
func (i Interval) String() string {
	return strconv.FormatFloat(i.Low, 'g', -1, 64) + ":" + strconv.FormatFloat(i.High, 'g', -1, 64)
}

// MarshalText returns the form that ParseInterval reads, "" for no interval.
func (i Interval) MarshalText() ([]byte, error) {
	if !i.stated() {
		return nil, nil
	}
	return []byte(i.String()), nil
}

// UnmarshalText reads the form of MarshalText.
func (i *Interval) UnmarshalText(text []byte) (err error) {
	if *i = (Interval{}); len(text) > 0 {
		*i, err = ParseInterval(string(text))
	}
	return err
}

// stated reports whether there is one.
func (i Interval) stated() bool { return i != Interval{} }

// ends returns low and high, ∓Inf where none is stated.
func (i Interval) ends() (low, high float64) {
	if !i.stated() {
		return math.Inf(-1), math.Inf(1)
	}
	return i.Low, i.High
}

// within returns a bound on |⟨w,x⟩| as slopes see it, where |⟨w,x⟩| is at most reach.
func (i Interval) within(reach float64) float64 {
	low, high := i.ends()
	return min(reach, max(math.Abs(low), math.Abs(high)))
}
