package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/votes"
)

// A toy is something new for the program: a file of testdata/toy, by the path in the module that it
// gets, and a row that follows a line of another file.
type toy struct{ file, path, edited, line, row string }

var toys = []toy{
	{
		"mechanism.go.txt", "ensemble/toyflip.go", "ensemble/description.go",
		"\t\tMissing: true, calibrate: pure(PermuteAndFlip)},\n",
		"\t{Name: \"toy-flip\", About: \"toy flip\", calibrate: pure(toyFlip)},\n",
	},
	{
		"format.go.txt", "votes/toy/toy.go", "cmd/darrm/linked.go",
		"\t_ \"github.com/darrm/darrm/votes/parquet\"\n", "\t_ \"github.com/darrm/darrm/votes/toy\"\n",
	},
}

// toyFolder and toyProgram are the folder of the program with all toys compiled in, and the program.
// The tree is not touched.
var toyFolder string

var toyProgram = sync.OnceValues(func() (program string, err error) {
	if toyFolder, err = os.MkdirTemp("", "toy"); err != nil {
		return "", err
	}
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		return "", err
	}
	replace := map[string]string{}
	for i, t := range toys {
		replace[filepath.Join(root, t.path)] = filepath.Join(root, "cmd", "darrm", "testdata", "toy", t.file)
		source, err := os.ReadFile(filepath.Join(root, t.edited))
		if err != nil {
			return "", err
		}
		if bytes.Count(source, []byte(t.line)) != 1 {
			return "", fmt.Errorf("%s does not have %q once", t.edited, t.line)
		}
		changed := filepath.Join(toyFolder, fmt.Sprintf("%d.go", i))
		if err := os.WriteFile(changed, bytes.Replace(source, []byte(t.line), []byte(t.line+t.row), 1),
			0o600); err != nil {
			return "", err
		}
		replace[filepath.Join(root, t.edited)] = changed
	}
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	overlay := filepath.Join(toyFolder, "overlay.json")
	if err := os.WriteFile(overlay, text, 0o600); err != nil {
		return "", err
	}
	program = filepath.Join(toyFolder, "darrm")
	if out, err := exec.Command("go", "build", "-ldflags=-s -w", "-overlay", overlay,
		"-o", program, ".").CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w\n%s", err, out)
	}
	return program, nil
})

// toyRun runs the program, which must succeed, and returns all that it prints.
func toyRun(t *testing.T, program string, args ...string) string {
	t.Helper()
	out, err := exec.Command(program, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("darrm %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// A new format is two files, its package and the line that links it: flags, completion, help,
// reading and writing follow from its row.
func TestToyFormat(t *testing.T) {
	t.Parallel()
	program := must.Get(toyProgram())(t)
	dir := t.TempDir()
	file := filepath.Join(dir, "votes.bars")
	if err := os.WriteFile(file, []byte("BARS|query|t1|t2|t3\nq1|1|1|1\nq2|0|1|0\n"), 0o600); err !=
		nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		want string
		args []string
	}{
		{`"bars"`, []string{"aggregate", "--help-all"}},
		{"Toy bars", []string{"aggregate", "--help-all"}},
		{"bars\n", []string{"__complete", "aggregate", "--format", ""}},
		{"bars\n", []string{"__complete", "aggregate", "--out-format", ""}},
		{"bars\n", []string{"__complete", "compare", ""}},
		{"2 queries", []string{"votes", "describe", file}},
	} {
		if got := toyRun(t, program, tt.args...); !strings.Contains(got, tt.want) {
			t.Errorf("darrm %s has no %q:\n%s", strings.Join(tt.args, " "), tt.want, got)
		}
	}
	out := filepath.Join(dir, "labels.bars")
	toyRun(t, program, "aggregate", file, "--m", "3", "--eps", "0.1", "--teacher-delta", "0",
		"--affected", "1", "--out", out)
	if got := string(must.Get(os.ReadFile(out))(t)); strings.Count(got, "|") != 2 ||
		!strings.HasPrefix(got, "q1|") {
		t.Errorf("labels %q", got)
	}
}

// docs/formats.md lists the table of formats.
func TestFormatsPage(t *testing.T) {
	page := string(must.Get(os.ReadFile(filepath.Join("..", "..", "docs", "formats.md")))(t))
	yes := map[bool]string{true: "yes", false: "no"}
	for _, f := range votes.Formats() {
		row := fmt.Sprintf("| `%s` | %s | `.%s` | %s | %s |", f.Name, f.Title,
			strings.Join(f.Endings, "`, `."), yes[f.Wrapped], yes[f.Labels])
		if !strings.Contains(page, row+"\n") {
			t.Errorf("docs/formats.md does not have the row\n%s", row)
		}
	}
}
