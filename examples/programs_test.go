package examples

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// The five programs that an engineer writes first, in the words of the table of README.md: each
// runs in a folder of its own, twice, with what it prints, and is no longer than the table says.
var first = []struct {
	name, title, prints, again string
}{
	{"file", "a file of labels, with a ledger", `2 labels cost \(2, 0\)`, `2 labels cost \(2, 0\)`},
	{"handler", "an HTTP handler", "", ""}, // it serves: its own test asks it
	{"planned", "from a budget to labels", `optimal-counts: +9[5-9] % are expected to agree
permute-and-flip: 9[0-9] % are expected to agree
lnmax: +[0-9]+ % are expected to agree
4 labels, each \(1.5, 0\) and \(0, 0\) is left`, ""},
	{"own", "a noise function of one's own", `a label of \(1, 0\) is entry 1`, "-"},
	{"both", "a model, and labels beside it", `labels: \[-?\d+ -?\d+\]
a model and two labels cost \(3, 1e-6\)`, ""},
}

func TestFirstPrograms(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range first {
		t.Run(p.name, func(t *testing.T) {
			lines, names := size(t, filepath.Join(p.name, "main.go"))
			row := fmt.Sprintf("| [%s](%s/main.go): %s | %d | %d |", p.name, p.name, p.title, lines, names)
			if !strings.Contains(string(readme), row) {
				t.Errorf("README.md has not the row\n%s", row)
			}
			if p.prints == "" {
				return
			}
			dir := t.TempDir()
			bin := filepath.Join(dir, p.name)
			if out, err := exec.Command("go", "build", "-ldflags=-s -w", "-o", bin, "./"+p.name).CombinedOutput(); err !=
				nil {
				t.Fatalf("%v\n%s", err, out)
			}
			if err := os.WriteFile(filepath.Join(dir, "votes.csv"),
				[]byte("query,c1,c2,c3,c4,c5,c6,c7,c8,c9\na,1,1,1,1,1,1,1,1,0\nb,0,0,1,0,0,0,0,0,0\n"),
				0o600); err != nil {
				t.Fatal(err)
			}
			run := func(want string) {
				t.Helper()
				c := exec.CommandContext(t.Context(), bin)
				c.Dir = dir
				out, err := c.CombinedOutput()
				if want == "-" { // what was charged is not drawn again
					if err == nil {
						t.Errorf("again it prints %s", out)
					}
					return
				}
				if err != nil || !regexp.MustCompile("^"+want+"\n$").Match(out) {
					t.Errorf("it prints\n%s(%v), not\n%s", out, err, want)
				}
			}
			run(p.prints)
			if p.again == "" {
				p.again = p.prints
			}
			run(p.again)
		})
	}
}

// size counts the lines of a program but those that are empty or a comment alone, and the names of
// this module that it uses.
func size(t *testing.T, path string) (lines, names int) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "//") {
			lines++
		}
	}
	file, err := parser.ParseFile(token.NewFileSet(), path, text, 0)
	if err != nil {
		t.Fatal(err)
	}
	ours := map[string]bool{}
	for _, i := range file.Imports {
		if s, _ := strconv.Unquote(i.Path.Value); strings.HasPrefix(s, "github.com/darrm/darrm") {
			ours[s[strings.LastIndex(s, "/")+1:]] = true
		}
	}
	used := map[string]bool{}
	ast.Inspect(file, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if pkg, ok := s.X.(*ast.Ident); ok && ours[pkg.Name] {
				used[pkg.Name+"."+s.Sel.Name] = true
			}
		}
		return true
	})
	return lines, len(used)
}
