package num

import (
	"fmt"
	"math/big"
)

// Percent writes a share as a percentage.
func Percent(x float64) string { return fmt.Sprintf("%.2f %%", 100*x) }

// PercentUp is Percent of an upper bound in [0, 1]: what it shows is not below x.
func PercentUp(x float64) string {
	exact, hundredth := new(big.Rat), big.NewRat(1, 10_000)
	if exact.SetFloat64(x) == nil {
		return Percent(x)
	}
	shown, _ := new(big.Rat).SetString(fmt.Sprintf("%.4f", x))
	if shown.Cmp(exact) < 0 {
		shown.Add(shown, hundredth)
	}
	return shown.Mul(shown, big.NewRat(100, 1)).FloatString(2) + " %"
}
