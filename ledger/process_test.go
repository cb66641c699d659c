//go:build linux

package ledger

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// limitFileSize makes every write that would lengthen the database fail, the
// nearest thing to a full disk without a disk of one's own.
func limitFileSize(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	limit := syscall.Rlimit{Cur: uint64(info.Size()), Max: uint64(info.Size())}
	return syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit)
}

// kill -9 at random moments, two processes at a time on one ledger: 100 kills,
// 1,000 if long. Every ledger lives through 20 of them.
func TestKilledAtRandom(t *testing.T) {
	kills := 100
	if long {
		kills = 1000
	}
	released := 0
	for range kills / 20 {
		l := create(t, 1e9, 0)
		var s said
		for round := range 10 {
			var outputs [2]bytes.Buffer
			var children [2]*exec.Cmd
			for i := range children {
				children[i] = child("charge", l.Path(), fmt.Sprintf("%d-%d", round, i), 1_000_000)
				children[i].Stdout = &outputs[i]
				if err := children[i].Start(); err != nil {
					t.Fatal(err)
				}
			}
			for i, c := range children {
				time.Sleep(time.Duration(rand.Int64N(int64(50 * time.Millisecond))))
				if err := c.Process.Kill(); err != nil {
					t.Fatal(err)
				}
				var exit *exec.ExitError
				if err := c.Wait(); !errors.As(err, &exit) || exit.ProcessState.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
					t.Fatalf("child ended by itself: %v\n%s", err, outputs[i].String())
				}
				s.read(t, outputs[i].String())
			}
			if v := s.violation(l.Path()); v != "" {
				t.Fatal(v)
			}
		}
		if len(s.refused)+len(s.errors) > 0 {
			t.Errorf("refused: %v, errors: %v", s.refused, s.errors)
		}
		released += len(s.released)
	}
	t.Logf("%d kills, %d releases, all charged", kills, released)
	if released < kills {
		t.Errorf("%d releases in %d kills: most came before the first charge", released, kills)
	}
}

// 8 processes, 500 charges each, room for 2,000: exactly 2,000 succeed.
func TestEightProcesses(t *testing.T) {
	const processes, each, room = 8, 500, 2000
	l := create(t, room, 0)
	var outputs [processes]bytes.Buffer
	var children [processes]*exec.Cmd
	start := time.Now()
	for i := range children {
		children[i] = child("charge", l.Path(), fmt.Sprint(i), each)
		children[i].Stdout = &outputs[i]
		if err := children[i].Start(); err != nil {
			t.Fatal(err)
		}
	}
	var s said
	for i, c := range children {
		if err := c.Wait(); err != nil {
			t.Errorf("%v: %s", err, outputs[i].String())
		}
		s.read(t, outputs[i].String())
	}
	t.Logf("%v for %d charges and %d refusals", time.Since(start).Round(time.Millisecond), len(s.released), len(s.refused))
	if len(s.released) != room || len(s.refused) != processes*each-room {
		t.Errorf("%d released, %d refused", len(s.released), len(s.refused))
	}
	for _, r := range s.refused {
		if !strings.Contains(r, ErrExceeded.Error()) {
			t.Errorf("refused: %s", r)
		}
	}
	if v := s.violation(l.Path()); v != "" {
		t.Error(v)
	}
	mustSpend(t, l, unitOfOne.Times(room))
}

// A disk that fills up: no release without a charge, the ledger stays whole, and
// works again when there is room.
func TestFullDisk(t *testing.T) {
	l := create(t, 1e9, 0)
	if err := chargeOne(l, 0); err != nil {
		t.Fatal(err)
	}
	out, err := child("full", l.Path(), "x", 1000).Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var s said
	s.read(t, string(out))
	if len(s.released) == 0 || len(s.refused) < 2 {
		t.Fatalf("%d released, %d refused: the limit did not bite", len(s.released), len(s.refused))
	}
	if !strings.Contains(s.refused[0], syscall.EFBIG.Error()) || !strings.Contains(s.refused[1], ErrBroken.Error()) {
		t.Errorf("refused: %v", s.refused[:2])
	}
	if v := s.violation(l.Path()); v != "" {
		t.Error(v)
	}
	l, err = Open(t.Context(), l.Path())
	if err != nil {
		t.Fatal(err)
	}
	if err := chargeOne(l, 1); err != nil {
		t.Error(err)
	}
}

// Files that may only be read: looking works, charging does not.
func TestReadOnly(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root may write to any file")
	}
	l := create(t, 1, 0)
	for _, p := range []string{l.Path(), l.Path() + anchorSuffix} {
		if err := os.Chmod(p, 0o400); err != nil {
			t.Fatal(err)
		}
	}
	l, err := Open(t.Context(), l.Path())
	if err != nil {
		t.Fatal(err)
	}
	mustSpend(t, l, Cost{})
	if _, err := l.Charge(t.Context(), Request{ID: "a", Count: 1, Unit: unitOfOne}); !errors.Is(err, os.ErrPermission) {
		t.Errorf("charge: %v", err)
	}
}
