package convex

import (
	"math"

	"github.com/darrm/darrm/accountant"
)

// zcdpCurve returns the event of a mechanism that is ρ-zCDP by the named theorem: divergences
// ρα, at orders so near to each other that what lies between costs a few parts in 10⁵.
func zcdpCurve(relation accountant.Relation, rho float64, theorem string) (accountant.Event, error) {
	var points []accountant.CurvePoint
	for i := range 1400 {
		alpha := 1 + 1e-4*math.Exp(float64(i)*0.02) // to 1e8
		points = append(points, accountant.CurvePoint{Alpha: alpha, Rho: alpha * rho * (1 + 0x1p-48)})
	}
	return accountant.NewCurve(relation, theorem, points)
}
