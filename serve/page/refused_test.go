package page_test

import (
	"testing"

	"github.com/darrm/darrm/serve/page"
)

// A service without a mechanism has no page.
func TestNoPageWithoutAMechanism(t *testing.T) {
	if p, err := page.New(page.Service{}); err == nil || p != nil {
		t.Errorf("%v, %v", p, err)
	}
}
