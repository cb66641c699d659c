package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/darrm/darrm/release/exitcode"
)

// Votes that change between the reading that was paid for and the one that is answered: more
// queries are not answered than were paid for, and of fresh teachers no other votes. The
// budget is spent, and nothing is released. The change comes when the charge is on disk,
// and at the end of a file that takes long to answer.
func TestVotesThatChangeAreNotReleased(t *testing.T) {
	const row = "1,0,1\n"
	for _, tt := range []struct{ name, teachers, change, want string }{
		{"more, fresh", "fresh", "\n" + row, "there are more"},
		{"more, frozen", "frozen", "\n" + row, "there are more"},
		{"others, fresh", "fresh", "\n", "they are not those that were paid for"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			book := makeLedger(t, dir)
			votes := filepath.Join(dir, "votes.csv")
			if err := os.WriteFile(votes, []byte("t1,t2,t3\n"+strings.Repeat(row, 1_500_000)),
				0o600); err != nil {
				t.Fatal(err)
			}
			args := []string{"aggregate", "votes.csv", "--m", "1", "--eps", "1e-9", "--teacher-delta", "0",
				"--teachers", tt.teachers, "--ledger", "ledger", "--request-id", "march", "--out", "labels.csv",
				"-q"}
			if tt.teachers == "frozen" {
				args = append(args, "--ensemble", "wards")
			}
			c := process(t, dir, args...)
			var said bytes.Buffer
			c.Stderr = &said
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
			for end := time.Now().Add(20 * time.Second); len(historyOf(t, book)) == 0 &&
				time.Now().Before(end); time.Sleep(2 * time.Millisecond) {
			}
			f, err := os.OpenFile(votes, os.O_WRONLY, 0)
			if err != nil {
				t.Fatal(err)
			}
			info, err := f.Stat()
			if err != nil {
				t.Fatal(err)
			}
			// The last row becomes another, and rows may follow it.
			if _, err := f.WriteAt([]byte("0,0,1"+tt.change), info.Size()-int64(len(row))); err != nil {
				t.Fatal(err)
			}
			if err := f.Close(); err != nil {
				t.Fatal(err)
			}
			_ = c.Wait() // the exit code says it
			if code := c.ProcessState.ExitCode(); code != int(exitcode.Input) ||
				!strings.Contains(said.String(), tt.want) {
				t.Errorf("exit code %d, %s, want %q", code, said.String(), tt.want)
			}
			checkAbsent(t, filepath.Join(dir, "labels.csv"))
		})
	}
}
