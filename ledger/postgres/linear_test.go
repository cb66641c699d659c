package postgres_test

import (
	"os"
	"testing"

	"github.com/darrm/darrm/internal/testing/ledgersuite"
	"github.com/darrm/darrm/internal/testing/lineartest"
	"github.com/darrm/darrm/internal/testing/mutant"
	"github.com/darrm/darrm/internal/testing/pgtest"
)

var _ = lineartest.Child()

// The same as for files, but that the database is killed too.
func TestLinearisable(t *testing.T) {
	s := pgtest.Start(t)
	histories := 4
	if ledgersuite.Long() {
		histories = 30
	}
	lineartest.Run(t, histories, func(t *testing.T) string { return location(t, s) },
		func(t *testing.T) {
			s.Kill()
			s.Restart(t)
		})
}

// Planted lost updates.
func TestLinearMutantsDie(t *testing.T) {
	list := []mutant.Mutant{
		{Name: "nothing is committed", File: "tx.go", Old: "err := t.tx.Commit(ctx)",
			New: "err := t.tx.Rollback(ctx)", Killer: "TestLinearisable"},
		{Name: "what was lost is a success", File: "tx.go", Old: "	case stored:\n",
			New: "	case stored || true:\n", Killer: "TestLinearisable"},
		{Name: "a handle does not read what others wrote", File: "../session.go",
			Old: "		err = s.extend(ctx, tx)\n", New: "		return s, nil\n", Killer: "TestLinearisable"},
	}
	mutant.CheckPlaces(t, list)
	for _, m := range list {
		if ledgersuite.Long() && os.Getenv(pgtest.BinEnv) != "" {
			t.Run(m.Name, m.MustDie)
		}
	}
}
