package docs

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Code and proofs name each other, and what they name exists: lemmas in the comments of Go and
// Python and in proofs.md, exported names of Go in the heads of the proofs' files. The kernel is
// asked for the assumptions of every theorem that the code names.
func TestProofsAndCodeNameEachOther(t *testing.T) {
	proofs := map[string]string{}
	files, err := filepath.Glob("../proofs/*.v")
	if err != nil || len(files) < 10 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, f := range files {
		proofs[filepath.Base(f)] = read(t, f)
	}
	assumed := read(t, "../proofs/assumptions.txt")
	lemma := func(where, name, file string) {
		if !regexp.MustCompile(`(?m)^(Theorem|Lemma) ` + name + `\b`).MatchString(proofs[file]) {
			t.Errorf("%s: no theorem %s in proofs/%s", where, name, file)
		}
	}

	// Whole comments in one line, so that no name is lost where a line ends.
	join := regexp.MustCompile(`\n\s*(//|#)?\s*`)
	cited := regexp.MustCompile(`((?:\w+_\w+(?:, | and )?)+) in proofs/(\w+\.v)`)
	mentions := regexp.MustCompile(`proofs/\w+\.v`)
	named := 0
	for _, root := range []string{"..", "../python/darrm"} {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			hidden := strings.HasPrefix(d.Name(), ".") && d.Name() != ".."
			if d.IsDir() && (hidden || slices.Contains([]string{"bin", "dist", "docs", "proofs"}, d.Name())) {
				return fs.SkipDir
			}
			if ext := filepath.Ext(path); ext != ".go" && (ext != ".py" || root == "..") {
				return nil
			}
			text := join.ReplaceAllString(read(t, path), " ")
			found := cited.FindAllStringSubmatch(text, -1)
			if n := len(mentions.FindAllString(text, -1)); n != len(found) {
				t.Errorf("%s: %d mentions of a proof, %d of them after a theorem's name", path, n, len(found))
			}
			for _, m := range found {
				for _, name := range regexp.MustCompile(`\w+_\w+`).FindAllString(m[1], -1) {
					lemma(path, name, m[2])
					named++
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if named < 15 {
		t.Errorf("the code names %d theorems", named)
	}

	// The table of proofs.md: file, theorems, words, place.
	row := regexp.MustCompile(`(?m)^\| (\w+\.v) \| ([^|]*) \|`)
	rows := row.FindAllStringSubmatch(read(t, "proofs.md"), -1)
	if len(rows) < 12 {
		t.Errorf("proofs.md has %d rows of theorems", len(rows))
	}
	for _, m := range rows {
		for _, name := range regexp.MustCompile("`(\\w+)`").FindAllStringSubmatch(m[2], -1) {
			lemma("proofs.md", name[1], m[1])
			if full := strings.TrimSuffix(m[1], ".v") + "." + name[1]; !strings.Contains(assumed, `"`+full+`"`) {
				t.Errorf("assumptions.txt does not tell what %s rests on", full)
			}
		}
	}

	// Heads: Code: package.Name or package.Type.Name.
	head := regexp.MustCompile(`Code: [^*]*`)
	place := regexp.MustCompile(`\b(constraints|gamma|plurality|votes|accountant/game)\.(?:[A-Z]\w*\.)?(\w+)`)
	places := 0
	for file, text := range proofs {
		for _, m := range place.FindAllStringSubmatch(head.FindString(text), -1) {
			places++
			if !declares(t, "../"+m[1], m[2]) {
				t.Errorf("%s names %s, which package %s does not declare", file, m[0], m[1])
			}
		}
	}
	if places < 8 {
		t.Errorf("the proofs name %d places in the code", places)
	}
}

// declares reports whether the package of a folder declares a function, method, type or constant.
func declares(t *testing.T, folder, name string) bool {
	files, err := filepath.Glob(folder + "/*.go")
	if err != nil {
		t.Fatal(err)
	}
	return slices.ContainsFunc(files, func(f string) bool {
		return !strings.HasSuffix(f, "_test.go") &&
			regexp.MustCompile(`(?m)^((func( \([^)]*\))?|type|const|var) |\t)`+name+`\b`).MatchString(read(t, f))
	})
}

func read(t *testing.T, path string) string {
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
