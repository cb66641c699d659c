package convex

import (
	"errors"
	"math"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/learn/train"
)

// algorithm is the train.Algorithm of a plan with its records.
type algorithm struct {
	plan   train.Price
	task   *task
	rounds int
	digest [32]byte
	noise  float64 // of the last addition
	start  func(train.Coins) train.Run
}

func (a algorithm) Cost() accountant.Cost { return a.plan.Cost }
func (a algorithm) Rounds() int           { return a.rounds }
func (a algorithm) Digest() [32]byte      { return a.digest }
func (a algorithm) NoiseScale() float64   { return a.noise }

// Releasable refuses what no ledger counts, and a plan without a price.
func (a algorithm) Releasable() error {
	if a.start == nil || !(a.plan.Cost.Epsilon >= 0) || math.IsInf(a.plan.Cost.Epsilon, 1) {
		return errors.New("no price, no release: make a plan with a method's Plan")
	}
	return a.task.releasable()
}

func (a algorithm) Start(coins train.Coins) train.Run { return a.start(coins) }
