package answers

import (
	"iter"
	"math"
	"slices"

	"github.com/darrm/darrm/internal/handle"
)

// Link says how far apart the probabilities of one class may be under neighbouring votes: Next(p) is
// the largest that a neighbour of p may have. It rises with p and is at least p. It remembers what
// it has worked out and is not safe for concurrent use.
type Link struct {
	gap   func(p, q float64) float64
	known []linked // ascending
}

type linked struct{ p, next float64 }

// NewLink returns the Link of a rule: gap(p, q) of 0 ≤ p ≤ q < 1 is above 0 where q is too large
// beside p, and so for every larger q and every smaller p.
func NewLink(gap func(p, q float64) float64) *Link { return &Link{gap: gap} }

// Near is to how much Link.Next is worked out, upward.
const Near = 0x1p-46

// Next returns the largest probability beside p in [0,1], rounded up: gap is above 0 for what is
// returned or for something smaller, unless it is 1. The zero Link allows everything.
func (l *Link) Next(p float64) float64 {
	l = handle.Made(l)
	p = max(p, 0x1p-1000) // of which a rule has a logarithm; what it returns is no smaller for it
	i, found := slices.BinarySearchFunc(l.known, p, func(a linked, p float64) int {
		switch {
		case a.p < p:
			return -1
		case a.p > p:
			return 1
		}
		return 0
	})
	switch {
	case p >= 1 || l.gap == nil:
		return 1
	case found:
		return l.known[i].next
	}
	low, high := p, 1.0
	if i > 0 { // only where the search begins: it was rounded up
		low = max(low, l.known[i-1].next-2*Near)
	}
	if i < len(l.known) { // not below what is looked for, since that rises with p
		high = max(p, l.known[i].next)
	}
	near := low + float64((high-low)/2)
	switch n := len(l.known); {
	case i > 0 && i < n: // between two
		a, b := l.known[i-1], l.known[i]
		near = a.next + float64((b.next-a.next)*((p-a.p)/(b.p-a.p)))
	case i > 1: // on from two
		a, b := l.known[i-2], l.known[i-1]
		near = b.next + float64((b.next-a.next)*((p-b.p)/(b.p-a.p)))
	}
	next := crossing(low, high, near, func(q float64) float64 { return l.gap(p, q) })
	l.known = slices.Insert(l.known, i, linked{p, next})
	return next
}

// Tie returns the largest probability a that may stand beside 1 - a, rounded up.
func (l *Link) Tie() float64 {
	if l = handle.Made(l); l.gap == nil {
		return 1
	}
	return crossing(0.5, 1, 0.75, func(a float64) float64 { return l.gap(1-a, a) })
}

// crossing returns where gap, which rises, becomes positive between low and high, rounded up: gap is positive
// there, or it is high. It is at most Near above the least such number. The search begins at near. Cost: gap at
// some 7 points, at most four for each halving of the interval.
func crossing(low, high, near float64, gap func(float64) float64) float64 {
	below, above := math.Inf(-1), math.Inf(1) // gap at low and at high, where they are known
	x, step, wide := near, (high-low)/256, high-low
	for n := 1; high-low > Near && n < 200; n++ {
		if !(x > low && x < high) {
			if x = low + float64((high-low)/2); !(x > low && x < high) {
				break
			}
		}
		if g := gap(x); g > 0 {
			high, above = x, g
		} else {
			low, below = x, g
		}
		switch {
		case n%4 == 0 && high-low > wide/16: // the ends hardly come closer
			x = low + float64((high-low)/2)
		case math.IsInf(above, 0):
			x, step = low+step, 8*step
		case math.IsInf(below, 0):
			x, step = high-step, 8*step
		default:
			// The secant's root, and a little beyond it towards the farther end, which so comes near too.
			x = low - float64(below*(high-low)/(above-below))
			if beyond := max(Near/4, float64(min(x-low, high-x)/32)); x-low < high-x {
				x += beyond
			} else {
				x -= beyond
			}
		}
		if n%4 == 0 {
			wide = high - low
		}
	}
	return high
}

// window is the tables of two classes that obey a Link at t votes: where t teachers lead from one
// histogram to another, the probabilities p and q of a class have q ≤ Next(p). Let a_d be that of the
// class that leads by d, a_-d = 1 - a_d. Neighbours' leads differ by up to 2t.
//
// Among the tables that agree most often is a monotone one. For d > 0 let b_d be the largest of a_e,
// 0 < e ≤ d: no b_d is smaller, and b_d beside b_c with d - c ≤ 2t obeys the Link, since the a_e that
// b_d is has e ≤ c, or e - c ≤ 2t where b_c is no smaller than a_c. Then each pair of neighbours is
// between two leads that are 2t apart, and those alone bind: a table is chains
//
//	a_(d+2t) = Next(a_d)
//
// one for each rest of d modulo 2t. It is best to have each as large as it may be, so that what is left to
// choose is where chains begin: a_0 = 1/2; a_t is the largest beside 1 - a_t; for 0 < d < t it is one
// a_d between 1/2 and that, and then a_(2t-d) = Next(1 - a_d). The chains meet in one rule alone:
// a_d rises with d.
type window struct {
	k, reach int // reach is 2t
	apart    int // leads are so far apart: 2, or 1 where votes may be missing
	weight   []float64
	link     *Link
	free     []int   // 0 < d < t: each begins two chains, from d on and from 2t - d on
	top      float64 // a_t, which no a_d with d < t is above
	fixed    float64 // what the chains that begin at 0 and at t are worth
	points   places
}

// newWindow returns the window of weights for each lead from 0 to K, of which sums are rounded up.
func (p Problem) newWindow(weight []float64, link *Link) *window {
	t := max(1, min(p.Affected, p.K))
	weight = append(slices.Clone(weight), make([]float64, max(0, p.K+1-len(weight)))...)
	w := &window{k: max(0, p.K), reach: 2 * t, apart: 2, weight: weight, link: link}
	least := p.K % 2
	if p.Missing {
		least, w.apart = 0, 1
	}
	for d := least; d < t; d += w.apart {
		if d > 0 {
			w.free = append(w.free, d)
		}
	}
	if least == 0 {
		w.fixed = up(weight[0] + w.worth(w.reach, w.after(0.5))) // at a tie both classes are right
	}
	w.top = link.Tie()
	if (t-least)%w.apart == 0 {
		w.fixed = up(w.fixed + w.worth(t, w.top))
	}
	return w
}

// after returns Next(a).
func (w *window) after(a float64) float64 { return w.link.Next(a) }

// chain yields the leads from d on, 2t apart, and their probabilities, beginning with a.
func (w *window) chain(d int, a float64) iter.Seq2[int, float64] {
	return func(yield func(int, float64) bool) {
		for d <= w.k && yield(d, a) {
			if d += w.reach; d <= w.k {
				a = w.after(a)
			}
		}
	}
}

// worth returns the weighted sum of a chain, rounded up.
func (w *window) worth(d int, a float64) float64 {
	sum := 0.0
	for d, a := range w.chain(d, a) {
		sum = up(sum + up(w.weight[d]*a))
	}
	return sum
}

func (w *window) add(a float64) {
	w.points.add(a, func() place {
		s := place{a: a}
		for _, d := range w.free {
			s.above = append(s.above, w.worth(d, a))
			second := 0.0
			if w.reach-d <= w.k {
				second = w.worth(w.reach-d, w.after(1-a)) // 1 - a is exact: a ≥ 1/2
			}
			s.below = append(s.below, second)
		}
		return s
	})
}

// best returns the largest Σ score(d, i_d) over the free leads, by their index, for 0 ≤ i_1 ≤ i_2 ≤ … < n,
// rounded up, and where it is.
func (w *window) best(n int, score func(d, i int) float64) (float64, []int) {
	at := make([]int, len(w.free))
	return newAscent(len(w.free), n).best(0, 0, n, score, at), at
}

// value is the score of places.
func (w *window) value(d, i int) float64 { return w.points[i].value(d) }

// begin has some places from 1/2 to the top.
func (w *window) begin(n int) {
	for i := range n {
		w.add(0.5 + float64((w.top-0.5)*(float64(i)/float64(n))))
	}
	w.add(w.top)
}

// bound returns what no table of the window is above. A chain begins in one of the cells between two
// places: it is not worth more than the first part at the upper end and the second at the lower.
// Cells in which the largest sum lies are halved until they have so many links, or until that gains
// nothing.
func (w *window) bound(links int) float64 {
	if len(w.free) == 0 {
		return w.fixed
	}
	w.begin(16)
	for {
		cells := len(w.points) - 1
		most, at := w.best(cells, func(d, i int) float64 {
			return up(w.points[i+1].above[d] + w.points[i].below[d])
		})
		value, _ := w.best(cells+1, w.value)
		if most-value < 1e-8 || cells*(w.k/w.apart+1) >= links {
			return up(w.fixed + most)
		}
		slices.Sort(at)
		var halves []float64
		for _, i := range slices.Compact(at) {
			halves = append(halves, w.points[i].a+float64((w.points[i+1].a-w.points[i].a)/2))
		}
		for _, a := range halves {
			w.add(a)
		}
		if len(w.points)-1 == cells {
			return up(w.fixed + most)
		}
	}
}

// table returns the probability at each lead from 0 to K of the best table of the window, to some
// digits, 0 at leads that there are none of.
func (w *window) table() []float64 {
	a := make([]float64, w.k+1)
	set := func(d int, p float64) {
		for lead, p := range w.chain(d, p) {
			a[lead] = p
		}
	}
	if w.apart == 1 || w.k%2 == 0 {
		a[0] = 0.5
		if w.reach <= w.k {
			set(w.reach, w.after(0.5))
		}
	}
	if t := w.reach / 2; w.apart == 1 || (w.k-t)%2 == 0 {
		set(t, w.top)
	}
	if len(w.free) == 0 {
		return a
	}
	w.begin(24)
	var at []int
	for range 44 {
		_, at = w.best(len(w.points), w.value)
		var between []float64
		for _, i := range at {
			for j := max(0, i-1); j <= min(i, len(w.points)-2); j++ {
				between = append(between, w.points[j].a+float64((w.points[j+1].a-w.points[j].a)/2))
			}
		}
		n := len(w.points)
		for _, p := range between {
			w.add(p)
		}
		if len(w.points) == n {
			break
		}
	}
	_, at = w.best(len(w.points), w.value)
	for i, d := range w.free {
		p := w.points[at[i]].a
		set(d, p)
		if w.reach-d <= w.k {
			set(w.reach-d, w.after(1-p))
		}
	}
	return a
}

// Window returns, for each lead from 0 to K of one of two classes, the probability that the leading
// one is the answer: the best under a Link at t votes, by weights of the leads, 0 where there are
// too few. What is returned is
// near to that and proves nothing. Cost: some hundred links for each lead, and one where t = 1.
func (p Problem) Window(weight []float64, link *Link) []float64 {
	return p.newWindow(weight, link).table()
}
