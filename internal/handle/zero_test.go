package handle_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/types"
	"math"
	"math/rand/v2"
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
	voters "github.com/darrm/darrm/ensemble/teachers"
	"github.com/darrm/darrm/gamma"
	"github.com/darrm/darrm/internal/testing/mutant"
	"github.com/darrm/darrm/learn/federated"
	"github.com/darrm/darrm/learn/federated/randomiser"
	"github.com/darrm/darrm/learn/federated/rounds"
	"github.com/darrm/darrm/learn/shuffled"
	"github.com/darrm/darrm/learn/train"
	"github.com/darrm/darrm/plurality"
	"github.com/darrm/darrm/plurality/answers"
	"github.com/darrm/darrm/release"
)

// mayPanic has what panics on nil or zero, with the reason.
var mayPanic = map[*regexp.Regexp]string{
	regexp.MustCompile(`^(ledger|votes/format)\.Register\w*$`): "a name that is registered a second time is a " +
		"mistake in the source, and shows at the start",
	regexp.MustCompile(`^sketch/stream\.Stream\.\w+ of nil$`): "as of every source of math/rand/v2: a pass over the " +
		"coordinates of a vector asks for each number, and nothing makes a nil *Stream",
	regexp.MustCompile(`^sketch/stream\.Stream\.Bound of zero$`): "as rand.Uint64N: no number is below 0",
	regexp.MustCompile(`^sketch\.(Compared|Spent)\.\w+ of zero$`): "the compressor is a field, which is whoever's that " +
		"makes the value",
}

// mayPromise has what is called with zero and promises a finite ε, with the reason.
var mayPromise = map[*regexp.Regexp]string{
	regexp.MustCompile(`\.Together of (nil|zero)$`): "its Most is 0: no answers have a price in common",
	regexp.MustCompile(`^release\.LabelBudget\.(Left|In) of zero$`): "it is the budget that the caller states, and of 0 " +
		"nothing can be paid",
}

// Nothing of the product panics on nil or zero: not a method of a nil pointer or of a zero value, nor
// a function, whose arguments are zero. And no method of what nobody made returns a finite ε as its
// promise. A program that is written here calls all of them.
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
		Panicked, Promised map[string]string
	}
	if err := json.Unmarshal(out, &found); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	excused(t, "panics", found.Panicked, mayPanic)
	excused(t, "promises", found.Promised, mayPromise)
	if found.Methods < 500 || found.Functions < 200 {
		t.Errorf("%d calls of methods and %d of functions", found.Methods, found.Functions)
	}
	t.Logf("%d calls of methods on nil and zero, %d of functions", found.Methods, found.Functions)
	if made, _ := os.ReadDir(cmd.Dir); len(made) > 0 {
		t.Errorf("files were made: %v", made)
	}
}

// excused wants a reason for everything found, and something found for every reason.
func excused(t *testing.T, does string, found map[string]string, reasons map[*regexp.Regexp]string) {
	t.Helper()
	used := map[*regexp.Regexp]bool{}
	for name, what := range found {
		excuse := false
		for pattern := range reasons {
			if pattern.MatchString(name) {
				excuse, used[pattern] = true, true
			}
		}
		if !excuse {
			t.Errorf("%s %s: %s", name, does, what)
		}
	}
	for pattern, reason := range reasons {
		if !used[pattern] {
			t.Errorf("nothing of %v %s, and the list says why it may: %s", pattern, does, reason)
		}
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
	for name, cost := range map[string]accountant.Cost{
		"a profile": accountant.HockeyStick{}.Cost(), "shuffled gradients": new(shuffled.Plan).Cost(),
		"their report": new(shuffled.Plan).Report().Cost, "their price": new(shuffled.Plan).Price().Cost,
		"many silos": new(federated.Plan).Price().Cost, "a run of silos": new(rounds.Run).Cost(),
		"teachers": new(voters.Plan).Teacher(), "a model": new(train.Release).Cost(),
		"labels": release.Summary{}.Cost(),
	} {
		if !math.IsInf(cost.Epsilon, 1) {
			t.Errorf("%s of nobody: %v", name, cost)
		}
	}
	for name, r := range map[string]randomiser.Randomizer{"one bit": new(randomiser.OneBit),
		"a cap": new(randomiser.PrivUnit), "coordinates": new(randomiser.RandK), "floats": randomiser.Floats{}} {
		if _, err := r.Append(nil, nil, 1, rand.NewPCG(1, 2)); err == nil || !math.IsInf(r.Epsilon(), 1) {
			t.Errorf("%s of nobody sends, at ε₀ = %v", name, r.Epsilon())
		}
	}
	if e := new(federated.Plan).LocalEpsilon(); !math.IsInf(e, 1) {
		t.Errorf("a report of nobody costs %v", e)
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
