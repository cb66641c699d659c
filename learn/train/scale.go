package train

import "fmt"

// Radii, balls, diameters and clips are between LeastScale and LargestScale. Beyond, squares of
// features could underflow, so that a record would not be shortened. A single record could also
// decide whether a run leaves the range of numbers, so that the failure would reveal it.
const (
	LeastScale   = 1e-30
	LargestScale = 1e30
)

// ScaleRule is the rule of InScale, for messages of errors.
var ScaleRule = fmt.Sprintf("between %g and %g", LeastScale, LargestScale)

// InScale reports whether a length is between LeastScale and LargestScale.
func InScale(x float64) bool { return x >= LeastScale && x <= LargestScale }
