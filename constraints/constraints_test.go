package constraints

import (
	"context"
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"runtime"
	"testing"

	"pgregory.net/rapid"

	"github.com/darrm/darrm/internal/testing/must"
)

func system(t testing.TB, p Problem) *System {
	t.Helper()
	return must.Get(NewSystem(p))(t)
}

func problem(t testing.TB, k int, m, eps, teacherDelta float64) Problem {
	t.Helper()
	return must.Get(NewProblem(k, m, eps, teacherDelta))(t)
}

// antisymmetric builds phi from the free values of γ.
func antisymmetric(k int, gamma []float64) []float64 {
	phi := make([]float64, k+1)
	for l, g := range gamma {
		phi[l], phi[k-l] = -g, g
	}
	return phi
}

func drawProblem(t *rapid.T, maxK int) Problem {
	k := rapid.IntRange(1, maxK).Draw(t, "K")
	p, err := NewProblem(k,
		rapid.SampledFrom([]float64{0.5, 1, 1.5, 2, 3, 7}).Draw(t, "m"),
		rapid.SampledFrom([]float64{0.01, 0.1, 1, 3}).Draw(t, "ε"),
		rapid.SampledFrom([]float64{0, 1e-8, 1e-5, 1e-2, 0.3}).Draw(t, "Δ"))
	if err != nil {
		t.Fatal(err)
	}
	p.Affected = rapid.IntRange(1, k).Draw(t, "t")
	return p
}

func drawPhi(t *rapid.T, k int) []float64 {
	gamma := rapid.SliceOfN(rapid.Float64Range(0, 1), (k+1)/2, (k+1)/2).Draw(t, "γ")
	if rapid.Bool().Draw(t, "monotone") {
		for l := 1; l < len(gamma); l++ {
			gamma[l] = min(gamma[l], gamma[l-1])
		}
	}
	return antisymmetric(k, gamma)
}

// C(K+7,7) and C(K+3,3), worked out with PARI/GP's binomial.
func TestCountClosedForms(t *testing.T) {
	for _, c := range []struct {
		k     int
		delta float64
		want  string
	}{
		{11, 1e-5, "31824"}, {13, 1e-5, "77520"}, {15, 1e-5, "170544"}, {41, 1e-5, "73629072"},
		{101, 1e-5, "27883218168"}, {101, 0, "182104"}, {41, 0, "13244"}, {1, 0, "4"}, {1, 0.5, "8"},
	} {
		if got := problem(t, c.k, 2, 0.1, c.delta).Count().String(); got != c.want {
			t.Errorf("K=%d Δ=%g: %s constraints, want %s", c.k, c.delta, got, c.want)
		}
	}
}

// Rows must list exactly the multisets that the plain recursion lists, once each,
// with the row that Row computes from scratch.
func TestRowsAreTheWholeSet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawProblem(t, 6)
		s, err := NewSystem(p)
		if err != nil {
			t.Fatal(err)
		}
		seen := map[Multiset]bool{}
		for m, row := range s.Rows() {
			if seen[m] || !s.Holds(m) {
				t.Fatalf("multiset %v listed twice or foreign", m)
			}
			seen[m] = true
			for l, x := range s.Row(m, nil) {
				if math.Abs(x-row[l]) > s.RowError() {
					t.Fatalf("%v: row(%d) = %g when listed, %g alone", m, l, row[l], x)
				}
			}
		}
		for _, m := range allMultisets(p) {
			if !seen[m] {
				t.Fatalf("multiset %v is missing", m)
			}
			delete(seen, m)
		}
		if len(seen) > 0 {
			t.Fatalf("%d multisets too many", len(seen))
		}
		if n := len(allMultisets(p)); p.Count().Cmp(big.NewInt(int64(n))) != 0 {
			t.Fatalf("Count says %v, there are %d", p.Count(), n)
		}
	})
}

// Without Δ there are no near corners, and a multiset that has one is none of the problem's.
func TestHoldsWithoutDelta(t *testing.T) {
	s := system(t, problem(t, 5, 3, 0.1, 0))
	for c := range Corner(corners) {
		var m Multiset
		m[Zeros]--
		m[c]++
		m[Zeros] += 5
		near := c == NearZeroUp || c == NearZeroDown || c == NearOneUp || c == NearOneDown
		if s.Holds(m) == near {
			t.Errorf("%v: holds %v", m, !near)
		}
	}
}

func TestRowsStopWhenAsked(t *testing.T) {
	n := 0
	for range system(t, problem(t, 11, 3, 0.1, 1e-5)).Rows() {
		if n++; n == 100 {
			break
		}
	}
	if n != 100 {
		t.Errorf("saw %d rows", n)
	}
}

// Rows against the sum over all 2^K outcomes in interval arithmetic.
func TestRowAgainstBruteForce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawProblem(t, 5)
		s, _ := NewSystem(p)
		phi := drawPhi(t, p.K)
		all := allMultisets(p)
		m := all[rapid.IntRange(0, len(all)-1).Draw(t, "multiset")]
		value := 0.0
		for l, x := range s.Row(m, nil) {
			value += x * -phi[l]
		}
		want := newBruteForce(p).value(m, phi)
		scale := 1 + s.e.Nearest()
		if tol := scale * 1e-14; math.Abs(value*scale-want.Nearest()) > tol {
			t.Fatalf("%v: %g, by brute force %g", m, value*scale, want.Nearest())
		}
	})
}

// The sweep against the complete list, in interval arithmetic: Upper is above the
// exact maximum and within a few error bounds of it, and At attains it.
func TestMaxAgainstBruteForce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawProblem(t, 4)
		s, _ := NewSystem(p)
		phi := drawPhi(t, p.K)
		got, err := s.max(context.Background(), phi)
		if err != nil {
			t.Fatal(err)
		}
		o := newBruteForce(p)
		upper := exact(got.Upper).Mul(o.e.Add(exact(1)))
		best := math.Inf(-1)
		for _, m := range allMultisets(p) {
			v := o.value(m, phi)
			if v.Cmp(upper) > 0 || v.Cmp(upper) == 0 && got.Upper != 0 { // 0 is exact, for φ ≡ 0
				t.Fatalf("%v reaches %g, above the bound %g", m, v.Nearest(), upper.Nearest())
			}
			best = max(best, v.Nearest())
		}
		scale := 1 + s.e.Nearest()
		if gap := got.Upper - best/scale; gap > 3*s.evalError {
			t.Fatalf("bound %g is %g above the maximum, error bound %g", got.Upper, gap, s.evalError)
		}
		if at := o.value(got.At, phi).Nearest(); !s.Holds(got.At) ||
			math.Abs(at-best) > scale*3*s.evalError {
			t.Fatalf("%v attains %g, not the maximum %g", got.At, at, best)
		}
	})
}

// What the search starts from is certainly attained: it is below what the likely worst multiset has
// in exact arithmetic, by all that the search itself may be off there. A start above would rule out
// multisets that the bound does not cover.
func TestSearchStartsBelowWhatIsAttained(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawProblem(t, 4)
		s, _ := NewSystem(p)
		if !s.perturbed() {
			return // nothing is ruled out
		}
		phi := drawPhi(t, p.K)
		sh := &search{threshold: newMaximum(negInf), limit: math.Inf(1)}
		likely, err := s.likelyWorst(context.Background(), phi, sh)
		if err != nil {
			t.Fatal(err)
		}
		o := newBruteForce(p)
		attained := o.value(likely.Multiset, phi)
		start := exact(sh.threshold.get()).Add(exact(s.evalError)).Mul(o.e.Add(exact(1)))
		if start.Cmp(attained) > 0 {
			t.Fatalf("the search starts from %g, but %v attains %g", sh.threshold.get(), likely.Multiset,
				attained.Nearest())
		}
	})
}

// The same on larger K, against the listed rows.
func TestMaxAgainstRows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawProblem(t, 9)
		s, _ := NewSystem(p)
		phi := drawPhi(t, p.K)
		got, err := s.max(context.Background(), phi)
		if err != nil {
			t.Fatal(err)
		}
		best := math.Inf(-1)
		for _, row := range s.Rows() {
			value := 0.0
			for l, x := range row {
				value += x * -phi[l]
			}
			best = max(best, value)
		}
		at := 0.0
		for l, x := range s.Row(got.At, nil) {
			at += x * -phi[l]
		}
		if math.Abs(best-got.Computed) > 1e-13 || got.Upper < best || math.Abs(at-best) > 1e-13 {
			t.Fatalf("sweep %g (at most %g) at %v, which has %g; rows %g", got.Computed, got.Upper, got.At,
				at, best)
		}
	})
}

// Separate returns real violations, worst first, and none only if there is none.
func TestSeparateAgainstRows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawProblem(t, 8)
		s, _ := NewSystem(p)
		phi := drawPhi(t, p.K)
		got, err := s.Separate(context.Background(), phi, 1e-12)
		if err != nil {
			t.Fatal(err)
		}
		last := math.Inf(1)
		for _, v := range got {
			value := 0.0
			for l, x := range s.Row(v.Multiset, nil) {
				value += x * -phi[l]
			}
			if v.Value > last || v.Value <= s.RHS()+1e-12 || math.Abs(v.Value-value) > 1e-13 {
				t.Fatalf("%v: value %g, row says %g, after %g, right-hand side %g", v.Multiset, v.Value, value,
					last, s.RHS())
			}
			last = v.Value
		}
		bound, _ := s.max(context.Background(), phi)
		switch {
		case len(got) == 0 && bound.Computed > s.RHS()+2e-12:
			t.Fatalf("missed a violation of %g", bound.Computed-s.RHS())
		case len(got) > 0 && math.Abs(got[0].Value-bound.Computed) > 1e-13:
			t.Fatalf("worst violation %g, maximum %g", got[0].Value, bound.Computed)
		}
	})
}

func defaultDelta(m, delta float64) float64 {
	return Problem{K: 100, M: m, Epsilon: 0.1, TeacherDelta: delta, Affected: 100}.DefaultDelta()
}

// However many teachers fail, the default is a δ: below 1.
func TestDefaultDeltaOfTeachersThatFail(t *testing.T) {
	if p, err := NewProblem(2000, 2000, 0.1, 0.999); err != nil || p.Delta != math.Nextafter(1, 0) {
		t.Errorf("δ = %v, %v", p.Delta, err)
	}
}

func TestDefaultDelta(t *testing.T) {
	for _, c := range []struct{ m, delta, want float64 }{
		{3, 1e-5, 2.999970000099999e-05}, // 1-(1-1e-5)^3 = 2.99997000010e-5 exactly
		{1, 1e-5, 1e-5}, {1, 0.1, 0.1}, {5, 0, 0}, {0.5, 0.75, 0.5}, {2, 1e-15, 2e-15},
	} {
		got := defaultDelta(c.m, c.delta)
		if math.Abs(got-c.want) > 1e-14*c.want {
			t.Errorf("DefaultDelta(%g, %g) = %v, want %v", c.m, c.delta, got, c.want)
		}
	}
	// Never above the exact value: (1-δ)^k ≥ (1-Δ)^(m·k) by cross powers.
	rapid.Check(t, func(t *rapid.T) {
		m := rapid.IntRange(2, 20).Draw(t, "m")
		delta := rapid.Float64Range(1e-12, 0.5).Draw(t, "Δ")
		got := new(big.Rat).Sub(big.NewRat(1, 1), exactDecimal(defaultDelta(float64(m), delta)))
		rest := new(big.Rat).Sub(big.NewRat(1, 1), exactDecimal(delta))
		want := big.NewRat(1, 1)
		for range m {
			want.Mul(want, rest)
		}
		if got.Cmp(want) < 0 {
			t.Fatalf("δ = %v is above 1-(1-Δ)^m", defaultDelta(float64(m), delta))
		}
	})
}

func TestTotalEpsilonIsExact(t *testing.T) {
	for _, c := range []struct {
		m, eps float64
		want   string
	}{{3, 0.1, "0.3"}, {3, 0.13577, "0.40731"}, {1.5, 0.1, "0.15"}, {10, 0.1, "1"},
		{1, 1e-6, "0.000001"}, {20, 20, "400"}} {
		if got := problem(t, 5, c.m, c.eps, 0).TotalDecimal(); got != c.want {
			t.Errorf("%g × %g = %s, want %s", c.m, c.eps, got, c.want)
		}
	}
}

func TestValidateNamesParameterAndRule(t *testing.T) {
	good := Problem{K: 11, M: 3, Epsilon: 0.1, TeacherDelta: 1e-5, Delta: 3e-5, Affected: 11}
	if err := good.Validate(); err != nil {
		t.Fatal(err)
	}
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		name   string
		break_ func(*Problem)
	}{
		{"number of teachers K", func(p *Problem) { p.K = 0 }},
		{"number of teachers K", func(p *Problem) { p.K = -3 }},
		{"number of teachers K", func(p *Problem) { p.K = MaxTeachers + 1 }},
		{"privacy allowance m", func(p *Problem) { p.M = 0 }},
		{"privacy allowance m", func(p *Problem) { p.M = -1 }},
		{"privacy allowance m", func(p *Problem) { p.M = nan }},
		{"privacy allowance m", func(p *Problem) { p.M = inf }},
		{"label epsilon", func(p *Problem) { p.M, p.TotalEpsilon = 0, -1 }},
		{"label epsilon", func(p *Problem) { p.M, p.TotalEpsilon = 0, nan }},
		{"label epsilon", func(p *Problem) { p.M, p.TotalEpsilon = 0, inf }},
		{"m", func(p *Problem) { p.TotalEpsilon = 0.3 }},
		{"epsilon", func(p *Problem) { p.Epsilon = -0.1 }},
		{"epsilon", func(p *Problem) { p.Epsilon = nan }},
		{"epsilon", func(p *Problem) { p.Epsilon = inf }},
		{"epsilon", func(p *Problem) { p.Epsilon, p.TeacherDelta = 0, 0 }},
		{"teacher delta", func(p *Problem) { p.TeacherDelta = 1 }},
		{"teacher delta", func(p *Problem) { p.TeacherDelta = -1e-9 }},
		{"teacher delta", func(p *Problem) { p.TeacherDelta = nan }},
		{"delta", func(p *Problem) { p.Delta = 1 }},
		{"delta", func(p *Problem) { p.Delta = 1e-6 }},
		{"delta", func(p *Problem) { p.M, p.Delta = 1, 9e-6 }}, // m = 1 is one teacher's own cost
		{"delta", func(p *Problem) { p.Delta = nan }},
		{"affected", func(p *Problem) { p.Affected = 0 }},
		{"affected", func(p *Problem) { p.Affected = 12 }},
		{"m·epsilon", func(p *Problem) { p.M = 7001 }},
	} {
		p := good
		c.break_(&p)
		var pe *ParameterError
		if err := p.Validate(); !errors.As(err, &pe) || pe.Name != c.name {
			t.Errorf("%+v: %v, want an error about %s", p, err, c.name)
		}
		if _, err := NewSystem(p); err == nil {
			t.Errorf("NewSystem takes %+v", p)
		}
	}
}

// γ ≡ 0 meets every constraint with 0, exactly: it is private however small the right-hand side is.
func TestMaxOfNothingIsZero(t *testing.T) {
	for _, delta := range []float64{0, 1e-5} {
		s := system(t, problem(t, 11, 3, 0.1, delta))
		got, err := s.max(context.Background(), make([]float64, 12))
		if want := (Bound{At: Multiset{Zeros: 11}}); err != nil || got != want {
			t.Errorf("Δ=%g: %+v, %v; want %+v", delta, got, err, want)
		}
	}
}

func TestMaxHonoursTheContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, delta := range []float64{0, 1e-5} {
		s := system(t, problem(t, 21, 3, 0.1, delta))
		for _, gamma := range [][]float64{make([]float64, 11), {0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0}} {
			if _, err := s.max(ctx, antisymmetric(21, gamma)); !errors.Is(err, context.Canceled) {
				t.Errorf("Δ=%g: %v", delta, err)
			}
		}
	}
}

// A search uses the processors that the program has, and leaves their number alone.
func TestSearchLeavesTheProcessors(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(3))
	s := system(t, problem(t, 7, 1, 1, 1e-4))
	_, err := s.UpperBound(context.Background(), antisymmetric(7, []float64{1, 0.5, 1, 0}))
	if got := runtime.GOMAXPROCS(0); err != nil || got != 3 {
		t.Errorf("of 3 processors %d are left, %v", got, err)
	}
}

func TestMaxPanicsOnForeignPhi(t *testing.T) {
	s := system(t, problem(t, 3, 1, 0.1, 0))
	for _, phi := range [][]float64{nil, {0, 0, 0}, {-1, -1, 1, 1.5}, {-2, 0, 0, 2},
		{math.NaN(), 0, 0, math.NaN()}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("no panic for %v", phi)
				}
			}()
			_, _ = s.max(context.Background(), phi)
		}()
	}
}

// Of each number of teachers at (a,b) and at (b,a), the searches name the local maxima over
// the number at (1,1) that are violated, and no others.
func TestSeparateFindsEveryLocalMaximum(t *testing.T) {
	const k, lows = 9, 3
	s := system(t, problem(t, k, 1, 0.1, 0))
	rng := rand.New(rand.NewPCG(5, 6))
	several := 0
	for range 50 {
		free := make([]float64, (k+1)/2)
		for l := range free {
			free[l] = rng.Float64()
		}
		free[0], free[3] = 0, 1 // not monotone, and violated
		phi := antisymmetric(k, free)
		value := map[Multiset]float64{}
		for m, row := range s.Rows() {
			for l, x := range row {
				value[m] -= x * phi[l]
			}
		}
		want, few := map[Multiset]bool{}, 0
		for m, v := range value {
			fewer, more := m, m
			fewer[Ones], fewer[Zeros] = m[Ones]-1, m[Zeros]+1
			more[Ones], more[Zeros] = m[Ones]+1, m[Zeros]-1
			below := func(n Multiset) bool { w, ok := value[n]; return !ok || v > w }
			if v > s.RHS()+1e-9 && below(fewer) && below(more) {
				want[m] = true
				if m[Low] == 0 || m[Low] == lows {
					few++
				}
			}
		}
		several = max(several, len(want))
		found, err := s.Separate(t.Context(), phi, 1e-9)
		if err != nil || len(found) != len(want) {
			t.Fatalf("γ = %v: %d violations, %v; want %d", free, len(found), err, len(want))
		}
		for _, v := range found {
			if !want[v.Multiset] || math.Abs(v.Value-value[v.Multiset]) > 1e-13 {
				t.Errorf("γ = %v: %v = %g is not wanted", free, v.Multiset, v.Value)
			}
		}
		if found, err = s.SeparateFirstOrder(t.Context(), phi, 1e-9, []int{lows}); err != nil ||
			len(found) != few {
			t.Errorf("γ = %v: %d violations with 0 or %d teachers at (b,a), %v; want %d", free,
				len(found), lows, err, few)
		}
	}
	if several < k {
		t.Errorf("at most %d violations: this tests nothing", several)
	}
}

// max is UpperBound without its thousandth, the search that Separate makes.
func (s *System) max(ctx context.Context, phi []float64) (Bound, error) {
	return s.complete(ctx, phi, false)
}

// max and UpperBound agree on the question Upper ≤ RHS up to rounding, and UpperBound is
// a bound; so is either for a phi made to defeat the first level.
func TestUpperBoundDecidesAsMax(t *testing.T) {
	decide := func(t interface{ Fatalf(string, ...any) }, s *System, phi []float64) {
		exact, err := s.max(context.Background(), phi)
		if err != nil {
			t.Fatalf("%v", err)
		}
		coarse, err := s.UpperBound(context.Background(), phi)
		if err != nil {
			t.Fatalf("%v", err)
		}
		if coarse.Upper < exact.Computed {
			t.Fatalf("bound %g below the maximum %g", coarse.Upper, exact.Computed)
		}
		near := math.Abs(exact.Upper-s.RHS()) < 1e-3*s.RHS()+4*s.evalError
		if (coarse.Upper <= s.RHS()) != (exact.Upper <= s.RHS()) && !near {
			t.Fatalf("bound %g, coarse %g, right-hand side %g", exact.Upper, coarse.Upper, s.RHS())
		}
		if exact.Upper <= s.RHS() && coarse.Upper > exact.Upper+(s.RHS()-exact.Computed)/1024+
			4*s.evalError {
			t.Fatalf("coarse bound %g, maximum %g", coarse.Upper, exact.Computed)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		p := drawProblem(t, 9)
		s, err := NewSystem(p)
		if err != nil {
			t.Fatal(err)
		}
		phi := drawPhi(t, p.K)
		scale := rapid.SampledFrom([]float64{1, 0.5, 1e-3, 0x1p-53}).Draw(t, "scale")
		for l := range phi {
			phi[l] *= scale
		}
		decide(t, s, phi)
	})
	hostile := make([]float64, 21)
	for l := range hostile {
		hostile[l] = float64(l%2) * 0x1p-53
	}
	for _, delta := range []float64{1e-5, 0.3} {
		decide(t, system(t, problem(t, 41, 3, 0.1, delta)), antisymmetric(41, hostile))
	}
}

func TestEpsilonsThatNoExponentialHolds(t *testing.T) {
	for _, eps := range []float64{700.1, 4097, 5000, 1e308} {
		var pe *ParameterError
		if _, err := NewProblem(3, 1e-4, eps, 0); !errors.As(err, &pe) || pe.Name != "epsilon" {
			t.Errorf("ε = %g: %v", eps, err)
		}
	}
	for _, eps := range []float64{5e-324, 1e-310, 1e-300, 700} {
		p, err := NewTotalProblem(3, 3, 1, eps, 0)
		if err != nil {
			t.Fatalf("ε = %g: %v", eps, err)
		}
		if m := p.Allowance(); !(m > 0) || math.IsInf(m, 0) {
			t.Errorf("ε = %g: allowance %g", eps, m)
		}
		system(t, p)
	}
}

// The default δ is never more than the teachers that a record reaches cost together.
func TestDefaultDeltaIsCappedByTheTeachersReached(t *testing.T) {
	all := problem(t, 11, 20, 0.1, 1e-5)
	if want := problem(t, 11, 11, 0.1, 1e-5).Delta; all.Delta != want {
		t.Errorf("K = 11, m = 20: δ = %v, want that of m = 11, %v", all.Delta, want)
	}
	one := Problem{K: 11, M: 3, Epsilon: 0.1, TeacherDelta: 1e-5, Affected: 1}
	if got := one.DefaultDelta(); got != 1e-5 {
		t.Errorf("t = 1, m = 3: δ = %v, want Δ", got)
	}
}

// The zero System has no constraints. A bound of it would certify anything.
func TestZeroSystemHasNoBound(t *testing.T) {
	for _, s := range []*System{nil, new(System)} {
		if b, err := s.UpperBound(t.Context(), []float64{0}); err == nil {
			t.Errorf("the zero System bounds a function by %+v", b)
		}
	}
}
