package pairwise

import (
	"errors"
	"math"

	"github.com/darrm/darrm/learn/data"
	"github.com/darrm/darrm/learn/train"
)

// newAlgorithm returns the algorithm of a task, a price and a way of running, on records that were
// taken. details are the run's other parameters.
func newAlgorithm(t *task, p train.Price, own *data.Records, rounds int, noise float64, details any,
	start func(train.Coins) train.Run) train.Algorithm {
	a := train.Algorithm{Cost: p.Cost, Rounds: rounds, NoiseScale: noise, Start: start,
		Digest: train.DigestOf(own.Digest(), "darrm pairwise %s v1\n%q %v %v %v %v\n%v %v %v\n%v\n",
			p.Method, t.Loss.Name(), t.slope, t.Radius, t.Ball, t.n, rounds, noise, p.Blocks, details)}
	if !(p.Cost.Epsilon >= 0) || math.IsInf(p.Cost.Epsilon, 1) {
		a.Refused = errNotPrivate
	}
	return a
}

// errNotPrivate refuses the release of a model that no noise protects.
var errNotPrivate = errors.New(
	"the method promises no privacy: simulate it, or take a private one such as one-pass")
