package game

import (
	"cmp"
	"context"
	"errors"
	"slices"
)

var errChanged = errors.New("the pairs of the game changed between two readings")

// measure is a measure on the points of a lattice, of mass 1 or a little more.
type measure struct {
	zero  float64 // mass at ratio 0
	atoms []atom  // ascending
}

// atom is mass at the ratio e^{shift·h}.
type atom struct {
	mass  float64
	shift int
}

// spread returns the measure of the ordered pair on the lattice, whose curve is nowhere below
// the pair's. What only the second law has is in no curve. into is overwritten.
func (l *lattice) spread(p Pair, second bool, into measure) measure {
	m := measure{atoms: into.atoms[:0]}
	for i := range p {
		o := &p[i]
		if o.law(second).Mass == 0 {
			continue
		}
		mass := o.mass(second)
		if o.law(!second).Mass == 0 {
			m.zero = (m.zero + mass) * dearer
			continue
		}
		k, lower, upper := l.split(o.ratio(second))
		if lower = float64(lower * mass * dearer); k < -l.reach {
			m.zero = (m.zero + lower) * dearer
		} else {
			m.atoms = append(m.atoms, atom{lower, k})
		}
		if upper > 0 {
			m.atoms = append(m.atoms, atom{float64(upper * mass * dearer), k + 1})
		}
	}
	slices.SortFunc(m.atoms, func(a, b atom) int {
		return cmp.Or(cmp.Compare(a.shift, b.shift), cmp.Compare(a.mass, b.mass))
	})
	merged := m.atoms[:0]
	for _, a := range m.atoms {
		if last := len(merged) - 1; last >= 0 && merged[last].shift == a.shift {
			merged[last].mass = (merged[last].mass + a.mass) * dearer
		} else {
			merged = append(merged, a)
		}
	}
	m.atoms = merged
	return m
}

// envelope is the largest of the curves of some measures, at x = 0 and at the points x_first,
// x_{first+1}, … of the lattice, rounded up. All kinks are among these points.
type envelope struct {
	first  int // counted from x_{-reach}
	curve  []float64
	atZero float64
}

// kinks returns the first and the last index of a point at which the curve of m has a kink, if it
// has any: the ratio x_k makes one at x_{-k}.
func (l *lattice) kinks(m measure) (first, last int, ok bool) {
	if len(m.atoms) == 0 {
		return 0, 0, false
	}
	return l.reach - m.atoms[len(m.atoms)-1].shift, l.reach - m.atoms[0].shift, true
}

// raise lifts the envelope to the curve of m,
//
//	c(x_j) = c(x_{j+1}) + (x_{j+1} - x_j)·Σ_{k ≤ -j-1} m_k·x_k
//
// beginning at the mass at ratio 0 beyond the last kink. All terms are positive.
func (l *lattice) raise(e *envelope, m measure) {
	c, slope, total, next := m.zero, 0.0, m.zero, 0
	for i := len(e.curve) - 1; i >= 0; i-- {
		j := e.first + i
		c = (c + float64(l.gapUp[j]*slope)) * dearer // at the last kink and beyond, the slope is 0
		e.curve[i] = max(e.curve[i], c)
		// From here down, the atom at x_{-j} adds to the slope.
		if next < len(m.atoms) && m.atoms[next].shift == l.reach-j {
			a := m.atoms[next]
			slope = (slope + float64(a.mass*l.up[a.shift+l.reach])) * dearer
			total = (total + a.mass) * dearer
			next++
		}
	}
	e.atZero = max(e.atZero, total)
}

// measure returns the measure whose curve is the envelope, joined by chords, or above it.
// S_j is the slope's size between x_j and x_{j+1}, rounded up. Going down it is kept from falling,
// where rounding would let it. Then
//
//	m_{-j} = x_j·(S_{j-1} - S_j) ≥ 0
//
// has the curve e(x_last) + Σ_{i ≥ j} (x_{i+1} - x_i)·S_i at x_j, which is not below e(x_j). Masses
// that rounding made are added to the atom of the next smaller ratio, which is dearer.
func (l *lattice) measure(e *envelope) measure {
	m := measure{}
	if len(e.curve) == 0 {
		m.zero = e.atZero
		return m
	}
	m.zero = e.curve[len(e.curve)-1]
	after := 0.0
	for i := len(e.curve) - 1; i >= 0; i-- {
		j := e.first + i
		var before float64 // S_{j-1}
		if i > 0 {
			before = (e.curve[i-1] - e.curve[i]) / l.gap[j-1] * dearer
		} else {
			before = (e.atZero - e.curve[0]) / l.low[j] * dearer
		}
		before = max(before, after)
		mass := float64((before - after) * l.up[j] * dearer)
		after = before
		switch last := len(m.atoms) - 1; {
		case mass == 0:
		case last >= 0 && mass < 1e-12*m.atoms[last].mass:
			m.atoms[last].mass = (m.atoms[last].mass + mass) * dearer
		default:
			m.atoms = append(m.atoms, atom{mass, l.reach - j})
		}
	}
	return m
}

// folder is the last reading of the pairs.
type folder struct {
	lattice *lattice
	survey  *survey
	exact   []measure
	groups  []*envelope // nil where it has no measure
}

func newFolder(l *lattice, s *survey, groups int) *folder {
	return &folder{lattice: l, survey: s, groups: make([]*envelope,
		min(groups, maxCurves/(2*l.reach+1)))}
}

func (f *folder) read(ctx context.Context, pairs Pairs) error {
	seen := 0
	var scratch measure
	return each(ctx, pairs, func(p Pair) error {
		if err := p.validate(); err != nil { // nobody promises that it is the pair that was read before
			return err
		}
		if seen++; seen > f.survey.pairs {
			return errChanged
		}
		_, skewness := p.shape()
		for _, second := range [2]bool{false, true} {
			scratch = f.lattice.spread(p, second, scratch)
			listed, first := f.keeps(p, second)
			if first {
				f.exact = append(f.exact, measure{scratch.zero, slices.Clone(scratch.atoms)})
			}
			if listed {
				continue
			}
			if second {
				skewness = -skewness
			}
			f.lattice.raise(f.group(skewness), scratch)
		}
		return nil
	})
}

// keeps reports whether the ordered pair is in no group, and whether it is the first: of a list each pair is
// kept once, since the same curve again is in none dearer.
func (f *folder) keeps(p Pair, second bool) (listed, first bool) {
	if f.survey.listed == nil {
		return true, true
	}
	key := p.key(second)
	if first, listed = f.survey.listed[key]; first {
		f.survey.listed[key] = false
	}
	return listed, first
}

// group returns the group of a skewness, one of equal widths. Any other choice would do.
func (f *folder) group(skewness float64) *envelope {
	n := len(f.groups)
	i := 0
	if s := f.survey.skewness; s > 0 {
		i = max(0, min(n-1, int(float64(n)*(skewness/s+1)/2)))
	}
	if f.groups[i] == nil {
		f.groups[i] = &envelope{curve: make([]float64, 2*f.lattice.reach+1)}
	}
	return f.groups[i]
}

func (f *folder) measures() []measure {
	all := f.exact
	for _, e := range f.groups {
		if e != nil {
			all = append(all, f.lattice.measure(e))
		}
	}
	return all
}
