package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"
)

var (
	link    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading = regexp.MustCompile(`(?m)^#+ +(.+)$`)
	fence   = regexp.MustCompile("(?ms)^```.*?^```$|`[^`\n]+`")
)

// anchors returns the names by which GitHub links to a page's headings.
func anchors(text string) map[string]bool {
	out := map[string]bool{}
	for _, m := range heading.FindAllStringSubmatch(text, -1) {
		name := strings.Map(func(r rune) rune {
			switch {
			case unicode.IsLetter(r), unicode.IsDigit(r), r == '-', r == '_':
				return unicode.ToLower(r)
			case r == ' ':
				return '-'
			}
			return -1
		}, m[1])
		out[name] = true
	}
	return out
}

// Every link within the project leads to a file, and to a heading of it if it names one.
func TestLinksLeadSomewhere(t *testing.T) {
	seen := 0
	err := filepath.WalkDir("..", func(path string, e os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if e.IsDir() && (e.Name() == "dist" || e.Name() == "bin" || e.Name() != ".." &&
			strings.HasPrefix(e.Name(), ".")) {
			return filepath.SkipDir
		}
		if e.IsDir() || filepath.Ext(path) != ".md" {
			return nil
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, m := range link.FindAllStringSubmatch(fence.ReplaceAllString(string(b), ""), -1) {
			if strings.Contains(m[1], "://") || strings.HasPrefix(m[1], "mailto:") {
				continue
			}
			seen++
			file, at, _ := strings.Cut(m[1], "#")
			to := path
			if file != "" {
				to = filepath.Join(filepath.Dir(path), filepath.FromSlash(file))
			}
			info, err := os.Stat(to)
			if err != nil {
				t.Errorf("%s: %s: %v", path, m[1], err)
				continue
			}
			if at == "" || info.IsDir() {
				continue
			}
			b, err := os.ReadFile(to)
			if err != nil {
				return err
			}
			if !anchors(string(b))[at] {
				t.Errorf("%s: %s: the page has no such heading", path, m[1])
			}
		}
		return nil
	})
	if err != nil || seen < 50 {
		t.Fatalf("%d links, %v", seen, err)
	}
}
