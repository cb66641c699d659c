package sketch

import (
	"context"
	"math"

	"github.com/darrm/darrm/internal/handle"
	"github.com/darrm/darrm/internal/memo"
)

// Beta returns β for all N clients. Monte Carlo takes up to some seconds the first time, a
// minute for a custom T and nk = 1000; the result is kept for the process. With a plug-in ρ
// it is that of ρ = 0.
func (c *Codec) Beta(ctx context.Context) (float64, error) {
	c = handle.Made(c)
	l, err := c.law(ctx, c.config.N, c.config.T.of(c.config.N, 0), false)
	return l.beta, err
}

// law returns the law for n clients and T. Its errors can cost more to compute than β, and
// are 0 unless they are asked for.
func (c *Codec) law(ctx context.Context, n int, t linear, errors bool) (law, error) {
	cfg := c.config
	cfg.N = n
	way, err := cfg.way(t)
	if err != nil {
		return law{}, err
	}
	var exact law
	switch way {
	case BetaAsymptotic:
		beta, slope := asymptotic(n, cfg.K, cfg.padded(), t.rho)
		return fromSlope(n, t.rho, beta, slope), nil
	case BetaClosed:
		exact, err = cfg.closed(t)
		if err != nil || !errors || cfg.Ensemble.orthonormal() || t.rho == 0 {
			return exact, err
		} // else a Gaussian ensemble at full rank, whose errors have no closed form
	}
	key := lawKey{cfg.Ensemble, n, cfg.K, cfg.padded(), t.rho, cfg.draws(t), cfg.Root, errors}
	kept := &shared
	if t.custom != nil { // known to this codec only: functions have no names
		kept = &c.kept
	}
	l, err := kept.Get(key, func() (law, error) { return cfg.monteCarlo(ctx, t, errors) })
	if way == BetaClosed {
		l.beta = exact.beta
	}
	return l, err
}

// A law by Monte Carlo is kept in memory only. For linear T it takes some seconds at most, a
// custom T has no name to be kept under, and a file of laws would have to be trusted: a wrong β
// makes estimates wrong and nothing shows it.
type lawKey struct {
	ensemble Ensemble
	n, k, d  int
	rho      float64
	draws    int
	root     uint64
	errors   bool
}

type laws = memo.Of[lawKey, law]

var shared = laws{Most: 1 << 16}

// asymptotic is the law of SRHT and Haar for large d and a linear T with ρ in (-1/(n-1), 1].
// With t = k/d,
// ψ(ρ) is the limit of (1/d) E Σ λ/T(λ), from the Stieltjes transform g of the spectrum of a sum of
// n free projections of rank t at z0 = -(1-ρ)/ρ. β = n/ψ and β' = -nψ'/ψ².
func asymptotic(n, k, d int, rho float64) (beta, slope float64) {
	m, t := float64(n), float64(k)/float64(d)
	if rho == 1 {
		if m*t <= 1 {
			return 1 / t, -(m - 1) / (1 - m*t)
		}
		return m, m - (m-1)/(m*t-1)
	}
	if math.Abs(rho)*(1+m*t) < 1e-5 { // the formulas below lose digits to cancellation here
		return m / (m*t - rho*m*(m-1)*t*t), m - 1
	}
	z := -(1 - rho) / rho
	a := z * (m - z)
	b := t*m*m - m - (m-2)*z
	c := m - 1
	root := math.Copysign(math.Sqrt(b*b-4*a*c), rho)
	g := (-b + root) / (2 * a)
	if rho > 0 && b > 0 {
		g = 2 * c / (-b - root)
	}
	psi := (1 + (1-rho)/rho*g) / rho
	dg := -((m-2*z)*g - (m - 2)) * g / (2*a*g + b)
	dpsi := -((g+z*dg)/(rho*rho) + psi) / rho
	return m / psi, -m * dpsi / (psi * psi)
}
