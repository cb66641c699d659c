package selection

import (
	"crypto/sha256"
	"fmt"
	"math"
	"math/big"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/noise"
	"github.com/darrm/darrm/internal/num"
	"github.com/darrm/darrm/learn/data"
	"github.com/darrm/darrm/learn/train"
)

// AUC is the kind of a test by [Pairs], whose number is divided by that of all pairs of two
// classes.
const AUC = "auc"

// HeldOut tests a model on records that it did not learn from, with noise.
//
// A record is either learned from or tested on, whatever the other records are
// (prepare.HoldOut). Where the one that differs was learned from, the test is worked out from the
// released model and from equal records: post-processing. Where it was tested on, the model is the
// same, and the test is (Epsilon, 0)-DP. So model and test together cost the larger of the two, and
// the model's cost covers the test, whose ε may not be above it (parallel composition: McSherry,
// Privacy Integrated Queries, 2009, Theorem 4).
type HeldOut struct {
	Score    Score
	Epsilon  float64 // of the test, above 0
	Relation accountant.Relation
}

// Check refuses what Of does, but for the records.
func (h HeldOut) Check() error {
	if err := check.Positive("score epsilon", h.Epsilon); err != nil {
		return err
	}
	return h.Score.check(2, h.Relation)
}

// Of returns the algorithm with the test of its model on the held-out records, which have its
// dimension. held may be nil, for none, where one may be added: their number is private then.
func (h HeldOut) Of(a train.Algorithm, held *data.Records) (train.Algorithm, error) {
	if err := h.Check(); err != nil {
		return train.Algorithm{}, err
	}
	if cost := a.Cost.Epsilon; h.Epsilon > cost {
		return train.Algorithm{}, check.Wantf("score epsilon", h.Epsilon,
			"at most the model's, %s, which covers both", num.Outward(cost, 6, false))
	}
	t := &tested{h: h, held: held}
	known := h.Relation == accountant.ReplaceOne // how many records there are
	if known {
		n := 0
		if held != nil {
			n = held.Len()
		}
		if err := h.Score.check(n, h.Relation); err != nil {
			return train.Algorithm{}, err
		}
	}
	if held != nil && h.Score.Loss != nil && h.Score.Classes == 0 { // else any number is a class or none
		if err := held.Check(h.Score.Loss.Check); err != nil {
			return train.Algorithm{}, err
		}
	}
	// A number of records is told beside the sum where it is needed and private: the half of ε each.
	parts := int64(1)
	if t.counts = !known || h.Score.Kind == Pairs; t.counts {
		parts = 2
	}
	var err error
	if t.sum, err = laplace(unit*parts, h.Epsilon); err != nil {
		return train.Algorithm{}, err
	}
	if t.count, err = laplace(parts, h.Epsilon); err != nil {
		return train.Algorithm{}, err
	}
	hash := sha256.New()
	fmt.Fprintf(hash, "darrm held-out test v1\n%v %v %v %v %v\n%x\n", h.Score.Kind, h.Score.Bound,
		h.Score.Classes, h.Epsilon, h.Relation, a.Digest)
	if h.Score.Loss != nil {
		fmt.Fprintf(hash, "%q\n", h.Score.Loss.Name())
	}
	if held != nil {
		fmt.Fprintf(hash, "%x\n", held.Digest())
	}
	start := a.Start
	a.Digest = [32]byte(hash.Sum(nil))
	a.Start = func(coins train.Coins) train.Run {
		return &testedRun{Run: start(coins), t: t, coins: coins}
	}
	return a, nil
}

// laplace returns the law of scale sensitivity/ε or a little more, which is the private side.
func laplace(sensitivity int64, epsilon float64) (noise.Laplace, error) {
	law, err := noise.LaplaceAtLeast(
		new(big.Rat).Quo(new(big.Rat).SetInt64(sensitivity), num.Decimal(epsilon)))
	if err != nil {
		err = fmt.Errorf("score epsilon: %w", err)
	}
	return law, err
}

// tested is the test of an algorithm's model.
type tested struct {
	h          HeldOut
	held       *data.Records
	counts     bool // a number of records is told, too
	sum, count noise.Laplace
}

// testedRun is a run of a tested algorithm.
type testedRun struct {
	train.Run
	t     *tested
	coins train.Coins
}

// Choice returns the choice of the run that is tested.
func (e *testedRun) Choice() *train.Choice {
	if c, ok := e.Run.(interface{ Choice() *train.Choice }); ok {
		return c.Choice()
	}
	return nil
}

const streamTest = "held-out test"

// Test draws the noise and works out the figure: all of it but the two numbers with noise, and how
// many records there are where one is replaced, is post-processing.
func (e *testedRun) Test(x []float64) (*train.Test, error) {
	t := e.t
	sum, count := t.told(x)
	src := e.coins.Source()
	src.Restart(streamTest, 0)
	z, err := t.sum.Sample(src)
	if err != nil {
		return nil, err
	}
	noisy, number := float64(sum+z), 0.0
	if t.counts {
		if z, err = t.count.Sample(src); err != nil {
			return nil, err
		}
		number = float64(count + z)
	}
	return t.figure(noisy, number), nil
}

// told returns the two numbers of the held-out records that noise is added to: the score, which one
// record changes by unit at most, and, where it is told, a number of records, by 1: of class 1 for
// pairs, else of all.
func (t *tested) told(x []float64) (sum, count int64) {
	if t.held == nil {
		return 0, 0
	}
	sum = t.h.Score.of(x, t.held)
	if t.h.Score.Kind != Pairs {
		return sum, int64(t.held.Len())
	}
	for i := range t.held.Len() {
		if t.held.Response(i) > 0 {
			count++
		}
	}
	return sum, count
}

// figure returns the test of the numbers with noise. The deviation is that to first order, at the
// noisy numbers.
func (t *tested) figure(sum, count float64) *train.Test {
	out := &train.Test{Kind: string(t.h.Score.Kind), Epsilon: t.h.Epsilon}
	known := t.h.Relation == accountant.ReplaceOne
	if known {
		out.Records = t.held.Len()
	}
	// of discrete Laplace noise, at most √2 times its scale
	sumDeviation, countDeviation := deviation(t.sum), deviation(t.count)
	if t.h.Score.Kind == Pairs {
		n := float64(out.Records)
		positive := min(max(count, 1), n-1)
		pairs := positive * (n - positive)
		perUnit := (n - 1) / (unit * pairs) // of half pairs there are 2(n-1)/unit in a unit
		auc := min(max(sum*perUnit, 0), 1)
		out.Kind, out.Value = AUC, auc
		out.Deviation = math.Hypot(sumDeviation*perUnit,
			auc*math.Abs(n-2*positive)/pairs*countDeviation)
		return out
	}
	n := float64(out.Records)
	if !known {
		n = max(count, 1)
	}
	share := min(max(sum/(unit*n), 0), 1)
	out.Deviation = sumDeviation / (unit * n)
	if !known {
		out.Deviation = math.Hypot(out.Deviation, share*countDeviation/n)
	}
	out.Value = share
	if t.h.Score.Kind == MeanLoss {
		out.Value, out.Deviation = t.h.Score.Bound*(1-share), t.h.Score.Bound*out.Deviation
	}
	return out
}

// deviation returns √2 times the scale.
func deviation(l noise.Laplace) float64 {
	b, _ := l.Scale().Float64()
	return math.Sqrt2 * b
}
