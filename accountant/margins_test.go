package accountant

import (
	"errors"
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"github.com/darrm/darrm/internal/num"
)

// What lies below the outcomes that are kept is counted above the loss of the first of them: at the
// grid's point below there is nothing but the first one's own part. Lower, it would be as if the
// mechanism told less.
func TestTailOfDiscreteNoiseIsRaised(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := discreteLoss{rapid.Float64Range(0.5, 40).Draw(t, "sigma"),
			float64(rapid.IntRange(1, 9).Draw(t, "shift"))}
		a, _ := l.keptOutcomes()
		low, high, _ := l.span()
		step := math.Exp2(math.Floor(math.Log2((l.loss(a+1) - l.loss(a)) / 4)))
		m, err := l.discretise(step)
		if err != nil {
			t.Skip(err)
		}
		first, err := newLossMass(step, low, high)
		if err != nil {
			t.Fatal(err)
		}
		norm := 0.0
		for x := -math.Ceil(40 * l.sigma); x <= 40*l.sigma; x++ {
			norm += math.Exp(-x * x / (2 * l.sigma * l.sigma))
		}
		first.add(step, l.loss(a), math.Exp(-(a-l.shift)*(a-l.shift)/(2*l.sigma*l.sigma))/norm)
		below := int(math.Floor(l.loss(a)/step)) - m.first
		if below < 0 {
			return
		}
		if got, own := m.mass[below], first.mass[below]; got > own*(1+1e-6)+1e-300 {
			t.Fatalf("a mass of %g below the first loss, whose own part is %g", got, own)
		}
	})
}

// E[K] of the geometric law is 1/γ.
func TestMeanOfRunsIsRoundedUp(t *testing.T) {
	for _, mean := range []float64{1.5, 3, 7.7, 100, 12345.6} {
		s, err := NewStopping("geometric", mean)
		if err != nil {
			t.Fatal(err)
		}
		exact := new(big.Rat).Inv(num.Decimal(s.gamma))
		if got := new(big.Rat).SetFloat64(s.Mean()); got.Cmp(exact) < 0 {
			t.Errorf("mean %v, exactly %s", s.Mean(), exact.FloatString(20))
		}
	}
}

// Where no order has a finite divergence nothing is promised, and δ is 1.
func TestNoFiniteOrderGivesNoPromise(t *testing.T) {
	s := rdpSum{[]Charge{{Count: 1}}, []facts{{maxOrder: 10,
		rdp: func(float64) float64 { return math.Inf(1) }}}}
	if delta, _ := s.delta(1); delta != 1 {
		t.Errorf("δ = %g", delta)
	}
	if _, _, err := s.epsilon(1e-5); !errors.Is(err, ErrUnsupported) {
		t.Errorf("ε: %v", err)
	}
}

// The moment of Poisson sampling is no less than Mironov, Talwar and Zhang's sum, in interval
// arithmetic, and no more by more than its own margins: some 10⁻¹¹ of a term.
func TestSubsampledMomentIsOutward(t *testing.T) {
	for _, c := range []struct {
		sigma, q float64
		alpha    int
	}{{1, 0.01, 2}, {1, 0.01, 8}, {0.7, 0.3, 16}, {4, 0.5, 32}, {2, 1e-4, 5}, {10, 0.9, 40}, {1.3, 0.25, 64}} {
		one := num.FromInt(1)
		q := num.FromRat(new(big.Rat).SetFloat64(c.q))
		sigma := new(big.Rat).SetFloat64(c.sigma)
		half := new(big.Rat).Inv(new(big.Rat).Mul(big.NewRat(2, 1), new(big.Rat).Mul(sigma, sigma)))
		a := num.FromInt(0)
		for k := range c.alpha + 1 {
			term := num.FromRat(new(big.Rat).SetInt(new(big.Int).Binomial(int64(c.alpha), int64(k))))
			for i := range c.alpha {
				if i < k {
					term = term.Mul(q)
				} else {
					term = term.Mul(one.Sub(q))
				}
			}
			x := new(big.Rat).Mul(big.NewRat(int64(k*k-k), 1), half)
			a = a.Add(term.Mul(num.ExpReal(num.FromRat(x))))
		}
		exact := num.Log(a)
		got := new(big.Float).SetFloat64(subsampledLogMoment(c.sigma, c.q, c.alpha))
		if got.Cmp(exact.Hi()) < 0 {
			t.Errorf("%+v: %.17g, exactly %.17g", c, got, exact.Hi())
		}
		if ratio, _ := new(big.Float).Quo(got, exact.Hi()).Float64(); ratio > 1+1e-9 {
			t.Errorf("%+v: %.3g too much", c, ratio-1)
		}
	}
}
