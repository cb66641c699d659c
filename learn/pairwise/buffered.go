package pairwise

import (
	"cmp"
	"context"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/randsrc/stream"
	"github.com/darrm/darrm/learn/data"
	"github.com/darrm/darrm/learn/train"
)

// OLP is online gradient descent against a buffer of past examples, not private: each example is
// paired with all of the buffer, and the mean gradient followed. The buffer keeps a sample with
// replacement of the examples seen (RS-x): example t takes each place with probability 1/t, all
// independently. The model is the average of the iterates. Source: Kar, Sriperumbudur, Jain and
// Karnick, On the Generalization Ability of Online Learning Algorithms for Pairwise Loss Functions
// (2013), Algorithms 1 and 2.
type OLP struct {
	Setting
	Schedule     // the literature's decay is Root
	Buffer   int // 0 is 200
	Passes   int // over shuffled records; 0 is 10
}

// OAM is online AUC maximisation with a buffer for each class, not private: an example x of class y
// is paired with those of the other class's buffer that it is not ahead of by a margin of 1,
//
//	w ← Π_W(w + C·max(1, N/s)·Σ y(x-x′)),
//
// N being how many examples of that class were seen and s the buffer's places, which keep a
// uniform sample of them. The loss is the hinge, whatever the setting's. Source: Zhao, Hoi, Jin
// and Yang, Online AUC Maximization (2011), Algorithms 1 to 3, OAM_gra.
type OAM struct {
	Setting
	Weight float64 // C
	Buffer int     // s; 0 is 100
	Passes int     // over shuffled records; 0 is 10
}

// SPAUC is stochastic descent for the square loss without pairs, not private: by its expectation
// over the other class, with the classes' means m₊ and m₋ and the share p of positive examples
// taken from all records, a positive x has the gradient
//
//	2((1-p)⟨w, x-m₊⟩(x-m₊) + p(1-p)(⟨Δ, w⟩ + 1)Δ),   Δ = m₋ - m₊,
//
// and a negative one p⟨w, x-m₋⟩(x-m₋) in the first place. (The factor 2 is left to the step
// size.) The model is the average of the iterates. Source: Lei and Ying, Stochastic Proximal AUC
// Maximization (2021).
type SPAUC struct {
	Setting
	Schedule
	Passes int // over shuffled records; 0 is 10
}

// Plan checks the method for n records of dimension d.
func (c OLP) Plan(n, d int) (train.Plan, error) { return train.PlanOf(c.plan(n, d)) }

func (c OLP) plan(n, d int) (*planned, error) {
	c.Buffer = cmp.Or(c.Buffer, 200)
	return passesOver(c.Setting, "olp", n, d, c.Passes, &c.Schedule, c.Buffer,
		[]any{c.Schedule, c.Buffer}, func(e *passRun, t, i int) {
			olpStep(e, c.At(t), t, i)
		}, Uniform)
}

// Plan checks the method for n records of dimension d.
func (c OAM) Plan(n, d int) (train.Plan, error) { return train.PlanOf(c.plan(n, d)) }

func (c OAM) plan(n, d int) (*planned, error) {
	c.Buffer = cmp.Or(c.Buffer, 100)
	if err := check.Positive("weight", c.Weight); err != nil {
		return nil, err
	}
	return passesOver(c.Setting, "oam", n, d, c.Passes, nil, 2*c.Buffer, []any{c.Weight, c.Buffer},
		func(e *passRun, _, i int) {
			oamStep(e, c.Weight, i)
		}, Last)
}

// Plan checks the method for n records of dimension d.
func (c SPAUC) Plan(n, d int) (train.Plan, error) { return train.PlanOf(c.plan(n, d)) }

func (c SPAUC) plan(n, d int) (*planned, error) {
	return passesOver(c.Setting, "spauc", n, d, c.Passes, &c.Schedule, 0, []any{c.Schedule},
		func(e *passRun, t, i int) {
			spaucStep(e, c.At(t), i)
		}, Uniform)
}

// passesOver is a plan that makes a step on each record of each shuffled pass.
func passesOver(s Setting, name string, n, d, passes int, schedule *Schedule, buffer int,
	details []any, step func(e *passRun, t, i int), output Output) (*planned, error) {
	p, err := newOpen(s, name, n, d, passesOr10(passes), schedule)
	if err != nil {
		return nil, err
	}
	if err := check.Whole("buffer", buffer, 0, 1<<24); err != nil {
		return nil, err
	}
	p.details = details
	p.start = func(own *data.Records, coins train.Coins) train.Run {
		e := &passRun{rows: own, coins: coins, n: n, at: newIterates(&p.task, output), step: step,
			g: make([]float64, d)}
		e.buffer, e.seen = make([]float64, buffer), make([]float64, 2)
		e.summarise()
		return e
	}
	return p, nil
}

// passRun is one run of a method that passes over shuffled records.
type passRun struct {
	rows   samples
	coins  train.Coins
	rng    rand.ChaCha8
	n      int
	at     *iterates
	step   func(e *passRun, t, i int)
	buffer []float64 // numbers of records
	seen   []float64 // examples of the classes 0 and 1 so far
	g      []float64
	mean   [2][]float64 // of the classes
	share  float64      // of class 1
}

// summarise works out the classes' means.
func (e *passRun) summarise() {
	count := [2]float64{}
	for c := range e.mean {
		e.mean[c] = make([]float64, len(e.g))
	}
	for i := range e.n {
		c := int(e.rows.Response(i))
		count[c]++
		floats.Add(e.mean[c], e.rows.Row(i))
	}
	for c, n := range count {
		if n > 0 {
			floats.Scale(1/n, e.mean[c])
		}
	}
	e.share = count[1] / float64(e.n)
}

func (e *passRun) State() []train.Vector {
	return append(e.at.state(), train.Vector{Name: "buffer", Values: e.buffer},
		train.Vector{Name: "seen", Values: e.seen})
}

func (e *passRun) Output() []float64 { return e.at.model() }

// Round does pass k+1.
func (e *passRun) Round(ctx context.Context, k int) error {
	e.coins.Restart(&e.rng, streamIndex, k)
	order := make([]int, e.n)
	for i := range order {
		order[i] = i
	}
	stream.Shuffle(&e.rng, order)
	for s, i := range order {
		if s%64 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		e.step(e, k*e.n+s+1, i)
		e.at.t.project(e.at.w)
		if e.at.output == Uniform {
			e.at.add(1, e.at.w)
		}
	}
	return nil
}

// chance returns true with probability 1/n.
func (e *passRun) chance(n int) bool { return stream.Below(&e.rng, uint64(n)) == 0 }

func olpStep(e *passRun, eta float64, t, i int) {
	x, y := e.rows.Row(i), e.rows.Response(i)
	if held := min(t-1, len(e.buffer)); held > 0 {
		clear(e.g)
		for _, b := range e.buffer[:held] {
			x2 := e.rows.Row(int(b))
			move(e.g, x, x2, -1/float64(held), e.at.t.coefficient(e.at.w, x, y, x2, e.rows.Response(int(b))))
		}
		floats.AddScaled(e.at.w, -eta, e.g)
	}
	for p := range e.buffer {
		// While there is room each example has a place of its own.
		if t <= len(e.buffer) && p == t-1 || t > len(e.buffer) && e.chance(t) {
			e.buffer[p] = float64(i)
		}
	}
}

func oamStep(e *passRun, weight float64, i int) {
	x, class := e.rows.Row(i), int(e.rows.Response(i))
	places := len(e.buffer) / 2
	others := e.buffer[(1-class)*places:][:min(int(e.seen[1-class]), places)]
	sign := float64(2*class - 1)
	w := slices.Clone(e.at.w) // margins are of the model before the step
	c := weight * max(1, e.seen[1-class]/float64(places))
	for _, b := range others {
		x2 := e.rows.Row(int(b))
		if sign*(floats.Dot(w, x)-floats.Dot(w, x2)) <= 1 {
			move(e.at.w, x, x2, c, -sign)
		}
	}
	// Reservoir sampling.
	e.seen[class]++
	own := e.buffer[class*places:][:places]
	if n := int(e.seen[class]); n <= places {
		own[n-1] = float64(i)
	} else if j := int(stream.Below(&e.rng, uint64(n))); j < places {
		own[j] = float64(i)
	}
}

func spaucStep(e *passRun, eta float64, i int) {
	x, class := e.rows.Row(i), int(e.rows.Response(i))
	share, w := e.share, e.at.w
	other := share // of the other class
	if class == 1 {
		other = 1 - share
	}
	m := e.mean[class]
	inner := floats.Dot(w, x) - floats.Dot(w, m)
	gap := share * (1 - share) * (floats.Dot(w, e.mean[0]) - floats.Dot(w, e.mean[1]) + 1)
	floats.SubTo(e.g, e.mean[0], e.mean[1])
	floats.Scale(gap, e.g)
	move(e.g, x, m, -other, inner)
	floats.AddScaled(w, -eta, e.g)
}
