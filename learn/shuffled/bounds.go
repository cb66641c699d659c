package shuffled

import (
	"cmp"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/vec"
	"github.com/darrm/darrm/learn/train"
)

// BoundRun describes consecutive equal epochs for the excess-risk bound.
type BoundRun struct {
	Epochs        int
	Private       int     // n_d
	Noise         float64 // σ of the epoch's noisy steps
	AvgSmoothness float64 // L̂, average over the n samples of an epoch
	MaxSmoothness float64 // L̂*
	GapSmoothness float64 // L_H; 0 with private data only
	Cn            float64 // C_n; 0 with private data only
	MeanSquareC   float64 // (1/n)·Σ_{i=n_d+1..n-1} C_i²
}

// BoundInput holds the parameters of the bound. Distance and Variance are secrets of the data.
type BoundInput struct {
	N, Dim          int
	StepSize        float64
	Distance        float64 // ‖x_1-x*‖
	Variance        float64 // σ_any² = (1/n)Σ‖∇f_i(x*)‖²
	AvgSmoothness   float64 // L, average over private samples
	MaxSmoothness   float64 // L*
	Beta            float64 // β > 0; 0 where private data only are used
	StrongConvexity float64 // μ_ψ
	SmoothPsi       bool    // ψ is twice differentiable
	Convex          bool    // losses are convex
	Runs            []BoundRun

	// The source's appendix for other ψ adds terms that leave the bound vacuous; the
	// corrected bound needs none of them. L1Bound is its B > 0 for ψ = λ‖x‖₁; Projection
	// is for the indicator of a ball. Both default to off.
	L1Bound    float64
	Projection bool
}

// Terms is a bound on E[G(x_out)] - G(x*), in parts that add up.
type Terms struct {
	Initial      float64 // ‖x_1-x*‖²/(ηnK)
	Optimisation float64 // 10η²n²σ_any²(1+ln K)·max L̂
	NonVanishing float64 // of C_n, which no K removes
	Vanishing    float64 // of C_i with a factor η²
	Noise        float64 // of the injected noise
	Other        float64 // of the appendix for ℓ1 or a projection, as printed
}

// M returns half of what doubles in the bound: the sum over epochs of the last four.
func (t Terms) M() float64 { return (t.NonVanishing + t.Vanishing + t.Noise + t.Other) / 2 }

// Total returns the bound.
func (t Terms) Total() float64 {
	return t.Initial + t.Optimisation + t.NonVanishing + t.Vanishing + t.Noise + t.Other
}

// Bound is the source's bound on the excess risk, and what is right of it.
//
// The printed noise term bounds an inner product with the wrong sign, and leaves out the
// leading term of a Jacobian; there are runs whose exact risk is above the printed bound.
// Corrected has the noise term that Stein's lemma does give: (ηd + 5η²ndL̂*)σ² in place of
// 6η²ndL̂*σ² in each epoch, for any convex ψ.
type Bound struct {
	Printed   Terms // closed form, as printed
	Corrected Terms // closed form, noise term corrected

	PrintedExact   Terms // with the harmonic sums worked out
	CorrectedExact Terms

	StepCap float64  // the largest step size that the theorem allows
	Fails   []string // hypotheses of the theorem that do not hold: then it says nothing of the run
}

func (in BoundInput) check() error {
	if err := cmp.Or(check.Whole("number of records", in.N, 1, 0), check.Whole("dimension", in.Dim, 1, 0),
		check.Positive("step size", in.StepSize)); err != nil {
		return err
	}
	if len(in.Runs) == 0 {
		return errors.New("no epochs to bound")
	}
	type named struct {
		name string
		v    float64
	}
	values := []named{{"distance", in.Distance}, {"variance", in.Variance},
		{"average smoothness", in.AvgSmoothness},
		{"largest smoothness", in.MaxSmoothness}, {"beta", in.Beta},
		{"strong convexity", in.StrongConvexity}, {"B", in.L1Bound}}
	needsBeta := false
	for _, r := range in.Runs {
		if r.Epochs < 1 || r.Epochs > math.MaxInt32 {
			return check.Want("epochs", r.Epochs, "at least 1")
		}
		if r.Private < 0 || r.Private > in.N {
			return check.Wantf("private steps", r.Private, "between 0 and n = %d", in.N)
		}
		values = append(values, named{"noise", r.Noise}, named{"average smoothness", r.AvgSmoothness},
			named{"largest smoothness", r.MaxSmoothness},
			named{"smoothness of the gap", r.GapSmoothness}, named{"C_n", r.Cn},
			named{"mean square of C_i", r.MeanSquareC})
		needsBeta = needsBeta || r.Cn > 0
	}
	for _, x := range values {
		if err := check.Epsilon(x.name, x.v); err != nil {
			return err
		}
	}
	if needsBeta && in.Beta == 0 {
		return check.Want("beta", in.Beta, "above 0 where C_n > 0")
	}
	return nil
}

// ExcessRisk evaluates the source's main theorem,
//
//	‖x_1-x*‖²/(ηnK) + 10η²n²σ_any²(1+ln K)·max_k L̂^(k) + 2M,
//	M = max_{s≤K} Σ_{k≤s} 1/(s+1-k)·[C_n²/(2n²β) + 5η²L̂*·(1/n)ΣC_i² + 6η²nd σ²L̂*],
//
// with its correction beside it. In closed forms the harmonic sum over a run of r epochs
// is replaced by its bound 1+ln r. It evaluates formulas; it certifies nothing: see
// Bound.Fails. Source: Theorem D.14, Corollary D.15, Appendix G.
func ExcessRisk(in BoundInput) (Bound, error) {
	if err := in.check(); err != nil {
		return Bound{}, err
	}
	var b Bound
	epochs := 0
	maxAvg, maxMax := in.AvgSmoothness, 0.0
	for i, r := range in.Runs {
		epochs += r.Epochs
		if i == 0 {
			maxAvg = r.AvgSmoothness
		}
		maxAvg, maxMax = max(maxAvg, r.AvgSmoothness), max(maxMax, r.MaxSmoothness)
	}
	k := float64(epochs)
	b.StepCap = in.stepCap(max(in.AvgSmoothness, maxAvg), maxMax, k)
	b.Fails = in.failedConditions(epochs, b.StepCap)
	n, eta := float64(in.N), in.StepSize
	base := Terms{
		Initial:      in.Distance * in.Distance / (eta * n * k),
		Optimisation: 10 * eta * eta * n * n * in.Variance * (1 + math.Log(k)) * maxAvg,
	}
	closed := func(corrected bool) Terms {
		t := base
		for _, r := range in.Runs {
			t.add(2*(1+math.Log(float64(r.Epochs))), in.epoch(r, corrected))
		}
		if in.L1Bound > 0 && !corrected {
			t.Other += n * in.L1Bound
		}
		return t
	}
	b.Printed, b.Corrected = closed(false), closed(true)
	b.PrintedExact, b.CorrectedExact = in.exact(base, epochs, false), in.exact(base, epochs, true)
	return b, nil
}

func (in BoundInput) stepCap(avg, maximum, k float64) float64 {
	if in.Projection {
		avg++
	}
	return 1 / (2 * float64(in.N) * math.Sqrt(10*avg*maximum*(1+math.Log(k))))
}

func (in BoundInput) failedConditions(epochs int, stepCap float64) []string {
	var fails []string
	if epochs < 2 {
		fails = append(fails, fmt.Sprintf("K = %d, but it must be at least 2", epochs))
	}
	if !(in.StepSize <= stepCap) {
		fails = append(fails, fmt.Sprintf("step size %g is above %.6g", in.StepSize, stepCap))
	}
	if !in.Convex {
		fails = append(fails, "the losses are not convex")
	}
	if !in.SmoothPsi {
		fails = append(fails,
			"psi is not twice differentiable (the corrected noise term does not need that)")
	}
	for i, r := range in.Runs {
		if r.Private == in.N {
			continue // H = 0, β = 0
		}
		if in.StrongConvexity < r.GapSmoothness+in.Beta {
			fails = append(fails, fmt.Sprintf("run %d: strong convexity %g of psi is below L_H + beta = %g",
				i+1, in.StrongConvexity, r.GapSmoothness+in.Beta))
		}
	}
	return fails
}

// epoch returns the bracket of M for one epoch of the run.
func (in BoundInput) epoch(r BoundRun, corrected bool) Terms {
	n, d, eta := float64(in.N), float64(in.Dim), in.StepSize
	var t Terms
	if r.Cn > 0 {
		t.NonVanishing = r.Cn * r.Cn / (2 * n * n * in.Beta)
	}
	t.Vanishing = 5 * eta * eta * r.MaxSmoothness * r.MeanSquareC
	square := r.Noise * r.Noise
	if corrected {
		t.Noise = (eta*d + 5*eta*eta*n*d*r.MaxSmoothness) * square
		return t
	}
	t.Noise = 6 * eta * eta * n * d * square * r.MaxSmoothness
	if in.Projection {
		t.Other = d*square/2 + 5*eta*eta*r.Cn*r.Cn
	}
	return t
}

// add adds the epoch terms e times w.
func (t *Terms) add(w float64, e Terms) {
	t.NonVanishing += w * e.NonVanishing
	t.Vanishing += w * e.Vanishing
	t.Noise += w * e.Noise
	t.Other += w * e.Other
}

// exact returns the terms with M's maximum over s worked out. Within a run the sum is a
// difference of harmonic numbers.
func (in BoundInput) exact(base Terms, epochs int, corrected bool) Terms {
	harmonic := make([]float64, epochs+1)
	for i := 1; i <= epochs; i++ {
		harmonic[i] = harmonic[i-1] + 1/float64(i)
	}
	each := make([]Terms, len(in.Runs))
	for i, r := range in.Runs {
		each[i] = in.epoch(r, corrected)
		if in.L1Bound > 0 && !corrected {
			each[i].Other += 2 * float64(in.Dim) * r.Noise * r.Noise * in.L1Bound / math.Sqrt(2*math.Pi)
		}
	}
	best := base
	for s := 1; s <= epochs; s++ {
		t := base
		first := 1
		for i, r := range in.Runs {
			last := min(first+r.Epochs-1, s)
			if first > s {
				break
			}
			t.add(2*(harmonic[s+1-first]-harmonic[s-last]), each[i])
			first += r.Epochs
		}
		if t.M() > best.M() || s == 1 {
			best = t
		}
	}
	return best
}

// Bounds returns the input of ExcessRisk for a plan: smoothness, variance and distance
// from the data, dissimilarity as estimated with the options. beta ≥ 0 is β; 0 takes
// μ_ψ - L_H where that is positive, and else 0.1. All of it is a secret of the data.
func (p *Plan) Bounds(estimate func(privateSteps int) (Dissimilarity, error), optimum train.Optimum,
	beta float64) (BoundInput, error) {
	p = p.made()
	c := p.c
	if len(optimum.X) != p.d {
		return BoundInput{}, check.Wantf("dimension of the optimum", len(optimum.X), "the data's, %d", p.d)
	}
	in := BoundInput{
		N: p.n, Dim: p.d, StepSize: c.StepSize, Beta: beta,
		StrongConvexity: c.Regularizer.StrongConvexity(), SmoothPsi: c.Regularizer.Smooth(),
		Convex: c.Task.Convex(),
	}
	start := make([]float64, p.d)
	copy(start, c.Start)
	floats.AddScaled(start, -1, optimum.X)
	in.Distance = vec.Norm(start)
	g := make([]float64, p.d)
	private := make([]float64, p.n)
	for i := range p.n {
		c.Task.Gradient(g, optimum.X, p.private.Row(i), p.private.Response(i))
		in.Variance += floats.Dot(g, g) / float64(p.n)
		private[i] = c.Task.Smoothness(vec.Norm(p.private.Row(i)))
		in.AvgSmoothness += private[i] / float64(p.n)
		in.MaxSmoothness = max(in.MaxSmoothness, private[i])
	}
	free := math.Inf(1) // what every run leaves to β
	for _, r := range p.schedule {
		b := BoundRun{Epochs: r.Epochs, Private: r.Private, Noise: max(r.Noise, r.PublicNoise)}
		if r.Private > 0 {
			// Which records are private steps varies with the order; the average is the
			// data's and the maximum over all.
			b.AvgSmoothness, b.MaxSmoothness = in.AvgSmoothness*float64(r.Private)/float64(p.n),
				in.MaxSmoothness
		}
		for i := range p.n - r.Private {
			l := c.Task.Smoothness(vec.Norm(p.public.Row(i)))
			b.AvgSmoothness += l / float64(p.n)
			b.MaxSmoothness = max(b.MaxSmoothness, l)
		}
		if r.Private < p.n {
			d, err := estimate(r.Private)
			if err != nil {
				return BoundInput{}, err
			}
			b.Cn, b.MeanSquareC = d.Cn, d.MeanSquare(p.n)
			b.GapSmoothness = gapSmoothness(c.Task, p.private, p.public, r.Private)
			if math.IsInf(b.GapSmoothness, 1) {
				return BoundInput{}, fmt.Errorf("task %s: the smoothness of the gap is not known",
					c.Task.Name())
			}
			free = min(free, in.StrongConvexity-b.GapSmoothness)
		}
		in.Runs = append(in.Runs, b)
	}
	if beta == 0 && !math.IsInf(free, 1) {
		if in.Beta = free; !(free > 0) {
			in.Beta = 0.1
		}
	}
	return in, nil
}
