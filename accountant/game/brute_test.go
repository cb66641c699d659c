package game_test

import (
	"math"
	"math/big"
	"slices"
	"testing"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/accountant/game"
	"github.com/darrm/darrm/internal/num"
	"github.com/darrm/darrm/internal/testing/must"
	"pgregory.net/rapid"
)

// brute is the price by the definition, in whole numbers: with A and B the products of P and P' so
// far, times D^n, the most that n more answers add is
//
//	F_0 = max(0, A - e^ε·B),   F_n(A, B) = max over ordered pairs  Σ_o F_{n-1}(A·P_o, B·P'_o)
type brute struct {
	laws        [][2][]*big.Int // times denominator
	counts      [][]*big.Int
	denominator *big.Int
	factor      *big.Int // e^ε·2⁶⁴, rounded up, so that the price is rounded down
}

func newBrute(pairs []game.Pair, epsilon float64) *brute {
	common := int64(1)
	for _, p := range pairs {
		for _, o := range p {
			for _, m := range []int{o.P.Classes, o.PPrime.Classes} {
				common *= int64(m) / new(big.Int).GCD(nil, nil, big.NewInt(common),
					big.NewInt(int64(m))).Int64()
			}
		}
	}
	b := &brute{denominator: new(big.Int).Mul(big.NewInt(common), big.NewInt(game.One))}
	for _, p := range pairs {
		var law [2][]*big.Int
		var counts []*big.Int
		for _, o := range p {
			for i, q := range []game.Probability{o.P, o.PPrime} {
				law[i] = append(law[i], new(big.Int).Mul(new(big.Int).SetUint64(q.Mass),
					big.NewInt(common/int64(q.Classes))))
			}
			counts = append(counts, big.NewInt(int64(o.Count)))
		}
		b.laws = append(b.laws, law, [2][]*big.Int{law[1], law[0]})
		b.counts = append(b.counts, counts, counts)
	}
	e := num.ExpReal(num.FromRat(num.Decimal(epsilon))).Hi()
	b.factor, _ = e.SetMantExp(e, 64).Int(nil)
	b.factor.Add(b.factor, big.NewInt(1))
	return b
}

func (b *brute) most(n int, p, q *big.Int) *big.Int {
	if p.Sign() == 0 {
		return new(big.Int)
	}
	if n == 0 {
		d := new(big.Int).Lsh(p, 64)
		d.Sub(d, new(big.Int).Mul(b.factor, q))
		if d.Sign() < 0 {
			d.SetInt64(0)
		}
		return d
	}
	best := new(big.Int)
	for i, law := range b.laws {
		sum := new(big.Int)
		for o := range law[0] {
			f := b.most(n-1, new(big.Int).Mul(p, law[0][o]), new(big.Int).Mul(q, law[1][o]))
			sum.Add(sum, f.Mul(f, b.counts[i][o]))
		}
		if sum.Cmp(best) > 0 {
			best = sum
		}
	}
	return best
}

// delta returns the price of n answers, to a float64.
func (b *brute) delta(n int) *big.Rat {
	scale := new(big.Int).Exp(b.denominator, big.NewInt(int64(n)), nil)
	return new(big.Rat).SetFrac(b.most(n, big.NewInt(1), big.NewInt(1)), scale.Lsh(scale, 64))
}

// drawnPairs draws pairs of small laws: some masses of 0, some of 1, classes that share a mass.
func drawnPairs(t *rapid.T) []game.Pair {
	law := func(groups []int) []game.Probability {
		weights := make([]uint64, len(groups))
		sum := uint64(0)
		for i := range weights {
			weights[i] = rapid.Uint64Range(0, 9).Draw(t, "weight")
			sum += weights[i]
		}
		if sum == 0 {
			weights[0], sum = 1, 1
		}
		out := make([]game.Probability, len(groups))
		for i, w := range weights {
			out[i] = game.Probability{Mass: game.One / sum * w, Classes: groups[i]}
			if w == 0 && rapid.Bool().Draw(t, "one mass") {
				out[i].Mass = 1
			}
		}
		largest, rest := 0, uint64(game.One)
		for i, q := range out {
			rest -= q.Mass // below 0 by a few masses at most, which the largest one has
			if q.Mass > out[largest].Mass {
				largest = i
			}
		}
		out[largest].Mass += rest
		return out
	}
	pairs := make([]game.Pair, rapid.IntRange(1, 3).Draw(t, "pairs"))
	for i := range pairs {
		groups := rapid.SampledFrom([][]int{{1, 1}, {1, 1, 1}, {2, 1}, {3}, {1, 2, 1}}).Draw(t, "groups")
		p, q := law(groups), law(groups)
		for o, n := range groups {
			pairs[i] = append(pairs[i], game.Outcome{Count: n, P: p[o], PPrime: q[o]})
		}
	}
	return pairs
}

// A price is never below the recursion in whole numbers, whatever the options, and near it for
// small steps.
func TestNeverBelowBruteForce(t *testing.T) {
	game.Numerical(t)
	rapid.Check(t, func(t *rapid.T) {
		pairs := drawnPairs(t)
		most := map[int]int{1: 4, 2: 3, 3: 2}[len(pairs)]
		answers := rapid.IntRange(1, most).Draw(t, "answers")
		e := float64(rapid.IntRange(0, 30).Draw(t, "tenths of epsilon")) / 10
		exact := newBrute(pairs, e).delta(answers)
		size, _ := exact.Float64()
		o := rapid.SampledFrom([]game.Options{{}, {Step: 1}, {Step: .3, Exact: 1, Groups: 1},
			{Step: .1, Exact: 2, Groups: 3}, {Step: .01}}).Draw(t, "options")
		g := newGame(t, all(pairs), o)
		got := delta(t, g, e, answers)
		if new(big.Rat).SetFloat64(got).Cmp(exact) < 0 {
			t.Fatalf("delta(%g) of %d answers of %v is %v, but the exact one is %v", e, answers, pairs, got,
				size)
		}
		if o.Step == .01 && got > size*1.02+5e-4 {
			t.Fatalf("delta(%g) of %d answers of %v is %v, far above %v", e, answers, pairs, got, size)
		}
		// The ε of a δ is one that the recursion confirms.
		if e > 0 && size > 0 && size < 1 {
			back, err := g.Epsilon(t.Context(), size, answers)
			if err == nil && newBrute(pairs, back).delta(answers).Cmp(new(big.Rat).SetFloat64(size)) > 0 {
				t.Fatalf("epsilon = %g at delta = %g is too small", back, size)
			}
		}
	})
}

// The chance that n coins of bias p come out so, k heads.
func binomial(n, k int, p float64) float64 {
	a, _ := math.Lgamma(float64(n + 1))
	b, _ := math.Lgamma(float64(k + 1))
	c, _ := math.Lgamma(float64(n - k + 1))
	return math.Exp(a - b - c + float64(k)*math.Log(p) + float64(n-k)*math.Log1p(-p))
}

// The price is between two closed forms: one pair at every answer, which is two binomial laws, and
// Rényi composition.
func TestBetweenBinomialAndRenyi(t *testing.T) {
	game.Numerical(t)
	pairs := normalCoins(25, .08)
	g := newGame(t, all(pairs), game.Options{})
	for _, answers := range []int{1, 10, 100, 400} {
		for _, e := range []float64{.5, 2, 4} {
			got, below := delta(t, g, e, answers), 0.0
			for _, pair := range pairs {
				p, q := float64(pair[0].P.Mass)/game.One, float64(pair[0].PPrime.Mass)/game.One
				for _, law := range [][2]float64{{p, q}, {q, p}} {
					sum := 0.0
					for k := range answers + 1 {
						sum += max(0, binomial(answers, k, law[0])-math.Exp(e)*binomial(answers, k, law[1]))
					}
					below = max(below, sum)
				}
			}
			if above := g.Renyi().Delta(e, answers); got < below*(1-1e-9) || got > max(1e-299, above) {
				t.Errorf("%d answers: delta(%g) = %g, want between %g and %g", answers, e, got, below, above)
			}
		}
		for _, d := range []float64{1e-3, 1e-6} {
			got, above := epsilon(t, g, d, answers), g.Renyi().Epsilon(d, answers)
			if !(got <= above) {
				t.Errorf("%d answers: epsilon(%g) = %g, above %g of Rényi composition", answers, d, got, above)
			}
		}
	}
	// At its best it is some percent above.
	must.Near(t, "Rényi composition", g.Renyi().Epsilon(1e-6, 100), epsilon(t, g, 1e-6, 100), .08)
}

// The largest divergences are those of the pairs, at every order and in both orders of a pair, and
// never smaller.
func TestRenyiDivergence(t *testing.T) {
	game.Numerical(t)
	rapid.Check(t, func(t *rapid.T) {
		pairs := drawnPairs(t)
		r := must.Get(game.NewRenyi(t.Context(), all(pairs)))(t)
		// The bound on one answer holds for the exact price of one answer.
		for _, e := range []float64{0, 1, 3} {
			exact, _ := newBrute(pairs, e).delta(1).Float64()
			if d := r.Delta(e, 1); d < exact*(1-1e-12) {
				t.Fatalf("delta(%g) = %g of %v by divergences, exact %g", e, d, pairs, exact)
			}
		}
	})
	// D₂ of coins ½ and ¼ is ln(4/3), D₂ of the other order ln(5/4): of many answers at a large δ, α =
	// 2 is best.
	r := must.Get(game.NewRenyi(t.Context(), all([]game.Pair{coins(game.One/2, game.One/4)})))(t)
	must.Near(t, "epsilon by order 2", r.Epsilon(.999, 1000),
		1000*math.Log(4./3)+math.Log(.5)-math.Log(.999)-math.Log(2), 1e-9)
	// An answer that one law alone has.
	r = must.Get(game.NewRenyi(t.Context(), all([]game.Pair{coins(game.One, game.One/2)})))(t)
	if e, d := r.Epsilon(1e-6, 1), r.Delta(3, 1); !math.IsInf(e, 1) || d != 1 {
		t.Errorf("divergences of an answer that one law alone has: epsilon = %g, delta = %g", e, d)
	}
}

// More answers, more pairs and a smaller ε are not cheaper, but for what pruning adds.
func TestMonotone(t *testing.T) {
	game.Numerical(t)
	rapid.Check(t, func(t *rapid.T) {
		pairs := drawnPairs(t)
		g := newGame(t, all(pairs), game.Options{Step: .2})
		answers := rapid.IntRange(1, 20).Draw(t, "answers")
		e := rapid.Float64Range(0, 4).Draw(t, "epsilon")
		d := delta(t, g, e, answers)
		slack := d*(1-3e-4) - 1e-12
		if more := delta(t, g, e, answers+1); more < slack {
			t.Fatalf("%d answers cost %g, one more %g", answers, d, more)
		}
		if more := delta(t, g, e*.9, answers); more < slack {
			t.Fatalf("delta = %g at epsilon = %g but %g at a smaller one", d, e, more)
		}
		both := append(slices.Clone(pairs), drawnPairs(t)...)
		// its lattice is another
		if more := delta(t, newGame(t, all(both), game.Options{Step: .2}), e, answers); more < slack*.9-
			.01 {
			t.Fatalf("delta = %g of some pairs but %g of more", d, more)
		}
	})
}

// Two sessions add up by their curves, and no more cheaply than as one game.
func TestCurveComposes(t *testing.T) {
	g := newGame(t, all(normalCoins(25, .08)), game.Options{})
	points := must.Get(g.Curve(t.Context(), 1e-10, 50))(t)
	var list []accountant.HockeyStickPoint
	for i, p := range points {
		if i > 0 && !(p.Epsilon > points[i-1].Epsilon && p.Delta <= points[i-1].Delta) {
			t.Fatalf("point %d is %v, after %v", i, p, points[i-1])
		}
		list = append(list, accountant.HockeyStickPoint(p))
	}
	if last := points[len(points)-1]; points[0].Epsilon != 0 || last.Delta > 1e-10 ||
		len(points) > game.MaxPoints {
		t.Errorf("%d points from %v to %v", len(points), points[0], last)
	}
	for i := 0; i < len(points)-1; i += 100 {
		p := points[i]
		must.Near(t, "a point", p.Delta, delta(t, g, p.Epsilon, 50), 1e-3)
	}
	event := must.Get(accountant.NewHockeyStick(accountant.ReplaceOne, "a game", list))(t)
	a := must.Get(accountant.New(accountant.ReplaceOne))(t)
	a = must.Get(a.Charge(event, 2))(t)
	one, two := epsilon(t, g, 1e-6, 100), must.Get(a.Epsilon(1e-6))(t)
	if two < one || two > one*1.03 {
		t.Errorf("two sessions cost %g, one of as many answers %g", two, one)
	}
	// At most MaxPoints of them, for however small a step.
	g = newGame(t, all(normalCoins(25, .08)), game.Options{Step: 1. / 100})
	if points := must.Get(g.Curve(t.Context(), 1e-6, 10))(t); len(points) > game.MaxPoints ||
		points[len(points)-1].Delta > 1e-6 {
		t.Errorf("%d points, the last %v", len(points), points[len(points)-1])
	}
}
