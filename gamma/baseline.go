package gamma

import (
	"context"
	"fmt"
	"math"

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
// Source: Jiang (2024), Lemma 3.4.1.
func Subsampling(k, m int) (Func, error) {
	if err := check.Teachers(k); err != nil {
		return Func{}, err
	}
	if m < 1 || m > k {
		return Func{}, &constraints.ParameterError{Name: "subsample size", Value: m, Rule: fmt.Sprintf("between 1 and K = %d", k)}
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
		free[l] = min(1, max(0, 1-2*tail-tie))
	}
	return FromFree(k, free)
}

// DoubleSubsampling returns the noise function of subsampling 2m-1 answers, and
// γ ≡ 1 where 2m-1 ≥ K. 1 ≤ m.
//
// It is mε-DP for teachers with identical output laws, Δ = δ = 0 (Jiang 2024,
// Theorem 3.5.1), and for no others: certify it before use like any γ.
func DoubleSubsampling(k, m int) (Func, error) {
	if m < 1 {
		return Func{}, &constraints.ParameterError{Name: "privacy allowance m", Value: m, Rule: "at least 1"}
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
// teachers that one record reaches; simple composition gives τ = t, λ = tΔ. Source: Jiang (2024),
// Section 3.4 and Appendix B.
func RandomizedResponse(p constraints.Problem, tau, lambda float64) (Func, error) {
	if err := p.Validate(); err != nil {
		return Func{}, err
	}
	if err := check.Epsilon("tau", tau); err != nil {
		return Func{}, err
	}
	if err := check.Probability("lambda", lambda); err != nil {
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

// Baseline is a certified noise function that the optimum is compared with.
type Baseline struct {
	Name      string // stable, used in JSON
	Title     string // for people
	Certified *Certified
}

// Baselines returns the noise functions people would otherwise use under the
// promise of p, each certified (shrunk where its own proof does not cover p):
//
//	randomized_response        p_const under simple composition of the teachers reached
//	randomized_response_tight  the largest constant that satisfies every constraint
//	subsampling                ⌊m⌋ of the K answers (where m ≥ 1)
//	double_subsampling         2⌊m⌋-1 answers, scaled down where it would not be private
//	                           for teachers that differ (where m ≥ 1)
//
// Cost: a few certificates.
func Baselines(ctx context.Context, p constraints.Problem) ([]Baseline, error) {
	response, err := RandomizedResponse(p, float64(p.Affected), min(1, float64(p.Affected)*p.TeacherDelta))
	if err != nil {
		return nil, err
	}
	sure, err := Constant(p.K, 1)
	if err != nil {
		return nil, err
	}
	type candidate struct {
		name, title string
		f           Func
	}
	candidates := []candidate{
		{"randomized_response", "randomised response", response},
		{"randomized_response_tight", "randomised response, tight", sure},
	}
	if m := int(min(math.Floor(p.Allowance()), float64(p.K))); m >= 1 {
		sub, err := Subsampling(p.K, m)
		if err != nil {
			return nil, err
		}
		double, err := DoubleSubsampling(p.K, m)
		if err != nil {
			return nil, err
		}
		candidates = append(candidates,
			candidate{"subsampling", fmt.Sprintf("subsampling %d of %d", m, p.K), sub},
			candidate{"double_subsampling", fmt.Sprintf("double subsampling, %d of %d", min(2*m-1, p.K), p.K), double})
	}
	var out []Baseline
	for _, c := range candidates {
		certified, err := CertifyShrunk(ctx, p, c.f)
		if err != nil {
			return nil, fmt.Errorf("baseline %s: %w", c.name, err)
		}
		out = append(out, Baseline{c.name, c.title, certified})
	}
	return out, nil
}
