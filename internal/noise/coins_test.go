package noise

import (
	"errors"
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/randsrc"
	"github.com/darrm/darrm/internal/testing/randsrctest"
)

// Which words give which integer: those below the largest multiple of n give their
// remainder, so that every integer has ⌊2⁵³/n⌋ of them; the others are drawn again.
func TestUniformByWords(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const words = randsrc.One53
		n := rapid.OneOf(rapid.Uint64Range(2, 20), rapid.Uint64Range(2, words),
			rapid.Uint64Range(words-5, words)).Draw(t, "n")
		kept := words / n * n
		u := rapid.OneOf(rapid.Uint64Range(0, words-1),
			rapid.Uint64Range(kept-min(kept, 3), min(words-1, kept+3))).Draw(t, "u")
		src := &randsrctest.Sequence{Words: []uint64{u, 1}}
		got, err := Uniform(src, n)
		want, draws := u%n, 1
		if u >= kept {
			want, draws = 1, 2
		}
		if words, bits := src.Used(); err != nil || got != want || words != draws || bits != 0 {
			t.Fatalf("n = %d, u = %d: %d, %v with %d words; want %d with %d", n, u, got, err, words, want,
				draws)
		}
	})
}

// Beyond 2⁵³ two words make 64 bits, and the rest is the same.
func TestUniformByDoubleWords(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.OneOf(rapid.Uint64Range(randsrc.One53+1, maxUniform),
			rapid.Uint64Range(maxUniform-5, maxUniform)).Draw(t, "n")
		all := new(big.Int).Lsh(big.NewInt(1), 64)
		kept := new(big.Int).Div(all, bigInt(n))
		kept.Mul(kept, bigInt(n)) // the largest multiple up to 2⁶⁴
		edge := new(big.Int).Sub(kept, big.NewInt(2)).Uint64()
		u := rapid.OneOf(rapid.Uint64(), rapid.Uint64Range(edge, edge+min(4, math.MaxUint64-edge))).Draw(
			t, "u")
		low := rapid.Uint64Range(0, 1<<42-1).Draw(t, "bits that are not used")
		src := &randsrctest.Sequence{Words: []uint64{u >> 11, u&(1<<11-1)<<42 | low, 0, 5 << 42}}
		got, err := Uniform(src, n)
		want, draws := u%n, 2
		if bigInt(u).Cmp(kept) >= 0 {
			want, draws = 5, 4
		}
		if words, _ := src.Used(); err != nil || got != want || words != draws {
			t.Fatalf("n = %d, u = %d: %d, %v with %d words; want %d with %d", n, u, got, err, words, want,
				draws)
		}
	})
}

// A Bernoulli coin is heads for num of the den integers.
func TestBernoulliByWords(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		den := rapid.Uint64Range(2, 1000).Draw(t, "den")
		num := rapid.Uint64Range(0, den).Draw(t, "num")
		heads := uint64(0)
		for u := range den {
			on, err := fair{&randsrctest.Sequence{Words: []uint64{u}}}.bernoulli(num, den)
			if err != nil {
				t.Fatal(err)
			}
			if on {
				heads++
			}
			big, err := fair{&randsrctest.Sequence{Words: []uint64{u << (53 - bitsFor(den))}}}.bernoulliBig(
				bigInt(num), bigInt(den))
			if err != nil || big != on {
				t.Fatalf("%d/%d, u = %d: %t with 64 bits, %t, %v with more", num, den, u, on, big, err)
			}
		}
		if heads != num {
			t.Fatalf("%d/%d: heads for %d of %d", num, den, heads, den)
		}
	})
}

func bigInt(x uint64) *big.Int { return new(big.Int).SetUint64(x) }

// A coin of 128 bits takes the words that a coin of any size takes, and falls as that does.
func TestWideCoins(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		den, ok := wideOf(bigBelow(t, maxWide, "den"))
		num, ok2 := wideOf(bigBelow(t, den.big(), "num"))
		if !ok || !ok2 {
			t.Fatalf("%v/%v is not wide", num, den)
		}
		words := rapid.SliceOfN(rapid.Uint64Range(0, randsrc.One53-1), 40, 40).Draw(t, "words")
		if rapid.Bool().Draw(t, "near") { // the first number is next to where the coin turns
			n := new(big.Int).Sub(den.big(), big.NewInt(1)).BitLen()
			count := (n + 52) / 53
			x := num.big()
			x.Add(x, big.NewInt(rapid.Int64Range(-1, 1).Draw(t, "off")))
			if x.Sign() >= 0 && x.BitLen() <= n {
				x.Lsh(x, uint(53*count-n))
				for k := count - 1; k >= 0; k-- {
					words[k] = new(big.Int).And(x, bigInt(randsrc.One53-1)).Uint64()
					x.Rsh(x, 53)
				}
			}
		}
		a, b := &randsrctest.Sequence{Words: words}, &randsrctest.Sequence{Words: words}
		got, err := fair{a}.bernoulliWide(num, den)
		want, err2 := fair{b}.bernoulliBig(num.big(), den.big())
		drawn, _ := a.Used()
		wanted, _ := b.Used()
		if got != want || drawn != wanted || (err == nil) != (err2 == nil) {
			t.Fatalf("%v/%v: %t after %d words, %v; want %t after %d, %v", num.big(), den.big(), got, drawn,
				err, want, wanted, err2)
		}
	})
}

// bigBelow draws an integer between 1 and most.
func bigBelow(t *rapid.T, most *big.Int, label string) *big.Int {
	x := new(big.Int).SetUint64(rapid.Uint64().Draw(t, label))
	x.Lsh(x, 64).Add(x, bigInt(rapid.Uint64().Draw(t, label+", low")))
	x.Rsh(x, uint(rapid.IntRange(0, 127).Draw(t, label+", shift")))
	x.Mod(x, most)
	return x.Add(x, big.NewInt(1))
}

// A law's draws do not depend on the size of the integers that it is worked out with.
func TestGaussianSizesDrawAlike(t *testing.T) {
	for _, variance := range []*big.Rat{big.NewRat(5, 2), big.NewRat(35, 1),
		ratio(3572691984, 100_000_000), big.NewRat(1<<34, 1), big.NewRat(1, 1<<34)} {
		g, err := NewGaussian(variance)
		if err != nil {
			t.Fatal(err)
		}
		if g.short == nil {
			t.Errorf("σ² = %v has no short form", variance)
		}
		if g.short.divisor.fits64() {
			continue // its coins are those of 64 bits
		}
		long := g
		long.short = nil
		a, b := randsrc.NewSeeded(7), randsrc.NewSeeded(7)
		for n := range 2000 {
			x, err := g.Sample(a)
			y, err2 := long.Sample(b)
			if x != y || err != nil || err2 != nil {
				t.Fatalf("σ² = %v, draw %d: %d, %v with 128 bits, %d, %v with more", variance, n, x, err, y,
					err2)
			}
		}
	}
}

// bitsFor returns how many bits n-1 has.
func bitsFor(n uint64) int { return bigInt(n - 1).BitLen() }

// The wide uniform takes the top bits of its words, most significant word first.
func TestUniformBigByWords(t *testing.T) {
	n := new(big.Int).Lsh(big.NewInt(3), 60) // 3·2⁶⁰, 62 bits: two words
	high, low := uint64(1)<<50+12345, uint64(1)<<49+678
	got, err := fair{&randsrctest.Sequence{Words: []uint64{high, low}}}.uniformBig(n)
	want := new(big.Int).Lsh(bigInt(high), 53)
	want.Add(want, bigInt(low)).Rsh(want, 106-62)
	if err != nil || got.Cmp(want) != 0 {
		t.Errorf("%v, %v; want %v", got, err, want)
	}
	top := randsrc.One53 - 1
	// 2⁶²-1 is out of range
	got, err = fair{&randsrctest.Sequence{Words: []uint64{top, top, 0, 0}}}.uniformBig(n)
	if err != nil || got.Sign() != 0 {
		t.Errorf("%v, %v; want 0 from the third and fourth word", got, err)
	}
	if got, err := (fair{&randsrctest.Sequence{}}).uniformBig(big.NewInt(1)); err != nil ||
		got.Sign() != 0 {
		t.Errorf("n = 1: %v, %v", got, err)
	}
}

// It takes as many bits as n-1 has, around powers of two too: words of ones are kept where n is
// one, and drawn again where it is one more.
func TestUniformBigBits(t *testing.T) {
	const ones = randsrc.One53 - 1
	for k := uint(1); k < 300; k++ {
		power := new(big.Int).Lsh(big.NewInt(1), k)
		last := new(big.Int).Sub(power, big.NewInt(1))
		words := make([]uint64, (k+52)/53)
		for i := range words {
			words[i] = ones
		}
		got, err := fair{&randsrctest.Sequence{Words: words}}.uniformBig(power)
		if err != nil || got.Cmp(last) != 0 {
			t.Fatalf("n = 2^%d: %v, %v; want n-1", k, got, err)
		}
		words = make([]uint64, 2*((k+53)/53)) // 2^k has k+1 bits
		for i := range len(words) / 2 {
			words[i] = ones
		}
		got, err = fair{&randsrctest.Sequence{Words: words}}.uniformBig(last.Add(power, big.NewInt(1)))
		if err != nil || got.Sign() != 0 {
			t.Fatalf("n = 2^%d + 1: %v, %v; want 0 from the second try", k, got, err)
		}
	}
}

// stuck is a source that always returns the same.
type stuck struct {
	word uint64
	err  error
}

func (s stuck) Uint53() (uint64, error) { return s.word, s.err }
func (s stuck) Bit() (bool, error)      { return false, s.err }

// Sources that fail, are nil, leave their range or never let a sampler end give an error,
// never a value and never an endless loop.
func TestBrokenSources(t *testing.T) {
	boom := errors.New("boom")
	l, err := NewLaplace(3, 2)
	if err != nil {
		t.Fatal(err)
	}
	g, wide := mustGaussian(t, 9, 2), mustGaussian(t, 1<<35+1, 1<<35)
	draws := map[string]func(src randsrc.Source) (int64, error){
		"laplace": l.Sample, "gaussian": g.Sample, "gaussian with more than 64 bits": wide.Sample,
		"argmax": func(src randsrc.Source) (int64, error) {
			i, err := ArgMax(src, []int64{1, 1})
			return int64(i), err
		},
		"permute-and-flip": func(src randsrc.Source) (int64, error) {
			i, err := PermuteAndFlip(src, []int{1, 2}, 1, 2)
			return int64(i), err
		},
		"uniform": func(src randsrc.Source) (int64, error) {
			u, err := Uniform(src, 3)
			return int64(u), err
		},
		"coin": func(src randsrc.Source) (int64, error) {
			_, err := fair{src}.bernoulli(1, 3)
			return 0, err
		},
		"exponential coin": func(src randsrc.Source) (int64, error) {
			_, err := fair{src}.exp(5, 3)
			return 0, err
		},
	}
	for name, draw := range draws {
		if y, err := draw(&randsrctest.Sequence{Err: boom}); !errors.Is(err, boom) || y != 0 {
			t.Errorf("%s, failing source: %d, %v", name, y, err)
		}
		if y, err := draw(nil); !errors.Is(err, errSource) || y != 0 {
			t.Errorf("%s, no source: %d, %v", name, y, err)
		}
		if y, err := draw(stuck{word: randsrc.One53}); !errors.Is(err, errSource) || y != 0 {
			t.Errorf("%s, out of range: %d, %v", name, y, err)
		}
		// It may have a value or an error, but it must end.
		for _, word := range []uint64{0, 1, randsrc.One53 / 2, randsrc.One53 - 1} {
			_, _ = draw(stuck{word: word})
		}
	}
	if _, err := l.Sample(stuck{}); !errors.Is(err, errSource) {
		t.Errorf("a source of zeros: %v", err)
	}
	if _, err := Uniform(stuck{word: randsrc.One53 - 1}, 3<<51); !errors.Is(err, errSource) {
		t.Errorf("a source of rejected words: %v", err)
	}
}

func TestParameters(t *testing.T) {
	var parameter *check.Error
	src := randsrc.NewSeeded(1)
	for name, err := range map[string]error{
		"uniform 0":       second(Uniform(src, 0)),
		"uniform 2^63+1":  second(Uniform(src, maxUniform+1)),
		"laplace 0":       second(NewLaplace(0, 1)),
		"laplace 1/0":     second(NewLaplace(1, 0)),
		"laplace 2^32":    second(NewLaplace(1<<32, 1)),
		"gaussian 0":      second(NewGaussian(new(big.Rat))),
		"gaussian -1/3":   second(NewGaussian(big.NewRat(-1, 3))),
		"gaussian 2^35":   second(NewGaussian(big.NewRat(1<<35, 1))),
		"gaussian 2^-35":  second(NewGaussian(big.NewRat(1, 1<<35))),
		"rate 1/0":        second(PermuteAndFlip(src, []int{1, 2}, 1, 0)),
		"rate 2^32":       second(PermuteAndFlip(src, []int{1, 2}, 1<<32, 1)),
		"laplace of 0":    second(LaplaceAtLeast(new(big.Rat))),
		"laplace of -1":   second(LaplaceAtLeast(big.NewRat(-1, 1))),
		"laplace of 2^40": second(LaplaceAtLeast(big.NewRat(1<<40, 1))),
		"variance too large": second(mustGaussian(t, maxExactVariance, 1).VotesDelta(1,
			big.NewRat(1, 1))),
		"first too large": second(mustGaussian(t, 1,
			1).CheckedDelta(mustGaussian(t, maxExactVariance, 1), 1, big.NewRat(1, 1))),
		"no votes": second(mustGaussian(t, 1, 1).VotesDelta(0, big.NewRat(1, 1))),
		"no law":   second(Gaussian{}.VotesDelta(1, big.NewRat(1, 1))),
	} {
		if !errors.As(err, &parameter) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, err := range map[string]error{
		"zero laplace":  second(Laplace{}.Sample(src)),
		"zero gaussian": second(Gaussian{}.Sample(src)),
		"no values":     second(ArgMax(src, nil)),
		"no scores":     second(PermuteAndFlip(src, nil, 1, 1)),
	} {
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func second[T any](_ T, err error) error { return err }

// Rounding to what samplers take: exact where it is said to be, else in the stated
// direction by no more than is said.
func TestRounding(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := big.NewRat(rapid.Int64Range(1, 1<<40).Draw(t, "num"),
			rapid.Int64Range(1, 1<<20).Draw(t, "den"))
		if x.Cmp(big.NewRat(1<<30, 1)) > 0 {
			x.Quo(x, big.NewRat(1<<10, 1))
		}
		within := func(name string, got *big.Rat, bits uint) {
			low, high := x, new(big.Rat).Mul(x, new(big.Rat).Add(big.NewRat(1, 1), big.NewRat(1, 1<<bits)))
			if name == "rate" {
				low, high = new(big.Rat).Mul(x, new(big.Rat).Sub(big.NewRat(1, 1), big.NewRat(1, 1<<bits))), x
			}
			if got.Cmp(low) < 0 || got.Cmp(high) > 0 {
				t.Fatalf("%s: %v becomes %v", name, x, got)
			}
		}
		l, err := LaplaceAtLeast(x)
		if err != nil {
			t.Fatal(err)
		}
		if x.Cmp(big.NewRat(1, 1)) >= 0 {
			within("laplace", l.Scale(), 29)
		} else if l.Scale().Cmp(x) < 0 {
			t.Fatalf("laplace: %v becomes %v", x, l.Scale())
		}
		num, den, err := RateDown(x)
		if err != nil || num >= 1<<32 {
			t.Fatal(num, err)
		}
		within("rate", ratio(num, den), 29)
	})
	for _, exact := range []*big.Rat{big.NewRat(1, 1), big.NewRat(669, 5000),
		big.NewRat(1<<21-1, 1<<21-3), big.NewRat(1, 1<<20)} {
		l, err := LaplaceAtLeast(exact)
		if err != nil || l.Scale().Cmp(exact) != 0 {
			t.Errorf("laplace: %v becomes %v, %v", exact, l.Scale(), err)
		}
		num, den, err := RateDown(exact)
		if err != nil || ratio(num, den).Cmp(exact) != 0 {
			t.Errorf("rate: %v becomes %d/%d, %v", exact, num, den, err)
		}
	}
}

// Scores may differ by as much as a rate that is at most 2^63 allows, and not by one more.
func TestLargestDifferenceOfScores(t *testing.T) {
	src := randsrc.NewSeeded(1)
	failed := 0
	for range 20 { // whichever comes first
		if i, err := PermuteAndFlip(src, []int{0, 1 << 62}, 2, 1); err != nil || i != 1 {
			t.Errorf("%d, %v", i, err)
		}
		if _, err := PermuteAndFlip(src, []int{0, 1<<62 + 1}, 2, 1); err != nil {
			failed++
		}
	}
	if failed == 0 {
		t.Error("a rate above 2^63 is taken")
	}
}
