package accountant

import (
	"errors"
	"fmt"
	"math"
	"sort"

	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/num"
)

// Curve is a mechanism with proved bounds on its Rényi divergence at some orders. The caller of
// NewCurve vouches for the proof. It is immutable, and the zero Curve is refused. Methods other
// than MethodRDP refuse it.
type Curve struct {
	proved *curve // never changed; events have to be comparable
}

type curve struct {
	relation    Relation
	theorem     string
	orders, rho []float64
}

// CurvePoint is one point of a Curve.
type CurvePoint struct {
	Alpha float64 // order α > 1
	Rho   float64 // ρ(α) ≥ 0, an upper bound on the divergence in both directions, rounded up
}

// NewCurve returns the mechanism whose Rényi divergence, between any two datasets that are
// neighbours by the relation, is at most each point's, whatever the mechanisms before it
// returned. theorem is the name of what proves that, for people. The points are copied.
//
// Orders must be finite, above 1 and ascending, divergences finite, at least 0 and
// non-decreasing, as Rényi divergences are. At orders between two points ρ follows from
// both, since (α-1)·ρ(α) is convex (van Erven and Harremoës, Rényi Divergence and
// Kullback-Leibler Divergence, 2014, Theorem 11, Corollary 2); below the first it is at most
// the first's, and above the last nothing is known.
func NewCurve(relation Relation, theorem string, points []CurvePoint) (Curve, error) {
	if err := checkProof(relation, theorem); err != nil {
		return Curve{}, err
	}
	if len(points) == 0 {
		return Curve{}, errors.New("a curve without orders")
	}
	c := &curve{relation: relation, theorem: theorem}
	last := CurvePoint{Alpha: 1}
	for _, p := range points {
		switch {
		case !(p.Alpha > last.Alpha) || math.IsInf(p.Alpha, 1):
			return Curve{}, check.Wantf("order", p.Alpha, "finite and above %g, orders ascend from 1",
				last.Alpha)
		case !(p.Rho >= last.Rho) || math.IsInf(p.Rho, 1):
			return Curve{}, check.Wantf(fmt.Sprintf("divergence of order %g", p.Alpha), p.Rho,
				"finite and at least %g, divergences rise with the order from 0", last.Rho)
		}
		c.orders, c.rho, last = append(c.orders, p.Alpha), append(c.rho, p.Rho), p
	}
	return Curve{c}, nil
}

func checkProof(relation Relation, theorem string) error {
	if err := relation.check(); err != nil {
		return err
	}
	if theorem == "" {
		return errors.New("what proves the event must be named")
	}
	return nil
}

// Relation returns the neighbouring relation that the curve was proved for.
func (e Curve) Relation() Relation {
	if e.proved == nil {
		return 0 // which is refused
	}
	return e.proved.relation
}

func (e Curve) String() string {
	if e.proved == nil {
		return "no curve; make it with NewCurve"
	}
	c := e.proved
	return fmt.Sprintf("Rényi curve of %d orders up to %g by %s", len(c.orders),
		c.orders[len(c.orders)-1], c.theorem)
}

// at returns ρ at an order in (1, the last], rounded up.
func (c *curve) at(alpha float64) float64 {
	i := sort.SearchFloat64s(c.orders, alpha)
	if i == 0 || c.orders[i] == alpha {
		return c.rho[i]
	}
	// (α-1)ρ is the mean of (a-1)ρ_a and (b-1)ρ_b with weights 1-t and t. Divided by α-1 that
	// is a mean of ρ_a and ρ_b, with weight t·(b-1)/(α-1) for ρ_b.
	a, b := c.orders[i-1], c.orders[i]
	weight := (alpha - a) / (b - a) * ((b - 1) / (alpha - 1))
	between := c.rho[i-1] + weight*(c.rho[i]-c.rho[i-1])
	return min(c.rho[i], between*(1+num.Margin)+num.Tiny)
}
