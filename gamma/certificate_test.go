package gamma

import (
	"bytes"
	"context"
	"errors"
	"math"
	"math/big"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/darrm/darrm/constraints"
	"github.com/darrm/darrm/internal/num"
	"github.com/darrm/darrm/internal/testing/must"
)

// golden reads a table of testdata, which the tests of package solve write.
func golden(t testing.TB, name string) []byte {
	t.Helper()
	return must.Get(os.ReadFile(filepath.Join("testdata", name+".json")))(t)
}

func goldenTable(t testing.TB, name string) *Table {
	t.Helper()
	table, err := Decode(context.Background(), bytes.NewReader(golden(t, name)))
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return table
}

// goldenNames lists the tables of at most the given number of teachers.
func goldenNames(t testing.TB, maxK int) []string {
	t.Helper()
	files, err := filepath.Glob("testdata/k*.json")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range files {
		name := strings.TrimSuffix(filepath.Base(f), ".json")
		claim, err := ReadClaim(bytes.NewReader(golden(t, name)))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if claim.Problem.K <= maxK {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		t.Fatal("testdata holds no tables")
	}
	return names
}

// No certified optimum breaks any constraint, and the certificate's figures are
// the oracle's: the bound is above the true maximum by rounding errors only.
func TestCertifiedTablesArePrivate(t *testing.T) {
	maxK := 8
	if long() {
		maxK = 11
	}
	names := goldenNames(t, maxK)
	if !long() {
		names = append(names, "k11-m3-free", "k11-m3-pure") // 31,824 constraints: one is enough
	}
	for _, name := range names {
		table := goldenTable(t, name)
		o := newOracle(table.Problem())
		best, n := o.max(table.Func())
		if best.Cmp(o.rhs) >= 0 {
			t.Errorf("%s: f reaches %.17g, the claim allows %.17g", name, best.Upper(), o.rhs.Lower())
		}
		c := table.Certificate()
		if c.Constraints.Cmp(big.NewInt(int64(n))) != 0 {
			t.Errorf("%s: the certificate covers %v constraints, there are %d", name, c.Constraints, n)
		}
		if c.Bound < best.Upper() || c.Method == Sweep && c.Bound-best.Upper() > 1e-12*o.e.Upper() {
			t.Errorf("%s: bound %.17g, the maximum is %.17g", name, c.Bound, best.Upper())
		}
		if c.RightHandSide != o.rhs.Lower() {
			t.Errorf("%s: right-hand side %.17g, want %.17g", name, c.RightHandSide, o.rhs.Lower())
		}
		if slack := exactly1(c.RightHandSide).Sub(exactly1(c.Bound)); c.Slack < 0 ||
			c.Slack > slack.Upper() || c.Slack < slack.Lower()-1e-15 {
			t.Errorf("%s: slack %g, want %g rounded down", name, c.Slack, slack.Lower())
		}
	}
}

func TestCertifiedBaselinesArePrivate(t *testing.T) {
	maxK := 7
	if long() {
		maxK = 11
	}
	for _, name := range goldenNames(t, maxK) {
		table := goldenTable(t, name)
		o := newOracle(table.Problem())
		for _, b := range table.Baselines {
			if n := o.violations(b.Certified.Func()); n > 0 {
				t.Errorf("%s: %s breaks %d constraints", name, b.Name, n)
			}
		}
	}
}

func drawProblem(t *rapid.T, maxK int) constraints.Problem {
	k := rapid.IntRange(1, maxK).Draw(t, "K")
	p, err := constraints.NewProblem(k,
		rapid.SampledFrom([]float64{0.5, 1, 1.5, 2, 3, 7}).Draw(t, "m"),
		rapid.SampledFrom([]float64{0.01, 0.1, 1, 3}).Draw(t, "ε"),
		rapid.SampledFrom([]float64{0, 1e-8, 1e-5, 1e-2, 0.3}).Draw(t, "Δ"))
	if err != nil {
		t.Fatal(err)
	}
	p.Affected = rapid.IntRange(1, k).Draw(t, "t")
	if p.PostProcessing() { // has a test of its own: no interval shows equality
		p.M = 0.999 * float64(p.Affected)
		p.Delta = p.DefaultDelta()
	}
	return p
}

// Certify and the oracle agree on random functions: what is certified is private,
// and what is refused breaks a constraint or is within rounding errors of it.
func TestCertifyAgainstTheOracle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawProblem(t, 4)
		free := drawFree(t, p.K)
		scale := rapid.SampledFrom([]float64{1, 0.5, 0.1, 0.01}).Draw(t, "scale")
		for l := range free {
			free[l] *= scale
		}
		f, err := FromFree(p.K, free)
		if err != nil {
			t.Fatal(err)
		}
		best, _ := newOracle(p).max(f)
		o := newOracle(p)
		c, err := Certify(context.Background(), p, f)
		if err == nil {
			if best.Cmp(o.rhs) >= 0 {
				t.Fatalf("certified, but f reaches %g of %g", best.Upper(), o.rhs.Lower())
			}
			if !c.Func().Equal(f) || c.Problem() != p {
				t.Fatal("the certificate is about something else")
			}
			return
		}
		var v *ViolationError
		if c != nil || !errors.As(err, &v) {
			t.Fatalf("%v, want a ViolationError", err)
		}
		if margin := 1e-13 * (1 + o.e.Upper()); best.Upper() < o.rhs.Lower()-margin {
			t.Fatalf("refused (%v), but f reaches %g of %g only", v, best.Upper(), o.rhs.Lower())
		}
	})
}

// CertifyShrunk gives the largest private multiple of f, to a relative 1e-12, or to
// what the bound on rounding errors (below 1e-14 for K ≤ 4) is of the scaled
// right-hand side.
func TestCertifyShrunkIsTheLargestMultiple(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawProblem(t, 4)
		f, err := FromFree(p.K, drawFree(t, p.K))
		if err != nil {
			t.Fatal(err)
		}
		c, err := CertifyShrunk(context.Background(), p, f)
		if err != nil {
			t.Fatal(err)
		}
		o := newOracle(p)
		if !o.private(c.Func()) {
			t.Fatal("not private")
		}
		best, _ := o.max(f)
		factor := 1.0
		if best.Cmp(o.rhs) > 0 {
			factor = o.rhs.Quo(best).Nearest()
		}
		scaled := o.rhs.Quo(o.e.Add(num.FromInt(1))).Nearest()
		tolerance := max(1e-12, 1e-14/scaled)
		for l := range p.K + 1 {
			want, got := factor*f.At(l), c.Func().At(l)
			if want < 0 {
				want, got = -want, -got
			}
			if got > want*(1+1e-15) || got < want*(1-tolerance)-0x1p-50 {
				t.Fatalf("γ(%d) = %.17g of %.17g, want %.17g", l, got, f.At(l), want)
			}
		}
	})
}

func TestCertifyShrunkKeepsWhatIsPrivate(t *testing.T) {
	for _, name := range goldenNames(t, 11) {
		table := goldenTable(t, name)
		c, err := CertifyShrunk(context.Background(), table.Problem(), table.Func())
		if err != nil || !c.Func().Equal(table.Func()) {
			t.Errorf("%s: a certified function was changed (%v)", name, err)
		}
	}
}

// Right-hand sides of the size of the rounding errors: no function may be
// certified that the oracle does not call private; none at all is fine.
func TestTinyRightHandSidesFailClosed(t *testing.T) {
	refused := 0
	for _, k := range []int{1, 2, 3, 4} {
		for _, eps := range []float64{1e-3, 1e-9, 1e-12, 1e-14, 1e-15, 1e-16, 1e-18, 1e-100, 5e-324} {
			for _, m := range []float64{0.5, 1, 2} {
				p := problem(t, k, m, eps, 0)
				if p.PostProcessing() {
					continue // private by a theorem, with equality: no interval shows it
				}
				o := newOracle(p)
				for _, c := range []float64{1, 0.3, 1e-9, 0x1p-53, 0} {
					f, err := Constant(k, c)
					if err != nil {
						t.Fatal(err)
					}
					for name, certify := range map[string]func(context.Context, constraints.Problem,
						Func) (*Certified, error){"Certify": Certify, "CertifyShrunk": CertifyShrunk} {
						got, err := certify(context.Background(), p, f)
						var v *ViolationError
						switch {
						case err == nil && got.Func().Equal(Func{make([]int64, k+1)}):
							// f ≡ 0: private whatever the right-hand side is.
						case err == nil && !o.private(got.Func()):
							t.Errorf("%s K=%d m=%g ε=%g: γ = %v is certified and not private", name, k, m, eps,
								got.Func())
						case err != nil && !errors.As(err, &v):
							t.Errorf("%s K=%d m=%g ε=%g: %v", name, k, m, eps, err)
						case err != nil:
							refused++
						}
					}
				}
			}
		}
	}
	if refused == 0 {
		t.Error("nothing was refused: this tests nothing")
	}
}

func TestCertifyRefusesForeignTeachers(t *testing.T) {
	f := mustFree(t, 3, 0.01, 0.01)
	for name, certify := range map[string]func(context.Context, constraints.Problem, Func) (*Certified,
		error){"Certify": Certify, "CertifyShrunk": CertifyShrunk} {
		var pe *constraints.ParameterError
		if c, err := certify(context.Background(), problem(t, 5, 1, 0.1, 0), f); c != nil ||
			!errors.As(err, &pe) {
			t.Errorf("%s: three teachers' γ for K = 5: %v", name, err)
		}
		bad := problem(t, 3, 1, 0.1, 0)
		bad.M = math.NaN()
		if c, err := certify(context.Background(), bad, f); c != nil || !errors.As(err, &pe) {
			t.Errorf("%s: m = NaN: %v", name, err)
		}
		if c, err := certify(context.Background(), problem(t, 3, 1, 0.1, 0), Func{}); c != nil ||
			!errors.As(err, &pe) {
			t.Errorf("%s: the zero Func: %v", name, err)
		}
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		if c, err := certify(ctx, problem(t, 3, 1, 0.1, 0), f); c != nil ||
			!errors.Is(err, context.Canceled) {
			t.Errorf("%s: cancelled: %v", name, err)
		}
	}
}

// The error names the promise and the place where it fails, in numbers that hold.
func TestViolationErrorNamesThePlace(t *testing.T) {
	p := problem(t, 5, 2, 0.1, 1e-5)
	f, err := Constant(5, 1)
	if err != nil {
		t.Fatal(err)
	}
	_, err = Certify(context.Background(), p, f)
	var v *ViolationError
	if !errors.As(err, &v) {
		t.Fatal(err)
	}
	if v.Problem != p || v.Worst.Teachers() != 5 || !(v.Bound > v.RightHandSide) {
		t.Errorf("%+v", v)
	}
	for _, want := range []string{"(0.2, ", v.Worst.String()} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q does not say %q", err, want)
		}
	}
	o := newOracle(p)
	best, _ := o.max(f)
	scaled := best.Quo(o.e.Add(num.FromInt(1)))
	if v.Bound < scaled.Upper() || v.Bound > scaled.Upper()+1e-13 {
		t.Errorf("bound %.17g, the scaled maximum is %.17g", v.Bound, scaled.Upper())
	}
}

// Nobody who holds a Certified can change what it says.
func TestCertifiedIsImmutable(t *testing.T) {
	c, err := Certify(context.Background(), problem(t, 3, 1, 0.1, 0), mustFree(t, 3, 0.1, 0.1))
	if err != nil {
		t.Fatal(err)
	}
	want := c.Certificate().Constraints.String()
	c.Certificate().Constraints.SetInt64(1)
	if got := c.Certificate().Constraints.String(); got != want {
		t.Errorf("the certificate covers %s constraints after its copy was written to, want %s", got,
			want)
	}
	c.Func().Shrink(0)
	if c.Func().At(0) == 0 {
		t.Error("γ was changed through its copy")
	}
}

// Where all teachers that a record reaches may be revealed, every γ is private, by
// a theorem: its certificate must not apply one step beyond, and must agree with
// the oracle up to the oracle's own resolution.
func TestPostProcessingIsNoMoreThanTheTheorem(t *testing.T) {
	sure := func(k int) Func {
		return must.Get(Constant(k, 1))(t)
	}
	for _, c := range []struct {
		name          string
		k, t          int
		m, eps, delta float64
		release       float64 // δ, or -1 for the default
		want          bool
	}{
		{"parallel", 7, 1, 1, 0.1, 1e-5, -1, true},
		{"parallel, m above 1", 7, 1, 1.5, 0.1, 1e-5, -1, true},
		{"two reached, m = 2", 7, 2, 2, 0.1, 0, -1, true},
		{"all reached, m = K", 7, 7, 7, 0.1, 0, -1, true},
		{"m just below 1", 7, 1, 0.9999999, 0.1, 0, -1, false},
		{"two reached, m = 1", 7, 2, 1, 0.1, 0, -1, false},
		{"two reached, m just below 2", 7, 2, 1.9999999, 0.1, 0, -1, false},
		{"two reached, δ of one", 7, 2, 2, 0.1, 1e-5, 1e-5, false},
		{"two reached, δ exact", 7, 2, 2, 0.1, 0.1, 0.19, true},
		{"two reached, δ just below", 7, 2, 2, 0.1, 0.1, 0.18999999999999997, false},
	} {
		p := problem(t, c.k, c.m, c.eps, c.delta)
		p.Affected = c.t
		if c.release >= 0 {
			p.Delta = c.release
		}
		if got := p.PostProcessing(); got != c.want {
			t.Errorf("%s: post-processing %v", c.name, got)
			continue
		}
		if !c.want {
			continue
		}
		f := sure(c.k)
		certified, err := CertifyShrunk(context.Background(), p, f)
		if err != nil || !certified.Func().Equal(f) || certified.Certificate().Method != PostProcessing {
			t.Errorf("%s: %+v, %v", c.name, certified, err)
		}
		// A hair more room, and the oracle must agree.
		p.Delta += 1e-12
		if !newOracle(p).private(f) {
			t.Errorf("%s: the oracle finds a violation", c.name)
		}
	}
	for _, eps := range []float64{0.1, 700} {
		p, err := constraints.NewTotalProblem(3, 3, eps, math.Inf(1), 0)
		if err != nil {
			t.Fatal(err)
		}
		p.Affected = 1
		if p.PostProcessing() {
			t.Error("teachers that promise nothing were revealed")
		}
	}
}

// The certificate's comparison, to the last digit: the function with the largest values that
// pass has a bound of at most the right-hand side rounded down, and of those a little above
// it, some have a bound that is the right-hand side rounded up. They are refused.
func TestCertifyRefusesOneDigitMore(t *testing.T) {
	between := 0
	for _, c := range []struct{ m, eps, delta float64 }{
		{2, 0.1, 0}, {2, 0.1, 1e-5}, {1, 0.35, 0.01}, {3, 1, 1e-5}, {1.5, 0.02, 1e-3}, {2, 0.7, 0.1},
		{1, 1.3, 0}, {2.5, 0.4, 1e-4},
	} {
		p := problem(t, 5, c.m, c.eps, c.delta)
		s, err := constraints.NewSystem(p)
		if err != nil {
			t.Fatal(err)
		}
		upper := func(n int64) (Func, float64) {
			f := Func{[]int64{n, n, n, n, n, n}}
			b, err := s.UpperBound(context.Background(), f.Phi())
			if err != nil {
				t.Fatal(err)
			}
			return f, b.Upper
		}
		low, high := int64(0), One
		for high-low > 1 {
			mid := (low + high) / 2
			if _, u := upper(mid); u <= s.RHS() {
				low = mid
			} else {
				high = mid
			}
		}
		if f, u := upper(low); u > s.RHS() || certifies(p, f) != nil {
			t.Errorf("%+v: a bound of %.17g is refused, the right-hand side is %.17g", p, u, s.RHS())
		}
		for n := high; n < high+16; n++ {
			f, u := upper(n)
			if u == math.Nextafter(s.RHS(), 1) {
				between++
			}
			var v *ViolationError
			if u > s.RHS() && !errors.As(certifies(p, f), &v) {
				t.Errorf("%+v: a bound of %.17g passes, the right-hand side is at least %.17g", p, u, s.RHS())
			}
		}
	}
	if between == 0 {
		t.Error("no bound is the right-hand side rounded up: this tests nothing")
	}
}

func certifies(p constraints.Problem, f Func) error {
	_, err := Certify(context.Background(), p, f)
	return err
}

// The certificate of a function that was shrunk is that of the very function returned: its
// last sweep is of it, and of no other.
func TestShrunkCertificateIsOfTheFunctionReturned(t *testing.T) {
	for _, p := range []constraints.Problem{problem(t, 11, 3, 0.1, 1e-5), problem(t, 11, 3, 0.1, 0),
		problem(t, 8, 2, 1, 1e-2)} {
		for _, c := range []float64{1, 0.5, 1e-3} {
			f, err := Constant(p.K, c)
			if err != nil {
				t.Fatal(err)
			}
			got, err := CertifyShrunk(t.Context(), p, f)
			if err != nil {
				t.Fatal(err)
			}
			want, err := Certify(t.Context(), p, got.Func())
			if err != nil {
				t.Fatalf("%+v, γ = %g: %v", p, c, err)
			}
			if g, w := got.Certificate(), want.Certificate(); !reflect.DeepEqual(g, w) {
				t.Errorf("%+v, γ = %g: certificate %+v, of the function returned %+v", p, c, g, w)
			}
		}
	}
}
