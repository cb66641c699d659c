package game

import (
	"bytes"
	"cmp"
	"container/heap"
	"context"
	"encoding/binary"
	"math"
	"slices"

	"github.com/darrm/darrm/internal/check"
)

// survey holds the figures of all pairs: those of a first reading, and of a second where one is
// needed.
type survey struct {
	pairs    int
	outcomes int     // of the largest pair
	scale    float64 // 2·√ of the largest Σ(√P - √P')²
	ratio    float64 // the largest P'/P that is finite, at least 1
	skewness float64 // the largest size of it
	moments  [len(orders)]float64
	infinite float64         // the largest probability of outcomes that one law alone has
	exact    int             // the largest size of list
	list     ranks           // the ordered pairs of largest divergence
	listed   map[string]bool // their keys, true until the pair is kept; nil where all pairs would be listed
}

// read visits each pair, and looks at ctx every few of them.
func (s *survey) read(ctx context.Context, pairs Pairs) error {
	err := each(ctx, pairs, func(p Pair) error {
		if err := p.validate(); err != nil {
			return err
		}
		if s.pairs++; s.pairs > MaxPairs {
			return tooLarge("pairs of a game", s.pairs, MaxPairs)
		}
		s.add(p)
		return nil
	})
	if err == nil && s.pairs == 0 {
		return check.Some("pairs of a game", 0)
	}
	return err
}

func each(ctx context.Context, pairs Pairs, visit func(Pair) error) error {
	if pairs == nil {
		return nil // as of none
	}
	for p, err := range pairs {
		if err == nil {
			err = ctx.Err()
		}
		if err == nil {
			err = visit(p)
		}
		if err != nil {
			return err
		}
	}
	return ctx.Err()
}

func (s *survey) add(p Pair) {
	s.outcomes = max(s.outcomes, len(p))
	hellinger, skewness := p.shape()
	s.scale = max(s.scale, 2*math.Sqrt(hellinger))
	s.skewness = max(s.skewness, math.Abs(skewness))
	var sums [len(orders)]float64
	for _, second := range [2]bool{false, true} {
		for i := range p {
			if o := &p[i]; o.P.Mass > 0 && o.PPrime.Mass > 0 {
				s.ratio = max(s.ratio, o.ratio(second))
			}
		}
		infinite := p.moments(second, &sums)
		s.infinite = max(s.infinite, infinite)
		for j := range sums {
			s.moments[j] = max(s.moments[j], sums[j])
		}
	}
}

// choose reads the pairs again, and lists the ordered pairs of largest divergence of order 8, so
// many of them, if not all.
func (s *survey) choose(ctx context.Context, pairs Pairs, exact int) error {
	if exact = min(exact, max(1, maxAtoms/(2*s.outcomes))); 2*s.pairs <= exact {
		return nil
	}
	s.exact, s.listed = exact, map[string]bool{}
	return each(ctx, pairs, func(p Pair) error {
		if err := p.validate(); err != nil {
			return err
		}
		var sums [len(orders)]float64
		for _, second := range [2]bool{false, true} {
			infinite := p.moments(second, &sums)
			s.rank(p, second, sums[exactOrder]+float64(infinite*0x1p50))
		}
		return nil
	})
}

// rank puts an ordered pair on the list, if its score is among the largest and it is not there yet.
// Ties are broken by the key, so that the list does not depend on the order of the pairs.
func (s *survey) rank(p Pair, second bool, score float64) {
	if len(s.list) == s.exact && score < s.list[0].score {
		return
	}
	r := ranked{score, p.key(second)}
	if s.listed[r.key] || len(s.list) == s.exact && compare(r, s.list[0]) < 0 {
		return
	}
	if len(s.list) == s.exact {
		delete(s.listed, heap.Pop(&s.list).(ranked).key)
	}
	heap.Push(&s.list, r)
	s.listed[r.key] = true
}

// key returns bytes that two ordered pairs share only if they are the same but for the order of the
// outcomes.
func (p Pair) key(second bool) string {
	const size = 8 + 8 + 2 + 2 + 2
	sorted := make([][]byte, len(p))
	all := make([]byte, 0, size*len(p))
	for i := range p {
		o := &p[i]
		all = binary.BigEndian.AppendUint64(all, o.law(second).Mass)
		all = binary.BigEndian.AppendUint64(all, o.law(!second).Mass)
		all = binary.BigEndian.AppendUint16(all, uint16(o.law(second).Classes))
		all = binary.BigEndian.AppendUint16(all, uint16(o.law(!second).Classes))
		all = binary.BigEndian.AppendUint16(all, uint16(o.Count))
		sorted[i] = all[size*i:]
	}
	slices.SortFunc(sorted, bytes.Compare)
	return string(bytes.Join(sorted, nil))
}

type ranked struct {
	score float64
	key   string
}

func compare(a, b ranked) int {
	return cmp.Or(cmp.Compare(a.score, b.score), cmp.Compare(a.key, b.key))
}

// ranks is a heap with the smallest first.
type ranks []ranked

func (r ranks) Len() int           { return len(r) }
func (r ranks) Less(i, j int) bool { return compare(r[i], r[j]) < 0 }
func (r ranks) Swap(i, j int)      { r[i], r[j] = r[j], r[i] }
func (r *ranks) Push(x any)        { *r = append(*r, x.(ranked)) }
func (r *ranks) Pop() any {
	last := (*r)[len(*r)-1]
	*r = (*r)[:len(*r)-1]
	return last
}
