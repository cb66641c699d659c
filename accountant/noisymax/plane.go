package noisymax

import "github.com/darrm/darrm/accountant/game"

// initial is about how many parts a family begins with, along each side of 0.
const initial = 8

// largest returns the width of the parts that a search begins with: least times a power of two.
func largest(reach, least int) int {
	for least < reach/initial {
		least *= 2
	}
	return least
}

// plane returns all (a, b) with |a|, |b| ≤ reach of which the difference is at most apart, in squares
// of at least the width least.
func (l *law) plane(reach, least, apart int) (parts []game.Part) {
	side := largest(reach, least)
	for a := -reach; a <= reach; a += side {
		for b := -reach; b <= reach; b += side {
			if s := (square{a, b, side}); s.within(apart) {
				parts = append(parts, l.part(s, least, apart))
			}
		}
	}
	return parts
}

// within reports whether the two counts of a pair of the square, or of one that it stands for, differ
// by at most apart.
func (s square) within(apart int) bool {
	return max(s.a, s.b)-min(s.a, s.b)-(s.width-1) <= apart
}

func (l *law) part(s square, least, apart int) game.Part {
	p := game.Part{Cell: l.cell(s), Probe: game.Cell{
		All: l.bounds(square{s.a + s.width/2, s.b + s.width/2, 1}, 0, 0)}}
	switch w := s.width / 2; {
	case s.width == 1:
		p.Parts = func() []game.Part {
			zero, one := game.Cell{All: l.bounds(s, 0, 0)}, game.Cell{All: l.bounds(s, 1, 1)}
			return []game.Part{{Cell: zero, Probe: zero}, {Cell: one, Probe: one}}
		}
	case s.width > least:
		p.Parts = func() (parts []game.Part) {
			for _, a := range [2]int{s.a, s.a + w} {
				for _, b := range [2]int{s.b, s.b + w} {
					if half := (square{a, b, w}); half.within(apart) {
						parts = append(parts, l.part(half, least, apart))
					}
				}
			}
			return parts
		}
	}
	return p
}

// parts returns all k of the line from -reach to reach, in runs of at least the width least.
func (f line) parts(reach, least int) (parts []game.Part) {
	side := largest(reach, least)
	for k := -reach; k <= reach; k += side {
		parts = append(parts, f.part(k, side, least)...)
	}
	return parts
}

// part returns those of the width from a number on, none where the line has none.
func (f line) part(from, width, least int) []game.Part {
	first, last := max(from, f.from), min(from+width-1, f.to)
	if first > last {
		return nil
	}
	middle := from + width/2
	probe := min(max(middle, first), last)
	p := game.Part{Cell: f.cell(first, last), Probe: f.cell(probe, probe)}
	if width > least {
		p.Parts = func() []game.Part {
			return append(f.part(from, width/2, least), f.part(middle, width/2, least)...)
		}
	}
	return []game.Part{p}
}

func single(c game.Cell) game.Part { return game.Part{Cell: c, Probe: c} }
