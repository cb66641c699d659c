package shuffled

import (
	"cmp"
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/randsrc/stream"
	"github.com/darrm/darrm/internal/vec"
	"github.com/darrm/darrm/learn/data"
	"github.com/darrm/darrm/learn/loss"
	"github.com/darrm/darrm/learn/shuffled/iteration"
	"github.com/darrm/darrm/learn/train"
)

// Dissimilarity measures how far gradients of public data differ from those of private data, for
// n_d private steps in an epoch:
//
//	C_i ≥ max_π ‖Σ_{j=n_d+1..i} (∇f(x; d_{π_j}) - ∇f(x; p_{j-n_d}))‖,   i = n_d+1..n,
//
// at the iterates x that the analysis meets; here at probe points, so it is an estimate,
// and a lower one where a maximum over permutations is searched for. It compares sums in
// visiting order: with P a permutation of D and n_d = 0, C_n is 0. More private steps do
// not always make C_n smaller, though the source calls that obvious.
//
// Source: Section 6 and Assumption 3.6 of the source.
type Dissimilarity struct {
	Private int       // n_d
	Mean    []float64 // over permutations, at index i-n_d-1: what RR meets on average
	Max     []float64 // the largest found
	Cn      float64   // Max at i = n; exact for n_d = 0
	Exact   bool      // every permutation was tried
}

// DissimilarityOptions sets the effort of the search, whose cost is len(Probes)·Permutations·n·d.
type DissimilarityOptions struct {
	Probes       [][]float64 // points x; nil is {0}. For mean estimation one is enough, x cancels
	Permutations int         // random ones for Mean; 0 is 20
	Restarts     int         // of the search for each maximum; 0 is 3
	Seed         uint64
	Clip         float64 // 0 takes gradients as they are
}

// enumerable is up to which n every permutation is tried.
const enumerable = 8

// EstimateDissimilarity returns the constants of public against private data for n_d
// private steps. Of public the first n-n_d records are used.
func EstimateDissimilarity(ctx context.Context, task loss.Loss, private, public *data.Records,
	privateSteps int, o DissimilarityOptions) (Dissimilarity, error) {
	n, nd := private.Len(), privateSteps
	if nd < 0 || nd >= n {
		return Dissimilarity{}, check.Wantf("private steps", nd, "between 0 and n-1 = %d", n-1)
	}
	if public.Dim() != private.Dim() {
		return Dissimilarity{}, check.Wantf("dimension of public records", public.Dim(),
			"the private ones', %d", private.Dim())
	}
	if public.Len() < n-nd {
		return Dissimilarity{}, check.Wantf("number of public records", public.Len(), "at least %d", n-nd)
	}
	if o.Probes == nil {
		o.Probes = [][]float64{make([]float64, private.Dim())}
	}
	o.Permutations = cmp.Or(o.Permutations, 20)
	o.Restarts = cmp.Or(o.Restarts, 3)
	r := Dissimilarity{Private: nd, Mean: make([]float64, n-nd), Max: make([]float64, n-nd),
		Exact: n <= enumerable}
	rng := stream.Seeded(o.Seed).Stream("dissimilarity", 0)
	perm := make([]int, n)
	for _, x := range o.Probes {
		if len(x) != private.Dim() {
			return Dissimilarity{}, check.Wantf("dimension of a probe", len(x), "the data's, %d",
				private.Dim())
		}
		g := gradients(task, private, n, x, o.Clip)
		h := gradients(task, public, n-nd, x, o.Clip)
		mean := make([]float64, n-nd)
		count := 0
		visit := func(perm []int) {
			prefixes(g, h, perm[nd:], func(i int, v float64) {
				mean[i] += v
				r.Max[i] = max(r.Max[i], v)
			})
			count++
		}
		identity(perm)
		if r.Exact {
			permutations(perm, 0, visit)
		} else {
			for range o.Permutations {
				if err := ctx.Err(); err != nil {
					return Dissimilarity{}, err
				}
				stream.Shuffle(rng, perm)
				visit(perm)
			}
			sum := make([]float64, private.Dim())
			for i := range h { // s = Σ_{j≤m} h_j, m = i+1
				if err := ctx.Err(); err != nil {
					return Dissimilarity{}, err
				}
				floats.AddScaled(sum, 1, h[i])
				r.Max[i] = max(r.Max[i], largestSubsetGap(g, sum, i+1, o.Restarts, rng, perm))
			}
		}
		for i := range mean {
			r.Mean[i] = max(r.Mean[i], mean[i]/float64(count))
		}
	}
	r.Cn = r.Max[n-nd-1]
	return r, nil
}

// MeanSquare returns (1/n)·Σ_{i=n_d+1..n-1} C_i², which bounds use; n is the number of
// private records.
func (r Dissimilarity) MeanSquare(n int) float64 {
	s := 0.0
	for _, c := range r.Max[:max(0, len(r.Max)-1)] {
		s += c * c
	}
	return s / float64(n)
}

func gradients(task loss.Loss, r *data.Records, n int, x []float64, clip float64) [][]float64 {
	g := make([][]float64, n)
	flat := make([]float64, n*r.Dim())
	for i := range g {
		g[i] = flat[i*r.Dim() : (i+1)*r.Dim()]
		task.Gradient(g[i], x, r.Row(i), r.Response(i))
		if clip > 0 {
			vec.Clip(g[i], clip)
		}
	}
	return g
}

// prefixes calls f with ‖Σ_{j≤i} (g_{order_j} - h_j)‖ for every i.
func prefixes(g, h [][]float64, order []int, f func(i int, v float64)) {
	sum := make([]float64, len(h[0]))
	for i, hi := range h {
		floats.AddScaled(sum, 1, g[order[i]])
		floats.AddScaled(sum, -1, hi)
		f(i, vec.Norm(sum))
	}
}

// permutations calls f with every arrangement of perm[k:].
func permutations(perm []int, k int, f func([]int)) {
	if k == len(perm) {
		f(perm)
		return
	}
	for i := k; i < len(perm); i++ {
		perm[k], perm[i] = perm[i], perm[k]
		permutations(perm, k+1, f)
		perm[k], perm[i] = perm[i], perm[k]
	}
}

// largestSubsetGap searches for the largest ‖Σ_{T} g - s‖ over the subsets T of m indices:
// for a direction u the best subset is that of the m largest ⟨u, g_i⟩, for a subset the
// best direction that of the sum; no move makes it smaller. All of the indices leave no
// choice: that is exact. Both a random subset and its opposite direction are started from.
func largestSubsetGap(g [][]float64, s []float64, m, restarts int, rng interface{ Uint64() uint64 },
	scratch []int) float64 {
	d := len(s)
	best := 0.0
	u, sum := make([]float64, d), make([]float64, d)
	score := make([]float64, len(g))
	gap := func(subset []int) float64 {
		clear(sum)
		for _, i := range subset {
			floats.AddScaled(sum, 1, g[i])
		}
		floats.AddScaled(sum, -1, s)
		return vec.Norm(sum)
	}
	all := scratch[:len(g)]
	identity(all)
	if m == len(g) {
		return gap(all)
	}
	for range restarts {
		for i := len(all) - 1; i > 0; i-- { // any start will do, so the index may be biased
			j := int(rng.Uint64() % uint64(i+1))
			all[i], all[j] = all[j], all[i]
		}
		gap(all[:m])
		copy(u, sum)
		for _, sign := range []float64{1, -1} {
			direction := make([]float64, d)
			floats.AddScaled(direction, sign, u)
			last := -1.0
			for {
				for i := range g {
					score[i] = floats.Dot(direction, g[i])
				}
				identity(all)
				slices.SortFunc(all, func(a, b int) int {
					return cmp.Or(cmp.Compare(score[b], score[a]), cmp.Compare(a, b))
				})
				v := gap(all[:m])
				best = max(best, v)
				if !(v > last) {
					break
				}
				last = v
				copy(direction, sum)
			}
		}
	}
	return best
}

// gapSmoothness bounds L_H, the smoothness of H = G - G^(k), for n_d private steps: 0 for
// mean estimation, and for generalised linear losses with second derivative at most c
//
//	(c/n)·‖Σ_{j>n_d} a_{π_j}a_{π_j}ᵀ - Σ_j p_j p_jᵀ‖_op,   c = 2 ridge, 1/4 logistic,
//
// at the identity permutation, by power iteration; +Inf for other tasks.
func gapSmoothness(task loss.Loss, private, public *data.Records, privateSteps int) float64 {
	if _, ok := task.(loss.MeanEstimation); ok {
		return 0
	}
	linear, ok := task.(interface{ Curvature() float64 })
	if !ok {
		return math.Inf(1)
	}
	c := linear.Curvature()
	n := private.Len()
	v, w := make([]float64, private.Dim()), make([]float64, private.Dim())
	normals := stream.Seeded(0).Normals()
	normals.Restart("power iteration", 0)
	normals.Fill(v)
	value := 0.0
	for range 1000 {
		floats.Scale(1/vec.Norm(v), v)
		clear(w)
		for i := privateSteps; i < n; i++ {
			floats.AddScaled(w, floats.Dot(private.Row(i), v), private.Row(i))
			floats.AddScaled(w, -floats.Dot(public.Row(i-privateSteps), v), public.Row(i-privateSteps))
		}
		next := vec.Norm(w)
		if next == 0 {
			return 0
		}
		converged := math.Abs(next-value) <= 1e-10*next
		value = next
		v, w = w, v
		if converged {
			break
		}
	}
	return c / float64(n) * value * (1 + 1e-9)
}

// BoundOptions are the parameters of [BoundOf] besides the run.
type BoundOptions struct {
	Beta       float64 // β; 0 as [Plan.Bounds]
	L1Bound    float64 // as BoundInput
	Projection bool    // as BoundInput
	Seed       uint64  // of the search for the public data's dissimilarity
}

// BoundReport is a run's excess-risk bound with what it rests on.
type BoundReport struct {
	Account   iteration.Report // the run's noise and cost
	Bound     Bound
	Rates     *Rates  // nil for a run without noise or without a cost
	TunedStep float64 // see [TunedStepSize]
}

// BoundOf plans the run and bounds its excess risk over the optimum. All of it is a secret
// of the data. Its cost is that of [EstimateDissimilarity]. The errors are those of NewPlan,
// Plan.Bounds, ExcessRisk and Rate, or that of ctx.
func BoundOf(ctx context.Context, c Config, private, public *data.Records, optimum train.Optimum,
	o BoundOptions) (r BoundReport, err error) {
	plan, err := NewPlan(ctx, c, private, public)
	if err != nil {
		return r, err
	}
	in, err := plan.Bounds(func(privateSteps int) (Dissimilarity, error) {
		return EstimateDissimilarity(ctx, c.Task, private, public, privateSteps,
			DissimilarityOptions{Seed: o.Seed})
	}, optimum, o.Beta)
	if err != nil {
		return r, err
	}
	in.L1Bound, in.Projection = o.L1Bound, o.Projection
	if r.Bound, err = ExcessRisk(in); err != nil {
		return r, err
	}
	r.Account = plan.Report()
	r.TunedStep = tunedStepSize(in.N, plan.Rounds(), in.Distance, in.Variance, in.AvgSmoothness,
		in.MaxSmoothness)
	if epsilon := r.Account.Cost.Epsilon; epsilon == 0 || math.IsInf(epsilon, 1) {
		return r, nil
	}
	share := 1.0
	if c.Method.UsesFraction() {
		share = c.Fraction
	}
	rates, err := rate(c.Method, in.N, in.Dim, r.Account.Cost.Epsilon, share)
	r.Rates = &rates
	return r, err
}
