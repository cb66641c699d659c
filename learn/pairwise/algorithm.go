package pairwise

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"math"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/learn/data"
	"github.com/darrm/darrm/learn/train"
)

// algorithm is the train.Algorithm of a plan with its records.
type algorithm struct {
	cost   accountant.Cost
	rounds int
	digest [32]byte
	noise  float64 // of the last addition
	start  func(train.Coins) train.Run
}

// newAlgorithm returns the algorithm of a task, a price and a way of running, on records that were
// taken. details are the run's other parameters.
func newAlgorithm(t *task, p train.Price, own *data.Records, rounds int, noise float64, details any,
	start func(train.Coins) train.Run) algorithm {
	h := sha256.New()
	fmt.Fprintf(h, "darrm pairwise %s v1\n%q %v %v %v %v\n%v %v %v\n%v\n", p.Method, t.Loss.Name(),
		t.slope, t.Radius, t.Ball, t.n, rounds, noise, p.Blocks, details)
	fmt.Fprintf(h, "%x\n", own.Digest())
	return algorithm{p.Cost, rounds, [32]byte(h.Sum(nil)), noise, start}
}

func (a algorithm) Cost() accountant.Cost { return a.cost }
func (a algorithm) Rounds() int           { return a.rounds }
func (a algorithm) Digest() [32]byte      { return a.digest }
func (a algorithm) NoiseScale() float64   { return a.noise }

// errNotPrivate refuses the release of a model that no noise protects.
var errNotPrivate = errors.New(
	"the method promises no privacy: simulate it, or take a private one such as one-pass")

// Releasable refuses the methods that promise nothing.
func (a algorithm) Releasable() error {
	if !(a.cost.Epsilon >= 0) || math.IsInf(a.cost.Epsilon, 1) {
		return errNotPrivate
	}
	return nil
}

func (a algorithm) Start(coins train.Coins) train.Run { return a.start(coins) }
