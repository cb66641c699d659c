package ledger

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/darrm/darrm/internal/testing/raced"
)

// everyCall runs a child once per system call that changes a file, interferes
// with that call, lets a second child go on, and hands both outputs to check. It
// returns the number of calls. prepare makes the files and returns their path.
func everyCall(t *testing.T, mode string, act interference, errno syscall.Errno,
	wanted func(*fileOp) bool, prepare func() string,
	check func(at string, path string, first, second said)) int {
	t.Helper()
	var calls []int // that are wanted, of a child that is left alone
	record := &tracer{decide: func(i int, op *fileOp) interference {
		if wanted(op) {
			calls = append(calls, i)
		}
		return leave
	}}
	record.run(t, child(mode, prepare(), "first", 3))
	for _, n := range calls {
		path := prepare()
		hit, seen := uint64(0), false
		tr := &tracer{errno: errno, decide: func(i int, op *fileOp) interference {
			if i != n || !wanted(op) {
				return leave
			}
			hit, seen = op.call, true
			return act
		}}
		var first, second said
		first.read(t, tr.run(t, child(mode, path, "first", 3)))
		if !seen {
			t.Errorf("%s: call %d was not seen again", mode, n)
			continue
		}
		out, err := child(mode, path, "second", 2).Output()
		if err != nil {
			t.Errorf("%s at call %d (%s): the next process fails: %v: %s", mode, n, fileCalls[hit], err, out)
			continue
		}
		second.read(t, string(out))
		check(fmt.Sprintf("call %d (%s)", n, fileCalls[hit]), path, first, second)
	}
	return len(calls)
}

func anyCall(*fileOp) bool { return true }

func missing(t *testing.T) func() string {
	return func() string { return filepath.Join(tempDir(t), "ledger") }
}

// kill -9 before and after every call that changes a file, while charging and
// while creating; long also leaves every write half done.
func TestKilledAtEveryWrite(t *testing.T) {
	if raced.Enabled {
		t.Skip("about other processes; the race detector adds nothing")
	}
	t.Parallel()
	acts := map[string]interference{"after": killAfter}
	if long {
		acts["before"], acts["midway"] = killBefore, killMidway
	}
	for name, act := range acts {
		n := everyCall(t, "charge", act, 0, anyCall, existing(t), honest(t))
		if d := everyCall(t, "drawn", act, 0, anyCall, existing(t), honest(t)); d < 20 {
			t.Errorf("only %d calls of charges with their results", d)
		}
		check := honest(t)
		m := everyCall(t, "create", act, 0, anyCall, missing(t),
			func(at, path string, first, second said) {
				checkLeftovers(t, at, path)
				check(at, path, first, second)
			})
		t.Logf("killed %s each of %d calls of three charges, %d with creation", name, n, m)
		if n < 20 || m < n {
			t.Errorf("only %d and %d calls seen", n, m)
		}
	}
}

// kill -9 after every call that changes a file, of three that take one answer each of a quota of
// four: what was released was taken, what was taken stays taken, and the next process, which asks
// for two, gets what is left and no more. long also kills before every call and midway.
func TestKilledWhileTaking(t *testing.T) {
	if raced.Enabled {
		t.Skip("about other processes; the race detector adds nothing")
	}
	t.Parallel()
	const answers = 4
	l := create(t, 10, 0)
	mustCharge(t, l, opening("quota", 1, answers))
	f := readFiles(t, l.Path())
	prepare := func() string {
		path := filepath.Join(tempDir(t), "ledger")
		f.write(t, path)
		return path
	}
	acts := map[string]interference{"after": killAfter}
	if long {
		acts["before"], acts["midway"] = killBefore, killMidway
	}
	for name, act := range acts {
		lost := 0
		n := everyCall(t, "take", act, 0, anyCall, prepare, func(at, path string, first, second said) {
			later, err := Open(t.Context(), path)
			if err != nil {
				t.Fatalf("%s: %v", at, err)
			}
			use, err := later.Quota(t.Context(), "quota", "")
			if err != nil {
				t.Fatalf("%s: %v", at, err)
			}
			taken := int(use.Taken) - len(second.released) // by the first
			if taken < len(first.released) || len(second.released) != min(2, answers-taken) {
				t.Errorf("%s: %d of %d released, then %d: %+v", at, len(first.released), taken,
					len(second.released), second.refused)
			}
			for _, r := range second.refused {
				if !strings.Contains(r, ErrAnswers.Error()) {
					t.Errorf("%s: refused: %s", at, r)
				}
			}
			if taken > len(first.released) {
				lost++
			}
			for id := range second.released {
				first.released[id] = true
			}
			if v := first.violation(path); v != "" {
				t.Errorf("%s: %s", at, v)
			}
			os.RemoveAll(filepath.Dir(path))
		})
		t.Logf("killed %s each of %d calls; in %d of them an answer was taken and not released", name, n,
			lost)
		if n < 20 || name == "after" && lost == 0 {
			t.Errorf("only %d calls seen, %d answers lost", n, lost)
		}
	}
}

// checkLeftovers fails unless the ledger that a killed process and the next one made has its
// secret, and one more [Create] leaves nothing in the directory but ledgers.
func checkLeftovers(t *testing.T, at, path string) {
	t.Helper()
	l, err := Open(t.Context(), path)
	if err != nil {
		t.Errorf("%s: %v", at, err)
		return
	}
	if _, err := l.VoteHash(); err != nil {
		t.Errorf("%s: %v", at, err)
	}
	if _, err := Create(t.Context(), path+"2", l.Budget(), ReplaceOne); err != nil {
		t.Errorf("%s: %v", at, err)
	}
	for _, name := range names(t, filepath.Dir(path)) {
		if strings.HasPrefix(name, ".") {
			t.Errorf("%s: %s is left behind", at, name)
		}
	}
}

// Every write that ends halfway, whose second half is then lost.
func TestTornWrite(t *testing.T) {
	if raced.Enabled {
		t.Skip("about other processes; the race detector adds nothing")
	}
	t.Parallel()
	n := everyCall(t, "charge", killMidway, 0, (*fileOp).isWrite, existing(t), honest(t))
	t.Logf("%d writes cut in half", n)
	if n < 7 {
		t.Errorf("only %d writes seen", n)
	}
}

// Every fsync and fdatasync of three charges fails once with EIO, every write once
// with ENOSPC: the charge is refused, nothing is released for it, the handle
// refuses from then on, and the next process works.
func TestFailedSyncAndFullDisk(t *testing.T) {
	if raced.Enabled {
		t.Skip("about other processes; the race detector adds nothing")
	}
	t.Parallel()
	for _, c := range []struct {
		name   string
		errno  syscall.Errno
		wanted func(*fileOp) bool
		mode   string
	}{
		{"sync", syscall.EIO, func(op *fileOp) bool { return op.call == unix.SYS_FSYNC }, "charge"},
		{"sync of what a killed process left", syscall.EIO, func(op *fileOp) bool {
			return op.call == unix.SYS_FSYNC
		}, "behind"},
		{"write", syscall.ENOSPC, (*fileOp).isWrite, "charge"},
		{"sync", syscall.EIO, func(op *fileOp) bool { return op.call == unix.SYS_FSYNC }, "drawn"},
		{"write", syscall.ENOSPC, (*fileOp).isWrite, "drawn"},
	} {
		check := honest(t)
		n := everyCall(t, c.mode, failCall, c.errno, c.wanted, existing(t),
			func(at, path string, first, second said) {
				if len(first.released)+len(first.refused) != 3 || len(first.refused) == 0 {
					t.Errorf("%s: %d released, %d refused of 3", at, len(first.released), len(first.refused))
				} else if !strings.Contains(first.refused[0], c.errno.Error()) ||
					!strings.Contains(first.refused[0], ErrWrite.Error()) {
					t.Errorf("%s: refused: %s", at, first.refused[0])
				}
				if len(first.refused) > 0 {
					// From the failure on, everything through this handle is refused.
					if id := fmt.Sprintf("first-%d ", 3-len(first.refused)); !strings.HasPrefix(first.refused[0],
						id) {
						t.Errorf("%s: the first refusal of %d is %s", at, len(first.refused), first.refused[0])
					}
				}
				for _, r := range first.refused[min(1, len(first.refused)):] {
					if !strings.Contains(r, ErrBroken.Error()) {
						t.Errorf("%s: after the failure: %s", at, r)
					}
				}
				check(at, path, first, second)
			})
		t.Logf("%d calls failed (%s)", n, c.name)
		if n < 7 {
			t.Errorf("only %d %s calls seen", n, c.name)
		}
	}
}

// The planted mutants of a caller are found by the same crashes: releasing before
// charging, taking the charge back after a crash, and showing what was drawn before it is on disk.
func TestCallerMutantsDie(t *testing.T) {
	t.Parallel()
	if raced.Enabled {
		t.Skip("about other processes; the race detector adds nothing")
	}
	for _, mode := range []string{"release first", "refund", "drawn and seen"} {
		caught := 0
		everyCall(t, mode, killAfter, 0, anyCall, existing(t), func(at, path string, first, second said) {
			for id := range second.released {
				first.released[id] = true
			}
			if first.violation(path) != "" {
				caught++
			}
		})
		if caught == 0 {
			t.Errorf("%s: not caught", mode)
		}
		t.Logf("%s: caught at %d calls", mode, caught)
	}
}

// Power failures. A killed process leaves the kernel's memory; a power failure
// leaves the disk, where what was written since the last sync of a file is there
// or not, sector by sector, in any combination. One run is recorded; then at every
// point of it the disk is made up in 40 ways (400 if long), and what was released
// by then must be charged, in a ledger that opens.
func TestPowerFailure(t *testing.T) {
	t.Parallel()
	u := newUnderAttack(t, 0)
	u.last().write(t, u.path)
	var ops []fileOp
	tr := &tracer{record: func(op fileOp) { ops = append(ops, op) }}
	var s said
	s.read(t, tr.run(t, child("charge", u.path, "x", 12)))
	if len(s.released) != 12 || len(s.errors)+len(s.refused) > 0 {
		t.Fatalf("%+v", s)
	}
	if got := replay(u, ops, func(int) bool { return true }); string(got.db) !=
		string(readFiles(t, u.path).db) || string(got.anchor) != string(readFiles(t, u.path).anchor) {
		t.Fatal("the recorded operations do not make up the files")
	}
	ways := 40
	switch {
	case long:
		ways = 400
	case raced.Enabled:
		ways = 6
	}
	powerFailures(t, u, ops, 0, ways)
	t.Logf("%d points, %d disks each", len(ops)+1, ways)
}

// powerFailures cuts the power after each operation from the one numbered first on.
func powerFailures(t *testing.T, u *underAttack, ops []fileOp, first, ways int) {
	t.Helper()
	random := rand.New(rand.NewPCG(1, 2))
	for n := first; n <= len(ops); n++ {
		least := u.spent
		for _, op := range ops[:n] {
			if op.call == unix.SYS_WRITE && op.path == "" {
				least = least.Plus(unitOfOne) // a line on standard output: a release
			}
		}
		for way := range ways {
			keep := func(int) bool { return random.IntN(2) == 0 }
			switch way {
			case 0:
				keep = func(int) bool { return false }
			case 1:
				keep = func(int) bool { return true }
			}
			state, err := replay(u, ops[:n], keep).verify(nil)
			if err != nil {
				t.Fatalf("power failure after operation %d of %d: %v", n, len(ops), err)
			}
			if state.spent.epsilon.less(least.epsilon) {
				t.Fatalf("power failure after operation %d of %d: %v spent, want at least %v", n, len(ops),
					state.spent, least)
			}
		}
	}
}

// A charge takes the place of a longer one that was cut short, and the power fails: what is left
// of the longer one must not come to stand behind the charge.
func TestPowerFailureOverTornCommit(t *testing.T) {
	t.Parallel()
	u := newUnderAttack(t, 2)
	last := u.last()
	u.states = []files{{append(last.db, bytes.Repeat([]byte("torn\n"), 600)...), last.anchor}}
	u.last().write(t, u.path)
	var ops []fileOp
	var s said
	s.read(t, (&tracer{record: func(op fileOp) { ops = append(ops, op) }}).run(t,
		child("charge", u.path, "x", 2)))
	if len(s.released) != 2 {
		t.Fatalf("%+v", s)
	}
	powerFailures(t, u, ops, 0, 200)
}

// A process is killed at each of its calls, or in the middle of its writes, so that the kernel
// has what the disk may not have; the next one goes on from there; then the power fails. Nobody
// damaged the ledger, so it must open.
func TestKilledThenPowerFailure(t *testing.T) {
	t.Parallel()
	for _, act := range []interference{killAfter, killMidway} {
		killedThenPowerFailure(t, act)
	}
}

func killedThenPowerFailure(t *testing.T, act interference) {
	ways := 8
	switch {
	case long:
		ways = 100
	case raced.Enabled:
		ways = 3
	}
	u := newUnderAttack(t, 2)
	points := 0
	for n := 0; ; n++ {
		path := filepath.Join(tempDir(t), "ledger")
		u.last().write(t, path)
		var ops []fileOp
		record := func(op fileOp) { ops = append(ops, op) }
		killed := &tracer{record: record, decide: func(i int, op *fileOp) interference {
			if i == n {
				return act
			}
			return leave
		}}
		killed.run(t, child("charge", path, "first", 1))
		if killed.calls <= n {
			break // it came to its end
		}
		before := len(ops)
		(&tracer{record: record}).run(t, child("charge", path, "second", 2))
		powerFailures(t, u, ops, before, ways)
		points += len(ops) - before + 1
	}
	t.Logf("%d points, %d disks each", points, ways)
	if points < 100 {
		t.Errorf("only %d points", points)
	}
}

// replay makes up a disk after operations on the files of u. What no sync follows applies in
// part: each sector and each change of size of a file, and each new name, if keep says so.
func replay(u *underAttack, ops []fileOp, keep func(int) bool) files {
	const sector = 512
	type file struct {
		b      []byte
		synced int   // the last operation that forced it to disk
		at     int64 // where the next write goes that has no place of its own
	}
	const ledger, anchor = "ledger", "ledger" + AnchorSuffix
	names := map[string]*file{ledger: {b: bytes.Clone(u.last().db), synced: -1},
		anchor: {b: bytes.Clone(u.last().anchor), synced: -1}}
	// Which file each operation is about: names change hands.
	about := make([]*file, len(ops))
	namesSynced := -1
	now := maps.Clone(names)
	for i, op := range ops {
		name := filepath.Base(op.path)
		switch {
		case op.from != "":
			from := filepath.Base(op.from)
			about[i], now[name] = now[from], now[from]
			delete(now, from)
		case op.call == unix.SYS_FSYNC && now[name] != nil:
			now[name].synced = i
		case op.call == unix.SYS_FSYNC:
			namesSynced = i // the directory's
		case op.isWrite() || op.call == unix.SYS_FTRUNCATE:
			if now[name] == nil {
				now[name] = &file{synced: -1}
			}
			about[i] = now[name]
		}
	}
	for i, op := range ops {
		f := about[i]
		if f == nil {
			continue
		}
		resize := func(size int) {
			f.b = append(f.b, make([]byte, max(0, size-len(f.b)))...)[:size]
		}
		switch {
		case op.from != "":
			if i < namesSynced || keep(i) {
				names[filepath.Base(op.path)] = f
			}
		case op.call == unix.SYS_FTRUNCATE:
			if i < f.synced || keep(i) {
				resize(int(op.size))
			}
		default:
			off := op.off
			if op.call == unix.SYS_WRITE {
				off = f.at
				f.at += int64(len(op.data))
			}
			for at := 0; at < len(op.data); {
				end := min(len(op.data), at+sector-(int(off)+at)%sector)
				if i < f.synced || keep(i) {
					resize(max(len(f.b), int(off)+end))
					copy(f.b[int(off)+at:], op.data[at:end])
				}
				at = end
			}
		}
	}
	return files{names[ledger].b, names[anchor].b}
}
