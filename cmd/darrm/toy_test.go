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

// toyProgram builds the program with the files of testdata/toy compiled in and one line of
// formats.go added. The tree is not touched.
func toyProgram(t *testing.T) string {
	t.Helper()
	if testing.Short() {
		t.Skip("builds a program")
	}
	dir := t.TempDir()
	root := must.Get(filepath.Abs(filepath.Join("..", "..")))(t)
	replace := map[string]string{
		filepath.Join(root, "votes", "toy", "toy.go"): filepath.Join(root, "cmd", "darrm", "testdata", "toy", "format.go.txt"),
	}
	const parquet = "\t_ \"github.com/darrm/darrm/votes/parquet\"\n"
	source := string(must.Get(os.ReadFile("formats.go"))(t))
	if !strings.Contains(source, parquet) {
		t.Fatal("formats.go does not link votes/parquet")
	}
	linked := filepath.Join(dir, "formats.go")
	toy := strings.Replace(parquet, "parquet", "toy", 1)
	if err := os.WriteFile(linked, []byte(strings.Replace(source, parquet, parquet+toy, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	replace[filepath.Join(root, "cmd", "darrm", "formats.go")] = linked
	overlay := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(overlay, must.Get(json.Marshal(map[string]any{"Replace": replace}))(t), 0o600); err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(dir, "darrm")
	if out, err := exec.Command("go", "build", "-overlay", overlay, "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return program
}

// A new format is two files, its package and the line that links it: flags, completion, help,
// reading and writing follow from its row.
func TestToyFormat(t *testing.T) {
	program := toyProgram(t)
	dir := t.TempDir()
	file := filepath.Join(dir, "votes.bars")
	if err := os.WriteFile(file, []byte("BARS|query|t1|t2|t3\nq1|1|1|1\nq2|0|1|0\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	run := func(args ...string) string {
		t.Helper()
		out, err := exec.Command(program, args...).CombinedOutput()
		if err != nil {
			t.Fatalf("darrm %s: %v\n%s", strings.Join(args, " "), err, out)
		}
		return string(out)
	}
	for _, tt := range []struct {
		want string
		args []string
	}{
		{`"bars"`, []string{"aggregate", "--help"}},
		{"Toy bars", []string{"aggregate", "--help"}},
		{"bars\n", []string{"__complete", "aggregate", "--format", ""}},
		{"bars\n", []string{"__complete", "aggregate", "--out-format", ""}},
		{"bars\n", []string{"__complete", "compare", ""}},
		{"2 queries", []string{"votes", "describe", file}},
	} {
		if got := run(tt.args...); !strings.Contains(got, tt.want) {
			t.Errorf("darrm %s has no %q:\n%s", strings.Join(tt.args, " "), tt.want, got)
		}
	}
	out := filepath.Join(dir, "labels.bars")
	run("aggregate", file, "--m", "3", "--eps", "0.1", "--teacher-delta", "0", "--affected", "1", "--out", out)
	if got := string(must.Get(os.ReadFile(out))(t)); strings.Count(got, "|") != 2 || !strings.HasPrefix(got, "q1|") {
		t.Errorf("labels %q", got)
	}
}

// docs/formats.md lists the table of formats.
func TestFormatsPage(t *testing.T) {
	page := string(must.Get(os.ReadFile(filepath.Join("..", "..", "docs", "formats.md")))(t))
	yes := map[bool]string{true: "yes", false: "no"}
	for _, f := range votes.Formats() {
		row := fmt.Sprintf("| `%s` | %s | `.%s` | %s | %s |", f.Name, f.Title, strings.Join(f.Endings, "`, `."), yes[f.Wrapped], yes[f.Labels])
		if !strings.Contains(page, row+"\n") {
			t.Errorf("docs/formats.md does not have the row\n%s", row)
		}
	}
}
