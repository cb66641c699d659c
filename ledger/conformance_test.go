package ledger_test

import (
	"path/filepath"
	"testing"

	"github.com/darrm/darrm/ledger/ledgertest"
)

var _ = ledgertest.Child()

func TestConformance(t *testing.T) {
	t.Parallel()
	ledgertest.Run(t, func(t *testing.T) string { return filepath.Join(t.TempDir(), "ledger") })
}
