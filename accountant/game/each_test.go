package game_test

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/accountant/game"
	"github.com/darrm/darrm/internal/num"
	"github.com/darrm/darrm/internal/testing/must"
)

// alone is the least δ of one answer of the pairs at e^ε rounded down as far as a float64 is.
func alone(pairs []game.Pair, epsilon float64) *big.Rat {
	factor := new(big.Rat).SetFloat64(num.Exp(num.Decimal(epsilon)).Lower())
	most := new(big.Rat)
	share := func(q game.Probability) *big.Rat {
		return new(big.Rat).SetFrac(new(big.Int).SetUint64(q.Mass), big.NewInt(game.One*int64(q.Classes)))
	}
	for _, pair := range pairs {
		var sums [2]big.Rat
		for _, o := range pair {
			for i, q := range [][2]game.Probability{{o.P, o.PPrime}, {o.PPrime, o.P}} {
				d := share(q[1])
				if d.Sub(share(q[0]), d.Mul(d, factor)); d.Sign() > 0 {
					sums[i].Add(&sums[i], d.Mul(d, big.NewRat(int64(o.Count), 1)))
				}
			}
		}
		for i := range sums {
			if sums[i].Cmp(most) > 0 {
				most = &sums[i]
			}
		}
	}
	return most
}

// What each answer keeps is decided to the last digit, and what they cost together by that is not
// below the recursion in whole numbers.
func TestEachIsAboveBruteForce(t *testing.T) {
	below := 0
	rapid.Check(t, func(rt *rapid.T) {
		pairs := drawnPairs(rt)
		e := float64(rapid.IntRange(1, 20).Draw(rt, "tenths of epsilon")) / 10
		least := alone(pairs, e)
		size, _ := least.Float64()
		if size > .9 {
			rt.Skip()
		}
		delta := size
		for num.Decimal(delta).Cmp(least) < 0 {
			delta = math.Nextafter(delta, 1)
		}
		each := game.Each{Epsilon: e, Delta: delta}
		if !must.Get(each.Keeps(t.Context(), all(pairs)))(rt) {
			rt.Fatalf("%+v of %v is not kept, of which the least is %v", each, pairs, least)
		}
		if delta > 0 {
			each.Delta = delta * (1 - 1e-15)
			if num.Decimal(each.Delta).Cmp(least) < 0 && must.Get(each.Keeps(t.Context(), all(pairs)))(rt) {
				rt.Fatalf("%+v of %v is kept, of which the least is %v", each, pairs, least)
			}
			each.Delta = delta
		}
		answers := rapid.IntRange(1, 3).Draw(rt, "answers")
		total := float64(rapid.IntRange(0, 40).Draw(rt, "tenths of the total")) / 10
		exact := newBrute(pairs, total).delta(answers)
		got := must.Get(each.Composed(total, answers))(rt)
		if num.Decimal(got).Cmp(exact) < 0 {
			want, _ := exact.Float64()
			rt.Fatalf("%d answers that keep %+v have %v at %v, but cost %v", answers, each, got, total, want)
		}
		if got < .99 {
			below++
		}
	})
	if below < 20 {
		t.Errorf("%d prices are below 1: the test shows nothing", below)
	}
}

// The price is that of the pair of which it is the closed form, and the composition theorem's.
func TestComposedIsTheDearest(t *testing.T) {
	e, d := .5, .01
	whole := func(x float64) uint64 { return uint64(math.Round(x * game.One)) }
	head := whole((1 - d) * math.Exp(e) / (1 + math.Exp(e)))
	tail, sure := whole((1-d)/(1+math.Exp(e))), whole(d)
	head += game.One - head - tail - sure
	one := func(a, b uint64) game.Outcome {
		return game.Outcome{Count: 1, P: game.Probability{Mass: a, Classes: 1}, PPrime: game.Probability{Mass: b, Classes: 1}}
	}
	pairs := []game.Pair{{one(sure, 0), one(head, tail), one(tail, head), one(0, sure)}}
	for answers := 1; answers <= 4; answers++ {
		for _, total := range []float64{0, .3, 1, 1.7} {
			exact, _ := newBrute(pairs, total).delta(answers).Float64()
			got := must.Get(game.Each{Epsilon: e, Delta: d}.Composed(total, answers))(t)
			if math.Abs(got-exact) > 1e-13 {
				t.Errorf("%d answers at %v: %v, want %v", answers, total, got, exact)
			}
		}
	}
	for _, answers := range []int{1, 7, 40, 256} {
		cost := must.Get(accountant.Optimal(answers, accountant.Cost{Epsilon: .1, Delta: 1e-8}, 1e-4))(t)
		got := must.Get(game.Each{Epsilon: .1, Delta: 1e-8}.Composed(cost.Epsilon, answers))(t)
		if got > 1e-4*(1+1e-9) || got < .9e-4 && cost.Epsilon > .1 {
			t.Errorf("%d answers: %v at %v", answers, got, cost.Epsilon)
		}
	}
	// Basic composition is exact where each may take its share.
	got := must.Get(game.Each{Epsilon: .25, Delta: .001}.Composed(1, 4))(t)
	if want := 1 - math.Pow(.999, 4); math.Abs(got-want) > 1e-15 || got < want {
		t.Errorf("%v, want %v", got, want)
	}
}

// A curve falls, and is nowhere below the price.
func TestCurveOfEach(t *testing.T) {
	each := game.Each{Epsilon: .3, Delta: 1e-6}
	points := must.Get(each.Curve(1e-9, 9))(t)
	if points[0].Epsilon != 0 || len(points) < 6 || points[len(points)-1].Epsilon > 2.8 {
		t.Errorf("%+v", points)
	}
	for i := 1; i < len(points); i++ {
		a, b := points[i-1], points[i]
		if !(b.Epsilon > a.Epsilon && b.Delta <= a.Delta) {
			t.Errorf("%+v after %+v", b, a)
		}
		middle := (a.Epsilon + b.Epsilon) / 2
		x := (math.Exp(middle) - math.Exp(a.Epsilon)) / (math.Exp(b.Epsilon) - math.Exp(a.Epsilon))
		if got := must.Get(each.Composed(middle, 9))(t); got > a.Delta+x*(b.Delta-a.Delta)+1e-15 {
			t.Errorf("%v at %v, between %+v and %+v", got, middle, a, b)
		}
	}
	for _, bad := range []game.Each{{}, {Epsilon: -1}, {Epsilon: 1, Delta: 1}, {Epsilon: math.NaN()}, {Epsilon: 1, Delta: -1e-9}} {
		if _, err := bad.Composed(1, 2); err == nil {
			t.Errorf("%+v is composed", bad)
		}
		if _, err := bad.Keeps(t.Context(), nil); err == nil {
			t.Errorf("%+v is kept", bad)
		}
	}
	if _, err := each.Composed(1, game.MaxComposed+1); err == nil {
		t.Error("too many answers are composed")
	}
}
