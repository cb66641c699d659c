package convex

import (
	"cmp"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/learn/data"
	"github.com/darrm/darrm/learn/geometry"
	"github.com/darrm/darrm/learn/loss"
)

// Batches sets the sizes of the batches in the stochastic Frank-Wolfe methods. Round r, from 0,
// starts with a batch of Size records and has 2^r-1 smaller ones, of ⌊Size/(t+1)⌋. No record is in
// two.
type Batches struct {
	// Rounds is R; 0 is the source's.
	Rounds int
	// Size is b; 0 is the source's ⌊n/ln²n⌋, which leaves most records unread.
	Size int
	// FullBudget takes the largest b for which all batches together have at most n records.
	FullBudget bool
	// InOrder takes the records as they stand. Otherwise a random order is drawn, which
	// depends on no record, so that a sorted file does no harm.
	InOrder bool
}

// batch is the part of the data that step t of round r reads.
type batch struct {
	round, step int
	from, to    int
}

// records returns m, the real number of records, which every sensitivity depends on.
func (b batch) records() float64 { return float64(b.to - b.from) }

// stepSize returns η_t = 1/√(t+1), and of the step before, η_{t-1}, which is how far that moved.
func stepSize(t int) float64 { return 1 / math.Sqrt(float64(t+1)) }

// maxRounds bounds R: there are 2^R-1 steps.
const maxRounds = 20

// schedule resolves the defaults, asked rounds being the source's number before it is rounded
// down, and returns the batches.
func (b *Batches) schedule(n int, asked float64) ([]batch, error) {
	if b.FullBudget && b.Size != 0 {
		return nil, check.Want("batch size", b.Size, "left out where the full budget is asked for")
	}
	if b.Rounds == 0 {
		if !(asked > 0) {
			return nil, check.SettledBy(check.Want("number of records", n, "more for this epsilon: the theorem's number of rounds is not above 0; or state "+
				"the rounds"), "rounds")
		}
		b.Rounds = int(max(1, math.Floor(asked)))
	}
	if err := check.Whole("rounds", b.Rounds, 1, maxRounds); err != nil {
		return nil, err
	}
	steps := 1<<b.Rounds - 1
	size := b.Size
	switch {
	case b.FullBudget:
		shares := 0.0
		for r := range b.Rounds {
			for t := range 1 << r {
				shares += 1 / float64(t+1)
			}
		}
		size = int(float64(n) / shares)
	case size == 0:
		log := math.Log(float64(n))
		size = int(float64(n) / (log * log))
	}
	if size < 1<<(b.Rounds-1) {
		return nil, check.SettledBy(check.Wantf("batch size", size, "at least %d for %d rounds, so that every batch has a record: fewer rounds, "+
			"or more records", 1<<(b.Rounds-1), b.Rounds), "rounds", "batch size")
	}
	b.Size = size
	batches, from := make([]batch, 0, steps), 0
	for r := range b.Rounds {
		for t := range 1 << r {
			m := size / (t + 1)
			batches = append(batches, batch{r, t, from, from + m})
			if from += m; from > n {
				return nil, check.Wantf("batch size", size,
					"less: %d rounds would need more than the %d records", b.Rounds, n)
			}
		}
	}
	return batches, nil
}

// smooth is a task whose loss is smooth, in the norm of a set.
type smooth struct {
	task
	set      geometry.Set
	diameter float64 // D
	// change is L1·D = curvature·R²·D: gradients of one record at the ends of a step of size η
	// differ by at most η times that.
	change float64
}

// smoothTask checks a setting and a set for n records of dimension d.
func smoothTask(s Setting, set geometry.Set, n, d int) (smooth, error) {
	t, err := checked(s, n, d, math.Inf(1))
	if err != nil {
		return smooth{}, err
	}
	if err := cmp.Or(t.replaced(), checkSet(set, d), check.Whole("number of records", n, 3, 0)); err != nil {
		return smooth{}, err
	}
	curvature := t.link.Curvature()
	if math.IsInf(curvature, 1) {
		return smooth{}, check.Want("task", t.link.Name(), "smooth for this method: its slope jumps")
	}
	return smooth{t, set, set.Diameter(), curvature * t.Radius * t.Radius * set.Diameter() *
		(1 + slack)}, nil
}

// moved bounds how far a record of the batch moves the estimate in its step, in the dual norm:
// for t ≥ 1 by its share of (1-η)·Δ + η·g.
func (s smooth) moved(b batch) float64 {
	return s.movedBy(b.step, b.records())
}

func (s smooth) movedBy(t int, records float64) float64 {
	if t == 0 {
		return s.gradients() * s.norm / records * (1 + slack)
	}
	eta := stepSize(t)
	return s.gradients() * ((1-eta)*s.change*stepSize(t-1) + eta*s.norm) / records * (1 + slack)
}

// Gap returns max_{v∈W} ⟨∇F(w), w - v⟩ for the mean loss F of the records: at least 0 in W, and 0
// where w is stationary. It is measured on records, and is their secret.
func Gap(l loss.Loss, records *data.Records, w []float64, set geometry.Set) float64 {
	return geometry.Gap(set, w, meanGradient(l, records, w))
}

func meanGradient(l loss.Loss, records *data.Records, w []float64) []float64 {
	g, one := make([]float64, len(w)), make([]float64, len(w))
	for i := range records.Len() {
		l.Gradient(one, w, records.Row(i), records.Response(i))
		floats.AddScaled(g, 1/float64(records.Len()), one)
	}
	return g
}

// NearStationarity returns ‖prox(w) - w‖_p for the mean loss F of the records, which is to be
// ρ-weakly convex with 2ρ/(p-1) ≤ β, and prox(w) = argmin F(v) + (β/2)‖v - w‖_p² over the ball of
// ‖·‖_p: w is that near to a point that is stationary to within β·D times it (Lemma 14). The
// minimiser is found by the given number of steps of mirror descent, to within the order of
// 1/√steps: it is a measure for experiments, not part of any promise, and a secret of the records.
// Cost: steps·n gradients.
func NearStationarity(l loss.Loss, records *data.Records, w []float64, beta float64,
	ball geometry.LpBall, steps int) float64 {
	total, m := float64(steps), newMirror(ball.Norm(), len(w), ball.Radius())
	m.restart(w)
	sum := make([]float64, len(w))
	for t := 1.0; t <= total; t++ {
		g := meanGradient(l, records, m.point)
		floats.AddScaled(sum, 2*t/(total*(total+1)), m.point)
		m.step(g, 2/(beta/2*(t+1)), beta)
	}
	floats.Sub(sum, w)
	return geometry.Norm(sum, ball.Norm())
}
