package pairwise

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/randsrc/stream"
	"github.com/darrm/darrm/learn/data"
	"github.com/darrm/darrm/learn/train"
)

// Sampling names the way SGD draws its pairs.
type Sampling string

// The ways of finding pairs.
const (
	// Consecutive draws one record a step and pairs it with the draw before (Algorithm 1): the
	// default.
	Consecutive Sampling = "consecutive"
	// InOrder takes the records as they stand, each paired with the one before (Algorithm 2).
	InOrder Sampling = "in-order"
	// Fresh draws two different records a step, the usual SGD_pair.
	Fresh Sampling = "fresh"
)

// SGD is gradient descent on pairs, not private: Algorithm 1, with one gradient a step and one
// example kept,
//
//	w_t = Π_W(w_{t-1} - η_t·(∇f(w_{t-1}; z_{i_t}, z_{i_{t-1}}) + 2λw_{t-1})),   t = 1, …, T = n·Passes.
//
// A record may be paired with itself: then only the regulariser moves the model, so that what is
// minimised is (n-1)/n·F_S + λ‖w‖².
type SGD struct {
	Setting
	Schedule
	Sampling Sampling // "" is Consecutive
	Output   Output   // "" is Uniform
	Lambda   float64  // λ, in each pair's loss
	Passes   int      // 0 is 10, and 1 for InOrder
}

// Plan checks the method for n records of dimension d.
func (c SGD) Plan(n, d int) (train.Plan, error) { return train.PlanOf(c.plan(n, d)) }

func (c SGD) plan(n, d int) (*planned, error) {
	if c.Passes == 0 && c.Sampling == InOrder {
		c.Passes = 1
	}
	var err error
	if c.Sampling, err = check.OneOf("sampling", c.Sampling, Consecutive, InOrder, Fresh); err != nil {
		return nil, err
	}
	name := map[Sampling]string{Consecutive: "sgd", InOrder: "online", Fresh: "random-pairs"}[c.Sampling]
	p, err := newOpen(c.Setting, name, n, d, passesOr10(c.Passes), &c.Schedule)
	if err != nil {
		return nil, err
	}
	if err := cmp.Or(c.Output.check(), train.CheckLambda(c.Lambda)); err != nil {
		return nil, err
	}
	p.details = []any{c.Schedule, c.Sampling, c.Output, c.Lambda}
	p.start = func(own *data.Records, coins train.Coins) train.Run {
		e := &sgdRun{c: c, n: n, rows: own, coins: coins, at: newIterates(&p.task, c.Output),
			before: []float64{0}}
		e.at.lambda, e.at.skipped = c.Lambda, n*passesOr10(c.Passes)/2
		return e
	}
	return p, nil
}

// sgdRun is one run of SGD. Its state are the iterates, and the number of the record before.
type sgdRun struct {
	c      SGD
	n      int
	rows   samples
	coins  train.Coins
	rng    rand.ChaCha8
	at     *iterates
	before []float64
}

func (e *sgdRun) State() []train.Vector {
	return append(e.at.state(), train.Vector{Name: "record before", Values: e.before})
}

func (e *sgdRun) Output() []float64 { return e.at.model() }

// Round does pass k+1, of n steps.
func (e *sgdRun) Round(ctx context.Context, k int) error {
	e.coins.Restart(&e.rng, streamIndex, k)
	draw := func() int { return int(stream.Below(&e.rng, uint64(e.n))) }
	if k == 0 && e.c.Sampling != InOrder {
		e.before[0] = float64(draw())
	}
	for s := range e.n {
		if s%checkEvery == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		t := k*e.n + s + 1
		now, before := 0, int(e.before[0])
		switch e.c.Sampling {
		case Consecutive:
			now = draw()
		case InOrder:
			if t == e.n*(k+1) && k+1 == e.c.Passes {
				return nil // T = n·k - 1: the first record is a partner only
			}
			now = t % e.n
		case Fresh:
			now, before = draw(), int(stream.Below(&e.rng, uint64(e.n-1)))
			if before >= now {
				before++
			}
		}
		e.at.step(t, e.c.At(t), e.rows.Row(now), e.rows.Response(now), e.rows.Row(before),
			e.rows.Response(before))
		e.before[0] = float64(now)
	}
	return nil
}

// LocalizedSGD is localised gradient descent for losses that need not be smooth, not private
// (Algorithm 4): phase k minimises F_{S_k}(w) + ‖w-w̄_{k-1}‖²/(ζ_k·n_k) over ⌊n/2ᵏ⌋ records by n_k
// steps of Algorithm 1, with η_j = ζ_k·n_k/(j+1) and the lagged-strong average, within
// W ∩ Ball(w̄_{k-1}, Gζ_k·n_k), where that minimiser lies and outside of which gradients of the
// regulariser grow. ζ_k = ζ/2ᵏ. It makes less than n steps in all.
type LocalizedSGD struct {
	Setting         // Radius and Ball are needed
	Scale   float64 // ζ; 0 is D/(G√n)
}

// Plan checks the method for n records of dimension d.
func (c LocalizedSGD) Plan(n, d int) (train.Plan, error) { return train.PlanOf(c.plan(n, d)) }

func (c LocalizedSGD) plan(n, d int) (*planned, error) {
	phases := bits.Len(uint(max(n, 4))) - 2 // ⌊log₂ n⌋ - 1, so that each has 2 records or more
	p, err := newOpen(c.Setting, "localized-sgd", n, d, phases, nil)
	if err != nil {
		return nil, err
	}
	if n < 4 || !(c.Radius > 0) || !(c.Ball > 0) {
		return nil, check.SettledBy(check.Want("localized-sgd",
			fmt.Sprintf("n = %d, radius = %g, ball = %g", n, c.Radius, c.Ball),
			"for at least 4 records, a radius and a ball above 0: steps are made of them"), "radius",
			"ball")
	}
	slope := min(p.slope, c.Loss.Slopes(2*c.Radius*c.Ball))
	norm := slope * 2 * c.Radius
	c.Scale = cmp.Or(c.Scale, p.diameter()/(norm*math.Sqrt(float64(n))))
	if err := check.Positive("step size", c.Scale); err != nil {
		return nil, err
	}
	p.details = []any{c.Scale, norm}
	p.price.Blocks = nil
	from := 0
	for k := range phases {
		to := from + n>>(k+1)
		p.price.Blocks = append(p.price.Blocks, train.Block{Name: fmt.Sprintf("phase %d", k+1),
			From: from, To: to, StepSize: c.Scale / math.Pow(2, float64(k+1))})
		from = to
	}
	p.start = func(own *data.Records, coins train.Coins) train.Run {
		at := newPhaseSteps(&p.task, own, coins)
		return newPhaseRun(p, nil, func(ctx context.Context, k int, b train.Block, w, to []float64) error {
			copy(to, w)
			return at.run(ctx, k, b, norm, b.To-b.From, to)
		})
	}
	return p, nil
}

// newOpen returns the plan of a method that promises nothing, for rounds of n records, without its start.
func newOpen(s Setting, name string, n, d, rounds int, schedule *Schedule) (*planned, error) {
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
	p := &planned{task: t, rounds: rounds}
	p.price = train.Price{
		Method: name, Records: n, Dim: d, Cost: accountant.Cost{Epsilon: math.Inf(1)},
		Blocks: []train.Block{{Name: "all records", To: n}},
		Notes:  []string{"the method promises no privacy"},
	}
	return p, nil
}

// passesOr10 returns the number of passes, by default the literature's ten.
func passesOr10(passes int) int { return cmp.Or(passes, 10) }
