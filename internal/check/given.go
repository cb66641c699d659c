package check

import "fmt"

// GivenTolerance bounds by how much numbers that a person gives may miss a rule about several of
// them, such as a sum of 1, because they were rounded. What is farther off is refused: it is more
// likely a mistake than rounding.
const GivenTolerance = 1e-9

// Given returns the probability nearest to one that a person gives, where it is outside [0,1] by
// GivenTolerance at most.
func Given(name string, p float64) (float64, error) {
	if !(p >= -GivenTolerance && p <= 1+GivenTolerance) {
		return 0, &Error{name, p, fmt.Sprintf("in [0,1], to within %g", GivenTolerance)}
	}
	return max(0, min(1, p)), nil
}
