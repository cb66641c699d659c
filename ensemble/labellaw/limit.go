package labellaw

import (
	"context"
	"errors"
	"math"
	"slices"

	"github.com/darrm/darrm/accountant"
)

// Limit returns what the worth of Q labels of two classes tends to as Q grows, where one table is made
// and priced for all Q of them within budget, and one record changes at most affected votes:
//
//	(E|lead|·μ/(2·affected))²,   lead the votes of one class minus those of the other, over the prior
//
// It is no bound: with few teachers fewer labels can be worth more. The error names the ε or δ of
// the budget that has no μ, or is ctx.Err(). Cost: some dozen prices of normal noise.
func Limit(ctx context.Context, prior Prior, affected int, budget accountant.Cost) (float64, error) {
	sigma, err := accountant.GaussianNoise(budget) // for a sensitivity of 1: μ = 1/σ
	if err != nil {
		return 0, err
	}
	if prior == nil {
		return 0, errors.New("prior must be given")
	}
	lead, total := 0.0, 0.0
	for counts, weight := range prior {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		lead += weight * float64(slices.Max(counts)-slices.Min(counts))
		total += weight
	}
	return math.Pow(lead/total/(2*float64(affected)*sigma), 2), nil
}
