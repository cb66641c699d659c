//go:build cgo && highs

package lp

import (
	"context"
	"errors"
	"time"
)

func solveSparse(ctx context.Context, p Sparse, a Algorithm,
	tolerance float64) (Approximate, error) {
	if err := contextError(ctx); err != nil {
		return Approximate{}, err
	}
	raw, err := newRawModel()
	if err != nil {
		return Approximate{}, err
	}
	defer raw.Close()
	err = errors.Join(
		raw.Set("output_flag", false),
		raw.Set("small_matrix_value", dropBelow),
		raw.Set("primal_feasibility_tolerance", tolerance),
		raw.Set("dual_feasibility_tolerance", tolerance),
		raw.Set("ipm_optimality_tolerance", tolerance),
		raw.Set("threads", 1),
		raw.Set("solver", string(a)),
		// A vertex is not needed, and the way there takes longer than all the rest.
		raw.Set("run_crossover", "off"),
	)
	if a == FirstOrder {
		err = errors.Join(err, raw.Set("pdlp_d_gap_tol", tolerance))
	}
	if deadline, ok := ctx.Deadline(); ok {
		err = errors.Join(err, raw.Set("time_limit",
			max(0.01, time.Until(deadline).Seconds())))
	}
	err = errors.Join(err,
		raw.AddColumns(p.C, p.Lower, p.Upper),
		raw.AddCompSparseRows(p.RowLower, p.Start, p.Index, p.Value, p.RowUpper))
	if err != nil {
		return Approximate{}, err
	}
	done := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		raw.Interrupt(true)
		close(done)
	})
	sol, status, err := raw.SolveAnyhow()
	if !stop() {
		<-done // or it would write to an instance that Close has freed
	}
	if err != nil {
		if ended := contextError(ctx); ended != nil {
			err = ended
		}
		return Approximate{Status: status}, err
	}
	return Approximate{Status: status, X: sol.ColumnPrimal, RowDual: sol.RowDual}, nil
}
