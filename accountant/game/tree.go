package game

import (
	"cmp"
	"context"
	"slices"
)

// tree holds measures so that the largest Σ m·W over all of them is found without working out each:
// a node has the envelope of all measures below it, which has no smaller sum than any.
type tree struct {
	reach  int
	leaves []measure
	nodes  []node // the root first, then the nodes below its first child
	widest int    // atoms of the largest measure or envelope
	atoms  int    // of all leaves
}

// node is the leaves first … end-1. Its first child is the next node, its second one is second, 0
// where it has none.
type node struct {
	bound      measure
	first, end int32
	second     int32
}

// leavesOfNode is the largest number of leaves of a node without children.
const leavesOfNode = 8

// features are values of a measure's curve around x = 1, weighted as a price of many answers does,
// about. Measures that have them in common have an envelope not much above each. Nothing but time
// rests on them.
const features = 7

type featured struct {
	at      [features]float64
	measure measure
}

func newTree(ctx context.Context, l *lattice, step float64, measures []measure) (tree, error) {
	t := tree{reach: l.reach}
	list := make([]featured, len(measures))
	for i, m := range measures {
		list[i] = featured{l.features(step, m), m}
		t.atoms += len(m.atoms)
	}
	t.split(ctx, l, list)
	for i := range t.nodes {
		t.widest = max(t.widest, len(t.nodes[i].bound.atoms))
	}
	for i := range t.leaves {
		t.widest = max(t.widest, len(t.leaves[i].atoms))
	}
	return t, ctx.Err()
}

// features returns the curve of m at x = e^{ts}, t = -2 … 4, times e^{8ts}.
func (l *lattice) features(step float64, m measure) (f [features]float64) {
	for i := range f {
		j := max(-l.reach, min(l.reach, int(float64(i-2)/step)))
		c := m.zero
		for _, a := range m.atoms {
			if k := j + a.shift; k < 0 {
				c += float64(a.mass * l.rest[min(l.reach, -k)])
			}
		}
		f[i] = float64(c * whole(l.up[j+l.reach], 8))
	}
	return f
}

// split adds the node of the list and all below it, halving the list where its members differ most.
// Where ctx ends, the tree is not complete.
func (t *tree) split(ctx context.Context, l *lattice, list []featured) {
	if ctx.Err() != nil {
		return
	}
	at := len(t.nodes)
	t.nodes = append(t.nodes, node{first: int32(len(t.leaves))})
	e := envelope{first: 2 * l.reach}
	last := 0
	for i := range list {
		if a, b, ok := l.kinks(list[i].measure); ok {
			e.first, last = min(e.first, a), max(last, b)
		}
	}
	e.curve = make([]float64, max(0, last-e.first+1))
	for i := range list {
		l.raise(&e, list[i].measure)
		if i%1024 == 1023 && ctx.Err() != nil {
			return
		}
	}
	t.nodes[at].bound = l.measure(&e)
	t.nodes[at].bound.atoms = slices.Clone(t.nodes[at].bound.atoms) // without room to grow
	if len(list) <= leavesOfNode {
		for i := range list {
			t.leaves = append(t.leaves, list[i].measure)
		}
	} else {
		f := widest(list)
		slices.SortStableFunc(list, func(a, b featured) int { return cmp.Compare(a.at[f], b.at[f]) })
		t.split(ctx, l, list[:len(list)/2])
		t.nodes[at].second = int32(len(t.nodes))
		t.split(ctx, l, list[len(list)/2:])
	}
	t.nodes[at].end = int32(len(t.leaves))
}

// widest returns the feature in which the measures differ most.
func widest(list []featured) int {
	low, high := list[0].at, list[0].at
	for i := range list {
		for f, v := range list[i].at {
			low[f], high[f] = min(low[f], v), max(high[f], v)
		}
	}
	best := 0
	for f := range high {
		if high[f]-low[f] > high[best]-low[best] {
			best = f
		}
	}
	return best
}

// leastWork is about the number of atoms that one block looks at.
func (t *tree) leastWork() int { return min(t.atoms, 20*t.widest) }

// best sets values to the largest sums over all measures, one for each point of a block. A node is
// not entered where its envelope is at most slack times the largest sum found: then the envelope
// stands for all below it. seed is a leaf to begin with, and the best leaf in the middle of the
// block is returned. Sums of up to widest positive products are off by (widest + 2)·2⁻⁵³ at most,
// in proportion, since nothing underflows: masses sum to 1 or more and no value is below smallest.
func (t *tree) best(around []float64, values *[block]float64, seed int32, slack float64) int32 {
	type open struct {
		node int32
		sums [block]float64
	}
	var stack [64]open // two for each halving
	var found, bound, sums [block]float64
	winner := seed
	leaf := func(i int32) {
		t.leaves[i].sums(around, t.reach, &sums)
		if sums[block/2] > found[block/2] {
			winner = i
		}
		for j := range found {
			found[j] = max(found[j], sums[j])
		}
	}
	leaf(seed)
	t.nodes[0].bound.sums(around, t.reach, &stack[0].sums)
	for depth := 1; depth > 0; {
		depth--
		top := &stack[depth]
		inside := false
		for j, s := range top.sums {
			if s > found[j]*slack {
				inside = true
				break
			}
		}
		if !inside {
			for j, s := range top.sums {
				bound[j] = max(bound[j], s)
			}
			continue
		}
		n := &t.nodes[top.node]
		if n.second == 0 {
			for i := n.first; i < n.end; i++ {
				leaf(i)
			}
			continue
		}
		a, b := &stack[depth], &stack[depth+1]
		depth += 2
		a.node, b.node = top.node+1, n.second
		t.nodes[a.node].bound.sums(around, t.reach, &a.sums)
		t.nodes[b.node].bound.sums(around, t.reach, &b.sums)
		if a.sums[block/2] > b.sums[block/2] {
			*a, *b = *b, *a // the larger one first
		}
	}
	growth := 1 + float64(float64(2*(t.widest+4))*0x1p-53)
	for j := range values {
		values[j] = max(smallest, min(1, max(found[j], bound[j])*growth))
	}
	return winner
}

// sums sets the values to m(0) + Σ m_k·W(x·x_k) at a block of points; around holds W from reach
// points below the first.
func (m *measure) sums(around []float64, reach int, values *[block]float64) {
	s0, s1, s2, s3, s4, s5, s6, s7 := m.zero, m.zero, m.zero, m.zero, m.zero, m.zero, m.zero, m.zero
	for _, a := range m.atoms {
		w := (*[block]float64)(around[a.shift+reach:])
		// float64() keeps processors from fusing product and sum.
		s0 += float64(a.mass * w[0])
		s1 += float64(a.mass * w[1])
		s2 += float64(a.mass * w[2])
		s3 += float64(a.mass * w[3])
		s4 += float64(a.mass * w[4])
		s5 += float64(a.mass * w[5])
		s6 += float64(a.mass * w[6])
		s7 += float64(a.mass * w[7])
	}
	*values = [block]float64{s0, s1, s2, s3, s4, s5, s6, s7}
}
