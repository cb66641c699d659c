package sketch

import (
	"context"
	"sync"

	"github.com/darrm/darrm/internal/handle"
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
	l, ok := kept.get(key)
	if !ok {
		if l, err = cfg.monteCarlo(ctx, t, errors); err != nil {
			return law{}, err
		}
		kept.put(key, l)
	}
	if way == BetaClosed {
		l.beta = exact.beta
	}
	return l, nil
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
