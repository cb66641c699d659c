package accountant

import (
	"errors"
	"fmt"
	"math"
	"math/big"

	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/num"
)

// HockeyStick is a mechanism with a proved δ(ε) at some ε. The caller of NewHockeyStick vouches for
// the proof. It composes by what it proves at all of them (MethodPLD and MethodRDP), and at the
// last one alone by the methods for (ε, δ)-DP events. It is immutable, and the zero HockeyStick is
// refused.
type HockeyStick struct {
	proved *hockeyStick // never changed; events have to be comparable
}

type hockeyStick struct {
	relation Relation
	theorem  string
	cost     Cost // the last point
	points   int
	loss     atomLoss
}

// HockeyStickPoint is one point of a HockeyStick: the mechanism is (Epsilon, Delta)-DP.
type HockeyStickPoint struct {
	Epsilon float64 // ε in [0, 700]
	Delta   float64 // δ in [0,1], rounded up
}

// maxHockeyStickPoints bounds the points of one HockeyStick. At this number it is made in tenths
// of a second.
const maxHockeyStickPoints = 2000

// NewHockeyStick returns the mechanism that is (ε, δ)-DP for each point, whatever the mechanisms
// before it returned: for any two datasets that are neighbours by the relation, in both directions.
// theorem is the name of what proves that, for people. The points are copied. Each float64 stands
// for its shortest decimal.
//
// Every ε must be in [0, 700], the first 0 and the others ascending, every δ in [0,1] and
// non-increasing, the last below 1. At most 2000 points are taken.
//
// What it is accounted for as, with h(z) = sup P(S) - z·Q(S) over all S and neighbours P, Q, at z =
// e^ε: h is convex and non-increasing, h(0) = 1, and h(1/z) = 1 - 1/z + h(z)/z since it is for both
// directions. So h is nowhere above the lower convex hull of the points (z_i, δ_i), their mirror
// images, (0, 1), and δ of the last one beyond it. A curve like the hull is that of a pair, which
// dominates the mechanism (Zhu, Dong and Wang, Optimal Accounting of Differential Privacy via
// Characteristic Function, 2022, Proposition 8 and Theorem 10): where its slope grows by q, at z, Q
// has mass q and P mass zq (Doroshenko et al., Connect the Dots, 2022, Section 3).
func NewHockeyStick(relation Relation, theorem string,
	points []HockeyStickPoint) (HockeyStick, error) {
	if err := checkProof(relation, theorem); err != nil {
		return HockeyStick{}, err
	}
	if len(points) == 0 || points[0].Epsilon != 0 {
		return HockeyStick{},
			errors.New("the first point of a hockey-stick profile must be that of epsilon = 0")
	}
	if len(points) > maxHockeyStickPoints {
		return HockeyStick{}, check.Wantf("points of a hockey-stick profile", len(points), "at most %d",
			maxHockeyStickPoints)
	}
	last := HockeyStickPoint{Epsilon: -1, Delta: 1}
	for _, p := range points {
		if err := check.ProfileEpsilon(p.Epsilon); err != nil {
			return HockeyStick{}, err
		}
		if p.Epsilon <= last.Epsilon {
			return HockeyStick{}, check.Wantf("epsilon of a profile", p.Epsilon, "above the one before, %g",
				last.Epsilon)
		}
		if !(p.Delta >= 0 && p.Delta <= last.Delta) {
			return HockeyStick{}, check.Wantf(fmt.Sprintf("delta at epsilon = %g", p.Epsilon), p.Delta,
				"between 0 and %g, that of a smaller epsilon", last.Delta)
		}
		last = p
	}
	if err := check.Delta("last delta of a profile", last.Delta); err != nil {
		return HockeyStick{}, err
	}
	return HockeyStick{&hockeyStick{relation, theorem, Cost(last), len(points),
		dominatingAtoms(points)}}, nil
}

// Relation returns the neighbouring relation that the points were proved for.
func (e HockeyStick) Relation() Relation {
	if e.proved == nil {
		return 0 // which is refused
	}
	return e.proved.relation
}

func (e HockeyStick) String() string {
	if e.proved == nil {
		return "no hockey-stick profile; make it with NewHockeyStick"
	}
	return fmt.Sprintf("hockey-stick profile of %d points by %s", e.proved.points, e.proved.theorem)
}

// Cost returns the last point, (ε, δ), the largest ε and the smallest δ. Without a profile nothing is
// proved.
func (e HockeyStick) Cost() Cost {
	if e.proved == nil {
		return Cost{Epsilon: math.Inf(1), Delta: 1}
	}
	return e.proved.cost
}

// corner is a point (z, h) of a hockey-stick curve.
type corner struct{ z, h *big.Rat }

// dominatingAtoms returns the losses of the pair whose curve is the hull of the points. All is
// exact but the masses and losses themselves, which are rounded up: that raises δ everywhere.
func dominatingAtoms(points []HockeyStickPoint) atomLoss {
	hull := lowerHull(mirrored(points))
	l := atomLoss{infinite: num.FromRat(hull[len(hull)-1].h).Upper()}
	slope := func(i int) *big.Rat { // to the right of corner i
		if i == len(hull)-1 {
			return new(big.Rat)
		}
		run := new(big.Rat).Sub(hull[i+1].z, hull[i].z)
		return run.Quo(new(big.Rat).Sub(hull[i+1].h, hull[i].h), run)
	}
	before := slope(0) // what Q has at z = 0, P has not
	for i := 1; i < len(hull); i++ {
		after := slope(i)
		mass := new(big.Rat).Sub(after, before)
		before = after
		if mass.Mul(mass, hull[i].z).Sign() > 0 {
			l.atoms = append(l.atoms, atom{num.Log(num.FromRat(hull[i].z)).Upper(),
				num.FromRat(mass).Upper()})
		}
	}
	return l
}

// mirrored returns the corners in ascending z: (0,1), the points' mirror images and the points. A z
// is not below e^ε: h falls, so that δ bounds it there too.
func mirrored(points []HockeyStickPoint) []corner {
	one := big.NewRat(1, 1)
	right := []corner{{one, num.Decimal(points[0].Delta)}}
	for _, p := range points[1:] {
		z := new(big.Rat).SetFloat64(num.Exp(num.Decimal(p.Epsilon)).Upper())
		if last := &right[len(right)-1]; last.z.Cmp(z) == 0 { // two ε that differ by less than a unit
			last.h = num.Decimal(p.Delta)
		} else {
			right = append(right, corner{z, num.Decimal(p.Delta)})
		}
	}
	all := []corner{{new(big.Rat), one}}
	for i := len(right) - 1; i > 0; i-- {
		z := new(big.Rat).Inv(right[i].z)
		h := new(big.Rat).Sub(right[i].h, one)
		all = append(all, corner{z, h.Add(h.Mul(h, z), one)}) // 1 - z + hz
	}
	return append(all, right...)
}

// lowerHull returns the corners of the lower convex hull, in ascending z as they were given. A
// convex function that is at most h at each corner is nowhere above the hull, since a chord of
// two bounds is above the chord of the function.
func lowerHull(all []corner) []corner {
	var hull []corner
	for _, c := range all {
		for len(hull) >= 2 && !convex(hull[len(hull)-2], hull[len(hull)-1], c) {
			hull = hull[:len(hull)-1]
		}
		hull = append(hull, c)
	}
	return hull
}

// convex reports whether b lies below the chord from a to c.
func convex(a, b, c corner) bool {
	left := new(big.Rat).Mul(new(big.Rat).Sub(b.h, a.h), new(big.Rat).Sub(c.z, a.z))
	right := new(big.Rat).Mul(new(big.Rat).Sub(c.h, a.h), new(big.Rat).Sub(b.z, a.z))
	return left.Cmp(right) < 0
}
