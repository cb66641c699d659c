package amplification

import (
	"math"

	"github.com/darrm/darrm/internal/num"
)

// believed is E(1+κηy)^α(1+κy)^(1-α) - 1, η = 1-2γ: the record that would take the place points as
// x' does, and x = -x'. Enumeration found nothing worse; at α = 2 it is Ternary's and proved.
type believed struct{ alpha, eta float64 }

func (f believed) powers(blanket) (c [4]float64, ok bool) { return c, false }

func (f believed) growth(b blanket, n float64) (logFactor, lambda float64) {
	return 0, b.kappa * (f.alpha + (f.alpha-1)*slope(b.kappa))
}

func (f believed) least(b blanket, n float64) float64 {
	gamma := (1 - f.eta) / 2
	return min(0, math.Log(f.alpha*(f.alpha-1)*gamma*gamma*b.kappa*b.kappa/n))
}

func (f believed) logSum(s *slice, m int) float64 {
	for i := range m {
		t := s.kappa * s.y[i]
		at := func(t float64) float64 {
			return math.Expm1(f.alpha*math.Log1p(f.eta*t) + (1-f.alpha)*math.Log1p(t))
		}
		s.buffer[i] = s.w[i] * (at(t) + at(-t)) / 2
	}
	sum := 0.0
	for _, x := range s.buffer[:m] {
		sum += x
	}
	return math.Log(max(sum, math.SmallestNonzeroFloat64))
}

func numericRDP(b blanket, gamma, alpha float64) float64 {
	return num.LogOnePlus(b.logMeans([]functional{believed{alpha, 1 - 2*gamma}})[0]) / (alpha - 1)
}
