package ensemble

import (
	"math/big"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/constraints"
	"github.com/darrm/darrm/internal/num"
)

// exactTotal encloses the least δ at which k mechanisms that are each (ε, δ)-DP are together
// (total, δ)-DP: the sum over how many of them answered as the second dataset would, term by term,
// in rational coefficients and 320-bit enclosures of the powers of e.
//
//	1 - (1-δ)^k·(1 - Σ_l C(k,l)·max{0, e^{(k-l)ε} - e^{total+lε}}/(1+e^ε)^k)
func exactTotal(k int, each accountant.Cost, total float64) num.Interval {
	power := func(n int, plus float64) num.Interval {
		x := new(big.Rat).Mul(big.NewRat(int64(n), 1), num.Decimal(each.Epsilon))
		return num.ExpReal(num.FromRat(x.Add(x, num.Decimal(plus))))
	}
	zero, one := num.FromInt(0), num.FromInt(1)
	sum := zero
	for l := range k + 1 {
		term := power(k-l, 0).Sub(power(l, total))
		if term.Hi().Sign() <= 0 {
			continue
		}
		if term.Lo().Sign() < 0 {
			term = zero.Hull(num.FromRat(ratOf(term.Hi())))
		}
		c := num.FromRat(new(big.Rat).SetInt(new(big.Int).Binomial(int64(k), int64(l))))
		sum = sum.Add(c.Mul(term))
	}
	base := one.Add(power(1, 0))
	for range k {
		sum = sum.Quo(base)
	}
	return one.Sub(num.FromRat(survives(k, each.Delta)).Mul(one.Sub(sum)))
}

func ratOf(x *big.Float) *big.Rat { r, _ := x.Rat(nil); return r }

// survives is (1-δ)^k, exactly.
func survives(k int, delta float64) *big.Rat {
	rest, one := big.NewRat(1, 1), big.NewRat(1, 1)
	for range k {
		rest.Mul(rest, new(big.Rat).Sub(one, num.Decimal(delta)))
	}
	return rest
}

// What random answers cost, by every bound that holds, against exact sums: no figure is below the
// truth, basic composition is the exact sum rounded up, and the optimal ε is the least one.
func TestAccountAgainstExactSums(t *testing.T) {
	runs := 30
	if os.Getenv("DARRM_LONG") == "1" {
		runs = 500
	}
	r := rand.New(rand.NewPCG(51, 4))
	pick := func(x ...float64) float64 { return x[r.IntN(len(x))] }
	checked := map[accountant.Method]int{}
	for range runs {
		k := 1 + r.IntN(12)
		p, err := constraints.NewProblem(k, pick(0.5, 1, 1.5, 2, float64(k)), pick(0.01, 0.1, 0.13577, 0.7, 2),
			pick(0, 1e-9, 1e-5, 1e-4, 0.01))
		if err != nil {
			t.Fatal(err)
		}
		p.Affected = 1 + r.IntN(k)
		a := Answers{Queries: 1 + r.IntN(6), K: k, Affected: p.Affected,
			Teachers:   accountant.Cost{Epsilon: p.Epsilon, Delta: p.TeacherDelta},
			Randomness: []TeacherRandomness{FreshTeachers, FrozenTeachers}[r.IntN(2)],
			Slack:      pick(0, 1e-9, 1e-6, 1e-3)}
		a.PerAnswer.Epsilon, a.PerAnswer.Delta = p.Total()
		report, err := a.Bounds()
		if err != nil {
			t.Fatalf("%+v: %v", a, err)
		}
		if _, ok := report.Best(); !ok {
			t.Fatalf("%+v: no bound holds", a)
		}
		for _, b := range report.Bounds {
			if !b.Holds {
				continue
			}
			each, count := a.Teachers, map[string]int{OfAnswers: a.Queries, OfTeachers: a.Affected,
				OfTeacherAnswers: a.Queries * a.Affected}[b.Of]
			if b.Of == OfAnswers {
				each = a.PerAnswer
			}
			frozen := a.Randomness == FrozenTeachers
			if b.Count != count || b.Of == OfAnswers && frozen && a.Queries > 1 ||
				b.Of == OfTeacherAnswers && frozen || b.Of == OfTeachers && !frozen {
				t.Errorf("%+v: %d %s are composed", a, b.Count, b.Of)
			}
			checked[b.Method]++
			if truth := exactTotal(b.Count, each, b.Cost.Epsilon); truth.Lo().Cmp(floatOf(b.Cost.Delta)) > 0 {
				t.Errorf("%+v: %s of %d %s says (%v, %v), but δ is %v there", a, b.Method, b.Count, b.Of,
					b.Cost.Epsilon, b.Cost.Delta, truth.Nearest())
			}
			switch b.Method {
			case accountant.MethodBasic:
				sum := new(big.Rat).Mul(big.NewRat(int64(b.Count), 1), num.Decimal(each.Epsilon))
				lost := new(big.Rat).Sub(big.NewRat(1, 1), survives(b.Count, each.Delta))
				if up := num.FromRat(sum).DecimalUp(); b.Cost.Epsilon != up || num.Decimal(up).Cmp(sum) < 0 {
					t.Errorf("%+v: basic ε = %v, exactly %s", a, b.Cost.Epsilon, sum.FloatString(30))
				}
				if num.Decimal(b.Cost.Delta).Cmp(lost) < 0 {
					t.Errorf("%+v: basic δ = %v, exactly %s", a, b.Cost.Delta, lost.FloatString(30))
				}
			case accountant.MethodOptimal:
				less := b.Cost.Epsilon * (1 - 1e-9)
				if at := exactTotal(b.Count, each, less); b.Cost.Epsilon > 0 && b.Count > 1 &&
					at.Nearest() < b.Cost.Delta*(1-1e-12) {
					t.Errorf("%+v: optimal ε = %v at δ = %v, but δ is %v at %v already", a, b.Cost.Epsilon,
						b.Cost.Delta, at.Nearest(), less)
				}
			}
		}
	}
	t.Logf("%d inputs, bounds checked: %v", runs, checked)
	for _, m := range []accountant.Method{accountant.MethodBasic, accountant.MethodGeneral,
		accountant.MethodOptimal} {
		if checked[m] < runs/4 {
			t.Errorf("%s is checked %d times only", m, checked[m])
		}
	}
}

// floatOf is the decimal of x, rounded in 320 bits: above the exact one by nothing that counts.
func floatOf(x float64) *big.Float { return num.FromRat(num.Decimal(x)).Hi() }
