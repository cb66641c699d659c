package accountant

import (
	"cmp"
	"math"
	"math/big"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/darrm/darrm/internal/num"
	"github.com/darrm/darrm/internal/testing/raced"
)

// side checks that a figure is on the private side of the exact number, which the interval
// holds to some 90 digits, and next to it: within a few units in the last place.
func side(t *rapid.T, what string, got float64, exact num.Interval, above bool) {
	t.Helper()
	x := new(big.Float).SetPrec(500).SetRat(num.Decimal(got))
	if above && x.Cmp(exact.Lo()) < 0 || !above && x.Cmp(exact.Hi()) > 0 {
		t.Errorf("%s = %.17g is on the wrong side of %.17g", what, got, exact.Nearest())
	}
	if near := exact.Nearest(); math.Abs(got-near) > 4*0x1p-52*math.Abs(near)+5e-324 {
		t.Errorf("%s = %.17g is far from %.17g", what, got, near)
	}
}

func lower(x, y num.Interval) num.Interval {
	if x.Cmp(y) < 0 {
		return x
	}
	return y
}

// Every closed form is rounded to the side that promises less: against the same formula in
// intervals. That all of some fifty random figures fall there by chance has a probability
// below 2⁻⁵⁰.
func TestClosedFormsAreOutward(t *testing.T) {
	raced.Sequential(t)
	one, two := num.FromInt(1), num.FromInt(2)
	dec := func(x float64) num.Interval { return num.FromRat(num.Decimal(x)) }
	neg := func(x num.Interval) num.Interval { return num.FromInt(0).Sub(x) }
	rapid.Check(t, func(t *rapid.T) {
		log := func(low, high float64, name string) float64 {
			return math.Pow(10, rapid.Float64Range(low, high).Draw(t, "log "+name))
		}
		k := rapid.IntRange(2, 1000).Draw(t, "k")
		each := Cost{log(-4, 0.3, "ε"), log(-12, -4, "Δ")}
		slack, delta := log(-9, -1, "slack"), log(-12, -0.1, "δ")
		sigma, epsilon := log(-0.5, 1.5, "σ"), log(-2, 1, "other ε")
		n := num.FromInt(int64(k))

		// 1-(1-δ)^k·(1-δ') and the three forms of advanced composition.
		general, err := General(k, each, slack)
		if err != nil {
			t.Fatal(err)
		}
		power := one
		for range k {
			power = power.Mul(one.Sub(dec(each.Delta)))
		}
		side(t, "general δ", general.Delta, one.Sub(power.Mul(one.Sub(dec(slack)))), true)
		e, x := dec(each.Epsilon), num.ExpReal(dec(each.Epsilon))
		mean := n.Mul(e).Mul(x.Sub(one)).Quo(x.Add(one))
		form := func(log num.Interval) num.Interval {
			return mean.Add(e.Mul(num.Sqrt(two.Mul(n).Mul(log))))
		}
		best := lower(n.Mul(e), lower(form(neg(num.Log(dec(slack)))),
			form(num.Log(num.ExpReal(one).Add(e.Mul(num.Sqrt(n)).Quo(dec(slack)))))))
		side(t, "general ε", general.Epsilon, best, true)

		// What a δ leaves for General's slack costs no more than that δ, either way round.
		parts := []Repeated{{each, k}}
		atDelta := func(delta float64) num.Interval {
			left := one.Sub(one.Sub(dec(delta)).Quo(power))
			return lower(n.Mul(e), lower(form(neg(num.Log(left))),
				form(num.Log(num.ExpReal(one).Add(e.Mul(num.Sqrt(n)).Quo(left))))))
		}
		given := log(-3, -0.5, "given δ")
		if eps, _, err := generalEpsilon(parts, given); err == nil {
			if x := new(big.Float).SetPrec(500).SetRat(num.Decimal(eps)); x.Cmp(atDelta(given).Lo()) < 0 {
				t.Errorf("general ε at δ = %g is %.17g, below %.17g", given, eps, atDelta(given).Nearest())
			}
		}
		if rapid.IntRange(0, 9).Draw(t, "slow") > 0 {
			// generalDelta takes as long as all else together
		} else if d, _, err := generalDelta(parts, general.Epsilon); err == nil && d < 1 {
			if exact := atDelta(d).Nearest(); exact > general.Epsilon*(1+1e-12) {
				t.Errorf("general δ at ε = %.17g is %.17g, which goes with %.17g", general.Epsilon, d, exact)
			}
		}

		// The optimal region's corners: ε_i = (k-2i)ε.
		small := rapid.IntRange(1, 40).Draw(t, "few")
		o, err := equalOptimal(small, each)
		if err != nil {
			t.Fatal(err)
		}
		for i, p := range o.pairs() {
			side(t, "ε_i", p.Epsilon, num.FromInt(int64(small-2*i)).Mul(e), true)
		}

		// zCDP: ρ = kε²/2, and ks²/(2σ²).
		rho, err := zcdp([]Charge{{RandomizedResponse{each.Epsilon, ReplaceOne}, k}})
		if err != nil {
			t.Fatal(err)
		}
		side(t, "ρ of pure events", rho, n.Mul(e).Mul(e).Quo(two), true)
		rho, err = zcdp([]Charge{{Gaussian{sigma, ReplaceOne}, k},
			{DiscreteGaussian{sigma, 3, ReplaceOne}, 2}})
		if err != nil {
			t.Fatal(err)
		}
		square := dec(sigma).Mul(dec(sigma))
		side(t, "ρ of noise", rho, n.Quo(two.Mul(square)).Add(num.FromInt(9).Quo(square)), true)
		logs := neg(num.Log(dec(delta)))
		if eps, err := EpsilonFromZCDP(rho, delta); err != nil {
			t.Fatal(err)
		} else {
			side(t, "ε of ρ", eps, dec(rho).Add(two.Mul(num.Sqrt(dec(rho).Mul(logs)))), true)
		}
		if gap := dec(epsilon).Sub(dec(slack)); gap.Lower() > 0 && epsilon*epsilon/(4*slack) < 700 {
			side(t, "δ of ρ", zcdpDelta(slack, epsilon),
				num.ExpReal(neg(gap.Mul(gap).Quo(num.FromInt(4).Mul(dec(slack))))), true)
		}

		// Noise: 1/b up, what hides votes down, what is needed up, the exact δ up.
		c, err := pureOrApprox(Laplace{sigma, ReplaceOne})
		if err != nil {
			t.Fatal(err)
		}
		side(t, "1/b", c.Epsilon, one.Quo(dec(sigma)), true)
		sum, err := summedNoise([]Charge{{Gaussian{sigma, ReplaceOne}, k}, {Gaussian{3, ReplaceOne}, 2}})
		if err != nil {
			t.Fatal(err)
		}
		side(t, "summed noise", sum, one.Quo(num.Sqrt(n.Quo(square).Add(two.Quo(num.FromInt(9))))), false)
		at := 3 / sigma
		exact, err := GaussianDelta(sigma, at)
		if err != nil {
			t.Fatal(err)
		}
		half, shift := one.Quo(two.Mul(dec(sigma))), dec(at).Mul(dec(sigma))
		side(t, "exact δ", exact,
			num.NormalTail(shift.Sub(half)).Sub(num.ExpReal(dec(at)).Mul(num.NormalTail(shift.Add(half)))),
			true)
	})
}

// What is worked out in float64 carries a margin: against the same formula in intervals, at
// sizes where the rounding of the summands is far above that of their sum.
func TestMarginsOfFloatsHold(t *testing.T) {
	one, two := num.FromInt(1), num.FromInt(2)
	rapid.Check(t, func(t *rapid.T) {
		log := func(low, high float64, name string) float64 {
			return math.Pow(10, rapid.Float64Range(low, high).Draw(t, "log "+name))
		}
		above := func(what string, got float64, exact num.Interval) {
			t.Helper()
			if binaryValue(got).Cmp(exact) < 0 {
				t.Errorf("%s = %.17g is below %.17g", what, got, exact.Nearest())
			}
		}
		alpha, sigma := 1+log(-6, 9, "α-1"), log(-2, 2, "σ")
		a := binaryValue(alpha)
		m := a.Sub(one)

		// (α-1)(ρ-ε) + (α-1)·ln(1-1/α) - ln α, with ρ and ε near each other.
		rho := log(-3, 3, "ρ")
		epsilon := rho * (1 + log(-6, 0, "gap"))
		above("ln δ", improvedLogDelta(alpha, rho, epsilon),
			m.Mul(binaryValue(rho).Sub(binaryValue(epsilon))).Add(m.Mul(num.Log(m.Quo(a)))).Sub(num.Log(a)))

		// α/(2σ²), of counts and of sums.
		square := binaryValue(sigma).Mul(binaryValue(sigma))
		k := rapid.IntRange(1, 1_000_000).Draw(t, "k")
		got, err := chargesRDP([]Charge{{Gaussian{sigma, ReplaceOne}, k},
			{DiscreteGaussian{sigma, 3, ReplaceOne}, 2}}, alpha)
		if err != nil {
			t.Fatal(err)
		}
		above("ρ of a sum", got, a.Mul(num.FromInt(int64(k)+18)).Quo(two.Mul(square)))
		if got, err = RDP(Gaussian{sigma, ReplaceOne}, alpha); err != nil {
			t.Fatal(err)
		}
		above("ρ of gaussian noise", got, a.Quo(two.Mul(square)))
	})
}

// The recurrences of the optimal composition round up at every step, at their 128 bits:
// C(k,l)·e^{(k-l)ε}/(1+e^ε)^k against intervals of 320.
func TestOptimalRecurrencesAreOutward(t *testing.T) {
	one := num.FromInt(1)
	for _, k := range []int{1, 2, 7, 40, 333} {
		for _, epsilon := range []float64{1e-6, 0.1, 0.7, 3, 50} {
			decay := num.ExpReal(num.FromInt(0).Sub(num.FromRat(num.Decimal(epsilon))))
			exact := one
			for range k {
				exact = exact.Quo(one.Add(decay))
			}
			c := newBinomial(k, epsilon)
			for l := 0; l <= k; l++ {
				if c.b.Cmp(exact.Lo()) < 0 {
					t.Errorf("k = %d, ε = %g: the probability of %d is %g, below %g", k, epsilon, l, c.b,
						exact.Lo())
				}
				exact = exact.Mul(num.FromInt(int64(k - l))).Quo(num.FromInt(int64(l + 1))).Mul(decay)
				c.next()
			}
		}
	}
	for _, x := range []float64{1, 3, 0.1} {
		third := num.FromRat(num.Decimal(x)).Quo(num.FromInt(3))
		up := upFloat(third)
		if up.Cmp(third.Hi()) < 0 {
			t.Errorf("%g is below %g", up, third.Hi())
		}
		if f := floatUp(up); new(big.Float).SetFloat64(f).Cmp(up) < 0 {
			t.Errorf("%g is below %g", f, up)
		}
		for _, small := range []float64{0x1p-100, 0x1p-300, 5e-324} {
			z := new(big.Float).Copy(up)
			addUp(z, upFloat(binaryValue(small)))
			least := new(big.Float).SetPrec(3000).Add(up, big.NewFloat(small))
			if z.Cmp(least) < 0 {
				t.Errorf("%g + %g = %g is too small", up, small, z)
			}
		}
	}
}

// The parts of the optimal composition of different costs, each against intervals: losses
// and probabilities of outcomes, their sums, and what lies between two losses. A rounding
// the other way would be hidden by the others in the whole.
func TestOptimalMixtureIsOutwardInEachPart(t *testing.T) {
	one := num.FromInt(1)
	rapid.Check(t, func(t *rapid.T) {
		var groups []Repeated
		exact := []struct{ loss, mass num.Interval }{{num.FromInt(0), one}}
		outcomes := 1
		for range rapid.IntRange(2, 3).Draw(t, "groups") {
			g := Repeated{Cost{Epsilon: math.Pow(10, rapid.Float64Range(-3, 0.7).Draw(t, "log ε"))},
				rapid.IntRange(1, 4).Draw(t, "k")}
			groups, outcomes = append(groups, g), outcomes*(g.Count+1)
			eps := num.FromRat(num.Decimal(g.Cost.Epsilon))
			decay := num.ExpReal(num.FromInt(0).Sub(eps))
			next := exact[:0:0]
			choose := int64(1)
			for l := 0; l <= g.Count; l++ {
				mass := num.FromInt(choose)
				for j := range g.Count {
					if j < l {
						mass = mass.Mul(decay)
					}
					mass = mass.Quo(one.Add(decay))
				}
				for _, o := range exact {
					o.loss, o.mass = o.loss.Add(num.FromInt(int64(g.Count-2*l)).Mul(eps)), o.mass.Mul(mass)
					next = append(next, o)
				}
				choose = choose * int64(g.Count-l) / int64(l+1)
			}
			exact = next
		}
		all := enumerate(groups, outcomes)
		if len(all) != len(exact) {
			t.Fatalf("%d outcomes, want %d", len(all), len(exact))
		}
		// Each outcome stands for one of those: sorted alike, both fall.
		slices.SortStableFunc(exact, func(a, b struct{ loss, mass num.Interval }) int {
			return -a.loss.Cmp(b.loss)
		})
		sum := num.FromInt(0)
		for i, o := range all {
			if binaryValue(o.loss).Cmp(exact[i].loss) < 0 {
				t.Errorf("%v: loss %.17g is below %.17g", groups, o.loss, exact[i].loss.Nearest())
			}
			sum = sum.Add(exact[i].mass)
		}
		var o optimalMixture
		o.accumulate(all)
		if last := o.above[len(o.above)-1]; binaryValue(last).Cmp(sum) < 0 {
			t.Errorf("%v: the probabilities add up to %.17g, not %.17g", groups, last, sum.Nearest())
		}
		masses := num.FromInt(0)
		for i, x := range all {
			masses = masses.Add(binaryValue(x.mass))
			if j := slices.Index(o.losses, x.loss); j >= 0 && (i+1 == len(all) || all[i+1].loss != x.loss) &&
				binaryValue(o.above[j]).Cmp(masses) < 0 {
				t.Errorf("%v: %.17g above %g, but the masses add up to %.17g", groups, o.above[j], x.loss,
					masses.Nearest())
			}
		}
		// Each mass by itself: one group after the other, l by l, is how they are made.
		product := []num.Interval{one}
		for _, g := range groups {
			var next []num.Interval
			for _, m := range binomialUp(g.Count, g.Cost.Epsilon) {
				for _, p := range product {
					next = append(next, p.Mul(binaryValue(m)))
				}
			}
			product = next
		}
		slices.SortFunc(product, func(a, b num.Interval) int { return a.Cmp(b) })
		byMass := slices.Clone(all)
		slices.SortFunc(byMass, func(a, b outcome) int { return cmp.Compare(a.mass, b.mass) })
		for i, p := range product {
			if binaryValue(byMass[i].mass).Cmp(p) < 0 {
				t.Errorf("%v: a mass of %.17g for %.17g", groups, byMass[i].mass, p.Nearest())
			}
		}
		// e^-gap·d + (1-e^-gap)·A, and ε as its decimal.
		gap, a := math.Pow(10, rapid.Float64Range(-12, 2.5).Draw(t, "log gap")),
			rapid.Float64Range(1e-9, 1).Draw(t, "A")
		d := a * rapid.Float64Range(0, 1).Draw(t, "d/A")
		keep := num.ExpReal(num.FromInt(0).Sub(binaryValue(gap)))
		if got := between(gap, d, a); binaryValue(got).Cmp(
			keep.Mul(binaryValue(d)).Add(one.Sub(keep).Mul(binaryValue(a)))) < 0 {
			t.Errorf("between(%g, %g, %g) = %.17g is too small", gap, d, a, got)
		}
	})
}
