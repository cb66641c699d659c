package solve

import (
	"context"

	"github.com/darrm/darrm/plurality"
)

// pairRows are the rows of δ > 0, a block for each ordered pair of neighbouring histograms:
// with u = p_i - e·p_j in each column, Σ n·u₊ ≤ δ. A block has one dual value for each column.
type pairRows struct {
	e, delta float64
	start    []int32 // block n has the columns start[n] … start[n+1]-1
	i, j     []int32
	count    []float64
	from     []int32              // of each block
	changes  [][]plurality.Change // of each block
	places   []int32              // variable i is in place[places[i]:places[i+1]]:
	place    []int32              // 2·column where it is the first, 2·column+1 where it is the second
}

// newPairRows fails with errTooMany where there are more dual values than most.
func newPairRows(ctx context.Context, s *plurality.System, most int) (*pairRows, error) {
	r := &pairRows{e: s.Factor(), delta: s.Problem().Delta, start: []int32{0}}
	err := s.Pairs(ctx, func(p *plurality.Pair) bool {
		for _, c := range p.Columns {
			r.i, r.j, r.count = append(r.i, int32(c.I)), append(r.j, int32(c.J)),
				append(r.count, float64(c.Classes))
		}
		r.start, r.from = append(r.start, int32(len(r.i))), append(r.from, int32(p.From))
		r.changes = append(r.changes, append([]plurality.Change(nil), p.Changes...))
		return len(r.i) <= most
	})
	if err == nil && len(r.i) > most {
		err = errTooMany
	}
	if err != nil {
		return nil, err
	}
	both := make([]int32, 2*len(r.i))
	for k := range r.i {
		both[2*k], both[2*k+1] = r.i[k], r.j[k]
	}
	r.places, r.place, err = transpose(ctx, s.Variables(), both)
	return r, err
}

func (r *pairRows) blocks() int                { return len(r.from) }
func (r *pairRows) block(n int) (from, to int) { return int(r.start[n]), int(r.start[n+1]) }

func (r *pairRows) variables(n int, visit func(i int32)) {
	for k := r.start[n]; k < r.start[n+1]; k++ {
		visit(r.i[k])
		visit(r.j[k])
	}
}

// steps: σ·Σ_i |G| ≤ share and τ_i·Σ |G|·share ≤ 1 suffice (Pock and Chambolle 2011, Lemma 2).
func (r *pairRows) steps(share []float64) (sigma, load []float64) {
	sigma, load = make([]float64, len(share)), make([]float64, len(r.places)-1)
	for n, s := range share {
		sigma[n] = s / (1 + r.e)
		for k := r.start[n]; k < r.start[n+1]; k++ {
			load[r.i[k]] += s
			load[r.j[k]] += s * r.e
		}
	}
	return sigma, load
}

func (r *pairRows) pull(i int, dual []float64) float64 {
	first, second := 0.0, 0.0
	for _, at := range r.place[r.places[i]:r.places[i+1]] {
		if at&1 == 0 {
			first += dual[at>>1]
		} else {
			second += dual[at>>1]
		}
	}
	return first - r.e*second
}

// advance: with v = dual/σ + u, the nearest point to v with Σ n·u₊ ≤ δ is v - min(θn, v₊), and
// the new dual value is σ times the difference.
func (r *pairRows) advance(n int, sigma float64, dual, xbar, out []float64,
	_ *float64) {
	from, to := r.block(n)
	i, j, count := r.i[from:to], r.j[from:to], r.count[from:to]
	over := -r.delta
	for k := range out {
		out[k] = max(0, dual[k]/sigma+xbar[i[k]]-r.e*xbar[j[k]])
		over += count[k] * out[k]
	}
	if over <= 0 {
		clear(out)
		return
	}
	// Σ n·max(0, v-θn) = δ: raise θ until no column that is counted has fallen to 0.
	theta, active := 0.0, len(out)+1
	for {
		n, sum, den := 0, -r.delta, 0.0
		for k, v := range out {
			if v > theta*count[k] {
				n++
				sum += count[k] * v
				den += count[k] * count[k]
			}
		}
		if n >= active || n == 0 {
			break
		}
		theta, active = sum/den, n
	}
	for k, v := range out {
		out[k] = sigma * min(theta*count[k], v)
	}
}

func (r *pairRows) excess(n int, x []float64) float64 {
	sum := -r.delta
	for k := r.start[n]; k < r.start[n+1]; k++ {
		sum += r.count[k] * max(0, x[r.i[k]]-r.e*x[r.j[k]])
	}
	return sum
}

// price returns δ·Σ max y/n.
func (r *pairRows) price(from, to int, dual []float64) float64 {
	sum := 0.0
	for n := from; n < to; n++ {
		most := 0.0
		for k := r.start[n]; k < r.start[n+1]; k++ {
			most = max(most, dual[k]/r.count[k])
		}
		sum += most
	}
	return r.delta * sum
}

func (r *pairRows) proof(dual []float64, least float64) plurality.Proof {
	var out plurality.Proof
	for n := range r.blocks() {
		values := dual[r.start[n]:r.start[n+1]]
		used := false
		kept := make([]float64, len(values))
		for k, y := range values {
			if y >= least && y > 0 {
				kept[k], used = y, true
			}
		}
		if used {
			out.Pairs = append(out.Pairs, plurality.PairMultiplier{From: int(r.from[n]),
				Changes: r.changes[n], Values: kept})
		}
	}
	return out
}
