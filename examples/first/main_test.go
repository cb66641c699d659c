package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The README's program runs as it stands there, charges a ledger, and gives the same labels again
// for nothing.
func TestFirst(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(readme), "```go\n")
	block, _, _ := strings.Cut(rest, "```\n")
	program, err := os.ReadFile("main.go")
	if err != nil {
		t.Fatal(err)
	}
	if block == "" || !strings.HasSuffix(string(program), "\n"+block) {
		t.Error("the README has another program")
	}
	dir := t.TempDir()
	bin := filepath.Join(dir, "first")
	if out, err := exec.Command("go", "build", "-ldflags=-s -w", "-o", bin, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	run := func() string {
		c := exec.Command(bin)
		c.Dir = dir
		out, err := c.CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return string(out)
	}
	first := run()
	if !regexp.MustCompile(`^\[[01] [01]\] \(2, 0\)\n$`).MatchString(first) {
		t.Errorf("it prints %q", first)
	}
	book, err := os.ReadFile(filepath.Join(dir, "patients.ledger"))
	if err != nil || strings.Count(string(book), `"kind":"charge"`) != 1 {
		t.Errorf("%s, %v", book, err)
	}
	if again := run(); again != first {
		t.Errorf("%q, then %q", first, again)
	}
	if now, _ := os.ReadFile(filepath.Join(dir, "patients.ledger")); string(now) != string(book) {
		t.Errorf("the second run wrote %q", now)
	}
}
