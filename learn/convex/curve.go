package convex

import (
	"math"

	"github.com/darrm/darrm/accountant"
)

// curveOrders is the number of orders of a curve. With so many, rounding to the next order costs a
// few parts in 10⁵.
const curveOrders = 1400

// curveOrder returns order i, from 1.0001 to 1e8.
func curveOrder(i int) float64 { return 1 + 1e-4*math.Exp(float64(i)*0.02) }

// zcdpCurve returns the event of a mechanism that is ρ-zCDP by the named theorem.
func zcdpCurve(relation accountant.Relation, rho float64,
	theorem string) (accountant.Event, error) {
	return influenceCurve(relation, theorem, []influence{{math.Inf(1), rho}})
}
