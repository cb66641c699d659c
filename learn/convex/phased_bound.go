package convex

import "math"

// Risk bounds the expected excess population risk of the plan for n records of dimension d,
//
//	D²/(2η₁T₁) + Σ_{k≥2} dσ²_{k-1}/(2η_kT_k) + Σ_k 2η_kG² + 2DKα + 2G√d·σ_K + L0²/(2β), G = L0·R.
//
// For W = Rᵈ, where distance bounds ‖x*‖ for the envelope's minimiser x* (it is not used
// otherwise), it is by the proof of Theorem 19: distance² in place of D², the rank θ in place of
// d, 5η_kG²/2 in place of 2η_kG², G(√θ·σ_{k-1}+1)/(√n·log₂ n) a phase in place of the 2Dα, and
// G·σ_K for the last noise. The bound rests on independent records; for n below 10⁴ or so
// it says nothing. Phases that the plan leaves out are left out here.
func (c PhasedSGD) Risk(n, d int, distance float64) (float64, error) {
	plan, err := c.Plan(n, d)
	if err != nil {
		return 0, err
	}
	p := plan.(*phasedPlan)
	s, g := p.schedule, p.norm
	dim, square, descent := float64(d), 4*c.Ball*c.Ball, 2.0
	if c.Ball == 0 {
		dim, square, descent = float64(c.rank(n, d)), distance*distance, 2.5
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
			sum += g * (math.Sqrt(dim)*before + 1) / (math.Sqrt(float64(n)) * math.Log2(float64(n)))
		}
		before = b.Deviation
	}
	last := g * before
	if c.Ball > 0 {
		last *= 2 * math.Sqrt(dim)
	}
	return sum + last + p.slope*p.slope/(2*s.Beta), nil
}

// rank returns θ, a bound on the rank of n records of dimension d.
func (c PhasedSGD) rank(n, d int) int {
	if c.Rank > 0 {
		return min(c.Rank, n, d)
	}
	return min(n, d)
}
