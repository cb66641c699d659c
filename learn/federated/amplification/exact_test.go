package amplification

import (
	"fmt"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/internal/testing/raced"
	"github.com/darrm/darrm/poissonbinom"
)

func rdp(t testing.TB, r Round, alpha float64) float64 {
	t.Helper()
	v, err := r.RDP(alpha)
	if err != nil {
		t.Fatalf("%+v at %g: %v", r, alpha, err)
	}
	return v
}

func stream(reports int, epsilon float64) Round {
	return Round{Streams: 1, Reports: reports, Epsilon: epsilon, OneBit: true}
}

// Acceptance 6: the specification's tables.
func TestExactTables(t *testing.T) {
	raced.Sequential(t)
	for _, v := range []struct {
		reports     int
		eps, alpha  float64
		want, close float64
	}{
		{1, 1, 2, 0.7353256640555, 1e-8}, {2, 1, 2, 0.58447424820, 1e-8}, {3, 1, 2, 0.47099728151, 1e-8},
		{3, 1, 4.5, 0.74560210265, 1e-8},
		{1000, 1, 128, 0.102125, 1e-5}, {1000, 1, 512, 0.426393, 1e-5}, {1000, 1, 2048, 0.846966, 1e-5},
		{1000, 2, 64, 0.340415, 1e-5}, {1000, 2, 128, 1.00229, 1e-5}, {1000, 2, 256, 1.50224, 1e-5},
	} {
		must.Near(t, fmt.Sprintf("%+v", v), rdp(t, stream(v.reports, v.eps), v.alpha), v.want, v.close)
	}
	for _, v := range []struct {
		reports int
		eps     float64
		want    [4]float64 // α = 2, 4, 8, 16
	}{
		{10, 0.5, [4]float64{0.031996384, 0.0637632983, 0.125375357, 0.231079442}},
		{10, 1, [4]float64{0.165476662, 0.328632633, 0.583363678, 0.791847034}},
		{10, 2, [4]float64{1.08417012, 1.58432716, 1.81870231, 1.91538133}},
		{100, 0.5, [4]float64{0.0031801772, 0.0063601756, 0.012718777, 0.025424354}},
		{100, 1, [4]float64{0.0159453772, 0.0318993971, 0.0638748283, 0.12838367}},
		{100, 2, [4]float64{0.100309783, 0.205187491, 0.475610534, 1.1571811}},
		{1000, 0.5, [4]float64{0.00031779311, 0.000635586045, 0.00127117055, 0.00254232818}},
		{1000, 1, [4]float64{0.00158872691, 0.00317746238, 0.00635500013, 0.0127106307}},
		{1000, 2, [4]float64{0.00975592957, 0.0195151894, 0.0390597679, 0.0783683144}},
		{16512, 0.5, [4]float64{1.9244759e-5, 3.8489514e-5, 7.6979026e-5, 1.5395805e-4}},
		{16512, 1, [4]float64{9.6180548e-5, 1.923611e-4, 3.8472221e-4, 7.6944457e-4}},
		{16512, 2, [4]float64{5.8946047e-4, 1.1789217e-3, 2.3578497e-3, 4.7157528e-3}},
	} {
		for i, want := range v.want {
			must.Near(t, fmt.Sprintf("%+v, order %d", v, 2<<i),
				rdp(t, stream(v.reports, v.eps), float64(int(2)<<i)), want, 1e-6)
		}
	}
	for _, v := range []struct {
		reports   int
		eps, want float64
	}{{1000, 0.05, 2.04842e-3}, {1000, 0.1, 8.20117e-5}, {1000, 0.2, 2.26567e-9},
		{16512, 0.02, 7.56547e-5}, {16512, 0.04, 5.0383e-8}} {
		delta, err := stream(v.reports, 1).Delta(v.eps)
		if err != nil {
			t.Fatal(err)
		}
		must.Near(t, "delta", delta, v.want, 1e-3)
	}
}

// counts is the law of how many of `ones` reports of 1 and `zeros` reports of 0 say 1, d = 1.
func counts(ones, zeros int, epsilon float64) []float64 {
	p := 1 / (1 + math.Exp(-epsilon))
	var probabilities []float64
	for range ones {
		probabilities = append(probabilities, p)
	}
	for range zeros {
		probabilities = append(probabilities, 1-p)
	}
	law, err := poissonbinom.PMF(probabilities)
	if err != nil {
		panic(err)
	}
	return law
}

func divergence(p, q []float64, alpha float64) float64 {
	sum := 0.0
	for i := range p {
		if p[i] > 0 {
			sum += math.Exp(alpha*math.Log(p[i]) + (1-alpha)*math.Log(q[i]))
		}
	}
	return math.Log(sum) / (alpha - 1)
}

// Acceptance 6: for d = 1 the shuffled reports are their count, so the true loss is enumerated over
// how many others hold +C. It is never above the bound, for up to 20 reports, in orders, and in δ.
func TestExactIsABound(t *testing.T) {
	worst := func(n int, eps float64, f func(p, q []float64) float64) float64 {
		most := 0.0
		for k := range n {
			p, q := counts(k+1, n-1-k, eps), counts(k, n-k, eps)
			most = max(most, f(p, q), f(q, p))
		}
		return most
	}
	for n := 1; n <= 20; n++ {
		for _, eps := range []float64{0.01, 0.5, 1, 3, 8} {
			for _, alpha := range []float64{1.01, 1.5, 2, 8, 64} {
				truth := worst(n, eps, func(p, q []float64) float64 { return divergence(p, q, alpha) })
				for _, one := range []bool{true, false} {
					r := stream(n, eps)
					r.OneBit = one
					if bound := rdp(t, r, alpha); truth > bound*(1+1e-12)+1e-14 {
						t.Errorf("n = %d, eps = %g, alpha = %g: %g above the bound %g", n, eps, alpha, truth, bound)
					}
				}
			}
			for _, e := range []float64{0, 0.3 * eps, 0.9 * eps} {
				truth := worst(n, eps, func(p, q []float64) float64 {
					d := 0.0
					for i := range p {
						d += max(0, p[i]-math.Exp(e)*q[i])
					}
					return d
				})
				if bound, err := stream(n, eps).Delta(e); err != nil || truth > bound*(1+1e-12)+1e-15 {
					t.Errorf("n = %d, eps = %g: delta(%g) = %g above the bound %g, %v", n, eps, e, truth, bound,
						err)
				}
			}
		}
	}
	must.Near(t, "worst, alpha 2", worst(10, 1, func(p, q []float64) float64 {
		return divergence(p, q, 2)
	}), 0.127433498, 1e-8)
	must.Near(t, "worst, alpha 8", worst(10, 1, func(p, q []float64) float64 {
		return divergence(p, q, 8)
	}), 0.571066245, 1e-8)
	must.Near(t, "worst, 20", worst(20, 0.5, func(p, q []float64) float64 {
		return divergence(p, q, 2)
	}), 0.012997916, 1e-8)
	must.Near(t, "bound, 20", rdp(t, stream(20, 0.5), 2), 0.0159479327, 1e-8)
}

// direct is the theorem's double sum without windows, blocks or series, in plain float64.
func direct(reports int, epsilon, alpha, cover float64) float64 {
	kappa := math.Tanh(epsilon / 2)
	sum := 0.0
	for c, pc := range poissonbinom.Binomial(reports-1, cover) {
		n := c + 1
		for a, w := range poissonbinom.Binomial(n, 0.5) {
			x := kappa * float64(2*a-n) / float64(n)
			sum += pc * w * math.Exp(alpha*math.Log1p(x)+(1-alpha)*math.Log1p(-x))
		}
	}
	return math.Log(sum) / (alpha - 1)
}

// A second way to the same number, at random parameters: never below it, and above by at most 1e-7,
// or what blocks cost at large orders.
func TestExactAgainstTheDirectSum(t *testing.T) {
	raced.Sequential(t)
	rapid.Check(t, func(t *rapid.T) {
		reports := rapid.IntRange(1, 400).Draw(t, "reports")
		eps := rapid.Float64Range(0.05, 5).Draw(t, "eps")
		alpha := rapid.Float64Range(1.1, 60).Draw(t, "alpha")
		one := rapid.Bool().Draw(t, "one bit")
		r := stream(reports, eps)
		r.OneBit = one
		cover := math.Exp(-eps)
		if one {
			cover = 2 / (math.Exp(eps) + 1)
		}
		got, err := r.RDP(alpha)
		if err != nil {
			t.Fatal(err)
		}
		want := min(eps, direct(reports, eps, alpha, cover))
		if got < want*(1-1e-10)-1e-13 || got > want*1.002+1e-13 {
			t.Errorf("%+v, alpha %g: %.12g, direct %.12g", r, alpha, got, want)
		}
	})
}

// What the sums over S leave out is bounded by what is added: the rest of the full sum, at sizes
// and orders where the cut is inside.
func TestCutsAreBounded(t *testing.T) {
	cuts := 0
	for _, n := range []int{400, 1001, 5000} {
		for _, eps := range []float64{0.1, 1, 3} {
			b := newBlanket(10*n, eps, true)
			for _, f := range []functional{renyi{1.5}, renyi{2}, renyi{30}, renyi{200}, moment{2}, moment{8},
				moment{64}, believed{8, 0.9}} {
				var s slice
				s.fill(n, b, []functional{f})
				m, tail := s.cut(b, f)
				if math.IsInf(tail, -1) {
					continue
				}
				cuts++
				rest := math.Inf(-1)
				for i, w := range poissonbinom.Binomial(n, 0.5) {
					y := float64(2*i-n) / float64(n)
					if math.Abs(y) <= s.y[m-1] || w == 0 {
						continue
					}
					x := b.kappa * y
					v := 0.0
					switch f := f.(type) {
					case renyi:
						v = f.alpha*math.Log1p(x) + (1-f.alpha)*math.Log1p(-x)
					case believed:
						v = f.alpha*math.Log1p(f.eta*x) + (1-f.alpha)*math.Log1p(x)
					case moment:
						v = f.j*math.Log(2*math.Abs(x)) + (1-f.j)*math.Log1p(-x)
					}
					rest = logAdd(rest, math.Log(w)+v)
				}
				if rest > tail {
					t.Errorf("n = %d, eps = %g, %+v: e^%g is left out, e^%g is added", n, eps, f, rest, tail)
				}
				if all := s.value(b, f); tail > all-25 {
					t.Errorf("n = %d, eps = %g, %+v: e^%g is added to e^%g", n, eps, f, tail, all)
				}
			}
		}
	}
	if cuts < 40 {
		t.Errorf("%d cuts", cuts)
	}
}

// Series of functionals: f less its low powers is a series of coefficients ≥ 0, so that its mean
// falls with N. The remainder is compared with the next power's.
func TestPowers(t *testing.T) {
	b := newBlanket(100, 1.3, true)
	for _, f := range []functional{renyi{1.2}, renyi{2}, renyi{7.5}, moment{2}, moment{4}, moment{8}} {
		c, ok := f.powers(b)
		if !ok {
			t.Errorf("%+v has no series", f)
		}
		at := func(y float64) float64 {
			x := b.kappa * y
			sum := 0.0
			for _, x := range []float64{x, -x} {
				switch f := f.(type) {
				case renyi:
					sum += math.Expm1(f.alpha*math.Log1p(x)+(1-f.alpha)*math.Log1p(-x)) / 2
				case moment:
					sum += math.Pow(2*math.Abs(x), f.j) * math.Pow(1-x, 1-f.j) / 2
				}
			}
			for i := range c {
				sum -= c[i] * math.Pow(y, float64(2*i+2))
			}
			return sum
		}
		// The rest is y^10·(c_10 + …) with rising quotient.
		last := 0.0
		for _, y := range []float64{0.3, 0.4, 0.5, 0.7, 0.9} {
			q := at(y) / math.Pow(y, 10)
			if q < last*(1-1e-6) || q <= 0 {
				t.Errorf("%+v: rest/y^10 is %g at %g, %g before", f, q, y, last)
			}
			last = q
		}
	}
	for n := 1; n <= 12; n++ {
		var want [4]float64
		for a, w := range poissonbinom.Binomial(n, 0.5) {
			for i := range want {
				want[i] += w * math.Pow(float64(2*a-n)/float64(n), float64(2*i+2))
			}
		}
		for i, m := range lowMoments(float64(n)) {
			must.Near(t, fmt.Sprintf("moment %d of %d signs", 2*i+2, n), m, want[i], 1e-11)
		}
		must.Near(t, "central", math.Exp(logCentral(n)), poissonbinom.Binomial(2*n, 0.5)[n], 1e-14)
	}
	for _, n := range []int{20, 21, 50, 1000} {
		must.Near(t, "central", math.Exp(logCentral(n)), poissonbinom.Binomial(2*n, 0.5)[n], 1e-13)
	}
}

// Acceptance 6: more reports cost less, higher orders and ε₀ more, and nothing is above ε₀.
// Acceptance 7: the leading order is within 0.1 % for N_r ≥ 1000, ε₀ ≤ 1 and α ≤ 16. The table's
// own N_r = 1000 at ε₀ = 1 is 0.0004 off.
func TestExactOrders(t *testing.T) {
	raced.Sequential(t)
	alphas := []float64{1.5, 2, 4, 8, 16}
	for _, eps := range []float64{0.1, 0.5, 1, 2} {
		var last []float64
		for _, n := range []int{1, 2, 7, 30, 200, 1000, 5000, 16512} {
			now := exactRDP(newBlanket(n, eps, true), eps, alphas)
			more := exactRDP(newBlanket(n, eps*1.01, true), eps*1.01, alphas)
			other := exactRDP(newBlanket(n, eps, false), eps, alphas)
			before := 0.0
			for i, v := range now {
				what := fmt.Sprintf("n = %d, eps = %g, alpha = %g", n, eps, alphas[i])
				switch {
				case v <= before || v > eps:
					t.Errorf("%s: %g, at the order before %g", what, v, before)
				case last != nil && v >= last[i]:
					t.Errorf("%s: %g, with fewer reports %g", what, v, last[i])
				case more[i] <= v:
					t.Errorf("%s: %g, at a larger epsilon %g", what, v, more[i])
				case other[i] < v:
					t.Errorf("%s: %g, any report %g", what, v, other[i])
				}
				if n >= 1000 && eps <= 1 {
					must.Near(t, "leading order, "+what, v, alphas[i]*leading(n, eps), 1e-3)
				}
				before = v
			}
			last = now
		}
	}
}

// Blocks of the blanket's size are wider than one at 16,512 reports. The plain sum over each size,
// nine deviations wide, is never above what they give, nor more than 0.3 % below.
func TestBlocksAreBounds(t *testing.T) {
	const reports, eps = 16512, 0.58
	alphas := []float64{2, 64, 300}
	got := exactRDP(newBlanket(reports, eps, true), eps, alphas)
	cover, kappa := 2/(math.Exp(eps)+1), math.Tanh(eps/2)
	law := poissonbinom.Binomial(reports-1, cover)
	mean, deviation := (reports-1)*cover, math.Sqrt((reports-1)*cover*(1-cover))
	sums := make([]float64, len(alphas))
	for c := int(mean - 9*deviation); float64(c) <= mean+9*deviation; c++ {
		n := c + 1
		w := math.Exp(logCentral((n + n%2) / 2))
		for s := n % 2; float64(s) < 14*math.Sqrt(float64(n)); s += 2 {
			x := kappa * float64(s) / float64(n)
			both := 2.
			if s == 0 {
				both = 1
			}
			r, at := math.Sqrt(1-x*x), math.Atanh(x)
			for i, a := range alphas {
				sums[i] += law[c] * w * both * (r*math.Cosh((2*a-1)*at) - 1)
			}
			w *= float64(n-s) / float64(n+s+2)
		}
	}
	for i, a := range alphas {
		want := math.Log1p(sums[i]) / (a - 1)
		if got[i] < want*(1-1e-9) || got[i] > want*1.003 {
			t.Errorf("order %g: %.10g, the plain sum is %.10g", a, got[i], want)
		}
	}
}
