// Package user has tests of another package.
package user

import (
	"testing"

	"github.com/darrm/darrm/internal/testing/mutant/mutants/testdata/tiny"
)

func TestDouble(t *testing.T) {
	if got := tiny.Double(4); got != 8 {
		t.Errorf("Double(4) = %d", got)
	}
}
