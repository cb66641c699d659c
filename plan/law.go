package plan

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/gamma"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/randsrc"
	"github.com/darrm/darrm/plurality"
)

// simulations is how many queries are drawn where agreement is simulated. Its standard error
// is then at most 0.5/√simulations = 0.0071.
const simulations = 5000

// simulationSeed makes simulations repeat: equal requests have equal plans.
const simulationSeed = 1

// Law is how often each vector of vote counts occurs: what expected agreement is over. It
// never decides what is private. Make it with Prior, Uneven or NewSample.
type Law struct {
	k, classes int
	fromVotes  bool
	// What the prior says; 0 for what it does not, both for a sample of votes.
	mean, concentration float64
	cells               []cell
	index               map[string]int // of cells, by their counts
	total               float64
}

// cell is one vector of vote counts.
type cell struct {
	counts []int
	weight float64
}

// Prior returns the law of votes of teachers who vote for the likelier class independently
// with probability mean, and else for any other class alike; each class may be the likelier.
// For two classes it is gamma.TwoSidedCounts, exactly; for more it is a seeded sample of
// 5,000 queries. It takes a mean in (0.5, 1) for two classes, else in (1/classes, 1).
// Cost: O(K), or 5,000·K draws.
func Prior(k, classes int, mean float64) (*Law, error) {
	l, err := newLaw(k, classes)
	if err != nil {
		return nil, err
	}
	l.mean = mean
	if classes == 2 {
		counts, err := gamma.TwoSidedCounts(k, mean)
		for ones, weight := range counts {
			l.add([]int{k - ones, ones}, weight)
		}
		return l, err
	}
	if !(mean*float64(classes) > 1 && mean < 1) {
		return nil, &check.Error{Name: "prior mean", Value: mean, Rule: fmt.Sprintf("in (1/%d, 1)", classes)}
	}
	// The mechanisms treat all classes alike, so class 0 is as good as any.
	src := randsrc.NewSeeded(simulationSeed)
	for range simulations {
		counts := make([]int, classes)
		for range k {
			u, _ := src.Uint53() // a seeded source has no error
			x := float64(u) / (1 << 53)
			if x < mean {
				counts[0]++
				continue
			}
			counts[1+min(int((x-mean)/(1-mean)*float64(classes-1)), classes-2)]++
		}
		l.add(counts, 1)
	}
	return l, nil
}

// Uneven returns the law of votes where classes have uneven shares of a query's votes, as
// plurality.Objective has them of this Concentration A in (0, 10⁶]: a seeded sample of 5,000
// queries. Each vote is for a class with probability (A/C + its votes so far)/(A + all so far).
// Cost: 5,000·K draws.
func Uneven(k, classes int, concentration float64) (*Law, error) {
	l, err := newLaw(k, classes)
	if err != nil {
		return nil, err
	}
	if err := plurality.CheckConcentration(concentration); err != nil {
		return nil, err
	}
	l.concentration = concentration
	src := randsrc.NewSeeded(simulationSeed)
	for range simulations {
		counts := make([]int, classes)
		for n := range k {
			u, _ := src.Uint53() // a seeded source has no error
			x := float64(u) / (1 << 53) * (concentration + float64(n))
			class := 0
			for ; class < classes-1; class++ {
				if x -= concentration/float64(classes) + float64(counts[class]); x < 0 {
					break
				}
			}
			counts[class]++
		}
		l.add(counts, 1)
	}
	return l, nil
}

// NewSample returns the law of votes that are at hand, without any yet.
func NewSample(k, classes int) (*Law, error) {
	l, err := newLaw(k, classes)
	if err == nil {
		l.fromVotes = true
	}
	return l, err
}

func newLaw(k, classes int) (*Law, error) {
	if err := check.Teachers(k); err != nil {
		return nil, err
	}
	if err := check.Classes(classes); err != nil {
		return nil, err
	}
	return &Law{k: k, classes: classes, index: map[string]int{}}, nil
}

// Add adds one query, of which counts[c] teachers voted for class c. The error says how the
// counts are none of K teachers over the classes.
func (l *Law) Add(counts []int) error {
	sum := 0
	for _, n := range counts {
		sum += n
	}
	if len(counts) != l.classes || sum != l.k || slices.Min(counts) < 0 {
		return &check.Error{Name: "votes of a query", Value: counts, Rule: fmt.Sprintf("counts of %d classes that add up to K = %d", l.classes, l.k)}
	}
	l.add(slices.Clone(counts), 1)
	return nil
}

// add sorts the counts, since mechanisms treat all classes alike, and keeps them.
func (l *Law) add(counts []int, weight float64) {
	slices.Sort(counts)
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

// FromVotes says whether the law was computed from votes, and so is not private.
func (l *Law) FromVotes() bool { return l.fromVotes }

// Mean is that of Prior; 0 of other laws.
func (l *Law) Mean() float64 { return l.mean }

// Concentration is that of Uneven; 0 of other laws.
func (l *Law) Concentration() float64 { return l.concentration }

// Agreement is how often a label is expected to be the majority's class.
type Agreement struct {
	Expected      float64 // where n classes tie, each of them counts 1/n
	StandardError float64 // of the simulated queries or labels; 0 where Expected is exact
	Abstained     float64 // share of queries without a class, which agree with nothing
}

// Agreement returns how often m agrees with the majority under the law. For two classes it is
// exact. For more, the mechanisms whose probabilities are known at once, the optimal plurality and
// permute-and-flip, are worked out for each query of the law, so that they are compared on the
// same queries; the others are a seeded simulation of 5,000 labels.
func (l *Law) Agreement(ctx context.Context, m *ensemble.Mechanism) (Agreement, error) {
	if l.total == 0 {
		return Agreement{}, &check.Error{Name: "number of queries in the votes", Value: 0, Rule: "at least 1"}
	}
	if l.classes == 2 || m.Name() == ensemble.OptimalPlurality || m.Name() == "permute_and_flip" {
		return l.exact(m)
	}
	return l.simulated(ctx, m)
}

func (l *Law) exact(m *ensemble.Mechanism) (a Agreement, err error) {
	squares := 0.0
	for _, c := range l.cells {
		p, err := m.Probabilities(c.counts)
		if err != nil {
			return a, err
		}
		agrees := 0.0
		for class := range c.counts {
			agrees += p[class] * c.share(class)
		}
		a.Expected += c.weight / l.total * agrees
		squares += c.weight / l.total * agrees * agrees
		if m.Abstains() {
			a.Abstained += c.weight / l.total * p[l.classes]
		}
	}
	if l.classes > 2 && !l.fromVotes { // the law itself is a sample of the prior
		a.StandardError = math.Sqrt(max(0, squares-a.Expected*a.Expected) / simulations)
	}
	return a, nil
}

// simulated draws a query and a label at a time.
func (l *Law) simulated(ctx context.Context, m *ensemble.Mechanism) (a Agreement, err error) {
	pick, coins := randsrc.NewSeededStream(simulationSeed, 1), ensemble.SeededCoins(simulationSeed)
	until := make([]float64, len(l.cells)) // weights, added up
	sum := 0.0
	for i, c := range l.cells {
		sum += c.weight
		until[i] = sum
	}
	squares := 0.0
	for i := range simulations {
		if err := ctx.Err(); err != nil {
			return a, err
		}
		u, _ := pick.Uint53() // a seeded source has no error
		at, _ := slices.BinarySearch(until, float64(u)/(1<<53)*sum)
		c := l.cells[min(at, len(l.cells)-1)]
		class, err := m.Answer(coins, strconv.Itoa(i), c.counts)
		switch {
		case err != nil:
			return a, err
		case class == ensemble.Abstained:
			a.Abstained += 1. / simulations
		default:
			share := c.share(class)
			a.Expected += share / simulations
			squares += share * share / simulations
		}
	}
	a.StandardError = math.Sqrt(max(0, squares-a.Expected*a.Expected) / simulations)
	return a, nil
}

// share is 1/n for one of the n classes with the most votes, 0 for others.
func (c cell) share(class int) float64 {
	most := slices.Max(c.counts)
	if c.counts[class] < most {
		return 0
	}
	n := 0
	for _, x := range c.counts {
		if x == most {
			n++
		}
	}
	return 1 / float64(n)
}
