package solve

import "context"

// For many teachers the relaxation's optimum is a bad place to look at: most counts have weights that
// no solver sees, γ is anywhere there, and each round repairs one of its faults. A point between it
// and a private function is broken by fewer constraints, and by those that bind near the optimum
// (Ben-Ameur and Neto 2007, in-out separation). Where nothing is broken there, it takes the private
// function's place. The loop may end at such a point, as soon as the bound shows that it is optimal.

// halvings is how often a round goes half of the way that is left towards the relaxation's optimum.
const halvings = 3

// start returns a private function from which the searches begin: the best certified one of the shape.
// Where none is allowed there is none.
func (pr *program) start() (best []float64) {
	if !pr.many() {
		return nil
	}
	for _, c := range pr.private {
		f := c.Func()
		if !pr.allows(f) {
			continue
		}
		if free := f.Values()[:pr.n]; best == nil || pr.errorOf(free) < pr.errorOf(best) {
			best = free
		}
	}
	return best
}

// separateBetween is separate, at points between inner and free first. What it adds is broken by
// free, so that every round cuts it off, wherever inner is. Few rows are broken at both places: where
// the program may be large, those that the first search finds at free itself go with them, and half of
// the rounds are enough.
func (pr *program) separateBetween(ctx context.Context, free []float64) (float64, error) {
	if pr.inner == nil || pr.stalled >= pr.maxStalled() {
		return pr.separate(ctx, free)
	}
	lows := pr.lowsInUse()
	for range halvings {
		between := make([]float64, pr.n)
		for l, x := range free {
			between[l] = (pr.inner[l] + x) / 2 // rounding keeps the order: it is monotone if both are
		}
		found, err := pr.firstOrder(ctx, phi(pr.system.Problem().K, between), lows)
		if err != nil {
			return 0, err
		}
		worst, err := pr.addSpread(found, free)
		if err != nil {
			return 0, err
		}
		if worst > 0 {
			if !pr.fitsCache() {
				return worst, nil
			}
			if found, err = pr.firstOrder(ctx, phi(pr.system.Problem().K, free), lows); err != nil {
				return 0, err
			}
			more, err := pr.addSpread(found, free)
			return max(worst, more), err
		}
		if len(found) > 0 {
			break
		}
		pr.inner = between
	}
	return pr.separate(ctx, free)
}

// within returns inner if no function is better by more than near and no constraint is broken there.
// Otherwise inner is nil, and the violation is that of the rows that were added.
func (pr *program) within(ctx context.Context) (inner []float64, violation float64, err error) {
	if pr.inner == nil {
		return nil, 0, nil
	}
	pr.retract()
	if pr.errorOf(pr.inner) > pr.lastError+pr.near*pr.worth {
		return nil, 0, nil
	}
	violation, err = pr.separate(ctx, pr.inner)
	if violation == 0 && err == nil {
		return pr.inner, 0, nil
	}
	return nil, violation, err
}

// retract moves inner towards outset until it breaks none of the rows: some are newer than inner. Where
// outset is γ ≡ 0, from which every constraint is far, that costs little.
func (pr *program) retract() {
	share := 1.0
	for _, r := range pr.rows {
		if at := pr.slack(r, pr.inner); at < -pr.tolerance {
			room := max(0, pr.slack(r, pr.outset))
			share = min(share, room/(room-at))
		}
	}
	if share == 1 {
		return
	}
	inner := make([]float64, pr.n)
	for l, x := range pr.outset {
		inner[l] = float64((1-share)*x) + float64(share*pr.inner[l])
	}
	pr.inner = inner
}
