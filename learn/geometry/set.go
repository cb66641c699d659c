package geometry

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/floats"

	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/vec"
)

// Set is a convex set W of models of one dimension, which methods without a projection move
// in. It is immutable and safe for concurrent use.
type Set interface {
	// Name names the set and its parameters; it goes into a plan's digest.
	Name() string
	Dim() int
	// Norm returns the p of the norm ‖·‖_p that the set is measured in; features are
	// measured in its dual.
	Norm() float64
	// Diameter returns max ‖v-w‖_p over v and w in W, rounded up.
	Diameter() float64
	// Minimize sets v to a point of W where ⟨v, g⟩ is least.
	Minimize(v, g []float64)
}

// Gap returns max_{v∈W} ⟨g, w-v⟩, at a gradient g of w the Frank-Wolfe gap: at least 0 for w
// in W, and 0 where w is stationary.
func Gap(s Set, w, g []float64) float64 {
	if s == nil {
		return math.Inf(1) // of all points
	}
	v := make([]float64, len(w))
	s.Minimize(v, g)
	return floats.Dot(g, w) - floats.Dot(g, v)
}

// LpBall is ‖w‖_p ≤ radius for p in (1, 2], with a norm of its own. Make it with NewLpBall.
type LpBall struct {
	dim    int
	p      float64
	radius float64
}

// NewLpBall returns the ball of a dimension, p in (1,2] and a finite radius above 0.
func NewLpBall(dim int, p, radius float64) (LpBall, error) {
	if !(p > 1 && p <= 2) {
		return LpBall{}, check.Want("norm p of a ball", p, "in (1, 2]; for 1 take the ℓ1 ball")
	}
	return LpBall{dim, p, radius}, checkSize(dim, radius)
}

func checkSize(dim int, radius float64) error {
	return cmp.Or(check.Whole("dimension", dim, 1, math.MaxInt32), check.Positive("radius of the set", radius))
}

// Name returns "l" and p, the dimension and the radius.
func (b LpBall) Name() string { return fmt.Sprintf("l%v ball of %v in %d", b.p, b.radius, b.dim) }

// Dim returns the dimension.
func (b LpBall) Dim() int { return b.dim }

// Norm returns p.
func (b LpBall) Norm() float64 { return b.p }

// Radius returns the radius.
func (b LpBall) Radius() float64 { return b.radius }

// Diameter returns 2·radius.
func (b LpBall) Diameter() float64 { return 2 * b.radius }

// Minimize sets v_i to -r·sgn(g_i)|g_i|^{q-1}/‖g‖_q^{q-1}, 0 for g = 0.
func (b LpBall) Minimize(v, g []float64) {
	q := Dual(b.p)
	norm := Norm(g, q)
	if norm == 0 {
		clear(v)
		return
	}
	for i, x := range g {
		if b.p == 2 {
			v[i] = -b.radius * (x / norm)
		} else {
			v[i] = -b.radius * math.Copysign(math.Pow(math.Abs(x)/norm, q-1), x)
		}
	}
	// Within the ball despite rounding, so that its diameter holds.
	if n := Norm(v, b.p); n > b.radius {
		floats.Scale(b.radius/n, v)
	}
}

// NewL1Ball returns ‖w‖₁ ≤ radius, of a dimension and a finite radius above 0.
func NewL1Ball(dim int, radius float64) (OnAxes, error) {
	b := axes{dim, radius, true}
	return b, b.check()
}

// NewSimplex returns the set of w ≥ 0 with Σ w_i = radius, of a dimension and a finite radius above 0.
func NewSimplex(dim int, radius float64) (OnAxes, error) {
	s := axes{dim, radius, false}
	return s, s.check()
}

// SetNames returns the sets that ParseSet takes, with letters for the numbers.
func SetNames() []string {
	return []string{"l2:RADIUS", "l1:RADIUS", "lp:P:RADIUS", "simplex:RADIUS"}
}

// ParseSet returns the set of a dimension that text names: l2:1 and l1:1 are the balls of
// radius 1, lp:1.5:1 the ball of ‖·‖_1.5, simplex:1 the vectors ≥ 0 of sum 1.
func ParseSet(text string, dim int) (Set, error) {
	family, rest, _ := strings.Cut(text, ":")
	var numbers []float64
	for _, field := range strings.Split(rest, ":") {
		v, err := strconv.ParseFloat(field, 64)
		if err != nil {
			return nil, noSet(text)
		}
		numbers = append(numbers, v)
	}
	radius := numbers[len(numbers)-1]
	switch {
	case family == "lp" && len(numbers) == 2:
		return NewLpBall(dim, numbers[0], radius)
	case len(numbers) != 1:
	case family == "l2":
		return NewLpBall(dim, 2, radius)
	case family == "l1":
		return NewL1Ball(dim, radius)
	case family == "simplex":
		return NewSimplex(dim, radius)
	}
	return nil, noSet(text)
}

func noSet(text string) error {
	return check.Want("set", fmt.Sprintf("%q", text), "one of "+strings.Join(SetNames(), ", "))
}

// Dual returns q with 1/p + 1/q = 1, +Inf for p = 1 and 1 for p = +Inf.
func Dual(p float64) float64 {
	switch {
	case p == 1:
		return math.Inf(1)
	case math.IsInf(p, 1):
		return 1
	}
	return p / (p - 1)
}

// WithIntercept returns a bound on ‖(a, 1)‖_q for every a with ‖a‖_q ≤ radius, q in [1, +Inf]:
// (radius^q + 1)^{1/q}, rounded up.
func WithIntercept(radius, q float64) float64 {
	if math.IsInf(q, 1) {
		return max(radius, 1)
	}
	return Norm([]float64{radius, 1}, q) * (1 + normSlack(2) + 0x1p-45)
}

// Norm returns ‖v‖_p for p in [1, +Inf], without overflow, to vec.Slack where p is 1, 2 or
// +Inf and to 2⁻⁴⁴ more otherwise.
func Norm(v []float64, p float64) float64 {
	top := 0.0
	for _, x := range v {
		top = max(top, math.Abs(x)) // NaN stays
	}
	if top == 0 || math.IsInf(top, 1) || math.IsNaN(top) || math.IsInf(p, 1) {
		return top
	}
	s := 0.0
	switch p {
	case 1:
		for _, x := range v {
			s += math.Abs(x)
		}
		return s
	case 2:
		for _, x := range v {
			s += (x / top) * (x / top)
		}
		return top * math.Sqrt(s)
	}
	for _, x := range v {
		if x != 0 {
			s += math.Pow(math.Abs(x)/top, p)
		}
	}
	return top * math.Pow(s, 1/p)
}

// normSlack bounds the relative rounding error of a Norm of d numbers, with room to spare:
// powers are off by some units in the last place, sums by d of them.
func normSlack(d int) float64 { return vec.Slack(d) + 0x1p-44 }

// Shortening returns the factor that brings v to a norm ‖v‖_q of at most radius, q in [1, +Inf]: 1
// where it is within, and otherwise rounded so that the exact norm is never above the radius.
func Shortening(v []float64, radius, q float64) float64 {
	norm := Norm(v, q) * (1 + normSlack(len(v))) // at least the exact norm
	if norm <= radius {
		return 1
	}
	return radius / norm * (1 - 0x1p-50)
}
