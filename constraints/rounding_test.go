package constraints

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"testing"

	"github.com/darrm/darrm/internal/num"
	"github.com/darrm/darrm/poissonbinom"
)

// precise is arithmetic of 400 bits, rounded to nearest: for results that are compared with
// numbers of 53 bits its errors do not matter. It shares nothing with package num.
func precise() *big.Float { return new(big.Float).SetPrec(400) }

func preciseInt(n int64) *big.Float { return precise().SetInt64(n) }

// preciseExp returns e^x for x ≥ 0: the series of x/2^20, squared 20 times.
func preciseExp(x *big.Rat) *big.Float {
	y := precise().SetRat(x)
	y.SetMantExp(y, -20)
	sum, term := preciseInt(1), preciseInt(1)
	for i := int64(1); i < 80; i++ {
		term.Mul(term, y)
		term.Quo(term, preciseInt(i))
		sum.Add(sum, term)
	}
	for range 20 {
		sum.Mul(sum, sum)
	}
	return sum
}

// roundedTo returns an error unless got is the float64 next to exact on the given side. exact
// itself must not be a float64.
func roundedTo(got float64, exact *big.Float, side int) error {
	next := math.Nextafter(got, math.Inf(-side))
	if s := precise().SetFloat64(got).Cmp(exact); s != side {
		return fmt.Errorf("%.17g is on the wrong side of %s", got, exact.Text('g', 25))
	}
	if s := precise().SetFloat64(next).Cmp(exact); s == side {
		return fmt.Errorf("%.17g is not next to %s", got, exact.Text('g', 25))
	}
	return nil
}

// roundingProblems are of all sizes of mε, δ and K. All right-hand sides are irrational.
func roundingProblems(t *testing.T) []Problem {
	var out []Problem
	for _, eps := range []float64{1e-9, 0.01, 0.1, 0.35, 1, 3, 30} {
		for _, m := range []float64{0.5, 1, 1.7, 3} {
			for _, delta := range []float64{0, 1e-12, 1e-5, 0.07} {
				out = append(out, problem(t, 1+len(out)%40, m, eps, delta))
			}
		}
	}
	return out
}

// The side that privacy rests on is rounded down, what bounds any method's reach up, and
// what is shown to people the way that its comment says.
func TestRightHandSidesAreRoundedToTheirSide(t *testing.T) {
	for _, p := range roundingProblems(t) {
		s := system(t, p)
		e := preciseExp(new(big.Rat).Mul(exactDecimal(p.M), exactDecimal(p.Epsilon)))
		original := precise().SetRat(exactDecimal(p.Delta)) // δ
		original.Add(original, original).Add(original, e).Sub(original, preciseInt(1))
		whole := precise().Add(e, preciseInt(1))
		scaled := precise().Quo(original, whole)
		for what, c := range map[string]struct {
			got   float64
			exact *big.Float
			side  int
		}{
			"RHS":         {s.RHS(), scaled, -1},
			"OriginalRHS": {s.OriginalRHS(), original, -1},
			"Original":    {s.Original(0.3), precise().Mul(precise().SetFloat64(0.3), whole), +1},
		} {
			if err := roundedTo(c.got, c.exact, c.side); err != nil {
				t.Errorf("%+v: %s: %v", p, what, err)
			}
		}
		if got := s.Original(math.Inf(1)); !math.IsInf(got, 1) {
			t.Errorf("%+v: Original(+Inf) = %g", p, got)
		}
	}
}

// u, C and the other terms as fractions.
func fraction(x float64) *big.Rat { return new(big.Rat).SetFloat64(x) }

func sumOf(terms ...*big.Rat) *big.Rat {
	sum := new(big.Rat)
	for _, x := range terms {
		sum.Add(sum, x)
	}
	return sum
}

func times(n float64, x *big.Rat) *big.Rat { return new(big.Rat).Mul(fraction(n), x) }

// binomialTail returns Pr[Binomial(n,Δ) > d] exactly.
func binomialTail(n, d int, delta *big.Rat) *big.Rat {
	rest := new(big.Rat).Sub(big.NewRat(1, 1), delta)
	sum := new(big.Rat)
	for x := d + 1; x <= n; x++ {
		term := new(big.Rat).SetInt(new(big.Int).Binomial(int64(n), int64(x)))
		for i := range n {
			if i < x {
				term.Mul(term, delta)
			} else {
				term.Mul(term, rest)
			}
		}
		sum.Add(sum, term)
	}
	return sum
}

// The error bounds are the sums that their proofs end with, in fractions: none of the terms
// may be missing, and none of the roundings of a bound may make it smaller. They are no more
// than a millionth above it either.
func TestErrorBoundsHaveAllTheirTerms(t *testing.T) {
	bound := func(what string, p Problem, got float64, proved *big.Rat) {
		t.Helper()
		if fraction(got).Cmp(proved) < 0 || fraction(got).Cmp(times(1+1e-6, proved)) > 0 {
			want, _ := proved.Float64()
			t.Errorf("%+v: %s = %.17g, its proof ends with %.17g", p, what, got, want)
		}
	}
	u := fraction(unit)
	for _, k := range []int{1, 2, 11, 101, 2001} {
		c := fraction(poissonbinom.AverageError(k))
		for _, delta := range []float64{0, 1e-300, 1e-12, 1e-5, 0.01, 0.3, 0.9} {
			for _, affected := range []int{1, k} {
				p := problem(t, k, 1, 0.1, delta)
				p.Affected = affected
				s := system(t, p)
				bound("RowError", p, s.RowError(), sumOf(c, times(4, u)))
				if delta == 0 {
					bound("evaluationError", p, s.evalError, sumOf(c, times(4, u)))
					continue
				}
				d, tau := truncation(affected, delta)
				bound("evaluationError", p, s.evalError, sumOf(times(4, c), times(4*float64(d+2), u),
					times(2, fraction(tau))))
				x := new(big.Rat).Mul(fraction(float64(k)), fraction(delta))
				each := sumOf(times(2, c), times(24, u))
				square := new(big.Rat).Mul(x, x)
				bound("screenError", p, screenError(p), sumOf(square.Mul(square, each),
					new(big.Rat).Mul(x, each), times(16, u)))
			}
		}
	}
}

// What a law loses by being cut after d is at most the τ that the bound counts, and τ is far
// below the rounding errors; without a cut nothing is lost. The cut is the first that
// C(n,d+1)·Δ^{d+1} allows: a later one costs time.
func TestTruncationLosesNoMoreThanItSays(t *testing.T) {
	for _, n := range []int{1, 2, 7, 30} {
		for _, delta := range []float64{1e-12, 1e-5, 1e-3, 0.01, 0.1, 0.5, 0.99} {
			d, tau := truncation(n, delta)
			lost := binomialTail(n, d, fraction(delta))
			if d < 0 || d > n || lost.Cmp(fraction(tau)) > 0 || tau > unit/4 {
				f, _ := lost.Float64()
				t.Errorf("n = %d, Δ = %g: cut after %d loses %g, stated %g", n, delta, d, f, tau)
			}
			before := new(big.Rat).SetInt(new(big.Int).Binomial(int64(n), int64(d)))
			for range d {
				before.Mul(before, fraction(delta))
			}
			if before.Cmp(fraction(truncated*(1-0x1p-20))) <= 0 {
				t.Errorf("n = %d, Δ = %g: cut after %d, though %d would do", n, delta, d, d-1)
			}
		}
	}
}

// preciseValue is the scaled left-hand side of a multiset in precise arithmetic, teacher by
// teacher: K in the hundreds is no problem.
func preciseValue(p Problem, m Multiset, phi []float64) *big.Float {
	one := preciseInt(1)
	d := precise().SetRat(exactDecimal(p.TeacherDelta))
	x := preciseExp(exactDecimal(p.Epsilon))
	a := precise().Quo(precise().Add(x, d), precise().Add(x, one))
	b, far := precise().Sub(one, a), precise().Sub(one, d)
	pairs := [corners][2]*big.Float{{new(big.Float), new(big.Float)}, {one, one}, {d, new(big.Float)},
		{new(big.Float), d}, {one, far}, {far, one}, {a, b}, {b, a}}
	var side [2]*big.Float
	for i := range side {
		psi := make([]*big.Float, len(phi))
		for l := range psi {
			psi[l] = precise().SetFloat64(phi[l])
		}
		t := precise()
		for c, n := range m {
			up := pairs[c][i]
			stay := precise().Sub(one, up)
			for range n {
				psi = psi[:len(psi)-1]
				for l := range psi {
					next := psi[:len(psi)+1][l+1]
					psi[l].Mul(psi[l], stay).Add(psi[l], t.Mul(next, up))
				}
			}
		}
		side[i] = psi[0]
	}
	e := preciseExp(p.total())
	side[1].Mul(side[1], e)
	return side[0].Sub(side[0], side[1]).Quo(side[0], e.Add(e, one))
}

// Problems where the roundings of 301 averages all point one way: the true left-hand side is
// above the computed one by more than 100 units u, far more than all terms of the error but
// C. Upper must be above it all the same.
func TestUpperHoldsWhereRoundingsAddUp(t *testing.T) {
	for _, c := range []struct{ eps, delta, gamma float64 }{{0.25, 0, 1}, {0.35, 1e-5, 1},
		{0.3, 0.01, 0.9999999}} {
		const k = 301
		p := Problem{K: k, TotalEpsilon: 1, Epsilon: c.eps, TeacherDelta: c.delta, Delta: c.delta,
			Affected: k}
		s := system(t, p)
		free := make([]float64, (k+1)/2)
		for l := range free {
			free[l] = c.gamma
		}
		phi := antisymmetric(k, free)
		got, err := s.max(context.Background(), phi)
		if err != nil {
			t.Fatal(err)
		}
		exact := preciseValue(p, got.At, phi)
		if precise().SetFloat64(got.Upper).Cmp(exact) < 0 {
			t.Errorf("%+v: Upper = %.17g, but %v reaches %s", p, got.Upper, got.At, exact.Text('g', 20))
		}
		off, _ := precise().Sub(exact, precise().SetFloat64(got.Computed)).Float64()
		if t.Logf("Δ = %g: off by %.1f u", c.delta, off/unit); off < 100*unit {
			t.Errorf("%+v: computed %.17g is off by %g only: this tests nothing", p, got.Computed, off)
		}
	}
}

// All teachers that a record reaches may be revealed only where what that costs is certainly
// within δ: one float64 below the exact 1-(1-Δ)^t is refused.
func TestPostProcessingRoundsItsCostUp(t *testing.T) {
	for _, delta := range []float64{1e-5, 0.3, 0.013, 1e-9} {
		for reached := 2; reached <= 9; reached++ {
			rest, spent := big.NewRat(1, 1), new(big.Rat)
			for range reached {
				rest.Mul(rest, new(big.Rat).Sub(big.NewRat(1, 1), exactDecimal(delta)))
			}
			spent.Sub(big.NewRat(1, 1), rest)
			below := num.FromRat(spent).DecimalDown()
			if exactDecimal(below).Cmp(spent) >= 0 || exactDecimal(math.Nextafter(below, 1)).Cmp(spent) < 0 {
				continue // a short decimal, which may be met exactly
			}
			p := Problem{K: 11, M: float64(reached), Epsilon: 0.1, TeacherDelta: delta, Affected: reached}
			if p.Delta = below; p.PostProcessing() {
				t.Errorf("Δ = %g, t = %d: δ = %v passes, but it must be at least %s", delta, reached, below,
					spent.FloatString(25))
			}
			if p.Delta = math.Nextafter(below, 1); !p.PostProcessing() {
				t.Errorf("Δ = %g, t = %d: δ = %v does not pass, but %s does", delta, reached, p.Delta,
					spent.FloatString(25))
			}
		}
	}
}

// What accounting charges for a release is never below mε.
func TestTotalIsRoundedUp(t *testing.T) {
	rounded := 0
	for _, m := range []float64{1. / 3, 1.1, 2.718281828459045, 7} {
		for _, eps := range []float64{0.1, 0.13577, 1. / 7, 3.141592653589793} {
			p := problem(t, 11, m, eps, 0)
			exact := new(big.Rat).Mul(exactDecimal(m), exactDecimal(eps))
			charged, _ := p.Total()
			switch exactDecimal(charged).Cmp(exact) {
			case -1:
				t.Errorf("m = %v, ε = %v: %v is charged, mε is %s", m, eps, charged, exact.FloatString(25))
			case +1:
				rounded++
				if below := math.Nextafter(charged, 0); exactDecimal(below).Cmp(exact) >= 0 {
					t.Errorf("m = %v, ε = %v: %v is charged, %v would do", m, eps, charged, below)
				}
			}
		}
	}
	if rounded == 0 {
		t.Error("all products are short decimals: this tests nothing")
	}
}
