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
	"github.com/darrm/darrm/gamma/solve"
	"github.com/darrm/darrm/internal/num"
	"github.com/darrm/darrm/internal/testing/must"
)

// probability is the law of a release: ofOne, or a mutant of it.
type probability func(ones int) (numerator uint64, err error)

// checkPrivacy decides from the definition of differential privacy whether a
// release with the given probabilities keeps p's promise:
//
//	Pr[y | D] ≤ e^(mε)·Pr[y | D'] + δ,   y = 0, 1,
//
// for all probabilities (pᵢ, pᵢ') of the teachers' votes that are extreme among
// those that an (ε,Δ)-private teacher may have. Pr[y | D] is a sum over all 2ᴷ
// votes. Everything is exact or an interval of outward-rounded 320-bit numbers, so
// nil is a proof for these corners; the condition is convex in each teacher's
// pair, so for all others too. It shares no code with certificates.
func checkPrivacy(p constraints.Problem, pr probability) error {
	zero, one := num.FromInt(0), num.FromInt(1)
	x := num.Exp(num.Decimal(p.Epsilon))
	e := num.Exp(new(big.Rat).Mul(num.Decimal(p.M), num.Decimal(p.Epsilon)))
	delta, d := num.FromRat(num.Decimal(p.Delta)), num.FromRat(num.Decimal(p.TeacherDelta))
	a, b := x.Add(d).Quo(x.Add(one)), one.Sub(d).Quo(x.Add(one))
	far := one.Sub(d)
	same := [][2]num.Interval{{zero, zero}, {one, one}}
	moved := [][2]num.Interval{{d, zero}, {zero, d}, {one, far}, {far, one}, {a, b}, {b, a}}

	release := make([]num.Interval, p.K+1) // Pr[1 | l]
	for l := range release {
		n, err := pr(l)
		if err != nil {
			return err
		}
		release[l] = num.FromRat(new(big.Rat).SetFrac(new(big.Int).SetUint64(n),
			new(big.Int).Lsh(big.NewInt(1), 54)))
	}
	// onD returns Pr[1 | D], where side selects D's member of each pair.
	onD := func(pairs [][2]num.Interval, side int) num.Interval {
		sum := zero
		for v := range 1 << p.K {
			weight, ones := one, 0
			for i, pair := range pairs {
				if v>>i&1 == 1 {
					weight, ones = weight.Mul(pair[side]), ones+1
				} else {
					weight = weight.Mul(one.Sub(pair[side]))
				}
			}
			sum = sum.Add(weight.Mul(release[ones]))
		}
		return sum
	}
	pairs := make([][2]num.Interval, p.K)
	var place func(i, affected int) error
	place = func(i, affected int) error {
		if i < p.K {
			candidates := same
			if affected < p.Affected {
				candidates = append(candidates[:len(same):len(same)], moved...)
			}
			for c, pair := range candidates {
				pairs[i] = pair
				n := affected
				if c >= len(same) {
					n++
				}
				if err := place(i+1, n); err != nil {
					return err
				}
			}
			return nil
		}
		y, y2 := onD(pairs, 0), onD(pairs, 1)
		for _, side := range [][2]num.Interval{{y, y2}, {one.Sub(y), one.Sub(y2)}} {
			if right := e.Mul(side[1]).Add(delta); side[0].Cmp(right) >= 0 {
				return fmt.Errorf("Pr = %.17g, but e^(mε)·Pr' + δ = %.17g", side[0].Upper(), right.Lower())
			}
		}
		return nil
	}
	return place(0, 0)
}

func solved(t testing.TB, p constraints.Problem) *Mechanism {
	t.Helper()
	table, err := solve.Optimal(context.Background(), p, solve.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return mustDaRRM(t, table.Certified)
}

// The mechanism as it is, end to end from the solver to the probabilities of its
// answers, keeps its promise; tampered with, it does not. All problems have δ > 0:
// then no side of the inequality can be equal.
func TestReleaseIsPrivateByDefinition(t *testing.T) {
	problem := func(k int, m, eps, d float64) constraints.Problem {
		return must.Get(constraints.NewProblem(k, m, eps, d))(t)
	}
	one := problem(4, 1.5, 0.7, 1e-3)
	one.Affected = 1
	wide := problem(3, 0.5, 1, 0)
	wide.Delta = 0.01
	for _, p := range []constraints.Problem{
		problem(1, 0.5, 1, 1e-5), problem(2, 1, 0.1, 1e-5), problem(3, 1, 0.1, 1e-5),
		problem(3, 2, 1, 0.01), problem(4, 2, 0.5, 1e-4), one, wide,
	} {
		m := solved(t, p)
		if err := checkPrivacy(p, ofOne(m)); err != nil {
			t.Errorf("%+v: %v", p, err)
		}
		eps, delta := p.Total()
		if c := m.PerAnswer(); c.Epsilon != eps || c.Delta != delta {
			t.Errorf("%+v: an answer costs %v, want (%v, %v)", p, c, eps, delta)
		}
		// Beyond the corners: inside the polygon, in floating point.
		rapid.Check(t, func(rt *rapid.T) { checkInside(rt, p, m) })
	}

	// Plain majority, where the promise is one teacher's: γ ≡ 1 at m = 1.
	p := problem(3, 1, 0.1, 1e-5)
	if checkPrivacy(p, ofOne(anyGamma(t, 3, 1, 1))) == nil {
		t.Error("γ ≡ 1 passes for one teacher's promise")
	}
	m := solved(t, p)
	tampered := map[string]probability{
		"γ louder by 1e-9": func(l int) (uint64, error) {
			n, err := ofOne(m)(l)
			if 2*l > m.setting.K {
				return min(n+n/1e9, 2*uint64(gamma.One)), err
			}
			return n - min(n, (2*uint64(gamma.One)-n)/1e9), err
		},
		"coin only on one side": func(l int) (uint64, error) {
			if 2*l < m.setting.K {
				return 0, nil
			}
			return ofOne(m)(l)
		},
		"γ shifted by one": func(l int) (uint64, error) {
			k := gammaOf(m).Numerator(min(l+1, m.setting.K))
			if 2*l > m.setting.K {
				return uint64(gamma.One + k), nil
			}
			return uint64(gamma.One - k), nil
		},
	}
	for name, pr := range tampered {
		if checkPrivacy(p, pr) == nil {
			t.Errorf("%s: passes", name)
		}
	}
	if checkPrivacy(problem(3, 0.999, 0.1, 1e-5), ofOne(m)) == nil {
		t.Error("the mechanism for m = 1 passes for m = 0.999")
	}
}

// checkInside checks the definition at random probabilities that (ε,Δ)-private
// teachers may have.
func checkInside(t *rapid.T, p constraints.Problem, m *Mechanism) {
	x, d := math.Exp(p.Epsilon), p.TeacherDelta
	law, law2 := []float64{1}, []float64{1}
	for i := range p.K {
		q := rapid.Float64Range(0, 1).Draw(t, "p")
		q2 := q
		if i < p.Affected {
			low := max(0, (q-d)/x, 1-(x*(1-q)+d))
			high := min(1, x*q+d, 1-(1-q-d)/x)
			q2 = low + (high-low)*rapid.Float64Range(0, 1).Draw(t, "p'")
		}
		law, law2 = convolve(law, q), convolve(law2, q2)
	}
	y, y2 := 0.0, 0.0
	for l := range law {
		n, err := ofOne(m)(l)
		if err != nil {
			t.Fatal(err)
		}
		y += law[l] * float64(n) / (1 << 54)
		y2 += law2[l] * float64(n) / (1 << 54)
	}
	e := math.Exp(p.M * p.Epsilon)
	// 1e-12 is far more than the rounding errors of a few dozen operations.
	if y > e*y2+p.Delta+1e-12 || 1-y > e*(1-y2)+p.Delta+1e-12 {
		t.Fatalf("Pr[1|D] = %v and Pr[1|D'] = %v break (%v, %v)-privacy", y, y2, p.M*p.Epsilon, p.Delta)
	}
}

func convolve(law []float64, q float64) []float64 {
	out := make([]float64, len(law)+1)
	for l, w := range law {
		out[l] += w * (1 - q)
		out[l+1] += w * q
	}
	return out
}
