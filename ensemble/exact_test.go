package ensemble

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"github.com/darrm/darrm/constraints"
	"github.com/darrm/darrm/gamma"
	"github.com/darrm/darrm/internal/randsrc"
	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/internal/testing/randsrctest"
)

// anyGamma returns the mechanism of the given function, whatever it is: a release
// that may cost more than all teachers together keeps its promise with any γ.
func anyGamma(t testing.TB, k int, free ...float64) *Mechanism {
	t.Helper()
	return mustDaRRM(t, anyCertified(t, k, free...))
}

func anyCertified(t testing.TB, k int, free ...float64) *gamma.Certified {
	t.Helper()
	f, err := gamma.FromFree(k, free[:(k+1)/2])
	if len(free) > k { // by names
		f, err = gamma.NewByName(free)
	}
	if err != nil {
		t.Fatal(err)
	}
	// With δ = 0 certifying γ = 1 would fail by its own rounding errors.
	p := constraints.Problem{K: k, M: float64(k + 1), Epsilon: 0.5, Delta: 1e-3, Affected: k}
	return must.Get(gamma.Certify(context.Background(), p, f))(t)
}

// gammaOf returns the noise function of DaRRM.
func gammaOf(m *Mechanism) gamma.Func { return m.rule.(darrm).gamma }

// ofOne returns Pr[1 | ones] of DaRRM over 2⁵⁴.
func ofOne(m *Mechanism) probability {
	return func(ones int) (uint64, error) { return m.rule.(darrm).numeratorOfOne(ones), nil }
}

// answerOnes answers the votes of two classes.
func answerOnes(m *Mechanism, src randsrc.Source, ones int) (bool, error) {
	class, err := m.answer(src, []int{m.setting.K - ones, ones}, 0)
	return class == 1, err
}

const ulp = 1.0 / (1 << 53)

// exactCases are functions with no two neighbouring values alike, and with the
// values at which a sampler may differ: 0, the smallest, a half, the largest below
// 1, and 1.
func exactCases(t testing.TB) []*Mechanism {
	return []*Mechanism{
		anyGamma(t, 1, 1), anyGamma(t, 1, 0), anyGamma(t, 1, ulp), anyGamma(t, 1, 1-ulp),
		anyGamma(t, 2, 0.5), anyGamma(t, 2, 1),
		anyGamma(t, 3, 1, 0.25), anyGamma(t, 3, 1-ulp, ulp),
		anyGamma(t, 4, 0.75, 0.125),
		anyGamma(t, 5, 1, 0, 0.5), anyGamma(t, 6, 0.25, 3*ulp, 1),
		anyGamma(t, 7, 1, 0.977696, 1, 0.54234),
		anyGamma(t, 1, -1), anyGamma(t, 3, 1, -ulp), anyGamma(t, 4, 0.5, -0.25),
		anyGamma(t, 7, 0.65, 1, -0.139, 1),
	}
}

// answerFunc is the type of answerOnes.
type answerFunc func(m *Mechanism, src randsrc.Source, ones int) (bool, error)

// checkExact shows that answer, with sources that are exactly uniform, returns 1
// with probability exactly
//
//	(2⁵³ + sign(2l-K)·γ(l)·2⁵³) / 2⁵⁴
//
// for every number of votes l, and equal to what law states. Answer is given every
// coin and the words u around the threshold k = |γ(l)|·2⁵³, at both ends and in
// between, and must be constant in u on {0 … k-1} and on {k … 2⁵³-1}, so that
//
//	2⁵⁴·Pr[1] = k·#{coins with answer 1 below k} + (2⁵³-k)·#{… from k on}.
//
// It must draw one word and one bit, whatever the votes.
func checkExact(m *Mechanism, answer answerFunc) error {
	kk := m.setting.K
	for l := range kk + 1 {
		k := magnitude(m, l)
		var numerator big.Int
		for _, bounds := range [2][2]uint64{{0, k}, {k, uint64(gamma.One)}} { // u in [from, to)
			from, to := bounds[0], bounds[1]
			if from == to {
				continue
			}
			ones := int64(0)
			for _, coin := range []bool{false, true} {
				var first bool
				for i, u := range wordsIn(from, to) {
					src := &randsrctest.Sequence{Words: []uint64{u, u}, Bits: []bool{coin, coin}}
					got, err := answer(m, src, l)
					if err != nil {
						return fmt.Errorf("K = %d, l = %d, u = %d, coin %t: %w", kk, l, u, coin, err)
					}
					if words, bits := src.Used(); words != 1 || bits != 1 {
						return fmt.Errorf("K = %d, l = %d, u = %d, coin %t: drew %d words and %d bits, want "+
							"one of each", kk, l, u, coin, words, bits)
					}
					if i == 0 {
						first = got
					} else if got != first {
						return fmt.Errorf("K = %d, l = %d, coin %t: u = %d and u = %d differ on the same side "+
							"of k = %d", kk, l, coin, from, u, k)
					}
				}
				if first {
					ones++
				}
			}
			width := new(big.Int).SetUint64(to - from)
			numerator.Add(&numerator, width.Mul(width, big.NewInt(ones)))
		}
		want := probabilityByDefinition(gammaOf(m), l)
		stated, err := ofOne(m)(l)
		if err != nil {
			return err
		}
		if numerator.Cmp(want) != 0 || new(big.Int).SetUint64(stated).Cmp(want) != 0 {
			return fmt.Errorf("K = %d, l = %d: 2⁵⁴·Pr[1] = %v drawn, %d stated, want %v", kk, l, &numerator,
				stated, want)
		}
	}
	return nil
}

// wordsIn returns words of [from, to): both ends, their neighbours, and places in
// between, those next to powers of two among them.
func wordsIn(from, to uint64) []uint64 {
	words := []uint64{from}
	add := func(u uint64) {
		if u >= from && u < to {
			words = append(words, u)
		}
	}
	for d := range uint64(3) {
		add(from + d)
		add(to - 1 - d)
	}
	for i := range uint64(8) {
		add(from + (to-from)/8*i + i)
	}
	for e := range 53 {
		add(1<<e - 1)
		add(1 << e)
	}
	return words
}

// probabilityByDefinition returns 2⁵⁴·Pr[1 | l] from γ as a real number.
func probabilityByDefinition(f gamma.Func, l int) *big.Int {
	p := big.NewRat(1, 2)
	g := new(big.Rat).SetFloat64(f.At(l))
	g.Quo(g, big.NewRat(2, 1))
	switch {
	case 2*l >= f.K(): // at a tie 0, but by names
		p.Add(p, g)
	default:
		p.Sub(p, g)
	}
	p.Mul(p, new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), 54)))
	if !p.IsInt() {
		panic("γ is no multiple of 2^-53")
	}
	return p.Num()
}

func TestAnswerIsExact(t *testing.T) {
	for _, m := range exactCases(t) {
		if err := checkExact(m, answerOnes); err != nil {
			t.Error(err)
		}
	}
	rapid.Check(t, func(rt *rapid.T) {
		k := rapid.IntRange(1, 6).Draw(rt, "K")
		n := (k + 1) / 2
		if rapid.Bool().Draw(rt, "by name") {
			n = k + 1
		}
		free := rapid.SliceOfN(rapid.Float64Range(-1, 1), n, n).Draw(rt, "gamma")
		m := anyGamma(t, k, free...)
		if err := checkExact(m, answerOnes); err != nil {
			rt.Fatal(err)
		}
		l := rapid.IntRange(0, k).Draw(rt, "l")
		u := rapid.Uint64Range(0, uint64(gamma.One)-1).Draw(rt, "u")
		coin := rapid.Bool().Draw(rt, "coin")
		got, err := answerOnes(m, &randsrctest.Sequence{Words: []uint64{u}, Bits: []bool{coin}}, l)
		want := coin
		if u < magnitude(m, l) { // not at a tie, but by names
			want = (2*l >= k) == (gammaOf(m).At(l) > 0)
		}
		if law := (1 + gammaOf(m).Phi()[l]) / 2; math.Abs(law-float64(m.rule.(darrm).numeratorOfOne(l))*0x1p-54) > 1e-15 {
			rt.Fatalf("%d votes: the law of label 1 is %v", l, law)
		}
		if m.Named() == gammaOf(m).Symmetric() {
			rt.Fatalf("%v is named: %t", gammaOf(m), m.Named())
		}
		if err != nil || got != want {
			rt.Fatalf("u = %d: got %t, %v; want %t", u, got, err, want)
		}
	})
}

// mutants are plausible mistakes in answer. Most are far too small, or too
// rare, for a statistical test.
var mutants = map[string]answerFunc{
	"coin is 1 once in 2^53": decided(func(m *Mechanism, l int, u, k uint64, coin bool) bool {
		return decide(m, l, u < k, coin || u == uint64(gamma.One)-1)
	}),
	"coin is 0 at u = k": decided(func(m *Mechanism, l int, u, k uint64, coin bool) bool {
		return decide(m, l, u < k, coin && u != k)
	}),
	"coin from the low bit of u": decided(func(m *Mechanism, l int, u, k uint64, _ bool) bool {
		return decide(m, l, u < k, u&1 == 1)
	}),
	"no coin": decided(func(m *Mechanism, l int, u, k uint64, _ bool) bool {
		return decide(m, l, u < k, false)
	}),
	"u <= k": decided(func(m *Mechanism, l int, u, k uint64, coin bool) bool {
		return decide(m, l, u <= k, coin)
	}),
	"52 bits": decided(func(m *Mechanism, l int, u, k uint64, coin bool) bool {
		return decide(m, l, u>>1 < k>>1, coin)
	}),
	"inverted": decided(func(m *Mechanism, l int, u, k uint64, coin bool) bool {
		return decide(m, l, u >= k, coin)
	}),
	"γ of the next count": decided(func(m *Mechanism, l int, u, _ uint64, coin bool) bool {
		return decide(m, l, u < magnitude(m, min(l+1, m.setting.K)), coin)
	}),
	"γ of the previous count": decided(func(m *Mechanism, l int, u, _ uint64, coin bool) bool {
		return decide(m, l, u < magnitude(m, max(l-1, 0)), coin)
	}),
	"γ ≡ 1": decided(func(m *Mechanism, l int, _, _ uint64, coin bool) bool {
		return decide(m, l, true, coin)
	}),
	"γ ≡ 0": decided(func(m *Mechanism, l int, _, _ uint64, coin bool) bool { return coin }),
	"the sign of γ is not seen": decided(func(m *Mechanism, l int, u, k uint64, coin bool) bool {
		if u < k && 2*l != m.setting.K {
			return 2*l > m.setting.K
		}
		return coin
	}),
	"a coin where γ is below 0": decided(func(m *Mechanism, l int, u, k uint64, coin bool) bool {
		return decide(m, l, u < k && gammaOf(m).At(l) > 0, coin)
	}),
	"majority flipped": decided(func(m *Mechanism, l int, u, k uint64, coin bool) bool {
		return decide(m, m.setting.K-l, u < k, coin)
	}),
	"coin flipped where 0 leads": decided(func(m *Mechanism, l int, u, k uint64, coin bool) bool {
		if 2*l < m.setting.K && u >= k {
			return true
		}
		return decide(m, l, u < k, coin)
	}),
	"a tie is 1": decided(func(m *Mechanism, l int, u, k uint64, coin bool) bool {
		if 2*l == m.setting.K {
			return true
		}
		return decide(m, l, u < k, coin)
	}),
	"a tie is 0 half of the time more": decided(func(m *Mechanism, l int, u, k uint64,
		coin bool) bool {
		if 2*l == m.setting.K {
			return coin && u < uint64(gamma.One)/2
		}
		return decide(m, l, u < k, coin)
	}),
	"coin drawn only where needed": func(m *Mechanism, src randsrc.Source, l int) (bool, error) {
		told, err := randsrc.Bernoulli53(src, magnitude(m, l))
		if err != nil {
			return false, err
		}
		if told && 2*l != m.setting.K {
			return decide(m, l, told, false), nil
		}
		return src.Bit()
	},
	"no word drawn for a tie": func(m *Mechanism, src randsrc.Source, l int) (bool, error) {
		if 2*l == m.setting.K {
			return src.Bit()
		}
		return answerOnes(m, src, l)
	},
	"best of two": func(m *Mechanism, src randsrc.Source, l int) (bool, error) {
		if _, err := answerOnes(m, src, l); err != nil {
			return false, err
		}
		return answerOnes(m, src, l)
	},
}

// decided makes an answerFunc of a decision with the draws of the real one.
func decided(f func(m *Mechanism, l int, u, k uint64, coin bool) bool) answerFunc {
	return func(m *Mechanism, src randsrc.Source, l int) (bool, error) {
		u, err := src.Uint53()
		if err != nil {
			return false, err
		}
		coin, err := src.Bit()
		if err != nil {
			return false, err
		}
		return f(m, l, u, magnitude(m, l), coin), nil
	}
}

// decide names the majority, or the minority where γ is below 0.
func decide(m *Mechanism, l int, told, coin bool) bool {
	if told && 2*l != m.setting.K {
		return (2*l > m.setting.K) == (gammaOf(m).At(l) > 0)
	}
	return coin
}

// magnitude returns |γ(l)|·2⁵³.
func magnitude(m *Mechanism, l int) uint64 {
	n := gammaOf(m).Numerator(l)
	return uint64(max(n, -n))
}

func TestMutantsAreCaught(t *testing.T) {
	cases := exactCases(t)
	caught := func(f answerFunc) bool {
		for _, m := range cases {
			if checkExact(m, f) != nil {
				return true
			}
		}
		return false
	}
	for name, f := range mutants {
		if !caught(f) {
			t.Errorf("mutant %q passes", name)
		}
	}
	same := decided(func(m *Mechanism, l int, u, k uint64, coin bool) bool {
		return decide(m, l, u < k, coin)
	})
	if caught(same) {
		t.Error("the unaltered decision is taken for a mutant: the mutants above prove nothing")
	}
}
