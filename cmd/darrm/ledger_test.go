package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/constraints"
	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/gamma"
	"github.com/darrm/darrm/ledger"
	"github.com/darrm/darrm/release"
	"github.com/darrm/darrm/votes"
)

// program is this binary as darrm, with a cache of its own.
func program(t *testing.T, dir string, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(self)
	c.Args = append([]string{"darrm"}, args...) // TestMain goes by the name
	c.Dir = dir
	c.Env = append(os.Environ(), "DARRM_CACHE="+filepath.Join(dir, "cache"), "GORACE=atexit_sleep_ms=0")
	return c
}

func exitOf(t *testing.T, dir string, args ...string) (code int, stderr string) {
	t.Helper()
	c := program(t, dir, args...)
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
	h, err := l.History(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return h
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
	for end := time.Now().Add(20 * time.Second); len(entries) < n && time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
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
				plain := []string{"aggregate", "votes.csv", "--m", "3", "--eps", "0.1", "--teacher-delta", "1e-9", "--teachers", "frozen", "--ensemble", "wards", "--ledger", "ledger", "--request-id", "march", "-q"}
				if asJSON {
					plain = append(plain, "--json")
				}
				args := slices.Clone(plain)
				if keyed {
					args = append(args, "--checkpoint", "secret")
				}
				t.Setenv("TMPDIR", t.TempDir()) // the kill leaves the draft there
				c := program(t, dir, args...)
				if _, err := c.StdoutPipe(); err != nil { // nobody reads it
					t.Fatal(err)
				}
				before := killAt(t, c, book, 3)
				if len(before) != 3 || before[1].ID != "march" || before[2].ID != "march" || before[2].Kind != ledger.KindResult {
					t.Fatalf("the answers were not noted before they were out: %v", before)
				}

				out := filepath.Join(dir, "labels.csv")
				if code, said := exitOf(t, dir, append(plain, "--out", out)...); code != int(exitBudget) {
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
	if len(after) != 2 || after[0].Hash != before[0].Hash || after[1].Kind != ledger.KindResult || after[1].ID != before[0].ID {
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
	plain := []string{"train", "--private", "a.csv", "--response", "y", "--task", "logistic", "--clip", "1", "--step-size", "0.1", "--eps", "0.5", "--delta", "1e-4", "--epochs", "2", "--ledger", "ledger", "--request-id", "model", "-q"}
	args := append(slices.Clone(plain), "--checkpoint", "secret")
	c := program(t, dir, args...)
	if _, err := c.StdoutPipe(); err != nil { // nobody reads it
		t.Fatal(err)
	}
	before := killAt(t, c, book, 2)
	if len(before) != 2 || before[1].Kind != ledger.KindResult {
		t.Fatalf("the model was not noted before it was out: %v", before)
	}
	if code, said := exitOf(t, dir, append(plain, "--out", "model.json")...); code != int(exitBudget) || !strings.Contains(said, before[1].Result.String()) {
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
	if err := os.WriteFile(filepath.Join(dir, "a.csv"), []byte("u,y\n1,1\n-1,0\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{"train", "--private", "a.csv", "--response", "y", "--task", "logistic", "--clip", "1", "--step-size", "0.1", "--eps", "0.5", "--delta", "1e-4", "--epochs", "1000", "--ledger", "ledger", "--request-id", "model", "--checkpoint", "secret", "--out", "model.json", "-q"}
	before := killAt(t, program(t, dir, args...), book, 1)
	if len(before) != 1 {
		t.Fatalf("entries %v", before)
	}
	checkAbsent(t, filepath.Join(dir, "model.json"))
	finish(t, dir, book, before, "model.json", args...)
}

// A document that cannot be noted is not seen, and one that is noted is what is seen.
func TestPublishNotesFirst(t *testing.T) {
	path := filepath.Join(t.TempDir(), "model.json")
	for _, out := range []string{"", path} {
		var stdout bytes.Buffer
		a := &app{out: &stdout}
		gone := errors.New("no ledger any more")
		var noted ledger.Digest
		encode := func(w io.Writer) error { return encodeJSON(w, "model") }
		err := publish(a, out, func(d ledger.Digest) error { noted = d; return gone }, encode)
		if !errors.Is(err, gone) || stdout.Len() > 0 {
			t.Errorf("%q: %v, stdout %q", out, err, stdout.String())
		}
		checkAbsent(t, path)
		if err := publish(a, out, func(d ledger.Digest) error { return nil }, encode); err != nil {
			t.Fatal(err)
		}
		got := ledger.Digest(sha256.Sum256(stdout.Bytes()))
		if out != "" {
			got = digestOf(t, path)
		}
		if got != noted {
			t.Errorf("%q: seen %v, noted %v", out, got, noted)
		}
	}
}

// output is a file of labels, or a document, at path, with answers to two queries.
func output(t *testing.T, path string, stdout *bytes.Buffer, asJSON bool) answerWriter {
	t.Helper()
	p, err := constraints.NewProblem(3, 3, 0.1, 1e-5)
	if err != nil {
		t.Fatal(err)
	}
	f, err := gamma.Constant(3, 0)
	if err != nil {
		t.Fatal(err)
	}
	certified, err := gamma.Certify(t.Context(), p, f)
	if err != nil {
		t.Fatal(err)
	}
	g, err := ensemble.DaRRM(certified, accountant.ReplaceOne)
	if err != nil {
		t.Fatal(err)
	}
	report := &releaseReport{aggregator: g, problem: p}
	if err := report.add(2); err != nil {
		t.Fatal(err)
	}
	flags := &aggregateFlags{out: path, outFormat: "auto", outCompression: "auto"}
	w, err := flags.create(&app{out: stdout, json: asJSON}, []string{"0", "1"}, report, true)
	if err != nil {
		t.Fatal(err)
	}
	r, err := votes.Open(t.Context(), votes.Options{Stdin: strings.NewReader("query,t1,t2,t3\nx,1,1,0\ny,0,0,0\n")}, "-")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for b, err := range r.Batches() {
		if err == nil {
			err = w.write(b, make([]int, b.Len()))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return w
}

// noteKillEnv makes TestNotedBeforeTheyAreSeen a process that dies while the answers are noted.
const noteKillEnv = "DARRM_TEST_KILL_IN_NOTE"

// The note comes when the answers are complete and nothing of them can be seen: not on
// stdout, not in the file, which holds what it held. If it fails, or the process
// dies in it, that stays so.
func TestNotedBeforeTheyAreSeen(t *testing.T) {
	if dir := os.Getenv(noteKillEnv); dir != "" {
		w := output(t, filepath.Join(dir, "labels"), nil, os.Getenv(noteKillEnv+"_JSON") != "")
		err := w.publish(func(ledger.Digest) error {
			p, err := os.FindProcess(os.Getpid())
			if err == nil {
				err = p.Kill()
			}
			time.Sleep(time.Minute)
			return err
		})
		t.Fatal("not killed", err)
	}
	const old = "what was released before"
	for _, asJSON := range []bool{false, true} {
		for _, toFile := range []bool{false, true} {
			dir := t.TempDir()
			path := filepath.Join(dir, "labels")
			var stdout bytes.Buffer
			seen := func() string {
				if !toFile {
					return stdout.String()
				}
				b, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				return string(b)
			}
			out, before := "-", ""
			if toFile {
				out, before = path, old
			}
			if err := os.WriteFile(path, []byte(old), 0o600); err != nil {
				t.Fatal(err)
			}
			name := fmt.Sprintf("json %t, file %t", asJSON, toFile)
			var noted ledger.Digest
			publish := func(fails error) {
				w := output(t, out, &stdout, asJSON)
				err := w.publish(func(d ledger.Digest) error {
					noted = d
					if got := seen(); got != before {
						t.Errorf("%s: seen before it was noted: %q", name, got)
					}
					return fails
				})
				if !errors.Is(err, fails) {
					t.Errorf("%s: %v, want %v", name, err, fails)
				}
				w.abort()
			}
			publish(errors.New("no ledger any more"))
			if got := seen(); got != before {
				t.Errorf("%s: seen without a note: %q", name, got)
			}
			if toFile {
				c := program(t, dir)
				c.Args = []string{"test", "-test.run=^TestNotedBeforeTheyAreSeen$"}
				c.Env = append(c.Env, noteKillEnv+"="+dir)
				if asJSON {
					c.Env = append(c.Env, noteKillEnv+"_JSON=1")
				}
				if said, err := c.CombinedOutput(); err == nil || c.ProcessState.ExitCode() != -1 { // by a signal
					t.Fatalf("%s: not killed: %v, %s", name, err, said)
				}
				if got := seen(); got != before {
					t.Errorf("%s: seen after a death: %q", name, got)
				}
			}
			publish(nil)
			if got := seen(); got == before || ledger.Digest(sha256.Sum256([]byte(got))) != noted {
				t.Errorf("%s: %q, noted %v", name, got, noted)
			}
			if !asJSON && seen() != "query,label\nx,0\ny,0\n" {
				t.Errorf("%s: %q", name, seen())
			}
		}
	}
}

// A ledger that is gone, or another one, when the answers are ready: the charge cannot be
// shown any more, and nothing is released.
func TestNothingIsReleasedWithoutTheLedger(t *testing.T) {
	dir := t.TempDir()
	path := makeLedger(t, dir)
	l, err := ledger.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	unit, err := ledger.NewCost(1, 0)
	if err != nil {
		t.Fatal(err)
	}
	request := ledger.Request{ID: "march", Count: 1, Unit: unit, Relation: ledger.ReplaceOne}
	acc := &payment{ledger: l, bill: &release.Bill{Release: request}}
	if acc.note(t.Context())(ledger.Digest{}) != nil || (*payment)(nil).note(t.Context())(ledger.Digest{}) != nil {
		t.Error("noted without a receipt")
	}
	if acc.receipt, err = l.Charge(t.Context(), request); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.Remove(path), os.Remove(path+".anchor"), os.Remove(path+".secret")); err != nil {
		t.Fatal(err)
	}
	for _, again := range []bool{false, true} {
		if again {
			makeLedger(t, dir)
		}
		out := filepath.Join(dir, "labels.csv")
		w := output(t, out, nil, false)
		err := w.publish(acc.note(t.Context()))
		w.abort()
		if code := exitCode(t.Context(), err); code != exitLedger || !strings.Contains(err.Error(), `request "march" is charged`) {
			t.Errorf("another ledger %t: exit code %d, %v", again, code, err)
		}
		checkAbsent(t, out)
		if left, err := filepath.Glob(filepath.Join(dir, ".*")); err != nil || left != nil {
			t.Errorf("left: %v, %v", left, err)
		}
	}
}
