package sketch

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/darrm/darrm/sketch/fwht"
)

// solveGram returns T(S)⁺ b by a factorisation of K, or of S if that is smaller.
func (s *system) solveGram(ctx context.Context, sum *summer, t linear,
	b []float64) ([]float64, error) {
	a, isK, err := s.gram(ctx)
	if err != nil {
		return nil, err
	}
	right := b
	if isK {
		right = make([]float64, 0, s.config.N*s.config.K)
		for _, y := range s.y {
			right = append(right, y...)
		}
	}
	z, err := apply(a, t, s.config.N, right)
	if err != nil || !isK {
		return z, err
	}
	clear(b)
	k := s.config.K
	err = sum.add(ctx, b, func(i int, out []float64, room buffer) {
		s.g[i].addTransposed(out, z[i*k:(i+1)*k], room.scratch)
	})
	return b, err
}

// gram returns K if nk ≤ d', else S. Their nonzero eigenvalues are the same.
func (s *system) gram(ctx context.Context) (a *mat.SymDense, isK bool, err error) {
	isK = s.config.N*s.config.K <= s.config.padded()
	fast := s.config.Ensemble == SRHT
	switch {
	case isK && fast:
		a, err = s.gramXOR(ctx)
	case isK:
		a, err = s.gramDense(ctx)
	case fast:
		a, err = s.outerXOR(ctx)
	default:
		a, err = s.outer(ctx)
	}
	return a, isK, err
}

// gramXOR is K of SRHT by n(n-1)/2 transforms and look-ups: rows of H multiply to the row
// whose number is the XOR of theirs, so that
//
//	K[(i,a),(l,b)] = w[J_i[a] XOR J_l[b]] / d',   w = H (s_i ∘ s_l).
//
// Entries times d' are whole numbers: K is exact.
func (s *system) gramXOR(ctx context.Context) (*mat.SymDense, error) {
	n, k, d := s.config.N, s.config.K, s.config.padded()
	a := mat.NewSymDense(n*k, nil)
	data, stride := a.RawSymmetric().Data, a.RawSymmetric().Stride // gonum reads the upper triangle
	w := make([]float64, d)
	for i := range n {
		gi := s.g[i].(*srht)
		for r := range k {
			data[(i*k+r)*stride+i*k+r] = 1
		}
		for l := i + 1; l < n; l++ {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			gl := s.g[l].(*srht)
			for j := range w {
				w[j] = 1 / float64(d)
			}
			si, sl := gi.signs, gl.signs
			si.Flip(w)
			sl.Flip(w)
			fwht.Transform(w)
			for r, row := range gi.rows {
				out := data[(i*k+r)*stride+l*k:][:k]
				for b, col := range gl.rows {
					out[b] = w[row^col]
				}
			}
		}
	}
	return a, nil
}

// gramDense is K of any ensemble: each row of G is multiplied by each matrix.
func (s *system) gramDense(ctx context.Context) (*mat.SymDense, error) {
	n, k, d := s.config.N, s.config.K, s.config.padded()
	a := mat.NewSymDense(n*k, nil)
	row, scratch, unit, y := make([]float64, d), make([]float64, d), make([]float64, k),
		make([]float64, k)
	for l := range n {
		for b := range k {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			clear(row)
			unit[b] = 1
			s.g[l].addTransposed(row, unit, scratch)
			unit[b] = 0
			for i := range l + 1 {
				s.g[i].times(y, row, scratch)
				for r, v := range y {
					if i*k+r <= l*k+b {
						a.SetSym(i*k+r, l*k+b, v)
					}
				}
			}
		}
	}
	return a, nil
}

// outerXOR is S of SRHT by n transforms and n·d'²/2 additions: for the same reason as in gramXOR,
//
//	S[j,l] = Σ_i s_i[j] s_i[l] w_i[j XOR l] / d',   w_i = H e_i,
//
// where e_i is 1 at client i's rows and 0 elsewhere. It is exact too.
func (s *system) outerXOR(ctx context.Context) (*mat.SymDense, error) {
	d := s.config.padded()
	a := mat.NewSymDense(d, nil)
	data, stride := a.RawSymmetric().Data, a.RawSymmetric().Stride // gonum reads the upper triangle
	w, sign := make([]float64, d), make([]float64, d)
	for _, g := range s.g {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		g := g.(*srht)
		clear(w)
		for _, r := range g.rows {
			w[r] = 1 / float64(d)
		}
		fwht.Transform(w)
		for j := range sign {
			sign[j] = 1
		}
		signs := g.signs
		signs.Flip(sign)
		for j, sj := range sign {
			out := data[j*stride:][:d]
			for l := j; l < d; l++ {
				out[l] += sj * sign[l] * w[j^l]
			}
		}
	}
	return a, nil
}

// outer is S of any ensemble, column by column.
func (s *system) outer(ctx context.Context) (*mat.SymDense, error) {
	d := s.config.padded()
	a := mat.NewSymDense(d, nil)
	unit, column, scratch, y := make([]float64, d), make([]float64, d), make([]float64, d),
		make([]float64, s.config.K)
	for j := range d {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		unit[j] = 1
		clear(column)
		for _, g := range s.g {
			g.times(y, unit, scratch)
			g.addTransposed(column, y, scratch)
		}
		unit[j] = 0
		for i, v := range column[:j+1] {
			a.SetSym(i, j, v)
		}
	}
	return a, nil
}

// smallest is the relative size below which an eigenvalue is 0. True ones come near 1/d² at
// nk = d, so that it must be tiny.
const smallest = 1e-12

// apply returns f(A) v, where f(λ) = 1/T(λ) for λ > 0 and f(0) = 0. A is overwritten. Linear T is
// solved by Cholesky's factorisation, unless a pivot shows that ρ = 1 meets a singular A; on
// the null space v has no part that counts, so that f(0) = 1/(1-ρ) does no harm for ρ < 1.
func apply(a *mat.SymDense, t linear, n int, v []float64) ([]float64, error) {
	size := len(v)
	z := make([]float64, size)
	if t.custom == nil {
		m := a
		if t.rho != 1 {
			m = transformed(a, t.rho)
		}
		var c mat.Cholesky
		if c.Factorize(m) && pivots(&c, size) >= 1e-10 {
			if err := c.SolveVecTo(mat.NewVecDense(size, z), mat.NewVecDense(size, v)); err != nil {
				if _, ok := err.(mat.Condition); !ok { // a large condition number is expected near nk = d
					return nil, err
				}
			}
			return z, nil
		}
	}
	lambda, vectors, err := eigen(a, true)
	if err != nil {
		return nil, err
	}
	var u mat.VecDense
	u.MulVec(vectors.T(), mat.NewVecDense(size, v))
	cut := smallest * max(float64(n), lambda[size-1])
	for i, l := range lambda {
		if l <= cut {
			u.SetVec(i, 0)
			continue
		}
		tl, err := t.at(l)
		if err != nil {
			return nil, err
		}
		u.SetVec(i, u.AtVec(i)/tl)
	}
	mat.NewVecDense(size, z).MulVec(vectors, &u)
	return z, nil
}

// transformed is (1-ρ) I + ρ A, a new matrix.
func transformed(a *mat.SymDense, rho float64) *mat.SymDense {
	m := mat.NewSymDense(a.SymmetricDim(), nil)
	m.ScaleSym(rho, a)
	for i := range a.SymmetricDim() {
		m.SetSym(i, i, m.At(i, i)+1-rho)
	}
	return m
}

func pivots(c *mat.Cholesky, size int) float64 {
	var l mat.TriDense
	c.LTo(&l)
	least := math.Inf(1)
	for i := range size {
		least = min(least, l.At(i, i)*l.At(i, i))
	}
	return least
}

// eigen returns the eigenvalues, ascending, and on request the eigenvectors of A.
func eigen(a *mat.SymDense, vectors bool) ([]float64, *mat.Dense, error) {
	var e mat.EigenSym
	if !e.Factorize(a, vectors) {
		return nil, nil, fmt.Errorf("the eigenvalues of a matrix of order %d were not found",
			a.SymmetricDim())
	}
	var v mat.Dense
	if vectors {
		e.VectorsTo(&v)
	}
	return e.Values(nil), &v, nil
}
