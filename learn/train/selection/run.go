package selection

import (
	"context"
	"errors"

	"github.com/darrm/darrm/internal/noise"
	"github.com/darrm/darrm/learn/data"
	"github.com/darrm/darrm/learn/train"
)

// The purposes of the coins.
const (
	streamRun       = "selection run"       // derived: a candidate's training
	streamScore     = "selection score"     // noise on a run's score
	streamCandidate = "selection candidate" // which candidate a run is of
	streamStop      = "selection stop"      // K
	streamChoice    = "selection choice"    // the one choice of all
)

// common is a plan with its records, and the state of both ways: the released model and its
// candidate's number, -1 before.
type common struct {
	p          *plan
	records    *data.Records
	candidates []train.Algorithm

	coins  train.Coins
	model  []float64
	chosen []float64
}

func (c *common) Output() []float64 { return c.model }

func (c *common) choice() *train.Choice {
	i := int(c.chosen[0])
	if i < 0 {
		return &train.Choice{Candidate: -1}
	}
	return &train.Choice{Candidate: i, Name: c.p.s.Candidates[i].Name}
}

// one trains a candidate with coins of run k, and scores it. A model that left the range of numbers
// is 0, so that this is part of a run's outcome and not of what ends the release.
func (c *common) one(ctx context.Context, candidate,
	k int) (model []float64, score int64, err error) {
	model, err = train.Inner(ctx, c.candidates[candidate], c.coins.Derive(streamRun, k))
	if errors.Is(err, train.ErrDiverged) {
		model, err = make([]float64, c.p.price.Dim), nil
	}
	if err != nil {
		return nil, 0, err
	}
	return model, c.p.s.Score.of(model, c.records), nil
}

// allRun trains every candidate, one a round, and chooses in the last.
type allRun struct {
	common
	models, scores []float64
}

func (e *allRun) State() []train.Vector {
	return []train.Vector{{Name: "models", Values: e.models}, {Name: "scores", Values: e.scores},
		{Name: "model", Values: e.model}, {Name: "chosen", Values: e.chosen}}
}

// Choice returns the chosen candidate. The scores have no noise of their own and are secret.
func (e *allRun) Choice() *train.Choice { return e.choice() }

// Round trains candidate k.
func (e *allRun) Round(ctx context.Context, k int) error {
	model, score, err := e.one(ctx, k, k)
	if err != nil {
		return err
	}
	d := len(e.model)
	copy(e.models[k*d:], model)
	e.scores[k] = float64(score) // below 2⁴⁰
	if k < len(e.scores)-1 {
		return nil
	}
	losses := make([]int64, len(e.scores)) // Levels prefers the low
	for i, s := range e.scores {
		losses[i] = -int64(s)
	}
	levels, err := noise.NewLevels(losses, e.p.scale)
	if err != nil {
		return err
	}
	src := e.coins.Source()
	src.Restart(streamChoice, 0)
	i, err := levels.Sample(src)
	if err != nil {
		return err
	}
	e.chosen[0] = float64(i)
	copy(e.model, e.models[i*d:(i+1)*d])
	return nil
}

// stoppingRun does one run a round, and those that are left in the last. K depends on the coins
// alone. Rounds beyond K do nothing.
type stoppingRun struct {
	common
	best []float64 // the noisy score of model, in units
	runs int       // K, once it is drawn; else -1
}

func (e *stoppingRun) State() []train.Vector {
	return []train.Vector{{Name: "best", Values: e.best}, {Name: "model", Values: e.model},
		{Name: "chosen", Values: e.chosen}}
}

// Choice returns the chosen candidate and its noisy score.
func (e *stoppingRun) Choice() *train.Choice {
	c, p := e.choice(), e.p
	if c.Candidate >= 0 {
		value, deviation := p.s.Score.shown(e.best[0], p.sigma, p.price.Records)
		c.Score, c.Deviation = &value, deviation
	}
	return c
}

// Round does run k.
func (e *stoppingRun) Round(ctx context.Context, k int) error {
	if e.runs < 0 {
		src := e.coins.Source()
		src.Restart(streamStop, 0)
		var err error
		if e.runs, err = noise.Invert(src, e.p.stopping.Masses()); err != nil {
			return err
		}
	}
	last := k
	if k == e.p.rounds-1 {
		last = e.runs - 1
	}
	for ; k <= last && k < e.runs; k++ {
		if err := e.run(ctx, k); err != nil {
			return err
		}
	}
	return nil
}

// run does run k. Of two runs with equal scores the first stays, which each is with the same
// probability: it is as if coins of their own decided.
func (e *stoppingRun) run(ctx context.Context, k int) error {
	src := e.coins.Source()
	src.Restart(streamCandidate, k)
	i, err := noise.Uniform(src, uint64(len(e.candidates)))
	if err != nil {
		return err
	}
	model, score, err := e.one(ctx, int(i), k)
	if err != nil {
		return err
	}
	src.Restart(streamScore, k)
	z, err := e.p.law.Sample(src)
	if err != nil {
		return err
	}
	if noisy := float64(score + z); e.chosen[0] < 0 || noisy > e.best[0] {
		e.best[0], e.chosen[0] = noisy, float64(i)
		copy(e.model, model)
	}
	return nil
}
