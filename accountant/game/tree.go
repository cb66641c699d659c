package game

import (
	"cmp"
	"context"
	"slices"

	"github.com/darrm/darrm/internal/num"
)

// tree holds measures so that the largest Σ m·W over all of them is found without working out each:
// a node has the envelope of all measures below it, which has no smaller sum than any.
type tree struct {
	reach  int
	leaves []leaf
	atoms  []atom // of all leaves, one after the other
	listed int    // atoms of all measures; of equal measures of a node, atoms has one
	nodes  []node // the root first, then the nodes below its first child
	widest int    // atoms of the largest measure or envelope
}

// leaf is a measure whose atoms lie elsewhere.
type leaf struct {
	zero  float64 // mass at ratio 0
	atoms int     // how many there are
}

// node is the leaves first … end-1, whose atoms begin at atom. Its first child is the next node, its
// second one is second, 0 where it has none.
type node struct {
	bound      measure
	first, end int32
	atom       int
	second     int32
}

// atomsOfNode is how many times as many atoms as its envelope has a node without children may have:
// where an envelope is looked at, it should save far more than it costs.
const atomsOfNode = 16

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
	}
	t.split(ctx, l, list)
	for i := range t.nodes {
		t.widest = max(t.widest, len(t.nodes[i].bound.atoms))
	}
	for _, l := range t.leaves {
		t.widest = max(t.widest, l.atoms)
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
		f[i] = float64(c * num.Power(l.up[j+l.reach], 8))
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
	t.nodes = append(t.nodes, node{first: int32(len(t.leaves)), atom: len(t.atoms)})
	e := envelope{first: 2 * l.reach}
	last, atoms := 0, 0
	for i := range list {
		atoms += len(list[i].measure.atoms)
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
	if len(list) == 1 || atoms <= atomsOfNode*len(t.nodes[at].bound.atoms) {
		kept := map[[features]float64][]*measure{}
		for i := range list {
			f, m := list[i].at, &list[i].measure
			t.listed += len(m.atoms)
			if slices.ContainsFunc(kept[f], m.same) { // which has no larger sum, as of mirrored pairs
				continue
			}
			kept[f] = append(kept[f], m)
			t.leaves = append(t.leaves, leaf{m.zero, len(m.atoms)})
			t.atoms = append(t.atoms, m.atoms...)
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

// same reports whether two measures are alike to the last bit.
func (m *measure) same(n *measure) bool { return m.zero == n.zero && slices.Equal(m.atoms, n.atoms) }

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

// openNode is a node that is to be looked at, and the sums of its envelope.
type openNode struct {
	node int32
	sums [block]float64
}

type openNodes [64]openNode // two for each halving

// leastWork is about the number of atoms that one block looks at.
func (t *tree) leastWork() int { return min(t.listed, 20*t.widest) }

// best sets values to the largest sums over all measures, one for each point of a block. A node is
// not entered where its envelope is at most slack times the largest sum found: then the envelope
// stands for all below it. What the stack holds before does not matter. seed is a node without children to begin with, and the one that has the
// best leaf in the middle of the block is returned. Sums of up to widest positive products are off
// by (widest + 2)·2⁻⁵³ at most, in proportion, since nothing underflows: masses sum to 1 or more and
// no value is below smallest.
func (t *tree) best(around []float64, values *[block]float64, seed int32, slack float64,
	stack *openNodes) int32 {
	var found, bound [block]float64
	winner := seed
	all := func(i int32) {
		n, before := &t.nodes[i], found[block/2]
		raise(&found, around, t.reach, t.leaves[n.first:n.end], t.atoms[n.atom:])
		if found[block/2] > before {
			winner = i
		}
	}
	sums := func(o *openNode) {
		o.sums = [block]float64{}
		m := &t.nodes[o.node].bound
		one := [1]leaf{{m.zero, len(m.atoms)}}
		raise(&o.sums, around, t.reach, one[:], m.atoms)
	}
	for t.nodes[seed].second != 0 { // of a tree that is new
		seed++
	}
	all(seed)
	depth := 0
	if len(t.nodes) > 1 {
		stack[0].node = 0
		sums(&stack[0])
		depth = 1
	}
	for depth > 0 {
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
			if top.node != seed {
				all(top.node)
			}
			continue
		}
		a, b := &stack[depth], &stack[depth+1]
		depth += 2
		a.node, b.node = top.node+1, n.second
		sums(a)
		sums(b)
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

// raiseEach lifts found to the largest sum m(0) + Σ m_k·W(x·x_k) of the leaves, at a block of
// points; around holds W from reach points below the first. atoms are those of the leaves, one
// after the other, and there may be more.
func raiseEach(found *[block]float64, around []float64, reach int, leaves []leaf, atoms []atom) {
	for _, l := range leaves {
		s0, s1, s2, s3, s4, s5, s6, s7 := l.zero, l.zero, l.zero, l.zero, l.zero, l.zero, l.zero, l.zero
		for _, a := range atoms[:l.atoms] {
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
		atoms = atoms[l.atoms:]
		for j, s := range [block]float64{s0, s1, s2, s3, s4, s5, s6, s7} {
			if s > found[j] { // no sum is NaN; max would be a call where processors have no instruction
				found[j] = s
			}
		}
	}
}
