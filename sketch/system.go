package sketch

import (
	"context"
	"math/bits"

	"github.com/darrm/darrm/internal/check"
)

// system is the decoding problem of one round: n clients' matrices and numbers.
type system struct {
	codec  *Codec
	config Config // with N the clients that answered
	g      []matrix
	y      [][]float64
	steps  int // of conjugate gradients, 2n transforms each
}

// mean returns the estimate, the first d coordinates of (β/n) T(S)⁺ b with b = Σ G_iᵀ y_i.
func (s *system) mean(ctx context.Context) ([]float64, error) {
	n := len(s.g)
	b := make([]float64, s.config.padded())
	var sum *summer
	if s.config.Ensemble == RowSelect { // nk additions in all; a worker's vectors would cost more
		for i, g := range s.g {
			g.addTransposed(b, s.y[i], nil)
		}
	} else {
		sum = newSummer(s.config.Workers, n, s.config.K, s.config.padded())
		if err := sum.add(ctx, b, func(i int, out []float64, room buffer) {
			s.g[i].addTransposed(out, s.y[i], room.scratch)
		}); err != nil {
			return nil, err
		}
	}
	t := s.config.T.of(n, s.plugIn(b))
	z, err := s.solve(ctx, sum, t, b)
	if err != nil {
		return nil, err
	}
	l, err := s.codec.law(ctx, n, t, false)
	if err != nil {
		return nil, err
	}
	z = z[:s.config.D:s.config.D]
	for j := range z {
		z[j] *= l.beta / float64(n)
	}
	return z, nil
}

// plugIn estimates R from the messages. With E GᵀG = e·I it is
// (‖b‖² - Σ ‖G_iᵀ y_i‖²) / (e Σ ‖y_i‖²): the numerator has mean e² Σ_{i≠l} ⟨x_i,x_l⟩, the
// denominator e² Q. Orthonormal rows keep lengths, so that ‖G_iᵀ y_i‖ = ‖y_i‖.
func (s *system) plugIn(b []float64) float64 {
	if !s.config.T.PlugIn {
		return 0
	}
	own, energy := 0.0, 0.0
	out, scratch := make([]float64, len(b)), make([]float64, len(b))
	for i, y := range s.y {
		e := dot(y, y)
		energy += e
		if !s.config.Ensemble.orthonormal() {
			clear(out)
			s.g[i].addTransposed(out, y, scratch)
			e = dot(out, out)
		}
		own += e
	}
	if energy == 0 {
		return 0
	}
	return (dot(b, b) - own) / (energy * s.config.meanSquare())
}

// meanSquare is e in E GᵀG = e·I.
func (c Config) meanSquare() float64 {
	if c.Ensemble == CountSketch {
		return 1
	}
	return float64(c.K) / float64(c.padded())
}

// Rank returns the rank of S in a round of all clients 0 to N-1: how many numbers of the nk that
// they send tell the server something new. It is exact, and only for SRHT. It takes O((nk)²d).
func Rank(c Config, round uint64) (int, error) {
	if err := c.check(); err != nil {
		return 0, err
	}
	if c.Ensemble != SRHT {
		return 0, check.Want("ensemble", c.Ensemble, SRHT.String())
	}
	s := &system{config: c}
	for client := range uint64(c.N) {
		s.g = append(s.g, c.matrix(round, client))
	}
	return s.rank(), nil
}

// rank returns the rank of all rows E_i H D_i of SRHT, counted modulo the prime 2³¹-1 on whole
// numbers: small eigenvalues of K near nk = d cannot be told from 0 by floating point. (A rank
// modulo a prime is never above the true one, and below it with negligible probability.)
func (s *system) rank() int {
	d := s.config.padded()
	var rows [][]uint64
	for _, g := range s.g {
		g := g.(*srht)
		sign := make([]float64, d)
		for j := range sign {
			sign[j] = 1
		}
		signs := g.signs
		signs.Flip(sign)
		for _, r := range g.rows {
			row := make([]uint64, d)
			for j := range row {
				row[j] = 1
				if (bits.OnesCount(uint(r&j))&1 == 1) != (sign[j] < 0) {
					row[j] = prime - 1
				}
			}
			rows = append(rows, row)
		}
	}
	rank := 0
	for col := 0; col < d && rank < len(rows); col++ {
		pivot := rank
		for pivot < len(rows) && rows[pivot][col] == 0 {
			pivot++
		}
		if pivot == len(rows) {
			continue
		}
		rows[rank], rows[pivot] = rows[pivot], rows[rank]
		top := rows[rank]
		scale := inverse(top[col])
		for _, row := range rows[rank+1:] {
			if row[col] == 0 {
				continue
			}
			f := prime - reduce(row[col]*scale)
			for j := col; j < d; j++ {
				row[j] = reduce(row[j] + f*top[j])
			}
		}
		rank++
	}
	return rank
}

const prime = 1<<31 - 1

// reduce returns x modulo the prime for x ≤ 2⁶² + 2³².
func reduce(x uint64) uint64 {
	x = x&prime + x>>31
	x = x&prime + x>>31
	if x >= prime {
		x -= prime
	}
	return x
}

// inverse returns 1/x modulo the prime, x^(prime-2).
func inverse(x uint64) uint64 {
	y := uint64(1)
	for e := prime - 2; e > 0; e >>= 1 {
		if e&1 == 1 {
			y = reduce(y * x)
		}
		x = reduce(x * x)
	}
	return y
}
