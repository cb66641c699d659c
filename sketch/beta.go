package sketch

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"
	"sync"

	"github.com/darrm/darrm/internal/check"
)

// BetaKind says how β is found.
type BetaKind uint8

// The ways to β. Row selection and T = 1 always take their closed form.
const (
	BetaAuto       BetaKind = iota // closed where that is exact, asymptotic from d' = 256, else Monte Carlo
	BetaClosed                     // T = 1; ρ = 1 with full rank taken for granted
	BetaAsymptotic                 // SRHT and linear T: the limit for large d, relative error about 0.05/d, 0.2/d for ρ near 1
	BetaMonteCarlo                 // the mean over draws of matrices
)

// BetaMode is a way to β. The zero value chooses by itself.
type BetaMode struct {
	Kind  BetaKind
	Draws int // of Monte Carlo; 0: 2000, or fewer where the matrices are large
}

// ParseBetaMode reads "auto", "closed", "asymptotic", "mc" or "mc:DRAWS".
func ParseBetaMode(s string) (BetaMode, error) {
	for i, name := range betaNames {
		if s == name {
			return BetaMode{Kind: BetaKind(i)}, nil
		}
	}
	if draws, ok := strings.CutPrefix(s, "mc:"); ok {
		if n, err := strconv.Atoi(draws); err == nil && n >= 1 && n <= maxDraws {
			return BetaMode{BetaMonteCarlo, n}, nil
		}
	}
	return BetaMode{}, &check.Error{Name: "beta", Value: strconv.Quote(s), Rule: fmt.Sprintf("auto, closed, asymptotic, mc or mc:DRAWS with 1 to %d draws", maxDraws)}
}

var betaNames = []string{"auto", "closed", "asymptotic", "mc"}

const maxDraws = 1_000_000

// String is what ParseBetaMode reads.
func (m BetaMode) String() string {
	if m.Draws > 0 {
		return fmt.Sprintf("%s:%d", betaNames[m.Kind], m.Draws)
	}
	return betaNames[m.Kind]
}

func (m BetaMode) check(c Config) error {
	if m.Kind > BetaMonteCarlo {
		return &check.Error{Name: "beta", Value: uint8(m.Kind), Rule: "one of the kinds"}
	}
	if err := check.Whole("draws for beta", m.Draws, 0, maxDraws); err != nil {
		return err
	}
	if m.Draws > 0 && m.Kind != BetaMonteCarlo {
		return &check.Error{Name: "draws for beta", Value: m.Draws, Rule: "0 unless beta is found by Monte Carlo"}
	}
	if c.T.PlugIn { // its ρ is not known yet
		return nil
	}
	_, err := c.way(c.T.of(c.N, 0))
	return err
}

// way is how β is found for T. Two points differ from the plain order of the modes: T = 1 and
// row selection have exact forms that nothing can better; and ρ = 1 is closed from d' = 256 for
// every n, as the expected loss of rank, 0.016 at n = 2, d = 128, falls steeply with d.
func (c Config) way(t linear) (BetaKind, error) {
	kind, d, nk := c.Beta.Kind, c.padded(), c.N*c.K
	if c.Ensemble == RowSelect || t.custom == nil && t.rho == 0 {
		return BetaClosed, nil
	}
	fast := t.custom == nil && c.Ensemble == SRHT
	full := t.custom == nil && t.rho == 1 && c.Ensemble != CountSketch
	switch {
	case kind == BetaClosed && !full:
		return 0, &check.Error{Name: "beta", Value: kind, Rule: "auto, asymptotic or mc: a closed form is known for rho = 0 and rho = 1 only"}
	case kind == BetaAsymptotic && !fast:
		return 0, &check.Error{Name: "beta", Value: kind, Rule: "auto or mc: an asymptotic form is known for SRHT with a linear T only"}
	case kind != BetaAuto:
		return kind, nil
	case full && (c.Ensemble != SRHT || d >= 256 || d >= 64 && (c.N >= 8 || nk <= d/2) || nk > 2*d):
		return BetaClosed, nil
	case fast && t.rho < 1 && d >= 256:
		return BetaAsymptotic, nil
	}
	return BetaMonteCarlo, nil
}

// String is the kind's name.
func (k BetaKind) String() string { return betaNames[k] }

// law is what the errors of an estimator depend on besides the data: with ρ* = R/(n-1),
//
//	MSE = (Q/n²) (none + ρ* (full - none)).
type law struct {
	beta float64
	none float64 // at R = 0
	full float64 // at R = n-1
}

// fromSlope is the law of a linear T of orthonormal rows: β(ρ) is concave, and the error is
// its tangent at ρ, β + (ρ*-ρ) β' - 1 - R.
func fromSlope(n int, rho, beta, slope float64) law {
	return law{beta, beta - rho*slope - 1, beta + (1-rho)*slope - float64(n)}
}

// Beta returns β for all N clients. Monte Carlo takes up to some seconds the first time; the
// result is kept for the process. With a plug-in ρ it is that of ρ = 0.
func (c *Codec) Beta(ctx context.Context) (float64, error) {
	l, err := c.law(ctx, c.config.N, c.config.T.of(c.config.N, 0), false)
	return l.beta, err
}

// law returns the law for n clients and T. Errors are left out, that is 0, unless they are
// asked for, as they can cost more than β.
func (c *Codec) law(ctx context.Context, n int, t linear, errors bool) (law, error) {
	cfg := c.config
	cfg.N = n
	way, err := cfg.way(t)
	if err != nil {
		return law{}, err
	}
	switch way {
	case BetaClosed:
		l, err := cfg.closed(t)
		if err != nil || !errors || cfg.Ensemble.orthonormal() || t.custom == nil && t.rho == 0 {
			return l, err
		}
		closed := l.beta // of a Gaussian ensemble at full rank, whose errors have no closed form
		if l, err = cfg.monteCarlo(ctx, t, true); err == nil {
			l.beta = closed
		}
		return l, err
	case BetaAsymptotic:
		beta, slope := asymptotic(n, cfg.K, cfg.padded(), t.rho)
		return fromSlope(n, t.rho, beta, slope), nil
	}
	key := lawKey{cfg.Ensemble, n, cfg.K, cfg.padded(), t.rho, cfg.draws(), cfg.Root, errors}
	kept := &shared
	if t.custom != nil { // known to this codec only: functions have no names
		kept = &c.kept
	}
	if l, ok := kept.get(key); ok {
		return l, nil
	}
	l, err := cfg.monteCarlo(ctx, t, errors)
	if err == nil {
		kept.put(key, l)
	}
	return l, err
}

// A law by Monte Carlo is kept in memory only. It takes seconds at most, and a file of laws
// would have to be trusted: a wrong β makes estimates wrong and nothing shows it.
type lawKey struct {
	ensemble Ensemble
	n, k, d  int
	rho      float64
	draws    int
	root     uint64
	errors   bool
}

type laws struct {
	mu sync.Mutex
	m  map[lawKey]law
}

var shared laws

func (l *laws) get(k lawKey) (law, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	v, ok := l.m[k]
	return v, ok
}

func (l *laws) put(k lawKey, v law) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.m == nil || len(l.m) >= 1<<16 {
		l.m = map[lawKey]law{}
	}
	l.m[k] = v
}

// closed is the law of row selection, of T = 1, and of ρ = 1 at full rank.
func (c Config) closed(t linear) (law, error) {
	n, k, d := float64(c.N), float64(c.K), float64(c.padded())
	switch {
	case c.Ensemble == RowSelect:
		return c.binomial(t)
	case t.rho == 0:
		e := d/k - 1
		switch c.Ensemble {
		case Gaussian:
			e = (d + 1) / k
		case GaussianRowNorm, CountSketch:
			e = (d - 1) / k
		}
		return law{1 / c.meanSquare(), e, e}, nil
	case n*k <= d:
		// The expected sum of 1/λ has d - nk in its denominator for large d. With one less it is
		// within 3 % in simulations where the two differ.
		free := d - n*k - 1
		none := math.Inf(1)
		if free > 0 {
			none = d/k*(d-k)/free - 1
		}
		if c.N == 1 {
			none = d/k - 1
		}
		return law{d / k, none, d/k - n}, nil
	}
	return fromSlope(c.N, 1, n, n-(n-1)/(n*k/d-1)), nil
}

// binomial is the law of Rand-k-Spatial, exact for every T: with p = k/d and B_m ~ Bin(m, p),
//
//	β = 1/(p E 1/T(1+B_{n-1})),  α = β² p E T(1+B_{n-1})⁻²,  γ = β² p² E T(2+B_{n-2})⁻²,
//	MSE = (Q/n²) (α - 1 + (γ-1) R).
func (c Config) binomial(t linear) (law, error) {
	n, p := c.N, float64(c.K)/float64(c.D)
	mean := func(m, from int, power float64) (float64, error) {
		sum := 0.0
		for b := range m + 1 {
			weight := binomialWeight(m, b, p)
			if weight == 0 {
				continue
			}
			v, err := t.at(float64(from + b))
			if err != nil {
				return 0, err
			}
			sum += weight * math.Pow(v, -power)
		}
		return sum, nil
	}
	first, err := mean(n-1, 1, 1)
	if err != nil {
		return law{}, err
	}
	beta := 1 / (p * first)
	second, err := mean(n-1, 1, 2)
	if err != nil {
		return law{}, err
	}
	alpha := beta * beta * p * second
	l := law{beta, alpha - 1, alpha - 1}
	if n > 1 {
		cross, err := mean(n-2, 2, 2)
		if err != nil {
			return law{}, err
		}
		l.full = alpha + float64(n-1)*beta*beta*p*p*cross - float64(n)
	}
	return l, nil
}

// binomialWeight is Pr[Bin(m, p) = b], by logarithms, so that large m do not overflow.
func binomialWeight(m, b int, p float64) float64 {
	if p == 1 {
		if b == m {
			return 1
		}
		return 0
	}
	lg := func(x int) float64 { v, _ := math.Lgamma(float64(x + 1)); return v }
	return math.Exp(lg(m) - lg(b) - lg(m-b) + float64(b)*math.Log(p) + float64(m-b)*math.Log1p(-p))
}
