package sketch

import (
	"context"
	"sync"
)

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
