package iteration_test

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/internal/num"
	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/learn/shuffled/iteration"
)

func exactly(f float64) num.Interval { return num.FromRat(new(big.Rat).SetFloat64(f)) }

func lower(x, y num.Interval) num.Interval {
	if x.Cmp(y) < 0 {
		return x
	}
	return y
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
			if exactly(got).Cmp(exact) < 0 {
				t.Errorf("%s = %.17g is below %.17g", what, got, exact.Nearest())
			}
		}
		sigma := log(-2, 2, "σ")
		square := exactly(sigma).Mul(exactly(sigma))

		// The epochs of a shuffled method: 2G²K/V, V = iσ² + (n-n_d)σ_pub².
		e := iteration.Steps{
			Epochs: rapid.IntRange(1, 1000).Draw(t, "epochs"), Records: 12,
			Private: rapid.IntRange(1, 11).Draw(t, "private"),
			Clip:    log(-2, 2, "clip"), Noise: sigma, PublicNoise: log(-2, 2, "public σ"),
			Order: iteration.Reshuffled, OrderSecret: true, Released: iteration.EpochEnds,
			StepSize: 1, Smoothness: 1, Convex: true, ClipKeepsContraction: true, ConvexRegulariser: true,
			Neighbours: accountant.ReplaceOne,
		}
		clip, epochs := exactly(e.Clip), num.FromInt(int64(e.Epochs))
		public := num.FromInt(int64(e.Records - e.Private)).Mul(exactly(e.PublicNoise)).Mul(
			exactly(e.PublicNoise))
		each := two.Mul(clip).Mul(clip)
		got, err := e.ZCDP()
		if err != nil {
			t.Fatal(err)
		}
		above("ρ of epochs", got, epochs.Mul(each).Quo(square.Add(public)))
		// S - 1 = Σ_i (e^{(α-1)α·2G²/V_i} - 1)/n, where that is no larger than a float64.
		e.Mode = iteration.RRMixture
		order := 1 + log(-3, 1, "mixture's α-1")
		x := exactly(order).Mul(exactly(order).Sub(one)).Mul(each)
		if x.Quo(square.Add(public)).Upper() < 5000 {
			sum := num.FromInt(0)
			for i := 1; i <= e.Private; i++ {
				sum = sum.Add(num.Expm1(x.Quo(num.FromInt(int64(i)).Mul(square).Add(public))))
			}
			s := one.Add(sum.Quo(num.FromInt(int64(e.Records))))
			if got, err = e.RDP(order); err != nil {
				t.Fatal(err)
			}
			above("ρ of the mixture", got, epochs.Mul(num.Log(s)).Quo(exactly(order).Sub(one)))
		}

		// Sampled steps: the formula of their RDP, term by term, and each step counted.
		d := iteration.SampledSteps{Steps: rapid.IntRange(1, 50).Draw(t, "steps"),
			Records: rapid.IntRange(1, 1000).Draw(t, "records"), Clip: 1,
			Noise: math.Pow(10, rapid.Float64Range(-0.3, 1.5).Draw(t, "log noise"))}
		grow := func(j int64) num.Interval { // e^{c·e(j)} with e(j) = 2jG²/σ²
			return num.ExpReal(num.FromInt(2 * j).Quo(exactly(d.Noise).Mul(exactly(d.Noise))))
		}
		top := int64(rapid.IntRange(2, 9).Draw(t, "sampled α"))
		q := one.Quo(num.FromInt(int64(d.Records)))
		choose, power := num.FromInt(top*(top-1)/2), q.Mul(q)
		inner := one.Add(power.Mul(choose).Mul(lower(num.FromInt(4).Mul(grow(2).Sub(one)),
			two.Mul(grow(2)))))
		for j := int64(3); j <= top; j++ {
			choose, power = choose.Mul(num.FromInt(top-j+1)).Quo(num.FromInt(j)), power.Mul(q)
			term := two.Mul(power).Mul(choose)
			for range j - 1 {
				term = term.Mul(grow(j))
			}
			inner = inner.Add(term)
		}
		want := lower(num.FromInt(2*top).Quo(exactly(d.Noise).Mul(exactly(d.Noise))),
			num.Log(inner).Quo(num.FromInt(top-1)))
		if got, err = d.RDP(int(top)); err != nil {
			t.Fatal(err)
		}
		above("ρ of a sampled step", got, want)
		eps, order2, err := d.Epsilon(1e-6)
		if err != nil {
			t.Fatal(err)
		}
		if got, err = d.RDP(order2); err != nil {
			t.Fatal(err)
		}
		if least := float64(d.Steps)*got + math.Log(1e6)/float64(order2-1); eps < least*(1-1e-12) ||
			eps > least*(1+1e-9) {
			t.Errorf("%+v costs %.17g at order %d, want %.17g", d, eps, order2, least)
		}
	})
}

// The counterexamples of docs/errata.md that are about shuffled gradients.

// The source dismisses amplification by shuffling, since the mean over a record's positions
// were dominated by the last one, 2αG²/σ² - ln n. At its own setting (n = 1000, K = 50,
// ε = 5) that is negative, and the mean is far below.
func TestErratumDismissalOfShuffling(t *testing.T) {
	const sigma, alpha = 161.0921424, 6.987669585
	mixed, err := withNoise(withMode(steps(1, 1000, 1000, 10), iteration.RRMixture), sigma).RDP(alpha)
	if err != nil {
		t.Fatal(err)
	}
	unmixed, err := withNoise(steps(1, 1000, 1000, 10), sigma).RDP(alpha)
	if err != nil {
		t.Fatal(err)
	}
	must.Near(t, "mean over the positions", mixed, 4.18e-4, 2e-3)
	must.Near(t, "its exponential", math.Exp((alpha-1)*mixed), 1.002506, 1e-6)
	must.Near(t, "worst position", unmixed, 5.39e-2, 1e-3)
	if printed := 2*alpha*100/(sigma*sigma) - math.Log(1000); printed > 0 ||
		math.Abs(printed+6.85) > 0.01 {
		t.Errorf("the printed approximation is %g", printed)
	}
}

// Appendix F.3 prints (n-1+n_d) where the noise of Interleaved has (n+1-n_d). With the
// printed one, fewer public steps would need less noise, and with none of them Interleaved
// would need 2n-1 times less variance than DP-ShuffleG, which it then is.
func TestErratumDenominatorOfInterleaved(t *testing.T) {
	const n = 200
	plain := calibrated(t, steps(50, n, n, 10), 5, 1e-6)
	for _, private := range []int{1, 50, 100, n} {
		sigma := calibrated(t, steps(50, n, private, 10), 5, 1e-6)
		must.Near(t, "variances", plain*plain/(sigma*sigma), float64(n+1-private), 1e-6)
		if printed := float64(n - 1 + private); private > 1 {
			cheap := withNoise(steps(50, n, private, 10), plain/math.Sqrt(printed))
			if got := epsilon(t, cheap, 1e-6); got <= 5.001 {
				t.Errorf("n_d = %d: noise by the printed denominator costs ε = %g", private, got)
			}
		}
	}
}
