package gamma

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/darrm/darrm/constraints"
	"github.com/darrm/darrm/internal/num"
	"github.com/darrm/darrm/internal/testing/must"
)

func problem(t testing.TB, k int, m, eps, teacherDelta float64) constraints.Problem {
	t.Helper()
	return must.Get(constraints.NewProblem(k, m, eps, teacherDelta))(t)
}

// wantFree compares the values left of the middle.
func wantFree(t *testing.T, name string, f Func, want []float64, tolerance float64) {
	t.Helper()
	if len(want) != (f.K()+1)/2 {
		t.Fatalf("%s: %d values to compare, K = %d", name, len(want), f.K())
	}
	for l, w := range want {
		if got := f.At(l); !(math.Abs(got-w) <= tolerance) {
			t.Errorf("%s: γ(%d) = %.9f, want %.9f", name, l, got, w)
		}
	}
}

// The project's reference values, worked out by hand from the formulas of Jiang
// (2024), Lemma 3.4.1 and Theorem 3.5.1, to six digits.
func TestSubsamplingReference(t *testing.T) {
	sub, err := Subsampling(11, 3)
	if err != nil {
		t.Fatal(err)
	}
	wantFree(t, "subsampling", sub, []float64{1, 1, 0.890909, 0.696970, 0.442424, 0.151515}, 5e-7)
	double, err := DoubleSubsampling(11, 3)
	if err != nil {
		t.Fatal(err)
	}
	wantFree(t, "double subsampling", double, []float64{1, 1, 1, 0.878788, 0.606061, 0.216450}, 5e-7)
}

// One answer of K: γ(l) = 1-2l/K, Jiang (2025), Lemma 3.4.2. All answers: γ ≡ 1.
func TestSubsamplingClosedForms(t *testing.T) {
	for _, k := range []int{1, 2, 3, 8, 11, 40, 101, 501} {
		one, err := Subsampling(k, 1)
		if err != nil {
			t.Fatal(err)
		}
		all, err := Subsampling(k, k)
		if err != nil {
			t.Fatal(err)
		}
		for l := range (k + 1) / 2 {
			if want := 1 - 2*float64(l)/float64(k); math.Abs(one.At(l)-want) > 1e-15 {
				t.Errorf("K=%d m=1: γ(%d) = %v, want %v", k, l, one.At(l), want)
			}
			// Even K: the tie of all answers is the tie of the vote.
			if all.At(l) != 1 {
				t.Errorf("K=%d m=K: γ(%d) = %v, want 1", k, l, all.At(l))
			}
		}
	}
}

// The mechanism itself: draw each of the C(K,m) subsets, take its majority, a tie
// by a fair coin. γ(l) is 1-2·Pr[the minority wins].
func TestSubsamplingAgainstAllSubsets(t *testing.T) {
	for k := 1; k <= 9; k++ {
		for m := 1; m <= k; m++ {
			f, err := Subsampling(k, m)
			if err != nil {
				t.Fatal(err)
			}
			for l := 0; 2*l < k; l++ {
				votes := uint(1)<<l - 1 // the first l teachers answer 1
				wins, subsets := 0, 0   // wins in half points
				for s := uint(0); s < 1<<k; s++ {
					if bits.OnesCount(s) != m {
						continue
					}
					subsets++
					switch ones := bits.OnesCount(s & votes); {
					case 2*ones > m:
						wins += 2
					case 2*ones == m:
						wins++
					}
				}
				want := 1 - float64(wins)/float64(subsets)
				if got := f.At(l); math.Abs(got-want) > 1e-15 || got > 1 {
					t.Errorf("K=%d m=%d: γ(%d) = %v, by enumeration %v", k, m, l, got, want)
				}
			}
		}
	}
}

// With ties broken by a fair coin the last of an even number of answers is
// useless.
func TestEvenSubsamplingIsTheOddBelow(t *testing.T) {
	for _, k := range []int{3, 8, 11, 20, 41} {
		for m := 2; m <= k; m += 2 {
			even, err := Subsampling(k, m)
			if err != nil {
				t.Fatal(err)
			}
			odd, err := Subsampling(k, m-1)
			if err != nil {
				t.Fatal(err)
			}
			for l := range (k + 1) / 2 {
				if math.Abs(even.At(l)-odd.At(l)) > 4e-15 {
					t.Errorf("K=%d: γ(%d) = %v at m=%d, %v at m=%d", k, l, even.At(l), m, odd.At(l), m-1)
				}
			}
		}
	}
}

func TestDoubleSubsamplingIsCertain(t *testing.T) {
	for _, k := range []int{1, 2, 5, 6, 11} {
		for m := 1; m <= k+2; m++ {
			f, err := DoubleSubsampling(k, m)
			if err != nil {
				t.Fatal(err)
			}
			certain := true
			for l := range (k + 1) / 2 {
				certain = certain && f.At(l) == 1
			}
			// 2m-1 ≥ K; with even K, K-1 answers and a coin for ties do as well as K.
			if want := 2*m >= k && (2*m-1 >= k || k%2 == 0); certain != want {
				t.Errorf("K=%d m=%d: %v", k, m, f)
			}
		}
	}
}

func TestBaselinesRefuse(t *testing.T) {
	p := problem(t, 11, 3, 0.1, 1e-5)
	bad := p
	bad.K = 0
	for name, call := range map[string]func() error{
		"Subsampling m=0":  func() error { _, err := Subsampling(11, 0); return err },
		"Subsampling m=12": func() error { _, err := Subsampling(11, 12); return err },
		"Subsampling K=0":  func() error { _, err := Subsampling(0, 1); return err },
		"Double m=0":       func() error { _, err := DoubleSubsampling(11, 0); return err },
		"Double K=0":       func() error { _, err := DoubleSubsampling(0, 1); return err },
		"p_const tau<0":    func() error { _, err := RandomizedResponse(p, -1, 0); return err },
		"p_const tau NaN": func() error {
			_, err := RandomizedResponse(p, math.NaN(), 0)
			return err
		},
		"p_const lambda>1":    func() error { _, err := RandomizedResponse(p, 11, 1.1); return err },
		"p_const lambda<0":    func() error { _, err := RandomizedResponse(p, 11, -1e-9); return err },
		"p_const bad problem": func() error { _, err := RandomizedResponse(bad, 11, 0); return err },
		"Baselines": func() error {
			_, err := Baselines(context.Background(), bad)
			return err
		},
	} {
		var pe *constraints.ParameterError
		if err := call(); !errors.As(err, &pe) {
			t.Errorf("%s: %T %v, want a ParameterError", name, err, err)
		}
	}
}

// p_const at K = 11, ε = 0.1, Δ = δ = 0, τ = K: the project's reference values,
// to six digits.
func TestRandomizedResponseReference(t *testing.T) {
	for _, c := range []struct{ m, want float64 }{{1, 0.099813}, {3, 0.297461}, {5, 0.489328},
		{11, 1}} {
		f, err := RandomizedResponse(problem(t, 11, c.m, 0.1, 0), 11, 0)
		if err != nil {
			t.Fatal(err)
		}
		wantFree(t, fmt.Sprintf("m=%g", c.m), f, []float64{c.want, c.want, c.want, c.want, c.want,
			c.want}, 5e-7)
	}
}

// The formula of the doc comment as it stands, in 320-bit intervals.
func TestRandomizedResponseAgainstTheFormula(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, err := constraints.NewProblem(rapid.IntRange(1, 50).Draw(t, "K"),
			rapid.SampledFrom([]float64{0.5, 1, 1.5, 3, 10, 60}).Draw(t, "m"),
			rapid.SampledFrom([]float64{1e-6, 0.01, 0.1, 1, 3, 11}).Draw(t, "ε"),
			rapid.SampledFrom([]float64{0, 1e-8, 1e-5, 0.1}).Draw(t, "Δ"))
		if err != nil {
			t.Fatal(err)
		}
		tau := rapid.SampledFrom([]float64{0, 0.5, 1, 7, 50}).Draw(t, "τ")
		lambda := rapid.SampledFrom([]float64{0, 1e-6, 0.01, 1}).Draw(t, "λ")
		f, err := RandomizedResponse(p, tau, lambda)
		if err != nil {
			t.Fatal(err)
		}
		eps := num.Decimal(p.Epsilon)
		e := num.Exp(new(big.Rat).Mul(num.Decimal(p.M), eps))
		total := num.Exp(new(big.Rat).Mul(num.Decimal(tau), eps))
		one, two := num.FromInt(1), num.FromInt(2)
		numerator := e.Sub(one).Add(two.Mul(exactly1(p.Delta)))
		spread := total.Sub(e).Add(one.Add(e).Mul(exactly1(lambda)))
		denominator := two.Mul(spread).Quo(total.Add(one)).Add(e).Sub(one)
		want := 1.0
		if denominator.Cmp(numerator) > 0 {
			want = numerator.Quo(denominator).Nearest()
		}
		// 1-e^{-mε} loses relative accuracy 2⁻⁵²/(mε) to cancellation.
		tolerance := 1e-14 * (1 + 1/(p.M*p.Epsilon))
		for l := range (p.K + 1) / 2 {
			if got := f.At(l); math.Abs(got-want) > tolerance*want {
				t.Fatalf("γ(%d) = %v, the formula gives %v", l, got, want)
			}
		}
	})
}

func exactly1(x float64) num.Interval { return num.FromRat(new(big.Rat).SetFloat64(x)) }

// Names are part of the file format; values are ordered as the theory says.
func TestBaselinesOfTheReferenceProblem(t *testing.T) {
	baselines, err := Baselines(context.Background(), problem(t, 11, 3, 0.1, 1e-5))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"randomised-response", "randomised-response-tight", "subsampling",
		"double-subsampling"}
	byName := map[string]Func{}
	for i, b := range baselines {
		if i >= len(want) || b.Name != want[i] || b.Title() == "" {
			t.Fatalf("baseline %d is %q, title %q, want names %q", i, b.Name, b.Title(), want)
		}
		byName[b.Name] = b.Certified.Func()
	}
	if len(baselines) != len(want) {
		t.Fatalf("%d baselines, want %q", len(baselines), want)
	}
	if tight, simple := byName["randomised-response-tight"].At(0),
		byName["randomised-response"].At(0); tight < simple {
		t.Errorf("the tight constant %v is below the simple one %v", tight, simple)
	}
	// Subsampling is private by its own proof, so certifying costs it nothing but
	// rounding. Double subsampling has a proof for identical teachers only, and yet
	// no known problem needs it scaled: the complete constraint set admits it here.
	sub, _ := Subsampling(11, 3)
	wantFree(t, "subsampling", byName["subsampling"], sub.Values()[:6], 1e-12)
	double, _ := DoubleSubsampling(11, 3)
	wantFree(t, "double subsampling", byName["double-subsampling"], double.Values()[:6], 1e-12)
}

// Each baseline is its function or a multiple of it, and keeps the promise in
// interval arithmetic over the complete constraint set.
func TestBaselinesArePrivate(t *testing.T) {
	for _, p := range []constraints.Problem{
		problem(t, 7, 3, 0.1, 1e-5),
		problem(t, 7, 2, 1, 1e-2),
		problem(t, 6, 2, 0.5, 1e-8),
		problem(t, 9, 1.5, 0.01, 0),
		{K: 8, M: 2, Epsilon: 0.3, TeacherDelta: 1e-5, Delta: 1e-3, Affected: 3},
	} {
		o := newOracle(p)
		baselines, err := Baselines(context.Background(), p)
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range baselines {
			if n := o.violations(b.Certified.Func()); n > 0 {
				t.Errorf("%+v: %s breaks %d constraints", p, b.Name, n)
			}
		}
	}
}

func TestBaselinesBelowOneAnswer(t *testing.T) {
	baselines, err := Baselines(context.Background(), problem(t, 6, 0.5, 0.1, 1e-5))
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range baselines {
		if b.Name != "randomised-response" && b.Name != "randomised-response-tight" {
			t.Errorf("m = 0.5 has baseline %s", b.Name)
		}
	}
	if len(baselines) != 2 {
		t.Errorf("%d baselines", len(baselines))
	}
}

// A mechanism is its own function or refused: what breaks the promise is not scaled down
// behind its name's back. Three answers of three teachers are the plain majority, which
// costs δ = 1-(1-Δ)³; with δ = Δ it is not private.
func TestBaselineKindCertifiesItsOwnFunction(t *testing.T) {
	ctx := context.Background()
	usual := problem(t, 3, 3, 0.1, 0.01)
	tight := usual
	tight.Delta = 0.01
	shrunk, err := Baselines(ctx, tight)
	if err != nil {
		t.Fatal(err)
	}
	for i, kind := range BaselineKinds() {
		b, err := kind.Certify(ctx, usual)
		if err != nil {
			t.Fatalf("%s: %v", kind.Name, err)
		}
		if b.Name != kind.Name || !strings.HasPrefix(b.Title(), kind.Name) ||
			b.Certified.Problem() != usual {
			t.Errorf("%s: baseline %q, %q for %+v", kind.Name, b.Name, b.Title(), b.Certified.Problem())
		}
		if n := newOracle(usual).violations(b.Certified.Func()); n > 0 {
			t.Errorf("%s breaks %d constraints", kind.Name, n)
		}
		_, err = kind.Certify(ctx, tight)
		var violation *ViolationError
		subsamples := strings.HasSuffix(kind.Name, "subsampling")
		if errors.As(err, &violation) != subsamples || (err == nil) == subsamples {
			t.Errorf("%s with δ = Δ: %v", kind.Name, err)
		}
		// The comparison has the scaled one all the same.
		if scaled := shrunk[i].Certified.Func().At(0) < 1-1e-2; subsamples && !scaled {
			t.Errorf("%s with δ = Δ: γ(0) = %v, which is hardly scaled", kind.Name,
				shrunk[i].Certified.Func().At(0))
		}
	}
}

// What a kind is called is what Baselines calls it, and the functions are the same where
// the kind's own is private.
func TestBaselinesAreTheKinds(t *testing.T) {
	ctx := context.Background()
	p := problem(t, 9, 2.5, 0.5, 1e-6)
	list, err := Baselines(ctx, p)
	if err != nil {
		t.Fatal(err)
	}
	kinds := BaselineKinds()
	titles := []string{"", "", ", 2 of 9", ", 3 of 9"} // ⌊m⌋ of K, and 2⌊m⌋-1
	if len(list) != len(kinds) {
		t.Fatalf("%d baselines of %d kinds", len(list), len(kinds))
	}
	for i, kind := range kinds {
		b, err := kind.Certify(ctx, p)
		if err != nil {
			t.Fatal(err)
		}
		if b.Name != list[i].Name || b.Title() != list[i].Title() ||
			!b.Certified.Func().Equal(list[i].Certified.Func()) {
			t.Errorf("kind %+v, baseline %+v", b, list[i])
		}
		if !strings.HasSuffix(b.Title(), titles[i]) {
			t.Errorf("%s is called %q, want … %q", kind.Name, b.Title(), titles[i])
		}
	}
}

// A baseline that could not be certified is an error, of every kind.
func TestBaselineKindsHonourTheContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, kind := range BaselineKinds() {
		if b, err := kind.Certify(ctx, problem(t, 7, 2, 0.1, 1e-5)); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %+v, %v", kind.Name, b, err)
		}
	}
}

// Teachers that together may fail surely: λ = tΔ is a probability, at most 1.
func TestRandomizedResponseOfTeachersThatFail(t *testing.T) {
	p := problem(t, 5, 1, 0.1, 0.3)
	want, err := RandomizedResponse(p, 5, 1)
	if err != nil {
		t.Fatal(err)
	}
	kind := BaselineKinds()[0]
	if f, _, err := kind.make(kind, p); err != nil || !f.Equal(want) {
		t.Errorf("%s: %v, %v; want %v", kind.Name, f, err, want)
	}
}

func TestBaselineKindsThatDoNotApply(t *testing.T) {
	free := constraints.Problem{K: 5, TotalEpsilon: 1, Epsilon: math.Inf(1), Affected: 1}
	bad := problem(t, 5, 2, 0.1, 0)
	bad.Affected = 6
	for name, c := range map[string]struct {
		p    constraints.Problem
		want map[string]string // kind → part of the reason; "" for none
	}{
		"m below 1": {problem(t, 6, 0.5, 0.1, 1e-5),
			map[string]string{"subsampling": "at least one teacher's epsilon",
				"double-subsampling": "at least one teacher's epsilon"}},
		"teachers that promise": {free, map[string]string{"subsampling": "promise nothing",
			"double-subsampling": "promise nothing"}},
		"no problem": {bad, map[string]string{
			"randomised-response": "affected", "randomised-response-tight": "affected",
			"subsampling": "affected", "double-subsampling": "affected"}},
	} {
		for _, kind := range BaselineKinds() {
			for _, err := range []error{kind.Applies(c.p), second(kind.Certify(context.Background(), c.p))} {
				want := c.want[kind.Name]
				var parameter *constraints.ParameterError
				if want == "" && err != nil || want != "" &&
					(!errors.As(err, &parameter) || !strings.Contains(err.Error(), want)) {
					t.Errorf("%s: %s: %v, want %q", name, kind.Name, err, want)
				}
			}
		}
	}
}

func second[T any](_ T, err error) error { return err }
