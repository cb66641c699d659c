package ensemble

import (
	"slices"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/internal/noise"
	"github.com/darrm/darrm/internal/randsrc"
)

// Abstained is the answer of an Aggregator that does not name a class. It is an answer:
// it depends on the votes and costs as much as any other.
const Abstained = -1

// Aggregator is a private release of one class from vote counts: DaRRM, GNMax,
// Confident-GNMax, LNMax or permute-and-flip, whichever constructor made it. What it
// promises was proved when it was made. It is immutable and safe for concurrent use.
type Aggregator struct {
	name, title string
	setting     Setting
	cost        accountant.Cost
	event       accountant.Event
	basis       string
	assumes     []string
	anyVotes    bool
	abstains    bool
	rule        rule
	gnmax       *noise.Gaussian // GNMax's noise, for AtVotes; nil for all others
	secure      *randsrc.Secure
}

// rule is the mechanism by itself. Counts that it is given are valid.
type rule interface {
	// draw returns a class or Abstained.
	draw(src randsrc.Source, counts []int) (int, error)
	// law returns the probability of each class, then that of abstaining where there is one.
	law(counts []int) []float64
}

// Name returns a short name for files, such as "gnmax".
func (a *Aggregator) Name() string { return a.name }

// Title returns a name for people, with the mechanism's parameters.
func (a *Aggregator) Title() string { return a.title }

// Setting returns what is presumed about the teachers.
func (a *Aggregator) Setting() Setting { return a.setting }

// Abstains reports whether Abstained is among the answers.
func (a *Aggregator) Abstains() bool { return a.abstains }

// PerAnswer returns the (ε, δ) that one answer costs.
func (a *Aggregator) PerAnswer() accountant.Cost { return a.cost }

// Event returns one answer as what an accountant is charged with, for the neighbouring
// relation of the Setting: the noise itself where the accountant knows it, which adds up
// better than PerAnswer, otherwise PerAnswer. Whether answers add up at all is what Noise
// says.
func (a *Aggregator) Event() accountant.Event { return a.event }

// Noise returns an answer as one that is private by its own noise, whatever the teachers
// are: then each has randomness of its own, and answers to different queries add up also
// where the teachers were trained once. It is not ok where the promise rests on the
// teachers' randomness (DaRRM of teachers with a finite ε): such answers add up only if
// teachers draw afresh for every query. accountant.Release takes either.
func (a *Aggregator) Noise() (n accountant.NoisyAnswer, ok bool) {
	if !a.anyVotes {
		return accountant.NoisyAnswer{}, false
	}
	return accountant.NoisyAnswer{Event: a.event, Affected: a.setting.Affected}, true
}

// Basis says for people what proves PerAnswer, given the Assumptions.
func (a *Aggregator) Basis() string { return a.basis }

// Assumptions returns, in sentences for people, what must be true of the teachers for
// PerAnswer to hold.
func (a *Aggregator) Assumptions() []string { return slices.Clone(a.assumes) }

// Probabilities returns the probability of each class when these are the votes, and at
// the end that of abstaining where Abstains. They sum to 1 and are within 1e-11, of DaRRM
// within 2⁻⁵⁴. They are not private: they tell the votes. The error says how counts break
// the Setting.
func (a *Aggregator) Probabilities(counts []int) ([]float64, error) {
	if err := a.setting.checkCounts(counts); err != nil {
		return nil, err
	}
	return a.rule.law(counts), nil
}

// Release answers one query: counts[c] of the teachers voted for class c. It returns a
// class or Abstained. Every call is a new private answer that costs PerAnswer. Its
// randomness is the operating system's; there is no way to pass another. On error there
// is no answer.
func (a *Aggregator) Release(counts []int) (int, error) { return a.answer(a.secure, counts) }

func (a *Aggregator) answer(src randsrc.Source, counts []int) (int, error) {
	if err := a.setting.checkCounts(counts); err != nil {
		return Abstained, err
	}
	class, err := a.rule.draw(src, counts)
	if err != nil {
		return Abstained, err
	}
	return class, nil
}

// AggregatorSimulation repeats an Aggregator from a seed. Whoever knows the seed knows
// the votes: nothing it returns is private. It is not safe for concurrent use.
type AggregatorSimulation struct {
	aggregator *Aggregator
	src        *randsrc.Seeded
}

// Simulate returns the simulation with the given seed.
func (a *Aggregator) Simulate(seed uint64) *AggregatorSimulation {
	return &AggregatorSimulation{a, randsrc.NewSeeded(seed)}
}

// Draw returns one simulated answer. It is not private.
func (s *AggregatorSimulation) Draw(counts []int) (int, error) {
	return s.aggregator.answer(s.src, counts)
}
