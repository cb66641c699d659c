package solve

import (
	"context"
	"slices"

	"github.com/darrm/darrm/plurality"
)

// cliqueRows are the rows of δ = 0, a block for each clique: its variables are in the cone
// {u : max u ≤ e·min u}. A block's dual values, one for each variable, are in the polar cone.
type cliqueRows struct {
	plurality.Cliques
	e      float64
	places []int32 // variable i has the dual values place[places[i]:places[i+1]]
	place  []int32
}

// newCliqueRows fails with errTooMany where there are more dual values than most.
func newCliqueRows(ctx context.Context, s *plurality.System, most int) (*cliqueRows, error) {
	c, all, err := s.CliquesUpTo(ctx, most)
	if err == nil && !all {
		err = errTooMany
	}
	if err != nil {
		return nil, err
	}
	r := &cliqueRows{Cliques: c, e: s.Factor()}
	r.places, r.place, err = transpose(ctx, s.Variables(), c.Variables)
	return r, err
}

// transpose lists for each of n variables where it stands in a list. The error is ctx's.
func transpose(ctx context.Context, n int, list []int32) (places, place []int32, err error) {
	const part = 1 << 20
	places = make([]int32, n+1)
	for some := range slices.Chunk(list, part) {
		if ctx.Err() != nil {
			return nil, nil, ctx.Err()
		}
		for _, i := range some {
			places[i+1]++
		}
	}
	for i := range n {
		places[i+1] += places[i]
	}
	place = make([]int32, len(list))
	next := append([]int32(nil), places...)
	at := int32(0)
	for some := range slices.Chunk(list, part) {
		if ctx.Err() != nil {
			return nil, nil, ctx.Err()
		}
		for _, i := range some {
			place[next[i]] = at
			next[i]++
			at++
		}
	}
	return places, place, nil
}

func (r *cliqueRows) blocks() int                { return r.Len() }
func (r *cliqueRows) block(n int) (from, to int) { return int(r.Start[n]), int(r.Start[n+1]) }

func (r *cliqueRows) variables(n int, visit func(i int32)) {
	for _, i := range r.At(n) {
		visit(i)
	}
}

// steps: a block selects variables, so its matrix has one 1 in each row, and τ_i·Σ σ ≤ 1
// over the blocks of each variable suffices.
func (r *cliqueRows) steps(share []float64) (sigma, load []float64) {
	load = make([]float64, len(r.places)-1)
	for n, s := range share {
		for _, i := range r.At(n) {
			load[i] += s
		}
	}
	return share, load
}

func (r *cliqueRows) pull(i int, dual []float64) float64 {
	sum := 0.0
	for _, at := range r.place[r.places[i]:r.places[i+1]] {
		sum += dual[at]
	}
	return sum
}

func (r *cliqueRows) advance(n int, sigma float64, dual, xbar, out []float64,
	near *float64) {
	for k, i := range r.At(n) {
		out[k] = dual[k] + sigma*xbar[i]
	}
	*near = projectCone(out, r.e, *near)
}

func (r *cliqueRows) excess(n int, x []float64) float64 {
	list := r.At(n)
	low, high := x[list[0]], x[list[0]]
	for _, i := range list[1:] {
		low, high = min(low, x[i]), max(high, x[i])
	}
	return high - r.e*low
}

func (r *cliqueRows) price(int, int, []float64) float64 { return 0 }

// proof writes each block's dual values as multipliers of rows: z = Σ y_{ij}·(e_i - e·e_j) with
// i where z > 0 and j where z < 0, by filling one after the other. Multipliers below least
// are left out.
func (r *cliqueRows) proof(dual []float64, least float64) plurality.Proof {
	var out plurality.Proof
	for n := range r.Len() {
		list, z := r.At(n), dual[r.Start[n]:r.Start[n+1]]
		j, room := 0, 0.0
		if z[0] < 0 {
			room = -z[0] / r.e
		}
		for i, need := range z {
			for need > 0 && j < len(z) {
				if y := min(need, room); y > 0 {
					need -= y
					room -= y
					if y >= least {
						out.Rows = append(out.Rows, plurality.RowMultiplier{I: int(list[i]), J: int(list[j]),
							Value: y})
					}
				}
				if need <= 0 {
					break
				}
				if j++; j < len(z) {
					room = max(0, -z[j]/r.e)
				}
			}
		}
	}
	return out
}
