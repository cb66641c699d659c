package answers

import "math"

// anchored is the tables of two classes that obey a Link at t votes and may treat the classes by their
// names: p_k is the probability of the second class where it has k of the K votes, and the value to be
// maximised is Σ gain_k·p_k, with gain_k ≤ 0 below k0 and ≥ 0 from k0 on.
//
// Among the best tables is a monotone one. For k ≥ k0 let b_k be the largest of p_j, k0 ≤ j ≤ k, and for
// k < k0 the least of p_j, k ≤ j < k0; then clip both sides at a number between p_(k0-1) and p_(k0) where these
// are in the wrong order. No term falls, and neighbours still obey the Link. Of a monotone table the pairs that
// are t votes apart alone bind, so that a table is t chains, one for each rest of k modulo t:
//
//	p_(k+t) = Next(p_k)           upward from the anchors a_r = p_(k0+r), 0 ≤ r < t
//	p_(k-t) = 1 - Next(1 - p_k)   downward from them
//
// What is left to choose is the anchors, with a_0 ≤ a_1 ≤ … ≤ a_(t-1) ≤ Next(a_0). Beyond K a table goes on
// with gain 0. The symmetric tables of [window] are the special case of gains that are mirrored.
type anchored struct {
	k, t, k0 int
	gain     []float64
	link     *Link
	points   places
}

// firstAnchors is the number of cells of [0,1] that a search begins with.
const firstAnchors = 32

func (p Problem) newAnchored(gain []float64, link *Link) *anchored {
	k, t := p.inSpace()
	w := &anchored{k: k, t: min(max(1, t), k), k0: (k + 1) / 2, gain: gain, link: link}
	for i := range firstAnchors + 1 {
		w.add(float64(i) / firstAnchors)
	}
	return w
}

func (w *anchored) add(a float64) {
	w.points.add(a, func() place {
		s := place{a: a, next: w.link.Next(a), above: make([]float64, w.t), below: make([]float64, w.t)}
		for r := range w.t {
			for k, p := w.k0+r, a; k <= w.k; k, p = k+w.t, w.link.Next(p) {
				s.above[r] = up(s.above[r] + up(w.gain[k]*p))
			}
			for k, p := w.k0+r-w.t, w.lower(a); k >= 0; k, p = k-w.t, w.lower(p) {
				if k <= w.k {
					s.below[r] = up(s.below[r] + up(w.gain[k]*p))
				}
			}
		}
		return s
	})
}

// lower returns the least probability beside p, rounded down.
func (w *anchored) lower(p float64) float64 {
	return max(0, math.Nextafter(1-w.link.Next(math.Nextafter(1-p, 2)), -1))
}

// best returns the largest Σ_r score(r, i_r) over 0 ≤ i_0 ≤ … ≤ i_(t-1) ≤ last(i_0), rounded up, and
// where it is; n is the number of indices. last does not fall.
func (w *anchored) best(n int, score func(r, i int) float64, last func(i int) int) (float64, []int) {
	// ahead[i] is what the chains from 1 on can have, from index i on, whatever the first one is.
	ahead := make([]float64, n)
	for r := w.t - 1; r > 0; r-- {
		most := math.Inf(-1)
		for i := n - 1; i >= 0; i-- {
			most = max(most, up(score(r, i)+ahead[i]))
			ahead[i] = most
		}
	}
	value, at := math.Inf(-1), make([]int, w.t)
	rest, places := newAscent(w.t, n), make([]int, w.t)
	for first := range n {
		if up(score(0, first)+ahead[first]) <= value {
			continue
		}
		places[0] = first
		if sum := up(score(0, first) + rest.best(1, first, last(first)+1, score, places)); sum > value {
			value = sum
			copy(at, places)
		}
	}
	return value, at
}

// refinements is how often a search halves its cells around the best anchors, from 1/32 on: to 2e-9 for one
// answer, and to 2e-6 for several, whose prices are uncertain by more.
const refinements, refinementsOfMany = 24, 14

// mostMoves is how often anchors move by one width.
const mostMoves = 6

// Anchored returns the probabilities of the second of two classes where it has 0 to K votes, of the best table
// that obeys the Link at the problem's t, for gains below 0 at fewer than half of the votes and above at more.
// It is nil unless there are K+1 gains; where votes may be missing, votes are half votes, and K is twice as large. What it obeys it obeys but for rounding: its price counts. Cost: some
// 150 chains of K links for each of the t anchors.
func (p Problem) Anchored(gain []float64, link *Link) []float64 {
	if k, _ := p.inSpace(); len(gain) != k+1 || p.K < 1 || link == nil {
		return nil
	}
	w := p.newAnchored(gain, link)
	var at []int
	width, halvings := 1.0/firstAnchors, refinements
	if p.Answers > 1 {
		halvings = refinementsOfMany
	}
	before, same := math.Inf(-1), 0
	for {
		points := w.points
		value, best := w.best(len(points), func(r, i int) float64 { return points[i].above[r] + points[i].below[r] },
			func(i int) int { return max(i, points.upTo(points[i].next)-1) })
		at = best
		// Anchors that bind each other move together, by a width at a time, as long as that gains.
		if same++; !(value > before) || same == mostMoves || w.t == 1 {
			if halvings--; halvings < 0 {
				break
			}
			width, same = float64(width/2), 0 // by itself: no processor may take it into a sum
		}
		before = value
		for _, i := range at {
			a := points[i].a
			// The last anchor is often as far from the first one as it may be.
			for _, b := range []float64{a - width, a + width, points[i].next, w.lower(a), w.link.Next(a + width),
				w.link.Next(max(0, a-width)), w.lower(a - width), w.lower(a + width)} {
				if b > 0 && b < 1 {
					w.add(b)
				}
			}
		}
	}
	out := make([]float64, w.k+1)
	for r, i := range at {
		for k, q := w.k0+r, w.points[i].a; k <= w.k; k, q = k+w.t, link.Next(q) {
			out[k] = q
		}
		for k, q := w.k0+r-w.t, w.lower(w.points[i].a); k >= 0; k, q = k-w.t, w.lower(q) {
			if k <= w.k {
				out[k] = q
			}
		}
	}
	return out
}

// bound returns an upper bound on Σ gain_k·p_k of every table that obeys the Link, in so many links: what
// lies in a cell between two anchors has the upper part of its higher end and the lower part of its lower
// one. Cells of the best choice are halved until it is within near of a table's value.
func (w *anchored) bound(links int, near float64) float64 {
	least := math.Inf(1)
	for {
		points := w.points
		n := len(points) - 1
		value, at := w.best(n, func(r, i int) float64 { return up(points[i+1].above[r] + points[i].below[r]) },
			func(i int) int { return max(i, points[:n].upTo(points[i+1].next)-1) })
		least = min(least, value)
		has := 0.0
		for r, i := range at {
			has += points[i].above[r] + points[i].below[r]
		}
		if links -= len(at) * (w.k + w.t); links < 0 || value-has <= near {
			return least
		}
		for _, i := range at {
			w.add((points[i].a + points[i+1].a) / 2)
		}
	}
}
