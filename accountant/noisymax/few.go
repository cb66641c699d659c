package noisymax

import "github.com/darrm/darrm/accountant/game"

// parts returns the region as parts of a family, and its pairs in the other order.
func (c *counts) parts(r region) []game.Part {
	r, ok := r.whole()
	if !ok {
		return nil
	}
	p := c.part(r)
	return []game.Part{p, mirrored(p)}
}

func (c *counts) part(r region) game.Part {
	p := game.Part{Cell: c.cell(r)}
	if halves := r.split(c.law.sigma()); halves != nil {
		var parts []game.Part
		p.Parts = func() []game.Part {
			if parts == nil { // two ask
				for _, half := range halves {
					parts = append(parts, c.part(half))
				}
			}
			return parts
		}
	}
	return p
}

// mirrored returns a part whose pairs are in the other order.
func mirrored(p game.Part) game.Part {
	m := game.Part{Cell: swapped(p.Cell)}
	if p.Parts != nil {
		m.Parts = func() (parts []game.Part) {
			for _, x := range p.Parts() {
				parts = append(parts, mirrored(x))
			}
			return parts
		}
	}
	return m
}

func swapped(c game.Cell) game.Cell {
	out := make([]game.Bounds, len(c.All))
	for i, b := range c.All {
		out[i] = game.Bounds{P: b.PPrime, Ratio: b.Inverse, PPrime: b.P, Inverse: b.Ratio}
	}
	return game.Cell{All: out}
}

// Up to so many times σ are the teachers few, of whom it matters how many there are: the largest of the
// others is somewhere. Of more, it may be anywhere. Of noise of widest or more, nothing is told either way.
const (
	few    = 8
	widest = 2048
)

// fewFor reports whether the numbers of votes count, beside the noise.
func (p Problem) fewFor(l *law) bool {
	return p.Classes > 2 && float64(p.Teachers) <= few*l.sigma() && l.sigma() < widest
}

func newCounts(l *law, p Problem, reach int) *counts {
	return &counts{law: l, reach: reach, lost: l.f(-reach + 2).up, most: p.Teachers,
		known: map[[3]run]*moments{}, wins: map[[2]int]winner{}}
}

// dearest returns about the dearest pair: all votes for two classes, as even as may be.
func (p Problem) dearest() region {
	lead := 2 - p.Teachers%2
	return region{lead: [2]int{lead, lead}, both: [2]int{p.Teachers, p.Teachers}, teachers: p.Teachers,
		others: p.Classes - 2}
}

// ofCounts returns all ordered pairs of laws of a label of few teachers and more than two classes.
func (l *law) ofCounts(p Problem, reach int) game.Family {
	c := newCounts(l, p, reach)
	all := region{lead: [2]int{1, p.Teachers}, both: [2]int{1, p.Teachers}, rest: [2]int{0, p.Teachers},
		most: [2]int{0, p.Teachers}, teachers: p.Teachers, others: p.Classes - 2, missing: p.Missing}
	f := game.Family{Order: orderOf(p), Near: near, Ratio: l.largestRatio(reach, 1)}
	if l.sigma() < large {
		f.Near = nearer
	}
	f.Parts = c.parts(all)
	if p.Missing {
		all.alone, all.others, all.lead = true, p.Classes-1, [2]int{}
		f.Parts = append(f.Parts, c.parts(all)...)
	}
	dearest := c.cell(p.dearest())
	f.Scale = scaleOf(dearest.All[:2])
	for i, cell := range [...]game.Cell{dearest, swapped(dearest)} {
		f.Parts[i].Probe = cell
	}
	return f
}
