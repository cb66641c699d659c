package atomicfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
)

const childEnv = "ATOMICFILE_TEST_CHILD"

func TestMain(m *testing.M) {
	if mode := os.Getenv(childEnv); mode != "" {
		runChild(mode, os.Getenv(childEnv+"_PATH"))
		return
	}
	os.Exit(m.Run())
}

// runChild plays the writers that tests kill or starve of disk space.
func runChild(mode, path string) {
	switch mode {
	case "hang": // writes half, says so, waits to be killed
		f, err := Create(path)
		if err == nil {
			_, err = f.Write([]byte("half"))
		}
		fmt.Println("ready", err)
		io.Copy(io.Discard, os.Stdin)
	case "hang in directory":
		d, err := MakeDir(path, "labels")
		if err == nil {
			err = os.WriteFile(filepath.Join(d.Path(), "labels.csv"), []byte("half"), 0o600)
		}
		fmt.Println("ready", err)
		io.Copy(io.Discard, os.Stdin)
	case "quota": // runs into a file size limit, the nearest thing to a full disk
		limit := syscall.Rlimit{Cur: 4096, Max: 4096}
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
			fmt.Println("setrlimit:", err)
			os.Exit(3)
		}
		err := Write(path, 0o644, func(w io.Writer) error {
			_, err := w.Write(bytes.Repeat([]byte("x"), 1<<20))
			return err
		})
		if !errors.Is(err, syscall.EFBIG) {
			fmt.Println("want EFBIG, got:", err)
			os.Exit(4)
		}
	case "stdout":
		err := Write("/dev/stdout", 0o644, writeString("added\n"))
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(5)
		}
	}
}

func child(mode, path string) *exec.Cmd {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childEnv+"="+mode, childEnv+"_PATH="+path)
	return cmd
}

func writeString(s string) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := io.WriteString(w, s)
		return err
	}
}

func mustRead(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// names lists a directory; tests use it to see that no temporary file stays.
func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}

// seeded returns a path in a fresh directory that holds "old".
func seeded(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "out.txt")
	if err := os.WriteFile(path, []byte("old"), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func wantOldOnly(t *testing.T, path string) {
	t.Helper()
	if got := mustRead(t, path); got != "old" {
		t.Errorf("old file now holds %q", got)
	}
	if n := names(t, filepath.Dir(path)); len(n) != 1 {
		t.Errorf("directory holds %q, want the old file only", n)
	}
}

func TestWriteNewAndReplace(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.txt")
	for _, want := range []string{"first", "second, longer", ""} {
		if err := Write(path, 0o600, writeString(want)); err != nil {
			t.Fatal(err)
		}
		if got := mustRead(t, path); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
		if n := names(t, filepath.Dir(path)); len(n) != 1 {
			t.Errorf("directory holds %q", n)
		}
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode().Perm() != 0o600 {
		t.Errorf("permissions %v, want 0600", info.Mode())
	}
}

func TestPermissionsOfOldFileAreKept(t *testing.T) {
	path := seeded(t)
	// 0662 has a bit that the usual umask would take away.
	if err := os.Chmod(path, 0o662); err != nil {
		t.Fatal(err)
	}
	if err := Write(path, 0o600, writeString("new")); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode().Perm() != 0o662 {
		t.Errorf("permissions %v, want 0662", info.Mode().Perm())
	}
	if err := os.Chmod(path, 0o444); err != nil {
		t.Fatal(err)
	}
	if err := Write(path, 0o600, writeString("newer")); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("read-only file: got %v, want permission denied", err)
	}
	if got := mustRead(t, path); got != "new" {
		t.Errorf("read-only file now holds %q", got)
	}
}

func TestFailuresLeaveOldFile(t *testing.T) {
	boom := errors.New("boom")
	big := strings.Repeat("x", 3*writeBuffer) // reaches the temporary file before the failure
	tests := []struct {
		name string
		run  func(path string) error
		want error
	}{
		{"function fails at once", func(p string) error {
			return Write(p, 0o644, func(io.Writer) error { return boom })
		}, boom},
		{"function fails after much output", func(p string) error {
			return Write(p, 0o644, func(w io.Writer) error {
				if _, err := io.WriteString(w, big); err != nil {
					return err
				}
				return boom
			})
		}, boom},
		{"function swallows a write error", func(p string) error {
			f, err := Create(p)
			if err != nil {
				return err
			}
			f.f.Close() // the next write fails
			f.Write([]byte("lost"))
			return f.Commit()
		}, fs.ErrClosed},
		{"sync fails", func(p string) error {
			f, err := Create(p)
			if err != nil {
				return err
			}
			f.f.Close()
			return f.Commit()
		}, fs.ErrClosed},
		{"aborted", func(p string) error {
			f, err := Create(p)
			if err != nil {
				return err
			}
			f.Write([]byte("new"))
			if err := f.Abort(); err != nil {
				return err
			}
			if err := f.Abort(); err != nil {
				return fmt.Errorf("second abort: %w", err)
			}
			if _, err := f.Write([]byte("x")); !errors.Is(err, fs.ErrClosed) {
				return fmt.Errorf("write after abort: %v", err)
			}
			return f.Commit()
		}, fs.ErrClosed},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := seeded(t)
			if err := tt.run(path); !errors.Is(err, tt.want) {
				t.Errorf("got %v, want %v", err, tt.want)
			}
			wantOldOnly(t, path)
		})
	}
}

func TestPanicLeavesOldFile(t *testing.T) {
	path := seeded(t)
	func() {
		defer func() { recover() }()
		Write(path, 0o644, func(w io.Writer) error {
			io.WriteString(w, strings.Repeat("x", 2*writeBuffer))
			panic("interrupted")
		})
	}()
	wantOldOnly(t, path)
}

func TestRenameFailureRemovesTemp(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x")
	f, err := Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(path, 0o755); err != nil { // rename cannot replace a directory
		t.Fatal(err)
	}
	if err := f.Commit(); err == nil {
		t.Error("commit onto a directory succeeded")
	}
	if n := names(t, filepath.Dir(path)); len(n) != 1 || n[0] != "x" {
		t.Errorf("directory holds %q", n)
	}
}

func TestCommitTwice(t *testing.T) {
	path := seeded(t)
	f, err := Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write([]byte("new")); err != nil {
		t.Fatal(err)
	}
	if err := f.Commit(); err != nil {
		t.Fatal(err)
	}
	if err := f.Abort(); err != nil {
		t.Errorf("abort after commit: %v", err)
	}
	if err := f.Commit(); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("second commit: %v", err)
	}
	if got := mustRead(t, path); got != "new" {
		t.Errorf("file holds %q", got)
	}
}

func TestBadTargets(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	loop := filepath.Join(dir, "loop")
	if err := os.Symlink("loop", loop); err != nil {
		t.Skip("no symbolic links:", err)
	}
	for name, path := range map[string]string{
		"empty":            "",
		"directory":        dir,
		"dot":              dir + "/.",
		"slash at the end": filepath.Join(dir, "new") + "/",
		"parent is a file": filepath.Join(file, "x"),
		"parent missing":   filepath.Join(dir, "none", "x"),
		"link to itself":   loop,
	} {
		t.Run(name, func(t *testing.T) {
			err := Write(path, 0o644, func(io.Writer) error { t.Error("the writer ran"); return nil })
			if err == nil {
				t.Error("no error")
			}
		})
	}
}

func TestUnwritableDirectory(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root may write anywhere; TestBadTargets has a parent that is a file")
	}
	path := seeded(t)
	dir := filepath.Dir(path)
	if err := os.Chmod(dir, 0o500); err != nil {
		t.Fatal(err)
	}
	defer os.Chmod(dir, 0o700)
	if err := Write(path, 0o644, writeString("new")); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("got %v, want permission denied", err)
	}
	wantOldOnly(t, path)
}

func TestSymlinks(t *testing.T) {
	dir := t.TempDir()
	for _, d := range []string{"real/deep", "links"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	link := func(to, at string) {
		t.Helper()
		if err := os.Symlink(to, filepath.Join(dir, at)); err != nil {
			t.Skip("no symbolic links:", err)
		}
	}
	link("../real/data", "links/relative")
	link("relative", "links/twice")
	link(filepath.Join(dir, "real", "fresh"), "links/dangling")
	link("../real/deep", "links/dirlink")
	// dirlink/.. is real, not links: a textual clean of the path gets this wrong.
	link("dirlink/../tricky", "links/tricky")
	tests := []struct{ at, ends string }{
		{"links/relative", "real/data"},
		{"links/twice", "real/data"},
		{"links/dangling", "real/fresh"},
		{"links/dirlink/x", "real/deep/x"},
		{"links/tricky", "real/tricky"},
	}
	for _, tt := range tests {
		t.Run(tt.at, func(t *testing.T) {
			if err := Write(filepath.Join(dir, tt.at), 0o644, writeString(tt.at)); err != nil {
				t.Fatal(err)
			}
			info, err := os.Lstat(filepath.Join(dir, tt.ends))
			if err != nil {
				t.Fatal(err)
			}
			if !info.Mode().IsRegular() {
				t.Errorf("%s is %v, want a regular file", tt.ends, info.Mode())
			}
			if got := mustRead(t, filepath.Join(dir, tt.ends)); got != tt.at {
				t.Errorf("%s holds %q, want %q", tt.ends, got, tt.at)
			}
		})
	}
	for _, at := range []string{"links/relative", "links/twice", "links/dangling", "links/tricky"} {
		info, err := os.Lstat(filepath.Join(dir, at))
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode()&fs.ModeSymlink == 0 {
			t.Errorf("%s is no longer a link", at)
		}
	}
}

// WriteNew takes a free name only: what has it already, or takes it meanwhile, stays.
func TestWriteNewReplacesNothing(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "new")
	if err := WriteNew(path, 0o600, writeString("first")); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 ||
		mustRead(t, path) != "first" {
		t.Errorf("%v, %v", info, err)
	}
	if err := os.Symlink("nowhere", filepath.Join(dir, "link")); err != nil {
		t.Skip(err)
	}
	meanwhile := filepath.Join(dir, "meanwhile")
	for _, taken := range []string{path, filepath.Join(dir, "link"), meanwhile} {
		err := WriteNew(taken, 0o600, func(w io.Writer) error {
			if taken == meanwhile {
				return os.WriteFile(meanwhile, []byte("another's"), 0o600)
			}
			_, err := io.WriteString(w, "second")
			return err
		})
		if !errors.Is(err, fs.ErrExist) {
			t.Errorf("%s: %v, want %v", taken, err, fs.ErrExist)
		}
	}
	if mustRead(t, path) != "first" || mustRead(t, meanwhile) != "another's" {
		t.Error("something was replaced")
	}
	if got := names(t, dir); len(got) != 3 {
		t.Errorf("left %q", got)
	}
}

func TestReplaceDoesNotFollow(t *testing.T) {
	dir := t.TempDir()
	victim := filepath.Join(dir, "victim")
	if err := os.WriteFile(victim, []byte("old"), 0o444); err != nil {
		t.Fatal(err)
	}
	at := filepath.Join(dir, "entry")
	if err := os.Symlink("victim", at); err != nil {
		t.Skip("no symbolic links:", err)
	}
	if err := Replace(at, 0o600, writeString("new")); err != nil {
		t.Fatal(err)
	}
	info, err := os.Lstat(at)
	if err != nil {
		t.Fatal(err)
	}
	if !info.Mode().IsRegular() || mustRead(t, at) != "new" || mustRead(t, victim) != "old" {
		t.Errorf("entry is %v with %q, victim holds %q", info.Mode(), mustRead(t, at),
			mustRead(t, victim))
	}
	if err := Replace(dir, 0o600, writeString("new")); err == nil {
		t.Error("replaced a directory")
	}
	// A failed replacement of a directory leaves nothing in its parent.
	for _, n := range names(t, filepath.Dir(dir)) {
		if _, ok := tempTarget(n); ok {
			t.Errorf("temporary file %s left", n)
		}
	}
}

// fullDevice returns a device that is always full. For root it is a node of the
// test's own: code that wrongly renames onto it must not destroy the system's.
func fullDevice(t *testing.T) string {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("no /dev/full on", runtime.GOOS)
	}
	path := "/dev/full"
	if os.Geteuid() == 0 {
		path = filepath.Join(t.TempDir(), "full")
		const device = 1<<8 | 7 // major 1, minor 7
		if err := syscall.Mknod(path, syscall.S_IFCHR|0o666, device); err != nil {
			t.Skip("cannot make a device:", err)
		}
	}
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		t.Skip("cannot open the device:", err) // a file system mounted nodev
	}
	defer f.Close()
	if _, err := f.Write([]byte("x")); !errors.Is(err, syscall.ENOSPC) {
		t.Skip("the device is not full:", err)
	}
	return path
}

func TestFullDevice(t *testing.T) {
	path := fullDevice(t)
	err := Write(path, 0o644, writeString("x"))
	if !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("got %v, want no space left", err)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode()&fs.ModeCharDevice == 0 {
		t.Errorf("the device is now %v, %v", info, err)
	}
	f, err := Create(path)
	if err != nil {
		t.Fatal(err)
	}
	f.Write([]byte("x")) // error ignored on purpose
	if err := f.Commit(); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("commit after a failed write: %v, want no space left", err)
	}
}

func TestNamedPipe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Skip("no named pipes:", err)
	}
	got := make(chan string, 1)
	go func() {
		b, err := os.ReadFile(path)
		if err != nil {
			b = []byte(err.Error())
		}
		got <- string(b)
	}()
	if err := Write(path, 0o644, writeString("through")); err != nil {
		t.Fatal(err)
	}
	if s := <-got; s != "through" {
		t.Errorf("reader got %q", s)
	}
	if info, err := os.Lstat(path); err != nil || info.Mode()&fs.ModeNamedPipe == 0 {
		t.Errorf("pipe is now %v, %v", info, err)
	}
}

// Redirection of /dev/stdout to a file must reach the open stream: a rename
// would give the content to a file of that name and lose what was there.
func TestStdoutToFile(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("checks the layout of /proc")
	}
	path := seeded(t)
	out, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	cmd := child("stdout", "")
	cmd.Stdout = out
	var msg strings.Builder
	cmd.Stderr = &msg
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v: %s", err, msg.String())
	}
	if got := mustRead(t, path); got != "oldadded\n" {
		t.Errorf("file holds %q", got)
	}
}

func TestSizeLimitReached(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("relies on setrlimit as in Linux")
	}
	path := seeded(t)
	if out, err := child("quota", path).CombinedOutput(); err != nil {
		t.Fatalf("child: %v: %s", err, out)
	}
	wantOldOnly(t, path)
}

func TestReadersSeeWholeFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	content := func(c byte) string { return strings.Repeat(string(c), 1000*int(c)) }
	if err := Write(path, 0o644, writeString(content('a'))); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for _, c := range []byte("abcd") {
		wg.Go(func() {
			for range 20 {
				if err := Write(path, 0o644, writeString(content(c))); err != nil {
					t.Error(err)
				}
			}
		})
		wg.Go(func() {
			for range 100 {
				b, err := os.ReadFile(path)
				if err != nil || len(b) == 0 || string(b) != content(b[0]) {
					t.Errorf("mixed or missing content: %d bytes, %v", len(b), err)
				}
			}
		})
	}
	wg.Wait()
	if n := names(t, filepath.Dir(path)); len(n) != 1 {
		t.Errorf("directory holds %q", n)
	}
}

func TestTempTarget(t *testing.T) {
	random := strings.Repeat("A2", 13)
	tests := []struct {
		name, target string
		ok           bool
	}{
		{tempName("out.csv", random), "out.csv", true},
		{tempName("a.tmp-b", random), "a.tmp-b", true},
		{tempName(strings.Repeat("n", 255), random), strings.Repeat("n", 200), true},
		{"out.csv", "", false},
		{"out.csv.tmp-" + random, "", false},
		{".out.csv.tmp-" + random[1:], "", false},
		{".out.csv.tmp-" + random + "A", "", false},
		{".out.csv.tmp-" + strings.ToLower(random), "", false},
		{".tmp-" + random, "", false},
		{"", "", false},
	}
	for _, tt := range tests {
		target, ok := tempTarget(tt.name)
		if target != tt.target || ok != tt.ok {
			t.Errorf("tempTarget(%q) = %q, %t; want %q, %t", tt.name, target, ok, tt.target, tt.ok)
		}
		if len(tt.name) > 255 {
			t.Errorf("name of %d bytes", len(tt.name))
		}
	}
}
