package gamma

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/darrm/darrm/constraints"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/poissonbinom"
)

// Subsampling returns the noise function of releasing the majority of m of the K
// answers drawn without replacement (ties broken by a fair coin):
//
//	γ(l) = Pr[J < m/2] - Pr[J > m/2],   l < K/2,   J ~ Hypergeometric(K, l, m)
//
// 1 ≤ m ≤ K. By m-fold composition it is (mε, 1-(1-Δ)^m)-DP. Even m equals m-1.
// Source: Jiang (2025), Lemma 3.4.1.
func Subsampling(k, m int) (Func, error) {
	if err := check.Teachers(k); err != nil {
		return Func{}, err
	}
	if m < 1 || m > k {
		return Func{}, check.Wantf("subsample size", m, "between 1 and K = %d", k)
	}
	free := make([]float64, (k+1)/2)
	for l := range free {
		// The upper tail is the small one for l < K/2: 1 - 2·tail - tie keeps
		// γ at exactly 1 where the minority cannot win.
		h := poissonbinom.Hypergeometric(k, l, m)
		tail := 0.0
		for j := len(h) - 1; 2*j > m; j-- {
			tail += h[j]
		}
		tie := 0.0
		if m%2 == 0 {
			tie = h[m/2]
		}
		free[l] = 1 - 2*tail - tie // at least 1/K: far above the rounding errors
	}
	return FromFree(k, free)
}

// DoubleSubsampling returns the noise function of subsampling 2m-1 answers, and
// γ ≡ 1 where 2m-1 ≥ K. 1 ≤ m.
//
// It is mε-DP for teachers with identical output laws, Δ = δ = 0 (Jiang 2025,
// Theorem 3.5.1), and for no others: certify it before use like any γ.
func DoubleSubsampling(k, m int) (Func, error) {
	if m < 1 {
		return Func{}, check.Want("privacy allowance m", m, "at least 1")
	}
	if 2*m-1 >= k {
		return Constant(k, 1)
	}
	return Subsampling(k, 2*m-1)
}

// RandomizedResponse returns the constant noise function of the classical
// baseline: randomised response on the majority, which is (τε, λ)-DP without noise.
//
//	p_const = (E-1+2δ) / (2(e^{τε} - E + (1+E)λ)/(e^{τε}+1) + E - 1),  E = e^{mε}
//
// clipped to [0,1]. tau ≥ 0 and lambda in [0,1] describe the composition of the t
// teachers that one record reaches; simple composition gives τ = t, λ = tΔ. Source: Jiang (2025),
// Section 3.4 and Appendix B.
func RandomizedResponse(p constraints.Problem, tau, lambda float64) (Func, error) {
	if err := p.Validate(); err != nil {
		return Func{}, err
	}
	if err := cmp.Or(check.Epsilon("tau", tau), check.Probability("lambda", lambda)); err != nil {
		return Func{}, err
	}
	// Numerator and denominator are divided by E, and the fraction within by
	// e^{τε}, so that nothing overflows. With h = 1/E and g = e^{-τε} it becomes
	// (h - g + (1+h)gλ)/(1+g). Plain math.Exp will do: whoever uses the result
	// certifies it.
	total, _ := p.Total()
	h, g := math.Exp(-total), math.Exp(-tau*p.Epsilon)
	numerator := 1 - h + 2*p.Delta*h
	denominator := 2*(h-g+(1+h)*g*lambda)/(1+g) + 1 - h
	c := 1.0
	if denominator > numerator {
		c = max(0, numerator/denominator)
	}
	return Constant(p.K, c)
}

// Named is a certified noise function under a name: a baseline that the optimum is compared
// with, or any other candidate of a comparison. It is a mechanism by itself.
type Named struct {
	Name      string // of a baseline, BaselineKind's
	Certified *Certified
	Drawn     int // of a baseline that draws teachers: the majority of how many answers
}

// Key returns the name as files have it, whose field names have no hyphen.
func (n Named) Key() string { return strings.ReplaceAll(n.Name, "-", "_") }

// Title returns the name with its parameter, for people.
func (n Named) Title() string {
	if n.Drawn == 0 {
		return n.Name
	}
	return fmt.Sprintf("%s, %d of %d", n.Name, n.Drawn, n.Certified.Problem().K)
}

// BaselineKind is a noise function that people would otherwise use.
type BaselineKind struct {
	Name  string // stable, everywhere: in files, tables and ledgers
	About string // what it is, for people
	// make returns the noise function of the kind's own formula for p, and Named.Drawn. It fails if p
	// has no such function.
	make func(b BaselineKind, p constraints.Problem) (Func, int, error)
	// multiple states that the kind is the largest private multiple of make's function. The other
	// kinds are make's function itself, if that is private.
	multiple bool
}

// baselineKinds is the one list of them.
var baselineKinds = []BaselineKind{
	{Name: "randomised-response", About: "randomised response on the majority, by its formula",
		make: func(b BaselineKind, p constraints.Problem) (Func, int, error) {
			f, err := RandomizedResponse(p, float64(p.Affected), min(1, float64(p.Affected)*p.TeacherDelta))
			return f, 0, err
		}},
	{Name: "randomised-response-tight", About: "randomised response on the majority, as little as is private",
		multiple: true,
		make: func(b BaselineKind, p constraints.Problem) (Func, int, error) {
			f, err := Constant(p.K, 1)
			return f, 0, err
		}},
	{Name: "subsampling", About: "the majority of ⌊m⌋ teachers drawn at random",
		make: func(b BaselineKind, p constraints.Problem) (Func, int, error) {
			m, err := b.answers(p)
			if err != nil {
				return Func{}, 0, err
			}
			f, err := Subsampling(p.K, m)
			return f, m, err
		}},
	{Name: "double-subsampling", About: "the majority of 2⌊m⌋-1 teachers drawn at random",
		make: func(b BaselineKind, p constraints.Problem) (Func, int, error) {
			m, err := b.answers(p)
			if err != nil {
				return Func{}, 0, err
			}
			f, err := DoubleSubsampling(p.K, m)
			return f, min(2*m-1, p.K), err
		}},
}

// BaselineKinds returns the baselines in the order in which they are shown:
//
//	randomised-response        p_const under simple composition of the teachers reached
//	randomised-response-tight  the largest constant that satisfies every constraint
//	subsampling                ⌊m⌋ of the K answers (where m ≥ 1)
//	double-subsampling         2⌊m⌋-1 answers (where m ≥ 1)
func BaselineKinds() []BaselineKind { return slices.Clone(baselineKinds) }

// answers is ⌊m⌋, at most K: how many teachers' answers the promise of p pays for.
func (b BaselineKind) answers(p constraints.Problem) (int, error) {
	m := p.Allowance()
	if m >= 1 {
		return int(min(math.Floor(m), float64(p.K))), nil
	}
	if math.IsInf(p.Epsilon, 1) {
		return 0, check.Want("epsilon", "inf", "finite: "+b.Name+
			" hides nothing of teachers that promise nothing")
	}
	return 0, check.Want("privacy allowance m", m, "at least 1: "+b.Name+
		" needs at least one teacher's epsilon")
}

// Applies returns nil, or why p has no such function: subsampling costs at least what one
// teacher promises. The error is a *constraints.ParameterError.
func (b BaselineKind) Applies(p constraints.Problem) error {
	if err := p.Validate(); err != nil {
		return err
	}
	_, _, err := b.make(b, p)
	return err
}

// roundingShare is the largest share of γ that a certificate may take off for rounding errors.
// Beyond it the function counts as another one.
const roundingShare = 1e-6

// Certify returns the kind's noise function for p, certified: the function that its formula
// gives, less what rounding errors need, at most a millionth of it. The errors are a
// *ViolationError where that is not private for p (double subsampling has a proof for
// teachers of one law only, and subsampling one for δ ≥ 1-(1-Δ)^m), those of Applies, and
// ctx.Err(). Cost: two certificates.
func (b BaselineKind) Certify(ctx context.Context, p constraints.Problem) (Named, error) {
	if err := b.Applies(p); err != nil {
		return Named{}, err
	}
	s, err := constraints.NewSystem(p)
	if err != nil {
		return Named{}, err
	}
	out, err := b.shrunk(ctx, s)
	if err != nil || b.multiple {
		return out, err
	}
	f, _, err := b.make(b, p)
	if err != nil {
		return Named{}, err
	}
	for l := 0; 2*l < p.K; l++ {
		if out.Certified.fn.At(l) < f.At(l)*(1-roundingShare) {
			_, _, err = certify(ctx, s, f)
			return Named{}, fmt.Errorf("%s: %w", out.Title(), err)
		}
	}
	return out, nil
}

// shrunk returns the largest private multiple of the kind's function.
func (b BaselineKind) shrunk(ctx context.Context, s *constraints.System) (Named, error) {
	f, drawn, err := b.make(b, s.Problem())
	if err != nil {
		return Named{}, err
	}
	certified, err := CertifyLargest(ctx, s, f)
	if err != nil {
		return Named{}, fmt.Errorf("baseline %s: %w", b.Name, err)
	}
	return Named{b.Name, certified, drawn}, nil
}

// Baselines returns the BaselineKinds that apply to p, each certified, and scaled down
// where its own formula is not private for p. Cost: a few certificates.
func Baselines(ctx context.Context, p constraints.Problem) ([]Named, error) {
	s, err := constraints.NewSystem(p)
	if err != nil {
		return nil, err
	}
	return SystemBaselines(ctx, s)
}

// SystemBaselines is Baselines where p's System is at hand.
func SystemBaselines(ctx context.Context, s *constraints.System) ([]Named, error) {
	var out []Named
	for _, kind := range baselineKinds {
		if kind.Applies(s.Problem()) != nil {
			continue
		}
		b, err := kind.shrunk(ctx, s)
		if err != nil {
			return nil, err
		}
		out = append(out, b)
	}
	return out, nil
}
