package convex

import (
	"math"

	"github.com/darrm/darrm/internal/check"
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
		return oracle{}, &check.Error{Name: "task", Value: link.Name(), Rule: "convex for this method"}
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
			return oracle{}, &check.Error{Name: "oracle", Value: kind, Rule: "bisection for " + link.Name() +
				": it has no proximal map in closed form"}
		}
		o.prox, o.alpha = prox, 0
	case Bisection:
		o.steps = int(math.Ceil(math.Log2(2 * bound * radius / alpha)))
	case PaperBisections:
		o.steps = int(math.Ceil(math.Log2(16 * bound * bound * radius * radius / (alpha * alpha))))
	default:
		return oracle{}, &check.Error{Name: "oracle", Value: kind,
			Rule: "fast, bisection or paper-bisections"}
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
