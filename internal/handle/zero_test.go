package handle_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/types"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/darrm/darrm"
	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/accountant/game"
	"github.com/darrm/darrm/constraints"
	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/gamma"
	"github.com/darrm/darrm/internal/mutant"
	"github.com/darrm/darrm/plurality"
	"github.com/darrm/darrm/plurality/answers"
)

// training are the packages of which nil and zero were not gone through: what they release is charged
// by others, and no label is drawn there.
var training = regexp.MustCompile(`^(learn|sketch|poissonbinom|ensemble/teachers|release/folder|release/silo)\b`)

// registers have names once and for all: a second time is a mistake in the source, at the start.
var registers = regexp.MustCompile(`^(ledger|votes/format)\.Register\w*$`)

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
	left := 0
	for name, with := range found.Panicked {
		if registers.MatchString(name) && strings.Contains(with, "registered twice") {
			continue
		}
		if training.MatchString(name) {
			left++
		} else {
			t.Errorf("%s panics: %s", name, with)
		}
	}
	if found.Methods < 500 || found.Functions < 200 {
		t.Errorf("%d calls of methods and %d of functions", found.Methods, found.Functions)
	}
	t.Logf("%d calls of methods on nil and zero, %d of functions; %d panics of training", found.Methods,
		found.Functions, left)
	if made, _ := os.ReadDir(cmd.Dir); len(made) > 0 {
		t.Errorf("files were made: %v", made)
	}
}

// What nobody made promises nothing.
func TestZeroPromisesNothing(t *testing.T) {
	nothing := accountant.Cost{Epsilon: math.Inf(1), Delta: 1}
	for name, m := range map[string]*ensemble.Mechanism{"nil": nil, "zero": {}} {
		if m.PerAnswer() != nothing || m.Answers(3, 0).PerAnswer != nothing ||
			m.Problem().TotalEpsilon != math.Inf(1) || m.Together().Most != 0 || m.Event() != nil {
			t.Errorf("%s mechanism: %v, %+v", name, m.PerAnswer(), m.Problem())
		}
		if _, ok := m.Noise(); ok {
			t.Errorf("%s mechanism has noise of its own", name)
		}
		if _, err := m.Answers(3, 0).Total(); err == nil {
			t.Errorf("%s mechanism: three answers have a price", name)
		}
	}
	if (*darrm.Mechanism)(nil).PerLabel() != nothing || new(darrm.Mechanism).PerLabel() != nothing {
		t.Error("a label of nobody has a price")
	}
	for name, r := range map[string]*game.Renyi{"nil": nil, "zero": {}} {
		if r.Delta(9, 1) != 1 || !math.IsInf(r.Epsilon(0.1, 1), 1) {
			t.Errorf("%s divergences: %v, %v", name, r.Delta(9, 1), r.Epsilon(0.1, 1))
		}
	}
	if d, err := new(game.Game).Delta(t.Context(), 9, 1); err == nil {
		t.Errorf("a game of nothing costs %v", d)
	}
	if new(constraints.System).RHS() != 0 || new(constraints.System).OriginalRHS() != 0 ||
		!math.IsInf(new(constraints.System).Original(0), 1) {
		t.Error("a system of nothing allows something")
	}
	if new(plurality.Certified).Mass(0) != 0 || new(answers.Certified).Mass(0) != 0 ||
		new(gamma.Certified).Func().Numerator(0) != 0 {
		t.Error("no table has a mass")
	}
	if k := new(plurality.Certified).Problem().K; k != 0 {
		t.Errorf("no table is for %d teachers", k)
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
