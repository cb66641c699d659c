package ledger_test

import (
	"testing"

	"github.com/darrm/darrm/internal/testing/ledgersuite"
	"github.com/darrm/darrm/internal/testing/lineartest"
	"github.com/darrm/darrm/internal/testing/mutant"
)

var _ = lineartest.Child()

// Two processes charge, answer draws and look, and are killed: each history has an order.
func TestLinearisable(t *testing.T) {
	t.Parallel()
	histories := 6
	if ledgersuite.Long() {
		histories = 100
	}
	lineartest.Run(t, histories, func(t *testing.T) string { return newFile(t) }, nil)
}

// Planted lost updates. In 100 histories each was noticed in 42 at least, and so in 6 with
// probability .96 by the same measure. Two processes that overwrite each other are noticed as
// damage, before anybody gets a wrong answer.
func TestLinearMutantsDie(t *testing.T) {
	list := []mutant.Mutant{
		{Name: "a process overwrites what others wrote", File: "session.go",
			Old: "		err = s.extend(ctx, tx)\n", New: "		return s, nil\n", Killer: "TestLinearisable"},
		{Name: "nobody waits for the lock", File: "filestore.go",
			Old: "		if err := filelock.Lock(ctx, f, exclusive); err != nil {",
			New: "		if err := error(nil); err != nil {", Killer: "TestLinearisable"},
		{Name: "what the group has is not looked at", File: "ledger.go",
			Old: "pasts{s.book, s.group.recent, call}", New: "pasts{s.book, call}",
			Killer: "TestLinearisable"},
		{Name: "the receipt comes before the write", File: "group.go",
			Old:    "err := l.write(s, g.entries)\n",
			New:    "g.finish(State{}, nil)\n\tg.waiting = nil\n\terr := l.write(s, g.entries)\n",
			Killer: "TestLinearisable"},
	}
	mutant.CheckPlaces(t, list)
	for _, m := range list {
		if ledgersuite.Long() {
			t.Run(m.Name, m.MustDie)
		}
	}
}
