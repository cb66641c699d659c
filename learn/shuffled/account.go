package shuffled

import (
	"context"
	"fmt"
	"math"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/learn/shuffled/iteration"
)

// account sets the noise, if it is to be found, and the report.
func (p *Plan) account(ctx context.Context) error {
	c := &p.c
	p.fromData = c.Radius == 0 && math.IsInf(c.Task.Smoothness(math.Inf(1)), 1) && p.mayAmplify()
	calibrate := c.Method.IsPrivate() && c.Noise == 0
	if calibrate {
		if !(c.Target.Epsilon > 0) || math.IsInf(c.Target.Epsilon, 1) {
			return check.Want("target epsilon", c.Target.Epsilon,
				"a finite number > 0 where the noise is not given")
		}
	}
	delta := c.Target.Delta
	if delta == 0 && !p.noisy() {
		delta = 0.5 // ε is 0 or +Inf at every δ: none need be given
	}
	if err := check.Within("target delta", delta); err != nil {
		return err
	}
	if c.Method == DPSGD {
		return p.accountSampled(ctx, calibrate)
	}
	events := p.events()
	if calibrate {
		sigma := 0.0
		for _, e := range events {
			if e.Private == 0 {
				continue
			}
			if c.DoubledNoise {
				e.Clip *= 2
			}
			scaled, _, err := e.Calibrate(ctx, c.Target)
			if err != nil {
				return err
			}
			sigma = max(sigma, scaled.Noise) // methods have one run with private data
		}
		p.schedule = p.schedule.scaled(sigma)
		events = p.events()
	}
	r, err := iteration.Account(delta, events...)
	if err != nil {
		return err
	}
	r.Cost.Delta = c.Target.Delta
	if !p.clips() {
		r.Clip = math.Inf(1)
	}
	p.report = r
	if calibrate && r.Cost.Epsilon > c.Target.Epsilon {
		// cannot happen
		return fmt.Errorf("calibration ended at epsilon = %g above the target %g", r.Cost.Epsilon,
			c.Target.Epsilon)
	}
	if c.bestMode() && p.noisy() && r.Smoothness == 0 {
		p.report.Warnings = append(p.report.Warnings,
			"no radius is stated, so no bound on the smoothness is known without the records: what rests "+
				"on steps being non-expansive is left out")
	}
	if p.fromData {
		p.report.Warnings = append(p.report.Warnings,
			"the smoothness was taken from the private data: the figure holds for neighbouring data no "+
				"longer than these only; state a radius")
	}
	return nil
}

// bestMode reports whether the report takes the best mode that is certified. That choice must not
// depend on a record.
func (c *Config) bestMode() bool { return c.Mode == "" || c.Mode == iteration.Best }

// mayAmplify reports whether the account of a mode that was asked for by name could rest on
// non-expansive steps. Whether it does depends on the smoothness.
func (p *Plan) mayAmplify() bool {
	switch p.c.Mode {
	case iteration.RRMixture, iteration.SOMixture, iteration.CrossEpoch:
		return true
	case iteration.Best, "":
		return false
	}
	for _, r := range p.schedule {
		if r.Private > 0 && r.Private < p.n && r.Noise > 0 && r.PublicNoise > 0 {
			return true
		}
	}
	return false
}

// clips reports whether any gradient is clipped.
func (p *Plan) clips() bool {
	for _, r := range p.schedule {
		if r.Private > 0 || !p.c.UnclippedPublic {
			return !math.IsInf(p.c.Clip, 1)
		}
	}
	return false
}

// noisy reports whether private steps have noise.
func (p *Plan) noisy() bool {
	for _, r := range p.schedule {
		if r.Private > 0 && r.Noise > 0 {
			return true
		}
	}
	return false
}

// events returns the schedule for the accountant.
func (p *Plan) events() []iteration.Steps {
	c := p.c
	smoothness := p.privateSmoothness()
	if smoothness > 0 && p.public != nil {
		smoothness = max(smoothness, c.Task.Smoothness(p.public.MaxNorm()))
	}
	clip := c.Clip
	if math.IsInf(clip, 1) {
		clip = 1 // without noise the cost is infinite whatever the clip is
	}
	var events []iteration.Steps
	for _, b := range p.schedule {
		e := c.steps(b, p.n)
		e.Clip, e.Smoothness, e.Convex = clip, smoothness, c.Task.Convex()
		e.ClipKeepsContraction, e.ConvexRegulariser = c.Task.ClipKeepsContraction(),
			c.Regularizer.Convex()
		events = append(events, e)
	}
	return events
}

// steps returns a block of epochs of n steps for the accountant, of which the last iterate is
// released. Nothing is known of the losses yet.
func (c *Config) steps(b Block, n int) iteration.Steps {
	return iteration.Steps{
		Epochs: b.Epochs, Records: n, Private: b.Private, Clip: c.Clip, Noise: b.Noise,
		PublicNoise: b.PublicNoise,
		Order:       c.Order, OrderSecret: true, Released: iteration.LastIterate, StepSize: c.StepSize,
		Mode: c.Mode, Conversion: c.Conversion, Neighbours: accountant.ReplaceOne,
	}
}

// privateSmoothness returns a bound on the smoothness of every private record's loss, 0 for
// unknown: for any record that the radius lets in, or else the task's own. Those at hand
// are looked at only where the account needs them, and the plan is then not released: what
// a report says, its reasons and warnings too, goes out with the model.
func (p *Plan) privateSmoothness() float64 {
	if p.c.Radius > 0 {
		return p.c.Task.Smoothness(p.c.Radius)
	}
	if any := p.c.Task.Smoothness(math.Inf(1)); !math.IsInf(any, 1) {
		return any
	}
	if !p.fromData {
		return 0
	}
	return p.c.Task.Smoothness(p.private.MaxNorm())
}

// ModeUniformSampling is the mode of DP-SGD's reports, by iteration.SampledSteps. It
// cannot be asked for.
const ModeUniformSampling iteration.Mode = "uniform-sampling"

func (p *Plan) accountSampled(ctx context.Context, calibrate bool) error {
	c := &p.c
	if !c.bestMode() && c.Mode != iteration.Paper {
		return check.Want("accounting mode", c.Mode, "left out for dp-sgd")
	}
	if c.Conversion != "" && c.Conversion != iteration.ConversionClassical {
		return check.Want("conversion", c.Conversion, "left out for dp-sgd")
	}
	if p.n > math.MaxInt32/p.schedule.Epochs() {
		return check.Wantf("steps", fmt.Sprintf("%d × %d", p.n, p.schedule.Epochs()), "at most %d",
			math.MaxInt32)
	}
	s := iteration.SampledSteps{Steps: p.n * p.schedule.Epochs(), Records: p.n, Clip: c.Clip,
		Noise: c.Noise}
	if calibrate {
		t := s
		if c.DoubledNoise {
			t.Clip *= 2
		}
		t, err := t.Calibrate(ctx, c.Target)
		if err != nil {
			return err
		}
		s.Noise = t.Noise
		p.schedule = p.schedule.scaled(s.Noise)
	}
	eps, order, err := s.Epsilon(c.Target.Delta)
	if err != nil {
		return err
	}
	one := 0.0 // the divergence of a step
	if order > 0 {
		if one, err = s.RDP(order); err != nil {
			return err
		}
	}
	p.report = iteration.Report{
		Mode: ModeUniformSampling, Conversion: iteration.ConversionClassical,
		Relation: accountant.ReplaceOne,
		Released: iteration.EveryIterate, Order: c.Order, Clip: c.Clip, Noise: s.Noise,
		Epochs: p.schedule.Epochs(), Amplification: 1, Alpha: float64(order),
		Rho:      float64(s.Steps) * one / float64(order),
		StepSize: c.StepSize, Smoothness: p.privateSmoothness(),
		Cost: accountant.Cost{Epsilon: eps, Delta: c.Target.Delta},
	}
	return nil
}
