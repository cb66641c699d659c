package loss

import (
	"cmp"
	"fmt"
	"math"
	"strings"

	"github.com/darrm/darrm/internal/check"
)

// Orientation names the pairs of examples with different classes that count.
type Orientation string

// The orientations. They have the same minimisers; the symmetric one uses twice as many pairs.
const (
	// Symmetric counts every pair of two classes, as positive minus negative. The default.
	Symmetric Orientation = "symmetric"
	// Ordered counts a pair only where its first example is positive and its second negative.
	Ordered Orientation = "ordered"
)

// Pair is a loss of a linear score on two examples, for maximising the AUC:
//
//	f(w; (x,y), (x′,y′)) = ℓ(±⟨w, x-x′⟩), positive minus negative,   0 for pairs that do not count,
//
// where ℓ(s) = φ(s, 1) of a Link. y and y′ are classes, 0 or 1. A pair of an example with itself
// never counts. The zero Pair is none; make it with NewPair or ParsePair.
type Pair struct {
	link        Link
	orientation Orientation
}

// pairLinks are the links that ParsePair knows, under their names for pairs.
var pairLinks = []struct {
	name string
	link Link
}{
	{"hinge", Hinge{}},
	{"logistic", Logit{}},
	{"square", Square{}},
	{"loglink", SquaredSigmoid{}}, // (1-σ(s))², not convex
}

// PairNames returns the names that ParsePair takes; each may be followed by ":ordered".
func PairNames() []string {
	names := make([]string, len(pairLinks))
	for i, l := range pairLinks {
		names[i] = l.name
	}
	return names
}

// ParsePair returns the loss of a name, such as "logistic" or "hinge:ordered".
func ParsePair(name string) (Pair, error) {
	family, orientation, found := strings.Cut(name, ":")
	if !found {
		orientation = string(Symmetric)
	}
	for _, l := range pairLinks {
		if l.name == family && orientation != "" {
			return NewPair(l.link, Orientation(orientation))
		}
	}
	return Pair{}, check.Want("pair loss", fmt.Sprintf("%q", name), "one of "+
		strings.Join(PairNames(), ", ")+", each also with :ordered")
}

// NewPair returns the loss of a link for the class 1 and an orientation, "" being Symmetric.
func NewPair(link Link, orientation Orientation) (Pair, error) {
	orientation = cmp.Or(orientation, Symmetric)
	if orientation != Symmetric && orientation != Ordered {
		return Pair{}, check.Want("orientation", fmt.Sprintf("%q", orientation), "symmetric or ordered")
	}
	if link == nil {
		return Pair{}, check.Want("pair loss", "none", "one of "+strings.Join(PairNames(), ", "))
	}
	return Pair{link, orientation}, nil
}

// Name returns the link's name for pairs, and ":ordered" where it is; "" for the zero Pair.
func (p Pair) Name() string {
	if p.link == nil {
		return ""
	}
	name, suffix := p.link.Name(), ""
	if p.orientation == Ordered {
		suffix = ":ordered"
	}
	for _, l := range pairLinks {
		if l.link.Name() == name {
			return l.name + suffix
		}
	}
	return name + suffix
}

// Link returns φ, of which ℓ(s) = φ(s, 1); nil for the zero Pair.
func (p Pair) Link() Link { return p.link }

// Orientation returns the rule for the pairs that count.
func (p Pair) Orientation() Orientation { return p.orientation }

// Check refuses classes other than 0 and 1.
func (p Pair) Check(y float64) error {
	if math.IsNaN(y) {
		return fmt.Errorf("no response, but pairs need classes")
	}
	return checkLabel(y)
}

// Sign returns the factor of the margin s = Sign·⟨w, x-x2⟩ for an example of class y and its
// partner of class y2: 1 or -1, or 0 where the pair does not count.
func (p Pair) Sign(y, y2 float64) float64 {
	if p.orientation == Ordered && y < y2 {
		return 0
	}
	return y - y2
}

// known returns the link, which the zero Pair has not.
func (p Pair) known() Link {
	if p.link == nil {
		return noLink{}
	}
	return p.link
}

// Value returns ℓ(s).
func (p Pair) Value(s float64) float64 { return p.known().Value(s, 1) }

// Slope returns ℓ′(s).
func (p Pair) Slope(s float64) float64 { return p.known().Slope(s, 1) }

// Slopes bounds |ℓ′(s)| for |s| ≤ within, rounded up; within may be +Inf, and so may the bound.
func (p Pair) Slopes(within float64) float64 {
	if _, ok := p.link.(Square); ok { // the link's own bound is for every response
		return 2 * (1 + within) * (1 + 0x1p-50)
	}
	return p.known().Lipschitz(within)
}

// Lipschitz bounds the norm of the gradient for examples of norm at most radius and models of
// norm at most model, rounded up: Slopes(2·radius·model)·2·radius.
func (p Pair) Lipschitz(radius, model float64) float64 {
	return p.Slopes(2*radius*model*(1+0x1p-50)) * 2 * radius * (1 + 0x1p-50)
}

// Smoothness returns an L for which f is L-smooth for all examples of norm at most radius,
// rounded up: the link's curvature times (2·radius)².
func (p Pair) Smoothness(radius float64) float64 {
	return timesSquare(p.known().Curvature(), 2*radius)
}

// Convex reports whether f is convex in w for every pair.
func (p Pair) Convex() bool { return p.known().WeakConvexity() == 0 }

// Falling reports whether ℓ′(s) ≤ 0 is known for every s. It is for hinge, logistic, loglink and
// their envelopes. Then all gradients of one partner's pairs lie in a ball. Its diameter is the
// bound on the norm of one gradient, not twice that.
func (p Pair) Falling() bool { return falling(p.link) }

// falling is a list, so that a link that is not known to fall does not.
func falling(l Link) bool {
	switch l := l.(type) {
	case Hinge, Logit, SquaredSigmoid:
		return true
	case Envelope:
		return falling(l.of) // its slopes are φ's, elsewhere
	}
	return false
}

// Smoothed returns the loss of the Moreau envelope of φ at β: convex, β-smooth in s, with slopes
// within φ's, and below ℓ by at most Slopes(+Inf)²/(2β). It refuses a φ that is not convex or
// has no proximal map.
func (p Pair) Smoothed(beta float64) (Pair, error) {
	proximal, ok := p.link.(Proximal)
	if !ok {
		return Pair{}, check.Want("pair loss", p.Name(), "one with a proximal map, or smooth")
	}
	e, err := NewEnvelope(proximal, beta)
	return Pair{e, p.orientation}, err
}
