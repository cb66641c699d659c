package pairwise

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/learn/train"
)

// Output names the model of the iterates w_0, w_1, …, w_T that a method without privacy ends with;
// w_{-1} is w_0.
type Output string

// The outputs.
const (
	Uniform Output = "uniform" // (1/T)Σ w_t over t = 1..T; the default
	// Ση_t·w_{t-2} / Ση_t, what the bound for convex losses is about
	Lagged       Output = "lagged"
	LaggedStrong Output = "lagged-strong" // Σt·w_{t-2} / Σt, for strongly convex objectives
	Last         Output = "last"          // w_T, for objectives with the PL property
	// Suffix is the mean of w_t over t > T/2 (Rakhlin, Shamir and Sridharan 2012), which forgets the
	// start. The source's code prints the like of it at each recording point.
	Suffix Output = "suffix"
)

// Decay names the rule by which step sizes fall.
type Decay string

// The decays, of a step size η at step t = 1, 2, ….
const (
	Constant Decay = "constant" // η; the default
	Root     Decay = "root"     // η/√t
	Inverse  Decay = "inverse"  // η/(t+1+Shift): 2/(α(t+1)) for α-strongly convex objectives
)

// Schedule is a sequence of step sizes.
type Schedule struct {
	StepSize float64 // η
	Decay    Decay   // "" is Constant
	// Shift delays Inverse. PLSchedule needs it: without, its first steps are longer than its
	// theorem allows.
	Shift float64
}

// At returns η_t, t from 1.
func (s Schedule) At(t int) float64 {
	switch s.Decay {
	case Root:
		return s.StepSize / math.Sqrt(float64(t))
	case Inverse:
		return s.StepSize / (float64(t) + 1 + s.Shift)
	}
	return s.StepSize
}

func (s *Schedule) check() (err error) {
	if s.Decay, err = check.OneOf("decay", s.Decay, Constant, Root, Inverse); err != nil {
		return err
	}
	if !(s.Shift >= 0) || math.IsInf(s.Shift, 1) || s.Shift > 0 && s.Decay != Inverse {
		return check.Want("shift", s.Shift, "0, or finite above it beside the decay inverse")
	}
	return check.Positive("step size", s.StepSize)
}

func (o *Output) check() (err error) {
	*o, err = check.OneOf("output", *o, Uniform, Lagged, LaggedStrong, Last, Suffix)
	return err
}

// iterates are w_{t-1}, w_{t-2} and the average so far: all that a method without a buffer keeps,
// but for one example.
type iterates struct {
	t         *task
	output    Output
	skipped   int       // steps that a suffix leaves out
	lambda    float64   // of the regulariser λ‖w-centre‖² in each pair's loss
	centre    []float64 // nil is 0
	w, before []float64
	sum       []float64
	weight    []float64 // of sum; one number, so that it is part of the state
	out       []float64
	within    func(w []float64) // the projection
}

func newIterates(t *task, output Output) *iterates {
	v := func() []float64 { return make([]float64, t.d) }
	return &iterates{t: t, output: output, w: v(), before: v(), sum: v(), weight: make([]float64, 1),
		out: v(), within: t.project}
}

// from starts at w.
func (e *iterates) from(w []float64) {
	copy(e.w, w)
	copy(e.before, w)
	clear(e.sum)
	e.weight[0] = 0
}

// step does step t, from 1, of size eta on the examples (x, y) and, before it, (x2, y2).
func (e *iterates) step(t int, eta float64, x []float64, y float64, x2 []float64, y2 float64) {
	switch e.output {
	case Lagged:
		e.add(eta, e.before)
	case LaggedStrong:
		e.add(float64(t), e.before)
	}
	copy(e.before, e.w)
	c := e.t.coefficient(e.w, x, y, x2, y2)
	if e.lambda > 0 {
		for j := range e.w {
			at := 0.0
			if e.centre != nil {
				at = e.centre[j]
			}
			e.w[j] -= eta * 2 * e.lambda * (e.w[j] - at)
		}
	}
	move(e.w, x, x2, eta, c)
	if c != 0 || e.lambda > 0 {
		e.within(e.w)
	}
	if e.output == Uniform || e.output == Suffix && t > e.skipped {
		e.add(1, e.w)
	}
}

func (e *iterates) add(weight float64, w []float64) {
	e.weight[0] += weight
	floats.AddScaled(e.sum, weight, w)
}

// model returns the output after the steps so far.
func (e *iterates) model() []float64 {
	copy(e.out, e.w)
	if e.output != Last && e.weight[0] > 0 {
		floats.ScaleTo(e.out, 1/e.weight[0], e.sum)
	}
	return e.out
}

func (e *iterates) state() []train.Vector {
	return []train.Vector{{Name: "w", Values: e.w}, {Name: "before", Values: e.before},
		{Name: "sum", Values: e.sum}, {Name: "weight", Values: e.weight}}
}
