package main

import (
	"fmt"
	"math"
	"strconv"

	"github.com/darrm/darrm/accountant"
)

func percent(x float64) string { return fmt.Sprintf("%.2f %%", 100*x) }

// shortest is the shortest decimal that stands for x.
func shortest(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

// finite returns a number for JSON, which has no infinities.
func finite(x float64) *float64 {
	if math.IsInf(x, 0) || math.IsNaN(x) {
		return nil
	}
	return &x
}

func finiteCost(c accountant.Cost) *accountant.Cost {
	if finite(c.Epsilon) == nil {
		return nil
	}
	return &c
}
