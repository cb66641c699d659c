package shuffled

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/learn/data"
	"github.com/darrm/darrm/learn/geometry"
	"github.com/darrm/darrm/learn/loss"
	"github.com/darrm/darrm/learn/shuffled/iteration"
	"github.com/darrm/darrm/learn/train"
)

// Config describes a run. Nothing in it may depend on the private data.
type Config struct {
	Task        loss.Loss            // required
	Regularizer geometry.Regularizer // nil is NoRegularizer

	Method   Scheme  // required
	Fraction float64 `flag:"fraction" for:"priv-pub pub-priv interleaved" help:"p, the private share of epochs (priv-pub, pub-priv) or of each epoch (interleaved)"`
	Epochs   int     `flag:"epochs" for:"" help:"K, passes over the data"`

	// required, but for DPSGD and PublicOnly; FixedOrder is the records' own
	Order iteration.SampleOrder

	StepSize float64 `flag:"step-size" for:"" help:"η of each step"`
	// Clip is above 0; +Inf clips nothing, for runs without noise only.
	Clip            float64   `flag:"clip" for:"" help:"G, norm bound of one gradient"`
	UnclippedPublic bool      // public gradients are not clipped
	Start           []float64 // x_1; nil is 0

	// SharedRecords states that public records which equal private ones do so by chance.
	SharedRecords bool

	// Noise is σ; 0 asks for the smallest that meets Target, for methods with noise.
	Noise  float64         `flag:"noise" for:"" help:"σ per coordinate on the gradient (default: the least that meets $eps)"`
	Target accountant.Cost // its δ is also the one that Noise is accounted at
	// Mode is the accounting mode of the run; "" is iteration.Best. Conversion is as in
	// iteration.Steps.
	Mode       iteration.Mode
	Conversion iteration.Conversion
	// DoubledNoise calibrates with 2·Clip in place of Clip, as the source's own scripts
	// do: twice the noise that the target needs.
	DoubledNoise bool

	// Radius is a public bound on the norm of a record's features, to which longer
	// private rows are shortened. 0 is unknown. Unless the task's smoothness has a bound
	// without it, iteration.Best then uses nothing that rests on smoothness. The
	// other modes take the largest norm at hand where amplification may depend on it,
	// which is a secret of the data: such a plan cannot be released, whatever comes of it.
	Radius float64
}

// Plan is a checked, calibrated and accounted Config with its data. It is immutable and
// safe for concurrent use.
type Plan struct {
	c        Config
	schedule Schedule
	private  *data.Records // as trained on: rows within Radius
	public   *data.Records // the n first at most; nil if none are used
	n, d     int
	report   iteration.Report
	// fromData is true where the report may rest on a smoothness that was computed from the private
	// data.
	fromData bool
	digest   [32]byte
}

// made returns the plan, and for the zero Plan one of no records, which promises nothing.
func (p *Plan) made() *Plan {
	if p == nil || p.private == nil {
		return &Plan{c: Config{Task: loss.MeanEstimation{}, Regularizer: geometry.L2{}},
			report: iteration.Report{Cost: accountant.Cost{Epsilon: math.Inf(1), Delta: 1}}}
	}
	return p
}

// NewPlan checks the configuration against the data, calibrates the noise and accounts for
// the run. private sets n and must be there even for PublicOnly; public may be nil for
// methods that use none, and only its first records as needed are used. The error names
// the parameter, or is iteration.ErrNotCertified for a mode whose conditions fail, or
// a data.SharedError where any public record equals a private one, with columns in order or
// permuted, and SharedRecords does not state that it does so by chance: it would be trained on
// without noise. Records that are alike but not equal are not noticed. The calibration, which
// takes up to seconds, ends with ctx.
func NewPlan(ctx context.Context, c Config, private, public *data.Records) (*Plan, error) {
	if c.Task == nil {
		return nil, errors.New("no task")
	}
	c.Regularizer = cmp.Or[geometry.Regularizer](c.Regularizer, geometry.NoRegularizer{})
	if private == nil || private.Len() == 0 {
		return nil, errors.New("no private records")
	}
	p := &Plan{c: c, private: private, n: private.Len(), d: private.Dim()}
	if err := p.checkConfig(); err != nil {
		return nil, err
	}
	if err := p.makeSchedule(); err != nil {
		return nil, err
	}
	if err := p.takeData(public); err != nil {
		return nil, err
	}
	if err := p.account(ctx); err != nil {
		return nil, err
	}
	p.digest = p.makeDigest()
	return p, nil
}

func (p *Plan) checkConfig() error {
	c := &p.c
	if loss.ModelDim(c.Task, p.d) != p.d {
		return check.Want("task", c.Task.Name(), "one whose model is as long as a record")
	}
	if !c.Regularizer.Convex() {
		return check.Want("regulariser", c.Regularizer.Name(), "convex")
	}
	if b, ok := c.Regularizer.(geometry.Ball); ok && !(b.Radius > 0) {
		return check.Want("ball radius", b.Radius, "above 0")
	}
	if err := check.UpTo("step size", c.StepSize, data.MaxMagnitude); err != nil {
		return err
	}
	if !(c.Clip > 0) {
		return check.Want("clip", c.Clip, "above 0")
	}
	if c.Noise != 0 && !(c.Noise >= 1e-100 && c.Noise <= data.MaxMagnitude) {
		return check.Wantf("noise", c.Noise, "0, or between 1e-100 and %g", data.MaxMagnitude)
	}
	if c.Radius != 0 && !(c.Radius > 0 && c.Radius <= data.MaxMagnitude) {
		return check.Wantf("radius", c.Radius, "0, or in (0, %g]", data.MaxMagnitude)
	}
	if c.Order == 0 && (c.Method == DPSGD || c.Method == PublicOnly) {
		c.Order = iteration.FixedOrder // they visit private data in none
	}
	if c.Order < iteration.FixedOrder || c.Order > iteration.Reshuffled {
		return check.Want("order", c.Order, "IG, SO or RR")
	}
	if c.Start != nil {
		if err := train.CheckStart(c.Start, p.d, "data"); err != nil {
			return err
		}
		c.Start = slices.Clone(c.Start)
	}
	return nil
}

// makeSchedule sets the schedule, with noise 1 where it must be calibrated.
func (p *Plan) makeSchedule() (err error) {
	c := &p.c
	if p.schedule, err = c.Method.Schedule(p.n, c.Epochs, c.Fraction); err != nil {
		return err
	}
	switch {
	case !c.Method.IsPrivate() && c.Noise != 0:
		return check.Wantf("noise", c.Noise, "0 for %s", c.Method)
	case c.Noise != 0 && c.DoubledNoise:
		return check.Want("doubled noise", "asked for",
			"left out where the noise is given: it doubles what a target needs")
	case c.Method.IsPrivate() && math.IsInf(c.Clip, 1):
		return check.Want("clip", c.Clip, "finite where there is noise")
	case c.Noise != 0:
		p.schedule = p.schedule.scaled(c.Noise)
	}
	return nil
}

// takeData checks the records and cuts them to what is used.
func (p *Plan) takeData(public *data.Records) error {
	usable := func(set string, r *data.Records) error {
		err := r.Check(p.c.Task.Check)
		if sample := (*data.SampleError)(nil); errors.As(err, &sample) {
			sample.Set = set
		}
		return err
	}
	if err := usable("private", p.private); err != nil {
		return err
	}
	if need := p.schedule.publicRecords(p.n); need > 0 {
		if public == nil {
			return check.Wantf("number of public records", 0, "at least %d", need)
		}
		if public.Dim() != p.d {
			return check.Wantf("dimension of public records", public.Dim(), "the private ones', %d", p.d)
		}
		if public.Len() < need {
			return check.Wantf("number of public records", public.Len(), "at least %d", need)
		}
		if p.private.HasResponses() != public.HasResponses() {
			return errors.New("responses are in one of private and public data only")
		}
		// All of them, used or not: a record that is private too is not public. The refusal is
		// computed from the private records. It reveals a match to whoever has both files.
		if !p.c.SharedRecords {
			if err := data.CheckShared(p.private, public); err != nil {
				return err
			}
		}
		var err error
		if p.public, err = public.Head(need); err != nil {
			return err
		}
		if err := usable("public", p.public); err != nil {
			return err
		}
	}
	if p.c.Radius > 0 {
		p.private = p.private.Shortened(p.c.Radius)
	}
	return nil
}

// Report returns the privacy cost of the run, and its derivation.
func (p *Plan) Report() iteration.Report {
	p = p.made()
	r := p.report
	r.Fallback, r.Warnings, r.Trials = slices.Clone(r.Fallback), slices.Clone(r.Warnings),
		slices.Clone(r.Trials)
	return r
}

// Grid returns the simulations of the configuration for several step sizes, its own left out:
// the caller adds those and the seeds.
func (c Config) Grid(private, public *data.Records) train.Grid {
	return train.Grid{Plan: func(ctx context.Context, stepSize float64) (train.Algorithm, error) {
		c.StepSize = stepSize
		p, err := NewPlan(ctx, c, private, public)
		if err != nil {
			return train.Algorithm{}, err
		}
		return p.Algorithm(), nil
	}}
}

// Cost returns the (ε, δ) of the released model; ε is +Inf without noise.
func (p *Plan) Cost() accountant.Cost { return p.made().report.Cost }

// Dim returns d.
func (p *Plan) Dim() int { return p.made().d }

// Rounds returns K: a round is an epoch.
func (p *Plan) Rounds() int { return p.made().schedule.Epochs() }

// Algorithm returns the plan as an algorithm. Its noise is ησ, with the larger noise of private and
// public steps.
func (p *Plan) Algorithm() train.Algorithm {
	p = p.made()
	return train.Algorithm{Cost: p.Cost(), Refused: p.refused(), Rounds: p.Rounds(), Digest: p.digest,
		NoiseScale: p.c.StepSize * max(p.report.Noise, p.report.PublicNoise), Start: p.start}
}

// refused refuses the release of a plan that is not private (ε = +Inf) and, with
// iteration.ErrNotCertified, of one whose amplification could rest on a smoothness taken from
// the private data. Which of the two a plan is does not depend on the data.
func (p *Plan) refused() error {
	if p.n == 0 {
		return errors.New("a plan without records: make one with NewPlan")
	}
	if math.IsInf(p.report.Cost.Epsilon, 1) {
		return errors.New("epsilon = +Inf: a run on private data without noise can be simulated, " +
			"not released")
	}
	if p.fromData {
		return fmt.Errorf("%w: the smoothness rests on the longest private record: state a radius, to "+
			"which longer ones are shortened", iteration.ErrNotCertified)
	}
	return nil
}

// makeDigest hashes everything that a run depends on but its key.
func (p *Plan) makeDigest() [32]byte {
	h := sha256.New()
	c := p.c
	fmt.Fprintf(h, "darrm shuffled plan v2\n%q %q %v %v\n", c.Task.Name(), c.Regularizer.Name(),
		c.Method == DPSGD, p.schedule)
	fmt.Fprintf(h, "%v %v %v %v\n%v\n", c.Order, c.StepSize, c.Clip, c.UnclippedPublic, c.Start)
	fmt.Fprintf(h, "%x\n", p.private.Digest())
	if p.public != nil {
		fmt.Fprintf(h, "%x\n", p.public.Digest())
	}
	return [32]byte(h.Sum(nil))
}

// identity sets perm to 0, 1, ….
func identity(perm []int) {
	for i := range perm {
		perm[i] = i
	}
}
