package sketch

import (
	"fmt"
	"math"

	"github.com/darrm/darrm/internal/check"
)

// Transform is T, the decoder's function of the eigenvalues of S. Its zero value is T = 1.
type Transform struct {
	// Rho is ρ in T(λ) = 1 + ρ(λ-1), in (-1/(n-1), 1]. It stays as it is when clients drop out.
	Rho float64
	// Avg takes ρ = RhoAvg(n') of the n' clients that answered, in place of Rho.
	Avg bool
	// PlugIn takes ρ from the messages: R estimated without bias, R/(n'-1) rounded to
	// hundredths and held within [0, 0.95]. The same messages choose ρ and are decoded, so the
	// estimate is not exactly unbiased (a scale of 0.95 to 1.01 was measured).
	PlugIn bool
	// Custom is any T; nil for the others. It must be positive and finite for 0 < λ ≤ n, and
	// return the same each time.
	Custom func(lambda float64) float64 `json:"-"`
}

// RhoAvg is n/(2(n-1)) and 0 for one client: "half way" between no and full correlation, as
// the source has it. It is 1 for two clients.
func RhoAvg(n int) float64 {
	if n < 2 {
		return 0
	}
	return float64(n) / (2 * float64(n-1))
}

// RhoOpt is R/(n-1), the ρ of least error for vectors with correlation R, and 0 for one
// client. R is taken as at least -1 + 10⁻⁶, since T must be positive, and at most n-1.
func RhoOpt(n int, r float64) float64 {
	if n < 2 {
		return 0
	}
	return min(max(r, -1+1e-6)/float64(n-1), 1)
}

func (t Transform) check(n int) error {
	ways := 0
	for _, set := range []bool{t.Rho != 0, t.Avg, t.PlugIn, t.Custom != nil} {
		if set {
			ways++
		}
	}
	if ways > 1 {
		return check.Want("transform", fmt.Sprintf("%d of Rho, Avg, PlugIn and Custom", ways),
			"given by at most one of them")
	}
	low := math.Inf(-1)
	if n > 1 {
		low = -1 / float64(n-1)
	}
	if !(t.Rho > low && t.Rho <= 1) {
		return check.Wantf("rho", t.Rho, "in (%g, 1] for %d clients", low, n)
	}
	return nil
}

// linear is a T with a known ρ, or any other T.
type linear struct {
	rho    float64
	custom func(float64) float64
}

// of resolves T for n clients; r is the plug-in's estimate of the correlation.
func (t Transform) of(n int, r float64) linear {
	switch {
	case t.Custom != nil:
		return linear{custom: t.Custom}
	case n < 2:
		return linear{}
	case t.Avg:
		return linear{rho: RhoAvg(n)}
	case t.PlugIn:
		rho := min(max(r/float64(n-1), 0), 0.95)
		// far below the estimate's noise, and β need not be found for every value
		return linear{rho: math.Round(100*rho) / 100}
	}
	return linear{rho: t.Rho}
}

// at is T(λ) for λ > 0.
func (t linear) at(lambda float64) (float64, error) {
	if t.custom == nil {
		return 1 - t.rho + t.rho*lambda, nil
	}
	v := t.custom(lambda)
	if !(v > 0) || math.IsInf(v, 1) {
		return 0, check.Want(fmt.Sprintf("T(%g)", lambda), v, "positive and finite")
	}
	return v, nil
}
