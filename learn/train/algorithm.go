package train

import (
	"context"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/internal/randsrc/stream"
)

// Algorithm is a method of private learning whose parameters, data and account are fixed,
// and whose randomness is not. It is immutable and safe for concurrent use.
type Algorithm interface {
	// Cost returns the privacy cost of one released model; ε is +Inf where nothing bounds it.
	Cost() accountant.Cost
	// Releasable returns an error if no model may be released, with the reason. The answer must not
	// depend on the private records.
	Releasable() error
	// Rounds returns the number of rounds of a run. Between rounds it can be kept and resumed.
	Rounds() int
	// Digest is a hash of everything that a run depends on but its coins, the data included.
	Digest() [32]byte
	// NoiseScale returns the standard deviation of the noise that one step, or the one
	// addition of noise, leaves on a coordinate of the model; 0 where no private data go in.
	NoiseScale() float64
	// Start returns a run before its first round.
	Start(coins Coins) Run
}

// Run is one run of an Algorithm. It is not safe for concurrent use.
type Run interface {
	// Round does round k, counted from 0, with the coins of that round only: what it does is
	// a function of the state before it, k and the coins.
	Round(ctx context.Context, k int) error
	// State returns the vectors that later rounds depend on besides the coins. They are the run's
	// own memory: the run goes on with values written to them. Names and lengths stay the same.
	State() []Vector
	// Output returns the model after the rounds done, in memory of the run.
	Output() []float64
}

// Vector is a named part of a state.
type Vector struct {
	Name   string
	Values []float64
}

// Coins are all randomness of a run. An Algorithm takes each stream for one purpose of one
// round.
type Coins = stream.Coins
