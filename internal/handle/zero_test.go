package handle_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/types"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/darrm/darrm/internal/mutant"
)

// mayPanic has what panics on zero by its contract, with the contract.
var mayPanic = map[string]string{}

// Nothing of the product panics on nil or zero: not a method of a nil pointer or of a zero value, nor
// a function, whose arguments are zero. A program that is written here calls all of them.
func TestNothingPanicsOnZero(t *testing.T) {
	var imports, calls strings.Builder
	for i, p := range packages(t) {
		var lines []string
		for _, name := range p.Scope().Names() {
			switch o := p.Scope().Lookup(name).(type) {
			case *types.TypeName:
				named, ok := o.Type().(*types.Named)
				if o.Exported() && ok && !o.IsAlias() && !types.IsInterface(named) && named.TypeParams().Len() == 0 {
					lines = append(lines, fmt.Sprintf("\tvalue[p%d.%s](%q)\n", i, name, p.Path()+"."+name))
				}
			case *types.Func:
				if o.Exported() && o.Signature().TypeParams().Len() == 0 {
					lines = append(lines, fmt.Sprintf("\tcall(%q, reflect.ValueOf(p%d.%s))\n", p.Path()+"."+name, i, name))
				}
			}
		}
		if len(lines) > 0 {
			fmt.Fprintf(&imports, "\tp%d %q\n", i, p.Path())
			calls.WriteString(strings.Join(lines, ""))
		}
	}
	source, err := os.ReadFile(filepath.Join("testdata", "zero.go.txt"))
	if err != nil {
		t.Fatal(err)
	}
	program := strings.NewReplacer("//IMPORTS\n", imports.String(), "//CALLS\n", calls.String()).Replace(string(source))
	dir := t.TempDir()
	overlay, err := mutant.Overlay(dir, map[string]string{filepath.Join("zero", "main.go"): program})
	if err != nil {
		t.Fatal(err)
	}
	binary := filepath.Join(dir, "zero")
	if out, err := exec.Command("go", "build", "-overlay", overlay, "-ldflags=-w", "-o", binary,
		"./zero").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	cmd := exec.CommandContext(t.Context(), binary)
	cmd.Dir = t.TempDir()
	var talk bytes.Buffer
	cmd.Stderr = &talk
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, talk.Bytes())
	}
	var found struct {
		Methods, Functions int
		Panicked           map[string]string
	}
	if err := json.Unmarshal(out, &found); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for name, with := range found.Panicked {
		if mayPanic[name] == "" {
			t.Errorf("%s panics: %s", name, with)
		}
	}
	for name := range mayPanic {
		if found.Panicked[name] == "" {
			t.Errorf("%s does not panic", name)
		}
	}
	if found.Methods < 500 || found.Functions < 200 {
		t.Errorf("%d calls of methods and %d of functions", found.Methods, found.Functions)
	}
	t.Logf("%d calls of methods on nil and zero, %d of functions, %d panics by contract", found.Methods,
		found.Functions, len(mayPanic))
	if left, _ := os.ReadDir(cmd.Dir); len(left) > 0 {
		t.Errorf("files were made: %v", left)
	}
}

// packages returns the types of the product's packages, by path.
func packages(t *testing.T) (all []*types.Package) {
	t.Helper()
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip(err)
	}
	source, exports := typesOf(t)
	for path := range exports {
		if !strings.HasPrefix(path+"/", module+"/") || notProduct.MatchString(path) || exports[path] == "" {
			continue
		}
		p, err := source.Import(path)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
	slices.SortFunc(all, func(a, b *types.Package) int { return strings.Compare(a.Path(), b.Path()) })
	return all
}
