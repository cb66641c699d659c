package sketch

import "math/bits"

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
