package convex

import (
	"math"

	"gonum.org/v1/gonum/mathext"

	"github.com/darrm/darrm/learn/geometry"
	"github.com/darrm/darrm/learn/train"
)

// eulerGamma is γ, the limit of 1 + 1/2 + … + 1/k - ln k.
const eulerGamma = 0.57721566490153286060651209008240243

// regret bounds by how much the score of the vertex that a choice takes is above the least, in
// expectation, for noise of scale s on the scores of so many vertices:
//
//	s·ln J                 exponential: the noisy minimum of Gumbel noise g has E max g = s(ln J + γ)
//	                       and E g = sγ; permute-and-flip is never worse (McKenna and Sheldon 2020)
//	s·(ψ(J/2+1) + γ)       laplace: E max of J variables, of which k ~ Bin(J, ½) are positive and have
//	                       the mean maximum 1 + 1/2 + … + 1/k, a concave function of k
//
// The source has 2s·ln J. Discrete noise adds less than a unit of the score.
func (c choice) regret(vertices int, s float64) float64 {
	j := float64(vertices)
	most := math.Log(j)
	if c.kind == LaplaceNoise {
		most = mathext.Digamma(j/2+1) + eulerGamma
	}
	return s * (most + 1.0/selectionScale)
}

// everyCoordinate is the dual norm of a vector all of whose coordinates are 1.
func everyCoordinate(p float64, d int) float64 {
	return math.Pow(float64(d), 1/geometry.Dual(p))
}

// Risk is Bound for n records of dimension d, and for W = Rᵈ too: then distance bounds ‖x*‖ for the
// envelope's minimiser x*. It is not used otherwise.
func (c PhasedSGD) Risk(n, d int, distance float64) (float64, error) {
	plan, err := c.plan(n, d)
	if err != nil {
		return 0, err
	}
	return plan.risk(distance), nil
}

// risk bounds the expected excess risk,
//
//	D²/(2η₁T₁) + Σ_{k≥2} dσ²_{k-1}/(2η_kT_k) + Σ_k 2η_kG² + 2DKα + 2G√d·σ_K + L0²/(2β), G = L0·R.
//
// For W = Rᵈ it is by the proof of Theorem 19: distance² in place of D², the rank θ in place of
// d, 5η_kG²/2 in place of 2η_kG², G(√θ·σ_{k-1}+1)/(√n·log₂ n) a phase in place of the 2Dα, and
// G·σ_K for the last noise. For n below 10⁴ or so it says nothing. Phases that the plan leaves out
// are left out here.
func (p *phasedPlan) risk(distance float64) float64 {
	s, g, c, n := p.schedule, p.norm, p.c, float64(p.n)
	dim, square, descent := float64(p.d), 4*c.Ball*c.Ball, 2.0
	if c.Ball == 0 {
		dim, square, descent = float64(c.rank(p.n, p.d)), distance*distance, 2.5
	}
	sum, before := 0.0, 0.0
	for k, b := range s.Phases {
		steps := 2 * b.StepSize * float64(b.To-b.From)
		if k == 0 {
			sum += square / steps
		} else {
			sum += dim * before * before / steps
		}
		sum += descent * b.StepSize * g * g
		if c.Ball > 0 {
			sum += 4 * c.Ball * s.Alpha
		} else {
			sum += g * (math.Sqrt(dim)*before + 1) / (math.Sqrt(n) * math.Log2(n))
		}
		before = b.Deviation
	}
	last := g * before
	if c.Ball > 0 {
		last *= 2 * math.Sqrt(dim)
	}
	return sum + last + p.slope*p.slope/(2*s.Beta)
}

// rank returns θ, a bound on the rank of n records of dimension d.
func (c PhasedSGD) rank(n, d int) int {
	if c.Rank > 0 {
		return min(c.Rank, n, d)
	}
	return min(n, d)
}

// bound bounds the expected excess risk in a ball. For W = Rᵈ it depends on where the best model
// is: Risk has it. For a loss on an Interval there is none: the last noise, and models beyond it,
// leave it.
func (p *phasedPlan) bound() *train.Bound {
	if p.c.Ball == 0 || p.c.Interval.stated() {
		return nil
	}
	n, diameter := float64(p.n), 2*p.c.Ball
	return &train.Bound{Of: train.ExcessRisk, Value: p.risk(0), Nothing: p.norm * diameter,
		Rate: p.norm * diameter * (1/math.Sqrt(n) + math.Sqrt(float64(p.d)*-math.Log(p.Target.Delta))/
			(n*p.Target.Epsilon)), Theorem: "Theorem 5"}
}

// bound bounds the expected excess risk, by the proof of Theorem 6 with its constants worked out.
// With μ_t = 3/(t+2) the steps' errors have the weights 3t(t+1)/(T(T+1)(T+2)), whose sum is 1 (the
// source has ln T), and the curvature's are Σμ_t²·weight = A, so that
//
//	E F(w) - min_W F ≤ A·βR²D²/2 + D·α + E regret + L0²/(2β) + 2·L0·R·r·√(2·ln J/n),
//	A = 9(T(T-1)/2 + 2H_{T+2} - 3)/(T(T+1)(T+2)),
//
// For a loss on an Interval there is none. Here α is what a mean gradient is off by: the oracle's
// accuracy, and the rounding of slopes and features; L0²/(2β) is left out for a loss without an
// envelope; and r is the least norm that all vertices are within, of 0 or of one of them. The last
// term is twice the Rademacher complexity of the set's predictions on n records, by Massart's lemma
// and the contraction of slopes (Shalev-Shwartz and Ben-David, Understanding Machine Learning,
// Lemmas 26.2, 26.8 and 26.9).
func (p *frankWolfePlan) bound() *train.Bound {
	if p.c.Interval.stated() {
		return nil
	}
	s, n, t, diameter := p.schedule, float64(p.n), float64(p.schedule.Steps), p.c.Set.Diameter()
	harmonic := mathext.Digamma(t+3) + eulerGamma // H_{T+2}
	curvature := 9 * (t*(t-1)/2 + 2*harmonic - 3) / (t * (t + 1) * (t + 2))
	off := p.oracle.Alpha() + p.norm*(math.Ldexp(1, -s.SlopeBits)+
		everyCoordinate(p.c.Set.Norm(), p.d)*math.Ldexp(1, -s.FeatureBits))
	// Scores are rounded by a unit, and by float sums where vertices are not on the axes.
	unit := s.Scale / selectionScale
	rounded := 2 * unit * p.reach()
	if p.far > 0 {
		rounded += 2 * vecSlack(p.d) * p.far * p.norm
	}
	value := curvature*s.Beta*p.Radius*p.Radius*diameter*diameter/2 + diameter*off + rounded +
		p.choice.regret(p.c.Set.Vertices(), s.Scale)
	if !p.smooth {
		value += p.slope * p.slope / (2 * s.Beta)
	}
	within := diameter
	if axes, ok := p.c.Set.(geometry.OnAxes); ok {
		within = axes.Radius()
	} else {
		within = min(within, p.far)
	}
	logs := math.Log(float64(p.c.Set.Vertices()))
	value += 2 * p.norm * within * math.Sqrt(2*logs/n)
	eps, logDelta := p.Target.Epsilon, -math.Log(p.Target.Delta)
	return &train.Bound{Of: train.ExcessRisk, Value: value, Nothing: p.norm * diameter,
		Rate: p.norm * diameter * (math.Pow(logDelta, 0.25)*math.Sqrt(logs*math.Log(n))/
			math.Sqrt(n*eps) + math.Sqrt(math.Log(float64(p.d))/n)),
		Theorem: "Theorem 6"}
}

// gap bounds the expected stationarity gap of a stochastic Frank-Wolfe run by the proofs of
// Lemmas 9 and 12 and of Theorems 8 and 11, step by step with the batches' real sizes and the
// plan's noise, and with constants that hold.
//
// noise is the standard deviation of the normal noise on the estimate of a step, and regret the
// expected regret of its choice. With ‖·‖_* the dual norm ℓq, take ‖·‖_+ = ℓρ for a ρ in [2, q]:
// ‖x‖_* ≤ ‖x‖_+ ≤ d^(1/ρ-1/q)‖x‖_*, and ‖·‖_+² is κ = (ρ-1)-smooth, so that a mean-zero addend y,
// given x, adds at most κ·E‖y‖_+² to ‖x‖_+². The error of the estimate, of a step t of a round,
// has so γ_t = E‖G - ∇F‖_+² with
//
//	γ_0 ≤ κd^(2/ρ-2/q)·V_0/b + κN_0,   γ_t ≤ (1-η_t)²γ_{t-1} + κ²d^(2/ρ-2/q)·V_t/m + κN_t.
//
// V_t is for what one record adds, Y = (1-η)Δ + ηg with ‖Y‖_* ≤ B_t = (1-η)L1Dη_{t-1} + ηL0: E‖Y -
// EY‖_+² is at most d^(2/ρ-2/q)·B_t² for ρ = 2, and of (2B_t)² in other norms, where the mean is no
// projection. N = σ²d^(2/ρ)(E|Z|^ρ)^(2/ρ), Z standard normal. The source has half of V, and the κ
// of one ρ. Then by smoothness
//
//	E gap(w_t) ≤ √(t+1)·E(F(w_t) - F(w_{t+1})) + L1D²η_t/2 + D·√γ_t + regret,
//
// and the first terms of a round of N steps sum to at most L0·D·√N, by parts, since F - min F is
// in [0, L0·D] (the source: three times that). The model is one of the iterates, drawn uniformly.
// The least bound over ρ counts.
func (s smooth) gap(batches []batch, deviation, regret func(step int) float64) float64 {
	q := geometry.Dual(s.set.Norm())
	best := math.Inf(1)
	// Beyond the ρ of least (ρ-1)²d^(2/ρ) there is nothing to gain.
	most := min(q, 2+4*math.Log(float64(s.d)))
	for rho := 2.0; ; rho = min(most, rho*1.15) {
		best = min(best, s.gapBy(rho, q, batches, deviation, regret))
		if rho == most {
			return best
		}
	}
}

// gapBy is gap by one ρ.
func (s smooth) gapBy(rho, q float64, batches []batch, deviation,
	regret func(step int) float64) float64 {
	sum := 0.0
	for k, off := range s.estimateErrors(rho, q, batches, deviation) {
		b := batches[k]
		if b.step == 0 {
			sum += s.norm * s.diameter * math.Sqrt(math.Ldexp(1, b.round))
		}
		sum += s.change*s.diameter*stepSize(b.step)/2 + s.diameter*off + regret(k)
	}
	return sum / float64(len(batches))
}

// estimateErrors bounds E‖G - ∇F‖_* of each step, √γ_t and the rounding of gradients.
func (s smooth) estimateErrors(rho, q float64, batches []batch,
	deviation func(step int) float64) []float64 {
	d, kappa := float64(s.d), rho-1
	spread := math.Pow(d, 2/rho-2/q)
	if rho > 2 {
		spread *= 4
	}
	lengths := squareNorm(d, rho)
	errors := make([]float64, len(batches))
	gamma, rounded := 0.0, 0.0
	for k, b := range batches {
		keep, outer, most := 0.0, 1.0, s.norm
		if b.step > 0 {
			eta := stepSize(b.step)
			keep, outer = 1-eta, kappa
			most = keep*s.change*stepSize(b.step-1) + eta*s.norm
		}
		sigma := deviation(k)
		gamma = keep*keep*gamma + outer*kappa*spread*most*most/b.records() + kappa*lengths*sigma*sigma
		rounded = keep*rounded + s.gradientUnit(b)*everyCoordinate(s.set.Norm(), s.d)
		errors[k] = math.Sqrt(gamma) + rounded
	}
	return errors
}

// squareNorm returns d^{2/q}(E|Z|^q)^{2/q}, Z standard normal, which is at least E‖ξ‖_q² for a
// standard normal ξ in d dimensions.
func squareNorm(d, q float64) float64 {
	logs, _ := math.Lgamma((q + 1) / 2)
	return math.Exp(2 / q * (math.Log(d) + q/2*math.Ln2 + logs - math.Log(math.Pi)/2))
}

// gapBound is a bound on the gap beside what every model has.
func (s smooth) gapBound(value, printed, rate float64, theorem string) *train.Bound {
	return &train.Bound{Of: train.StationarityGap, Value: value, Nothing: s.norm * s.diameter,
		Printed: printed, Rate: rate, Theorem: theorem}
}

// bound bounds the expected stationarity gap.
func (p *polySFWPlan) bound() *train.Bound {
	value := p.gap(p.batches, func(int) float64 { return 0 }, func(k int) float64 {
		scale := p.rounds[p.batches[k].round].scale
		return p.choice.regret(p.c.Set.Vertices(), scale) + 2*scale/selectionScale + 4*p.floatError()
	})
	n, logJ := float64(p.n), math.Log(float64(p.c.Set.Vertices()))
	eps, root := p.Target.Epsilon, math.Sqrt(-math.Log(p.Target.Delta))
	b, half := float64(p.c.Batches.Size), math.Exp2(float64(p.c.Batches.Rounds)/2)
	both := p.diameter * (p.norm + p.change)
	printed := 9*both/half + 12*p.norm*p.diameter*math.Sqrt(logJ/b)/half +
		6*both*logJ/math.Sqrt(b)*math.Sqrt(half) + 2*both*logJ*root/(b*eps)*half*half
	log := math.Log(n)
	return p.gapBound(value, printed, both*math.Cbrt(logJ*logJ*log*log*root/(n*eps)), "Theorem 8")
}

// bound bounds the expected stationarity gap.
func (p *nsfwPlan) bound() *train.Bound {
	value := p.gap(p.batches, func(k int) float64 { return p.blocks[k].Deviation },
		func(int) float64 { return 0 })
	n, d, eps, logDelta := float64(p.n), float64(p.d), p.Target.Epsilon, -math.Log(p.Target.Delta)
	kappa, tilde := p.regularity()
	b, half := float64(p.c.Batches.Size), math.Exp2(float64(p.c.Batches.Rounds)/2)
	both := p.diameter * (p.norm + p.change)
	noise := math.Sqrt(d*kappa*tilde*logDelta) / (b * eps)
	printed := 9*both/half + 24*p.diameter*p.norm*(math.Sqrt(kappa/b)+noise)/half +
		48*both*kappa/math.Sqrt(b)*math.Sqrt(half) + 24*both*noise*math.Pow(half, 1.5)
	log := math.Log(n)
	rate := both * math.Pow(kappa, 2./3) * (math.Pow(log, 2./3)/math.Cbrt(n) +
		math.Pow(d*tilde*logDelta, 0.2)*math.Pow(log, 0.8)/math.Pow(n*eps, 0.4))
	return p.gapBound(value, printed, rate, "Theorem 11")
}

// bound bounds the expected distance ‖·‖_p of the model from its proximal point, by the argument of
// Theorem 16 with this package's inner solver in the place of the cited one.
//
// With λ = β/κ - ρ = ρ, m records and T steps a round, mirror descent leaves an empirical gap of
// at most 2B²/(λ(T+1)) in expectation (its steps are of strong convexity μ = λκ relative to a
// map of strong convexity 1/κ), where noise ξ ~ N(0, σ²I) has
//
//	B² = E‖g + ξ + β∇h‖_q² ≤ min{(G+βD)² + κN, (G+βD+√N)²}, N = E‖ξ‖_q² ≤ σ²d^{2/q}(E|Z|^q)^{2/q};
//
// so its solution is within B·2/(λ√(T+1)) of the empirical minimiser, and the population's
// F + (β/2)‖·-w_r‖_p² is G+βD Lipschitz and is at most 2G²/(λm) above its minimum at the empirical
// minimiser, which one record moves by at most 2G/(λm):
//
//	e = (G+βD)·2B/(λ√(T+1)) + 2G²/(λm).
//
// A round lowers F by at least (λ/2)‖w_r - prox(w_r)‖² - e, and F varies by at most GD. So E‖w̄ -
// prox(w̄)‖² ≤ (2/λ)(GD/R + e). The cited solver has a better rate in e. Points of steps that are
// outside the ball by cutSlack are counted with it.
func (p *proximalPlan) bound() *train.Bound {
	g, diameter, steps := p.norm, 2*p.c.Ball, float64(p.c.Steps)
	b, kappa := p.price.Blocks[0], p.schedule.Kappa
	lambda := p.mu / kappa
	steep := g + p.schedule.Beta*diameter*(1+cutSlack)
	noise := b.Deviation * b.Deviation * squareNorm(float64(p.d), geometry.Dual(p.c.Norm))
	noisy := min(math.Sqrt(steep*steep+kappa*noise), steep+math.Sqrt(noise))
	left := steep*(2*noisy/(lambda*math.Sqrt(steps+1))+p.c.Ball*cutSlack) +
		2*g*g/(lambda*float64(b.To-b.From))
	value := math.Sqrt(2 / lambda * (g*diameter/float64(len(p.price.Blocks)) + left))
	return &train.Bound{Of: train.ProximalDistance, Value: value, Nothing: diameter,
		Rate: p.schedule.Rate, Theorem: "Theorem 16"}
}
