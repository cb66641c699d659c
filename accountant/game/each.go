package game

import (
	"cmp"
	"context"
	"math"
	"math/big"

	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/num"
)

// Each is the guarantee of one answer by itself: it is (Epsilon, Delta)-DP.
type Each struct{ Epsilon, Delta float64 }

// MaxComposed is the largest number of answers that are composed by what each keeps.
const MaxComposed = 1000

// Validate returns an error naming the field that breaks its rule: Epsilon in (0, 700], Delta in
// [0,1).
func (e Each) Validate() error {
	return cmp.Or(check.UpTo("epsilon of each answer", e.Epsilon, MaxEpsilon),
		check.Delta("delta of each answer", e.Delta))
}

// Keeps reports whether every pair, in both orders, has Σ (P - e^ε·P')₊ ≤ δ of e, decided in whole
// numbers with e^ε rounded down. The error is e's, the sequence's own, or ctx.Err(). Cost: some
// microseconds an outcome.
func (e Each) Keeps(ctx context.Context, pairs Pairs) (bool, error) {
	if err := e.Validate(); err != nil {
		return false, err
	}
	factor := new(big.Rat).SetFloat64(num.Exp(num.Decimal(e.Epsilon)).Lower())
	delta, keeps := num.Decimal(e.Delta), true
	err := each(ctx, pairs, func(p Pair) error {
		if err := p.validate(); err != nil {
			return err
		}
		for _, second := range [2]bool{false, true} {
			sum := new(big.Rat)
			for i := range p {
				a, b := p[i].law(second).exact(), p[i].law(!second).exact()
				if a.Sub(a, b.Mul(b, factor)); a.Sign() > 0 {
					sum.Add(sum, a.Mul(a, big.NewRat(int64(p[i].Count), 1)))
				}
			}
			keeps = keeps && sum.Cmp(delta) <= 0
		}
		return nil
	})
	return keeps, err
}

func (p Probability) exact() *big.Rat {
	x := new(big.Int).SetUint64(p.Mass)
	return new(big.Rat).SetFrac(x, new(big.Int).Mul(big.NewInt(One), big.NewInt(int64(p.Classes))))
}

// Composed returns a δ such that answers, each of which keeps e whatever was answered before,
// are (epsilon, δ)-DP together, epsilon in [0, 700] and answers up to MaxComposed. No smaller δ is
// true of all such answers; it is rounded up, also as a decimal. With δ₁, ε₁ of e:
//
//	δ = 1 - (1-δ₁)^Q·(1 - Σ_l C(Q,l)·(e^(l·ε₁) - e^(ε+(Q-l)·ε₁))₊/(1+e^ε₁)^Q)
//
// This is the game of one pair, (δ₁, (1-δ₁)·e^ε₁/(1+e^ε₁), (1-δ₁)/(1+e^ε₁), 0) and its mirror
// image: its curve is above that of every pair that keeps e.
//
// Source: Kairouz, Oh and Viswanath, The Composition Theorem for Differential Privacy (2015),
// Theorem 3.3.
func (e Each) Composed(epsilon float64, answers int) (float64, error) {
	if err := e.Validate(); err != nil {
		return 0, err
	}
	if err := cmp.Or(check.ProfileEpsilon(epsilon),
		check.Whole("answers that are composed", answers, 1, MaxComposed)); err != nil {
		return 0, err
	}
	one, total := num.FromInt(1), num.Decimal(epsilon)
	single := num.Decimal(e.Epsilon)
	base := num.Exp(single)
	all := num.Exp(total)
	powers, sum := num.Powers(base, answers), num.FromInt(0)
	ways := big.NewInt(1) // C(Q,l)
	for l := answers; l >= 0; l-- {
		// l·ε₁ > ε + (Q-l)·ε₁ is decided exactly.
		lead := new(big.Rat).Mul(single, big.NewRat(int64(2*l-answers), 1))
		if lead.Cmp(total) <= 0 {
			break
		}
		term := powers[l].Sub(all.Mul(powers[answers-l]))
		sum = sum.Add(term.Mul(num.FromRat(new(big.Rat).SetInt(ways))))
		ways.Mul(ways, big.NewInt(int64(l)))
		ways.Quo(ways, big.NewInt(int64(answers-l+1)))
	}
	whole := num.Powers(one.Add(base), answers)[answers]
	kept := num.Powers(one.Sub(num.FromRat(num.Decimal(e.Delta))), answers)[answers]
	return min(1, max(0, one.Sub(kept.Mul(one.Sub(sum.Quo(whole)))).DecimalUp())), nil
}

// Curve returns the price of answers that each keep e, at ε = 0 and at larger ε, ascending, with δ
// falling to least in (0,1) or as far as it falls. Between two points it is the chord over e^ε. The
// points are at most MaxPoints.
func (e Each) Curve(least float64, answers int) ([]Point, error) {
	if err := check.Within("least delta of a curve", least); err != nil {
		return nil, err
	}
	var points []Point
	add := func(epsilon float64) error {
		delta, err := e.Composed(epsilon, answers)
		if n := len(points); n > 0 {
			delta = min(delta, points[n-1].Delta)
		}
		points = append(points, Point{epsilon, delta})
		return err
	}
	if err := add(0); err != nil {
		return nil, err
	}
	stride := answers/MaxPoints + 1
	for l := 1; l <= answers && points[len(points)-1].Delta > least; l += stride {
		// Beyond l·ε₁ for the largest l, δ does not fall.
		at := num.FromRat(new(big.Rat).Mul(num.Decimal(e.Epsilon), big.NewRat(int64(l), 1))).DecimalUp()
		if at > MaxEpsilon || math.IsInf(at, 1) {
			break
		}
		if err := add(at); err != nil {
			return nil, err
		}
	}
	return points, nil
}
