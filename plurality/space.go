package plurality

import (
	"fmt"
	"slices"

	"github.com/darrm/darrm/internal/handle"
)

// Abstained is the number of votes of the variable that stands for abstaining.
const Abstained = -1

// Space lists the sorted histograms of K votes for C classes and the variables of a
// symmetric mechanism: for each histogram λ its distinct counts v, largest first, then
// abstaining where that is an answer. Histograms are in ascending lexicographic order of
// their descending counts. Where votes may be missing, those of 0 votes come first, then those of
// 1 vote, and so on up to K. A Space is immutable and safe for concurrent use.
type Space struct {
	k, classes int
	abstain    bool
	missing    bool
	named      bool    // see NewNamedSpace
	offset     []int32 // the first histogram of n votes
	parts      int     // min(C, K): classes that may have votes
	count      []int32 // see partitions
	start      []int32 // the variables of histogram h are start[h] … start[h+1]-1
	votes      []int16 // v of each variable, or Abstained
	classesOf  []int16 // m(λ,v) of each variable; 1 for abstaining
}

// Histograms returns the number of sorted histograms of k votes for c classes, which are the
// partitions of k into at most c parts, or a number above MaxHistograms where it is above.
//
// That the proved checker's walk over them misses none: partitions_all in proofs/ManyClasses.v.
func Histograms(k, c int) int {
	n := make([]int, k+1)
	n[0] = 1
	for part := 1; part <= min(c, k); part++ { // as many have no part above c
		for i := part; i <= k; i++ {
			n[i] = min(n[i]+n[i-part], MaxHistograms+1)
		}
	}
	return n[k]
}

// HistogramsUpTo returns the number of sorted histograms of at most k votes for c classes, or a
// number above MaxHistograms where it is above.
func HistogramsUpTo(k, c int) int {
	n := 0
	for votes := 0; votes <= k && n <= MaxHistograms; votes++ {
		n += Histograms(votes, c)
	}
	return min(n, MaxHistograms+1)
}

// NewSpace lists the histograms of exactly k votes for the given number of classes, or of at most k where votes
// may be missing; abstain is one more answer. The caller has checked that k ≥ 0, that there are at
// least 2 classes, and that there are at most MaxHistograms. Cost: O(k²·classes + variables).
func NewSpace(k, classes int, abstain, missing bool) *Space {
	s := &Space{k: k, classes: classes, abstain: abstain, missing: missing, parts: min(classes, k),
		start: []int32{0}}
	s.count = make([]int32, (s.parts+1)*(k+1)*(k+1))
	for p := 0; p <= s.parts; p++ {
		for n := 0; n <= k; n++ {
			for m := 0; m <= k; m++ {
				s.count[s.cell(p, n, m)] = s.partitions(p, n, m)
			}
		}
	}
	s.offset = make([]int32, k+1)
	for n := s.least(); n <= k; n++ {
		s.offset[n] = int32(s.Histograms())
		s.list(make([]int, 0, s.parts), n, n)
	}
	return s
}

// least returns the smallest number of votes of a histogram.
func (s *Space) least() int {
	if s.missing {
		return 0
	}
	return s.k
}

func (s *Space) cell(p, n, m int) int { return (p*(s.k+1)+n)*(s.k+1) + m }

// partitions returns the number of partitions of n into at most p parts of at most m
// each, from those with fewer parts or smaller ones. What is too many is refused before;
// smaller n have fewer.
func (s *Space) partitions(p, n, m int) int32 {
	switch {
	case n == 0:
		return 1
	case p == 0 || m == 0:
		return 0
	}
	c := s.count[s.cell(p, n, m-1)]
	if m <= n { // the largest is m
		c += s.count[s.cell(p-1, n-m, m)]
	}
	return c
}

// list appends all histograms that begin with prefix and have n more votes in parts of at
// most largest.
func (s *Space) list(prefix []int, n, largest int) {
	if n == 0 {
		s.append(prefix)
		return
	}
	left := s.parts - len(prefix)
	if left == 0 {
		return
	}
	for v := (n + left - 1) / left; v <= min(n, largest); v++ {
		s.list(append(prefix, v), n-v, v)
	}
}

// append adds the variables of the histogram with these positive counts, descending.
func (s *Space) append(positive []int) {
	for i := 0; i < len(positive); {
		j := i
		for j < len(positive) && positive[j] == positive[i] {
			j++
		}
		s.votes, s.classesOf = append(s.votes, int16(positive[i])), append(s.classesOf, int16(j-i))
		i = j
	}
	if zeros := s.classes - len(positive); zeros > 0 {
		s.votes, s.classesOf = append(s.votes, 0), append(s.classesOf, int16(zeros))
	}
	if s.abstain {
		s.votes, s.classesOf = append(s.votes, Abstained), append(s.classesOf, 1)
	}
	s.start = append(s.start, int32(len(s.votes)))
}

// Histograms returns the number of sorted histograms.
func (s *Space) Histograms() int { return max(0, len(handle.Made(s).start)-1) }

// Variables returns the number of variables.
func (s *Space) Variables() int { return len(handle.Made(s).votes) }

// Range returns the first variable of histogram h and the one after its last.
func (s *Space) Range(h int) (first, end int) {
	s = handle.Made(s)
	if s.start == nil {
		return 0, 0
	}
	return int(s.start[h]), int(s.start[h+1])
}

// Votes returns v of variable i: how many votes each of its classes has, or Abstained.
func (s *Space) Votes(i int) int {
	if handle.Made(s).votes == nil {
		return 0
	}
	return int(s.votes[i])
}

// ClassesOf returns m(λ,v) of variable i: how many classes share its mass.
func (s *Space) ClassesOf(i int) int {
	if handle.Made(s).classesOf == nil {
		return 0
	}
	return int(s.classesOf[i])
}

// Histogram returns the C counts of histogram h, descending, or in the order of the classes where the Space
// is named.
func (s *Space) Histogram(h int) []int {
	s = handle.Made(s)
	if s.start == nil {
		return nil
	}
	out := make([]int, 0, s.classes)
	for i := s.start[h]; i < s.start[h+1]; i++ {
		if s.votes[i] != Abstained {
			for range s.classesOf[i] {
				out = append(out, int(s.votes[i]))
			}
		}
	}
	return out
}

// Index returns the number of the histogram with these counts, in any order; in the order of the classes
// where the Space is named. It fails unless they
// are K votes for C classes, or at most K where votes may be missing.
func (s *Space) Index(counts []int) (int, error) {
	s = handle.Made(s)
	if s.classes == 0 {
		return 0, errNoSystem
	}
	if len(counts) != s.classes {
		return 0, fmt.Errorf("%d counts, want one for each of %d classes", len(counts), s.classes)
	}
	sum := 0
	for c, v := range counts {
		if v < 0 || v > s.k {
			return 0, fmt.Errorf("class %d has %d votes, want between 0 and K = %d", c, v, s.k)
		}
		sum += v
	}
	switch {
	case s.missing && sum > s.k:
		return 0, fmt.Errorf("the counts sum to %d votes, want at most K = %d", sum, s.k)
	case !s.missing && sum != s.k:
		return 0, fmt.Errorf("the counts sum to %d votes, want K = %d", sum, s.k)
	}
	if s.named {
		return s.indexNamed(counts), nil
	}
	sorted := slices.Clone(counts)
	slices.Sort(sorted)
	slices.Reverse(sorted)
	index, n := int(s.offset[sum]), sum
	for i, v := range sorted {
		if n == 0 {
			break
		}
		index += s.below(i, n, v)
		n -= v
	}
	return index, nil
}

// below returns how many histograms agree with one up to its part i, which is v, where n
// votes are left, and come before it there.
func (s *Space) below(i, n, v int) int {
	return int(s.count[s.cell(s.parts-i, n, v-1)])
}

// run is some classes with the same count.
type run struct{ votes, classes int }

// runs returns histogram h as its runs, in dst.
func (s *Space) runs(h int, dst []run) []run {
	dst = dst[:0]
	for i := s.start[h]; i < s.start[h+1]; i++ {
		if s.votes[i] != Abstained {
			dst = append(dst, run{int(s.votes[i]), int(s.classesOf[i])})
		}
	}
	return dst
}

// merge sorts runs by descending votes and joins those with equal votes, in place. Runs
// without classes are dropped.
func merge(r []run) []run {
	for i := 1; i < len(r); i++ { // few and nearly sorted
		for j := i; j > 0 && r[j].votes > r[j-1].votes; j-- {
			r[j], r[j-1] = r[j-1], r[j]
		}
	}
	out := r[:0]
	for _, x := range r {
		switch {
		case x.classes == 0:
		case len(out) > 0 && out[len(out)-1].votes == x.votes:
			out[len(out)-1].classes += x.classes
		default:
			out = append(out, x)
		}
	}
	return out
}

// indexRuns is Index for merged runs of a histogram of s.
func (s *Space) indexRuns(r []run) int {
	n := 0
	for _, x := range r {
		n += x.votes * x.classes
	}
	index, i := int(s.offset[n]), 0
	for _, x := range r {
		if x.votes == 0 {
			break
		}
		for range x.classes {
			index += s.below(i, n, x.votes)
			n -= x.votes
			i++
		}
	}
	return index
}

// position returns which of merged runs has these votes.
func position(r []run, votes int) int {
	for i, x := range r {
		if x.votes == votes {
			return i
		}
	}
	panic(fmt.Sprintf("plurality: no class has %d votes", votes))
}
