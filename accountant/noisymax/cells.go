package noisymax

import "github.com/darrm/darrm/accountant/game"

// outcomes returns the laws of one class of two, of the other, and of the rest, at a control point
// of (a, b) (package comment):
//
//	kind 0   Σ_{x ≥ 0} p(x-a)·[F(x-b-1) + F(x-b)]/2        F(-a-1)·F(-b-1)
//	kind 1   Σ_{x ≥ 1} of the same  +  p(-a)·F(-b)/2       [F(-a-1)·F(-b) + F(-a)·F(-b-1)]/2
func (l *law) outcomes(a, b, kind int) [3]span {
	if kind == 0 {
		return [3]span{l.wins(a, b), l.wins(b, a), l.neither(a, b, kind)}
	}
	return [3]span{
		l.wins(a-1, b-1).add(l.p(-a).mul(l.f(-b)).half()),
		l.wins(b-1, a-1).add(l.p(-b).mul(l.f(-a)).half()), l.neither(a, b, kind),
	}
}

// neither is the last of outcomes.
func (l *law) neither(a, b, kind int) span {
	if kind == 0 {
		return l.f(-a - 1).mul(l.f(-b - 1))
	}
	return l.f(-a - 1).mul(l.f(-b)).add(l.f(-a).mul(l.f(-b - 1))).half()
}

// rest returns bounds of the rest's P'/P at (a, b) of a kind. Of kind 1 both are sums of two terms,
// and their ratio lies between those of the terms. Every one of these rises with a and falls with
// b, since F(k+1)/F(k) falls.
func (l *law) rest(a, b, kind int) span {
	q := func(k int) span { return l.f(k + 1).over(l.f(k)) }
	if kind == 0 {
		return q(-a - 1).mul(l.f(-b - 2).over(l.f(-b - 1)))
	}
	first := q(-a - 1).mul(l.f(-b - 1).over(l.f(-b)))
	second := q(-a).mul(l.f(-b - 2).over(l.f(-b - 1)))
	return span{min(first.low, second.low), max(first.up, second.up)}
}

// square is the counts a ≤ x < a+width and b ≤ y < b+width.
type square struct{ a, b, width int }

// bounds returns what holds for all pairs of the square, of the kinds from first to last, where one
// vote goes from the first class to the second: (a, b) becomes (a-1, b+1). Every ratio P'/P rises
// with a and falls with b (package comment), so that two corners bound it.
func (l *law) bounds(s square, first, last int) []game.Bounds {
	a0, b0, a1, b1 := s.a, s.b, s.a+s.width-1, s.b+s.width-1
	c := make([]game.Bounds, 3)
	for kind := first; kind <= last; kind++ {
		from, fromNext := l.outcomes(a0, b1, kind), l.outcomes(a0-1, b1+1, kind)
		to, toNext := from, fromNext
		lowest, lowestNext := from[2], fromNext[2]
		if s.width > 1 {
			to, toNext = l.outcomes(a1, b0, kind), l.outcomes(a1-1, b0+1, kind)
			lowest, lowestNext = l.outcomes(a0, b0, kind)[2], l.outcomes(a0-1, b0+1, kind)[2]
		}
		p := [3]span{to[0], from[1], lowest}
		next := [3]span{toNext[0], fromNext[1], lowestNext}
		for i := range c {
			ratio, inverse := fromNext[i].over(from[i]).low, to[i].over(toNext[i]).low
			if i == 2 && s.width > 1 {
				ratio = l.rest(a0, b1, kind).low
				inverse = span{1, 1}.over(l.rest(a1, b0, kind)).low
			}
			b := &c[i]
			if kind == first {
				b.Ratio, b.Inverse = ratio, inverse
			}
			b.P, b.PPrime = max(b.P, min(1, p[i].up)), max(b.PPrime, min(1, next[i].up))
			b.Ratio, b.Inverse = min(b.Ratio, ratio), min(b.Inverse, inverse)
		}
	}
	return c
}

// cell returns the cell of all kinds of a square. All curves are between those of the counts
// from a-1 and b-1 on. Over these, P - x·P' of each half-plane is nearly linear: Slack bounds its
// excess over what its corners say.
func (l *law) cell(s square) game.Cell {
	c := game.Cell{All: l.bounds(s, 0, 1)}
	for _, a := range [2]int{s.a - 1, s.a + s.width - 1} {
		for _, b := range [2]int{s.b - 1, s.b + s.width - 1} {
			c.Corners = append(c.Corners, l.bounds(square{a, b, 1}, 0, 0))
		}
	}
	w := float64(s.width*s.width) / 8
	p0, p1, p2 := l.largest[0], l.largest[1], l.largest[2]
	cross := float64(p0 * p1)
	c.Slack = (float64(w*max(float64(5*p2)+cross, 2*(p2+cross))) + cross) * outward
	c.Slope = (float64(w*float64(3*p1)) + float64(float64(p0*p0)/2)) * outward
	return c
}

// outward moves the result of some ten roundings past its exact value.
const outward = 1 + 0x1p-48

// line is pairs of two outcomes, one for each integer k: the first has win(k) under one law and
// win(k-shift) under the other, the second lose(k) and lose(k-shift), each of them to within
// lost. win rises, lose falls, win + lose = 1, and both are log-concave. What is lost is an
// outcome by itself.
type line struct {
	law       *law
	win, lose func(k int) span
	shift     int
	lost      float64
	swapped   bool // the pairs in the other order
	from, to  int  // the k that there are
}

// bounds returns what holds for k0 ≤ k ≤ k1.
func (f line) bounds(k0, k1 int) []game.Bounds {
	// of returns a lower bound of a ratio, whose numerator is at least that of least, but for lost.
	of := func(above, below, least span) float64 {
		if !(least.low > f.lost) {
			return 0
		}
		return max(0, float64(above.over(below).low*(1-float64(f.lost/least.low*more)))) / outward
	}
	c := make([]game.Bounds, 2, 3)
	c[0] = game.Bounds{P: f.win(k1).up, PPrime: f.win(k1 - f.shift).up,
		Ratio:   of(f.win(k0-f.shift), f.win(k0), f.win(k0-f.shift)),
		Inverse: of(f.win(k1), f.win(k1-f.shift), f.win(k0))}
	c[1] = game.Bounds{P: f.lose(k0).up, PPrime: f.lose(k0 - f.shift).up,
		Ratio:   of(f.lose(k0-f.shift), f.lose(k0), f.lose(k1-f.shift)),
		Inverse: of(f.lose(k1), f.lose(k1-f.shift), f.lose(k1))}
	if f.lost > 0 {
		c = append(c, game.Bounds{P: f.lost, PPrime: f.lost})
	}
	for i := range c {
		b := &c[i]
		b.P, b.PPrime = min(1, b.P), min(1, b.PPrime)
		if f.swapped {
			b.P, b.PPrime, b.Ratio, b.Inverse = b.PPrime, b.P, b.Inverse, b.Ratio
		}
	}
	return c
}

// cell returns the cell of k0 ≤ k ≤ k1.
func (f line) cell(k0, k1 int) game.Cell {
	c := game.Cell{All: f.bounds(k0, k1)}
	if k0 == k1 {
		return c
	}
	c.Corners = [][]game.Bounds{f.bounds(k0, k0), f.bounds(k1, k1)}
	w := float64((k1-k0)*(k1-k0)) / 8
	c.Slack = float64(w*float64(float64(f.shift)*f.law.largest[2])) * outward
	c.Slope = float64(w*f.law.largest[1]) * outward
	return c
}

// certain returns the cell of all pairs of which both laws have one outcome but for lost.
func certain(lost float64) game.Cell {
	return game.Cell{All: []game.Bounds{
		{P: 1, Ratio: 1 - lost, PPrime: 1, Inverse: 1 - lost}, {P: lost, PPrime: lost}}}
}

// initial is about how many parts a family begins with, along each side of 0.
const initial = 8

// largest returns the width of the parts that a search begins with: least times a power of two.
func largest(reach, least int) int {
	for least < reach/initial {
		least *= 2
	}
	return least
}

// plane returns all (a, b) with |a|, |b| ≤ reach whose difference is at most apart, in squares
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
