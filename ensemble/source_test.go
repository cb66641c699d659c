package ensemble

import (
	"context"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/darrm/darrm/internal/randsrc"
	"github.com/darrm/darrm/internal/randsrc/randsrctest"
	"github.com/darrm/darrm/votes"
)

// A source that fails, at the word or at the coin, gives an error and no answer.
func TestFailingSource(t *testing.T) {
	m := anyGamma(t, 3, 1, 1) // always truthful: an answer would be known before the coin
	boom := errors.New("boom")
	for name, words := range map[string][]uint64{"at the word": nil, "at the coin": {0}} {
		for l := range 4 {
			got, err := m.answer(&randsrctest.Sequence{Words: words, Err: boom}, l)
			if !errors.Is(err, boom) || got {
				t.Errorf("%s, l = %d: %t, %v; want false and boom", name, l, got, err)
			}
		}
	}
	// A word out of range is a failure too.
	if got, err := m.answer(&randsrctest.Sequence{Words: []uint64{randsrc.One53}, Bits: []bool{true}}, 3); err == nil || got {
		t.Errorf("word out of range: %t, %v", got, err)
	}
}

// Wrong vote counts are refused before anything is drawn.
func TestVotesOutOfRange(t *testing.T) {
	m := anyGamma(t, 3, 1, 0.5)
	for _, ones := range []int{-1, 4, 1 << 40} {
		src := &randsrctest.Sequence{Words: []uint64{0}, Bits: []bool{true}}
		if got, err := m.answer(src, ones); err == nil || got {
			t.Errorf("ones = %d: %t, %v", ones, got, err)
		}
		if words, bits := src.Used(); words+bits != 0 {
			t.Errorf("ones = %d: drew before it refused", ones)
		}
		if _, err := m.Release(ones); err == nil || !strings.Contains(err.Error(), "between 0 and K = 3") {
			t.Errorf("Release(%d): %v", ones, err)
		}
		if _, err := m.ProbabilityOfOne(ones); err == nil {
			t.Errorf("ProbabilityOfOne(%d): no error", ones)
		}
		if _, err := m.Simulate(1).Draw(ones); err == nil {
			t.Errorf("Draw(%d): no error", ones)
		}
	}
}

func TestNewNeedsACertificate(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("New(nil) did not panic")
		}
	}()
	New(nil)
}

// Release cannot be given another source than the system's. Its source has a
// type that no other source can be assigned or converted to (so that no such
// program compiles), its signature has no room for one, and no exported function
// of the package takes or returns one.
func TestReleaseTakesNoSource(t *testing.T) {
	field, ok := reflect.TypeFor[Mechanism]().FieldByName("secure")
	if !ok || field.Type != reflect.TypeFor[*randsrc.Secure]() {
		t.Fatalf("Mechanism.secure is a %v, want *randsrc.Secure", field.Type)
	}
	for _, other := range []reflect.Type{
		reflect.TypeFor[*randsrc.Seeded](), reflect.TypeFor[randsrc.Source](),
		reflect.TypeFor[*randsrctest.Sequence](), reflect.TypeFor[*randsrctest.Counter](),
	} {
		if other.AssignableTo(field.Type) || other.ConvertibleTo(field.Type) {
			t.Errorf("a %v can become a %v", other, field.Type)
		}
	}
	var _ func(*Mechanism, int) (bool, error) = (*Mechanism).Release

	names, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	exported := 0
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				if n.Name.IsExported() {
					exported++
					if mentions(n.Type, "randsrc") {
						t.Errorf("%s: %s has a random source in its signature", name, n.Name.Name)
					}
				}
				return true
			case *ast.StructType:
				for _, field := range n.Fields.List {
					for _, id := range field.Names {
						if id.IsExported() && mentions(field.Type, "randsrc") {
							t.Errorf("%s: field %s is an exported random source", name, id.Name)
						}
					}
					if len(field.Names) == 0 && mentions(field.Type, "randsrc") {
						t.Errorf("%s: a random source is embedded", name)
					}
				}
			case *ast.AssignStmt:
				for _, left := range n.Lhs {
					if s, ok := left.(*ast.SelectorExpr); ok && s.Sel.Name == "secure" {
						t.Errorf("%s: the secure source is assigned", name)
					}
				}
			}
			return true
		})
	}
	if exported < 8 {
		t.Errorf("only %d exported functions found: is this test out of date?", exported)
	}
}

func mentions(n ast.Node, pkg string) bool {
	found := false
	ast.Inspect(n, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && id.Name == pkg {
			found = true
		}
		return true
	})
	return found
}

// Release draws from the secure source and from nothing else: without it there is
// no answer, also for γ = 1, where none would be needed.
func TestReleaseDrawsFromTheSecureSource(t *testing.T) {
	m := anyGamma(t, 3, 1, 1)
	if m.secure == nil {
		t.Fatal("New made no secure source")
	}
	without := &Mechanism{certified: m.certified}
	for l := range 4 {
		if got, err := without.Release(l); err == nil || got {
			t.Errorf("l = %d: answered %t without a source", l, got)
		}
	}
	labels, err := without.Aggregate(context.Background(), &votes.Table{K: 3, Ones: []int{3, 3}})
	if err == nil || labels != nil {
		t.Errorf("Aggregate answered %v without a source", labels)
	}
}

func TestSimulationRepeats(t *testing.T) {
	m := anyGamma(t, 5, 0.9, 0.5, 0.1)
	draw := func(seed uint64) string {
		s := m.Simulate(seed)
		var b strings.Builder
		for i := range 400 {
			one, err := s.Draw(i % 6)
			if err != nil {
				t.Fatal(err)
			}
			b.WriteString(votes.LabelOf(one).String())
		}
		return b.String()
	}
	if first, again := draw(1), draw(1); first != again {
		t.Error("the same seed gives different answers")
	}
	// 400 answers, a fair share of them coins: no two streams agree by chance.
	seen := map[string]uint64{}
	for seed := range uint64(50) {
		d := draw(seed)
		if other, ok := seen[d]; ok {
			t.Errorf("seeds %d and %d give the same answers", seed, other)
		}
		seen[d] = seed
	}
}
