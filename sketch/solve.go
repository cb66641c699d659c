package sketch

import (
	"context"
	"fmt"
	"math"

	"github.com/darrm/darrm/internal/check"
)

const (
	// smallGram is the order up to which a system of order nk is solved by itself: that is
	// faster than conjugate gradients.
	smallGram = 128
	// maxGram is the largest order of a matrix that is ever made: 128 MiB, and a minute of
	// eigendecomposition.
	maxGram = 4096
	// hardCondition is the condition number at which conjugate gradients take hundreds of steps.
	hardCondition = 1e4
)

// solve returns T(S)⁺ b. sum may be nil for row selection. The way depends on n, k, d, ρ and
// nothing else:
//
//	T = 1                             b itself
//	row selection                     S is diagonal
//	nk ≤ 128, custom T, badly conditioned, or no fast transform
//	                                  Gram: K = G Gᵀ (or S where nk > d), order ≤ 4096
//	otherwise                         conjugate gradients, no matrix
//
// Gram uses T(S)⁺ Gᵀ y = Gᵀ f(K) y with f = 1/T for λ > 0 and f(0) = 0.
func (s *system) solve(ctx context.Context, sum *summer, t linear, b []float64) ([]float64, error) {
	switch {
	case t.custom == nil && t.rho == 0:
		return b, nil
	case s.config.Ensemble == RowSelect:
		return s.diagonal(t, b)
	}
	useGram, err := s.config.useGram(t)
	if err != nil {
		return nil, err
	}
	if useGram {
		return s.solveGram(ctx, sum, t, b)
	}
	return s.conjugateGradients(ctx, sum, t.rho, b)
}

func (c Config) useGram(t linear) (bool, error) {
	order := min(c.N*c.K, c.padded())
	hard := t.custom != nil || c.Ensemble != SRHT ||
		condition(c.N, c.K, c.padded(), t.rho) > hardCondition
	if order > maxGram && t.custom != nil {
		return false, check.Wantf("min(nk, d)", order, "at most %d for a custom T", maxGram)
	}
	return c.N*c.K <= smallGram || hard && order <= maxGram, nil
}

// edges returns the limits, for large d, of the nonzero eigenvalues of S for SRHT:
// (√((n-1)t) ± √(1-t))² with t = k/d.
func edges(n, k, d int) (low, high float64) {
	t := float64(k) / float64(d)
	a, b := math.Sqrt(float64(n-1)*t), math.Sqrt(1-t)
	return (a - b) * (a - b), (a + b) * (a + b)
}

// condition is that of T on the nonzero eigenvalues.
func condition(n, k, d int, rho float64) float64 {
	low, high := edges(n, k, d)
	a, b := 1-rho+rho*low, 1-rho+rho*high
	return max(a, b) / max(min(a, b), 1e-300)
}

// diagonal is the decoder of Rand-k-Spatial: S counts how often a coordinate was sent. A
// coordinate that nobody sent stays 0, whatever T(0) is.
func (s *system) diagonal(t linear, b []float64) ([]float64, error) {
	count := make([]int, len(b))
	for _, g := range s.g {
		for _, j := range g.(selection) {
			count[j]++
		}
	}
	weight := make([]float64, len(s.g)+1)
	for m := 1; m <= len(s.g); m++ {
		v, err := t.at(float64(m))
		if err != nil {
			return nil, err
		}
		weight[m] = 1 / v
	}
	for j, m := range count {
		b[j] *= weight[m]
	}
	return b, nil
}

const (
	tolerance = 1e-10 // of the residual, relative to b
	maxSteps  = 10000
)

// conjugateGradients solves ((1-ρ) I + ρ S) z = b. b lies in the range of S, where this is
// T(S), and the steps stay in it, so that ρ = 1 needs no pseudo-inverse. A step takes 2n
// transforms.
func (s *system) conjugateGradients(ctx context.Context, sum *summer, rho float64,
	b []float64) ([]float64, error) {
	z, r, p, q := make([]float64, len(b)), b, make([]float64, len(b)), make([]float64, len(b))
	copy(p, b)
	rr := dot(r, r)
	goal := tolerance * tolerance * rr
	for range maxSteps {
		if rr <= goal { // at once for b = 0
			return z, nil
		}
		s.steps++
		clear(q)
		if err := sum.add(ctx, q, func(i int, out []float64, room buffer) {
			s.g[i].times(room.y, p, room.scratch)
			s.g[i].addTransposed(out, room.y, room.scratch)
		}); err != nil {
			return nil, err
		}
		for j, v := range p {
			q[j] = (1-rho)*v + rho*q[j]
		}
		step := rr / dot(p, q)
		for j := range z {
			z[j] += step * p[j]
			r[j] -= step * q[j]
		}
		old := rr
		rr = dot(r, r)
		for j, v := range r {
			p[j] = v + rr/old*p[j]
		}
		if math.IsNaN(rr) {
			break
		}
	}
	return nil, fmt.Errorf(
		"conjugate gradients: residual %.1e of b after %d steps, where 1e-10 is needed; use a rho "+
			"below 1, or k or n further from nk = d", math.Sqrt(rr*tolerance*tolerance/goal), maxSteps)
}
