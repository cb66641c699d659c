package convex

import (
	"fmt"

	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/learn/data"
	"github.com/darrm/darrm/learn/geometry"
	"github.com/darrm/darrm/learn/train"
)

// Mechanism names the models of this package in a ledger.
const Mechanism = "convex"

// Options state a method for programs that take it by its name. The zero value of a field is the
// method's default.
type Options struct {
	Setting
	Set geometry.Set // an LpBall of p = 2 for methods in ℓ2, where nil is all of Rᵈ
	// WeightBound is that of DPSGD, which alone takes weights.
	WeightBound float64
	Parameters
}

// Parameters are those of all methods of this package (internal/param).
type Parameters struct {
	Noise Noise `json:"noise,omitempty" for:"phased-sgd frank-wolfe poly-sfw nsfw" help:"\"calibrated\" to $eps by the exact account, \"printed\", the source's, where that keeps its promise, or for nsfw \"corrected\" (default calibrated)"`

	Selection Selection  `json:"selection,omitempty" for:"frank-wolfe poly-sfw" help:"frank-wolfe, poly-sfw: private choice of a vertex, \"exponential\", \"permute-and-flip\" or \"laplace\" (default exponential)"`
	Rule      Rule       `json:"score_changes,omitempty" for:"frank-wolfe poly-sfw" help:"frank-wolfe, poly-sfw: \"range\" if what counts is how much scores move apart, \"sup\" for the more cautious proof (default range)"`
	Oracle    OracleKind `json:"oracle,omitempty" for:"phased-sgd frank-wolfe" help:"slopes of the smoothed loss: \"fast\" in closed form, or by \"bisection\" (default fast)"`
	Interval  Interval   `json:"interval,omitzero" for:"phased-sgd frank-wolfe" help:"phased-sgd, frank-wolfe: \"low:high\", the predictions that the loss is for; further ones count as its ends (default: all numbers)"`
	Rank      int        `json:"rank,omitempty" for:"phased-sgd" help:"phased-sgd without a set: bound on the rank of the features (default: min(n, d))"`

	Steps      int  `json:"steps,omitempty" for:"frank-wolfe dp-sgd proximally-guided" help:"frank-wolfe, dp-sgd: steps; proximally-guided: steps of a round (default: the theory's)"`
	Rounds     int  `json:"rounds,omitempty" for:"poly-sfw nsfw proximally-guided" help:"poly-sfw, nsfw, proximally-guided: rounds (default: the theory's)"`
	Batch      int  `json:"batch,omitempty" for:"poly-sfw nsfw" help:"poly-sfw, nsfw: records in a round's first batch (default: n/ln²n)"`
	FullBudget bool `json:"full_budget,omitempty" for:"poly-sfw nsfw" help:"poly-sfw, nsfw: the largest batches that the records allow"`
	InOrder    bool `json:"in_order,omitempty" for:"poly-sfw nsfw" help:"poly-sfw, nsfw: take the records as they stand, not in a random order"`

	Rate         float64 `json:"rate,omitempty" for:"dp-sgd" help:"dp-sgd: probability that a step takes a record; 1 for all records in each step (default: 256/n, and 1 where a record is replaced)"`
	StepSize     float64 `json:"step_size,omitempty" for:"dp-sgd" help:"dp-sgd: η (default: the theory's for the set, and at $rate 1 a rule's)"`
	GradientNorm float64 `json:"gradient_norm,omitempty" for:"dp-sgd" help:"dp-sgd: bound on the norm of a record's gradient, of all classes together; longer ones are shortened to it (default: what $clip and $radius allow, and at $rate 1 a rule's)"`
	StepFactor   float64 `json:"step_factor,omitempty" for:"phased-sgd" help:"phased-sgd: how many times the theory's steps are, 24 at most; they are for the worst data (default 1)"`
	Average      bool    `json:"average,omitempty" for:"dp-sgd" help:"dp-sgd: the model is the average of the last half of the iterates, not the last; at $rate 1 it always is"`
	Lambda       float64 `json:"lambda,omitempty" flag:"l2" for:"dp-sgd sufficient-statistics output-perturbation objective-perturbation" help:"dp-sgd, sufficient-statistics and the perturbations: λ of the regulariser (λ/2)‖w‖² (default: what balances noise and bias in the set, or what the noise needs)"`
	Smoothing    float64 `json:"smoothing,omitempty" for:"frank-wolfe output-perturbation objective-perturbation" help:"frank-wolfe and the perturbations: Moreau parameter β of the smoothed loss (default: the theory's)"`

	WeakConvexity float64 `json:"weak_convexity,omitempty" for:"proximally-guided" help:"proximally-guided: ρ (default: the loss's own within $radius)"`
}

// catalogue lists the methods that New makes.
var catalogue = train.Catalogue[Options]{
	{Name: "phased-sgd", Private: true, Make: func(o Options) (Method, error) {
		ball, err := o.ball()
		return PhasedSGD{Setting: o.Setting, Ball: ball, Rank: o.Rank, Noise: o.Noise, Oracle: o.Oracle,
			StepFactor: o.StepFactor, Interval: o.Interval}, err
	}},
	{Name: "frank-wolfe", Private: true, Make: func(o Options) (Method, error) {
		set, err := o.polytope()
		return FrankWolfe{Setting: o.Setting, Set: set, Noise: o.Noise, Selection: o.Selection,
			Rule: o.Rule, Oracle: o.Oracle, Steps: o.Steps, Smoothing: o.Smoothing,
			Interval: o.Interval}, err
	}},
	{Name: "poly-sfw", Private: true, Make: func(o Options) (Method, error) {
		set, err := o.polytope()
		return PolySFW{Setting: o.Setting, Set: set, Batches: o.batches(), Noise: o.Noise,
			Selection: o.Selection, Rule: o.Rule}, err
	}},
	{Name: "nsfw", Private: true, Make: func(o Options) (Method, error) {
		return NSFW{Setting: o.Setting, Set: o.Set, Batches: o.batches(), Noise: o.Noise},
			o.need(lpBalls)
	}},
	{Name: "proximally-guided", Private: true, Make: func(o Options) (Method, error) {
		ball, ok := o.Set.(geometry.LpBall)
		if !ok {
			return nil, o.needBall()
		}
		return ProximallyGuided{Setting: o.Setting, Ball: ball.Radius(), Norm: ball.Norm(),
			WeakConvexity: o.WeakConvexity, Rounds: o.Rounds, Steps: o.Steps}, nil
	}},
	{Name: "dp-sgd", Private: true, Make: func(o Options) (Method, error) {
		ball, err := o.ball()
		return DPSGD{Setting: o.Setting, Ball: ball, Rate: o.Rate, Steps: o.Steps, StepSize: o.StepSize,
			GradientNorm: o.GradientNorm, Lambda: o.Lambda, Average: o.Average, WeightBound: o.WeightBound}, err
	}},
	{Name: "sufficient-statistics", Private: true, Make: func(o Options) (Method, error) {
		return SufficientStatistics{Setting: o.Setting, Lambda: o.Lambda}, o.noSet()
	}},
	{Name: "output-perturbation", Private: true, Make: func(o Options) (Method, error) {
		ball, err := o.ball()
		return OutputPerturbation{Setting: o.Setting, Lambda: o.Lambda, Ball: ball,
			Smoothing: o.Smoothing}, err
	}},
	{Name: "objective-perturbation", Private: true, Make: func(o Options) (Method, error) {
		ball, err := o.ball()
		return ObjectivePerturbation{Setting: o.Setting, Lambda: o.Lambda, Ball: ball,
			Smoothing: o.Smoothing}, err
	}},
}

// Methods returns the names that New takes.
func Methods() []string { return catalogue.Names() }

// New returns the method of a name. It refuses options that the method does not have, rather
// than to leave them out in silence; the error names the first.
func New(name string, o Options) (Method, error) {
	m, err := catalogue.New(name, o)
	if err == nil && o.WeightBound != 0 && name != "dp-sgd" {
		return nil, fmt.Errorf("%s: %w", name, data.ErrWeighted)
	}
	return m, err
}

func (o Options) batches() Batches {
	return Batches{Rounds: o.Rounds, Size: o.Batch, FullBudget: o.FullBudget, InOrder: o.InOrder}
}

// ball returns the radius of the set, 0 for none.
func (o Options) ball() (float64, error) {
	if o.Set == nil {
		return 0, nil
	}
	if b, ok := o.Set.(geometry.LpBall); ok && b.Norm() == 2 {
		return b.Radius(), nil
	}
	return 0, check.Want("set", o.Set.Name(), "a ball of l2, or none, for this method")
}

// noSet refuses a set, for methods that keep their models in none.
func (o Options) noSet() error {
	if o.Set == nil {
		return nil
	}
	return check.Want("set", o.Set.Name(), "none for this method")
}

// polytope returns the set, which must be one.
func (o Options) polytope() (geometry.Polytope, error) {
	if err := o.need("l1 ball or simplex"); err != nil {
		return nil, err
	}
	if p, ok := o.Set.(geometry.Polytope); ok {
		return p, nil
	}
	return nil, check.Want("set", o.Set.Name(), "an l1 ball or simplex, which have vertices, for this method")
}

// lpBalls are the sets of methods in ℓp.
const lpBalls = "a ball of l2 or lp"

// needBall refuses a set that is no ball of ℓp.
func (o Options) needBall() error {
	if err := o.need(lpBalls); err != nil {
		return err
	}
	return check.Want("set", o.Set.Name(), lpBalls+" for this method")
}

func (o Options) need(what string) error {
	if o.Set == nil {
		return check.Want("set", "none", "stated for this method: "+what)
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
