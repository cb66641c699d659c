package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/darrm/darrm/internal/must"
	"github.com/darrm/darrm/votes"
)

// toyProgram builds the program with files of testdata/toy compiled in: added are those files, by
// the paths in the module that they get, and edited is a file of the module in which line stands
// once and is followed by more. The tree is not touched.
func toyProgram(t *testing.T, added map[string]string, edited, line,
	more string) (program string, files int) {
	t.Helper()
	if testing.Short() {
		t.Skip("builds a program")
	}
	dir := t.TempDir()
	root := must.Get(filepath.Abs(filepath.Join("..", "..")))(t)
	replace := map[string]string{}
	for path, toy := range added {
		replace[filepath.Join(root, path)] = filepath.Join(root, "cmd", "darrm", "testdata", "toy", toy)
	}
	source := string(must.Get(os.ReadFile(filepath.Join(root, edited)))(t))
	if strings.Count(source, line) != 1 {
		t.Fatalf("%s does not have %q once", edited, line)
	}
	changed := filepath.Join(dir, filepath.Base(edited))
	if err := os.WriteFile(changed, []byte(strings.Replace(source, line, line+more, 1)),
		0o600); err != nil {
		t.Fatal(err)
	}
	replace[filepath.Join(root, edited)] = changed
	overlay := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(overlay, must.Get(json.Marshal(map[string]any{"Replace": replace}))(t),
		0o600); err != nil {
		t.Fatal(err)
	}
	program = filepath.Join(dir, "darrm")
	if out, err := exec.Command("go", "build", "-ldflags=-s -w", "-overlay", overlay,
		"-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return program, len(replace)
}

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
	const parquet = "\t_ \"github.com/darrm/darrm/votes/parquet\"\n"
	program, files := toyProgram(t, map[string]string{"votes/toy/toy.go": "format.go.txt"},
		"cmd/darrm/linked.go", parquet, strings.Replace(parquet, "parquet", "toy", 1))
	if files != 2 {
		t.Errorf("a format is %d files", files)
	}
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
