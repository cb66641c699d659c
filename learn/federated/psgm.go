package federated

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/learn/federated/randomiser"
	"github.com/darrm/darrm/learn/train"
)

// PSGM is private stochastic gradient descent with momentum in the shuffled model: nobody but a
// silo sees its records, and the server sees shuffled reports of records, each private by itself.
//
//	FirstBatch, Batch   Local.Steps   method
//	stated              1             mb-psgm
//	none: all records   1             mb-psgm-fg
//	stated              H > 1         ce-psgm
//	none                H > 1         ce-psgm-fg
//
// Cost: two gradients and two reports for each sampled record of a round, and 130 bits.
type PSGM struct {
	Setting
	// Momentum is β in (0,1]: the weight of fresh gradients. At 1 there is no stream of differences.
	Momentum float64 `flag:"momentum" for:"psgm" help:"β, the weight of fresh gradients; at 1 no changes of gradients are sent"`
	// FirstBatch is B_0 and Batch B_1: how many of its records a silo takes in round 0 and in later
	// ones. None is all records, one number is of each silo, and otherwise each silo has its own, 0
	// being all of its records. The server's mean is over all reports: unless every silo takes the
	// same share of its records, those of small batches count for less.
	FirstBatch []int `flag:"first-batch" for:"psgm" help:"B_0, records of each silo in the first round, or one number for each (default: all)"`
	Batch      []int `flag:"batch" for:"psgm" help:"B_1, records of each silo in later rounds, or one number for each, such as a tenth of its records (default: all)"`
	// Missing is the largest number of a round's reports that may be absent, of silos that drop
	// out. A round with more absent reports is refused.
	Missing int `flag:"missing" for:"psgm" help:"how many reports of a round may fail to come, of silos that drop out; the price does without them, and a round with fewer than the rest is refused"`
	// Colluding is the largest number of a round's reports that may come from silos that tell the
	// server which are theirs. Such reports hide nobody, and nobody sees which they are: the price
	// leaves them out as well as all of Missing.
	Colluding int `flag:"colluding" for:"psgm" help:"how many reports of a round may be of silos that work with the server; the price does without them too"`
	// Account prices shuffled reports; "" is privacy losses for full gradients, and the divergences
	// of exact beside local steps, of ternary or tcdp for batches.
	Account Account `flag:"account" for:"psgm" help:"how shuffled reports are priced (default: the best way that is proved)"`
	// Randomizer names the mechanism that makes a report.
	Randomizer Randomizer `flag:"randomizer" for:"psgm" help:"a report is a seed and a bit, \"one-bit\"; an index into directions of the seed, \"privunit\" (of b bits: \"privunit:b\", projected to k numbers: \"privunit:b:k\"), with less noise at large $local-eps; a bit of k coordinates, \"rand-k:k\", with less work and more noise; or one bit as d numbers, \"floats\", to compare sizes"`
	// Epsilon is ε₀ of one report; 0 is the largest that meets the target.
	Epsilon float64 `flag:"local-eps" for:"psgm" help:"ε₀ of one report, in place of $eps: ε is what comes of it"`

	lagged bool // gradients of stream 2 at x_{r-1}, as the source prints it. For a test
}

// Randomizer is a kind of report.
type Randomizer string

// The kinds of report. Some take numbers behind a colon.
const (
	OneBit Randomizer = "one-bit" // a seed and a bit. The default
	Floats Randomizer = "floats"  // the same report as d numbers, for comparisons of size
	// PrivUnit is randomiser.PrivUnit: "privunit" has an index of 8 bits, "privunit:b" one of b bits,
	// and "privunit:b:k" a projection to k numbers. It has less noise than OneBit at the same ε₀; the
	// shuffler hides it less, so that at equal cost it pays above ε₀ = 1.6 or so.
	PrivUnit Randomizer = "privunit"
	// RandK is randomiser.RandK: "rand-k:k" has k coordinates of each vector, for long models.
	RandK Randomizer = "rand-k"
)

// oneBit reports whether each report is a bit that is kept or flipped, whatever its seed. The best
// proved amplification by shuffling is for such reports.
func (r Randomizer) oneBit() bool {
	kind, _, _ := strings.Cut(string(r), ":")
	switch Randomizer(kind) {
	case "", OneBit, Floats, RandK:
		return true
	}
	return false
}

// of returns the randomiser of d dimensions and ε₀ at most epsilon.
func (r Randomizer) of(d int, epsilon float64) (randomiser.Randomizer, error) {
	kind, rest, stated := strings.Cut(string(r), ":")
	var numbers []int
	for _, word := range strings.Split(rest, ":") {
		n, err := strconv.Atoi(word)
		if stated && err != nil {
			return nil, r.fault()
		}
		numbers = append(numbers, n)
	}
	switch {
	case !stated && (r == "" || r == OneBit || r == Floats):
		one, err := randomiser.NewOneBit(d, epsilon)
		if r == Floats && err == nil {
			return randomiser.Floats{OneBit: one}, nil
		}
		return one, err
	case r == PrivUnit:
		return randomiser.NewPrivUnit(d, epsilon, randomiser.MaxBits, 0)
	case Randomizer(kind) == PrivUnit && stated && len(numbers) == 1:
		return randomiser.NewPrivUnit(d, epsilon, numbers[0], 0)
	case Randomizer(kind) == PrivUnit && stated && len(numbers) == 2 && numbers[1] > 0:
		return randomiser.NewPrivUnit(d, epsilon, numbers[0], numbers[1])
	case Randomizer(kind) == RandK && stated && len(numbers) == 1:
		return randomiser.NewRandK(d, numbers[0], epsilon)
	}
	return nil, r.fault()
}

func (r Randomizer) fault() error {
	return check.Wantf("randomizer", strconv.Quote(string(r)), "%s, %s, %s, %s:bits, %s:bits:k or %s:k",
		OneBit, Floats, PrivUnit, PrivUnit, PrivUnit, RandK)
}

// Plan prices the method for the records of all silos.
func (c PSGM) Plan(n, features int) (train.Plan, error) { return train.PlanOf(c.New(n, features)) }

// New is Plan, for callers that drive the roles.
func (c PSGM) New(n, features int) (*Plan, error) {
	t, err := c.check(n, features)
	if err != nil {
		return nil, err
	}
	if err := check.UpTo("momentum", c.Momentum, 1); err != nil {
		return nil, err
	}
	if err := t.checkDifferences(c.Momentum < 1); err != nil {
		return nil, err
	}
	if err := t.checkStep(max(t.DifferenceClip, t.Local.Clip) > 0); err != nil {
		return nil, err
	}
	p := &Plan{plan{task: *t, kind: shuffled, beta: c.Momentum, missing: c.Missing,
		colluding: c.Colluding, reportKind: c.Randomizer, lagged: c.lagged, account: c.Account}}
	for r, stated := range [][]int{c.FirstBatch, c.Batch} {
		name := []string{"first batch", "batch"}[r]
		if p.batches[r], err = t.batches(name, stated); err != nil {
			return nil, err
		}
		for _, b := range p.batches[r] {
			p.taken[r] += b
		}
	}
	fewest := min(p.expected(0), p.expected(1))
	if err := cmp.Or(check.Whole("missing reports", c.Missing, 0, fewest-1),
		check.Whole("colluding reports", c.Colluding, 0, fewest-c.Missing-1)); err != nil {
		return nil, err
	}
	p.price = train.Price{Method: p.name(), Records: n, Dim: p.d, Relation: accountant.ReplaceOne}
	if err := p.settle(c); err != nil {
		return nil, err
	}
	return p, nil
}

// batches returns how many records each silo takes.
func (t *task) batches(name string, stated []int) ([]int, error) {
	if n := len(stated); n > 1 && n != len(t.Silos) {
		return nil, check.SettledBy(check.Wantf("numbers of "+name, n, "1, or one for each of %d silos",
			len(t.Silos)), name)
	}
	out := slices.Clone(t.Silos)
	for m, size := range t.Silos {
		b := 0
		switch len(stated) {
		case 0:
		case 1:
			b = stated[0]
		default:
			b = stated[m]
		}
		if err := check.Whole(fmt.Sprintf("%s of silo %d", name, m+1), b, 0, size); err != nil {
			return nil, check.SettledBy(err, name)
		}
		if b > 0 {
			out[m] = b
		}
	}
	return out, nil
}

func (p *Plan) name() string {
	name := "mb-psgm"
	if p.Local.Steps > 1 {
		name = "ce-psgm"
	}
	if p.rate(0) == 1 && p.rate(1) == 1 {
		name += "-fg"
	}
	return name
}

// settle sets ε₀, the local noise and the price.
func (p *Plan) settle(c PSGM) error {
	account, err := p.newAccount(c.Account)
	if err == nil { // before a calibration's seconds
		_, err = c.Randomizer.of(p.d, 1)
	}
	if err != nil {
		return err
	}
	noPrice := p.Local.Steps > 1 && p.Local.NoNoise
	var local accountant.Event
	if c.Epsilon > 0 && (p.Local.Steps == 1 || p.Local.Noise > 0 || noPrice) {
		err = check.Within("target delta", p.Target.Delta) // ε is what comes of the noise
	} else {
		err = check.Target(p.Target.Epsilon, p.Target.Delta)
	}
	if err != nil {
		return err
	}
	if p.Local.Steps > 1 && !noPrice {
		if local, err = p.localEvent(); err != nil {
			return err
		}
	}
	method := accountant.MethodRDP
	if local == nil && account.byLosses() { // nobody has proved the losses of local phases
		method = accountant.MethodPLD
	}
	event := func(epsilon float64) (accountant.Event, error) {
		e, err := account.reports(epsilon, method)
		if err != nil || local == nil {
			return e, err
		}
		return compose(e, local)
	}
	epsilon := c.Epsilon
	if epsilon == 0 {
		if epsilon, err = calibrate(p.price.Method, p.Target, method, event); err != nil {
			return err
		}
	}
	if p.randomizer, err = c.Randomizer.of(p.d, epsilon); err != nil {
		return err
	}
	p.price.Cost.Epsilon = math.Inf(1)
	if !noPrice {
		e, err := event(epsilon)
		if err != nil {
			return err
		}
		best, err := train.LeastEpsilon(e, p.price.Relation, p.Target.Delta, method)
		if err != nil {
			return err
		}
		p.price.Event, p.price.Bound, p.price.Cost = e, method, best.Cost
	}
	if err := p.setStepSize(); err != nil {
		return err
	}
	p.blocks()
	p.describe(account)
	if noPrice || c.Epsilon > 0 { // ε₀ was stated: ε is what comes of it
		return nil
	}
	return p.price.Within(p.Target)
}

// setStepSize sets η to the theory's where none is stated.
func (p *Plan) setStepSize() error {
	if p.StepSize > 0 {
		return nil
	}
	step, by := p.theoryStep()
	if err := train.CheckScale("the theory's step size", step, "; or state one"); err != nil {
		return check.SettledBy(err, "step size")
	}
	p.StepSize = step
	p.price.Notes = append(p.price.Notes, fmt.Sprintf("step size %.6g: the theory's, all of whose "+
		"constants are taken for 1, with the smoothness %g; what bounds it is %s", step,
		p.smoothness(), by))
	return nil
}

// smoothness is L: the theory has C_1 = C_3 = L.
func (p *Plan) smoothness() float64 { return max(p.DifferenceClip, p.Local.Clip) }

// theoryStep returns the step size of the source's theorems, the least of
//
//	1/(2L)                            smoothness
//	√β·Mnε/(√(dR)·L)                  the noise of the reports; ε is that of the model
//	√(β·Σ B_1)/L                      the sampling of batches
//
// and for H = K > 1 local steps, by which the second and the third are divided,
//
//	1/(2KL)                           silos that differ: τ ≤ 2L, and no smaller τ is stated
//	√(B_2/K)/L, 1/(√(Kd)·L·σ)         the sampling and the noise of local steps
//
// with what the least is for. The source leaves constants out. Source: Efficient private federated
// non-convex optimization with shuffled model, Theorems of the two variants, with the misprints of
// its roots put right.
func (p *Plan) theoryStep() (step float64, by string) {
	l, k, d := p.smoothness(), float64(p.Local.Steps), float64(p.d)
	step, by = 1/(2*l), "smoothness"
	take := func(x float64, what string) {
		if x < step {
			step, by = x, what
		}
	}
	take(math.Sqrt(p.beta)*float64(p.n)*p.price.Cost.Epsilon/(math.Sqrt(d*float64(p.Rounds))*k*l),
		"the noise of reports")
	if p.rate(1) < 1 {
		take(math.Sqrt(p.beta*float64(p.taken[1]))/(k*l), "the sampling of batches")
	}
	if k > 1 {
		take(1/(2*k*l), "that silos may differ")
		take(math.Sqrt(float64(p.Local.Batch)/k)/l, "the sampling of local steps")
		if p.sigma > 0 {
			take(1/(math.Sqrt(k*d)*l*p.sigma), "the noise of local steps")
		}
	}
	return step, by
}

// describe adds what a reader of the price should know.
func (p *Plan) describe(a *account) {
	expected := p.expected(p.Rounds - 1)
	streams := p.streams()
	p.price.Notes = append([]string{
		fmt.Sprintf("local epsilon of a report: %.6g; %d streams of reports in %d rounds, %s",
			p.randomizer.Epsilon(), streams[differences]+streams[gradients], p.Rounds, a),
		fmt.Sprintf("a round sends up to %d reports of %d bytes on each stream", expected,
			p.randomizer.Size()),
	}, p.price.Notes...)
	if p.missing > 0 || p.colluding > 0 {
		p.price.Notes = append(p.price.Notes, fmt.Sprintf("priced for %d reports fewer",
			p.missing+p.colluding))
	}
}
