//go:build linux

package ledger

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// limitFileSize makes every write that would much lengthen the ledger fail, the
// nearest thing to a full disk without a disk of one's own.
func limitFileSize(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	room := uint64(info.Size()) + 2000 // for some charges
	limit := syscall.Rlimit{Cur: room, Max: room}
	return syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit)
}

// giveUpRoot makes the process an ordinary user's.
func giveUpRoot() error {
	if os.Geteuid() != 0 {
		return nil
	}
	const nobody = 65534
	return errors.Join(syscall.Setgroups(nil), syscall.Setgid(nobody), syscall.Setuid(nobody))
}

// firstLine collects the output of a child and says when it begins.
type firstLine struct {
	all   bytes.Buffer // not embedded: its ReadFrom would keep Write out
	once  sync.Once
	begun chan struct{}
}

func (w *firstLine) Write(b []byte) (int, error) {
	defer w.once.Do(func() { close(w.begun) })
	return w.all.Write(b)
}

// kill -9 at random moments, two processes at a time on one ledger: 40 kills,
// 1,000 if long. Every ledger lives through 20 of them. The first of each two is
// known to be charging when it is killed, the other may be anywhere.
func TestKilledAtRandom(t *testing.T) {
	t.Parallel()
	kills := 40
	if long {
		kills = 1000
	}
	released := 0
	for range kills / 20 {
		l := create(t, 1e9, 0)
		var s said
		for round := range 10 {
			var outputs [2]*firstLine
			var children [2]*exec.Cmd
			for i := range children {
				outputs[i] = &firstLine{begun: make(chan struct{})}
				children[i] = child("charge", l.Path(), fmt.Sprintf("%d-%d", round, i), 1_000_000)
				children[i].Stdout = outputs[i]
				if err := children[i].Start(); err != nil {
					t.Fatal(err)
				}
			}
			<-outputs[0].begun
			for i, c := range children {
				time.Sleep(time.Duration(rand.Int64N(int64(50 * time.Millisecond))))
				if err := c.Process.Kill(); err != nil {
					t.Fatal(err)
				}
				var exit *exec.ExitError
				if err := c.Wait(); !errors.As(err, &exit) ||
					exit.ProcessState.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
					t.Fatalf("child ended by itself: %v\n%s", err, outputs[i].all.String())
				}
				s.read(t, outputs[i].all.String())
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
	if released < kills/2 {
		t.Errorf("%d releases in %d kills", released, kills)
	}
}

// 8 processes, 100 charges each (500 if long), room for half of them: exactly so many succeed.
func TestEightProcesses(t *testing.T) {
	t.Parallel()
	processes, each, room := 8, 100, 400
	if long {
		each, room = 500, 2000
	}
	l := create(t, float64(room), 0)
	outputs := make([]bytes.Buffer, processes)
	children := make([]*exec.Cmd, processes)
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
	t.Logf("%v for %d charges and %d refusals", time.Since(start).Round(time.Millisecond),
		len(s.released), len(s.refused))
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
	mustSpend(t, l, unitOfOne.Times(uint64(room)))
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
	if !strings.Contains(s.refused[0], syscall.EFBIG.Error()) ||
		!strings.Contains(s.refused[0], ErrWrite.Error()) ||
		!strings.Contains(s.refused[1], ErrBroken.Error()) {
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

// Files that may only be read: looking works, charging does not. Root may write to
// any file, so that a child tries it, which gives up being root first.
func TestReadOnly(t *testing.T) {
	dir, err := os.MkdirTemp("", "ledger-read-only-") // t.TempDir is closed to others
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	budget, err := NewBudget(5, 0)
	if err != nil {
		t.Fatal(err)
	}
	l, err := Create(t.Context(), filepath.Join(dir, "ledger"), budget, ReplaceOne)
	if err != nil {
		t.Fatal(err)
	}
	if err := chargeOne(l, 0); err != nil {
		t.Fatal(err)
	}
	for _, p := range []string{l.Path(), l.Path() + AnchorSuffix} {
		if err := os.Chmod(p, 0o444); err != nil {
			t.Fatal(err)
		}
	}
	before := readFiles(t, l.Path())
	out, err := child("read only", l.Path(), "x", 1).Output()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	var s said
	s.read(t, string(out))
	if len(s.refused) != 1 || !strings.Contains(s.refused[0], os.ErrPermission.Error()) ||
		!strings.Contains(s.refused[0], ErrWrite.Error()) {
		t.Errorf("%+v", s)
	}
	if after := readFiles(t, l.Path()); !reflect.DeepEqual(after, before) {
		t.Error("the files were written to")
	}
}

// The lock goes even where another process has inherited the open file, as a child
// forked by C code has until it ends: duplicated file descriptors share the lock.
func TestLockOfInheritedFile(t *testing.T) {
	l := create(t, 5, 0)
	s, err := l.begin(t.Context(), true)
	if err != nil {
		t.Fatal(err)
	}
	inherited, err := syscall.Dup(int(s.tx.(*fileTx).file.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(inherited)
	s.end()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if _, err := l.Charge(ctx, Request{Relation: ReplaceOne, ID: "a", Count: 1,
		Unit: unitOfOne}); err != nil {
		t.Error(err)
	}
}

// A pipe in the place of a file is refused, not waited for.
func TestNamedPipe(t *testing.T) {
	for suffix, want := range map[string]error{AnchorSuffix: ErrDamaged, "": ErrNotLedger} {
		l := create(t, 5, 0)
		path := l.Path() + suffix
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		if err := syscall.Mkfifo(path, 0o600); err != nil {
			t.Skip(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if err := chargeOne(l, 1); err == nil || !strings.Contains(err.Error(), "not a regular file") {
			t.Errorf("charge: %v", err)
		}
		if _, err := Open(ctx, l.Path()); !errors.Is(err, want) ||
			!strings.Contains(err.Error(), "not a regular file") {
			t.Errorf("open: %v", err)
		}
	}
}
