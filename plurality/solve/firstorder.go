package solve

import (
	"context"
	"math"
	"slices"
	"time"
)

// When the iteration starts anew, as in cuPDLP: the residual has fallen to a fifth since the
// last start, or to .8 of it and rises again, or .2 of all steps were done since then.
const (
	restartAt     = 0.2
	restartRising = 0.8
	restartSteps  = 0.2
	measureEvery  = 10
	firstLook     = 100 // steps before the first look at what was found
)

// A fine gap takes at least so many steps where permute-and-flip is not nearly never wrong: of 25 problems from (20,4)
// to (16,10), ε from .01 to 5, all with a value below nearly took 409 or more to a gap of 1e-4, the others 103 or more.
// What allows fewer is known to be too large before the first one.
const (
	fineSteps = 400
	fineGap   = 1e-3
	nearly    = 0.99
)

// How the primal weight ω is chosen: tuned for few steps to a gap of 1e-3 and of 1e-6 at
// (50,4), (25,10), (30,10), (100,4) and (250,3).
const (
	shareExponent = 0.5  // share of a block: (its largest weight)^this, times what shares says
	shareFloor    = 1e-7 // of weights
	sparseFloor   = 1e-3 // the same where some histograms never occur
	firstOmega    = 40   // times the balance of costs and loads
	omegaDamping  = 0.7
	omegaChange   = 4 // at most, at one start
	omegaRange    = 1e6
)

// firstOrder is the project's own method: see engine, and polish for what makes its points
// private. What it finds is kept in best.
type firstOrder struct {
	*program
	best     *incumbent
	workers  int
	progress func(Progress)
	began    time.Time
	points   *checkpoints
	told     time.Time
	polisher *engine
	polished int   // steps that polishing took
	work     int64 // Options.Work
}

// run iterates until the gap is at most goal, ctx ends, or neither bound has moved for long.
func (f *firstOrder) run(ctx context.Context, goal float64) error {
	least := firstLook
	if goal < fineGap && f.best.value < nearly {
		least = fineSteps
	}
	if f.spent(least) { // so it is before a table can be found
		return f.tooMuch()
	}
	share, err := f.shares(ctx, shareExponent)
	if err != nil {
		return err
	}
	g := newEngine(ctx, f.program, f.cost, share, f.best.x, f.workers)
	g.omega = firstOmega * f.balance(g)
	middle := g.omega
	total, look := 0, firstLook
	fruitful, last := 0, f.best.gap()
	start, before := 0.0, 0.0 // residuals
	for since := 0; ; {
		measure := since%measureEvery == 0
		g.step(float64(since+1)/float64(since+2), measure)
		if err := ctx.Err(); err != nil {
			return err
		}
		since++
		total++
		if !measure {
			continue
		}
		f.tell(total, tellEvery)
		if f.spent(total + f.polished) {
			return f.tooMuch()
		}
		r := g.residual()
		if since == 1 {
			start, before = r, r
			continue
		}
		if total >= look {
			look = total + max(100, total/8)
			f.look(ctx, g, total)
			if gap := f.best.gap(); gap <= goal {
				return nil
			} else if gap < 0.9*last {
				fruitful, last = total, gap
			}
			if total > 3*fruitful+20_000 {
				return nil // as far as floating point goes
			}
		}
		if restart(r, start, before, since, total) {
			primal, dual := g.travelled()
			if primal > 0 && dual > 0 {
				change := math.Pow(math.Sqrt(dual/primal)/g.omega, omegaDamping)
				g.omega *= min(omegaChange, max(1./omegaChange, change))
				g.omega = min(middle*omegaRange, max(middle/omegaRange, g.omega))
			}
			g.anchor()
			since = 0
		}
		before = r
	}
}

// spent reports whether so many steps take more than Options.Work.
func (f *firstOrder) spent(steps int) bool {
	return f.work > 0 && int64(steps)*int64(f.values()) > f.work
}

func (f *firstOrder) tooMuch() error {
	return &LimitError{Problem: f.system.Problem(), Work: f.work}
}

// restart reports whether to start anew when the residual is r, was start at first and before
// at the last measure, so many steps since the last start and of all.
func restart(r, start, before float64, since, total int) bool {
	return r <= restartAt*start || r <= restartRising*start && r > before ||
		since > 50 && float64(since) >= restartSteps*float64(total)
}

// shares returns (largest weight of the block)^exponent·(its most classes)^½ of each block: what
// many classes share is small for each of them, and its dual value is not. The error is ctx's.
func (p *program) shares(ctx context.Context, exponent float64) ([]float64, error) {
	share := make([]float64, p.rows.blocks())
	floor := shareFloor
	// Counts of some thousand queries leave most histograms at 0, and what one of them is worth
	// comes through those between it and the others: with small steps there, (250,3) took 4 to 5
	// times the steps to a gap of 1e-3.
	if slices.Contains(p.weight, 0) {
		floor = sparseFloor
	}
	for n := range share {
		if n%4096 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		w, m := floor, 1.0
		p.rows.variables(n, func(i int32) { w, m = max(w, p.weight[i]), max(m, p.classes[i]) })
		share[n] = math.Pow(w, exponent) * math.Sqrt(m)
	}
	return share, nil
}

// balance returns the ω at which costs and loads are of one size.
func (p *program) balance(g *engine) float64 {
	cost, load := 0.0, 0.0
	for i, c := range p.cost {
		cost += c * c / g.load[i]
		load += g.load[i]
	}
	return math.Sqrt(cost / load)
}

// look works out what T's last result shows, polished where that may pay.
func (f *firstOrder) look(ctx context.Context, g *engine, total int) {
	f.best.bound(f.program, g, g.yt)
	f.best.offer(f.program, g, g.xt)
	// At most every third step is one of polishing.
	if budget := total/2 - f.polished; budget >= 50 && f.best.gap() > 0 &&
		f.value(g.xt) > f.best.value {
		f.polish(ctx, g, min(budget, 400))
	}
	f.points.offer(f.best.gap())
	f.tell(total, 0)
}

// tellEvery is the time between two reports of progress, between looks.
const tellEvery = 100 * time.Millisecond

// tell reports the solve's progress, unless it did so within the time.
func (f *firstOrder) tell(total int, unless time.Duration) {
	if f.progress == nil || unless > 0 && time.Since(f.told) < unless {
		return
	}
	f.told = time.Now()
	f.progress(Progress{Elapsed: time.Since(f.began), Steps: total, Value: f.best.value,
		UpperBound: f.best.upper})
}

// incumbent is the best that has been found, in floating point.
type incumbent struct {
	x            []float64
	y            []float64 // nil before the first
	value, upper float64
}

func (b *incumbent) gap() float64 { return b.upper - b.value }

// offer keeps x where it is better, once mixed until it is private. It returns what mixing
// costs.
func (b *incumbent) offer(p *program, g *engine, x []float64) (loss float64) {
	value := p.value(x)
	loss = p.loss(value, g.excess(x))
	if value-loss > b.value && !g.stopped() {
		b.value = value - loss
		b.x = append(b.x[:0], x...)
	}
	return loss
}

// bound keeps y where it shows a smaller bound.
func (b *incumbent) bound(p *program, g *engine, y []float64) {
	if u := p.upper(g, y); u < b.upper && !g.stopped() {
		b.upper = u
		b.y = append(b.y[:0], y...)
	}
}

// checkpoints hand out certified tables along the way.
type checkpoints struct {
	take func() // certifies the incumbent
	gap  float64
	next time.Time
}

const (
	// largeValues is from how many dual values on certifying takes so long that whoever
	// interrupts a solve would wait: half a second and more.
	largeValues     = 300_000
	checkpointShare = 10 // certifying may take one part of so many of the time
	checkpointGain  = 0.8
)

// newCheckpoints returns nil where the problem is small or nobody wants any.
func newCheckpoints(p *program, o Options, take func()) *checkpoints {
	if o.Checkpoint == nil || p.values() < largeValues {
		return nil
	}
	return &checkpoints{take: take, gap: 1}
}

// offer takes a checkpoint where the gap has fallen and the last one is long ago.
func (c *checkpoints) offer(gap float64) {
	now := time.Now()
	if c == nil || gap > checkpointGain*c.gap || now.Before(c.next) {
		return
	}
	c.take()
	end := time.Now()
	c.gap, c.next = gap, end.Add((checkpointShare-1)*end.Sub(now))
}

// polishExponent is the shareExponent of polishing. At 0 more of the value is lost.
const polishExponent = 0.1

// polish looks for a private point near T's last result: the same iteration with no
// objective and with shares that hardly know the weights, so that histograms that hardly
// ever occur obey their rows too. Without it they hold the certified value back.
func (f *firstOrder) polish(ctx context.Context, g *engine, steps int) {
	if f.polisher == nil {
		share, err := f.shares(ctx, polishExponent)
		if err != nil {
			return // to whoever looks at ctx next
		}
		f.polisher = newEngine(ctx, f.program, make([]float64, len(f.cost)), share, g.xt, f.workers)
	}
	p := f.polisher
	copy(p.xt, g.xt)
	clear(p.yt)
	p.anchor()
	start, before := 0.0, 0.0
	for total, since, look := 0, 0, 50; total < steps && ctx.Err() == nil; {
		measure := since%measureEvery == 0
		p.step(float64(since+1)/float64(since+2), measure)
		since++
		total++
		f.polished++
		if !measure {
			continue
		}
		r := p.residual()
		if since == 1 {
			start, before = r, r
			continue
		}
		if total >= look {
			look *= 2
			// What is left to gain is small beside the gap that stays whatever is done here.
			if loss := f.best.offer(f.program, p, p.xt); loss <= 0.01*(f.best.upper-f.value(p.xt)) ||
				loss < 1e-15 {
				return
			}
		}
		if restart(r, start, before, since, total) {
			p.anchor()
			since = 0
		}
		before = r
	}
	f.best.offer(f.program, p, p.xt)
}
