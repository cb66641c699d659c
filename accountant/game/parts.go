package game

import (
	"cmp"
	"context"
	"math"

	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/num"
)

// MaxCells is the largest number of cells of a game.
const MaxCells = 1 << 17

// Part is some of the pairs of a mechanism that has too many of them to list, such as one without a
// largest number of teachers.
type Part struct {
	Cell  Cell          // holds all of its pairs
	Probe Cell          // holds one of its pairs, or of another part; zero for none
	Parts func() []Part // smaller ones with the same pairs; nil where there are none
}

// Family is all ordered pairs of a mechanism, both orders of each two laws, as parts.
type Family struct {
	Parts []Part
	Scale float64 // about Game.Scale of the dearest pair, at most 4
	Ratio float64 // about the largest P'/P of what is likely enough to matter
	Order float64 // about the order of Rényi divergence that counts: 1 + √(ln(1/δ)/ρ), ρ that of zCDP
	Near  float64 // a part that costs at most so much more than the dearest probe is not split
}

// maxScale is above the scale of any pair, which is at most 2·√2. The bounds of a lattice hold for its steps.
const maxScale = 4

// prunedFamily is how much, relatively, pruning may raise the price of a family.
const prunedFamily = 5e-3

// NewOfFamily returns the game of all pairs of the family. Of o the Step alone counts. No choice of
// the family's figures and probes, and no part that is not split, makes a price too low. A price is
// at most a hundredth of itself above that of the cells. The error names what breaks a rule, or is
// ctx.Err().
func NewOfFamily(ctx context.Context, f Family, o Options) (*Game, error) {
	if err := o.fill(); err != nil {
		return nil, err
	}
	if err := cmp.Or(check.UpTo("scale of a family", f.Scale, maxScale),
		check.UpTo("ratio of a family", f.Ratio, 1e300), check.UpTo("nearness of a family", f.Near, 1),
		check.Some("parts of a family", len(f.Parts))); err != nil {
		return nil, err
	}
	g := &Game{options: o, scale: max(f.Scale, minScale), pruned: prunedFamily}
	step := float64(o.Step * g.scale)
	g.lattice = newLattice(step, reachOf(max(1, f.Ratio), step))
	coarse := float64(roughly * g.scale)
	s := &splitter{near: f.Near, top: 1, fine: view{lattice: g.lattice},
		rough: view{lattice: newLattice(coarse, reachOf(max(1, f.Ratio), coarse))}}
	for s.top < len(powers) && float64(powers[s.top]) <= 1.5*f.Order {
		s.top++
	}
	if err := s.split(ctx, f.Parts); err != nil {
		return nil, err
	}
	var sums [len(orders)]float64
	zero := 0.0
	measures := make([]measure, len(s.found))
	for i, c := range s.found {
		measures[i], s.hull = g.lattice.stand(c, s.hull)
		zero = max(zero, measures[i].zero)
		g.lattice.raiseMoments(measures[i], &sums)
	}
	g.renyi = newRenyi(sums, zero)
	var err error
	g.tree, err = newTree(ctx, g.lattice, o.Step, measures)
	if err != nil {
		return nil, err
	}
	return g, nil
}

// splitter finds parts that are small where pairs are dear.
type splitter struct {
	rough view // a quick look, off by some percent
	fine  view
	near  float64
	top   int // how many powers count
	found []*Cell
	hull  []vertex
}

// view is a lattice with the largest scores that were seen on it.
type view struct {
	lattice *lattice
	best    scores
}

// split goes from the parts to ever smaller ones, level by level, so that the dearest pair is known
// before the small ones.
func (s *splitter) split(ctx context.Context, parts []Part) error {
	for len(parts) > 0 {
		for i := range parts {
			if parts[i].Probe.All == nil {
				continue
			}
			if err := parts[i].Probe.validate(); err != nil {
				return err
			}
			s.see(&parts[i].Probe)
		}
		var next []Part
		for i := range parts {
			if err := ctx.Err(); err != nil {
				return err
			}
			p := &parts[i]
			if err := p.Cell.validate(); err != nil {
				return err
			}
			if p.Parts != nil && !s.enough(&p.Cell) {
				next = append(next, p.Parts()...)
			} else {
				s.found = append(s.found, &p.Cell)
			}
			if n := len(s.found) + len(next); n > MaxCells {
				return tooLarge("cells of a game", n, MaxCells)
			}
		}
		parts = next
	}
	return nil
}

// on returns the scores of the cell on the lattice of a view.
func (s *splitter) on(v *view, c *Cell) scores {
	var m measure
	m, s.hull = v.lattice.stand(c, s.hull)
	return v.lattice.scores(m, s.top)
}

// see notes what a pair costs.
func (s *splitter) see(c *Cell) {
	now := s.on(&s.rough, c)
	dear := s.above(&s.rough, now, 1-2*off)
	s.rough.raise(now)
	if dear {
		s.fine.raise(s.on(&s.fine, c))
	}
}

func (v *view) raise(now scores) {
	for j, x := range now {
		v.best[j] = max(v.best[j], x)
	}
}

// above reports whether a score is more than so many times the largest that was seen.
func (s *splitter) above(v *view, now scores, times float64) bool {
	for i := range s.top {
		if !(now[i] <= float64(v.best[i]*times)) {
			return true
		}
	}
	return now[len(powers)] > muchMore*v.best[len(powers)]
}

// muchMore is how many times the mass at ratio 0 of the pairs that were seen a cell may have.
const muchMore = 16

// enough reports whether no pair of the cell is much dearer than the dearest that was seen.
func (s *splitter) enough(c *Cell) bool {
	switch now := s.on(&s.rough, c); {
	case !s.above(&s.rough, now, 1-off):
		return true
	case s.above(&s.rough, now, 1+off):
		return false
	}
	return !s.above(&s.fine, s.on(&s.fine, c), 1+s.near)
}

// off is by how much a rough look may be off, about.
const off = 0.04

// roughly is the lattice step of a rough look, in units of the scale.
const roughly = 0.3

// powers are whole numbers, so that the same parts are found on every processor.
var powers = [...]int{1, 2, 3, 5, 7, 11, 15, 23, 31, 47, 63, 95, 127, 255}

// scores are Σ m·g(r), g(r) = r^-n - 1 + n·(r - 1) ≥ 0 for powers n: about what the measure adds
// to a price. They say which pairs may be the dearest, and no promise rests on them. The last one is the
// mass at ratio 0, which every pair of a mechanism may have a little of.
type scores [len(powers) + 1]float64

func (l *lattice) scores(m measure, top int) (s scores) {
	for _, a := range m.atoms {
		r, inverse := l.up[l.reach+a.shift], l.up[l.reach-a.shift]
		for i, n := range powers[:top] {
			s[i] += float64(a.mass * (num.Power(inverse, n) - 1 + float64(float64(n)*(r-1))))
		}
	}
	for i, v := range s {
		if math.IsInf(v, 0) || v != v {
			s[i] = math.MaxFloat64
		}
	}
	s[len(powers)] = m.zero
	return s
}

// raiseMoments raises sums to Σ m·r^(1-α) of the measure, about: windows alone rest on them.
func (l *lattice) raiseMoments(m measure, sums *[len(orders)]float64) {
	for j, order := range orders {
		sum := 0.0
		for _, a := range m.atoms {
			sum += float64(a.mass * num.Power(l.up[l.reach-a.shift], order-1))
		}
		sums[j] = max(sums[j], sum)
	}
}
