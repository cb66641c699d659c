package game

import (
	"testing"

	"github.com/darrm/darrm/internal/testing/raced"
)

// Numerical begins a test of figures.
func Numerical(t *testing.T) {
	t.Helper()
	if raced.Enabled {
		t.Skip("a test of figures")
	}
	t.Parallel()
}
