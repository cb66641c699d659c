//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package atomicfile

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// hanging starts a child that keeps something temporary, and returns what kills it.
func hanging(t *testing.T, mode, path string) (kill func()) {
	t.Helper()
	cmd := child(mode, path)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	kill = sync.OnceFunc(func() {
		cmd.Process.Kill()
		cmd.Wait()
		stdin.Close()
	})
	t.Cleanup(kill)
	line := make([]byte, len("ready <nil>\n"))
	if _, err := io.ReadFull(stdout, line); err != nil || string(line) != "ready <nil>\n" {
		t.Fatalf("child said %q, %v", line, err)
	}
	return kill
}

// What a process writes stays while it lives. When it was killed the old file is as it was,
// and the next process that writes there removes what was left.
func TestKilledWriter(t *testing.T) {
	path := seeded(t)
	dir := filepath.Dir(path)
	kill := hanging(t, "hang", path)
	killDir := hanging(t, "hang in directory", dir)
	left := func() (files, dirs int) {
		for _, name := range names(t, dir) {
			switch target, _ := tempTarget(name); target {
			case "out.txt":
				files++
			case "labels":
				dirs++
			}
		}
		return
	}
	if n, err := Sweep(dir); n != 0 || err != nil {
		t.Errorf("while both live: %d removed, %v", n, err)
	}
	if f, d := left(); f != 1 || d != 1 {
		t.Fatalf("%d files and %d directories of living writers, want 1 and 1", f, d)
	}
	kill()
	if got := mustRead(t, path); got != "old" {
		t.Errorf("old file now holds %q", got)
	}
	if n, err := Sweep(dir); n != 1 || err != nil {
		t.Errorf("one killed: %d removed, %v", n, err)
	}
	if f, d := left(); f != 0 || d != 1 {
		t.Errorf("%d files and %d directories, want 0 and 1", f, d)
	}
	killDir()
	// This process has not written there yet.
	if err := Write(filepath.Join(dir, "another"), 0o644, writeString("x")); err != nil {
		t.Fatal(err)
	}
	if got := names(t, dir); !slices.Equal(got, []string{"another", "out.txt"}) {
		t.Errorf("the directory holds %q", got)
	}
}

// A sweep at any moment takes nothing from a writer that lives.
func TestSweepsBesideWriters(t *testing.T) {
	dir := t.TempDir()
	stop := make(chan struct{})
	var sweepers, writers sync.WaitGroup
	for range 2 {
		sweepers.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				if _, err := Sweep(dir); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for w := range 2 {
		writers.Go(func() {
			path := filepath.Join(dir, string(rune('a'+w)))
			for range 40 {
				if err := Write(path, 0o644, writeString("new")); err != nil {
					t.Error(err)
				}
				d, err := MakeDir(dir, "draft")
				if err != nil {
					t.Error(err)
					continue
				}
				if err := os.WriteFile(filepath.Join(d.Path(), "labels"), nil, 0o600); err != nil {
					t.Error(err)
				}
				if err := d.Remove(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	writers.Wait()
	close(stop)
	sweepers.Wait()
	if got := names(t, dir); !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("the directory holds %q", got)
	}
}

// Only what this package made, for this user, and nothing that may be something else.
func TestSweepIsCareful(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	end := tempInfix + strings.Repeat("A", tempRandomLen)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	gone := []string{".file" + end, ".dir" + end, ".empty" + end}
	must(os.WriteFile(at(gone[0]), nil, 0o600))
	must(os.Mkdir(at(gone[1]), 0o700))
	must(os.WriteFile(at(gone[1]+"/labels.csv"), nil, 0o600))
	must(os.WriteFile(at(gone[1]+"/.labels.csv"+end), nil, 0o600))
	must(os.Mkdir(at(gone[2]), 0o700))
	kept := []string{".deep" + end, ".link" + end, ".pipe" + end, "file" + end,
		".file.tmp-" + strings.Repeat("a", tempRandomLen), ".file.tmp-short",
		".tmp-" + strings.Repeat("A", tempRandomLen)}
	must(os.MkdirAll(at(kept[0]+"/sub"), 0o700))
	must(os.WriteFile(at(kept[0]+"/mine"), nil, 0o600))
	must(os.Symlink(t.TempDir(), at(kept[1])))
	must(syscall.Mkfifo(at(kept[2]), 0o600))
	for _, name := range kept[3:] {
		must(os.WriteFile(at(name), nil, 0o600))
	}
	if os.Geteuid() == 0 {
		kept = append(kept, ".another"+end)
		must(os.WriteFile(at(".another"+end), nil, 0o666))
		must(os.Chown(at(".another"+end), 12345, 12345))
	}
	// The link and the directory in the directory are told; neither is removed.
	if n, err := Sweep(dir); n != len(gone) || err == nil {
		t.Errorf("%d removed, %v", n, err)
	}
	slices.Sort(kept)
	if got := names(t, dir); !slices.Equal(got, kept) {
		t.Errorf("kept %q, want %q", got, kept)
	}
	if got := names(t, at(".deep"+end)); len(got) != 2 {
		t.Errorf("of a directory with another in it, %q is left", got)
	}
	if _, err := Sweep(at("none")); err == nil {
		t.Error("a directory that is not there was swept")
	}
}

func TestMakeDir(t *testing.T) {
	d, err := MakeDir(t.TempDir(), "darrm-labels")
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(d.Path())
	if err != nil || info.Mode() != os.ModeDir|0o700 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if target, ok := tempTarget(filepath.Base(d.Path())); !ok || target != "darrm-labels" {
		t.Errorf("%s is not a temporary name", d.Path())
	}
	if err := os.WriteFile(filepath.Join(d.Path(), "x"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := d.Remove(); err != nil {
			t.Error(err)
		}
	}
	if _, err := os.Stat(d.Path()); !os.IsNotExist(err) {
		t.Errorf("after Remove: %v", err)
	}
	if _, err := MakeDir(filepath.Join(t.TempDir(), "none"), "x"); err == nil {
		t.Error("made in a directory that is not there")
	}
}
