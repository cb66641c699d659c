// Package rates has the bounds on E‖∇F‖² that are published for private federated methods, without
// their constants and logarithms. They compare methods as parameters grow; none is a promise.
//
// Values of its types are safe for concurrent use while nobody writes to their fields, but for
// those whose comments say otherwise.
//
// # Notation
//
//	M, n, d, R, K, b     Setting   silos, records each, dimension, rounds, local steps, batch
//	D_F, L, G, τ         Setting   initial gap, smoothness, gradient norm, heterogeneity
//	W = M·n·ε            w
//	ℓ = W/√(RdMKb)       Ell
//	A, A'                a, small  (d·D_F·L·G)^(2/3)/W^(4/3) and d·G²/W²
//	β_a, β_b             BetaA, BetaB
//
// Source: Efficient private federated non-convex optimization with shuffled model, Table 1 and its
// proofs.
package rates

import (
	"cmp"
	"math"

	"github.com/darrm/darrm/internal/check"
)

// Setting is a problem and a run.
type Setting struct {
	Silos, Records, Dim  int
	Rounds, Steps, Batch int
	Gap, Smoothness      float64
	Gradient             float64
	Heterogeneity        float64
	Epsilon              float64 // central
	// AsPrinted takes the sampling term (D_F·L·G)^(2/3)/(MKb)^(2/3) as the source prints it. The
	// source's own step size and weight give (MKbR)^(2/3), which is also the non-private rate.
	AsPrinted bool
}

// Rate is one method's bound and what it asks for.
type Rate struct {
	Method        string
	Bound         float64
	TrustedServer bool
	FullGradients bool // each round computes all gradients, which the bound does not count
}

// Check returns an error for the first parameter that is not valid.
func (s Setting) Check() error {
	return cmp.Or(
		check.Whole("silos", s.Silos, 1, 0), check.Whole("records of a silo", s.Records, 1, 0),
		check.Whole("dimension", s.Dim, 1, 0),
		check.Whole("rounds", s.Rounds, 1, 0), check.Whole("local steps", s.Steps, 1, 0),
		check.Whole("batch", s.Batch, 1, 0),
		check.Positive("gap", s.Gap), check.Positive("smoothness", s.Smoothness),
		check.Positive("gradient norm", s.Gradient),
		check.Epsilon("heterogeneity", s.Heterogeneity), check.Positive("epsilon", s.Epsilon),
	)
}

func (s Setting) w() float64 { return float64(s.Silos) * float64(s.Records) * s.Epsilon }

// samples is MKb.
func (s Setting) samples() float64 {
	return float64(s.Silos) * float64(s.Steps) * float64(s.Batch)
}

// Ell returns ℓ; below 1 or so the terms of batches do not matter.
func (s Setting) Ell() float64 {
	return s.w() / math.Sqrt(float64(s.Rounds)*float64(s.Dim)*s.samples())
}

// BetaA returns the weight of the estimator that the privacy noise asks for.
func (s Setting) BetaA() float64 {
	return cube2(s.w()*s.Gap*s.Smoothness) / (math.Cbrt(float64(s.Dim)) * float64(s.Rounds) *
		math.Pow(s.Gradient, 4./3))
}

// BetaB returns the weight that the batches' noise asks for.
func (s Setting) BetaB() float64 {
	return math.Cbrt(s.samples()) * cube2(s.Gap*s.Smoothness) /
		(cube2(float64(s.Rounds)) * math.Pow(s.Gradient, 4./3))
}

// cube2 is x^(2/3).
func cube2(x float64) float64 { return math.Pow(x, 2./3) }

// Rates returns the bounds of all methods.
func (s Setting) Rates() ([]Rate, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	d, r, k, b := float64(s.Dim), float64(s.Rounds), float64(s.Steps), float64(s.Batch)
	w, gap := s.w(), s.Gap*s.Smoothness
	a := cube2(d*gap*s.Gradient) / math.Pow(w, 4./3)
	small := d * s.Gradient * s.Gradient / (w * w)
	ell := s.Ell()
	batches := (1 + ell + math.Cbrt(ell)) * a
	sampling := cube2(gap*s.Gradient)/cube2(s.samples()*r) + s.Gradient*s.Gradient/(s.samples()*r)
	if s.AsPrinted {
		sampling = cube2(gap*s.Gradient)/cube2(s.samples()) + s.Gradient*s.Gradient/(s.samples()*r)
	}
	steps := s.Gap*s.Heterogeneity/r + gap/(r*k) + gap/(r*math.Sqrt(k*b))
	local := gap*math.Sqrt(d)/(r*math.Sqrt(k*s.Epsilon)*b) +
		gap*math.Sqrt(d)/(math.Sqrt(r*float64(s.Silos))*float64(s.Records)*s.Epsilon)
	return []Rate{
		{"DIFF2-GD", gap/r + gap*math.Sqrt(d)/(w*math.Sqrt(r)) + a, true, true},
		{"MB-PSGM-FG", gap/r + a + small, false, true},
		{"MB-PSGM", gap/r + sampling + batches + small, false, false},
		{"DIFF2-BVR-LSGD", steps + local + a, true, true},
		{"CE-PSGM-FG", steps + local + a + small, false, true},
		{"CE-PSGM", steps + sampling + local + batches + small, false, false},
	}, nil
}

// Spider returns the bound of SDP FedProx-SPIDER: that of MB-PSGM-FG with the terms of privacy
// times ln(R/δ), the price of advanced composition. It trusts no server and takes full gradients.
func (s Setting) Spider(delta float64) (Rate, error) {
	if err := check.Within("delta", delta); err != nil {
		return Rate{}, err
	}
	rates, err := s.Rates()
	if err != nil {
		return Rate{}, err
	}
	for _, r := range rates {
		if r.Method == "MB-PSGM-FG" {
			gap := s.Gap * s.Smoothness / float64(s.Rounds)
			return Rate{"SDP FedProx-SPIDER", gap + (r.Bound-gap)*math.Log(float64(s.Rounds)/delta), false,
				true}, nil
		}
	}
	panic("rates: no MB-PSGM-FG")
}

// ManyMessages returns the size of the published protocol that sums vectors by one-bit messages
// through a shuffler, for n users: the levels g of a coordinate and its noise bits b_n,
//
//	g = ⌈max{2√n, d, 4}⌉,  b_n = 24·10⁴·g²·ln²(4(d²+1)/δ)/(ε²n)
//
// A user sends d·(2g+b_n) bits. The constant in b_n is as published. It could not be confirmed, and
// nothing else here depends on it.
//
// Source: Cheu, Joseph, Mao and Peng, Shuffle Private Stochastic Convex Optimization (2022).
func ManyMessages(users, dim int, epsilon, delta float64) (levels, bits float64, err error) {
	if err := cmp.Or(
		check.Whole("users", users, 1, 0), check.Whole("dimension", dim, 1, 0),
		check.Positive("epsilon", epsilon), check.Within("delta", delta),
	); err != nil {
		return 0, 0, err
	}
	n, d := float64(users), float64(dim)
	levels = math.Ceil(max(2*math.Sqrt(n), d, 4))
	log := math.Log(4 * (d*d + 1) / delta)
	return levels, math.Ceil(24e4 * levels * levels * log * log / (epsilon * epsilon * n)), nil
}
