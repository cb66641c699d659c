package plurality

import (
	"context"

	"github.com/darrm/darrm/internal/handle"
)

// Column is a class of a pair of neighbouring histograms, or several that look the same:
// Classes of them have the votes of variable I in the first and of J in the second.
type Column struct{ I, J, Classes int }

// Change is a gain or loss of the same number of votes by some classes with the same votes. UnmarshalJSON
// writes to it: no other goroutine may use it meanwhile.
type Change struct{ Votes, Delta, Classes int }

// Pair is an ordered pair of neighbouring histograms, up to the names of the classes:
// the multiset of its columns. All of it is valid until the next pair.
type Pair struct {
	From, To int      // histograms
	Columns  []Column // all classes, those that no moved vote touches among them
	Changes  []Change // what leads from From to To
}

// Pairs calls visit for each ordered pair of neighbouring histograms of the problem: see
// Space.Pairs.
func (s *System) Pairs(ctx context.Context, visit func(*Pair) bool) error {
	s = handle.Made(s)
	return s.Space.Pairs(ctx, s.problem.Affected, visit)
}

// Pairs calls visit for each ordered pair of histograms that the votes of 1 to t teachers lead
// from one to the other, once each, until visit returns false. A vote moves from class to class or,
// where votes may be missing, also comes or goes. The error is ctx.Err(), which is looked at every
// millisecond or so, however many pairs a histogram has. Cost: O(C) a pair.
//
// That no other pairs are needed: plurality_private in proofs/Plurality.v. That the proved
// checker's walk over them misses none: vectors_all in proofs/ManyClasses.v.
func (s *Space) Pairs(ctx context.Context, t int, visit func(*Pair) bool) error {
	s = handle.Made(s)
	w := walk{s: s, t: t, visit: visit, stopped: func() bool { return ctx.Err() != nil }}
	for h := range s.Histograms() {
		if !w.all(h) {
			break
		}
	}
	return ctx.Err()
}

// Neighbours calls visit for each of the Pairs from histogram h, once each, until visit returns
// false; it reports whether it never did. Cost: O(C) a pair.
func (s *Space) Neighbours(h, t int, visit func(*Pair) bool) bool {
	s = handle.Made(s)
	if s.start == nil {
		return true
	}
	w := walk{s: s, t: t, visit: visit, stopped: func() bool { return false }}
	return w.all(h)
}

// walk is the depth-first search behind Neighbours: changes are added in the order of
// their runs and deltas.
type walk struct {
	s       *Space
	t       int
	spare   int // votes that are missing from From
	visit   func(*Pair) bool
	stopped func() bool
	steps   int   // since stopped was asked
	runs    []run // of From
	touched []int // the run of each change
	after   []run // of To
	pair    Pair
}

// all visits the pairs from histogram h.
func (w *walk) all(h int) bool {
	w.runs, w.pair.From = w.s.runs(h, w.runs), h
	w.spare = w.s.spare(w.runs)
	return w.from(0, -w.t, 0, 0, 0)
}

// from adds changes from run k and delta on. So many classes of run k are used, and so
// many votes came and went.
func (w *walk) from(k, delta, used, up, down int) bool {
	if w.steps++; w.steps%4096 == 0 && w.stopped() || w.s.neighbour(w.spare, up, down) && !w.emit() {
		return false
	}
	for ; k < len(w.runs); k, delta, used = k+1, -w.t, 0 {
		r := w.runs[k]
		low, high := max(delta, -r.votes, down-w.t), w.t-up
		switch left := r.classes - used; {
		case left == 0:
			continue
		case left == 1 && k == len(w.runs)-1 && !w.s.missing: // the last class balances the others
			low, high = max(low, down-up), min(high, down-up)
		}
		for d := low; d <= high; d++ {
			if d == 0 {
				continue
			}
			for n := 1; n <= r.classes-used; n++ {
				u, l := up, down
				if d > 0 {
					u += n * d
				} else {
					l -= n * d
				}
				if u > w.t || l > w.t {
					break
				}
				w.pair.Changes, w.touched = append(w.pair.Changes, Change{r.votes, d, n}), append(w.touched, k)
				more := w.from(k, d+1, used+n, u, l)
				w.pair.Changes, w.touched = w.pair.Changes[:len(w.pair.Changes)-1], w.touched[:len(w.touched)-1]
				if !more {
					return false
				}
			}
		}
	}
	return true
}

// spare returns how many votes are missing from the histogram of these runs.
func (s *Space) spare(runs []run) int {
	spare := s.k
	for _, r := range runs {
		spare -= r.votes * r.classes
	}
	return spare
}

// neighbour reports whether so many votes gained by classes and lost by classes lead from a
// histogram that lacks spare votes to another of s. Where votes may be missing, the difference
// comes from them or joins them, so that max(up, down) teachers differ.
func (s *Space) neighbour(spare, up, down int) bool {
	if !s.missing {
		return up == down && up > 0
	}
	return up+down > 0 && up-down <= spare
}

// emit visits the pair of the changes so far.
func (w *walk) emit() bool {
	w.s.complete(&w.pair, w.runs, w.touched, &w.after)
	return w.visit(&w.pair)
}

// complete works out To and Columns of a pair from its Changes. touched has the run of From that
// each change belongs to. after is room for the runs of To.
func (s *Space) complete(p *Pair, runs []run, touched []int, after *[]run) {
	left := append((*after)[:0], runs...)
	if s.named {
		s.completeNamed(p, left, touched)
		*after = left
		return
	}
	for i, c := range p.Changes {
		left[touched[i]].classes -= c.Classes
	}
	p.Columns = p.Columns[:0]
	first := int(s.start[p.From])
	for k, r := range left {
		if r.classes > 0 {
			p.Columns = append(p.Columns, Column{first + k, r.votes, r.classes}) // J below
		}
	}
	for i, c := range p.Changes {
		left = append(left, run{c.Votes + c.Delta, c.Classes})
		p.Columns = append(p.Columns, Column{first + touched[i], c.Votes + c.Delta, c.Classes})
	}
	left = merge(left)
	*after = left
	p.To = s.indexRuns(left)
	second := int(s.start[p.To])
	for i := range p.Columns {
		p.Columns[i].J = second + position(left, p.Columns[i].J)
	}
	if s.abstain {
		p.Columns = append(p.Columns, Column{first + len(runs), second + len(left), 1})
	}
}

// Between returns the pair that the changes lead to from histogram h. It is not ok where
// they are not a pair's: votes that no class of h has, classes that are too few, votes
// that come without going though none may be missing, or more than t of them.
func (s *Space) Between(h, t int, changes []Change) (p *Pair, ok bool) {
	s = handle.Made(s)
	if h < 0 || h >= s.Histograms() {
		return nil, false
	}
	runs := s.runs(h, nil)
	left := append([]run(nil), runs...)
	p = &Pair{From: h, Changes: changes}
	var touched []int
	up, down := 0, 0
	for _, c := range changes {
		k := 0
		for k < len(left) && left[k].votes != c.Votes {
			k++
		}
		if k == len(left) || c.Classes < 1 || c.Classes > left[k].classes || c.Delta < -c.Votes ||
			c.Delta > t {
			return nil, false
		}
		left[k].classes -= c.Classes
		touched = append(touched, k)
		if c.Delta > 0 {
			up += c.Delta * c.Classes
		} else {
			down -= c.Delta * c.Classes
		}
	}
	if up > t || down > t || !s.neighbour(s.spare(runs), up, down) {
		return nil, false
	}
	var after []run
	s.complete(p, runs, touched, &after)
	return p, true
}

// row reports whether p(i) ≤ e^ε·p(j) is a row of the problem with δ = 0: whether i and j
// are the same class of two histograms that differ by at most t moved votes. Cost: O(C).
func (s *Space) row(i, j, t int) bool {
	if i < 0 || j < 0 || i >= s.Variables() || j >= s.Variables() ||
		(s.votes[i] == Abstained) != (s.votes[j] == Abstained) {
		return false
	}
	// Apart from that class, the nearest way to match the others is in sorted order.
	a, b := s.without(i), s.without(j)
	moved := 0
	if s.votes[i] != Abstained {
		moved = distance(s.Votes(i), s.Votes(j))
	}
	for c := range a {
		moved += distance(a[c], b[c])
	}
	return moved <= 2*t
}

// without returns the histogram of variable i, descending, without one of its classes.
func (s *Space) without(i int) []int {
	h := s.histogramOf(i)
	counts := s.Histogram(h)
	for c, v := range counts {
		if v == s.Votes(i) {
			return append(counts[:c], counts[c+1:]...)
		}
	}
	return counts // abstaining
}

// histogramOf returns the histogram of variable i.
func (s *Space) histogramOf(i int) int {
	low, high := 0, s.Histograms() // start[low] ≤ i < start[high]
	for high-low > 1 {
		if mid := (low + high) / 2; int(s.start[mid]) <= i {
			low = mid
		} else {
			high = mid
		}
	}
	return low
}

func distance(a, b int) int { return max(a-b, b-a) }
