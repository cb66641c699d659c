package game

import (
	"math"

	"github.com/darrm/darrm/internal/check"
)

// Bounds bounds one outcome of a pair of laws, or of all pairs of a Cell.
type Bounds struct {
	P       float64 // at least P
	Ratio   float64 // at most P'/P
	PPrime  float64 // at least P'
	Inverse float64 // at most P/P'
}

// Cell stands for ordered pairs of laws. Each of them has, at every x ≥ 0, a curve that is at most
//
//   - the smaller of  Σ P·max(0, 1 - x·Ratio)  and  1 - x + Σ PPrime·max(0, x - Inverse)
//     over the outcomes of All, and
//   - unless there are none, the largest of the same of Corners, plus Slack + Slope·|1 - x|.
//
// Of one pair, All is exact but for rounding, and there are no Corners.
type Cell struct {
	All     []Bounds
	Corners [][]Bounds
	Slack   float64
	Slope   float64
}

func (c *Cell) validate() error {
	if err := validBounds(c.All); err != nil {
		return err
	}
	for _, b := range c.Corners {
		if err := validBounds(b); err != nil {
			return err
		}
	}
	if !(c.Slack >= 0 && c.Slope >= 0) {
		return check.Want("slack of a cell", min(c.Slack, c.Slope), "at least 0")
	}
	return nil
}

func validBounds(list []Bounds) error {
	if len(list) == 0 || len(list) > MaxOutcomes {
		return check.Wantf("outcomes of a cell", len(list), "between 1 and %d", MaxOutcomes)
	}
	p, q := 0.0, 0.0
	for _, b := range list {
		for _, v := range [...]float64{b.P, b.Ratio, b.PPrime, b.Inverse} {
			if !(v >= 0) || math.IsInf(v, 1) {
				return check.Want("bound of a cell", v, "a finite number ≥ 0")
			}
		}
		if b.P > 1 || b.PPrime > 1 {
			return check.Want("probability of a cell", max(b.P, b.PPrime), "at most 1")
		}
		p, q = p+b.P, q+b.PPrime
	}
	const rounding = 1e-9 // this finds bounds that are none, and proves nothing
	if p < 1-rounding || q < 1-rounding {
		return check.Want("sum of a cell's upper bounds", min(p, q), "at least 1")
	}
	return nil
}

// curve returns an upper bound of the curves of all pairs of the cell at the lattice point i.
func (l *lattice) curve(c *Cell, i int) float64 {
	all := l.bounded(c.All, i)
	if len(c.Corners) == 0 || all == 0 {
		return all
	}
	largest := 0.0
	for _, b := range c.Corners {
		largest = max(largest, l.bounded(b, i))
	}
	away := max(1-l.low[i], l.up[i]-1)
	slack := float64((c.Slack + float64(c.Slope*float64(away*dearer))) * dearer)
	return min(all, (largest+slack)*dearer)
}

// bounded returns the smaller one of both sums of Cell at the lattice point i, rounded up.
func (l *lattice) bounded(list []Bounds, i int) float64 {
	low, up := l.low[i], l.up[i]
	first, second := 0.0, 0.0
	for _, b := range list {
		if rest := 1 - float64(float64(low*b.Ratio)*cheaper); rest > 0 {
			first += float64(b.P * float64(rest*dearer))
		}
		if rest := float64(up*dearer) - b.Inverse; rest > 0 {
			second += float64(b.PPrime * float64(rest*dearer))
		}
	}
	rounding := 1 + float64(float64(len(list)+2)*0x1p-52)
	first = float64(first * rounding)
	if second = float64(second * rounding); low > 1 {
		second = second - (low - 1) + float64(up*0x1p-48) // a difference: the error is that of its parts
	} else {
		second = (float64((1-low)*dearer) + second) * dearer
	}
	return min(1, max(0, min(first, second)))
}

// flat is the least relative depth of a vertex below the chord of its neighbours: less is rounding.
const flat = 1e-11

// vertex is the point of a curve at the lattice point x_{i-reach}; -1 stands for 0.
type vertex struct {
	i int
	y float64
}

func (l *lattice) at(v vertex) float64 {
	if v.i < 0 {
		return 0
	}
	return l.up[v.i]
}

// stand returns a measure whose curve is nowhere below that of a pair of the cell. Each such
// curve is convex, so that between any two points it is below the chord of bounds there: the lower
// hull of bounds at the points of the lattice is the curve of a measure.
func (l *lattice) stand(c *Cell, hull []vertex) (measure, []vertex) {
	hull = hull[:0]
	for i := -1; i < len(l.up); i++ {
		v := vertex{i, 1} // the curve at 0
		if i >= 0 {
			v.y = l.curve(c, i)
		}
		for len(hull) > 1 {
			a, b := hull[len(hull)-2], hull[len(hull)-1]
			part := (l.at(b) - l.at(a)) / (l.at(v) - l.at(a))
			if float64(b.y*(1+flat)) < a.y+float64((v.y-a.y)*part) {
				break
			}
			hull = hull[:len(hull)-1] // any choice of vertices is sound
		}
		hull = append(hull, v)
	}
	m := measure{zero: hull[len(hull)-1].y, atoms: make([]atom, 0, len(hull)-1)}
	after := 0.0 // the size of the slope above the vertex
	for n := len(hull) - 1; n > 0; n-- {
		a, b := hull[n-1], hull[n]
		width := l.low[b.i]
		switch {
		case a.i >= 0 && a.i == b.i-1:
			width = l.gap[a.i]
		case a.i >= 0:
			width = (l.low[b.i] - l.up[a.i]) * cheaper
		}
		before := max(after, (a.y-b.y)/width*dearer)
		if mass := float64((before - after) * l.up[b.i] * dearer); mass > 0 {
			m.atoms = append(m.atoms, atom{mass, l.reach - b.i})
		}
		after = before
	}
	return m, hull
}
