package plurality

import (
	"fmt"

	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/handle"
)

// NamedHistograms returns the number of histograms of k votes for c classes that are told apart, which is
// the binomial (k+c-1 over c-1), or a number above MaxHistograms where it is above.
func NamedHistograms(k, c int) int {
	n := 1
	for i := 1; i < c; i++ { // each quotient is a binomial
		if n = n * (k + i) / i; n > MaxHistograms {
			return MaxHistograms + 1
		}
	}
	return n
}

// NewNamedSpace lists the histograms of exactly k votes for so many classes for a mechanism that may treat
// the classes by their names: each histogram by itself, in lexicographic order of its counts, and a
// variable for each class, in their order. The caller has checked that there are at most MaxHistograms; of no
// teacher or fewer than 2 classes it is empty. Cost: O(variables).
func NewNamedSpace(k, classes int) *Space {
	if k < 1 || classes < 2 {
		return &Space{}
	}
	s := &Space{k: k, classes: classes, named: true, parts: classes, start: []int32{0}}
	// count has the number of histograms of n votes for p classes at p·(k+1)+n.
	s.count = make([]int32, (classes+1)*(k+1))
	s.count[0] = 1
	for p := 1; p <= classes; p++ {
		sum := int32(0)
		for n := 0; n <= k; n++ {
			sum += s.count[(p-1)*(k+1)+n]
			s.count[p*(k+1)+n] = sum
		}
	}
	s.listNamed(make([]int, 0, classes), k)
	return s
}

// listNamed appends all histograms that begin with prefix and have n more votes.
func (s *Space) listNamed(prefix []int, n int) {
	if len(prefix) == s.classes-1 {
		for _, v := range append(prefix, n) {
			s.votes, s.classesOf = append(s.votes, int16(v)), append(s.classesOf, 1)
		}
		s.start = append(s.start, int32(len(s.votes)))
		return
	}
	for v := 0; v <= n; v++ {
		s.listNamed(append(prefix, v), n-v)
	}
}

// indexNamed is Index for counts that sum to K.
func (s *Space) indexNamed(counts []int) int {
	index, n := 0, s.k
	for c, v := range counts {
		for below := range v { // histograms that are less at class c
			index += int(s.count[(s.classes-1-c)*(s.k+1)+n-below])
		}
		n -= v
	}
	return index
}

// completeNamed is complete for classes that are told apart: runs are the classes of From, in their order.
func (s *Space) completeNamed(p *Pair, runs []run, touched []int) {
	counts := make([]int, len(runs))
	for c, r := range runs {
		counts[c] = r.votes
	}
	for i, c := range p.Changes {
		counts[touched[i]] += c.Delta
	}
	p.To = s.indexNamed(counts)
	p.Columns = p.Columns[:0]
	for c := range counts {
		p.Columns = append(p.Columns, Column{int(s.start[p.From]) + c, int(s.start[p.To]) + c, 1})
	}
}

// BetweenNamed returns the ordered pair of two histograms of a named Space. It is not ok for others, and where the
// two are one or more than t votes apart.
func (s *Space) BetweenNamed(from, to, t int) (p *Pair, ok bool) {
	s = handle.Made(s)
	if n := s.Histograms(); !s.named || from < 0 || to < 0 || from >= n || to >= n || from == to {
		return nil, false
	}
	before, after := s.Histogram(from), s.Histogram(to)
	p = &Pair{From: from, To: to}
	moved := 0
	for c, v := range after {
		moved += max(0, v-before[c])
		p.Columns = append(p.Columns, Column{int(s.start[from]) + c, int(s.start[to]) + c, 1})
	}
	return p, moved <= t
}

// Named reports whether the classes are told apart: see NewNamedSpace.
func (s *Space) Named() bool { return s != nil && s.named }

// Shares are how frequent the classes are: public, one for each class, in their order. nil stands for
// classes that are equally frequent. They decide what is useful and never what is private.
type Shares []float64

// sharesSlack is how far from 1 a sum of shares may be that are written as decimals.
const sharesSlack = 1e-9

// Validate returns an error unless there is one share above 0 for each class and they sum to 1.
func (q Shares) Validate(classes int) error {
	if q == nil {
		return nil
	}
	if len(q) != classes {
		return check.Wantf("number of shares", len(q), "%d, one for each class", classes)
	}
	sum := 0.0
	for _, x := range q {
		if err := check.Within("share of a class", x); err != nil {
			return err
		}
		sum += x
	}
	if sum < 1-sharesSlack || sum > 1+sharesSlack {
		return check.Want("sum of shares", sum, "1")
	}
	return nil
}

// Costs are what an answer costs: Costs[a][b] ≥ 0 is that of the answer a where b has the most votes, 0
// for a = b. Where several classes tie, an answer costs the least of theirs. nil stands for 1 where an
// answer has not the most votes.
type Costs [][]float64

// MaxCost bounds a stated cost.
const MaxCost = 1e6

// Validate returns an error unless there is a finite cost ≥ 0 for each answer and class, 0 on the diagonal
// and above 0 somewhere.
func (l Costs) Validate(classes int) error {
	if l == nil {
		return nil
	}
	if len(l) != classes {
		return check.Wantf("number of rows of costs", len(l), "%d, one for each answer", classes)
	}
	most := 0.0
	for a, row := range l {
		if len(row) != classes {
			return check.Wantf(fmt.Sprintf("number of costs of answer %d", a), len(row), "%d, one for each class", classes)
		}
		for b, x := range row {
			switch {
			case a == b && x != 0:
				return check.Want(fmt.Sprintf("cost of answer %d where it has the most votes", a), x, "0")
			case !(x >= 0 && x <= MaxCost):
				return check.Wantf(fmt.Sprintf("cost of answer %d where %d has the most votes", a, b), x, "between 0 and %g",
					MaxCost)
			}
			most = max(most, x)
		}
	}
	if most == 0 { // any answer would be as good as any other
		return check.Want("largest cost", 0, "above 0")
	}
	return nil
}

// Uneven returns a copy of the costs, or nil where all are 1: those of agreement, which nil stands for.
func (l Costs) Uneven() Costs {
	for a, row := range l {
		for b, x := range row {
			if a != b && x != 1 {
				return handle.Deep(l)
			}
		}
	}
	return nil
}

// Cost returns what answer a costs where these are the votes.
func (l Costs) Cost(votes []int, a int) float64 {
	most := 0
	for _, v := range votes {
		most = max(most, v)
	}
	if a < 0 || a >= len(votes) || l == nil {
		if a >= 0 && a < len(votes) && votes[a] == most {
			return 0
		}
		return 1
	}
	least := MaxCost
	for b, v := range votes {
		if v == most {
			least = min(least, l[a][b])
		}
	}
	return least
}
