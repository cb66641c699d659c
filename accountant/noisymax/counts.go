package noisymax

import (
	"github.com/darrm/darrm/accountant/game"
)

// region is a set of pairs of histograms where one vote moves from a class with n votes to one with
// n' votes, or to none. Of the other classes it bounds the sum of votes and the largest count.
type region struct {
	lead     [2]int // n - n', from the first to the second
	both     [2]int // n + n'; n where it goes to none
	rest     [2]int // votes of the other classes
	most     [2]int // of one of them
	alone    bool   // the vote goes to none
	missing  bool   // votes may be missing
	teachers int
	others   int // classes beside those two
}

// whole returns the region narrowed to what histograms can have; ok is false where it is empty.
func (r region) whole() (_ region, ok bool) {
	for range 4 { // each limit may move the others once more
		if r.alone {
			r.both[0] = max(r.both[0], 1)
		} else {
			// n ≥ 1 and n' ≥ 0
			r.both[0] = max(r.both[0], 1, r.lead[0], 2-r.lead[1])
			r.lead[0], r.lead[1] = max(r.lead[0], 2-r.both[1]), min(r.lead[1], r.both[1])
		}
		if !r.missing {
			r.rest[0], r.both[0] = max(r.rest[0], r.teachers-r.both[1]), max(r.both[0], r.teachers-r.rest[1])
		}
		r.rest[1] = min(r.rest[1], r.teachers-r.both[0], r.others*r.most[1])
		r.both[1] = min(r.both[1], r.teachers-r.rest[0])
		r.most[1] = min(r.most[1], r.rest[1])
		r.most[0] = max(r.most[0], (r.rest[0]+r.others-1)/r.others)
		r.rest[0] = max(r.rest[0], r.most[0])
		for _, x := range [...][2]int{r.lead, r.both, r.rest, r.most} {
			if x[0] > x[1] {
				return r, false
			}
		}
	}
	least, most := r.votes(false)
	return r, least <= most // n + n' and n - n' are both even or both odd
}

// votes returns the least and the most votes of the class that the vote leaves, or of the other one.
func (r region) votes(second bool) (least, most int) {
	if r.alone {
		return r.both[0], r.both[1]
	}
	lead := r.lead
	if second {
		lead = [2]int{-r.lead[1], -r.lead[0]}
	}
	half := func(x int) int { return x >> 1 } // towards -∞
	return half(r.both[0] + lead[0] + 1), half(r.both[1] + lead[1])
}

// split returns two halves of the region along the side that matters most, or nil of a single one.
func (r region) split(sigma float64) []region {
	width := func(x [2]int) float64 { return float64(x[1] - x[0]) }
	sides := [...]float64{width(r.lead), width(r.both), width(r.rest) / 2,
		float64(width(r.most)*float64(r.most[1])) / (2 * sigma)}
	best := 0
	for i, w := range sides {
		if w > sides[best] {
			best = i
		}
	}
	if sides[best] == 0 {
		return nil
	}
	low, high := r, r
	for i, side := range [...][2]*[2]int{{&low.lead, &high.lead}, {&low.both, &high.both},
		{&low.rest, &high.rest}, {&low.most, &high.most}} {
		if i == best {
			middle := (side[0][0] + side[0][1]) >> 1
			side[0][1], side[1][0] = middle, middle+1
		}
	}
	var parts []region
	for _, x := range [...]region{low, high} {
		if x, ok := x.whole(); ok {
			parts = append(parts, x)
		}
	}
	return parts
}

// counts caches the laws of the largest count among the other classes.
type counts struct {
	law   *law
	reach int // counts with noise further away are not distinguished
	lost  float64
	most  int // votes
	known map[[3]run]*moments
	wins  map[[2]int]winner
}

// laws returns two laws that enclose the law of the largest count among the others, as seen from the
// class that loses the vote, or from the second one. ln F(x - n) falls with n and is concave. So of all
// counts with the same sum and largest one, F is largest where they are most alike, and smallest where a
// few have as many as they may.
func (c *counts) laws(r region, second bool) *others {
	even := r.others - 1
	first := max(r.most[0], (r.rest[0]+r.others-1)/r.others)
	left := r.rest[0] - first
	up := []run{{first, 1}}
	if even > 0 {
		up = append(up, run{left / even, even - left%even}, run{left/even + 1, left % even})
	}
	low := []run{{0, r.others}}
	if r.most[1] > 0 {
		full := min(r.others, r.rest[1]/r.most[1])
		low = []run{{r.most[1], full}}
		if full < r.others {
			low = append(low, run{r.rest[1] % r.most[1], 1}, run{0, r.others - full - 1})
		}
	}
	least, most := r.votes(second)
	return &others{low: c.moments(low...), up: c.moments(up...), lowShift: least, upShift: most}
}

func (c *counts) moments(runs ...run) *moments {
	var key [3]run
	copy(key[:], runs)
	m, ok := c.known[key]
	if !ok {
		m = c.law.momentsOf(runs, -c.reach, c.most+c.reach)
		c.known[key] = m
	}
	return m
}

// winner has the coefficients that turn the moments into a class's probability of being the label, before
// and after the vote has moved.
type winner struct{ before, after linear }

// winner returns the coefficients of a class that leads another by so many votes and loses one to it
// (step = 1), or gets one (-1). x is counted from its votes.
func (c *counts) winner(lead, step int) winner {
	w, ok := c.wins[[2]int{lead, step}]
	if !ok {
		w = winner{c.winning(lead, 0), c.winning(lead, step)}
		c.wins[[2]int{lead, step}] = w
	}
	return w
}

func (c *counts) winning(lead, step int) linear {
	w := newLinear(-c.reach, 2*c.reach+1)
	for i := range w.c0 {
		at, other := w.from+i+step, w.from+i+lead-step
		p := c.law.p(at).up
		w.c0[i], w.c1[i] = float64(p*c.law.f(other-1).up), float64(p*c.law.p(other).up)
	}
	return w
}

// cell returns bounds for all pairs of the region. Every ratio P'/P rises with the lead, and so do the
// probability of the first class and that of neither.
func (c *counts) cell(r region) game.Cell {
	from, to := r.lead[0], r.lead[1]
	if r.alone {
		from = 4 * c.law.reach // the other one never wins
		to = from
	}
	first := c.laws(r, false)
	list := []game.Bounds{c.bounds(first, c.winner(to, 1), c.winner(from, 1), c.winner(to, 1))}
	if !r.alone {
		list = append(list, c.bounds(c.laws(r, true), c.winner(-from, -1), c.winner(-from, -1), c.winner(-to, -1)))
	}
	ends := int(4*c.law.sigma()) + 1
	start := -c.reach + 1
	for m := -ends; start < c.reach; m += max(1, int(c.law.sigma()/2)) {
		end := m
		if m > ends {
			end = c.reach
		}
		if end = min(end, c.reach); end > start {
			list = append(list, c.bin(first, start, end, from, to))
			start = end
		}
	}
	beyond := min(1, (1-first.low.below(start-2+first.lowShift).first)*(1+summed))
	list = append(list, game.Bounds{P: beyond, Ratio: c.law.f(start + from - 2).low, PPrime: beyond,
		Inverse: c.law.f(start - 1).low})
	return game.Cell{All: append(list, game.Bounds{P: c.lost, PPrime: c.lost})}
}

// bounds returns the bounds of a class that wins: dear has its largest probability, low its least P'/P and
// high its largest.
func (c *counts) bounds(o *others, dear, low, high winner) game.Bounds {
	return game.Bounds{
		P: min(1, o.most(dear.before)+c.lost), Ratio: o.ratio(low.after, low.before, c.lost),
		PPrime: min(1, o.most(dear.after)+c.lost), Inverse: o.ratio(high.before, high.after, c.lost),
	}
}

// ratio returns a lower bound of above/below for all laws between the two, each within lost of its sum.
func (o *others) ratio(above, below linear, lost float64) float64 {
	a, b, least := o.most(above), o.most(below), -o.most(below.times(-1))
	if !(least > 0) {
		return 0
	}
	found := 0.0
	ratio := a / b
	for range 3 {
		// above ≥ ratio·below - worst
		worst := max(0, o.most(below.times(ratio).minus(above))) + float64(summed*(a+float64(ratio*b)))
		found = max(found, ratio-(worst+float64(2*lost*(1+ratio)))/least)
		if worst < 1e-8*a {
			break
		}
		ratio = max(0, ratio-worst/b)
	}
	return float64(found * (1 - summed))
}

// bin returns the bounds of the others where their largest is at a control point of start ≤ m < end,
// from the first class's votes.
func (c *counts) bin(o *others, start, end, from, to int) game.Bounds {
	b := game.Bounds{P: min(1, max(0, o.most(c.losing(start, end, to, 0)))),
		PPrime: min(1, max(0, o.most(c.losing(start, end, to, 1)))), Ratio: infinite, Inverse: infinite}
	for m := start; m < end; m++ {
		for kind := range 2 {
			low, high := c.law.rest(-m, -m-from, kind), c.law.rest(-m, -m-to, kind)
			if from == to {
				low = c.law.neither(-m-1, -m-from+1, kind).over(c.law.neither(-m, -m-from, kind))
				high = low
			}
			b.Ratio, b.Inverse = min(b.Ratio, low.low), min(b.Inverse, span{1, 1}.over(high).low)
		}
	}
	return b
}

// losing returns the coefficients that turn the moments into the others' probability of such a lead, after so
// many votes have moved. The law of the largest has the mass
//
//	2·∫(1-f)·F(m+f)df - 2·∫f·F(m-1+f)df,   4·∫f·F(m+f)df - 2·∫F(m+f)df
//
// at the control points of m, by parts.
func (c *counts) losing(start, end, lead, moved int) linear {
	w := newLinear(start-1, end-start+1)
	zero, one := 0.0, 0.0
	for i := len(w.c0) - 1; i >= 0; i-- {
		m, next := w.from+i, zero
		zero, one = 0, 0
		if m >= start {
			zero = c.law.neither(-m-moved, moved-m-lead, 0).up
			one = c.law.neither(-m-moved, moved-m-lead, 1).up
		}
		w.c0[i], w.c1[i] = float64(2*(zero-one)), float64(4*one)-float64(2*zero)-float64(2*next)
	}
	return w
}
