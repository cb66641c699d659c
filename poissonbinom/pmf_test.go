package poissonbinom

import (
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"
)

func TestPMFEnumeration(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{0, 1, 2, 3, 4, 5, 8, 12} {
		rel, abs := PMFError(n)
		for name, p := range probabilityCases(rng, n) {
			pmf, err := PMF(p)
			if err != nil {
				t.Fatalf("%s, n = %d: %v", name, n, err)
			}
			if err := outside(pmf, enumerate(p), rel, abs); err != nil {
				t.Errorf("%s, n = %d: %v", name, n, err)
			}
		}
	}
}

func TestPMFExactProgramme(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, n := range []int{15, 40, 60} {
		rel, abs := PMFError(n)
		for name, p := range probabilityCases(rng, n) {
			pmf, err := PMF(p)
			if err != nil {
				t.Fatalf("%s, n = %d: %v", name, n, err)
			}
			if err := outside(pmf, exactPMF(p), rel, abs); err != nil {
				t.Errorf("%s, n = %d: %v", name, n, err)
			}
		}
	}
}

// Far tails of a long list, where elements underflow and the window is trimmed.
func TestPMFLong(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	const n = 600
	rel, _ := PMFError(n)
	for name, p := range probabilityCases(rng, n) {
		pmf, err := PMF(p)
		if err != nil {
			t.Fatal(err)
		}
		exact := bigPMF(p)
		units, judged := worstRelative(pmf, exact, 1e-290)
		t.Logf("%s: worst relative error %.1f u over %d elements, bound %.0f u", name, units, judged,
			rel/unit)
		if units*unit > rel {
			t.Errorf("%s: relative error %g, bound %g", name, units*unit, rel)
		}
	}
}

func TestPMFFourier(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for _, n := range []int{1, 10, 77, 200} {
		for name, p := range probabilityCases(rng, n) {
			pmf, err := PMF(p)
			if err != nil {
				t.Fatal(err)
			}
			for l, want := range fourierPMF(p) {
				if math.Abs(pmf[l]-want) > 1e-13 {
					t.Fatalf("%s, n = %d: pmf[%d] = %g, Fourier inversion %g", name, n, l, pmf[l], want)
				}
			}
		}
	}
}

// The check used above must reject wrong programmes.
func TestPMFMutants(t *testing.T) {
	p := []float64{0.1, 0.9, 0.3, 0.25, 0.7}
	exact := enumerate(p)
	rel, abs := PMFError(len(p))
	programme := func(step func(a []float64, i int, p float64)) []float64 {
		a := make([]float64, len(p)+1)
		a[0] = 1
		for i, x := range p {
			step(a, i, x)
		}
		return a
	}
	mutants := map[string][]float64{
		"updates upwards": programme(func(a []float64, i int, p float64) {
			for l := 1; l <= i+1; l++ {
				a[l] = (1-p)*a[l] + p*a[l-1]
			}
			a[0] *= 1 - p
		}),
		"swaps p and q": programme(func(a []float64, i int, p float64) { multiplyStep(a[:i+2], p, 1-p) }),
		"drops the leading term": programme(func(a []float64, i int, p float64) {
			multiplyStep(a[:i+2], 1-p, p)
			a[i+1] = 0
		}),
		"complement one part in 10¹³ off": programme(func(a []float64, i int, p float64) {
			multiplyStep(a[:i+2], (1-p)*(1+1e-13), p)
		}),
		"mean only": Binomial(5, 0.45),
	}
	for name, got := range mutants {
		if outside(got, exact, rel, abs) == nil {
			t.Errorf("mutant %q passes", name)
		}
	}
	good := programme(func(a []float64, i int, p float64) { multiplyStep(a[:i+2], 1-p, p) })
	if err := outside(good, exact, rel, abs); err != nil {
		t.Errorf("unmutated programme: %v", err)
	}
}

func TestPMFInvalid(t *testing.T) {
	for _, c := range []struct {
		p    []float64
		want string
	}{
		{[]float64{0.5, math.NaN()}, "p[1] = NaN"},
		{[]float64{-1e-300}, "p[0] = -1e-300"},
		{[]float64{0, 1, math.Nextafter(1, 2)}, "p[2] = 1.0000000000000002"},
		{[]float64{math.Inf(1)}, "p[0] = +Inf"},
	} {
		got, err := PMF(c.p)
		if err == nil || !strings.Contains(err.Error(), c.want) ||
			!strings.Contains(err.Error(), "[0,1]") {
			t.Errorf("PMF(%v): error %v, want one naming %q and [0,1]", c.p, err, c.want)
		}
		if got != nil {
			t.Errorf("PMF(%v) returns values with its error", c.p)
		}
	}
	if _, err := PMF([]float64{math.Copysign(0, -1), 0, 1}); err != nil {
		t.Errorf("-0, 0 and 1 are probabilities: %v", err)
	}
}

func TestAppend(t *testing.T) {
	p := []float64{0.1, 0.7, 0.3}
	law := []float64{1}
	for _, x := range p {
		law = Append(make([]float64, 0, len(law)+1), law, 1-x, x)
	}
	rel, abs := PMFError(len(p))
	if err := outside(law, enumerate(p), rel, abs); err != nil {
		t.Error(err)
	}
	law = append(make([]float64, 0, 2), 1)
	if got := Append(law, law, 0.25, 0.75); got[0] != 0.25 || got[1] != 0.75 {
		t.Errorf("in place: %v", got)
	}
	mustPanic(t, "Append without room", func() { Append(nil, []float64{1}, 1, 0) })
}

func TestPMFError(t *testing.T) {
	if rel, abs := PMFError(0); rel != 0 || abs != 0 {
		t.Errorf("PMFError(0) = %g, %g", rel, abs)
	}
	if rel, abs := PMFError(1 << 41); !math.IsInf(rel, 1) || !math.IsInf(abs, 1) {
		t.Errorf("PMFError(2⁴¹) = %g, %g, want +Inf", rel, abs)
	}
	mustPanic(t, "PMFError(-1)", func() { PMFError(-1) })
}

func mustPanic(t *testing.T, what string, f func()) {
	t.Helper()
	defer func() {
		if recover() == nil {
			t.Errorf("%s does not panic", what)
		}
	}()
	f()
}

// The relative bound is (1+u)^{3n} - 1 rounded up, three roundings for each variable, and no
// more than a hundredth above it.
func TestPMFErrorHasAllItsRoundings(t *testing.T) {
	for _, n := range []int{1, 2, 7, 100, 2001, 100_000} {
		power, base := new(big.Float).SetPrec(500).SetInt64(1),
			new(big.Float).SetPrec(500).SetFloat64(1+2*unit)
		base.Sub(base, new(big.Float).SetFloat64(unit)) // 1+u, which is no float64
		for range 3 * n {
			power.Mul(power, base)
		}
		power.Sub(power, big.NewFloat(1))
		rel, abs := PMFError(n)
		got := new(big.Float).SetFloat64(rel)
		if got.Cmp(power) < 0 || got.Cmp(new(big.Float).Mul(power, big.NewFloat(1.01))) > 0 ||
			abs != float64(n)*0x1p-1021 {
			t.Errorf("n = %d: %g and %g, want %s and %g", n, rel, abs, power.Text('g', 10),
				float64(n)*0x1p-1021)
		}
	}
}

// An adversary who picks each p so that the roundings of 1-p and of the product both make
// Pr[L = 0] smaller: its relative error is more than one rounding for each variable.
func TestPMFErrorAdversary(t *testing.T) {
	rng := rand.New(rand.NewPCG(19, 20))
	const n, choices = 300, 300
	candidates := make([]float64, choices)
	for i := range candidates {
		candidates[i] = 0.5 - rng.Float64()/0x1p14 // 1-p and the products stay just above powers of two
	}
	var p []float64
	computed, exact := 1.0, new(big.Float).SetPrec(400).SetInt64(1)
	rest := func(x float64) *big.Float {
		return new(big.Float).SetPrec(400).Sub(big.NewFloat(1), new(big.Float).SetPrec(400).SetFloat64(x))
	}
	for range n {
		best, lost := 0.0, math.Inf(-1)
		for _, x := range candidates {
			step := new(big.Float).SetPrec(400).Mul(new(big.Float).SetFloat64(computed), rest(x))
			off, _ := step.Quo(step, new(big.Float).SetFloat64(computed*(1-x))).Sub(step,
				big.NewFloat(1)).Float64()
			if off > lost {
				best, lost = x, off
			}
		}
		p = append(p, best)
		computed *= 1 - best
		exact.Mul(exact, rest(best))
	}
	pmf, err := PMF(p)
	if err != nil {
		t.Fatal(err)
	}
	units, _ := worstRelative(pmf[:1], []*big.Float{exact}, 0)
	rel, _ := PMFError(n)
	if t.Logf("off by %.2f u for each variable, bound %.2f u", units/n, rel/unit/n); units > rel/
		unit || units < 1.3*n {
		t.Errorf("off by %g u, bound %g u: over the bound, or this tests nothing", units, rel/unit)
	}
}
