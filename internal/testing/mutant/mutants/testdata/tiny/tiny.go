// Package tiny is changed by the tests of mutants.
package tiny

// Abs returns |x|.
func Abs(x int) int {
	if x < 0 { // x <= 0 and x < 1 are equal to it
		return -x
	}
	return x
}

// Double returns 2x; its test is too weak to see it.
func Double(x int) int { return x * 2 }
