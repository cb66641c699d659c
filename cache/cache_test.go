package cache

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"pgregory.net/rapid"

	"github.com/darrm/darrm/internal/atomicfile"
	"github.com/darrm/darrm/internal/testing/must"
)

func open(t *testing.T) *Store {
	t.Helper()
	return must.Get(Open(filepath.Join(t.TempDir(), "a", "tables")))(t)
}

func put(t *testing.T, s *Store, key, value string) {
	t.Helper()
	if err := s.Put(key, []byte(value)); err != nil {
		t.Fatal(err)
	}
}

func wantGet(t *testing.T, s *Store, key, want string) {
	t.Helper()
	got, err := s.Get(key)
	if err != nil {
		t.Errorf("Get(%.40q): %v", key, err)
	} else if string(got) != want {
		t.Errorf("Get(%.40q) = %.40q, want %.40q", key, got, want)
	}
}

func wantCorrupt(t *testing.T, err error, path, reason string) {
	t.Helper()
	var c *CorruptError
	if !errors.As(err, &c) {
		t.Errorf("got error %v, want a *CorruptError", err)
		return
	}
	if c.Path != path || !strings.Contains(c.Reason, reason) {
		t.Errorf("got %v, want path %s and a reason with %q", c, path, reason)
	}
}

func TestPutGet(t *testing.T) {
	s := open(t)
	if _, err := s.Get("k"); !errors.Is(err, ErrNotFound) {
		t.Errorf("empty store: %v", err)
	}
	for key, value := range map[string]string{
		"k":                          "v",
		"empty value":                "",
		"K=11 m=3 ε=0.1 Δ=1e-05":     "table",
		strings.Repeat("k", maxKey):  "longest key",
		"value that looks like keys": "darrm-cache 1\nkey k\n\x00\xff\n",
	} {
		put(t, s, key, value)
		wantGet(t, s, key, value)
	}
	put(t, s, "k", "replaced")
	wantGet(t, s, "k", "replaced")

	if err := os.Remove(s.Path("k")); err != nil {
		t.Error(err)
	}
	if _, err := s.Get("k"); !errors.Is(err, ErrNotFound) {
		t.Errorf("after it was removed: %v", err)
	}
	// A store opened anew finds the entries of the old one.
	again, err := Open(s.Dir())
	if err != nil {
		t.Fatal(err)
	}
	wantGet(t, again, "empty value", "")
}

func TestPermissions(t *testing.T) {
	s := open(t)
	put(t, s, "k", "v")
	for path, want := range map[string]fs.FileMode{s.Dir(): 0o700, s.Path("k"): 0o600} {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if got := info.Mode().Perm(); got != want {
			t.Errorf("%s has permissions %v, want %v", path, got, want)
		}
	}
}

func TestLargestValue(t *testing.T) {
	s := open(t)
	value := make([]byte, maxValue+1)
	if err := s.Put("k", value); err == nil {
		t.Error("value of maxValue+1 bytes accepted")
	}
	if err := s.Put("k", value[:maxValue]); err != nil {
		t.Fatal(err)
	}
	got, err := s.Get("k")
	if err != nil || len(got) != maxValue {
		t.Errorf("got %d bytes, %v", len(got), err)
	}
}

func TestBadKeys(t *testing.T) {
	s := open(t)
	for _, key := range []string{"", "a\nb", "a\x00", "a\x7f", "\xff", "a\u0085",
		strings.Repeat("k", maxKey+1)} {
		if err := s.Put(key, nil); err == nil {
			t.Errorf("Put accepted key %.20q", key)
		}
		if _, err := s.Get(key); err == nil || errors.Is(err, ErrNotFound) {
			t.Errorf("Get of key %.20q: %v, want a complaint about the key", key, err)
		}
	}
}

func TestOpenErrors(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, at := range map[string]string{
		"empty name":       "",
		"a file":           file,
		"parent is a file": filepath.Join(file, "tables"),
		"no such device":   "/dev/null/tables",
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Open(at)
			var d *DirError
			if !errors.As(err, &d) || !errors.Is(err, ErrNotWritable) {
				t.Fatalf("got %v, want a *DirError that is ErrNotWritable", err)
			}
			for _, part := range []string{d.Dir, d.Rule, DirEnv} {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("message %q lacks %q", err, part)
				}
			}
		})
	}
}

// An existing directory in which nothing can be created must fail at Open. Root
// may create files anywhere on disk, but not in /proc.
func TestOpenProbesWritability(t *testing.T) {
	dir := "/proc/self"
	if os.Geteuid() != 0 {
		dir = t.TempDir()
		if err := os.Chmod(dir, 0o500); err != nil {
			t.Fatal(err)
		}
		defer os.Chmod(dir, 0o700)
	} else if runtime.GOOS != "linux" {
		t.Skip("needs /proc")
	}
	_, err := Open(dir)
	if !errors.Is(err, ErrNotWritable) {
		t.Errorf("got %v, want ErrNotWritable", err)
	}
}

func TestDefaultDir(t *testing.T) {
	t.Setenv(DirEnv, "/some/where")
	if got, err := DefaultDir(); err != nil || got != "/some/where" {
		t.Errorf("got %q, %v", got, err)
	}
	t.Setenv(DirEnv, "")
	if runtime.GOOS != "linux" {
		return
	}
	t.Setenv("XDG_CACHE_HOME", "/xdg")
	if got, err := DefaultDir(); err != nil || got != "/xdg/darrm/tables" {
		t.Errorf("got %q, %v", got, err)
	}
	t.Setenv("XDG_CACHE_HOME", "")
	t.Setenv("HOME", "")
	if got, err := DefaultDir(); err == nil || !strings.Contains(err.Error(), DirEnv) {
		t.Errorf("without a home: %q, %v; want an error that names %s", got, err, DirEnv)
	}
}

// encode returns the file that Put writes.
func encode(t testing.TB, key, value string) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := writeEntry(&b, key, []byte(value)); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestFileFormat(t *testing.T) {
	// Written out by hand from the package comment; the sum is that of
	// printf hello | sha256sum.
	want := "darrm-cache 1\nkey a key\n" +
		"sha256 2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824\n" +
		"length 5\nhello"
	if got := string(encode(t, "a key", "hello")); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	// printf hello | sha256sum again, now of the key.
	if got := entryName("hello"); got !=
		"2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"+extension {
		t.Errorf("file name of key hello is %q", got)
	}
}

func TestDamagedEntries(t *testing.T) {
	const key = "the key"
	good := string(encode(t, key, "hello"))
	replace := func(old, new string) string {
		if !strings.Contains(good, old) {
			t.Fatalf("test is wrong: no %q in the entry", old)
		}
		return strings.Replace(good, old, new, 1)
	}
	tests := []struct{ name, content, reason string }{
		{"empty file", "", "not a cache entry"},
		{"foreign text", "K,gamma\n11,0.5\n", "not a cache entry"},
		{"foreign binary without line ends", strings.Repeat("\x00\x01", 100000), "not a cache entry"},
		{"magic of another case", replace("darrm-cache", "DARRM-cache"), "not a cache entry"},
		{"later version", replace("cache 1\n", "cache 2\n"), "format version"},
		{"version with a tail", replace("cache 1\n", "cache 1 \n"), "format version"},
		{"carriage returns", strings.ReplaceAll(good, "\n", "\r\n"), "format version"},
		{"no key line", replace("key the key\n", ""), "truncated header"},
		{"another key", replace("key the key", "key the kez"), "not the key asked for"},
		{"key with control character", replace("the key", "the\tkey"), "bad key"},
		{"empty key", replace("the key", ""), "bad key"},
		{"short checksum", replace("sha256 2c", "sha256 "), "checksum"},
		{"upper-case checksum", replace("2cf24dba", "2CF24DBA"), "checksum"},
		{"wrong checksum", replace("2cf24dba", "3cf24dba"), "does not match its checksum"},
		{"flipped bit in the value", replace("hello", "helln"), "does not match its checksum"},
		{"truncated value", good[:len(good)-1], "length says 5 bytes, but 4 follow"},
		{"no value", good[:len(good)-5], "length says 5 bytes, but 0 follow"},
		{"truncated header", good[:30], "truncated header"},
		{"trailing byte", good + "\n", "length says 5 bytes, but 6 follow"},
		{"two entries", good + good, "but"},
		{"negative length", replace("length 5", "length -5"), "but 5 follow"},
		{"leading zero", replace("length 5", "length 05"), "but 5 follow"},
		{"sign", replace("length 5", "length +5"), "but 5 follow"},
		{"length out of int64", replace("length 5", "length 99999999999999999999"), "but 5 follow"},
		{"length above the limit", replace("length 5", "length 67108865"), "but 5 follow"},
		{"endless header line", "darrm-cache 1\nkey " + strings.Repeat("k", 3*maxKey),
			"truncated header"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := open(t)
			path := s.Path(key)
			if err := os.WriteFile(path, []byte(tt.content), 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := s.Get(key)
			wantCorrupt(t, err, path, tt.reason)

			list, err := s.List()
			if err != nil || len(list) != 1 {
				t.Fatalf("List: %v, %v", list, err)
			}
			var c *CorruptError
			if !errors.As(list[0].Err, &c) {
				t.Errorf("List gives %+v, want a *CorruptError", list[0])
			}

			put(t, s, key, "hello")
			wantGet(t, s, key, "hello")
		})
	}
}

// Every single-byte change of an entry, and every prefix of it, is noticed.
func TestEveryByteCounts(t *testing.T) {
	const key = "K=11 m=3"
	good := encode(t, key, "value\x00with\nall sorts")
	check := func(what string, data []byte) {
		t.Helper()
		e, err := decodeEntry(data)
		if err == nil && e.key == key {
			t.Errorf("%s: accepted %q", what, data)
		}
	}
	for i := range good {
		check("prefix", good[:i])
		for _, flip := range []byte{1, 0x20, 0x80} {
			bad := bytes.Clone(good)
			bad[i] ^= flip
			check("flip", bad)
		}
	}
}

// A file that claims or has a huge size must not be read into memory.
func TestHugeFile(t *testing.T) {
	s := open(t)
	content := "darrm-cache 1\nkey k\nsha256 " + strings.Repeat("0", 64) + "\nlength 1099511627776\n"
	if err := os.WriteFile(s.Path("k"), []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(s.Path("k"), 1<<40+int64(len(content))); err != nil {
		t.Skip("no sparse files of 1 TiB:", err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := s.Get("k")
	runtime.ReadMemStats(&after)
	wantCorrupt(t, err, s.Path("k"), "at most")
	if used := after.TotalAlloc - before.TotalAlloc; used > 1<<20 {
		t.Errorf("refusing a huge file allocated %d bytes", used)
	}
}

func TestNotARegularFile(t *testing.T) {
	const key = "k"
	tests := map[string]func(s *Store) error{
		"directory": func(s *Store) error { return os.Mkdir(s.Path(key), 0o700) },
		"link to a sound entry": func(s *Store) error {
			other := filepath.Join(s.Dir(), "elsewhere")
			if err := os.WriteFile(other, encode(t, key, "v"), 0o600); err != nil {
				return err
			}
			return os.Symlink(other, s.Path(key))
		},
		"dangling link": func(s *Store) error { return os.Symlink("nowhere", s.Path(key)) },
		"named pipe":    func(s *Store) error { return syscall.Mkfifo(s.Path(key), 0o600) },
	}
	for name, plant := range tests {
		t.Run(name, func(t *testing.T) {
			s := open(t)
			if err := plant(s); err != nil {
				t.Skip(err)
			}
			_, err := s.Get(key) // must not wait for the pipe's writer
			switch name {
			case "link to a sound entry": // it is checked as any entry
				if err != nil {
					t.Error(err)
				}
			case "dangling link":
				if !errors.Is(err, ErrNotFound) {
					t.Errorf("got %v", err)
				}
			default:
				wantCorrupt(t, err, s.Path(key), "not a regular file")
				if list, err := s.List(); err != nil || len(list) != 1 || list[0].Err == nil {
					t.Errorf("List: %+v, %v", list, err)
				}
			}
			err = s.Put(key, []byte("v"))
			if name == "directory" {
				if err == nil {
					t.Error("Put replaced a directory")
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			wantGet(t, s, key, "v")
			if b, err := os.ReadFile(filepath.Join(s.Dir(), "elsewhere")); err == nil &&
				!bytes.Equal(b, encode(t, key, "v")) {
				t.Error("Put wrote through the link")
			}
		})
	}
}

func TestListAndClear(t *testing.T) {
	s := open(t)
	put(t, s, "b", "22")
	put(t, s, "a", "1")
	put(t, s, "moved", "x")
	put(t, s, "bad", "x")
	if err := os.Truncate(s.Path("bad"), int64(len(encode(t, "bad", "x")))-1); err != nil {
		t.Fatal(err)
	}
	misnamed := filepath.Join(s.Dir(), strings.Repeat("0", 64)+extension)
	if err := os.Rename(s.Path("moved"), misnamed); err != nil {
		t.Fatal(err)
	}
	foreign := []string{
		"README", "notes.dtable", strings.Repeat("A", 64) + extension, strings.Repeat("0", 63) +
			extension,
		strings.Repeat("0", 64) + ".txt",
	}
	for _, n := range foreign {
		if err := os.WriteFile(filepath.Join(s.Dir(), n), []byte("mine"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	dirNamedLikeEntry := filepath.Join(s.Dir(), strings.Repeat("1", 64)+extension)
	if err := os.Mkdir(dirNamedLikeEntry, 0o700); err != nil {
		t.Fatal(err)
	}
	// One is being written, one was left by a killed process.
	written, err := atomicfile.Create(s.Path("a"))
	if err != nil {
		t.Fatal(err)
	}
	left := filepath.Join(s.Dir(), "."+entryName("a")+".tmp-"+strings.Repeat("B", 26))
	if err := os.WriteFile(left, []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}

	list, err := s.List()
	if err != nil {
		t.Fatal(err)
	}
	type row struct {
		key string
		err string
	}
	want := []row{{"", "not a regular file"}, {"", "follow"}, {"a", ""}, {"b", ""},
		{"moved", "file name"}}
	if misnamed := entryName("bad"); misnamed < strings.Repeat("1", 64) {
		want[0], want[1] = want[1], want[0] // sorted by path where there is no key
	}
	if len(list) != len(want) {
		t.Fatalf("List gives %+v", list)
	}
	for i, w := range want {
		e := list[i]
		if e.Key != w.key || (e.Err == nil) != (w.err == "") || e.Err != nil &&
			!strings.Contains(e.Err.Error(), w.err) {
			t.Errorf("entry %d: %+v, want %+v", i, e, w)
		}
		if e.ModTime.IsZero() || e.Size <= 0 && w.key != "" {
			t.Errorf("entry %d: size %d, time %v", i, e.Size, e.ModTime)
		}
	}
	if got, want := list[3].Size, int64(len(encode(t, "b", "22"))); got != want {
		t.Errorf("size %d, want %d", got, want)
	}

	n, err := s.Clear()
	if err != nil || n != 5 { // a, b, damaged bad, misnamed, left temporary file
		t.Errorf("Clear: %d, %v; want 5", n, err)
	}
	for _, p := range []string{misnamed, left, s.Path("a"), s.Path("b")} {
		if _, err := os.Lstat(p); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s is still there (%v)", p, err)
		}
	}
	for _, n := range foreign {
		if b, err := os.ReadFile(filepath.Join(s.Dir(), n)); err != nil || string(b) != "mine" {
			t.Errorf("foreign file %s: %q, %v", n, b, err)
		}
	}
	if _, err := os.Lstat(dirNamedLikeEntry); err != nil {
		t.Error(err)
	}
	if err := written.Commit(); err != nil {
		t.Errorf("a file that was being written: %v", err)
	}
	if err := os.Remove(s.Path("a")); err != nil {
		t.Error(err)
	}
	if n, err := s.Clear(); n != 0 || err != nil {
		t.Errorf("second Clear: %d, %v", n, err)
	}
}

func TestOpenLeavesNothing(t *testing.T) {
	s := open(t)
	files, err := os.ReadDir(s.Dir())
	if err != nil || len(files) != 0 {
		t.Errorf("after Open the directory holds %v, %v", files, err)
	}
}

func TestRoundTripProperty(t *testing.T) {
	s := open(t)
	rapid.Check(t, func(t *rapid.T) {
		key := rapid.StringMatching(`[ -~äεΔ\x{10000}]{1,40}`).Draw(t, "key")
		value := rapid.SliceOfN(rapid.Byte(), 0, 300).Draw(t, "value")
		if err := s.Put(key, value); err != nil {
			t.Fatal(err)
		}
		got, err := s.Get(key)
		if err != nil || !bytes.Equal(got, value) {
			t.Fatalf("Get = %q, %v; want %q", got, err, value)
		}
	})
}

// Whatever the decoder accepts is exactly what the encoder writes.
func FuzzReadEntry(f *testing.F) {
	f.Add(encode(f, "k", ""))
	f.Add(encode(f, "K=11 m=3 ε=0.1", "hello\n"))
	f.Add([]byte("darrm-cache 1\nkey k\nsha256 x\nlength 007\n"))
	f.Add([]byte("darrm-cache 1\n"))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, data []byte) {
		e, err := decodeEntry(data)
		if err != nil {
			return
		}
		if again := encode(t, e.key, string(e.value)); !bytes.Equal(again, data) {
			t.Fatalf("accepted %q, which is written as %q", data, again)
		}
	})
}

// The zero Store would keep its files in the working directory.
func TestZeroStoreRefuses(t *testing.T) {
	t.Chdir(t.TempDir())
	var s Store
	if err := s.Put("key", []byte("value")); err == nil {
		t.Error("Put has no error")
	}
	if v, err := s.Get("key"); err == nil || errors.Is(err, ErrNotFound) {
		t.Errorf("Get: %q, %v", v, err)
	}
	if files, err := os.ReadDir("."); err != nil || len(files) != 0 {
		t.Errorf("files %v, %v", files, err)
	}
}
