package num

import "fmt"

// Percent writes a share as a percentage.
func Percent(x float64) string { return fmt.Sprintf("%.2f %%", 100*x) }
