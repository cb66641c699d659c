package plan

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/handle"
	"github.com/darrm/darrm/plurality"
)

// simulations is the number of queries drawn from a prior with too many histograms, and the number
// of labels of a simulated agreement. The standard error is at most 0.5/√simulations = 0.0071.
const simulations = 5000

// simulationSeed makes simulations repeat: equal requests have equal plans.
const simulationSeed = 1

// Law is a distribution of vectors of vote counts. Expected agreement is a mean over it. It never
// decides whether a release is private. Make it with Prior, Uneven or NewSample. It is safe for
// concurrent use once the last query is added.
type Law struct {
	k, classes int
	missing    bool // votes may be missing
	named      bool // the classes are told apart: see NamedLaw
	fromVotes  bool
	sampled    bool // the cells are queries drawn from the prior
	// What the prior says; 0 for what it does not, both for a sample of votes.
	mean, concentration float64
	shares              plurality.Shares // of a NamedLaw; nil for equal ones and for counts
	says                *Says            // of a YesLaw, which has a mean too
	yes                 []float64        // of a YesLaw: its weights by the number of votes for yes
	cells               []cell
	index               map[string]int // of cells, by their counts
	total               float64
	leads               []float64 // of a sample: queries in which each class has the most votes
}

// cell is one vector of vote counts.
type cell struct {
	counts []int
	weight float64
}

// NewSample returns an empty law for votes at hand, to which Add adds them.
func NewSample(k, classes int) (*Law, error) {
	l, err := newLaw(k, classes)
	if err == nil {
		l.fromVotes = true
	}
	return l, err
}

func newLaw(k, classes int) (*Law, error) {
	if err := cmp.Or(check.Teachers(k), check.Classes(classes)); err != nil {
		return nil, err
	}
	return &Law{k: k, classes: classes, index: map[string]int{}, leads: make([]float64, classes)}, nil
}

// AllowMissing allows missing votes in a sample: the counts of a query that Add adds sum to at most
// K.
func (l *Law) AllowMissing() { handle.Made(l).missing = true }

// Add adds one query, of which counts[c] teachers voted for class c. It returns an error unless the
// counts are at least 0 and add up to K over the law's classes, or to less with AllowMissing.
func (l *Law) Add(counts []int) error { return l.AddTimes(counts, 1) }

// AddTimes adds n queries with the same votes, n > 0 and finite.
func (l *Law) AddTimes(counts []int, n float64) error {
	l = handle.Made(l)
	if !(n > 0) || math.IsInf(n, 1) {
		return check.Want("times", n, "above 0 and finite")
	}
	if len(counts) == 0 || check.Votes(counts, 0, l.k, l.classes, l.missing) != nil {
		return check.Wantf("votes of a query", counts, "counts of %d classes that add up to K = %d", l.classes, l.k)
	}
	most := slices.Max(counts)
	for class, votes := range counts {
		if votes == most {
			l.leads[class] += n
		}
	}
	l.add(slices.Clone(counts), n)
	return nil
}

// Leads returns, for each class, the share of a sample's queries in which no class has more votes, so that
// a tie counts for all of its classes. nil for a prior and without queries.
func (l *Law) Leads() []float64 {
	l = handle.Made(l)
	if !l.fromVotes && !l.named || l.total == 0 {
		return nil
	}
	shares := slices.Clone(l.leads)
	for c := range shares {
		shares[c] /= l.total
	}
	return shares
}

// Always returns the class that agrees most often with a sample of votes, the first of several, and the
// share of queries in which it does. It is not ok for a prior that treats the classes alike, and
// without queries.
func (l *Law) Always() (class int, agreement float64, ok bool) {
	leads := l.Leads()
	if leads == nil {
		return 0, 0, false
	}
	for c, share := range leads {
		if share > leads[class] {
			class = c
		}
	}
	return class, leads[class], true
}

// add sorts the counts, since mechanisms treat all classes alike unless they are told apart, and keeps them.
func (l *Law) add(counts []int, weight float64) {
	if !l.named {
		slices.Sort(counts)
	}
	key := fmt.Sprint(counts)
	i, ok := l.index[key]
	if !ok {
		i = len(l.cells)
		l.index[key] = i
		l.cells = append(l.cells, cell{counts: counts})
	}
	l.cells[i].weight += weight
	l.total += weight
}

// FromVotes reports whether the law was computed from votes, and so is not private.
func (l *Law) FromVotes() bool { return handle.Made(l).fromVotes }

// Mean returns the mean of Prior, 0 for other laws.
func (l *Law) Mean() float64 { return handle.Made(l).mean }

// Shares returns how frequent the classes of NamedLaw are, nil for equal shares, for counts and for other laws.
func (l *Law) Shares() plurality.Shares { return slices.Clone(handle.Made(l).shares) }

// Concentration returns the concentration of Uneven, 0 for other laws.
func (l *Law) Concentration() float64 { return handle.Made(l).concentration }
