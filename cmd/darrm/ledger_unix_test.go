//go:build unix

package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A release that is killed after it was paid for and before it was noted is finished with
// its key, charged no more, and noted then.
func TestKilledBetweenChargeAndNote(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	book := makeLedger(t, dir)
	// more than is read ahead of the charge
	rows := "t1,t2,t3\n" + strings.Repeat("1,1,0\n0,0,0\n", 50_000)
	at := filepath.Join(dir, "votes.csv")
	gate, last := filepath.Join(dir, "gate.csv"), "t1,t2,t3\n1,0,1\n"
	if err := os.WriteFile(at, []byte(rows), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(gate, 0o600); err != nil {
		t.Skip("no named pipes:", err)
	}
	args := []string{"aggregate", "votes.csv", "gate.csv", "--m", "3", "--eps", "1e-8", "--teacher-delta", "0",
		"--teachers", "fresh", "--ledger", "ledger", "--request-id", "march", "--checkpoint", "secret",
		"--out", "labels.csv", "-q"}
	// The votes that are counted are all there, those that are answered never end.
	fed := make(chan error, 1)
	killed := make(chan struct{})
	go func() {
		// The second reading has a pipe of its own, in the place of the first, which is still read:
		// no time is long enough for a slow machine to end it.
		err := feed(gate, last, func() error { // whose reader took votes.csv for a file, and has not opened it
			return errors.Join(os.Remove(at), syscall.Mkfifo(at, 0o600))
		})
		first, opened := os.OpenFile(at, os.O_WRONLY, 0)
		if err = errors.Join(err, opened); err == nil {
			err = errors.Join(os.Remove(at), syscall.Mkfifo(at, 0o600))
			_, wrote := first.WriteString(rows)
			err = errors.Join(err, wrote, first.Close())
		}
		f, again := os.OpenFile(at, os.O_WRONLY, 0)
		if err = errors.Join(err, again); err == nil {
			if _, err = f.WriteString(rows[:len(rows)-1]); errors.Is(err, syscall.EPIPE) {
				err = nil // the reader was killed with some of it unread
			}
			<-killed
			err = errors.Join(err, f.Close())
		}
		fed <- err
	}()
	before := killAt(t, process(t, dir, args...), book, 1)
	close(killed)
	select {
	case err := <-fed:
		if err != nil {
			t.Fatal(err)
		}
	case <-time.After(time.Minute):
		t.Fatal("the votes were not read twice")
	}
	if len(before) != 1 || before[0].ID != "march" {
		t.Fatalf("entries %v", before)
	}
	checkAbsent(t, filepath.Join(dir, "labels.csv"))
	for path, text := range map[string]string{at: rows, gate: last} {
		if err := errors.Join(os.RemoveAll(path), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	finish(t, dir, book, before, "labels.csv", args...)
}

// feed writes text to a pipe that somebody opens, after then.
func feed(pipe, text string, then func() error) error {
	f, err := os.OpenFile(pipe, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	err = then()
	_, wrote := f.WriteString(text)
	return errors.Join(err, wrote, f.Close())
}
