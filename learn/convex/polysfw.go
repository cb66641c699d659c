package convex

import (
	"context"
	"fmt"
	"math"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/learn/data"
	"github.com/darrm/darrm/learn/geometry"
	"github.com/darrm/darrm/learn/train"
)

// PolySFW is the private polyhedral stochastic Frank-Wolfe method (Algorithm 1 of the source):
// rounds of variance-reduced estimates of the gradient, each step towards the vertex where the
// estimate is privately least. The loss is smooth, and need not be convex: the model is an
// iterate whose Frank-Wolfe gap is small in expectation. Records are measured in the dual norm
// of the set.
type PolySFW struct {
	Setting
	Set       geometry.Polytope
	Batches   Batches
	Noise     Noise     // "" is Calibrated, round by round
	Selection Selection // "" is Exponential, for printed noise LaplaceNoise
	Rule      Rule      // "" is Range
}

type polySFWPlan struct {
	smooth
	c       PolySFW
	choice  choice
	batches []batch
	rounds  []polySFWRound
	price   train.Price
	far     float64
	quiet   bool // no noise: for tests
}

// polySFWRound is a round's noise and what it costs.
type polySFWRound struct {
	scale float64 // s_r
	influence
}

// Plan prices the method for n records of dimension d.
func (c PolySFW) Plan(n, d int) (Plan, error) { return train.PlanOf(c.plan(n, d)) }

func (c PolySFW) plan(n, d int) (*polySFWPlan, error) {
	var set geometry.Set
	if c.Set != nil {
		set = c.Set
	}
	s, err := smoothTask(c.Setting, set, n, d)
	if err != nil {
		return nil, err
	}
	if c.Noise, err = check.OneOf("noise", c.Noise, Calibrated, Printed); err != nil {
		return nil, err
	}
	p := &polySFWPlan{smooth: s, c: c}
	if p.choice, err = newChoice(c.Selection, c.Rule, c.Noise); err != nil {
		return nil, err
	}
	if p.batches, err = p.c.Batches.schedule(n, p.theory()); err != nil {
		return nil, err
	}
	p.far = c.farthest()
	if err := p.setNoise(); err != nil {
		return nil, err
	}
	return p, p.account()
}

func (c PolySFW) farthest() float64 {
	if axes, ok := c.Set.(geometry.OnAxes); ok {
		return axes.Radius()
	}
	return farthest(c.Set)
}

// theory returns the source's number of rounds, (2/3)·log₂(nε/(ln²J·ln²n·√ln(1/δ))).
func (p *polySFWPlan) theory() float64 {
	n := float64(p.n)
	lj, ln := math.Log(float64(p.c.Set.Vertices())), math.Log(n)
	return 2.0 / 3 * math.Log2(n*p.Target.Epsilon/(lj*lj*ln*ln*math.Sqrt(-math.Log(p.Target.Delta))))
}

// printedScale is the source's s_r = 2D(L0+L1·D)·2^r·√ln(1/δ)/(bε).
func (p *polySFWPlan) printedScale(r int) float64 {
	return 2 * p.diameter * (p.norm + p.change) * math.Ldexp(1, r) *
		math.Sqrt(-math.Log(p.Target.Delta)) / (float64(p.c.Batches.Size) * p.Target.Epsilon)
}

// floatError bounds the error of a score's float arithmetic, in the units of scores: the
// estimate is at most L0·R+L1·D in norm, each step rounds it a few times, and a score is a
// product with a vertex.
func (p *polySFWPlan) floatError() float64 {
	return (p.norm + p.change) * p.far * (vecSlack(p.d) + 0x1p-49*float64(len(p.batches)+1))
}

// round returns the influence of round r at a scale.
func (p *polySFWPlan) round(r int, scale float64) influence {
	var sizes []float64
	for _, b := range p.batches {
		if b.round == r {
			sizes = append(sizes, b.records())
		}
	}
	return p.influences(sizes, scale, p.floatError(), p.choice)
}

// setNoise sets the rounds.
func (p *polySFWPlan) setNoise() error {
	rho := 0.0
	if p.c.Noise == Calibrated {
		var err error
		if rho, err = largestRho(p.Neighbours, p.Target); err != nil {
			return err
		}
	}
	for r := range p.c.Batches.Rounds {
		scale := p.printedScale(r)
		if p.c.Noise == Calibrated {
			s := train.Search{Start: scale, Least: scale * 0x1p-40, Most: scale * 0x1p20, Tolerance: 1e-9}
			var err error
			scale, _, err = train.Calibrate(context.Background(), 1, s,
				func(scale float64) (float64, error) {
					i := p.round(r, scale)
					return min(i.pure/p.Target.Epsilon, i.rho/rho), nil
				})
			if err != nil {
				return check.Want("target epsilon", p.Target.Epsilon,
					"more: no noise within the precision of scores is enough")
			}
		}
		if err := p.choice.fits((p.norm + p.change) * p.far / scale * selectionScale * 2); err != nil {
			return err
		}
		p.rounds = append(p.rounds, polySFWRound{scale, p.round(r, scale)})
	}
	return nil
}

// account sets the price: a neighbour differs in one batch, so in one round.
func (p *polySFWPlan) account() error {
	const theorem = "exact influence of a record on later steps"
	p.price = train.Price{Method: "poly-sfw", Records: p.n, Dim: p.d, Relation: p.Neighbours}
	p.price.Cost.Delta = p.Target.Delta
	worst := make([]influence, 0, len(p.rounds))
	for r, round := range p.rounds {
		worst = append(worst, round.influence)
		eps, err := p.roundEpsilon(round.influence)
		if err != nil {
			return err
		}
		if eps > p.price.Cost.Epsilon {
			p.price.Cost.Epsilon = eps
		}
		block := train.Block{Name: fmt.Sprintf("round %d", r), Releases: 1 << r,
			Sensitivity: p.diameter * p.moved(p.batches[1<<r-1]), Deviation: p.choice.deviation(round.scale)}
		block.From, block.To = p.batches[1<<r-1].from, p.batches[1<<(r+1)-2].to
		p.price.Blocks = append(p.price.Blocks, block)
	}
	if p.c.Noise == Calibrated {
		p.price.Cost.Epsilon = max(p.Target.Epsilon, p.price.Cost.Epsilon) // it ends just below
	}
	last := p.batches[len(p.batches)-1].to
	p.price.Notes = append(p.price.Notes,
		fmt.Sprintf("%d rounds, %d steps, batches of %d records and less, %d of %d records are read",
			len(p.rounds), len(p.batches), p.c.Batches.Size, last, p.n),
		"each record is in one batch; its influence on later estimates of its round is counted step by "+
			"step, with the batch's real size")
	if err := p.setEvent(theorem, worst); err != nil {
		return err
	}
	return p.price.Within(p.Target)
}

// setEvent sets the event that says most and costs no more than the price: a curve of
// divergences, a pure guarantee, or else, where some rounds are cheapest by one and some by
// the other, the price itself.
func (p *polySFWPlan) setEvent(theorem string, worst []influence) error {
	curve, err := influenceCurve(p.Neighbours, theorem, worst)
	if err != nil {
		return err
	}
	best, err := train.LeastEpsilon(curve, p.Neighbours, p.Target.Delta, accountant.MethodRDP)
	if err != nil {
		return err
	}
	pure := 0.0
	for _, w := range worst {
		pure = max(pure, w.pure)
	}
	p.price.Bound = accountant.MethodBasic
	switch cost := p.price.Cost.Epsilon; {
	case best.Cost.Epsilon <= cost:
		p.price.Event, p.price.Bound = curve, accountant.MethodRDP
	case pure <= cost:
		p.price.Event = accountant.ApproxDP{Cost: accountant.Cost{Epsilon: pure},
			Neighbours: p.Neighbours}
	default:
		p.price.Event = accountant.ApproxDP{Cost: p.price.Cost, Neighbours: p.Neighbours}
	}
	return nil
}

// roundEpsilon returns the lesser ε of a round, by the sum or by zCDP.
func (p *polySFWPlan) roundEpsilon(i influence) (float64, error) {
	eps, err := rhoEpsilon(p.Neighbours, i.rho, p.Target.Delta)
	return min(i.pure, eps), err
}

// Plan returns the plan for others.
func (p *polySFWPlan) Plan() Plan {
	return Plan{Price: p.price.Clone(), Rows: p.Compare, Train: p.dense(p.TrainSparse),
		TrainSparse: p.TrainSparse, Theory: p.bound}
}

// Compare prices the printed noise by the source's uniform account, by exact influence under
// both rules, and the noise in use. Rows are of the round that costs most.
func (p *polySFWPlan) Compare() ([]train.PriceRow, error) {
	laplace := func(r Rule) choice { return choice{LaplaceNoise, r} }
	type reading struct {
		name  string
		holds bool
		eps   func(r int) (float64, error)
	}
	exact := func(rule Rule) func(r int) (float64, error) {
		q := *p
		q.choice = laplace(rule)
		return func(r int) (float64, error) { return q.roundEpsilon(q.round(r, q.printedScale(r))) }
	}
	var rows []train.PriceRow
	for _, reading := range []reading{
		{"as the text has it: every step as bad as the worst, advanced composition", false, p.uniform},
		{"corrected: exact influence, by a bound on each score alone", true, exact(Sup)},
		{"corrected: exact influence, by the range of scores", true, exact(Range)},
	} {
		row := train.PriceRow{Noise: Printed, Reading: reading.name, Holds: reading.holds}
		for r := range p.rounds {
			eps, err := reading.eps(r)
			if err != nil {
				return nil, err
			}
			if eps > row.Epsilon {
				row.Epsilon, row.Deviation = eps, laplace(Range).deviation(p.printedScale(r))
				row.Sensitivity = p.diameter * p.moved(p.batches[1<<r-1])
			}
		}
		rows = append(rows, row)
	}
	worst, highest := p.price.Blocks[0], 0.0
	for r, b := range p.price.Blocks {
		if eps, err := p.roundEpsilon(p.rounds[r].influence); err == nil && eps > highest {
			worst, highest = b, eps
		}
	}
	return append(rows, p.price.Used(p.c.Noise, p.choice.inUse(), worst)), nil
}

// uniform is the source's account of round r: ε₀ = ε·2^{-r/2}/√ln(1/δ) in each of 2^r steps.
// Advanced composition of these is √2·ε and more.
func (p *polySFWPlan) uniform(r int) (float64, error) {
	k := math.Ldexp(1, r)
	return advanced(p.Target.Epsilon/math.Sqrt(k*-math.Log(p.Target.Delta)), k, p.Target.Delta), nil
}

// TrainSparse returns the method on these records.
func (p *polySFWPlan) TrainSparse(r *data.Sparse) (train.Algorithm, error) {
	own, err := p.takeSparse(r, geometry.Dual(p.set.Norm()))
	if err != nil {
		return train.Algorithm{}, err
	}
	a := p.algorithm(p.price, len(p.batches), train.DigestOf(own.Digest(),
		"darrm convex poly-sfw v1\n%q %v %v %q\n%v %v\n%v\n", p.link.Name(), p.slope, p.Radius, p.set.Name(),
		p.choice, p.c.Batches, p.rounds))
	a.Start = func(coins train.Coins) train.Run { return p.newRun(own, coins) }
	return a, nil
}

func (p *polySFWPlan) newRun(rows features, coins train.Coins) *stochasticRun {
	e := newStochasticRun(p.smooth, p.batches, rows, coins, p.c.Batches.InOrder)
	src := coins.Source()
	noisy, err := newNoisy(p.choice.kind, src)
	var pick picker = noisy
	if p.quiet {
		pick = least{}
	}
	scores := make([]int64, p.c.Set.Vertices())
	e.direct = func(k int, estimate, v []float64) error {
		if err != nil {
			return err
		}
		p.scores(scores, estimate, p.rounds[p.batches[k].round].scale)
		src.Restart(streamSelection, k)
		i, err := pick.pick(scores)
		if err != nil {
			return err
		}
		clear(v)
		coordinates, values := p.c.Set.Vertex(i)
		for l, j := range coordinates {
			v[j] = values[l]
		}
		return nil
	}
	return e
}

// scores sets the vertices' scores ⟨v, G⟩ in units of s/2³⁰, rounded.
func (p *polySFWPlan) scores(scores []int64, estimate []float64, scale float64) {
	axes, onAxes := p.c.Set.(geometry.OnAxes)
	for i := range scores {
		var s float64
		switch {
		case !onAxes:
			coordinates, values := p.c.Set.Vertex(i)
			s = geometry.SparseDot(coordinates, values, estimate)
		case i < p.d:
			s = axes.Radius() * estimate[i]
		default:
			s = -axes.Radius() * estimate[i-p.d]
		}
		scores[i] = int64(math.Round(s / scale * selectionScale))
	}
}
