package poissonbinom

import "fmt"

// binomialThreshold is the multiplicity from which GroupedPMF starts with the
// binomial law of the largest group. The recurrence costs about 60·N ns, N factors
// one at a time about 0.2·N² ns; BenchmarkGroupedStart measures both.
const binomialThreshold = 300

// GroupedPMF returns the probability mass function of the sum of all variables
// of all groups, of length n+1 with n = ΣN: PMF for few distinct probabilities,
// with complements given apart.
//
// The storage of dst is used if its capacity is at least n+1 and its contents are
// lost; nil allocates. Groups with P = 0 or P = 1 (and Q exactly 1 or 0) cost
// nothing. Cost otherwise O(n·N), N without the largest group if that
// is large. Accuracy as stated at PMFError.
//
// It panics if a group fails Group.Check; check values from outside first.
func GroupedPMF(groups []Group, dst []float64) []float64 {
	n, ones, largest := 0, 0, -1
	for i, g := range groups {
		if err := g.Check(); err != nil {
			panic(fmt.Sprintf("poissonbinom: group %d: %v", i, err))
		}
		n += g.N
		switch {
		case g.isOne():
			ones += g.N
		case g.isZero():
		case largest < 0 || g.N > groups[largest].N:
			largest = i
		}
	}
	if cap(dst) < n+1 {
		dst = make([]float64, n+1)
	}
	dst = dst[:n+1]
	clear(dst[:ones])
	w := newWindow(dst[ones:])
	if largest >= 0 && groups[largest].N >= binomialThreshold {
		g := groups[largest]
		binomialInto(w.a[:g.N+1], g.P, twofold{hi: g.Q})
		w.hi = g.N
		w.trim()
	} else {
		largest = -1
	}
	for i, g := range groups {
		if i == largest || g.isOne() || g.isZero() {
			continue
		}
		for range g.N {
			w.step(g.Q, g.P)
		}
	}
	return dst
}

func (g Group) isOne() bool  { return g.P == 1 && g.Q == 0 }
func (g Group) isZero() bool { return g.P == 0 && g.Q == 1 }
