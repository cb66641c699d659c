package sketch

import (
	"context"
	"math"
	"runtime"

	"golang.org/x/sync/errgroup"
	"gonum.org/v1/gonum/mat"

	"github.com/darrm/darrm/sketch/stream"
)

// draws is the number of draws: as asked for, or 2000, where the standard error of β is about
// 0.01/d. Large matrices take fewer, so that the work stays near a second; their spectrum
// varies less in proportion, so that β is as good.
func (c Config) draws(t linear) int {
	if c.Beta.Draws > 0 {
		return c.Beta.Draws
	}
	nk, d := float64(c.N)*float64(c.K), float64(c.padded())
	work := min(nk, d) * min(nk, d) * min(nk, d)
	if c.Ensemble == SRHT { // and what its matrix takes to make
		if nk > d {
			work += float64(c.N) * d * d
		} else {
			work += float64(c.N) * float64(c.N) * d * math.Log2(d) / 2
		}
	}
	if t.custom == nil && t.rho == 1 {
		work = 4 * nk * d * min(nk, d) // a rank, in whole numbers
	}
	return int(min(2000, max(50, 2e9/work)))
}

// moments are sums over the eigenvalues λ > 0 of one draw.
type moments struct {
	one  float64 // Σ λ/T
	none float64 // Σ λ/T² for orthonormal rows; for others what own returns
	full float64 // Σ λ²/T²
}

// monteCarlo is the law from independent draws of all clients' matrices:
//
//	β = nd'/E Σ λ/T,   MSE at R = 0 and at R = n-1: (β²/(nd')) E none - 1, (β²/(nd')) E full - n.
func (c Config) monteCarlo(ctx context.Context, t linear, errors bool) (law, error) {
	each := make([]moments, c.draws(t))
	group, ctx := errgroup.WithContext(ctx)
	workers := c.Workers
	if workers == 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	group.SetLimit(workers)
	for draw := range each {
		group.Go(func() (err error) {
			if err := ctx.Err(); err != nil {
				return err
			}
			each[draw], err = c.sample(uint64(draw)).moments(ctx, t, errors)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return law{}, err
	}
	var sum moments
	for _, m := range each { // in their order, so that the sum does not depend on workers
		sum.one += m.one
		sum.none += m.none
		sum.full += m.full
	}
	draws, nd := float64(len(each)), float64(c.N)*float64(c.padded())
	l := law{beta: nd * draws / sum.one}
	if errors {
		scale := l.beta * l.beta / (nd * draws)
		l.none, l.full = scale*sum.none-1, scale*sum.full-float64(c.N)
	}
	return l, nil
}

// sample draws all clients' matrices.
func (c Config) sample(draw uint64) *system {
	s := &system{config: c}
	for i := range uint64(c.N) {
		s.g = append(s.g, c.draw(stream.New(c.Root, stream.MonteCarlo, draw, 2*i),
			stream.New(c.Root, stream.MonteCarlo, draw, 2*i+1)))
	}
	return s
}

// moments takes the cheapest way: for β at ρ = 1 an exact rank, for other linear T an inverse,
// 1/T = tr((1-ρ) I + ρA)⁻¹ per eigenvalue, else eigenvalues.
func (s *system) moments(ctx context.Context, t linear, errors bool) (moments, error) {
	fast := t.custom == nil && s.config.Ensemble == SRHT
	if fast && t.rho == 1 && !errors {
		return moments{one: float64(s.rank())}, nil
	}
	a, isK, err := s.gram(ctx)
	if err != nil {
		return moments{}, err
	}
	if fast && math.Abs(t.rho) > 1e-4 && t.rho < 1 { // below, the inverse loses digits to cancellation
		if m, ok := byInverse(a, t.rho); ok {
			return m, nil
		}
	}
	lambda, vectors, err := eigen(a, errors && !s.config.Ensemble.orthonormal())
	if err != nil {
		return moments{}, err
	}
	size := len(lambda)
	cut := smallest * max(float64(s.config.N), lambda[size-1])
	var m moments
	weight := make([]float64, size) // 1/T
	for i, l := range lambda {
		if l <= cut {
			continue
		}
		v, err := t.at(l)
		if err != nil {
			return moments{}, err
		}
		weight[i] = 1 / v
		m.one += l / v
		m.none += l / (v * v)
		m.full += l * l / (v * v)
	}
	if fast && t.rho == 1 {
		rank := float64(s.rank()) // eigenvalues near 0 were perhaps cut or perhaps not
		m.one, m.full = rank, rank
	}
	if errors && !s.config.Ensemble.orthonormal() {
		m.none = s.own(a, isK, lambda, vectors, weight)
	}
	return m, nil
}

// byInverse works for T = 1-ρ + ρλ, ρ ≠ 0: with B = T(A)⁻¹, λ/T = (1 - (1-ρ)/T)/ρ. A zero
// eigenvalue contributes 0 by itself.
func byInverse(a *mat.SymDense, rho float64) (moments, bool) {
	var c mat.Cholesky
	if !c.Factorize(transformed(a, rho)) {
		return moments{}, false
	}
	var b mat.SymDense
	if err := c.InverseTo(&b); err != nil {
		return moments{}, false
	}
	size := float64(a.SymmetricDim())
	first, second := mat.Trace(&b), math.Pow(mat.Norm(&b, 2), 2) // Frobenius: Σ 1/T²
	rest := 1 - rho
	return moments{
		one:  (size - rest*first) / rho,
		none: (first - rest*second) / rho,
		full: (size - 2*rest*first + rest*rest*second) / (rho * rho),
	}, true
}

// own is Σ_i ‖f(S) G_iᵀ G_i‖² (Frobenius), f = 1/T: each client's part of the error. Where K is
// known it is Σ_i tr(K_ii [K f(K)²]_ii). For orthonormal rows it would be Σ λ/T².
func (s *system) own(a *mat.SymDense, isK bool, lambda []float64, vectors *mat.Dense,
	weight []float64) float64 {
	size, k := len(lambda), s.config.K
	var m mat.Dense
	scaled := mat.DenseCopyOf(vectors)
	if isK {
		for i := range size {
			for j := range size {
				scaled.Set(i, j, vectors.At(i, j)*lambda[j]*weight[j]*weight[j])
			}
		}
		m.Mul(scaled, vectors.T())
		sum := 0.0
		for i := range s.config.N {
			for r := range k {
				for q := range k {
					sum += a.At(i*k+r, i*k+q) * m.At(i*k+q, i*k+r)
				}
			}
		}
		return sum
	}
	for i := range size {
		for j := range size {
			scaled.Set(i, j, vectors.At(i, j)*weight[j])
		}
	}
	m.Mul(scaled, vectors.T()) // f(S), whose rows go through G_iᵀ G_i
	sum, y, out := 0.0, make([]float64, k), make([]float64, size)
	for i := range size {
		for _, g := range s.g {
			clear(out)
			g.times(y, m.RawRowView(i), out)
			clear(out)
			g.addTransposed(out, y, make([]float64, size))
			sum += dot(out, out)
		}
	}
	return sum
}
