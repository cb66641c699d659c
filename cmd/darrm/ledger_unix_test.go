//go:build unix

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A release that is killed after it was paid for and before it was noted is finished with
// its key, charged no more, and noted then.
func TestKilledBetweenChargeAndNote(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	book := makeLedger(t, dir)
	// So many that the draw goes on for long after the charge is seen.
	rows := "t1,t2,t3\n" + strings.Repeat("1,1,0\n0,0,0\n", 2_000_000)
	if err := os.WriteFile(filepath.Join(dir, "votes.csv"), []byte(rows), 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{"aggregate", "votes.csv", "--m", "3", "--eps", "1e-8", "--teacher-delta", "0",
		"--teachers", "fresh", "--ledger", "ledger", "--request-id", "march", "--checkpoint", "secret",
		"--out", "labels.csv", "-q"}
	before := killAt(t, process(t, dir, args...), book, 1)
	if len(before) != 1 || before[0].ID != "march" {
		t.Fatalf("entries %v", before)
	}
	checkAbsent(t, filepath.Join(dir, "labels.csv"))
	finish(t, dir, book, before, "labels.csv", args...)
}
