package plurality

import (
	"math"

	"gonum.org/v1/gonum/integrate/quad"

	"github.com/darrm/darrm/internal/noise"
)

// PermuteAndFlip returns the probabilities of permute-and-flip at rate ε/(2t), one for each
// variable, as float64: the law of noise.PermuteAndFlip. With ρ_c = e^{-(v_max-v_c)ε/2t},
//
//	Pr[c] = ρ_c·∫₀¹ Π_{d≠c} (1-ρ_d·x) dx
//
// which Gauss's quadrature gives exactly, since the integrand is a polynomial. It never
// abstains. Source: McKenna and Sheldon, Permute-and-Flip: A New Mechanism for
// Differentially Private Selection (2020).
func (s *System) PermuteAndFlip() []float64 {
	if s == nil || s.Space == nil {
		return nil
	}
	nodes := make([]float64, (s.classes+1)/2) // exact to degree 2n-1 ≥ C-1
	weights := make([]float64, len(nodes))
	quad.Legendre{}.FixedLocations(nodes, weights, 0, 1)
	return s.scored(func(v, rho []float64, classes []int16) {
		for i := range v {
			v[i] = 0
		}
		for n, x := range nodes {
			all := weights[n]
			for i, r := range rho {
				all *= noise.Power(1-r*x, int(classes[i]))
			}
			for i, r := range rho {
				v[i] += r * all / (1 - r*x)
			}
		}
	})
}

// exponential returns the probabilities of the exponential mechanism at rate ε/(2t),
// Pr[c] ∝ e^{v_c·ε/2t}, as PermuteAndFlip does.
func (s *System) exponential() []float64 {
	return s.scored(func(v, rho []float64, classes []int16) {
		sum := 0.0
		for i, r := range rho {
			sum += r * float64(classes[i])
		}
		for i, r := range rho {
			v[i] = r / sum
		}
	})
}

// scored fills the probabilities of each histogram by law, from ρ of its runs.
func (s *System) scored(law func(v, rho []float64, classes []int16)) []float64 {
	rate := s.problem.Epsilon / (2 * float64(s.problem.Affected))
	p := make([]float64, s.Variables())
	rho := make([]float64, 0, s.classes)
	for h := range s.Histograms() {
		first, end := s.Range(h)
		if s.abstain {
			end--
		}
		rho = rho[:0]
		for i := first; i < end; i++ {
			rho = append(rho, math.Exp(-rate*float64(s.votes[first]-s.votes[i])))
		}
		law(p[first:end], rho, s.classesOf[first:end])
	}
	return p
}
