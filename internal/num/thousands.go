package num

import "math/big"

// Thousands writes a whole number ≥ 0 with a comma before every third digit from the end.
func Thousands(n *big.Int) string {
	s := n.String()
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
