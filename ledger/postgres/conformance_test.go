package postgres_test

import (
	"context"
	"fmt"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/darrm/darrm/internal/pgtest"
	"github.com/darrm/darrm/ledger/ledgertest"

	_ "github.com/darrm/darrm/ledger/postgres"
)

var _ = ledgertest.Child()

var ledgers atomic.Int64

// location names a ledger of its own.
func location(t testing.TB, s *pgtest.Server) string {
	n := ledgers.Add(1)
	return s.URL(fmt.Sprintf("ledger=ledger-%d&secret=%s", n, filepath.Join(t.TempDir(), "secret")))
}

func TestConformance(t *testing.T) {
	s := pgtest.Start(t)
	ledgertest.Run(t, func(t *testing.T) string { return location(t, s) })
}

// The floor is one transaction that inserts one row of as many bytes.
func BenchmarkGoroutines(b *testing.B) {
	s := pgtest.Start(b)
	s.Exec(b, `create table floor (lines text)`)
	conn, err := pgx.Connect(b.Context(), s.URL(""))
	if err != nil {
		b.Fatal(err)
	}
	defer conn.Close(context.Background())
	ledgertest.Goroutines(b, func(t testing.TB) string { return location(t, s) }, func(lines []byte) {
		if _, err := conn.Exec(b.Context(), `insert into floor values ($1)`, string(lines)); err != nil {
			b.Fatal(err)
		}
	})
}

func BenchmarkOpen(b *testing.B) {
	s := pgtest.Start(b)
	ledgertest.Open(b, func(t testing.TB) string { return location(t, s) })
}
