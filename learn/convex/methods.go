package convex

import (
	"fmt"
	"strings"

	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/learn/geometry"
	"github.com/darrm/darrm/learn/train"
)

// Mechanism names the models of this package in a ledger.
const Mechanism = "convex"

// Options are the parameters of whatever method, for programs that take it by its name. The
// zero value of a field is the method's default.
type Options struct {
	Setting
	Set           geometry.Set // an LpBall of p = 2 for methods in ℓ2, where nil is all of Rᵈ
	Noise         Noise
	Selection     Selection
	Rule          Rule
	Oracle        OracleKind
	Batches       Batches
	Rank          int
	Steps, Rounds int // Rounds goes before Batches.Rounds
	Rate          float64
	StepSize      float64
	StepFactor    float64
	Lambda        float64
	Smoothing     float64
	WeakConvexity float64
	Average       bool
	Interval      Interval
}

// catalogue lists the methods that New makes. uses names the fields of Options that a method takes,
// besides Setting and Set.
var catalogue = []struct {
	name string
	uses string
	make func(o Options) (Method, error)
}{
	{"phased-sgd", "Noise Oracle Rank StepFactor Interval", func(o Options) (Method, error) {
		ball, err := o.ball()
		return PhasedSGD{Setting: o.Setting, Ball: ball, Rank: o.Rank, Noise: o.Noise, Oracle: o.Oracle,
			StepFactor: o.StepFactor, Interval: o.Interval}, err
	}},
	{"frank-wolfe", "Noise Selection Rule Oracle Steps Smoothing Interval", func(o Options) (Method,
		error) {
		set, err := o.polytope()
		return FrankWolfe{Setting: o.Setting, Set: set, Noise: o.Noise, Selection: o.Selection,
			Rule: o.Rule, Oracle: o.Oracle, Steps: o.Steps, Smoothing: o.Smoothing,
			Interval: o.Interval}, err
	}},
	{"poly-sfw", "Noise Selection Rule Batches Rounds", func(o Options) (Method, error) {
		set, err := o.polytope()
		return PolySFW{Setting: o.Setting, Set: set, Batches: o.batches(), Noise: o.Noise,
			Selection: o.Selection, Rule: o.Rule}, err
	}},
	{"nsfw", "Noise Batches Rounds", func(o Options) (Method, error) {
		return NSFW{Setting: o.Setting, Set: o.Set, Batches: o.batches(), Noise: o.Noise},
			o.need(lpBalls)
	}},
	{"proximally-guided", "Rounds Steps WeakConvexity", func(o Options) (Method, error) {
		ball, ok := o.Set.(geometry.LpBall)
		if !ok {
			return nil, o.needBall()
		}
		return ProximallyGuided{Setting: o.Setting, Ball: ball.Radius(), Norm: ball.Norm(),
			WeakConvexity: o.WeakConvexity, Rounds: o.Rounds, Steps: o.Steps}, nil
	}},
	{"dp-sgd", "Rate Steps StepSize Lambda Average", func(o Options) (Method, error) {
		ball, err := o.ball()
		return DPSGD{Setting: o.Setting, Ball: ball, Rate: o.Rate, Steps: o.Steps, StepSize: o.StepSize,
			Lambda: o.Lambda, Average: o.Average}, err
	}},
	{"output-perturbation", "Lambda Smoothing", func(o Options) (Method, error) {
		ball, err := o.ball()
		return OutputPerturbation{Setting: o.Setting, Lambda: o.Lambda, Ball: ball,
			Smoothing: o.Smoothing}, err
	}},
	{"objective-perturbation", "Lambda Smoothing", func(o Options) (Method, error) {
		ball, err := o.ball()
		return ObjectivePerturbation{Setting: o.Setting, Lambda: o.Lambda, Ball: ball,
			Smoothing: o.Smoothing}, err
	}},
}

// Methods returns the names that New takes.
func Methods() []string {
	names := make([]string, len(catalogue))
	for i, m := range catalogue {
		names[i] = m.name
	}
	return names
}

// New returns the method of a name. It refuses options that the method does not have, rather
// than to leave them out in silence; the error names the first.
func New(name string, o Options) (Method, error) {
	for _, m := range catalogue {
		if m.name != name {
			continue
		}
		uses := append(strings.Fields(m.uses), "Setting", "Set")
		if err := train.CheckOptions(name, o, uses); err != nil {
			return nil, err
		}
		return m.make(o)
	}
	return nil, &check.Error{Name: "method", Value: fmt.Sprintf("%q", name),
		Rule: "one of " + strings.Join(Methods(), ", ")}
}

// batches returns the batches, of Rounds where those are stated: rounds of PolySFW and NSFW are
// rounds of batches.
func (o Options) batches() Batches {
	if o.Rounds != 0 {
		o.Batches.Rounds = o.Rounds
	}
	return o.Batches
}

// ball returns the radius of the set, 0 for none.
func (o Options) ball() (float64, error) {
	if o.Set == nil {
		return 0, nil
	}
	if b, ok := o.Set.(geometry.LpBall); ok && b.Norm() == 2 {
		return b.Radius(), nil
	}
	return 0, &check.Error{Name: "set", Value: o.Set.Name(),
		Rule: "a ball of l2, or none, for this method"}
}

// polytope returns the set, which must be one.
func (o Options) polytope() (geometry.Polytope, error) {
	if err := o.need("l1 ball, simplex or hull"); err != nil {
		return nil, err
	}
	if p, ok := o.Set.(geometry.Polytope); ok {
		return p, nil
	}
	return nil, &check.Error{Name: "set", Value: o.Set.Name(),
		Rule: "an l1 ball, simplex or hull, which have vertices, for this method"}
}

// lpBalls are the sets of methods in ℓp.
const lpBalls = "a ball of l2 or lp"

// needBall refuses a set that is no ball of ℓp.
func (o Options) needBall() error {
	if err := o.need(lpBalls); err != nil {
		return err
	}
	return &check.Error{Name: "set", Value: o.Set.Name(), Rule: lpBalls + " for this method"}
}

func (o Options) need(what string) error {
	if o.Set == nil {
		return &check.Error{Name: "set", Value: "none", Rule: "stated for this method: " + what + ""}
	}
	return nil
}

// DualNorm returns the q of the norm that records are measured in for a set, 2 for none.
func DualNorm(s geometry.Set) float64 {
	if s == nil {
		return 2
	}
	return geometry.Dual(s.Norm())
}
