//go:build unix

package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/darrm/darrm/internal/testing/oddvotes"
)

// printedCommands returns the commands that a survey printed, as a shell reads them.
func printedCommands(talk string) (commands []string) {
	for line := range strings.Lines(talk) {
		last := len(commands) - 1
		switch text := strings.TrimSpace(line); {
		case strings.HasPrefix(line, "  darrm "):
			commands = append(commands, text)
		case last >= 0 && strings.HasSuffix(commands[last], ` \`):
			commands[last] += "\n" + text
		}
	}
	return commands
}

// shell runs a command line by sh, in a folder, where darrm is this binary.
func shell(t *testing.T, dir, line string) (talk string, err error) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	bin := filepath.Join(dir, "bin")
	if err := os.MkdirAll(bin, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(self, filepath.Join(bin, "darrm")); err != nil && !errors.Is(err, os.ErrExist) {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), "sh", "-c", line)
	c.Dir = dir
	c.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "DARRM_CACHE="+filepath.Join(dir, "cache"),
		"COLUMNS=80", "GORACE=atexit_sleep_ms=0")
	var said bytes.Buffer
	c.Stderr = &said
	err = c.Run()
	return said.String(), err
}

// The exit codes for each file of the folder are those of the table of its README.md, and each command
// that is printed succeeds, run by a shell as it stands but for --dry-run.
func TestStrangeVotes(t *testing.T) {
	folder := filepath.Join("..", "..", "votes", "testdata", "strange")
	files, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	unread := map[string]bool{"pipe.csv": true, "trailgarbage.csv.gz": true, "training-index.csv": true}
	commands := map[string]int{"all_missing.csv": 0, "mix_TF.csv": 1, "semicolon_decimalcomma.csv": 1,
		"class_NA.csv": 2, "class_None.csv": 2, "pm1_demo.csv": 2} // of those that are asked about
	seen, cache := 0, t.TempDir() // one for all: many files have as many teachers, and the same tables
	for _, file := range files {
		name := file.Name()
		if name == "README.md" {
			continue
		}
		seen++
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if err := os.Symlink(cache, filepath.Join(dir, "cache")); err != nil {
				t.Fatal(err)
			}
			text, err := os.ReadFile(filepath.Join(folder, name))
			if err == nil {
				err = os.WriteFile(filepath.Join(dir, name), text, 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
			want := []int{0, 2, 2}
			if unread[name] {
				want = []int{3, 3, 3}
			}
			talk := ""
			for i, command := range []string{"votes describe", "plan", "aggregate"} {
				var code int
				if code, talk = exitOf(t, dir, append(strings.Fields(command), name)...); code != want[i] {
					t.Errorf("%s: exit code %d, want %d: %s", command, code, want[i], talk)
				}
			}
			printed := printedCommands(talk)
			n, asked := commands[name]
			if n != len(printed) && asked || len(printed) > 0 == unread[name] && !asked {
				t.Errorf("%d commands:\n%s", len(printed), talk)
			}
			for _, line := range printed {
				if talk, err := shell(t, dir, line+" --dry-run"); err != nil {
					t.Errorf("%s: %v\n%s", line, err, talk)
				}
			}
		})
	}
	if seen != 27 {
		t.Errorf("%d files, want 27", seen)
	}
}

// Each command that is printed for an odd file of votes succeeds, run by a shell as it stands but for
// --dry-run: one for each reading, or two of different reach where nothing is asked.
func TestOddVotesCommands(t *testing.T) {
	first, seeds := uint64(1000), uint64(8)
	if os.Getenv("DARRM_LONG") != "" {
		seeds = 200
	}
	for seed := first; seed < first+seeds; seed++ {
		c := oddvotes.New(seed)
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			args := []string{"aggregate"}
			for _, f := range c.Files {
				if err := os.WriteFile(filepath.Join(dir, f.Name), f.Text, 0o600); err != nil {
					t.Fatal(err)
				}
				args = append(args, f.Name)
			}
			code, talk := exitOf(t, dir, args...)
			if code != 2 {
				t.Fatalf("seed %d: exit code %d: %s", seed, code, talk)
			}
			printed, want := printedCommands(talk), len(c.Answers)
			if c.Sides {
				want *= 2
			}
			if c.Counted != nil {
				want++
			}
			if c.Asked && len(printed) != want || !c.Asked && (len(printed) < 1 || len(printed) > 3) {
				t.Errorf("seed %d: %d commands, want %d:\n%s", seed, len(printed), want, talk)
			}
			for _, line := range printed {
				if !strings.HasPrefix(line, "darrm votes describe ") { // which is read only, of single votes
					line += " --dry-run"
				}
				if talk, err := shell(t, dir, line); err != nil {
					t.Errorf("seed %d: %s: %v\n%s", seed, line, err, talk)
				}
			}
		})
	}
}
