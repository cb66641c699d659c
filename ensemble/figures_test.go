package ensemble

import (
	"testing"

	"github.com/darrm/darrm/internal/raced"
)

// figures begins a test of figures that are worked out one after the other: the race detector has
// nothing to find there, and takes four times as long.
func figures(t *testing.T) {
	t.Helper()
	if raced.Enabled {
		t.Skip("a test of figures")
	}
}
