package scripts

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// The HiGHS that is installed is used; where there is none, or no cgo, the build is plain Go. Nothing is
// built either way, and each says which solver it is.
func TestHighsThatIsFound(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a shell script")
	}
	installed := t.TempDir()
	for name, text := range map[string]string{
		"include/highs/interfaces/highs_c_api.h": "",
		"include/highs/HConfig.h":                "#define HIGHS_VERSION_MAJOR 1\n#define HIGHS_VERSION_MINOR 9\n",
		"lib/libhighs.so":                        "",
	} {
		file := filepath.Join(installed, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		name, cgo, prefix, says string
		found                   bool
	}{
		{"installed", "1", installed, "highs: HiGHS of " + installed + " solves\n", true},
		{"no cgo", "0", installed, "highs: cgo is off: plain Go solves\n", false},
		{"none", "1", "", "highs: HiGHS is not installed: plain Go solves (", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			cache := t.TempDir()
			command := exec.Command("./highs", "found")
			command.Env = append(os.Environ(), "CGO_ENABLED="+c.cgo, "HIGHS_PREFIX="+c.prefix,
				"XDG_CACHE_HOME="+cache, "GOFLAGS=", "CC=true")
			var says strings.Builder
			command.Stderr = &says
			out, err := command.Output()
			if err != nil {
				t.Fatalf("%v\n%s", err, says.String())
			}
			if c.name == "none" && len(out) > 0 && !strings.Contains(string(out), cache) {
				t.Skip("this machine has HiGHS: " + says.String())
			}
			if !strings.HasPrefix(says.String(), c.says) {
				t.Errorf("it says %q, want %q", says.String(), c.says)
			}
			if found := strings.Contains(string(out), "export GOFLAGS='-tags=highs'\n"); found != c.found ||
				!c.found && len(out) > 0 {
				t.Errorf("it prints %q", out)
			}
			if left, err := os.ReadDir(filepath.Join(cache, "darrm")); err == nil {
				t.Errorf("it builds %v", left)
			}
		})
	}
}
