package plan

import (
	"context"
	"errors"
	"math"
	"slices"
	"strconv"

	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/ensemble/labellaw"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/handle"
	"github.com/darrm/darrm/internal/randsrc"
)

// Agreement is the expected share of labels that are a class with the most votes: the mean of
// labellaw.Plurality over a Law.
type Agreement struct {
	Expected      float64
	StandardError float64 // of the sampled queries or simulated labels; 0 where Expected is exact
	Abstained     float64 // share of queries without a class, which agree with nothing
	// Shared is Expected where the label of a tie is the one of its classes that a fair coin takes: a of
	// package labellaw.
	Shared float64
}

// Agreement returns the expected share of labels of m that are a class with the most votes, by m's
// probabilities for each query of the law. It is exact unless the law is a sample of a prior. All
// mechanisms are compared on the same queries. A mechanism with slow probabilities (Laplace's noise
// between more than two classes) is simulated instead, by 5,000 seeded labels. The error is ctx's,
// or that of a law without queries.
func (l *Law) Agreement(ctx context.Context, m *ensemble.Mechanism) (Agreement, error) {
	if m == nil || m.Setting().K != l.k || m.Setting().Classes != l.classes {
		return Agreement{}, errors.New("the mechanism must be one for the teachers and " +
			"classes of the votes")
	}
	if l.total == 0 {
		return Agreement{}, check.Want("number of queries in the votes", 0, "at least 1")
	}
	if m.SlowLaw() {
		return l.simulated(ctx, m)
	}
	return l.exact(ctx, m)
}

// Guess returns how often a class that is drawn at random agrees.
func (l *Law) Guess() float64 {
	l = handle.Made(l)
	guess := slices.Repeat([]float64{1 / float64(l.classes)}, l.classes)
	sum := 0.0
	for _, c := range l.cells {
		agrees, _ := labellaw.Plurality(c.counts, guess)
		sum += c.weight / l.total * agrees
	}
	return sum
}

func (l *Law) exact(ctx context.Context, m *ensemble.Mechanism) (a Agreement, err error) {
	squares := 0.0
	for _, c := range l.cells {
		if err := ctx.Err(); err != nil {
			return a, err
		}
		p, err := m.Probabilities(c.counts)
		if err != nil {
			return a, err
		}
		agrees, tied := labellaw.Plurality(c.counts, p)
		a.Expected += c.weight / l.total * agrees
		a.Shared += c.weight / l.total * agrees / float64(tied)
		squares += c.weight / l.total * agrees * agrees
		if m.Abstains() {
			a.Abstained += c.weight / l.total * p[l.classes]
		}
	}
	if l.sampled {
		a.StandardError = standardError(squares, a.Expected)
	}
	return a, nil
}

// simulated estimates agreement from drawn queries and labels.
func (l *Law) simulated(ctx context.Context, m *ensemble.Mechanism) (a Agreement, err error) {
	pick := randsrc.NewSeededStream(simulationSeed, 1)
	until := make([]float64, len(l.cells)) // weights, added up
	sum := 0.0
	for i, c := range l.cells {
		sum += c.weight
		until[i] = sum
	}
	for i := range simulations {
		if err := ctx.Err(); err != nil {
			return a, err
		}
		u, _ := pick.Uint53() // a seeded source has no error
		at, _ := slices.BinarySearch(until, float64(u)/(1<<53)*sum)
		c := l.cells[min(at, len(l.cells)-1)]
		class, err := m.Simulate(simulationSeed, strconv.Itoa(i), c.counts)
		switch {
		case err != nil:
			return a, err
		case class == ensemble.Abstained:
			a.Abstained += 1. / simulations
		case c.counts[class] == slices.Max(c.counts):
			a.Expected += 1. / simulations
			a.Shared += 1. / simulations / float64(tied(c.counts))
		}
	}
	a.StandardError = standardError(a.Expected, a.Expected) // each is 0 or 1, and its own square
	return a, nil
}

func tied(counts []int) int {
	_, n := labellaw.Plurality(counts, make([]float64, len(counts)))
	return n
}

// standardError estimates the standard error of a mean of simulated numbers, from the mean of their
// squares.
func standardError(squares, mean float64) float64 {
	return math.Sqrt(max(0, squares-mean*mean) / simulations)
}
