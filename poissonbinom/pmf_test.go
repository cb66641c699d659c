package poissonbinom

import (
	"fmt"
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
		t.Logf("%s: worst relative error %.1f u over %d elements, bound %.0f u", name, units, judged, rel/unit)
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
		"complement one part in 10¹³ off": programme(func(a []float64, i int, p float64) { multiplyStep(a[:i+2], (1-p)*(1+1e-13), p) }),
		"mean only":                       Binomial(5, 0.45),
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
		for name, f := range map[string]func([]float64) ([]float64, error){"PMF": PMF, "CDF": CDF, "Tail": Tail} {
			got, err := f(c.p)
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "[0,1]") {
				t.Errorf("%s(%v): error %v, want one naming %q and [0,1]", name, c.p, err, c.want)
			}
			if got != nil {
				t.Errorf("%s(%v) returns values with its error", name, c.p)
			}
		}
	}
	if _, err := PMF([]float64{math.Copysign(0, -1), 0, 1}); err != nil {
		t.Errorf("-0, 0 and 1 are probabilities: %v", err)
	}
}

func TestAppendPMF(t *testing.T) {
	p := []float64{0.25, 1, 0.5}
	buf := make([]float64, 1, 16)
	buf[0] = 42
	for i := range buf[:16] {
		buf[:16][i] = 42 // stale contents must not show
	}
	got, err := AppendPMF(buf, p)
	want := []float64{42, 0, 0.375, 0.5, 0.125}
	if err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
		t.Fatalf("AppendPMF = %v, %v, want %v", got, err, want)
	}
	if &got[0] != &buf[0] {
		t.Error("AppendPMF allocated although there was room")
	}
	if got, err := AppendPMF(buf, []float64{2}); err == nil || len(got) != 1 {
		t.Errorf("AppendPMF of an invalid list = %v, %v, want dst unchanged and an error", got, err)
	}
	if allocs := testing.AllocsPerRun(100, func() { buf, _ = AppendPMF(buf[:1], p) }); allocs != 0 {
		t.Errorf("AppendPMF into room allocates %g times", allocs)
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

func TestCDFAndTail(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	for name, p := range probabilityCases(rng, 30) {
		exact := exactPMF(p)
		lower, upper := zeros(31), zeros(31)
		for l := range exact {
			for k := range exact {
				if k <= l {
					lower[l].Add(lower[l], exact[k])
				}
				if k >= l {
					upper[l].Add(upper[l], exact[k])
				}
			}
		}
		rel := powerError(4, len(p)) // 3n for the pmf and n additions
		cdf, err := CDF(p)
		if err != nil {
			t.Fatal(err)
		}
		tail, err := Tail(p)
		if err != nil {
			t.Fatal(err)
		}
		if err := outside(cdf, lower, rel, 1e-300); err != nil {
			t.Errorf("%s: CDF: %v", name, err)
		}
		if err := outside(tail, upper, rel, 1e-300); err != nil {
			t.Errorf("%s: Tail: %v", name, err)
		}
		for l := range cdf {
			if cdf[l] > 1 || tail[l] > 1 || (l > 0 && (cdf[l] < cdf[l-1] || tail[l] > tail[l-1])) {
				t.Fatalf("%s: not monotone in [0,1] at %d", name, l)
			}
		}
	}
}

func TestPMFError(t *testing.T) {
	if rel, abs := PMFError(0); rel != 0 || abs != 0 {
		t.Errorf("PMFError(0) = %g, %g", rel, abs)
	}
	if rel, _ := PMFError(1 << 41); !math.IsInf(rel, 1) {
		t.Errorf("PMFError(2⁴¹) = %g, want +Inf", rel)
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
		power, base := new(big.Float).SetPrec(500).SetInt64(1), new(big.Float).SetPrec(500).SetFloat64(1+2*unit)
		base.Sub(base, new(big.Float).SetFloat64(unit)) // 1+u, which is no float64
		for range 3 * n {
			power.Mul(power, base)
		}
		power.Sub(power, big.NewFloat(1))
		rel, abs := PMFError(n)
		got := new(big.Float).SetFloat64(rel)
		if got.Cmp(power) < 0 || got.Cmp(new(big.Float).Mul(power, big.NewFloat(1.01))) > 0 || abs != float64(n)*0x1p-1021 {
			t.Errorf("n = %d: %g and %g, want %s and %g", n, rel, abs, power.Text('g', 10), float64(n)*0x1p-1021)
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
			off, _ := step.Quo(step, new(big.Float).SetFloat64(computed*(1-x))).Sub(step, big.NewFloat(1)).Float64()
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
	if t.Logf("off by %.2f u for each variable, bound %.2f u", units/n, rel/unit/n); units > rel/unit || units < 1.3*n {
		t.Errorf("off by %g u, bound %g u: over the bound, or this tests nothing", units, rel/unit)
	}
}
