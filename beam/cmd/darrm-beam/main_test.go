package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/ledger"
)

// This test binary is the command, too.
const commandEnv = "DARRM_BEAM_TEST_COMMAND"

func TestMain(m *testing.M) {
	if os.Getenv(commandEnv) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// program is the command, where the README says to be.
func program(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(must.Get(os.Executable())(t), args...)
	cmd.Dir = "../.."
	cmd.Env = append(os.Environ(), commandEnv+"=1", "COLUMNS=80")
	return cmd
}

// command runs it.
func command(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	cmd := program(t, args...)
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	_ = cmd.Run()
	return cmd.ProcessState.ExitCode(), out.String(), said.String()
}

// votesArgs release the example's votes, in a folder.
func votesArgs(dir string) []string {
	return []string{"--votes", "../testdata/mnist-5v8/votes.csv", "--table", "testdata/table.json",
		"--eps", "0.13577", "--teacher-delta", "1e-4", "--accept-weak",
		"--out", filepath.Join(dir, "labels.csv"), "--temp", filepath.Join(dir, "temp"), "--key-dir",
		filepath.Join(dir, "keys")}
}

// newFolder has a folder for temporary files and one for keys.
func newFolder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"temp", "keys"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// checkClean shows that neither key nor temporary file is left.
func checkClean(t *testing.T, dir string) {
	t.Helper()
	for _, pattern := range []string{"temp/*", "keys/*", ".darrm-labels*", "*.tmp*"} {
		if left := must.Get(filepath.Glob(filepath.Join(dir, pattern)))(t); len(left) > 0 {
			t.Errorf("left: %q", left)
		}
	}
}

// paid makes a ledger, and returns the flags that charge it.
func paid(t *testing.T, location string, eps float64, id string) []string {
	t.Helper()
	if _, err := ledger.Create(t.Context(), location, must.Get(ledger.NewBudget(eps, 0.999))(t),
		ledger.ReplaceOne); err != nil {
		t.Fatal(err)
	}
	return []string{"--ledger", location, "--request-id", id, "--teachers", "fresh"}
}

func history(t *testing.T, location string) []ledger.Entry {
	t.Helper()
	l := must.Get(ledger.Open(t.Context(), location))(t)
	return must.Get(l.History(t.Context()))(t)
}

// with appends to a copy.
func with(args []string, more ...string) []string {
	return append(args[:len(args):len(args)], more...)
}

// The README's local command works as it stands there.
func TestREADME(t *testing.T) {
	readme := must.Get(os.ReadFile("../../README.md"))(t)
	_, rest, ok := strings.Cut(string(readme), "\ngo run ./cmd/darrm-beam ")
	if !ok {
		t.Fatal("the README has no command")
	}
	line, _, _ := strings.Cut(rest, "\n")
	out := filepath.Join(t.TempDir(), "labels.csv")
	args := strings.Fields(line)
	for i, a := range args {
		if a == "labels.csv" {
			args[i] = out
		}
	}
	code, _, said := command(t, args...)
	if code != 0 {
		t.Fatalf("exit %d: %s", code, said)
	}
	for _, want := range []string{"1866 labels from K = 11 teachers",
		"votes: t1 … t11 (11 columns); id: query; truth: none; not read:\n            label\n"} {
		if !strings.Contains(said, want) {
			t.Errorf("it says %q, want %q", said, want)
		}
	}
	b := must.Get(os.ReadFile(out))(t)
	if lines := strings.Count(string(b), "\n"); lines != 1867 ||
		!strings.HasPrefix(string(b), "query,label\n0,") {
		t.Errorf("%d lines", lines)
	}
}

// A dry run tells the price, reads the votes, and leaves nothing: no label, no entry, no key.
func TestDryRun(t *testing.T) {
	dir := newFolder(t)
	book := filepath.Join(dir, "ledger")
	args := with(votesArgs(dir), paid(t, book, 1e4, "march")...)
	code, out, said := command(t, with(args, "--dry-run")...)
	if code != 0 || !strings.Contains(out, "233.008") || !strings.Contains(out, "dry run") ||
		!strings.Contains(said, "one label:") {
		t.Errorf("exit %d\n%s\n%s", code, out, said)
	}
	if h := history(t, book); len(h) != 0 {
		t.Errorf("entries %+v", h)
	}
	if _, err := os.Stat(filepath.Join(dir, "labels.csv")); err == nil {
		t.Error("there is an output")
	}
	checkClean(t, dir)
	if code, _, said = command(t, with(args, "--dry_run")...); code != 2 ||
		!strings.Contains(said, "--dry-run prices a release") {
		t.Errorf("the SDK's --dry_run: exit %d, %s", code, said)
	}
	if h := history(t, book); len(h) != 0 {
		t.Errorf("entries %+v", h)
	}
}

// Every failure has the exit code of darrm's kind of it, and leaves no output, no key and nothing
// that is temporary.
func TestExitCodes(t *testing.T) {
	dir := newFolder(t)
	good := votesArgs(dir)
	small := paid(t, filepath.Join(dir, "small.ledger"), 1, "march")
	torn := paid(t, filepath.Join(dir, "torn.ledger"), 1e4, "march")
	file := func(name, content string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	file("torn.ledger", "no ledger\n")
	table := file("table.json", string(must.Get(os.ReadFile("../../testdata/table.json"))(t)))
	pipe := filepath.Join(dir, "pipe") // which nobody writes to
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		code int
		args []string
		want string
	}{
		{2, nil, "--table is missing"},
		{2, good[:4], "out ="},
		{2, good[2:], "no file of votes"},
		{2, with(good, "stray"), "stray"},
		{2, with(good, "--none"), "not defined: --none"},
		{2, with(good, "--records", "-1"), "records = -1"},
		{2, with(good, "--out", table, "--table", table, "--force"), "--table"},
		{2, with(good, "--data", "disjoint"), "affected = 1"},
		{2, with(good, "--affected", "2"), "affected = 2"},
		{2, with(good, "--eps", "2"), "eps = 2"},
		{2, with(good, "--affected", "1", "--data", "disjoint"), "exclude each other"},
		{2, with(good, "--neighbours", "both"), "neighbours"},
		{2, with(good, "--attempts", "-1"), "attempts"},
		{2, with(good, "--out", filepath.Join(dir, "labels.xlsx")), "neither read nor written"},
		{2, with(good, "--key-dir", "", "--runner", "flink", "--environment_type", "docker"),
			"--key-dir is missing"},
		{2, with(good, "--runner", "flink", "--environment_type", "docker"), "--endpoint is missing"},
		{2, with(good, "--runner", "none"), "--runner"},
		{2, with(good, "--runner", "universal", "--environment_type", "loopback", "--endpoint",
			"localhost:1", "--async"), "async"},
		{3, with(good, "--table", filepath.Join(dir, "none")), "no such file"},
		{3, with(good, "--votes", filepath.Join(dir, "none")), "no such file"},
		{3, with(good, "--votes", pipe), "no regular file"},
		{3, with(good, "--table", pipe), pipe},
		{3, with(good, "--votes", file("bad.csv", "query,t1,t2\nx,0,2\n")), "bad.csv"},
		{3, with(good, "--table", file("bad.json", "{}")), "table"},
		{3, with(good, "--ledger", filepath.Join(dir, "none"), "--request-id", "a", "--teachers",
			"fresh"), "no ledger"},
		{4, with(good, "--table",
			file("lie.json", strings.Replace(string(must.Get(os.ReadFile(table))(t)), `"m": 3`, `"m": 1`,
				1))), ""},
		{6, with(good, "--out", filepath.Join(dir, "none", "labels.csv")), "no folder"},
		{6, with(good, "--temp", filepath.Join(dir, "none")), "--temp"},
		{6, with(good, "--key-dir", filepath.Join(dir, "none")), "--key-dir"},
		{7, with(good, small...), "budget"},
		{8, with(good, torn...), "damaged"},
	} {
		code, out, said := command(t, tt.args...)
		if code != tt.code || !strings.Contains(said, tt.want) || out != "" ||
			strings.Count(said, "\n") > 2 {
			t.Errorf("%q: exit %d, want %d and %q: %s%s", tt.args, code, tt.code, tt.want, out, said)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "labels.csv")); err == nil {
		t.Error("there is an output")
	}
	checkClean(t, dir)
}
