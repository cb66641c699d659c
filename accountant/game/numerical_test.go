package game

import "testing"

// Numerical begins a test of figures.
func Numerical(t *testing.T) {
	t.Helper()
	if raced {
		t.Skip("a test of figures")
	}
	t.Parallel()
}
