package answers

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/handle"
	"github.com/darrm/darrm/internal/num"
	"github.com/darrm/darrm/plurality"
)

// Limits of a Problem. At them, a table takes some 10 MB as a file and its price minutes.
const (
	maxTwoClassTeachers = 1001    // K of two classes
	maxHistograms       = 1 << 16 // sorted histograms
	maxPairs            = 1 << 20 // ordered pairs of neighbouring histograms
	MaxAnswers          = check.MaxAnswers
)

// Problem is a promise: all answers of a table together are (ε, δ)-differentially private when one
// record changes at most t votes. Nothing is presumed about the teachers, nor about how the queries
// are chosen: each may depend on all labels before it.
//
// Tables of two classes are for at most 1001 teachers, and those of more for at most 2¹⁶ sorted
// histograms; of neighbouring ones there are at most 2²⁰ ordered pairs.
//
// Each float64 stands for its shortest decimal: Epsilon: 0.1 means exactly 1/10.
type Problem struct {
	K        int     // number of teachers, those whose vote is missing among them
	Classes  int     // C, 2 ≤ C ≤ 1000
	Affected int     // t: one record changes at most t of the K votes, 1 ≤ t ≤ K
	Missing  bool    // a vote may be missing; it changes when it comes or goes
	Answers  int     // Q: the table answers at most so many queries, 1 ≤ Q ≤ MaxAnswers
	Epsilon  float64 // ε in (0, 700] of all answers together
	Delta    float64 // δ in (0,1) of all answers together; or 0: see Pure
	Abstain  bool    // one more answer: no class
	// Named: the table may treat the classes by their names, for shares and costs that differ. Its
	// histograms are then all histograms of K votes, or of the 2K half votes of two classes where votes may be missing,
	// each with a mass for each class.
	Named bool
	// Labels, where it is above 0, says that a question has so many yes/no labels and that each has masses of its
	// own, for its own share of yes: see labels.go. It goes with Named and two classes.
	Labels int
}

// SizeError is the error for a Problem whose tables are too large to be made, and which breaks no
// other rule.
type SizeError struct{ Limit *check.Error }

func (e *SizeError) Error() string { return handle.Made(e.Limit).Error() }

// Unwrap returns the limit.
func (e *SizeError) Unwrap() error { return e.Limit }

func tooLarge(name string, value any, format string, args ...any) error {
	return &SizeError{check.Wantf(name, value, format, args...)}
}

// Validate returns a *constraints.ParameterError naming the first field that breaks its rule, or
// nil; last a *SizeError. It allocates nothing of the problem's size. Pairs are counted by NewSystem.
func (p Problem) Validate() error {
	if err := check.Together(p.K, p.Classes, p.Affected, p.Answers, p.Epsilon); err != nil {
		return err
	}
	if !p.Pure() {
		if err := check.Within("budget delta", p.Delta); err != nil {
			return err
		}
	}
	if p.Named && (p.Missing && (p.Classes > 2 || p.Labels > 0) || p.Abstain) {
		return check.Want("classes that are told apart", fmt.Sprintf("missing votes %t, no class an answer %t", p.Missing,
			p.Abstain), "an answer that is a class, and all votes unless there are two classes and one label")
	}
	if p.Labels != 0 {
		if err := p.validateLabels(); err != nil {
			return err
		}
	}
	if p.Classes == 2 {
		if p.K > maxTwoClassTeachers {
			return tooLarge("number of teachers K", p.K, "at most %d for many answers of two classes",
				maxTwoClassTeachers)
		}
		return nil
	}
	if n := p.histograms(); n > maxHistograms {
		return tooLarge("teachers and classes", fmt.Sprintf("%d and %d", p.K, p.Classes),
			"so few that there are at most %d histograms", maxHistograms)
	}
	return nil
}

// Pure reports whether the promise is without δ, which tables of more than two classes that are told apart may have.
// Q answers are (ε, 0)-DP together if and only if each is (ε/Q, 0)-DP: one pair of histograms may be asked Q times, and
// the ratios of one label then multiply.
func (p Problem) Pure() bool { return p.Delta == 0 && p.Named && p.Classes > 2 }

// histograms returns the number of histograms of the problem's Space.
func (p Problem) histograms() int {
	switch {
	case p.Named && p.halves():
		return plurality.NamedHistograms(2*p.K, 2)
	case p.Named:
		return plurality.NamedHistograms(p.K, p.Classes)
	case p.halves():
		return plurality.Histograms(2*p.K, 2)
	case p.Missing:
		return plurality.HistogramsUpTo(p.K, p.Classes)
	}
	return plurality.Histograms(p.K, p.Classes)
}

// halves reports whether a vote counts as two halves in the problem's Space: of two classes, what
// counts is by how many votes one leads. A missing vote adds one half to each class, which leaves
// the lead as it is. So the histograms of at most K votes with one lead are one histogram of 2K
// halves, and t teachers move at most 2t halves.
func (p Problem) halves() bool { return p.Classes == 2 && p.Missing }

// inSpace returns K and t as the problem's Space counts votes.
func (p Problem) inSpace() (k, t int) {
	if p.halves() { // at most all of them move
		return 2 * p.K, min(2*p.Affected, 2*p.K)
	}
	return p.K, p.Affected
}

// System is a Problem with what follows from it: its histograms, variables and pairs. It is made
// once and passed on. It is immutable and safe for concurrent use.
type System struct {
	space   *plurality.Space
	problem Problem
	pairs   int
	delta   float64 // ≤ δ
}

// NewSystem returns p's System. The error is a *constraints.ParameterError or ctx.Err(). Cost: O(C)
// a pair.
func NewSystem(ctx context.Context, p Problem) (*System, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	s := &System{problem: p, delta: num.FromRat(num.Decimal(p.Delta)).Lower()}
	switch {
	case p.Named:
		k, _ := p.inSpace()
		s.space = plurality.NewNamedSpace(k, p.Classes)
	case p.halves():
		s.space = plurality.NewSpace(2*p.K, 2, p.Abstain, false)
	default:
		s.space = plurality.NewSpace(p.K, p.Classes, p.Abstain, p.Missing)
	}
	if n := s.space.Histograms(); p.Affected >= p.K && n-1 > maxPairs/n {
		s.pairs = n * (n - 1) // or more: every two are neighbours, and need no counting
	} else if err := s.Pairs(ctx, func(*plurality.Pair) bool {
		s.pairs++
		return s.pairs <= maxPairs
	}); err != nil {
		return nil, err
	}
	s.pairs *= p.parts()
	if s.pairs > maxPairs {
		return nil, tooLarge("teachers, classes and affected",
			fmt.Sprintf("%d, %d and %d", p.K, p.Classes, p.Affected),
			"so few that there are at most %d ordered pairs of neighbouring histograms", maxPairs)
	}
	return s, nil
}

// Problem returns what the System is of.
func (s *System) Problem() Problem { return handle.Made(s).problem }

// Space returns a copy of the histograms and variables that a table has masses for. For two classes whose
// votes may be missing they are of half votes: see Index.
func (s *System) Space() *plurality.Space { return handle.Copy(handle.Made(s).space) }

// Pairs calls visit for each ordered pair of histograms of the Space that 1 to t teachers lead from
// one to the other, classes matched by their names, once each, until visit returns false. The
// error is ctx.Err(). Cost: O(C) a pair.
func (s *System) Pairs(ctx context.Context, visit func(*plurality.Pair) bool) error {
	s = handle.Made(s)
	return s.space.Pairs(ctx, s.reach(), visit)
}

// reach returns the most votes of the Space that one record moves.
func (s *System) reach() int {
	_, t := s.problem.inSpace()
	return t
}

// counts returns the histogram of the Space of these votes for each class, in their order.
func (s *System) counts(votes []int) ([]int, error) {
	if len(votes) != s.problem.Classes {
		return nil, fmt.Errorf("%d counts, want one for each of %d classes", len(votes),
			s.problem.Classes)
	}
	if !s.problem.halves() {
		return votes, nil
	}
	k := s.problem.K
	for class, v := range votes {
		if v < 0 || v > k {
			return nil, fmt.Errorf("class %d has %d votes, want between 0 and K = %d", class, v, k)
		}
	}
	if votes[0]+votes[1] > k {
		return nil, fmt.Errorf("the counts sum to %d votes, want at most K = %d", votes[0]+votes[1], k)
	}
	lead := votes[0] - votes[1]
	return []int{k + lead, k - lead}, nil
}

// Index returns the histogram of the Space of these votes for each class, which sum to K, or to at
// most K where votes may be missing.
func (s *System) Index(votes []int) (int, error) {
	s = handle.Made(s)
	counts, err := s.counts(votes)
	if err != nil {
		return 0, err
	}
	return s.space.Index(counts)
}

// Lead returns by how many votes the first class of histogram h leads the second: 0 for a tie.
func (s *System) Lead(h int) int {
	s = handle.Made(s)
	counts := s.space.Histogram(h)
	if len(counts) < 2 { // of no System
		return 0
	}
	if s.problem.Named {
		slices.SortFunc(counts, func(a, b int) int { return b - a })
	}
	lead := counts[0] - counts[1]
	if s.problem.halves() {
		return lead / 2
	}
	return lead
}

// Leads returns a histogram of the Space for each lead of two classes from 0 to K, or -1 where
// there is none: where every teacher votes, a lead is odd as K is.
func (s *System) Leads() []int {
	s = handle.Made(s)
	leads := slices.Repeat([]int{-1}, s.problem.K+1)
	for h := range s.space.Histograms() {
		leads[s.Lead(h)] = h
	}
	return leads
}

func up(x float64) float64   { return math.Nextafter(x, math.Inf(1)) }
func down(x float64) float64 { return math.Nextafter(x, math.Inf(-1)) }

// PairCount returns the number of ordered pairs of neighbouring histograms.
func (s *System) PairCount() int { return handle.Made(s).pairs }
