package ledgertest

import "testing"

func TestMemory(t *testing.T) {
	inOneProcess(t, func(t *testing.T) string { return Memory(t) })
	if l := Create(t, Memory(t), 1); !l.Simulated() {
		t.Error("a ledger in memory is not marked")
	}
}
