package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/internal/randsrc/stream"
	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/learn/data"
	"github.com/darrm/darrm/learn/federated"
	"github.com/darrm/darrm/learn/federated/rounds"
	"github.com/darrm/darrm/learn/loss"
)

// This test binary is the command, too.
const commandEnv = "DARRM_BEAM_FEDERATED_TEST_COMMAND"

func TestMain(m *testing.M) {
	if os.Getenv(commandEnv) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

func command(t *testing.T, dir string, args ...string) (output string, err error) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), commandEnv+"=1")
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// A round from its files to its files, with a silo missing, as the README has it; and what is
// refused.
func TestRound(t *testing.T) {
	dir := t.TempDir()
	p := must.Get(rounds.New(federated.PSGM{
		Setting: federated.Setting{
			Loss: must.Get(loss.Parse("ridge"))(t), Silos: []int{7, 5, 4}, Rounds: 4, StepSize: 0.1,
			GradientClip: 1, DifferenceClip: 1, Target: accountant.Cost{Delta: 1e-5},
		},
		Momentum: 0.5, Epsilon: 1, Account: federated.Unshuffled, Missing: 4,
	}, 2, rounds.Columns{}))(t)
	r := p.First()
	write := func(name string, b []byte) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("plan.json", must.Get(p.Encode())(t))
	write("0.round", must.Get(r.Encode())(t))
	for _, name := range []string{"in", "book"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for m, n := range p.Silos()[:2] {
		records := must.Get(data.NewRecords(n, 2, make([]float64, 2*n), make([]float64, n)))(t)
		write(filepath.Join("in", fmt.Sprintf("%d.reports", m)),
			must.Get(p.Answer(t.Context(), r, m, records, stream.Seeded(uint64(m))))(t))
	}
	args := strings.Fields(
		"--plan plan.json --round 0.round --reports in/*.reports --book book --shuffled 0.shuffled " +
			"--out 1.round")
	said, err := command(t, dir, args...)
	if err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	for _, want := range []string{"without silos [3]",
		"the reports of 2 silos, shuffled: 12 of gradients, 0 of differences", "round 1 of 4 is next"} {
		if !strings.Contains(said, want) {
			t.Errorf("it says %q, want %q", said, want)
		}
	}
	next := must.Get(p.Aggregate(t.Context(), r,
		must.Get(os.ReadFile(filepath.Join(dir, "0.shuffled")))(t)))(t)
	if got := must.Get(os.ReadFile(filepath.Join(dir, "1.round")))(t); !bytes.Equal(got,
		must.Get(next.Encode())(t)) {
		t.Errorf("the next round is %s", got)
	}
	write("other", []byte("what silos have answered"))
	with := func(more ...string) []string { return append(args[:len(args):len(args)], more...) }
	for _, tt := range []struct {
		code int
		args []string
		want string
	}{
		{0, args, "round 1 of 4 is next"}, // the same again
		{2, nil, "--plan or --round is missing"},
		{2, with("stray"), "stray"},
		{2, append(args[:2:2], args[4:]...), "--plan or --round is missing"},
		{2, with("--reports", "in/1.reports"), "given twice"},
		{2, with("--out", "plan.json"), "same file"},
		{2, with("--runner", "flink", "--environment_type", "docker"), "--key-dir is missing"},
		{2, with("--attempts", "-1"), "attempts"},
		{3, with("--round", "none"), "no such file"},
		{3, with("--round", "plan.json"), "round"},
		{3, append(args[:4:4], append([]string{"--reports", "in/0.reports"}, args[6:]...)...), "reports"},
		{6, with("--out", "other"), "--out"},
		{6, with("--book", "plan.json"), "book"},
	} {
		if said, err := command(t, dir, tt.args...); exitOf(err) != tt.code ||
			!strings.Contains(said, tt.want) {
			t.Errorf("%q: %v, want exit %d: %q, want %q", tt.args, err, tt.code, said, tt.want)
		}
	}
	// Other reports of a round that the book knows.
	records := must.Get(data.NewRecords(7, 2, make([]float64, 14), make([]float64, 7)))(t)
	write(filepath.Join("in", "0.reports"),
		must.Get(p.Answer(t.Context(), r, 0, records, stream.Seeded(9)))(t))
	if said, err := command(t, dir, args...); exitOf(err) != 7 ||
		!strings.Contains(said, "hint: use what was released then") {
		t.Errorf("other reports: %v: %s", err, said)
	}
	// darrm federated shuffle ends as this program does, and gives the same advice: both pass the
	// rules of private learning to package exitcode.
	darrm := filepath.Join(t.TempDir(), "darrm")
	build := exec.Command("go", "build", "-o", darrm, "./cmd/darrm")
	build.Dir, build.Env = filepath.Join("..", "..", ".."), append(os.Environ(), "GOWORK=off", "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, tt := range []struct{ plan, round, book string }{
		{"plan.json", "0.round", "book"}, {"plan.json", "plan.json", "book"}, {"plan.json", "none", "book"},
		{"0.round", "0.round", "book"}, {"plan.json", "0.round", "plan.json"},
	} {
		beam, err := command(t, dir, "--plan", tt.plan, "--round", tt.round, "--book", tt.book,
			"--reports", "in/0.reports", "--reports", "in/1.reports", "--out", "late.round")
		cmd := exec.Command(darrm, "federated", "shuffle", tt.plan, tt.round, "in/0.reports",
			"in/1.reports", "--book", tt.book, "-o", "late.shuffled")
		cmd.Dir = dir
		alone, aloneErr := cmd.CombinedOutput()
		if exitOf(err) == 0 || exitOf(err) != exitOf(aloneErr) || hint(beam) != hint(string(alone)) {
			t.Errorf("%+v: exit %d here and %d by darrm\n%s%s", tt, exitOf(err), exitOf(aloneErr), beam, alone)
		}
	}
}

// hint returns the advice of what a program said.
func hint(said string) string {
	_, advice, _ := strings.Cut(said, ": hint: ")
	return advice
}

func exitOf(err error) int {
	var end *exec.ExitError
	if errors.As(err, &end) {
		return end.ExitCode()
	}
	return 0
}
