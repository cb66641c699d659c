package docs

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"
)

// block is a fenced block of a page.
type block struct {
	page  string
	line  int // of its first line, from 1
	kind  string
	lines []string
	skip  string // why it is not run, by the comment before it
}

var skipped = regexp.MustCompile(`^<!-- not run: (.+) -->$`)

// blocks returns the fenced blocks of a page, in order.
func blocks(page, text string) (out []block) {
	var in *block
	skip := ""
	for i, line := range strings.Split(text, "\n") {
		switch {
		case in == nil && strings.HasPrefix(line, "```"):
			in = &block{page: page, line: i + 2, kind: strings.TrimPrefix(line, "```"), skip: skip}
		case in != nil && line == "```":
			out, in, skip = append(out, *in), nil, ""
		case in != nil:
			in.lines = append(in.lines, line)
		default:
			if m := skipped.FindStringSubmatch(line); m != nil {
				skip = m[1]
			} else if strings.TrimSpace(line) != "" {
				skip = ""
			}
		}
	}
	return out
}

// step is a command with what it prints, or with nil where a page does not say.
type step struct {
	at      string
	command string
	want    []string
}

// steps returns the commands of a block: all lines of "sh" as one, of "console" each line
// after "$ " with what follows it.
func (b block) steps() (out []step) {
	switch b.kind {
	case "sh":
		out = append(out, step{at: fmt.Sprintf("%s:%d", b.page, b.line),
			command: strings.Join(b.lines, "\n")})
	case "console":
		for i, line := range b.lines {
			command, ok := strings.CutPrefix(line, "$ ")
			switch last := len(out) - 1; {
			case ok:
				out = append(out, step{at: fmt.Sprintf("%s:%d", b.page, b.line+i), command: command,
					want: []string{}})
			case last >= 0 && len(out[last].want) == 0 && strings.HasSuffix(out[last].command, `\`):
				out[last].command += "\n" + line
			case last >= 0:
				out[last].want = append(out[last].want, line)
			}
		}
	}
	return out
}

// matches reports whether the text is the one that a page shows: "…" in a line stands for any text,
// a line "…" for any lines. White space at the ends of lines does not count.
func matches(want []string, got string) bool {
	pattern := "(?s)^"
	for _, line := range want {
		line = strings.TrimRight(line, " ")
		if strings.TrimSpace(line) == "…" {
			pattern += "(?:[^\n]*\n)*?"
			continue
		}
		parts := strings.Split(line, "…")
		for i := range parts {
			parts[i] = regexp.QuoteMeta(parts[i])
		}
		pattern += strings.Join(parts, "[^\n]*?") + " *\n"
	}
	text := ""
	for line := range strings.Lines(strings.TrimRight(got, "\n")) {
		text += strings.TrimRight(line, " \n") + "\n"
	}
	return regexp.MustCompile(pattern + "$").MatchString(text)
}

// The commands of the README and of the guides do what is printed beside them. They run in
// one folder for each page, which has the repository's testdata.
func TestCommandsOfThePages(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the commands are for a Unix shell")
	}
	bin := t.TempDir()
	if out, err := exec.Command("go", "build", "-ldflags=-s -w", "-o", bin, "../cmd/darrm").CombinedOutput(); err !=
		nil {
		t.Fatalf("%v\n%s", err, out)
	}
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	pages, err := filepath.Glob("*.md")
	if err != nil {
		t.Fatal(err)
	}
	ran := 0
	for _, page := range append([]string{"../README.md"}, pages...) {
		t.Run(filepath.Base(page), func(t *testing.T) { ran += runPage(t, page, root, bin) })
	}
	if ran < 8 {
		t.Errorf("%d commands were found; a page's blocks are no longer recognised", ran)
	}
}

// runPage runs the commands and programs of a page, and returns how many there are.
func runPage(t *testing.T, page, root, bin string) (ran int) {
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := exec.LookPath("curl"); err != nil && strings.Contains(string(text), "\n$ curl ") {
		t.Skip(err)
	}
	folder := t.TempDir()
	if err := os.Symlink(filepath.Join(root, "testdata"), filepath.Join(folder, "testdata")); err !=
		nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { endServer(filepath.Join(folder, "serve.pid")) })
	for _, b := range blocks(page, string(text)) {
		if b.skip != "" {
			continue
		}
		if b.kind == "go" && strings.HasPrefix(b.lines[0], "package main") {
			ran++
			runProgram(t, b, folder)
		}
		for _, s := range b.steps() {
			ran++
			c := exec.CommandContext(t.Context(), "bash", "-eu", "-c", s.command)
			c.Dir = folder
			// Less memory for each costs less in all (cmd/darrm's tests say why).
			c.Env = append(os.Environ(), "GOGC=200",
				"PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"),
				"XDG_CACHE_HOME="+folder, "COLUMNS=80")
			var out bytes.Buffer
			c.Stdout, c.Stderr = &out, &out
			err := c.Run()
			switch {
			case err != nil && s.want == nil:
				t.Errorf("%s: %v\n%s\n%s", s.at, err, s.command, out.String())
			case s.want != nil && !matches(s.want, out.String()):
				t.Errorf("%s: %s\nprints\n%s\nbut the page shows\n%s", s.at, s.command, out.String(),
					strings.Join(s.want, "\n"))
			}
		}
	}
	return ran
}

// runProgram builds the Go program of a block in the folder, and runs it in one of its own.
func runProgram(t *testing.T, b block, folder string) {
	file := filepath.Join(folder, fmt.Sprintf("line%d.go", b.line))
	if err := os.WriteFile(file, []byte(strings.Join(b.lines, "\n")+"\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	program := strings.TrimSuffix(file, ".go")
	out, err := exec.Command("go", "build", "-ldflags=-s -w", "-o", program, file).CombinedOutput()
	if err == nil {
		c := exec.Command(program)
		c.Dir = t.TempDir()
		out, err = c.CombinedOutput()
	}
	if err != nil {
		t.Errorf("%s:%d: %v\n%s", b.page, b.line, err, out)
	}
}

// endServer ends the server of a page whose commands did not come so far.
func endServer(file string) {
	text, err := os.ReadFile(file)
	if err != nil {
		return // there is none
	}
	if pid, err := strconv.Atoi(strings.TrimSpace(string(text))); err == nil {
		if p, err := os.FindProcess(pid); err == nil {
			_ = p.Kill() // it may have ended
		}
	}
}

func TestMatches(t *testing.T) {
	for _, c := range []struct {
		want []string
		got  string
		ok   bool
	}{
		{[]string{"a", "b"}, "a\nb\n", true},
		{[]string{"a", "b"}, "a\nc\n", false},
		{[]string{"a"}, "a\nb\n", false},
		{[]string{"a", "…"}, "a\nb\nc\n", true},
		{[]string{"a", "…", "d"}, "a\nb\nc\n", false},
		{[]string{"x = …, y"}, "x = 17, y\n", true},
		{[]string{"x = …, y"}, "x = 17\n, y\n", false},
		{[]string{"a.c"}, "abc\n", false},
		{nil, "a\n", false},
		{nil, "", true},
	} {
		if matches(c.want, c.got) != c.ok {
			t.Errorf("%q against %q: not %v", c.want, c.got, c.ok)
		}
	}
}

// Lines of the pages for readers fit a screen, but for tables and quoted output.
func TestLinesAreShort(t *testing.T) {
	for _, page := range []string{"../README.md", "concepts.md", "formats.md", "ledger.md"} {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
		for i, line := range lines {
			if n := len([]rune(line)); n > 120 && !strings.HasPrefix(line, "|") {
				t.Errorf("%s:%d: %d characters", page, i+1, n)
			}
		}
		if page == "../README.md" && len(lines) > 200 {
			t.Errorf("the README has %d lines, more than 200", len(lines))
		}
	}
}
