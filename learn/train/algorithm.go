package train

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/internal/randsrc/stream"
)

// Algorithm is a method of private learning whose parameters, data and account are fixed,
// and whose randomness is not. It is safe for concurrent use while nobody writes to its fields.
type Algorithm struct {
	Cost accountant.Cost // of one released model; ε is +Inf where nothing bounds it
	// Refused is the reason that no model may be released, beyond a cost without a bound. It must not
	// depend on the private records.
	Refused error
	Rounds  int // of a run, which can be kept and resumed between two of them
	// Digest is a hash of everything that a run depends on but its coins, the data included.
	Digest [32]byte
	// NoiseScale is the standard deviation of the noise that one step, or the one addition of noise,
	// leaves on a coordinate of the model; 0 where no private data go in.
	NoiseScale float64
	Start      func(coins Coins) Run // a run before its first round
}

// Releasable returns an error if no model may be released, with the reason.
func (a Algorithm) Releasable() error {
	if a.Refused != nil {
		return a.Refused
	}
	if a.Start == nil || !(a.Cost.Epsilon >= 0) || math.IsInf(a.Cost.Epsilon, 1) {
		return errors.New("no price, no release: make a plan with a method's Plan")
	}
	return nil
}

// DigestOf returns the digest of a run on records, of which all else is in a text.
func DigestOf(records [32]byte, format string, all ...any) [32]byte {
	return sha256.Sum256(fmt.Appendf(fmt.Appendf(nil, format, all...), "%x\n", records))
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
