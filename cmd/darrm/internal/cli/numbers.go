package cli

import (
	"math"
	"strconv"

	"github.com/darrm/darrm/accountant"
)

// Shortest returns the shortest decimal that parses as x.
func Shortest(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

// Finite returns a number for JSON, nil (null) where x is infinite or not a number.
func Finite(x float64) *float64 {
	if math.IsInf(x, 0) || math.IsNaN(x) {
		return nil
	}
	return &x
}

// FiniteCost returns a cost for JSON, nil where ε is infinite.
func FiniteCost(c accountant.Cost) *accountant.Cost {
	if Finite(c.Epsilon) == nil {
		return nil
	}
	return &c
}
