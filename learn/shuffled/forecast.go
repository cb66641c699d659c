package shuffled

import (
	"context"
	"errors"
	"slices"

	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/learn/data"
	"github.com/darrm/darrm/learn/shuffled/iteration"
	"github.com/darrm/darrm/learn/train"
)

// Forecast is a training before there are records: a Config, whose Task, Regularizer and Start
// count for nothing, with what is known of the records and of the release.
type Forecast struct {
	Config
	Records      int     // n, private ones
	Smoothness   float64 // L of every sample's loss, private or public; 0 is unknown
	NonConvex    bool    // losses are not convex, or clipping may break contraction
	Released     iteration.Released
	OrderVisible bool // others may learn in which order records were visited
}

// Steps returns the epochs with private data, which are alike, with noise 1 on each step that has
// noise: a pattern for [iteration.Steps.Calibrate].
func (f Forecast) Steps() (iteration.Steps, error) {
	schedule, err := f.Method.Schedule(f.Records, f.Epochs, f.Fraction)
	if err != nil {
		return iteration.Steps{}, err
	}
	i := slices.IndexFunc(schedule, func(b Block) bool { return b.Private > 0 && b.Noise > 0 })
	if i < 0 || f.Method == DPSGD {
		return iteration.Steps{}, &check.Error{
			Name: "method", Value: string(f.Method), Rule: "a shuffled method with noise on private data",
		}
	}
	e := f.steps(schedule[i], f.Records)
	e.OrderSecret, e.Released, e.Smoothness = !f.OrderVisible, f.Released, f.Smoothness
	e.Convex, e.ClipKeepsContraction, e.ConvexRegulariser = !f.NonConvex, !f.NonConvex, true
	return e, nil
}

// Quote prices the training for its target, for a choice among candidates. It does not train.
func (f Forecast) Quote(ctx context.Context) (train.Plan, error) {
	e, err := f.Steps()
	if err != nil {
		return train.Plan{}, err
	}
	e, report, err := e.Calibrate(ctx, f.Target)
	if err != nil {
		return train.Plan{}, err
	}
	price := priceOf(f.Method, f.Records, 0, report)
	if price.Event, err = together([]iteration.Steps{e}); err != nil {
		return train.Plan{}, err
	}
	return train.Plan{Price: price, Train: func(*data.Records) (train.Algorithm, error) {
		return train.Algorithm{}, errors.New("a quote has no records to train on: take NewPlan")
	}}, nil
}
