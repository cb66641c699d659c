package convex

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/bits"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/learn/data"
	"github.com/darrm/darrm/learn/geometry"
	"github.com/darrm/darrm/learn/train"
)

// FrankWolfe is the noisy Frank-Wolfe method on a polytope (Algorithm 5 of the source): every
// step moves towards the vertex where the empirical gradient of the loss's Moreau envelope is
// privately least,
//
//	w ← (1-μ_t)w + μ_t·v_t,  μ_t = 3/(t+2).
//
// Records are measured in the dual norm of the set: max |x_j| ≤ Radius for the ℓ1 ball and the
// simplex. A step costs O(n + the features that are not 0 of the records whose slope changed),
// whatever the dimension, where the set OnAxes and the selection is exponential; dense records cost
// n·d. Every d/1024 steps, at most 256, the scores are sorted anew in O(d).
type FrankWolfe struct {
	Setting
	Set       geometry.Polytope
	Noise     Noise      // "" is Calibrated
	Selection Selection  // "" is Exponential, for printed noise LaplaceNoise
	Rule      Rule       // "" is Range
	Oracle    OracleKind // "" is Fast where there is one
	// Steps is T; 0 is the source's max(1, ⌊nε/(ln J·ln n·√ln(1/δ))⌋). Its last computed point is
	// the model; the source returns the one before, which is this with a step less.
	Steps int
	// Smoothing is β, the Moreau parameter; 0 is the source's, or none for a loss that is as
	// smooth as its envelope would be.
	Smoothing float64
	// Interval is M, the predictions that the loss is for; the zero value is all numbers.
	Interval Interval
	// SlopeBits is the precision of slopes, L0·2^-SlopeBits, at least 1 and at most 40, for n ≥ 256
	// records at most 48 less the binary digits of n. 0 takes the source's accuracy of gradients, α,
	// or half of the digits that there are. Coarse slopes of sparse records change seldom, so that
	// steps cost less.
	SlopeBits int
}

// frankWolfeSchedule are the parameters of FrankWolfe that follow from the setting.
type frankWolfeSchedule struct {
	Steps     int
	Scale     float64 // s, of the noise on a score ⟨v, g⟩
	Beta      float64 // how smooth what is minimised is
	Alpha     float64
	SlopeBits int
	// FeatureBits is the precision of features, R·2^-FeatureBits.
	FeatureBits int
	// Levels is M: scores are sums of gradients in units of L0·R/M.
	Levels  int64
	Epsilon float64 // ε₀ of a step
}

type frankWolfePlan struct {
	task
	c        FrankWolfe
	choice   choice
	schedule frankWolfeSchedule
	oracle   oracle
	price    train.Price
	far      float64 // the largest norm of a vertex, 0 on the axes
	smooth   bool    // the loss is β-smooth by itself: no envelope
	quiet    bool    // no noise: for tests
}

// Plan prices the method for n records of dimension d.
func (c FrankWolfe) Plan(n, d int) (Plan, error) { return train.PlanOf(c.plan(n, d)) }

func (c FrankWolfe) plan(n, d int) (*frankWolfePlan, error) {
	t, err := checkedOn(c.Interval, c.Setting, n, d, math.Inf(1))
	if err != nil {
		return nil, err
	}
	if err := cmp.Or(t.replaced(), checkSet(c.Set, d), check.Whole("number of records", n, 2, 0)); err != nil {
		return nil, err
	}
	if c.Noise, err = check.OneOf("noise", c.Noise, Calibrated, Printed); err != nil {
		return nil, err
	}
	p := &frankWolfePlan{task: t, c: c}
	if p.choice, err = newChoice(c.Selection, c.Rule, c.Noise); err != nil {
		return nil, err
	}
	p.far = farthest(c.Set)
	if err := p.makeSchedule(); err != nil {
		return nil, err
	}
	return p, nil
}

// farthest returns the largest norm of a vertex, and 0 for vertices on the axes, whose scores
// need no product.
func farthest(s geometry.Polytope) float64 {
	if _, ok := s.(geometry.OnAxes); ok {
		return 0
	}
	far := 0.0
	for i := range s.Vertices() {
		_, v := s.Vertex(i)
		far = max(far, geometry.Norm(v, s.Norm()))
	}
	return far
}

// maxSteps bounds T.
const maxSteps = 1 << 24

func (p *frankWolfePlan) makeSchedule() (err error) {
	c, s, n := p.c, &p.schedule, float64(p.n)
	eps, logDelta := p.Target.Epsilon, -math.Log(p.Target.Delta)
	vertices := math.Log(float64(c.Set.Vertices()))
	s.Steps = cmp.Or(c.Steps, int(max(1, min(maxSteps, n*eps/(vertices*math.Log(n)*math.Sqrt(logDelta))))))
	if err := check.Whole("steps", s.Steps, 1, maxSteps); err != nil {
		return err
	}
	diameter := c.Set.Diameter()
	s.Alpha = p.norm / (n * math.Log2(n))
	if s.Beta = c.Smoothing; s.Beta == 0 {
		s.Beta = p.slope * math.Sqrt(n*eps) / (p.Radius * diameter * math.Pow(logDelta, 0.25) *
			math.Sqrt(vertices*math.Log(n)))
		p.smooth = !c.Interval.stated() && p.link.WeakConvexity() == 0 && p.link.Curvature() <= s.Beta
	}
	if p.oracle, err = newOracle(p.link, c.Oracle, c.Interval, s.Beta, p.slope, p.Radius,
		s.Alpha); err != nil {
		return err
	}
	if p.smooth {
		s.Beta = p.link.Curvature()
	}
	if err := s.setBits(c.SlopeBits, p.n); err != nil {
		return err
	}
	if c.Noise == Printed {
		s.Scale = p.printedScale()
		s.Levels = int64(p.unit(s.Scale))
	} else if s.Levels, err = p.calibrate(); err != nil {
		return err
	}
	return p.account()
}

const (
	// sumBits bounds the digits of a sum of n products of a slope and a feature.
	sumBits = 61
	// maxFeatureBits keeps features within 32 bits.
	maxFeatureBits = 30
	// leastFeatureBits is the least precision of features.
	leastFeatureBits = 13
)

// setBits sets the precision of slopes and features. No sum of n products, each at most
// 2^(SlopeBits+FeatureBits) in size, nor one of the difference of two, overflows 63 bits.
func (s *frankWolfeSchedule) setBits(stated, n int) error {
	left := sumBits - bits.Len(uint(n))
	most := min(40, left-leastFeatureBits)
	if s.SlopeBits = stated; stated == 0 {
		log := math.Log2(float64(n))
		s.SlopeBits = min(int(math.Ceil(log+math.Log2(log))), left/2, most)
	}
	s.SlopeBits = max(1, s.SlopeBits)
	if stated < 0 || s.SlopeBits > most {
		return check.Wantf("slope bits", stated, "between 1 and %d for %d records", most, n)
	}
	s.FeatureBits = min(maxFeatureBits, left-s.SlopeBits)
	return nil
}

// printedScale is the source's s = 3·L0·R·D·√(8T·ln(1/δ))/(nε).
func (p *frankWolfePlan) printedScale() float64 {
	return 3 * p.norm * p.c.Set.Diameter() * math.Sqrt(8*float64(p.schedule.Steps)*
		-math.Log(p.Target.Delta)) / (float64(p.n) * p.Target.Epsilon)
}

// unit returns M for a scale s and s for M, by s = 2³⁰·(D/2)·L0·R/(M·n): scores are the sums of
// n gradients, in units of L0·R/M, on vertices in units of D/2.
func (p *frankWolfePlan) unit(x float64) float64 {
	return selectionScale * p.c.Set.Diameter() / 2 * p.norm / (x * float64(p.n))
}

// units returns by how much the range of scores can change, in units of scores.
//
// Given the vertices chosen so far the iterate is the same for neighbours, and so is every
// gradient but that of the record which differs. It is the product of two integers: its slope,
// clipped to L0, and its features, whose norm is at most R and which are rounded towards 0. So its
// norm is at most M in units of L0·R/M. Sums of such products are exact, in any order. On the axes
// scores are ± their coordinates, rounded towards 0. Integers that rounding makes of numbers M
// apart are no more than M apart, since M is one: the range changes by twice that. Otherwise
// scores are rounded by up to 1/2 and the error of float sums, in both worlds and for both
// vertices.
func (p *frankWolfePlan) units() float64 {
	m := float64(p.schedule.Levels)
	if _, ok := p.c.Set.(geometry.OnAxes); ok {
		return 2 * p.gradients() * m
	}
	sums := vecSlack(p.d) * p.far / (p.c.Set.Diameter() / 2) * float64(p.n) * m
	return math.Ceil(2*p.gradients()*m*(1+slack) + 2 + 4*sums)
}

// vecSlack bounds the relative error of a float sum of d products, relative to the product
// of the norms.
func vecSlack(d int) float64 { return float64(d+16) * 0x1p-51 }

// leastLevels is the smallest number of levels that gradients may be rounded to.
const leastLevels = 256

// calibrate returns the largest M that meets the target.
func (p *frankWolfePlan) calibrate() (int64, error) {
	s := train.Search{Start: 1 << 20, Least: 1, Most: 1 << 60, Growing: true, Tolerance: 1e-12}
	best, _, err := train.Calibrate(context.Background(), p.Target.Epsilon, s,
		func(levels float64) (float64, error) {
			p.schedule.Levels = int64(levels)
			cost, _, err := p.cost(accountant.MethodBasic, accountant.MethodRDP)
			return cost.Cost.Epsilon, err
		})
	if err != nil || best < leastLevels {
		return 0, check.Wantf("target epsilon", p.Target.Epsilon, "more for %d steps: scores would be rounded to fewer than %d levels",
			p.schedule.Steps, leastLevels)
	}
	return int64(best), nil
}

// stepMethods are the rules that steps of one kind are composed by. They take milliseconds.
var stepMethods = []accountant.Method{accountant.MethodBasic, accountant.MethodGeneral,
	accountant.MethodZCDP, accountant.MethodRDP}

// cost returns the least cost of the run by the methods, with its method, and the event of the run.
func (p *frankWolfePlan) cost(methods ...accountant.Method) (
	accountant.Bound, accountant.Event, error) {
	step := p.choice.event(p.choice.epsilon(p.units()), p.Neighbours)
	event, err := accountant.Compose(accountant.Charge{Event: step, Count: p.schedule.Steps})
	if err != nil {
		return accountant.Bound{}, nil, err
	}
	best, err := train.LeastEpsilon(event, p.Neighbours, p.Target.Delta, methods...)
	return best, event, err
}

// account sets the price, and refuses one above the target.
func (p *frankWolfePlan) account() error {
	s := &p.schedule
	if s.Levels < leastLevels {
		return check.Wantf("target epsilon", p.Target.Epsilon, "more for %d steps: scores would be rounded to fewer than %d levels", s.Steps,
			leastLevels)
	}
	s.Scale = p.unit(float64(s.Levels))
	s.Epsilon = p.choice.epsilon(p.units())
	// Sums are at most n·M, and scores that on vertices of norm up to D/2, or as far as 0 is.
	if err := p.choice.fits(float64(p.n) * float64(s.Levels) * p.reach()); err != nil {
		return err
	}
	best, event, err := p.cost(stepMethods...)
	if err != nil {
		return err
	}
	p.price = train.Price{
		Method: "frank-wolfe", Records: p.n, Dim: p.d, Relation: p.Neighbours, Event: event,
		Cost: best.Cost, Bound: best.Method,
		Blocks: []train.Block{{Name: "all records", To: p.n, Releases: s.Steps,
			Sensitivity: s.Epsilon * s.Scale, Deviation: p.choice.deviation(s.Scale)}},
		Notes: []string{fmt.Sprintf("each of %d steps chooses one of %d vertices by %s selection at "+
			"epsilon %.4g, noise of scale %.4g on scores", s.Steps, p.c.Set.Vertices(), p.choice.kind,
			s.Epsilon, s.Scale)},
	}
	if p.c.Noise == Calibrated {
		p.price.Cost.Epsilon = max(p.Target.Epsilon, best.Cost.Epsilon) // it ends just below
	}
	return p.price.Within(p.Target)
}

// reach is the largest norm of a vertex over D/2, at least 1.
func (p *frankWolfePlan) reach() float64 {
	return max(1, p.far/(p.c.Set.Diameter()/2)) * (1 + slack)
}

// Plan returns the plan for others.
func (p *frankWolfePlan) Plan() Plan {
	return Plan{Price: p.price.Clone(), Rows: p.Compare, Train: p.dense(p.TrainSparse),
		TrainSparse: p.TrainSparse, Theory: p.bound}
}

// Compare prices the printed scale by the source's gradient bound, as it is by both rules,
// and the noise in use. Sensitivities are of the range of scores, deviations of the noise.
func (p *frankWolfePlan) Compare() ([]train.PriceRow, error) {
	printed := p.printedScale()
	delta := p.c.Set.Diameter() * p.gradients() * p.norm / float64(p.n)
	laplace := choice{LaplaceNoise, Range}
	rows := []train.PriceRow{
		{Noise: Printed, Reading: "as the text has it: gradients up to 3·L0·R, advanced composition",
			Sensitivity: 3 * delta},
		{Noise: Printed, Reading: "corrected, by a bound on each score alone", Sensitivity: 2 * delta,
			Holds: true},
		{Noise: Printed, Reading: "corrected, by the range of scores", Sensitivity: delta, Holds: true},
	}
	for i := range rows {
		rows[i].Deviation = laplace.deviation(printed)
		eps0 := rows[i].Sensitivity / printed * (1 + slack)
		if !rows[i].Holds {
			rows[i].Epsilon = advanced(eps0, float64(p.schedule.Steps), p.Target.Delta)
			continue
		}
		event, err := accountant.Compose(accountant.Charge{Event: laplace.event(eps0, p.Neighbours),
			Count: p.schedule.Steps})
		if err != nil {
			return nil, err
		}
		best, err := train.LeastEpsilon(event, p.Neighbours, p.Target.Delta, stepMethods...)
		if err != nil {
			return nil, err
		}
		rows[i].Epsilon = best.Cost.Epsilon
	}
	return append(rows, p.price.Used(p.c.Noise, p.choice.inUse(), p.price.Blocks[0])), nil
}

// advanced is the source's composition of k steps, ε₀√(2k·ln(1/δ)) + kε₀(e^ε₀-1). The
// accountant's bounds are never above it.
func advanced(eps0, k, delta float64) float64 {
	return eps0*math.Sqrt(2*k*-math.Log(delta)) + k*eps0*math.Expm1(eps0)
}

// TrainSparse returns the method on these records.
func (p *frankWolfePlan) TrainSparse(r *data.Sparse) (train.Algorithm, error) {
	own, err := p.takeSparse(r, geometry.Dual(p.c.Set.Norm()))
	if err != nil {
		return train.Algorithm{}, err
	}
	a := p.algorithm(p.price, (p.schedule.Steps+p.stride()-1)/p.stride(), train.DigestOf(own.Digest(),
		"darrm convex frank-wolfe v3\n%q %t %v %v %v %q\n%v %v\n%v %v\n", p.link.Name(), p.smooth, p.slope,
		p.Radius, p.c.Interval, p.c.Set.Name(), p.choice, p.schedule, p.oracle.steps, p.oracle.alpha))
	transposed := own.Transpose()
	a.Start = func(coins train.Coins) train.Run {
		return newFrankWolfeRun(p, own, transposed, coins.Source())
	}
	return a, nil
}

// stride returns the number of steps in a round. Keeping a state and sorting its scores cost as
// much as its length, which a step does not, so long states have longer rounds.
func (p *frankWolfePlan) stride() int { return max(1, min(256, p.d>>10)) }
