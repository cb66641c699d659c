package ensemble

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/constraints"
	"github.com/darrm/darrm/internal/handle"
	"github.com/darrm/darrm/internal/noise"
	"github.com/darrm/darrm/internal/randsrc"
	"github.com/darrm/darrm/plurality"
)

// Plurality returns the mechanism of a certified table for many classes (package plurality). A
// certificate is all that makes one: whoever holds a plurality.Certified may release with it. Nothing
// says how good the table is, so the Name is OtherTable; see [OptimalPlurality].
// neighbours is the relation for which the table's t was counted.
//
// An answer costs (ε, δ), and answers compose by what the table proves at smaller ε too
// (plurality.Certified.Profile at 33 values, an accountant.HockeyStick). Between histograms with
// two leading classes a table comes near to randomised response, so that much is won only where ε
// is so small that no class leads for sure. Of a table with more than 2²⁰ privacy rows nothing but
// (ε, δ) is worked out, whoever asks and however long it would take: the event is a function of the
// masses. Bounded range (accountant.BoundedRange), which permute-and-flip's relatives have, is not
// proved of a table and is not claimed.
//
// Cost: nothing. The first composition takes 33 times the time of certifying the table, at most
// about a second.
func Plurality(c *plurality.Certified, neighbours accountant.Relation) (*Mechanism, error) {
	if c.Problem().K < 1 {
		return nil, errUncertifiedPlurality
	}
	c = handle.Copy(c)
	p := c.Problem()
	s := Setting{K: p.K, Classes: p.Classes, Affected: p.Affected, Neighbours: neighbours}
	if err := s.Validate(); err != nil {
		return nil, err
	}
	cost := accountant.Cost{Epsilon: p.Epsilon, Delta: p.Delta}
	m := countMechanism(s, cost, bestPlurality{c, c.System()},
		"a certificate that every privacy constraint holds, in integers")
	m.event = sync.OnceValue(func() accountant.Event { return pluralityEvent(c, neighbours) })
	m.joint = sync.OnceValue(func() *JointPrice { return jointOfTable(c) })
	m.name, m.abstains, m.table = OtherTable, p.Abstain, c
	return m, nil
}

// OptimalPlurality returns Plurality of a table under the name OptimalCounts. Without a proof of how
// good the table is, the name is OtherTable.
func OptimalPlurality(t *plurality.Table, neighbours accountant.Relation) (*Mechanism, error) {
	if t == nil {
		return nil, errUncertifiedPlurality
	}
	m, err := Plurality(t.Certified, neighbours)
	if err == nil && t.Bounded() {
		m.name = OptimalCounts
	}
	return m, err
}

var errUncertifiedPlurality = errors.New("the optimum of many classes needs a certified table")

const (
	profileSteps   = 32      // twice as many would lower the ε of many answers by less than 1e-3 of it
	maxProfileRows = 1 << 20 // about a second
)

// pluralityEvent returns one answer as what composes best.
func pluralityEvent(c *plurality.Certified, neighbours accountant.Relation) accountant.Event {
	p := c.Problem()
	itself := accountant.ApproxDP{Cost: accountant.Cost{Epsilon: p.Epsilon, Delta: p.Delta},
		Neighbours: neighbours}
	if c.Certificate().Rows > maxProfileRows {
		return itself
	}
	var grid []float64
	for k := range profileSteps {
		grid = append(grid, p.Epsilon*float64(k)/profileSteps)
	}
	grid = append(grid, p.Epsilon)
	grid = slices.Compact(grid) // a tiny ε has few float64s below it
	deltas, err := c.Profile(context.Background(), grid)
	if err != nil { // no value of the grid is refused; if one were, this holds too
		return itself
	}
	points := make([]accountant.HockeyStickPoint, len(grid))
	for k, epsilon := range grid {
		points[k] = accountant.HockeyStickPoint{Epsilon: epsilon, Delta: deltas[k]}
	}
	event, err := accountant.NewHockeyStick(neighbours, "a certificate in integers", points)
	if err != nil {
		return itself
	}
	return event
}

// bestPlurality is a certified table by itself.
type bestPlurality struct {
	*plurality.Certified
	system *plurality.System // a copy of its own
}

func (b bestPlurality) draw(src randsrc.Source, counts []int) (int, error) {
	h, err := b.system.Index(counts)
	if err != nil {
		return noAnswer, err
	}
	first, end := b.system.Range(h)
	masses := make([]uint64, 0, end-first)
	for i := first; i < end; i++ {
		masses = append(masses, b.Mass(i))
	}
	return drawGroup(src, masses, counts)
}

func (b bestPlurality) exact() string { return "" }

func (b bestPlurality) law(counts []int) []float64 {
	p, err := b.Law(counts)
	if err != nil {
		panic(fmt.Sprintf("ensemble: %v", err)) // counts of the Setting are those of the table
	}
	return p
}

// OfCounts returns the problem of a mechanism over vote counts. It presumes no promise of the
// teachers (ε = +Inf), and has the promise of one answer.
func OfCounts(s Setting, promise accountant.Cost) constraints.Problem {
	return constraints.Problem{
		K: s.K, Affected: s.Affected, Epsilon: math.Inf(1), TotalEpsilon: promise.Epsilon,
		Delta: promise.Delta,
	}
}

// drawGroup answers by the masses of one histogram: masses[g] belongs to the classes with the g-th
// largest number of votes, and one more mass to abstaining. They sum to plurality.One. One uniform
// 53-bit integer chooses a group, and then each of its classes is equally likely. So every
// probability is exactly what was certified.
func drawGroup(src randsrc.Source, masses []uint64, counts []int) (int, error) {
	group, err := drawClass(src, masses)
	if err != nil {
		return noAnswer, err
	}
	votes := slices.Clone(counts)
	slices.Sort(votes)
	votes = slices.Compact(votes)
	slices.Reverse(votes)
	var classes []int
	if group < len(votes) {
		for class, v := range counts {
			if v == votes[group] {
				classes = append(classes, class)
			}
		}
	}
	// Drawn of one class, or of abstaining, too, so that the number of draws says nothing about the
	// votes.
	nth, err := noise.Uniform(src, max(2, uint64(len(classes))))
	switch {
	case err != nil:
		return noAnswer, err
	case group == len(votes):
		return Abstained, nil
	case len(classes) == 0:
		panic(fmt.Sprintf("ensemble: %d masses for %d numbers of votes", len(masses), len(votes)))
	}
	return classes[nth%uint64(len(classes))], nil
}

// drawClass draws a class, or a group, from integer masses, one for each, which sum to plurality.One.
func drawClass(src randsrc.Source, masses []uint64) (int, error) {
	u, err := noise.Uniform(src, plurality.One)
	if err != nil {
		return noAnswer, err
	}
	class := 0
	for ; u >= masses[class]; class++ { // the masses sum to One > u
		u -= masses[class]
	}
	return class, nil
}
