package accountant

import (
	"fmt"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/darrm/darrm/internal/num"
)

// hockey returns E[max(0, 1-e^{ε-L})] of a discretised loss L, the +∞ included: what the
// loss distribution says δ(ε) is, at any real ε.
func hockey(l lossMass, step float64, epsilon num.Interval) num.Interval {
	one, sum := num.FromInt(1), exactly(l.infinite)
	for i, m := range l.mass {
		x := exactly(float64(l.first+i) * step)
		if m > 0 && epsilon.Cmp(x) < 0 {
			sum = sum.Add(exactly(m).Mul(one.Sub(num.ExpReal(epsilon.Sub(x)))))
		}
	}
	return sum
}

// A discretised loss is nowhere below the mechanism's own, at positive ε and at negative
// ones, which matter once losses add up: against the exact curves in 320 bits. And it is
// near them. What is beyond the grid is on its ends.
func TestLossMassesAreOutward(t *testing.T) {
	one, zero := num.FromInt(1), num.FromInt(0)
	dec := func(x float64) num.Interval { return num.FromRat(num.Decimal(x)) }
	neg := func(x num.Interval) num.Interval { return zero.Sub(x) }
	positive := func(x num.Interval) num.Interval {
		if x.Cmp(zero) < 0 {
			return zero
		}
		return x
	}
	type subject struct {
		name   string
		source lossSource
		curve  func(epsilon num.Interval) num.Interval
		ends   func(low, high num.Interval) (below, above num.Interval) // the probability of a loss beyond
	}
	var all []subject
	for _, c := range []Cost{{0.3, 1e-5}, {0.1, 0.7}, {2.7, 1e-300}, {1e-3, 0}, {6, 3e-9}} {
		eps, delta := dec(c.Epsilon), dec(c.Delta)
		p := one.Quo(one.Add(num.ExpReal(neg(eps))))
		all = append(all, subject{fmt.Sprint(c), responseLoss{c}, func(e num.Interval) num.Interval {
			sum := positive(p.Mul(one.Sub(num.ExpReal(e.Sub(eps))))).Add(positive(one.Sub(p).Mul(one.Sub(num.ExpReal(e.Add(eps))))))
			return delta.Add(one.Sub(delta).Mul(sum))
		}, func(_, _ num.Interval) (below, above num.Interval) { return zero, delta }})
	}
	for _, b := range []float64{0.4, 3} {
		eps := one.Quo(dec(b))
		all = append(all, subject{fmt.Sprintf("laplace %g", b), laplaceLoss{1 / b}, func(e num.Interval) num.Interval {
			switch {
			case e.Cmp(eps) >= 0:
				return zero
			case e.Cmp(neg(eps)) <= 0:
				return one.Sub(num.ExpReal(e))
			}
			return one.Sub(num.ExpReal(e.Sub(eps).Quo(num.FromInt(2))))
		}, func(_, _ num.Interval) (below, above num.Interval) { return zero, zero }})
	}
	for _, l := range []normalLoss{{2, 1, false}, {0.7, 1, false}, {1.3, 0.2, false}, {1.3, 0.2, true}, {5, 0.01, false}, {0.6, 0.5, true}} {
		sigma, q := exactly(l.sigma), exactly(l.q)
		square := sigma.Mul(sigma)
		half := num.FromInt(1).Quo(num.FromInt(2))
		// The outcome of which the mixture's loss is e; all if there is none.
		outcome := func(e num.Interval) (x num.Interval, all bool) {
			r := one.Add(num.ExpReal(e).Sub(one).Quo(q))
			if r.Lower() <= 0 {
				return x, true
			}
			return square.Mul(num.Log(r)).Add(half), false
		}
		plain := func(x num.Interval) num.Interval { return num.NormalTail(x.Quo(sigma)) }
		mixture := func(x num.Interval) num.Interval {
			return one.Sub(q).Mul(plain(x)).Add(q.Mul(num.NormalTail(x.Sub(one).Quo(sigma))))
		}
		tails := func(e num.Interval) (p, other num.Interval) { // of a loss above e
			if !l.down {
				if x, everything := outcome(e); !everything {
					return mixture(x), plain(x)
				}
				return one, one
			}
			// The loss of the plain one against the mixture is minus that, of the outcomes below.
			if x, everything := outcome(neg(e)); !everything {
				return one.Sub(plain(x)), one.Sub(mixture(x))
			}
			return zero, zero
		}
		all = append(all, subject{fmt.Sprintf("%+v", l), l, func(e num.Interval) num.Interval {
			p, other := tails(e)
			return p.Sub(num.ExpReal(e).Mul(other))
		}, func(low, high num.Interval) (below, above num.Interval) {
			below, _ = tails(low)
			above, _ = tails(high)
			return one.Sub(below), above
		}})
	}
	for _, l := range []discreteLoss{{1.5, 1}, {0.4, 2}, {6, 3}} {
		weight := func(z int) num.Interval {
			return num.ExpReal(neg(num.FromInt(int64(z * z)).Quo(num.FromInt(2).Mul(exactly(l.sigma)).Mul(exactly(l.sigma)))))
		}
		reach := int(60*l.sigma) + 10
		sum := zero
		for z := -reach; z <= reach; z++ {
			sum = sum.Add(weight(z))
		}
		shift := int(l.shift)
		loss := func(x int) num.Interval {
			return num.FromInt(int64((2*x - shift) * shift)).Quo(num.FromInt(2).Mul(exactly(l.sigma)).Mul(exactly(l.sigma)))
		}
		all = append(all, subject{fmt.Sprintf("discrete %+v", l), l, func(e num.Interval) num.Interval {
			d := zero
			for x := -reach; x <= reach+shift; x++ {
				if at := loss(x); e.Cmp(at) < 0 {
					d = d.Add(weight(x - shift).Quo(sum).Mul(one.Sub(num.ExpReal(e.Sub(at)))))
				}
			}
			return d
		}, func(low, high num.Interval) (below, above num.Interval) {
			below, above = zero, zero
			for x := -reach; x <= reach+shift; x++ {
				if at := loss(x); at.Cmp(low) < 0 {
					below = below.Add(weight(x - shift).Quo(sum))
				} else if at.Cmp(high) > 0 {
					above = above.Add(weight(x - shift).Quo(sum))
				}
			}
			return below, above
		}})
	}
	for _, s := range all {
		low, high, deviation := s.source.span()
		for _, step := range []float64{(high - low) / 23, powerOfTwo((high - low) / 60)} {
			l, err := s.source.discretise(step)
			if err != nil {
				t.Fatal(err)
			}
			// On the grid, where nothing but rounding lies between the two, and elsewhere.
			epsilons := []float64{-50, 1.7 * low, 0.1 * deviation, 0.93 * high}
			for i := 0; i < len(l.mass); i += 1 + len(l.mass)/11 {
				epsilons = append(epsilons, float64(l.first+i)*step)
			}
			for _, at := range epsilons {
				e := exactly(at)
				got, want := hockey(l, step, e), s.curve(e)
				if got.Cmp(want) < 0 {
					t.Errorf("%s in steps of %g: δ(%g) = %.17g, exactly %.17g", s.name, step, at, got.Nearest(), want.Nearest())
				}
				if got.Nearest() > want.Nearest()+2*step*(1+step) {
					t.Errorf("%s in steps of %g: δ(%g) = %g is far above %g", s.name, step, at, got.Nearest(), want.Nearest())
				}
			}
			below, above := s.ends(exactly(float64(l.first)*step), exactly(float64(l.first+len(l.mass)-1)*step))
			if l.mass[0] < below.Lower() || l.infinite < above.Lower() || exactly(l.infinite).Cmp(above) < 0 && above.Upper() > 1e-300 {
				t.Errorf("%s in steps of %g: %g and %g beyond the ends, exactly %g and %g", s.name, step, l.mass[0], l.infinite, below.Nearest(), above.Nearest())
			}
			if sum := hockey(l, step, num.FromInt(-10_000)); sum.Upper() < 1 {
				t.Errorf("%s in steps of %g: the masses add up to %.17g", s.name, step, sum.Nearest())
			}
		}
	}
	if math.IsNaN(all[0].curve(one).Nearest()) {
		t.Error("the reference is not a number")
	}
}

// What is read off a sum of losses, each part against intervals: the probability of +∞, the
// largest sum, and δ between two points of the grid, at the decimal of ε.
func TestLossCurveIsOutwardInEachPart(t *testing.T) {
	one := num.FromInt(1)
	rapid.Check(t, func(t *rapid.T) {
		log := func(low, high float64, name string) float64 {
			return math.Pow(10, rapid.Float64Range(low, high).Draw(t, "log "+name))
		}
		s := lossSum{step: log(-6, 0, "step")}
		finite, sum := one, num.FromInt(0)
		for range rapid.IntRange(1, 3).Draw(t, "parts") {
			p := lossPart{lossMass{first: rapid.IntRange(-50, 50).Draw(t, "first"), mass: make([]float64, 9), infinite: log(-12, -2, "infinite")}, rapid.IntRange(1, 1000).Draw(t, "count")}
			top := rapid.IntRange(0, 8).Draw(t, "top")
			p.mass[top] = 1
			for range p.count {
				finite = finite.Mul(one.Sub(exactly(p.infinite)))
			}
			sum = sum.Add(num.FromInt(int64(p.count * (p.first + top))).Mul(exactly(s.step)))
			s.parts = append(s.parts, p)
		}
		if got := s.infinite(); exactly(got).Cmp(one.Sub(finite)) < 0 {
			t.Errorf("%+v: infinite with %.17g, exactly %.17g", s.parts, got, one.Sub(finite).Nearest())
		}
		if got := s.largest(); exactly(got).Cmp(sum) < 0 {
			t.Errorf("%+v: the largest sum is %.17g, exactly %.17g", s.parts, got, sum.Nearest())
		}
		high := log(-6, -1, "δ")
		c := lossCurve{step: powerOfTwo(s.step), first: 3, delta: []float64{high, high * rapid.Float64Range(0, 1).Draw(t, "δ falls"), 0}, constant: log(-14, -7, "constant"), largest: 1e9}
		eps := c.step * rapid.Float64Range(3.001, 3.999).Draw(t, "ε")
		over, step := num.FromRat(num.Decimal(eps)).Sub(exactly(3*c.step)), num.ExpReal(exactly(c.step))
		weight := step.Sub(num.ExpReal(over)).Quo(step.Sub(one))
		want := exactly(c.delta[1]).Add(weight.Mul(exactly(high).Sub(exactly(c.delta[1])))).Add(exactly(c.constant))
		if got := c.at(eps); exactly(got).Cmp(want) < 0 || got > want.Nearest()*(1+1e-9) {
			t.Errorf("%+v: δ(%.17g) = %.17g, exactly %.17g", c, eps, got, want.Nearest())
		}
	})
}
