package ledgersuite

import (
	"testing"

	"github.com/darrm/darrm/ledger/ledgertest"
)

func TestMemory(t *testing.T) {
	inOneProcess(t, func(t *testing.T) string { return ledgertest.Memory(t) })
	if l := Create(t, ledgertest.Memory(t), 1); !l.Simulated() {
		t.Error("a ledger in memory is not marked")
	}
}
