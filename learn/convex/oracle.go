package convex

import (
	"math"
	"strconv"
	"strings"

	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/handle"
	"github.com/darrm/darrm/learn/loss"
)

// OracleKind is a way of finding slopes of Moreau envelopes.
type OracleKind string

// The kinds. Bisections ask the link for slopes only.
const (
	// closed form, exact; the default where the link has one
	Fast            OracleKind = "fast"
	Bisection       OracleKind = "bisection"        // ⌈log₂(2·L0·R/α)⌉ halvings of an interval
	PaperBisections OracleKind = "paper-bisections" // ⌈log₂(16·L0²R²/α²)⌉, as the source counts them
)

// oracle gives slopes of the Moreau envelope of a convex link φ, clipped to [-L0, L0]: the
// gradient oracle of the source (Algorithm 3), with its bisection repaired. The printed one
// compares values at quarter points with the comparison turned round and without the factor
// β/2, and so returns the gradient 0; and to drop half of the interval after comparing
// quarter points can drop the minimiser. Make it with NewOracle. It is immutable.
type oracle struct {
	link  loss.Link
	prox  loss.Proximal // nil for a bisection
	beta  float64
	bound float64 // L0
	// M
	low, high float64
	steps     int
	alpha     float64 // what a gradient may be off by, for features within the radius
}

// newOracle returns the oracle of env at β with gradients to within alpha for features of
// norm at most radius. bound is L0: slopes of φ beyond it are clipped to it. "" is Fast where
// the link is a loss.Proximal, else Bisection. Envelopes are over the interval m.
func newOracle(link loss.Link, kind OracleKind, m Interval, beta, bound, radius,
	alpha float64) (oracle, error) {
	if err := m.check(); err != nil {
		return oracle{}, err
	}
	if link.WeakConvexity() != 0 {
		return oracle{}, check.Want("task", link.Name(), "convex for this method")
	}
	for _, v := range []struct {
		name  string
		value float64
	}{{"Moreau parameter beta", beta}, {"slope bound", bound}, {"radius", radius},
		{"oracle accuracy alpha", alpha}} {
		if err := check.Positive(v.name, v.value); err != nil {
			return oracle{}, err
		}
	}
	o := oracle{link: link, beta: beta, bound: bound, alpha: alpha}
	o.low, o.high = m.ends()
	prox, exact := link.(loss.Proximal)
	if kind == "" {
		kind = Bisection
		if exact {
			kind = Fast
		}
	}
	switch kind {
	case Fast:
		if !exact {
			return oracle{}, check.Want("oracle", kind, "bisection for "+link.Name()+
				": it has no proximal map in closed form")
		}
		o.prox, o.alpha = prox, 0
	case Bisection:
		o.steps = int(math.Ceil(math.Log2(2 * bound * radius / alpha)))
	case PaperBisections:
		o.steps = int(math.Ceil(math.Log2(16 * bound * bound * radius * radius / (alpha * alpha))))
	default:
		return oracle{}, check.Want("oracle", kind, "fast, bisection or paper-bisections")
	}
	return o, nil
}

// Alpha returns the largest error of a gradient in norm, 0 for the closed form.
func (o oracle) Alpha() float64 { return o.alpha }

// Steps returns the number of halvings for each gradient; it does not depend on the data.
func (o oracle) Steps() int { return o.steps }

// Slope returns env′(m, y), the gradient's factor on the features, within [-L0, L0].
//
// To clip slopes of φ to [-L0, L0] is to clip those of its envelope: where β(m-u) = φ′(u) is
// beyond L0, the clipped link's minimiser is m ∓ L0/β, with the slope ±L0.
//
// Over an interval, β(m-u) is between what its ends give: for a convex φ the minimiser there is the
// one of all numbers, or else the end next to it.
func (o oracle) Slope(m, y float64) float64 {
	m = max(o.low, min(o.high, m))
	if o.prox != nil {
		slope := o.clip(o.prox.EnvelopeSlope(m, y, o.beta))
		return max(o.beta*(m-o.high), min(o.beta*(m-o.low), slope))
	}
	// The subgradient of φ(u) + (β/2)(u-m)² grows in u, and is 0 at the proximal map, which is
	// within L0/β of m; the source takes twice that.
	low, high := max(o.low, m-2*o.bound/o.beta), min(o.high, m+2*o.bound/o.beta)
	for range o.steps {
		u := low + (high-low)/2
		switch s := o.clip(o.link.Slope(u, y)) + o.beta*(u-m); {
		case s > 0:
			high = u
		case s < 0:
			low = u
		default:
			return o.clip(o.beta * (m - u))
		}
	}
	return o.clip(o.beta * (m - (low + (high-low)/2)))
}

func (o oracle) clip(s float64) float64 { return max(-o.bound, min(o.bound, s)) }

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
		return i, check.Want("interval", strconv.Quote(text), "low:high, such as -1:1 or 0:")
	}
	return i, i.check()
}

func (i Interval) check() error {
	if i == (Interval{}) || i.Low < i.High && (!math.IsInf(i.Low, -1) || !math.IsInf(i.High, 1)) {
		return nil
	}
	return check.Want("interval", i.String(), "of a low end below a high one, one of them finite")
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
	i = handle.Made(i)
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
