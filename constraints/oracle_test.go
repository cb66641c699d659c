package constraints

import (
	"math/big"

	"github.com/darrm/darrm/internal/num"
)

// bruteForce evaluates one left-hand side from the definitions alone, with
// nothing shared with the package but the corner names: intervals around exact
// rationals and e^x, and the sum over all 2^K outcomes (K ≤ 12).
type bruteForce struct {
	corner [8][2]num.Interval
	e      num.Interval
	rhs    num.Interval
}

func newBruteForce(p Problem) bruteForce {
	one, zero := num.FromInt(1), num.FromInt(0)
	eps, m := num.Decimal(p.Epsilon), num.Decimal(p.M)
	d := num.FromRat(num.Decimal(p.TeacherDelta))
	x := num.Exp(eps)
	a := x.Add(d).Quo(x.Add(one))
	b := one.Sub(d).Quo(one.Add(x))
	od := one.Sub(d)
	e := num.Exp(new(big.Rat).Mul(m, eps))
	two := num.FromInt(2)
	return bruteForce{
		corner: [8][2]num.Interval{
			{zero, zero}, {one, one}, {d, zero}, {zero, d}, {one, od}, {od, one}, {a, b}, {b, a},
		},
		e:   e,
		rhs: e.Sub(one).Add(two.Mul(num.FromRat(num.Decimal(p.Delta)))),
	}
}

// value returns f = Φ(p) - E·Φ(p') for the multiset, in the source's units.
func (o bruteForce) value(m Multiset, phi []float64) num.Interval {
	return o.expect(m, 0, phi).Sub(o.e.Mul(o.expect(m, 1, phi)))
}

func (o bruteForce) expect(m Multiset, side int, phi []float64) num.Interval {
	var p []num.Interval
	for c, n := range m {
		for range n {
			p = append(p, o.corner[c][side])
		}
	}
	one := num.FromInt(1)
	total := num.FromInt(0)
	for outcome := range 1 << len(p) {
		pr, ones := num.FromInt(1), 0
		for i, pi := range p {
			if outcome>>i&1 == 1 {
				pr = pr.Mul(pi)
				ones++
			} else {
				pr = pr.Mul(one.Sub(pi))
			}
		}
		total = total.Add(pr.Mul(exact(phi[ones])))
	}
	return total
}

func exact(x float64) num.Interval {
	r := new(big.Rat)
	r.SetFloat64(x)
	return num.FromRat(r)
}

// allMultisets lists the constraint set by counting in base K+1, a method as
// plain as it is slow.
func allMultisets(p Problem) []Multiset {
	var out []Multiset
	var m Multiset
	var rec func(c Corner, left int)
	rec = func(c Corner, left int) {
		if c == corners {
			near := m[NearZeroUp] + m[NearZeroDown] + m[NearOneUp] + m[NearOneDown]
			affected := near + m[High] + m[Low]
			if left == 0 && affected <= p.Affected && (p.TeacherDelta > 0 || near == 0) {
				out = append(out, m)
			}
			return
		}
		for n := 0; n <= left; n++ {
			m[c] = n
			rec(c+1, left-n)
		}
		m[c] = 0
	}
	rec(0, p.K)
	return out
}

func exactDecimal(x float64) *big.Rat { return num.Decimal(x) }
