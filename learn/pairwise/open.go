package pairwise

import (
	"math"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/learn/data"
	"github.com/darrm/darrm/learn/train"
)

// open is a plan of a method that promises nothing.
type open struct {
	task
	rounds  int
	details any
	price   train.Price
	start   func(own *data.Records, coins train.Coins) train.Run
}

// newOpen checks what all methods without noise need, for rounds of n records.
func newOpen(s Setting, name string, n, d, rounds int, schedule *Schedule) (*open, error) {
	t, err := s.basic(n, d)
	if err != nil {
		return nil, err
	}
	if err := check.Whole("passes", rounds, 1, maxPasses); err != nil {
		return nil, err
	}
	if schedule != nil {
		if err := schedule.check(); err != nil {
			return nil, err
		}
	}
	p := &open{task: t, rounds: rounds}
	p.price = train.Price{
		Method: name, Records: n, Dim: d, Cost: accountant.Cost{Epsilon: math.Inf(1)},
		Blocks: []train.Block{{Name: "all records", To: n}},
		Notes:  []string{"the method promises no privacy"},
	}
	return p, nil
}

// Plan returns the plan for others.
func (p *open) Plan() train.Plan {
	return train.Plan{Price: p.price.Clone(), Train: p.Train}
}

// Train returns the method on these records.
func (p *open) Train(r *data.Records) (train.Algorithm, error) {
	own, err := p.take(r)
	if err != nil {
		return train.Algorithm{}, err
	}
	return newAlgorithm(&p.task, p.price, own, p.rounds, 0, p.details,
		func(c train.Coins) train.Run { return p.start(own, c) }), nil
}

// passesOr10 is the number of passes, of which the literature makes ten.
func passesOr10(passes int) int {
	if passes == 0 {
		return 10
	}
	return passes
}
