package solve

import (
	"context"

	"github.com/darrm/darrm/gamma"
	"github.com/darrm/darrm/poissonbinom"
)

// For many teachers half of them come first: their problem takes an eighth of the time or less, and its
// optimum is a private function for all of them that is nearly optimal. K' of the K teachers are drawn
// without replacement, and the mechanism for K' answers:
//
//	φ(l) = Σ_j H(j; K, l, K')·φ'(j),   H the hypergeometric law
//
// Whichever are drawn, at most min(t, K') of them are affected, so that the answer keeps the promise; and
// a mixture keeps it whose weights depend on no data. φ' that do not fall give φ that do not fall, and
// γ' ≥ 0 gives γ ≥ 0. That is the reason to expect a good function and no proof: it is certified as any.
//
// The searches begin there (between.go), and where the work ends early it is what there is.

// halfOfWork is the part of a solve's work that the problem of half of the teachers may take.
const halfOfWork = 4

// startFromHalf solves the problem of half of the teachers, and begins at its optimum where that is better
// than the baselines. Where that problem has no table, nothing changes. The worst case gains nothing: γ
// beside the middle decides there, and a draw makes it small. Shape by-name begins without.
func (pr *program) startFromHalf(ctx context.Context) {
	if !pr.many() || pr.o.WorstCase || pr.o.Shape == gamma.ByName {
		return
	}
	p, o := pr.system.Problem(), pr.o
	k := p.K
	p.K = (k + 1) / 2
	p.Affected = min(p.Affected, p.K)
	o.Counts = thinned(o.Counts, p.K)
	o.Work = max(1, o.Work/halfOfWork)
	o.BestOnCancel, o.near = false, nearHalf
	if o.Progress != nil {
		o.Progress = func(half Progress) {
			half.Error, half.Share = 0, half.Share/halfOfWork // its bound is no bound here
			pr.far.share = max(pr.far.share, half.Share)
			pr.round = half.Round
			pr.o.Progress(half)
		}
	}
	table, work, err := optimum(ctx, p, o)
	pr.spend(work)
	if err != nil {
		return
	}
	f, err := gamma.FromFree(k, drawn(table.Func(), k))
	if err != nil {
		return
	}
	certified, err := gamma.CertifyLargest(ctx, pr.system, f)
	if err != nil {
		return
	}
	pr.private = append(pr.private, certified)
	pr.inner = pr.start()
}

// drawn returns γ's free values for k teachers of whom f.K() are drawn, whose mechanism is f.
func drawn(f gamma.Func, k int) []float64 {
	phi := f.Phi()
	free := make([]float64, (k+1)/2)
	for l := range free {
		sum := 0.0
		for j, pr := range poissonbinom.Hypergeometric(k, l, f.K()) {
			sum -= float64(pr * phi[j])
		}
		free[l] = max(-1, min(1, sum))
		if f.Truthful() {
			free[l] = max(0, free[l])
		}
		if l > 0 && f.Monotone() { // but for rounding it does not rise
			free[l] = min(free[l], free[l-1])
		}
	}
	return free
}

// thinned returns how often so many teachers drawn have each number of votes, where counts says it of
// all; nil for nil.
func thinned(counts []float64, k int) []float64 {
	if counts == nil {
		return nil
	}
	out := make([]float64, k+1)
	for l, c := range counts {
		if c == 0 {
			continue
		}
		for j, pr := range poissonbinom.Hypergeometric(len(counts)-1, l, k) {
			out[j] += float64(c * pr)
		}
	}
	return out
}
