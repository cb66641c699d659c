package solve

import (
	"context"
	"math/big"

	"github.com/darrm/darrm/constraints"
	"github.com/darrm/darrm/gamma"
	"github.com/darrm/darrm/lp"
)

// exhaustiveCells bounds rows × variables of an exhaustive solve. A cell costs
// about 40 bytes (the solver keeps rows and columns), so this is about 1.2 GiB.
const exhaustiveCells = 30_000_000

// batch is the number of rows that are handed to the solver at once.
const batch = 4096

// exhaustive solves with every row of the constraint set.
func (pr *program) exhaustive(ctx context.Context) ([]float64, gamma.Proof, error) {
	limit := int64(exhaustiveCells / pr.system.Variables())
	if count := pr.system.Problem().Count(); count.Cmp(big.NewInt(limit)) > 0 {
		return nil, gamma.Proof{}, &TooManyRowsError{Rows: count, Limit: limit}
	}
	var rows []lp.Row
	var multisets []constraints.Multiset
	flush := func() error {
		if err := pr.solver.AddRows(rows); err != nil {
			return err
		}
		for _, m := range multisets {
			pr.rows = append(pr.rows, row{place: place{Multiset: m}})
		}
		rows, multisets = rows[:0], multisets[:0]
		return ctx.Err()
	}
	for m, r := range pr.system.Rows() {
		rows = append(rows, pr.row(r))
		multisets = append(multisets, m)
		if len(rows) == batch {
			if err := flush(); err != nil {
				return nil, gamma.Proof{}, err
			}
		}
	}
	if err := flush(); err != nil {
		return nil, gamma.Proof{}, err
	}
	free, _, err := pr.solve(ctx)
	if err != nil {
		return nil, gamma.Proof{}, err
	}
	pr.report(0)
	return free, pr.lastProof, nil
}
