package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
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

func command(t *testing.T, args ...string) (output string, err error) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, args...)
	cmd.Dir = "../.." // where the README says to be
	cmd.Env = append(os.Environ(), commandEnv+"=1")
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// The README's local command works as it stands there.
func TestREADME(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	const begin = "\ngo run ./cmd/darrm-beam "
	_, rest, ok := strings.Cut(string(readme), begin)
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
	said, err := command(t, args...)
	if err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	for _, want := range []string{"1866 labels from K = 11 teachers", "votes: t1 … t11 (11 columns); id: query; truth: label"} {
		if !strings.Contains(said, want) {
			t.Errorf("it says %q, want %q", said, want)
		}
	}
	b, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	if lines := strings.Count(string(b), "\n"); lines != 1867 || !strings.HasPrefix(string(b), "query,label\n0,") {
		t.Errorf("%d lines", lines)
	}
}

func TestUsageErrors(t *testing.T) {
	out := filepath.Join(t.TempDir(), "labels.csv")
	table := filepath.Join(t.TempDir(), "table.json")
	b, err := os.ReadFile("../../testdata/table.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(table, b, 0o600); err != nil {
		t.Fatal(err)
	}
	good := []string{"--votes", "../testdata/mnist-5v8/votes.csv", "--table", table, "--out", out}
	for _, tt := range []struct {
		args []string
		want string
	}{
		{nil, "--table is missing"},
		{good[:4], "out ="},
		{good[2:], "no file of votes"},
		{append(good[:6:6], "stray"), "stray"},
		{append(good[:6:6], "--records", "-1"), "records = -1"},
		{append(good[:4:4], "--out", table, "--force"), "--table"},
		{append(good[:6:6], "--eps", "0.13577", "--teacher-delta", "1e-4", "--data", "disjoint"), "affected = 1"},
		{append(good[:6:6], "--eps", "0.13577", "--teacher-delta", "1e-4", "--affected", "2"), "affected = 2"},
		{append(good[:6:6], "--eps", "0.13577"), "teacher-delta"},
		{append(good[:6:6], "--affected", "1", "--data", "disjoint"), "exclude each other"},
		{append(good[:6:6], "--neighbours", "both"), "neighbours"},
		{append(good[:6:6], "--runner", "flink", "--environment_type", "docker"), "--key-dir is missing"},
		{append(good[:6:6], "--runner", "universal", "--environment_type", "loopback", "--endpoint", "localhost:1", "--async"), "async"},
		{append(good[:6:6], "--ledger", filepath.Join(t.TempDir(), "none"), "--request-id", "a", "--teachers", "fresh"), "no ledger"},
	} {
		said, err := command(t, tt.args...)
		if err == nil || !strings.Contains(said, tt.want) {
			t.Errorf("%q: %v, %q, want %q", tt.args, err, said, tt.want)
		}
	}
	if _, err := os.Stat(out); err == nil {
		t.Error("there is an output")
	}
}
