package accountant_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/internal/num"
	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/internal/testing/raced"
)

// etaOf is η of a law's name.
func etaOf(name string) float64 {
	switch name {
	case "logarithmic":
		return 0
	case "geometric":
		return 1
	}
	_, eta, _ := strings.Cut(name, ":")
	v, _ := strconv.ParseFloat(eta, 64)
	return v
}

// gammaOf is the γ of a truncated negative binomial law's mean, which falls with it.
func gammaOf(eta, mean float64) float64 {
	low, high := 1e-12, 1.0
	for range 200 {
		mid := math.Sqrt(low * high)
		m := (1/mid - 1) / -math.Log(mid)
		if eta != 0 {
			m = eta * (1 - mid) / (mid * -math.Expm1(eta*math.Log(mid)))
		}
		if m > mean {
			low = mid
		} else {
			high = mid
		}
	}
	return low
}

// generating returns f(x+q) - f(x) for the law's f(x) = E[x^K], in the source's closed form and
// without cancellation.
func generating(name string, mean float64) func(x, q float64) float64 {
	if name == "poisson" {
		return func(x, q float64) float64 { return math.Exp(mean*(x-1)) * math.Expm1(mean*q) }
	}
	eta := etaOf(name)
	gamma := gammaOf(eta, mean)
	return func(x, q float64) float64 {
		rest := 1 - (1-gamma)*x
		log := math.Log1p(-(1 - gamma) * q / rest)
		if eta == 0 {
			return log / math.Log(gamma)
		}
		return math.Pow(rest, -eta) * math.Expm1(-eta*log) / math.Expm1(-eta*math.Log(gamma))
	}
}

// bestOf returns the law of the best outcome, the last in the order, of K runs of a finite
// mechanism; its first outcome is that of K = 0, of which only Poisson's law has any.
func bestOf(name string, mean float64, q []float64) []float64 {
	f, below := generating(name, mean), 0.0
	var a []float64
	if name == "poisson" {
		a = append(a, math.Exp(-mean))
	}
	for _, p := range q {
		a = append(a, f(below, p))
		below += p
	}
	return a
}

// divergence is Rényi's, of order alpha, in the worse direction.
func divergence(p, q []float64, alpha float64) float64 {
	one := func(p, q []float64) float64 {
		top := math.Inf(-1) // the terms are e^{top} and less
		for i := range p {
			top = max(top, alpha*math.Log(p[i])+(1-alpha)*math.Log(q[i]))
		}
		sum := 0.0
		for i := range p {
			sum += math.Exp(alpha*math.Log(p[i]) + (1-alpha)*math.Log(q[i]) - top)
		}
		return (top + math.Log(sum)) / (alpha - 1)
	}
	return max(one(p, q), one(q, p))
}

var oracleOrders = []float64{1.02, 1.1, 1.3, 1.6, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 128, 512,
	4096}

// exactCurve is the event of one mechanism and one pair of neighbours.
func exactCurve(t must.TB, p, q []float64) accountant.Curve {
	var points []accountant.CurvePoint
	last := 0.0
	for _, a := range oracleOrders {
		last = max(last, divergence(p, q, a)*(1+1e-12))
		points = append(points, accountant.CurvePoint{Alpha: a, Rho: last})
	}
	return must.Get(accountant.NewCurve(accountant.ReplaceOne, "enumeration", points))(t)
}

func law(t must.TB, name string, mean float64) accountant.Stopping {
	return must.Get(accountant.NewStopping(name, mean))(t)
}

var laws = []string{"poisson", "logarithmic", "geometric", "negative-binomial:-0.5",
	"negative-binomial:0.5", "negative-binomial:2.5"}

// The divergence of the best run of a finite mechanism, enumerated, is never above that of the
// event: whatever the law, the mechanism and the order of outcomes.
func TestBestOfBoundsFiniteMechanisms(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.SampledFrom(laws).Draw(t, "law")
		s := law(t, name, math.Exp(rapid.Float64Range(0.01, 6).Draw(t, "log mean")))
		n := rapid.IntRange(2, 6).Draw(t, "outcomes")
		weights := rapid.SliceOfN(rapid.Float64Range(-9, 0), n, n)
		p, q := normal(weights.Draw(t, "p")), normal(weights.Draw(t, "q"))
		if near := rapid.Float64Range(0, 1).Draw(t, "near"); near < 0.7 { // mechanisms with little loss
			for i := range q {
				q[i] = near/0.7*q[i] + (1-near/0.7)*p[i]
			}
		}
		event, err := accountant.BestOf(exactCurve(t, p, q), s)
		if err != nil {
			t.Fatal(err)
		}
		a, b := bestOf(name, s.Mean(), p), bestOf(name, s.Mean(), q)
		for _, alpha := range oracleOrders {
			bound, err := accountant.RDP(event, alpha)
			if err != nil {
				t.Fatal(err)
			}
			if d := divergence(a, b, alpha); d > bound*(1+1e-6)+1e-9/(alpha-1) {
				t.Fatalf("%v: order %g has %g, above the event's %g\n%v\n%v", s, alpha, d, bound, p, q)
			}
		}
	})
}

func normal(logs []float64) []float64 {
	p, sum := make([]float64, len(logs)), 0.0
	for i, l := range logs {
		p[i] = math.Exp(l)
		sum += p[i]
	}
	for i := range p {
		p[i] /= sum
	}
	return p
}

// Of an ε-DP mechanism the best of a geometric number of runs is 3ε-DP, as Liu and Talwar prove,
// and for (1+η) in general (2+η)ε-DP: their losses are reached, so that nothing less may be
// claimed, such as ε, or (1+η)ε.
func TestBestOfPureMechanismsReachesItsBound(t *testing.T) {
	const eps = 0.3
	for _, c := range []struct {
		name      string
		eta, mean float64
	}{{"geometric", 1, 1e4}, {"logarithmic", 0, 1e4}, {"negative-binomial:2.5", 2.5, 1e4},
		{"negative-binomial:-0.5", -0.5, 1000}} {
		s := law(t, c.name, c.mean)
		event, err := accountant.BestOf(accountant.ApproxDP{Cost: accountant.Cost{Epsilon: eps},
			Neighbours: accountant.ReplaceOne}, s)
		if err != nil {
			t.Fatal(err)
		}
		top, err := accountant.RDP(event, 1e8)
		if err != nil {
			t.Fatal(err)
		}
		if want := (2 + c.eta) * eps; top > want*(1+1e-6) || top < want*(1-1e-3) {
			t.Errorf("%v: %g at a large order, not %g", s, top, want)
		}
		// An ε-DP mechanism has at most the divergence αε²/2 (Bun and Steinke 2016, Proposition 3.3).
		for _, alpha := range []float64{1.01, 1.5} {
			want := alpha * (2 + c.eta) * eps * (2 + c.eta) * eps / 2
			if got := must.Get(accountant.RDP(event, alpha))(t); got > want {
				t.Errorf("%v: %g at order %g, not at most %g", s, got, alpha, want)
			}
		}
		// Three outcomes: a neighbour has more of the best, and less of the second best.
		worst := 0.0
		for _, rare := range []float64{0.1, 0.03, 0.01} {
			for _, middle := range []float64{1e-4, 1e-5} {
				e := math.Exp(eps)
				p, q := []float64{1 - middle*e - rare, middle * e, rare},
					[]float64{1 - middle - rare*e, middle, rare * e}
				a, b := bestOf(c.name, s.Mean(), p), bestOf(c.name, s.Mean(), q)
				for i := range a {
					if a[i] > 1e-12 && b[i] > 1e-12 {
						worst = max(worst, math.Abs(math.Log(a[i]/b[i])))
					}
				}
			}
		}
		if worst > (2+c.eta)*eps || worst < (2+c.eta)*eps*0.95 {
			t.Errorf("%v: the worst loss found is %g, of at most %g", s, worst, (2+c.eta)*eps)
		}
	}
}

// Claims that count less than the figure does are broken by finite mechanisms. (The term ln E[K]
// is not among them: no mechanism that needs it was found.)
func TestBestOfNeedsItsTerms(t *testing.T) {
	raced.Sequential(t)
	rng := rand.New(rand.NewPCG(1, 2))
	claims := []struct {
		name                string
		released, mean, all float64 // the terms that are counted
	}{{"the released run alone", 1, 0, 0}, {"without the order λ̂", 1, 1, 0}, {"without η", 1, 1, 0.5}}
	broken := make([]int, len(claims))
	for range 1500 {
		name := []string{"geometric", "logarithmic"}[rng.IntN(2)]
		s := law(t, name, math.Exp(rng.Float64()*6)+0.5)
		eta := etaOf(name)
		// Three outcomes: the best two rare, and a neighbour for which they are less so.
		e, rare, middle := math.Exp(rng.Float64()*1.5), math.Exp(-1-9*rng.Float64()),
			math.Exp(-1-9*rng.Float64())
		p, q := []float64{1 - middle - rare, middle, rare},
			[]float64{1 - middle*e - rare*e, middle * e, rare * e}
		if rng.IntN(2) == 0 {
			q = []float64{1 - middle*e - rare/e, middle * e, rare / e}
		}
		if q[0] <= 0 || p[0] <= 0 {
			continue
		}
		mean := s.Mean()
		gamma := gammaOf(eta, mean)
		a, b := bestOf(name, mean, p), bestOf(name, mean, q)
		extra := -math.Log(gamma)
		for _, l := range oracleOrders {
			extra = min(extra, (1-1/l)*divergence(p, q, l)-math.Log(gamma)/l)
		}
		for i, c := range claims {
			factor := c.all * (1 + eta)
			if c.name == "without η" {
				factor = 1
				if eta == 0 {
					continue
				}
			}
			for _, alpha := range oracleOrders {
				claim := c.released*divergence(p, q, alpha) + factor*extra + c.mean*math.Log(mean)/(alpha-1)
				if divergence(a, b, alpha) > claim*(1+1e-6)+1e-9 {
					broken[i]++
					break
				}
			}
		}
	}
	for i, c := range claims {
		if broken[i] == 0 {
			t.Errorf("the claim %q was never broken", c.name)
		}
	}
}

// Papernot and Steinke's Theorem 6 as printed, ρ + μδ̂ + ln(μ)/(λ-1), leaves out that no run may
// take place: for μ below 1 it can be below 0, which no divergence is.
func TestPoissonFigureAsPrintedFails(t *testing.T) {
	const mu, alpha = 0.4, 3.0
	p, q := []float64{0.5, 0.5}, []float64{0.55, 0.45}
	actual := divergence(bestOf("poisson", mu, p), bestOf("poisson", mu, q), alpha)
	printed := divergence(p, q, alpha) + math.Log(mu)/(alpha-1) // δ̂ = 0: ε is 0.105 < ln(1.5)
	if printed >= actual {
		t.Errorf("printed %g holds for %g", printed, actual)
	}
	if _, err := accountant.NewStopping("poisson", mu); err == nil {
		t.Error("a law that mostly runs nothing was taken")
	}
}

// Masses add up to 1 and have the mean that the account takes.
func TestStoppingMasses(t *testing.T) {
	raced.Sequential(t)
	for _, name := range laws {
		for _, mean := range []float64{1.5, 4, 12} {
			s := law(t, name, mean)
			next, sum, first := s.Masses(), num.FromInt(0), num.FromInt(0)
			for k := int64(0); k < 12_000; k++ {
				p := next()
				sum, first = sum.Add(p), first.Add(p.Mul(num.FromInt(k)))
			}
			if sum.Upper() < 1-1e-12 || sum.Lower() > 1 {
				t.Errorf("%v: masses add up to %v", s, sum.Nearest())
			}
			if m := first.Nearest(); math.Abs(m-s.Mean()) > 1e-9*mean ||
				math.Abs(s.Mean()-mean) > 1e-6*mean {
				t.Errorf("%v: mean %v by masses, %v stated, %v asked for", s, m, s.Mean(), mean)
			}
		}
	}
}

func TestStoppingRefusals(t *testing.T) {
	for _, c := range []struct {
		name string
		mean float64
	}{
		{"poisson", 0.5}, {"poisson", math.NaN()}, {"geometric", 1}, {"geometric", 0}, {"geometric", 1e6},
		{"negative-binomial", 4}, {"negative-binomial:-1", 4}, {"negative-binomial:NaN", 4},
		{"negative-binomial:1e-9", 4}, {"uniform", 4},
		{"negative-binomial:101", 4}, {"negative-binomial:one", 4}, {"negative-binomial:-0.9", 100},
	} {
		if _, err := accountant.NewStopping(c.name, c.mean); err == nil {
			t.Errorf("%s with mean %g was taken", c.name, c.mean)
		}
	}
	if _, err := accountant.BestOf(accountant.Gaussian{NoiseMultiplier: 1,
		Neighbours: accountant.ReplaceOne}, accountant.Stopping{}); !errors.Is(err, accountant.ErrUnsupported) {
		t.Errorf("no law: %v", err)
	}
	approx := accountant.ApproxDP{Cost: accountant.Cost{Epsilon: 1, Delta: 1e-6},
		Neighbours: accountant.ReplaceOne}
	if _, err := accountant.BestOf(approx, law(t, "geometric", 4)); !errors.Is(err,
		accountant.ErrUnsupported) {
		t.Errorf("a mechanism without a finite divergence: %v", err)
	}
}

// The figures of normal noise 10 at δ = 1e-6, against the formulas worked out apart, in plain
// float64 over a finer grid of orders.
func TestBestOfGaussianFigures(t *testing.T) {
	base := accountant.Gaussian{NoiseMultiplier: 10, Neighbours: accountant.ReplaceOne}
	rho := func(l float64) float64 { return l / 200 }
	for _, c := range []struct {
		name string
		eta  float64
	}{{"geometric", 1}, {"logarithmic", 0}} {
		s := law(t, c.name, 16)
		gamma := gammaOf(c.eta, 16)
		extra, best := math.Inf(1), math.Inf(1)
		for x := 1e-3; x < 1e6; x *= 1.001 {
			extra = min(extra, x/(1+x)*rho(1+x)-math.Log(gamma)/(1+x))
		}
		for x := 1e-3; x < 1e6; x *= 1.001 {
			l := 1 + x
			best = min(best, rho(l)+(1+c.eta)*extra+math.Log(16)/x+
				math.Log1p(-1/l)-(math.Log(1e-6)+math.Log(l))/x)
		}
		event, err := accountant.BestOf(base, s)
		if err != nil {
			t.Fatal(err)
		}
		a, _ := accountant.New(accountant.ReplaceOne)
		a, err = a.Charge(event, 1)
		if err != nil {
			t.Fatal(err)
		}
		got, err := a.Epsilon(1e-6)
		if err != nil {
			t.Fatal(err)
		}
		if got < best*(1-1e-6) || got > best*1.01 {
			t.Errorf("%v: epsilon %v, by the formula %v", s, got, best)
		}
	}
}
