package selection

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/noise"
	"github.com/darrm/darrm/internal/num"
	"github.com/darrm/darrm/learn/loss"
	"github.com/darrm/darrm/learn/train"
)

// Candidate is one point of a public grid.
type Candidate struct {
	Name string // such as "step-size=0.1 clip=1"
	// Plan prices the candidate for a target of its own.
	Plan func(target accountant.Cost) (train.Plan, error)
}

// Selection trains candidates and chooses among them. Nothing in it may depend on private records.
type Selection struct {
	Candidates []Candidate
	Score      Score
	Target     accountant.Cost // (ε, δ) of all of it
	// Stopping is the law of the number of runs (accountant.StoppingNames); "" trains each
	// candidate once.
	Stopping string
	Runs     float64 // E[K], of Stopping; 0 is as many as there are candidates
	// Share is the part of the privacy that the scores use: of the target's ε, or with Stopping of
	// a run's ρ. 0 is DefaultShare.
	Share float64
}

// DefaultShare is a tenth.
const DefaultShare = 0.1

// plan is a priced Selection.
type plan struct {
	s        Selection
	base     accountant.Cost // that each candidate is calibrated to
	plans    []train.Plan
	stopping accountant.Stopping // with Stopping
	rounds   int
	sigma    float64 // of the noise on scores, in units; with Stopping
	law      noise.Gaussian
	scale    int64 // of the choice, in units; without
	price    train.Price
}

// Plan prices the selection for n records of dimension d: it calibrates what each candidate may
// cost so that all of it costs the target, and heeds ctx between prices. Cost: some ten plans of
// every candidate.
func (s Selection) Plan(ctx context.Context, n, d int) (train.Plan, error) {
	return train.PlanOf(s.plan(ctx, n, d))
}

func (s Selection) plan(ctx context.Context, n, d int) (*plan, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	p := &plan{s: s}
	if s.Stopping != "" {
		var err error
		if p.stopping, err = accountant.NewStopping(s.Stopping, s.Runs); err != nil {
			return nil, err
		}
		p.rounds = p.stopping.Quantile(0.99)
	} else {
		p.rounds = len(s.Candidates)
	}
	if err := p.calibrate(ctx); err != nil {
		return nil, err
	}
	p.price.Records, p.price.Dim = n, d
	if s.Score.Loss != nil {
		p.price.Dim = loss.ModelDim(s.Score.Loss, d)
	}
	if err := p.s.Score.check(n, p.price.Relation); err != nil {
		return nil, err
	}
	for i, c := range p.plans {
		if q := c.Price; q.Records != n || q.Dim != p.price.Dim {
			return nil, fmt.Errorf(
				"candidate %s is for %d records of dimension %d, the selection for %d of %d",
				s.Candidates[i].Name, q.Records, q.Dim, n, p.price.Dim)
		}
	}
	if p.s.Stopping != "" {
		sigma := num.Decimal(p.sigma)
		var err error
		if p.law, err = noise.NewGaussian(sigma.Mul(sigma, sigma)); err != nil {
			return nil, err
		}
	} else {
		if err := noise.LevelsFit(int64(n)*unit, p.scale); err != nil {
			return nil, fmt.Errorf("epsilon is too large for the choice among so many records: %w", err)
		}
	}
	p.describe()
	return p, nil
}

func (s *Selection) check() error {
	if err := cmp.Or(check.Whole("number of candidates", len(s.Candidates), 1, maxCandidates),
		check.Target(s.Target.Epsilon, s.Target.Delta)); err != nil {
		return err
	}
	s.Share = cmp.Or(s.Share, DefaultShare)
	if err := check.Open("share of the scores", s.Share, 0, 1); err != nil {
		return err
	}
	switch {
	case s.Stopping == "" && s.Runs != 0:
		return check.SettledBy(check.Want("runs", s.Runs,
			"left out where each candidate is trained once"), "runs", "law of the number of runs")
	case s.Stopping != "" && s.Runs == 0:
		s.Runs = math.Max(2, float64(len(s.Candidates)))
	}
	return nil
}

// maxCandidates bounds the grid; each candidate is planned some ten times.
const maxCandidates = 1000

// calibrate finds the base. What it ends with is priced, not trusted.
func (p *plan) calibrate(ctx context.Context) error {
	runs := float64(len(p.s.Candidates))
	if p.s.Stopping != "" {
		runs = p.s.Runs
	}
	target := p.s.Target
	p.base = accountant.Cost{Epsilon: target.Epsilon / math.Sqrt(runs+1),
		Delta: target.Delta / (runs + 1)}
	if p.s.Stopping != "" {
		p.base.Epsilon = target.Epsilon / 3
	}
	// ε is about proportional to the base's. Rényi divergences take milliseconds and come first,
	// privacy loss distributions, which are tighter, last.
	best, err := p.search(ctx, p.base.Epsilon, accountant.MethodRDP, accountant.MethodBasic)
	if err != nil {
		return err
	}
	if p.s.Stopping == "" {
		if tighter, err := p.search(ctx, best, accountant.MethodRDP, accountant.MethodGaussian,
			accountant.MethodPLD); err == nil {
			best = max(best, tighter)
		}
	}
	if _, err = p.settle(best, accountant.MethodRDP, accountant.MethodBasic, accountant.MethodGaussian,
		accountant.MethodPLD); err != nil {
		return err
	}
	return p.price.Within(p.s.Target)
}

// search returns the largest ε found for the base at which all of it is within the target.
func (p *plan) search(ctx context.Context, start float64,
	methods ...accountant.Method) (float64, error) {
	// Each price is a plan of every candidate: a part in 500 is close enough.
	s := train.Search{Start: start, Least: start * 1e-6, Most: start * 1e6, Growing: true,
		Tolerance: 2e-3}
	best, _, err := train.Calibrate(ctx, p.s.Target.Epsilon, s,
		func(epsilon float64) (float64, error) { return p.settle(epsilon, methods...) })
	if errors.Is(err, train.ErrTarget) {
		return 0, fmt.Errorf(
			"no budget for a candidate makes all of it cost at most epsilon = %g at delta = %g",
			p.s.Target.Epsilon, p.s.Target.Delta)
	}
	return best, err
}

// settle plans every candidate for the base's ε, and sets what all of it costs.
func (p *plan) settle(epsilon float64, methods ...accountant.Method) (float64, error) {
	p.base.Epsilon = epsilon
	p.plans = p.plans[:0:0]
	var events []accountant.Event
	for _, c := range p.s.Candidates {
		q, err := c.Plan(p.base)
		if err != nil {
			return 0, fmt.Errorf("candidate %s: %w", c.Name, err)
		}
		price := q.Price
		if price.Event == nil {
			return 0, fmt.Errorf("candidate %s: %s is not private, so that nothing chosen from it is",
				c.Name, price.Method)
		}
		p.plans, events, p.price.Relation = append(p.plans, q), append(events, price.Event),
			price.Relation
	}
	event, err := p.event(events)
	if err != nil {
		return 0, err
	}
	bound, err := train.LeastEpsilon(event, p.price.Relation, p.s.Target.Delta, methods...)
	if err != nil {
		return 0, err
	}
	p.price.Event, p.price.Cost, p.price.Bound = event, bound.Cost, bound.Method
	return bound.Cost.Epsilon, nil
}

// event returns all of it, for candidates of these events. Those of another relation are refused
// where they are composed.
func (p *plan) event(candidates []accountant.Event) (accountant.Event, error) {
	relation := p.price.Relation
	if p.s.Stopping == "" {
		spread := p.s.Score.spread(relation)
		// Rounded up: a wider scale is the private side.
		scale := math.Ceil(float64(spread) / (p.s.Share * p.s.Target.Epsilon) * (1 + train.Slack))
		if !(scale <= 1<<40) {
			return nil, check.Want("target epsilon", p.s.Target.Epsilon,
				"larger: the choice would be among noise")
		}
		p.scale = int64(scale)
		choice := accountant.BoundedRange{Epsilon: num.FromInt(int64(spread)).Quo(
			num.FromInt(p.scale)).DecimalUp(), Neighbours: relation}
		charges := []accountant.Charge{{Event: choice, Count: 1}}
		for _, e := range candidates {
			charges = append(charges, accountant.Charge{Event: e, Count: 1})
		}
		return accountant.Compose(charges...)
	}
	multiplier, err := train.NoiseFor(p.base)
	if err != nil {
		return nil, err
	}
	// Of ρ = 1/(2σ²) the scores have the share, the training the rest.
	sigma := math.Ceil(unit * multiplier * math.Sqrt((1-p.s.Share)/p.s.Share))
	if !(sigma <= maxSigma) {
		return nil, check.Wantf("share of the scores", p.s.Share,
			"larger: their noise would be %.4g records", sigma/unit)
	}
	p.sigma = sigma
	score := accountant.DiscreteGaussian{Sigma: sigma, Sensitivity: unit, Neighbours: relation}
	runs := make([]accountant.Event, len(candidates))
	for i, e := range candidates {
		if runs[i], err = accountant.Compose(accountant.Charge{Event: e, Count: 1},
			accountant.Charge{Event: score, Count: 1}); err != nil {
			return nil, err
		}
	}
	var best accountant.Curve
	run, err := accountant.OneOf(runs...)
	if err == nil {
		best, err = accountant.BestOf(run, p.stopping)
	}
	if err != nil {
		return nil, check.Wantf("law of the number of runs", p.s.Stopping,
			"left out for these candidates, each of which is then trained once: it needs their Rényi divergences (%v)",
			err)
	}
	return best, nil
}

// maxSigma is the largest σ that noise.Gaussian takes.
const maxSigma = 1 << 17
