package amplification

import (
	"math"
	"slices"

	"github.com/darrm/darrm/internal/num"
)

// The exact divergence of one stream. In the blanket view (package comment) two records with
// vectors x, x' give densities 1 + κS_x/N and 1 + κS_x'/N. At an angle θ the pairs of signs are
// independent, each disagreeing with probability θ/π. The functional is E F(S_x, S_x') with
//
//	F(S, S') = a^α·b^(1-α),  a = 1 + κS/N,  b = 1 + κS'/N
//
// whose mixed derivative α(1-α)·a^(α-1)·b^-α·(κ/N)² is negative: turning an agreement into a
// disagreement only increases its mean, so x' = -x is worst, and
//
//	ε_RDP(α) ≤ ln E_C E_S[(1+κS/N)^α·(1-κS/N)^(1-α)] / (α-1)
//
// The same holds for max(0, a - e^ε·b), whose mean is δ(ε). Streams of one round of full gradients
// have coins, seeds and permutations of their own: for fixed data their joint law is a product, so
// their divergences add.

// renyi is E(1+κy)^α(1-κy)^(1-α) - 1. The mean of y and -y is √(1-t²)·cosh((2α-1)·atanh t), t = κy.
type renyi struct{ alpha float64 }

// slope bounds -ln(1-κy) ≤ slope·κy on [0, 1].
func slope(kappa float64) float64 { return -math.Log1p(-kappa) / kappa * (1 + num.Margin) }

// powers are those of (1+t)^α(1-t)^(1-α), all at least 0: it is 1+t times a power of (1+t)/(1-t) =
// e^(2·atanh t). By (1-t²)f' = (2α-1-t)f, c_{k+1} = ((2α-1)c_k + (k-2)c_{k-1})/(k+1).
func (f renyi) powers(b blanket) (out [4]float64, ok bool) {
	k := 2*f.alpha - 1
	before, c := k, 2*f.alpha*(f.alpha-1) // c_1 and c_2
	x := b.kappa * b.kappa
	power := 1.0
	for i := range out {
		power *= x
		out[i] = c * power
		j := float64(2*i + 2)
		before = (k*c + (j-2)*before) / (j + 1)
		c = (k*before + (j-1)*c) / (j + 2)
	}
	return out, true
}

func (f renyi) growth(b blanket, n float64) (logFactor, lambda float64) {
	return 0, b.kappa * (f.alpha + (f.alpha-1)*slope(b.kappa))
}

func (f renyi) least(b blanket, n float64) float64 {
	return min(0, math.Log(f.alpha*(f.alpha-1)*b.kappa*b.kappa/n))
}

func (f renyi) logSum(s *slice, m int) float64 {
	k := 2*f.alpha - 1
	if k*math.Atanh(s.kappa) > 300 {
		// e^y and the weights leave float64: add logarithms, and forget the 1.
		for i := range m {
			y := k * s.atanh[i]
			s.buffer[i] = s.logW[i] + s.logR[i] + y - math.Ln2 + math.Log1p(math.Exp(-2*y))
		}
		return logSumExp(s.buffer[:m])
	}
	sum := 0.0
	for i, w := range s.w[:m] {
		u := math.Expm1(k * s.atanh[i])
		t := s.kappa * s.y[i]
		// r·cosh - 1 = r·(cosh - 1) - t²/(1+r): no cancellation but at α near 1.
		sum += w * (s.r[i]*u*u/(2*(1+u)) - t*t/(1+s.r[i]))
	}
	return math.Log(max(sum, math.SmallestNonzeroFloat64))
}

// hockeyStick is E max(0, 1+κy - e^ε(1-κy)). A δ below e^tiny counts as about that.
type hockeyStick struct{ epsilon, tiny float64 }

func (f hockeyStick) powers(blanket) (c [4]float64, ok bool) { return c, false }

func (f hockeyStick) growth(blanket, float64) (logFactor, lambda float64) { return math.Ln2, 0 }

func (f hockeyStick) least(blanket, float64) float64 { return f.tiny }

// logSum takes what is positive, t ≥ e/(2+e) for e = e^ε-1, from sums over all t above, so that
// many ε cost no more than one. Those sums are off by m+8 units in the last place, which are added.
func (f hockeyStick) logSum(s *slice, m int) float64 {
	e := math.Expm1(f.epsilon)
	masses, means := s.above(m)
	i, _ := slices.BinarySearch(s.y[:m], e/((2+e)*s.kappa))
	a, b := (2+e)*means[i], e*masses[i]
	sum := max(0, a-b) + float64(float64(m+8)*0x1p-52*(a+b))
	return math.Log(max(sum/2, math.SmallestNonzeroFloat64))
}

// exactRDP returns ε_RDP of one stream at each order, rounded up.
func exactRDP(b blanket, epsilon float64, alphas []float64) []float64 {
	fs := make([]functional, len(alphas))
	for i, a := range alphas {
		fs[i] = renyi{a}
	}
	out := b.logMeans(fs)
	for i, l := range out {
		a := alphas[i]
		log := num.LogOnePlus(l)
		if (2*a-1)*math.Atanh(b.kappa) > 300 {
			log = l // of the mean itself
		}
		out[i] = min(epsilon, (log+num.Tiny)/(a-1)*(1+num.Margin)+num.Tiny)
	}
	return out
}

// exactDeltas returns δ(ε) of one stream at each ε, rounded up: 0 from the reports' own ε₀ on.
func exactDeltas(b blanket, local, tiny float64, epsilons []float64) []float64 {
	fs := make([]functional, len(epsilons))
	for i, e := range epsilons {
		fs[i] = hockeyStick{e, tiny}
	}
	out := b.logMeans(fs)
	for i, l := range out {
		if out[i] = min(1, math.Exp(l)*(1+num.Margin)); epsilons[i] >= local {
			out[i] = 0
		}
	}
	return out
}

// leading returns ρ₁: the divergence of one stream is about α·ρ₁ at small orders. It is no bound.
func leading(reports int, epsilon float64) float64 {
	e := math.Expm1(epsilon)
	return e * e / ((e + 2) * float64(reports))
}

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
