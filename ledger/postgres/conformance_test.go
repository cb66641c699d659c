package postgres_test

import (
	"fmt"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/darrm/darrm/internal/pgtest"
	"github.com/darrm/darrm/ledger/ledgertest"

	_ "github.com/darrm/darrm/ledger/postgres"
)

var _ = ledgertest.Child()

var ledgers atomic.Int64

// location names a ledger of its own.
func location(t *testing.T, s *pgtest.Server) string {
	n := ledgers.Add(1)
	return s.URL(fmt.Sprintf("ledger=ledger-%d&secret=%s", n, filepath.Join(t.TempDir(), "secret")))
}

func TestConformance(t *testing.T) {
	s := pgtest.Start(t)
	ledgertest.Run(t, func(t *testing.T) string { return location(t, s) })
}
