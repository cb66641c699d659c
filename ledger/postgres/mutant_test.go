package postgres_test

import (
	"os"
	"testing"

	"github.com/darrm/darrm/internal/testing/ledgersuite"
	"github.com/darrm/darrm/internal/testing/mutant"
	"github.com/darrm/darrm/internal/testing/pgtest"
)

// Planted mutants, each with the test that must fail for it. Every day their places are looked
// for; with a server and if long they are planted.
func TestMutantsDie(t *testing.T) {
	list := []mutant.Mutant{
		{Name: "a charge leaves no lines", File: "tx.go",
			Old: "		b.Queue(insertCommit, t.store.name, at, string(lines), mark)\n", New: "",
			Killer: "TestConformance"},
		{Name: "a charge leaves no head", File: "tx.go",
			Old: "		b.Queue(updateHead, t.store.name, string(after))\n", New: "", Killer: "TestConformance"},
		{Name: "nothing is committed", File: "tx.go", Old: "err := t.tx.Commit(ctx)",
			New: "err := t.tx.Rollback(ctx)", Killer: "TestConformance"},
		{Name: "the lock is not taken", File: "store.go",
			Old: "from darrm.heads where ledger = $1 for update`",
			New: "from darrm.heads where ledger = $1`", Killer: "TestSlowCommit"},
		{Name: "an unknown outcome is a success", File: "tx.go", Old: "return fmt.Errorf(\"whether",
			New: "return nil\n\t\treturn fmt.Errorf(\"whether", Killer: "TestLostCommit"},
		{Name: "an unknown outcome is tried again", File: "tx.go",
			Old: "stored, ask := t.store.resolve(at, mark)", New: "stored, ask := false, error(nil)",
			Killer: "TestLostCommit"},
		{Name: "what was lost is a success", File: "tx.go", Old: "	case stored:\n",
			New: "	case stored || true:\n", Killer: "TestLostCommit"},
		{Name: "what was stored is charged again", File: "tx.go", Old: "	case stored:\n",
			New: "	case stored && false:\n", Killer: "TestLostCommit"},
		{Name: "another server's commit is taken for the lost one", File: "tx.go",
			Old: "return found == mark, err", New: "return found != \"\", err", Killer: "TestPlaceTaken"},
		{Name: "a refused COMMIT is a success", File: "tx.go",
			Old: "	case refused(err):\n		return t.store.unavailable(err)\n",
			New: "	case refused(err):\n		return nil\n", Killer: "TestRefusedCommit"},
		{Name: "a failure to serialize is final", File: "store.go",
			Old: "e.Code == \"40001\" || e.Code == \"40P01\"", New: "e.Code == \"40P01\"",
			Killer: "TestRefusedCommit"},
		{Name: "who waited reads what was before the wait", File: "store.go",
			Old: "IsoLevel: pgx.ReadCommitted}", New: "IsoLevel: pgx.RepeatableRead}",
			Killer: "TestServer"},
		{Name: "a look is of several states", File: "store.go",
			Old: "IsoLevel: pgx.RepeatableRead, AccessMode", New: "IsoLevel: pgx.ReadCommitted, AccessMode",
			Killer: "TestServer"},
		{Name: "a piece is the last one", File: "reader.go", Old: "r.end = r.next < past",
			New: "r.end = true", Killer: "TestServer"},
		{Name: "a commit that must be tried again is a success", File: "../group.go",
			Old: "		l.queue.putBack(g.waiting)\n", New: "		g.finish(s.state(), nil)\n",
			Killer: "TestLostCommit"},
		{Name: "fsync may be off", File: "store.go", Old: "fsync == \"off\" || ", New: "",
			Killer: "TestUnsafeServer"},
		{Name: "synchronous_commit may be off", File: "store.go", Old: " || commits == \"off\"", New: "",
			Killer: "TestUnsafeServer"},
		{Name: "a handle does not read what others wrote", File: "../session.go",
			Old: "err = s.extend(ctx, tx)", New: "err = nil", Killer: "TestConformance"},
		{Name: "what a file may have after a crash", File: "tx.go",
			Old: "Atomic() bool            { return true }",
			New: "Atomic() bool            { return false }", Killer: "TestServer"},
		{Name: "a deleted ledger comes back", File: "create.go",
			Old: " or exists (select from darrm.heads where ledger = $1)`", New: "`", Killer: "TestServer"},
		{Name: "the password is shown", File: "../store.go",
			Old: "shown.User = url.User(u.User.Username())", New: "shown.User = u.User",
			Killer: "TestNoPassword"},
		{Name: "parameters are shown", File: "../store.go", Old: "		if v := u.Query()[name]; v != nil {",
			New: "		query = u.Query()\n		if v := u.Query()[name]; v != nil {", Killer: "TestNoPassword"},
		{Name: "a statement that changed no row counts", File: "tx.go",
			Old: "if err == nil && tag.RowsAffected() != 1 {",
			New: "if err == nil && tag.RowsAffected() > 1 {", Killer: "TestHeadIsLost"},
		{Name: "a lost COMMIT is looked up without the row's lock", File: "tx.go",
			Old: "begun, err := s.Begin(ctx, true)", New: "begun, err := s.Begin(ctx, false)",
			Killer: "TestSlowCommit"},
		{Name: "a look begins at a commit", File: "reader.go", Old: ", r.from-begins\n", New: ", 0\n",
			Killer: "TestConformance"},
	}
	mutant.CheckPlaces(t, list)
	for _, m := range list {
		if ledgersuite.Long() && os.Getenv(pgtest.BinEnv) != "" {
			t.Run(m.Name, m.MustDie)
		}
	}
}
