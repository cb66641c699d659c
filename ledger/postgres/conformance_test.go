package postgres_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/darrm/darrm/internal/testing/ledgersuite"
	"github.com/darrm/darrm/internal/testing/pgtest"

	_ "github.com/darrm/darrm/ledger/postgres"
)

var _ = ledgersuite.Child()

func TestMain(m *testing.M) { pgtest.Main(m) }

// Without a server the package's line of go test says that nothing was tested.
func TestSkipIsShown(t *testing.T) {
	cmd := exec.Command(os.Args[0], "-test.run=^TestConformance$")
	cmd.Env = append(os.Environ(), pgtest.BinEnv+"=")
	out, err := cmd.CombinedOutput()
	// What makes cmd/go write [no tests to run].
	if err != nil || !bytes.Contains(out, []byte("\ntesting: warning: no tests to run\n")) {
		t.Errorf("%v:\n%s", err, out)
	}
}

var ledgers atomic.Int64

// location names a ledger of its own.
func location(t testing.TB, s *pgtest.Server) string {
	n := ledgers.Add(1)
	return s.URL(fmt.Sprintf("ledger=ledger-%d&secret=%s", n, filepath.Join(t.TempDir(), "secret")))
}

func TestConformance(t *testing.T) {
	s := pgtest.Start(t)
	ledgersuite.Run(t, func(t *testing.T) string { return location(t, s) })
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
	ledgersuite.Goroutines(b, func(t testing.TB) string { return location(t, s) }, func(lines []byte) {
		if _, err := conn.Exec(b.Context(), `insert into floor values ($1)`, string(lines)); err != nil {
			b.Fatal(err)
		}
	})
}

func BenchmarkOpen(b *testing.B) {
	s := pgtest.Start(b)
	ledgersuite.Open(b, func(t testing.TB) string { return location(t, s) })
}
