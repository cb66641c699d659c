package answers

import (
	"cmp"
	"math"
	"slices"
)

// place is a probability at which chains may begin, and for each of them what its part from there upward and
// its part below are worth: the first rises with a, the second falls.
type place struct {
	a            float64
	next         float64 // Next(a), of anchors
	above, below []float64
}

// value returns what the whole chain of a number is worth, rounded up.
func (s place) value(chain int) float64 { return up(s.above[chain] + s.below[chain]) }

// places are ascending.
type places []place

// add puts in what is at a, unless it is there.
func (s *places) add(a float64, at func() place) {
	i, found := slices.BinarySearchFunc(*s, a, func(s place, a float64) int { return cmp.Compare(s.a, a) })
	if !found {
		*s = slices.Insert(*s, i, at())
	}
}

// upTo returns how many places are at most a.
func (s places) upTo(a float64) int {
	i, _ := slices.BinarySearchFunc(s, a, func(s place, a float64) int {
		if s.a <= a {
			return -1
		}
		return 1
	})
	return i
}

// ascent finds where chains begin that rise one after the other, from one of n indices of places to another.
type ascent struct {
	sums []float64
	from [][]int // the index before, of each chain and index
}

func newAscent(chains, n int) *ascent {
	s := &ascent{sums: make([]float64, n), from: make([][]int, chains)}
	for c := range s.from {
		s.from[c] = make([]int, n)
	}
	return s
}

// best returns the largest Σ score(c, i_c) over the chains from first on, by their number, and low ≤ i ≤ … < end,
// rounded up. It sets where that is for each chain.
func (s *ascent) best(first, low, end int, score func(c, i int) float64, at []int) float64 {
	clear(s.sums)
	most, where := 0.0, low
	for c := first; c <= len(s.from); c++ {
		most, where = math.Inf(-1), low
		for i := low; i < end; i++ {
			if s.sums[i] > most {
				most, where = s.sums[i], i
			}
			if c < len(s.from) { // the last chain ends anywhere up to the last index
				s.sums[i], s.from[c][i] = up(most+score(c, i)), where
			}
		}
	}
	for c := len(s.from) - 1; c >= first; c-- {
		at[c] = where
		where = s.from[c][where]
	}
	return most
}
