package sketch

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/darrm/darrm/internal/check"
)

// Grid is simulations: all combinations of its lists, for vectors of AlikeVectors, or with
// Vectors all of K and Estimators for these.
type Grid struct {
	N, K, D    []int
	Rho        []float64
	Estimators []Estimator
	Bits       int // of a number: 64, or as Estimator.New has it
	Trials     int
	Root       uint64
	Beta       BetaMode
	Vectors    [][]float64 // one per client, in place of N, D and Rho
}

// GridRow is one simulation. Errors are sums over coordinates, for vectors of length 1 or those
// given.
type GridRow struct {
	N         int       `json:"n"`
	K         int       `json:"k"`
	D         int       `json:"d"`
	Rho       float64   `json:"rho"` // ρ* of the vectors
	Estimator Estimator `json:"estimator"`
	Bits      float64   `json:"bits_per_client"` // without the header
	Measured
	Predicted float64 `json:"predicted"` // +Inf for Max near nk = d
}

// maxGrid bounds the combinations of a grid.
const maxGrid = 10_000

// work is one combination, ready to run.
type work struct {
	row      GridRow
	vectors  func(context.Context) ([][]float64, error)
	compared Compared
}

// plan checks every combination before any is worked on.
func (g Grid) plan() ([]work, error) {
	if err := checkTrials(g.Trials); err != nil {
		return nil, err
	}
	if len(g.Vectors) > 0 {
		r, _ := Correlation(g.Vectors)
		g.N, g.D, g.Rho = []int{len(g.Vectors)}, []int{len(g.Vectors[0])}, []float64{0}
		if n := len(g.Vectors); n > 1 {
			g.Rho[0] = r / float64(n-1)
		}
		for _, x := range g.Vectors {
			if _, err := checkVector(x, len(g.Vectors[0])); err != nil {
				return nil, err
			}
		}
	}
	if err := check.Some("n, k, d, rho and estimators", len(g.N), len(g.K), len(g.D), len(g.Rho),
		len(g.Estimators)); err != nil {
		return nil, err
	}
	var out []work
	for _, d := range g.D {
		for _, n := range g.N {
			for _, rho := range g.Rho {
				vectors := func(context.Context) ([][]float64, error) { return g.Vectors, nil }
				if len(g.Vectors) == 0 {
					if err := checkAlike(n, d, rho); err != nil {
						return nil, err
					}
					vectors = func(ctx context.Context) ([][]float64, error) {
						return AlikeVectors(ctx, n, d, rho, g.Root)
					}
				}
				for _, k := range g.K {
					for _, e := range g.Estimators {
						if len(out) == maxGrid {
							return nil, check.Wantf("grid", "more combinations", "at most %d combinations",
								maxGrid)
						}
						c, err := e.New(Config{N: n, K: k, D: d, Root: g.Root, Beta: g.Beta, Workers: 1}, rho, g.Bits)
						if err != nil {
							return nil, fmt.Errorf("%s, n = %d, k = %d, d = %d: %w", e, n, k, d, err)
						}
						out = append(out, work{GridRow{N: n, K: k, D: d, Rho: rho, Estimator: e, Bits: c.Bits},
							vectors, c})
					}
				}
			}
		}
	}
	return out, nil
}

// Simulate runs the grid. progress, if it is not nil, is called from any goroutine after each
// trial. Nothing is worked on if a combination is not valid.
func (g Grid) Simulate(ctx context.Context, progress func(done, total int)) ([]GridRow, error) {
	all, err := g.plan()
	if err != nil {
		return nil, err
	}
	var done atomic.Int64
	rows := make([]GridRow, len(all))
	var xs [][]float64
	for i, w := range all {
		if i == 0 || w.row.N != all[i-1].row.N || w.row.D != all[i-1].row.D ||
			w.row.Rho != all[i-1].row.Rho {
			if xs, err = w.vectors(ctx); err != nil {
				return nil, err
			}
		}
		rows[i] = w.row
		if rows[i].Predicted, err = w.compared.Predict(ctx, xs); err != nil {
			return nil, err
		}
		rows[i].Measured, err = Measure(ctx, w.compared, xs, g.Trials, func() {
			if n := done.Add(1); progress != nil {
				progress(int(n), len(all)*g.Trials)
			}
		})
		if err != nil {
			return nil, fmt.Errorf("%s, n = %d, k = %d, d = %d: %w", w.row.Estimator, w.row.N, w.row.K,
				w.row.D, err)
		}
	}
	return rows, nil
}
