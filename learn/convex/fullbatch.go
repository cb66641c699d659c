package convex

import (
	"fmt"
	"math"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/learn/loss"
	"github.com/darrm/darrm/learn/train"
)

// rule holds the constants of schedule, which were chosen on the tables of the experiment choice-study; what they
// multiply follows.
type rule struct {
	// share is C in parts of the longest gradient where records are few. Short gradients have less noise. They
	// also pull alike, whether a record is nearly right or all wrong, which puts probabilities too near to 0 and
	// 1: so C grows with n·μ/(K·d) above clear, up to the longest gradient.
	share, clear float64
	// noise is the noise of a score, or of the difference of two, in units of the way of a score from one end of
	// the slope to the other.
	noise float64
	// stretch is how many times the step is that of plain gradient descent. Steps beyond 2/L overshoot, by at
	// most η·C, which the average takes out.
	stretch float64
}

var (
	oneScore = rule{share: 0.05, clear: 8, noise: 1.3, stretch: 2}
	// The gradient of several classes is long in the one that a record has and short in the others.
	severalScores = rule{share: 0.2, clear: 100, noise: 3, stretch: 8}
)

const (
	// Between leastSteps and mostSteps more steps only take longer: the noise is for all of them together.
	leastSteps, mostSteps = 100, 400
	// mostStretch bounds the step of squares, whose curvature is its bound everywhere: beyond, steps overshoot
	// further each time, up to C.
	mostStretch = 4
)

// schedule sets what is not stated, from n, K, R, the loss, ε and δ alone:
//
//	C = share·L0·R              L0 bounds ‖s‖, s the slopes of a record's loss in its scores
//	share = min(1, rule.share·max(1, n·μ/(K·d·rule.clear)))
//	τ = ηT = u·n/(m·Δ·R)        m = 1/μ(ε, δ), the noise of one release in units of its sensitivity
//	T = τ·L/stretch, between leastSteps and mostSteps; L = κR², κ the curvature of the loss
//
// with u = rule.noise·L0/κ. The noise of T steps is m·Δ·√T each. Where no curvature holds an iterate
// back, a coordinate so moves by η·√T·m·Δ·√T/n = τ·m·Δ/n, whatever T is, and the score of a record of length
// R by R times that. The signal moves by τ times the mean gradient. So τ alone weighs noise against
// signal, T only has to be large enough for steps of η; and τ makes the noise of a score u, of which
// directions with curvature take most away. L0/κ is the way of a score over which the slope changes from
// one end to the other: 4 for logistic, 2√2 for softmax, where u is √2 smaller since the difference of two
// scores has √2 times the noise of one; 1 of a loss with a kink. Weights up to W multiply L0 and κ by W, so that C is W
// times as long, η is 1/W of what it was, and weights that are all W train the model of no weights.
func (p *sampledPlan) schedule(noise float64) {
	curvature, unit, rule := 1.0, 1.0, oneScore
	if l := p.curvature(); l > 0 && !math.IsInf(l, 1) {
		curvature, unit = l, p.slope/l
	}
	curvature *= p.most
	if p.classes > 1 {
		unit /= math.Sqrt2
		rule = severalScores
	}
	if p.c.GradientNorm == 0 {
		clear := float64(p.n) / noise / float64(p.size()) / rule.clear
		p.c.GradientNorm = min(1, rule.share*max(1, clear)) * p.norm
	}
	p.limit = min(p.norm, p.c.GradientNorm)
	time := rule.noise * unit * float64(p.n) / (noise * p.sensitivity() * p.Radius)
	if p.c.Steps > 0 && p.c.StepSize > 0 {
		return
	}
	if p.c.Steps == 0 {
		if p.c.StepSize > 0 {
			p.c.Steps = int(min(max(math.Ceil(time/p.c.StepSize), 1), mostSteps))
			return
		}
		p.c.Steps = int(min(max(math.Ceil(time*curvature*p.Radius*p.Radius/rule.stretch), leastSteps), mostSteps))
	}
	p.c.StepSize = time / float64(p.c.Steps)
	if p.link == (loss.Square{}) {
		p.c.StepSize = min(p.c.StepSize, mostStretch/(curvature*p.Radius*p.Radius))
	}
}

// curvature returns κ, a bound on the second derivative in the scores.
func (p *sampledPlan) curvature() float64 {
	if p.link != nil {
		return p.link.Curvature()
	}
	return loss.Softmax{}.Smoothness(1)
}

// sensitivity returns Δ, by how much a neighbour moves the sum of the gradients: each has norm C at most,
// and a record that is replaced takes one away and brings another, which may be its opposite.
func (p *sampledPlan) sensitivity() float64 {
	gradients := 1.0 // added, removed or blanked
	if p.Neighbours == accountant.ReplaceOne {
		gradients = 2
	}
	return gradients * p.limit * (1 + slack)
}

// fullBatch schedules and prices steps on all records. Each step is normal noise of deviation σ on a vector
// that moves by Δ, whatever was released before, so that T of them are one of μ = √T·Δ/σ.
func (p *sampledPlan) fullBatch() error {
	noise, err := train.NoiseFor(p.Target)
	if err != nil {
		return err
	}
	p.schedule(noise)
	if !(p.c.StepSize > 0 && !math.IsInf(p.c.StepSize, 1)) {
		return check.Want("step size", p.c.StepSize,
			"stated: the rule's is out of range for this radius and number of records")
	}
	p.c.Average = true
	steps := float64(p.c.Steps)
	p.noise = noise * math.Sqrt(steps) * (1 + slack)
	p.price = train.Price{Method: "dp-sgd", Records: p.n, Dim: p.size(), Relation: p.Neighbours,
		Blocks: []train.Block{{Name: "steps on all records", To: p.n, Releases: p.c.Steps,
			StepSize: p.c.StepSize, Sensitivity: p.sensitivity(), Deviation: p.noise * p.sensitivity()}},
		Notes: []string{fmt.Sprintf("%d steps on all records, gradients shortened to %.4g, step size %.4g; all "+
			"steps together are one normal noise of multiplier %.6g", p.c.Steps, p.limit, p.c.StepSize, noise)}}
	if p.c.WeightBound > 0 {
		p.price.Notes = append(p.price.Notes, fmt.Sprintf("weights up to %.4g; gradients are shortened after "+
			"weighting, and the sum is divided by the number of records, not by that of the weights", p.most))
	}
	if p.classes > 1 {
		p.price.Notes = append(p.price.Notes, fmt.Sprintf(
			"one release for all %d classes: a record's gradient is bounded over all of them together", p.classes))
	}
	return p.price.SettleGaussian(p.Target, true)
}
