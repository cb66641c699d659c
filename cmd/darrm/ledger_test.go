package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/ledger"
	"github.com/darrm/darrm/release/exitcode"
)

// process is this binary as darrm, with a cache of its own.
func process(t *testing.T, dir string, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(self)
	c.Args = append([]string{"darrm"}, args...) // TestMain goes by the name
	c.Dir = dir
	c.Env = append(os.Environ(), "DARRM_CACHE="+filepath.Join(dir, "cache"),
		"GORACE=atexit_sleep_ms=0")
	return c
}

func exitOf(t *testing.T, dir string, args ...string) (code int, stderr string) {
	t.Helper()
	c := process(t, dir, args...)
	var said bytes.Buffer
	c.Stderr = &said
	var exited *exec.ExitError
	if err := c.Run(); err != nil && !errors.As(err, &exited) {
		t.Fatal(err)
	}
	return c.ProcessState.ExitCode(), said.String()
}

// makeLedger makes one with enough for what is released here.
func makeLedger(t *testing.T, dir string) string {
	t.Helper()
	b, err := ledger.NewBudget(1, 0.1)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "ledger")
	if _, err := ledger.Create(t.Context(), path, b, ledger.ReplaceOne); err != nil {
		t.Fatal(err)
	}
	return path
}

func historyOf(t *testing.T, path string) []ledger.Entry {
	t.Helper()
	l, err := ledger.Open(context.Background(), path)
	if err != nil {
		t.Fatal(err)
	}
	return must.Get(l.History(context.Background()))(t)
}

func digestOf(t *testing.T, path string) ledger.Digest {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return sha256.Sum256(b)
}

func checkAbsent(t *testing.T, path string) {
	t.Helper()
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%s is there (%v)", path, err)
	}
}

// killAt runs c and kills it when the ledger has n entries, which it returns.
func killAt(t *testing.T, c *exec.Cmd, book string, n int) (entries []ledger.Entry) {
	t.Helper()
	var said bytes.Buffer
	c.Stderr = &said
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(time.Minute); len(entries) < n &&
		time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		entries = historyOf(t, book)
	}
	if err := c.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := c.Wait(); c.ProcessState.ExitCode() != -1 { // by a signal
		t.Fatalf("not killed: %v, %s", err, said.String())
	}
	return entries
}

// A release whose reader has stopped reading is killed: its answers are in the ledger and
// not out. It is not charged again, not answered again with other coins, and where their
// key was kept it is finished with the same ones, of which the ledger has the digest.
func TestKilledBetweenLedgerAndReader(t *testing.T) {
	for _, asJSON := range []bool{false, true} {
		for _, keyed := range []bool{false, true} {
			t.Run(fmt.Sprintf("json %t, checkpoint %t", asJSON, keyed), func(t *testing.T) {
				dir := t.TempDir()
				book := makeLedger(t, dir)
				rows := "t1,t2,t3\n" + strings.Repeat("1,1,0\n0,0,0\n", 20_000) // more labels than a pipe holds
				if err := os.WriteFile(filepath.Join(dir, "votes.csv"), []byte(rows), 0o600); err != nil {
					t.Fatal(err)
				}
				plain := []string{"aggregate", "votes.csv", "--m", "3", "--eps", "0.1", "--teacher-delta",
					"1e-9", "--teachers", "frozen", "--ensemble", "wards", "--ledger", "ledger", "--request-id",
					"march", "-q"}
				if asJSON {
					plain = append(plain, "--json")
				}
				args := slices.Clone(plain)
				if keyed {
					args = append(args, "--checkpoint", "secret")
				}
				t.Setenv("TMPDIR", t.TempDir()) // the kill leaves the draft there
				c := process(t, dir, args...)
				if _, err := c.StdoutPipe(); err != nil { // nobody reads it
					t.Fatal(err)
				}
				before := killAt(t, c, book, 3)
				if len(before) != 3 || before[1].ID != "march" || before[2].ID != "march" ||
					before[2].Kind != ledger.KindResult {
					t.Fatalf("the answers were not noted before they were out: %v", before)
				}

				out := filepath.Join(dir, map[bool]string{false: "labels.csv", true: "labels.json"}[asJSON])
				if code, said := exitOf(t, dir, append(plain, "--out", out)...); code != int(exitcode.Budget) {
					t.Errorf("again, without the key: exit code %d, %s", code, said)
				}
				checkAbsent(t, out)
				if keyed {
					if code, said := exitOf(t, dir, append(args, "--out", out)...); code != 0 {
						t.Fatalf("again, with the key: exit code %d, %s", code, said)
					}
					if got := digestOf(t, out); got != before[2].Result {
						t.Errorf("the labels are %v, the ledger noted %v", got, before[2].Result)
					}
					checkAbsent(t, filepath.Join(dir, "secret"))
				}
				if after := historyOf(t, book); len(after) != 3 || after[2].Hash != before[2].Hash {
					t.Errorf("entries %v, then %v", before, after)
				}
			})
		}
	}
}

// finish runs a command again that was killed after its charge: it is finished, charged no
// more, noted once, and its secret file is gone.
func finish(t *testing.T, dir, book string, before []ledger.Entry, out string, args ...string) {
	t.Helper()
	if _, err := os.Stat(filepath.Join(dir, "secret")); err != nil {
		t.Fatal(err)
	}
	if code, said := exitOf(t, dir, args...); code != 0 {
		t.Fatalf("again: exit code %d, %s", code, said)
	}
	checkAbsent(t, filepath.Join(dir, "secret"))
	after := historyOf(t, book)
	if len(after) != 2 || after[0].Hash != before[0].Hash || after[1].Kind != ledger.KindResult ||
		after[1].ID != before[0].ID {
		t.Fatalf("entries %v, then %v", before, after)
	}
	if got := digestOf(t, filepath.Join(dir, out)); got != after[1].Result {
		t.Errorf("%s is %v, the ledger noted %v", out, got, after[1].Result)
	}
}

// A training that is killed after it was noted, with the model on its way to a reader who
// does not read, is finished from its checkpoint: the same model, not charged again. Without
// the checkpoint it is refused.
func TestTrainKilledBetweenLedgerAndReader(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	book := makeLedger(t, dir)
	const dim = 4000 // a longer model than a pipe holds
	var rows strings.Builder
	for i := range dim {
		fmt.Fprintf(&rows, "x%d,", i)
	}
	fmt.Fprintf(&rows, "y\n%s1\n%s0\n", strings.Repeat("1,", dim), strings.Repeat("0,", dim))
	if err := os.WriteFile(filepath.Join(dir, "a.csv"), []byte(rows.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	plain := []string{"train", "shuffled", "--private", "a.csv", "--response", "y", "--task",
		"logistic", "--clip", "1", "--step-size", "0.1", "--eps", "0.5", "--delta", "1e-4", "--epochs",
		"2", "--ledger", "ledger", "--request-id", "model", "-q"}
	args := append(slices.Clone(plain), "--checkpoint", "secret")
	c := process(t, dir, args...)
	if _, err := c.StdoutPipe(); err != nil { // nobody reads it
		t.Fatal(err)
	}
	before := killAt(t, c, book, 2)
	if len(before) != 2 || before[1].Kind != ledger.KindResult {
		t.Fatalf("the model was not noted before it was out: %v", before)
	}
	if code, said := exitOf(t, dir, append(plain, "--out", "model.json")...); code !=
		int(exitcode.Budget) || !strings.Contains(said, before[1].Result.String()[:8]+"…") {
		t.Errorf("again, without the checkpoint: exit code %d, %s", code, said)
	}
	checkAbsent(t, filepath.Join(dir, "model.json"))
	finish(t, dir, book, before, "model.json", append(args, "--out", "model.json")...)
}

// A training that is killed in its steps is finished, and noted then.
func TestTrainKilledBetweenChargeAndNote(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	book := makeLedger(t, dir)
	if err := os.WriteFile(filepath.Join(dir, "a.csv"), []byte("u,y\n1,1\n-1,0\n"), 0o600); err !=
		nil {
		t.Fatal(err)
	}
	args := []string{"train", "shuffled", "--private", "a.csv", "--response", "y", "--task",
		"logistic", "--clip", "1", "--step-size", "0.1", "--eps", "0.5", "--delta", "1e-4", "--epochs",
		"1000", "--ledger", "ledger", "--request-id", "model", "--checkpoint", "secret", "--out", "model.json", "-q"}
	before := killAt(t, process(t, dir, args...), book, 1)
	if len(before) != 1 {
		t.Fatalf("entries %v", before)
	}
	checkAbsent(t, filepath.Join(dir, "model.json"))
	finish(t, dir, book, before, "model.json", args...)
}
