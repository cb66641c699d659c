package ensemble

import (
	"cmp"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/darrm/darrm/internal/randsrc"
	"github.com/darrm/darrm/internal/testing/randsrctest"
)

// A source that fails, at the word or at the coin, gives an error and no answer.
func TestFailingSource(t *testing.T) {
	m := anyGamma(t, 3, 1, 1) // always truthful: an answer would be known before the coin
	boom := errors.New("boom")
	for name, words := range map[string][]uint64{"at the word": nil, "at the coin": {0}} {
		for l := range 4 {
			got, err := answerOnes(m, &randsrctest.Sequence{Words: words, Err: boom}, l)
			if !errors.Is(err, boom) || got {
				t.Errorf("%s, l = %d: %t, %v; want false and boom", name, l, got, err)
			}
		}
	}
	// A word out of range is a failure too.
	if got, err := answerOnes(m, &randsrctest.Sequence{Words: []uint64{randsrc.One53},
		Bits: []bool{true}}, 3); err == nil || got {
		t.Errorf("word out of range: %t, %v", got, err)
	}
}

// lame is a source that fails once, and goes on as if nothing had been.
type lame struct {
	*randsrc.Seeded
	draws, fails int
}

var errLame = errors.New("lame")

func (s *lame) draw() error {
	if s.draws++; s.draws == s.fails {
		return errLame
	}
	return nil
}

func (s *lame) Uint53() (uint64, error) {
	x, err := s.Seeded.Uint53()
	return x, cmp.Or(s.draw(), err)
}

func (s *lame) Bit() (bool, error) {
	x, err := s.Seeded.Bit()
	return x, cmp.Or(s.draw(), err)
}

// No draw that fails goes unnoticed, not even where every later one succeeds: the answer would have
// less noise than was paid for.
func TestEveryDrawCounts(t *testing.T) {
	for _, classes := range []int{2, 3} {
		counts := []int{4, 5, 0}[:classes]
		for _, m := range everyMechanism(t, classes) {
			whole := &lame{Seeded: randsrc.NewSeeded(7)}
			if _, err := m.answer(whole, slices.Clone(counts), 0); err != nil || whole.draws == 0 {
				t.Fatalf("%s: %d draws, %v", m.Name(), whole.draws, err)
			}
			for i := range whole.draws {
				src := &lame{Seeded: randsrc.NewSeeded(7), fails: i + 1}
				class, err := m.answer(src, slices.Clone(counts), 0)
				if class != noAnswer || !errors.Is(err, errLame) {
					t.Errorf("%s, draw %d of %d fails: %d, %v", m.Name(), i+1, whole.draws, class, err)
				}
			}
		}
	}
}

func TestDaRRMNeedsACertificate(t *testing.T) {
	if m, err := DaRRM(nil, 1); err == nil {
		t.Errorf("%v without a certificate", m)
	}
}

// Nobody outside of this module can have an answer drawn: an exported function or field takes or
// holds no source, here and in package plurality, and coins are made in an internal package, which
// no other module can import. The zero Coins, which reflection could make, answer nothing.
func TestNothingExportedDraws(t *testing.T) {
	// of randsrc.Coins; Draw is a Telling's
	allowed := map[string]bool{"Answer": true, "AnswerMissing": true, "Draw": true}
	exported := 0
	for _, folder := range []string{".", "../plurality"} {
		names, err := filepath.Glob(filepath.Join(folder, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
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
					if !n.Name.IsExported() {
						return true
					}
					exported++
					if mentions(n.Type, "randsrc") && !allowed[n.Name.Name] || mentions(n.Type, "Source") {
						t.Errorf("%s: %s has a random source in its signature", name, n.Name.Name)
					}
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
				}
				return true
			})
		}
	}
	if exported < 20 {
		t.Errorf("%d exported functions: is this test out of date?", exported)
	}
	var _ func(*Mechanism, randsrc.Coins, string, []int) (int, error) = (*Mechanism).Answer
	coins := reflect.TypeFor[randsrc.Coins]()
	for i := range coins.NumField() {
		if coins.Field(i).IsExported() {
			t.Errorf("Coins have a field %s", coins.Field(i).Name)
		}
	}
	if !strings.HasPrefix(coins.PkgPath(), "github.com/darrm/darrm/internal/") {
		t.Errorf("Coins are of package %s", coins.PkgPath())
	}
}

func mentions(n ast.Node, name string) bool {
	found := false
	ast.Inspect(n, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && id.Name == name {
			found = true
		}
		return true
	})
	return found
}

// System coins draw from the secure source and from nothing else: without it there is no
// answer, also for γ = 1, where none would be needed.
func TestSystemCoinsDrawFromTheSecureSource(t *testing.T) {
	src, err := randsrc.SystemCoins().Of("q", nil, 0)
	if _, ok := src.(*randsrc.Secure); !ok || err != nil {
		t.Fatalf("SystemCoins draw from a %T, %v", src, err)
	}
	m := anyGamma(t, 3, 1, 1)
	for l := range 4 {
		if class, err := m.Answer(randsrc.Coins{}, "q", []int{3 - l, l}); err == nil || class != noAnswer {
			t.Errorf("l = %d: answered %d without a source", l, class)
		}
	}
}

// Coins from a seed are marked, so that no release takes them; so are coins nobody made.
func TestOnlyReleasesArePrivate(t *testing.T) {
	key, err := randsrc.NewKey()
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		coins   randsrc.Coins
		private bool
	}{
		"system": {randsrc.SystemCoins(), true}, "keyed": {randsrc.KeyedCoins(key, "r"), true},
		"seeded": {randsrc.SeededCoins(1), false}, "sequence": {randsrc.SeededSequence(1), false},
		"zero": {randsrc.Coins{}, false}, "no key": {randsrc.KeyedCoins(nil, "r"), false},
	} {
		if c.coins.Private() != c.private {
			t.Errorf("%s coins: Private() = %t", name, !c.private)
		}
	}
}

// Answers from a seed depend on seed, query and votes alone: not on the order of the
// queries, nor on how often they are asked.
func TestSeededAnswersRepeat(t *testing.T) {
	for _, m := range everyMechanism(t, 2) {
		draw := func(seed uint64, step int) string {
			coins, out := randsrc.SeededCoins(seed), make([]string, 200)
			for i := range out {
				at := i * step % len(out)
				class, err := m.Answer(coins, fmt.Sprint(at), []int{at % 10, 9 - at%10})
				if err != nil {
					t.Fatal(err)
				}
				out[at] = fmt.Sprint(class)
			}
			return strings.Join(out, " ")
		}
		first := draw(1, 1)
		if first != draw(1, 1) || first != draw(1, 7) {
			t.Errorf("%s: the same seed gives different answers", m.Title())
		}
		if first == draw(2, 1) {
			t.Errorf("%s: two seeds give the same answers", m.Title())
		}
	}
	// Queries do not share their coins: of 1000 with the same even votes, whose answers are fair
	// coins, between 400 and 600 are 1. The seed is fixed; another would fail with
	// probability 3e-10.
	m, coins, ones := anyGamma(t, 2, 1), randsrc.SeededCoins(3), 0
	for i := range 1000 {
		class, err := m.Answer(coins, fmt.Sprint(i), []int{1, 1})
		if err != nil {
			t.Fatal(err)
		}
		ones += class
	}
	if ones < 400 || ones > 600 {
		t.Errorf("%d of 1000 ties are answered 1", ones)
	}
}

// The sequence of the published figures: the draws of one generator, in their order.
func TestSeededSequenceIsOneStream(t *testing.T) {
	m := anyGamma(t, 5, 0.9, 0.5, 0.1)
	coins, src := randsrc.SeededSequence(5), randsrc.NewSeeded(5)
	for i := range 400 {
		want, err := answerOnes(m, src, i%6)
		if err != nil {
			t.Fatal(err)
		}
		class, err := m.Answer(coins, "whatever", []int{5 - i%6, i % 6})
		if err != nil || (class == 1) != want {
			t.Fatalf("draw %d: %d, %v; want %t", i, class, err, want)
		}
	}
}
