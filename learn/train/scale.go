package train

import "fmt"

// Radii, balls, diameters and clips are between LeastScale and LargestScale. Beyond, squares
// of features could underflow, so that a record would not be shortened, and a run could leave
// the range of numbers or not by what one record holds, so that the failure would tell of it.
const (
	LeastScale   = 1e-30
	LargestScale = 1e30
)

// ScaleRule is the rule of InScale, for messages of errors.
var ScaleRule = fmt.Sprintf("between %g and %g", LeastScale, LargestScale)

// InScale reports whether a length is between LeastScale and LargestScale.
func InScale(x float64) bool { return x >= LeastScale && x <= LargestScale }
