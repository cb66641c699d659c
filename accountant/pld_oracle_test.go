package accountant

import (
	"math"
	"os"
	"testing"

	"github.com/darrm/darrm/internal/num"
	"github.com/darrm/darrm/internal/testing/raced"
)

// binned is a mechanism that releases only the bin of the outcome: bin i has probability p[i] and
// q[i]. Releasing less is post-processing, so its δ(ε) is nowhere above the mechanism's own: a
// bound from below, by none of the means of the code under test.
type binned struct{ p, q []float64 }

func binLaplace(b float64) binned {
	out := binned{[]float64{0.5, 0.5 * math.Exp(-1/b)}, []float64{0.5 * math.Exp(-1/b), 0.5}}
	const n = 128
	for i := range n {
		lo, hi := float64(i)/n, float64(i+1)/n
		out.p = append(out.p, (math.Exp(-lo/b)-math.Exp(-hi/b))/2)
		out.q = append(out.q, (math.Exp((hi-1)/b)-math.Exp((lo-1)/b))/2)
	}
	return out
}

// binSampled is normal noise on a Poisson sample; down exchanges p and q.
func binSampled(sigma, q float64, down bool) binned {
	var out binned
	mass := func(lo, hi float64) float64 { // of a standard normal, both tails accurate
		if lo > 0 {
			lo, hi = -hi, -lo
		}
		return (math.Erfc(-hi/math.Sqrt2) - math.Erfc(-lo/math.Sqrt2)) / 2
	}
	const n = 200
	low, high := -8*sigma, 1+8*sigma
	for i := range n {
		lo, hi := low+(high-low)*float64(i)/n, low+(high-low)*float64(i+1)/n
		plain := mass(lo/sigma, hi/sigma)
		out.q = append(out.q, plain)
		out.p = append(out.p, (1-q)*plain+q*mass((lo-1)/sigma, (hi-1)/sigma))
	}
	if down {
		out.p, out.q = out.q, out.p
	}
	return out
}

func binDiscrete(sigma float64, shift int) binned {
	var out binned
	sum := 0.0
	reach := int(30*sigma) + shift
	for x := -reach; x <= reach; x++ {
		w := func(z float64) float64 { return math.Exp(-z * z / (2 * sigma * sigma)) }
		sum += w(float64(x))
		out.p, out.q = append(out.p, w(float64(x-shift))), append(out.q, w(float64(x)))
	}
	for i := range out.p {
		out.p[i], out.q[i] = out.p[i]/sum, out.q[i]/sum
	}
	return out
}

// deltaFromBelow composes the mechanisms by plain convolution, every loss rounded down to a
// multiple of step: δ(ε) but for less than it is.
func deltaFromBelow(parts []binned, counts []int, step float64, epsilons []float64) []float64 {
	sum, first := []float64{1}, 0
	for j, part := range parts {
		type point struct {
			at   int
			mass float64
		}
		var losses []point
		low, high := math.MaxInt, math.MinInt
		for i, p := range part.p {
			if p > 0 && part.q[i] > 0 { // else left out, which is less
				x := int(math.Floor(math.Log(p/part.q[i])/step - 1e-9))
				losses = append(losses, point{x, p})
				low, high = min(low, x), max(high, x)
			}
		}
		for range counts[j] {
			next := make([]float64, len(sum)+high-low)
			for _, l := range losses {
				for a, m := range sum {
					next[a+l.at-low] += m * l.mass
				}
			}
			sum, first = next, first+low
		}
	}
	out := make([]float64, len(epsilons))
	for i, eps := range epsilons {
		for a, m := range sum {
			out[i] += m * max(0, -math.Expm1(eps-float64(first+a)*step))
		}
	}
	return out
}

// Loss distributions are not below the truth, and near it, where no formula is known:
// for compositions of several noises, in both directions.
func TestPLDIsOutwardAgainstConvolution(t *testing.T) {
	t.Parallel()
	const add = AddOrRemoveOne
	cases := []struct {
		charges []Charge
		parts   [][]binned // by direction
	}{
		{[]Charge{{Laplace{2, add}, 6}}, [][]binned{{binLaplace(2)}}},
		{[]Charge{{SubsampledGaussian{0.8, 0.1, add}, 8}},
			[][]binned{{binSampled(0.8, 0.1, false)}, {binSampled(0.8, 0.1, true)}}},
		{[]Charge{{SubsampledGaussian{1, 0.3, add}, 2}, {Laplace{3, add}, 2},
			{DiscreteGaussian{4, 1, add}, 2}}, [][]binned{
			{binSampled(1, 0.3, false), binLaplace(3), binDiscrete(4, 1)},
			{binSampled(1, 0.3, true), binLaplace(3), binDiscrete(4, 1)},
		}},
		{[]Charge{{DiscreteGaussian{20, 7, add}, 6}}, [][]binned{{binDiscrete(20, 7)}}},
		{[]Charge{{DiscreteGaussian{1.5, 1, add}, 10}}, [][]binned{{binDiscrete(1.5, 1)}}},
		{[]Charge{{SubsampledGaussian{2, 0.6, add}, 5}},
			[][]binned{{binSampled(2, 0.6, false)}, {binSampled(2, 0.6, true)}}},
		{[]Charge{{DiscreteGaussian{0.4, 1, add}, 3}}, [][]binned{{binDiscrete(0.4, 1)}}},
		{[]Charge{{Laplace{0.7, add}, 2}}, [][]binned{{binLaplace(0.7)}}},
		{[]Charge{{SubsampledGaussian{0.3, 0.01, add}, 3}},
			[][]binned{{binSampled(0.3, 0.01, false)}, {binSampled(0.3, 0.01, true)}}},
	}
	if os.Getenv("DARRM_LONG") == "" {
		cases = cases[:4]
	}
	if raced.Enabled {
		cases = cases[:2]
	}
	for _, c := range cases {
		const step = 0.01
		k := 0
		for _, x := range c.charges {
			k += x.Count
		}
		// what rounding down can have moved a sum, and half as much for the bins
		reach := float64(k+1) * step
		targets := []float64{0, 0.8, 2.5}
		both := targets
		for _, x := range targets {
			both = append(both, max(0, x-1.5*reach))
		}
		directions, counts, err := lossDirections(c.charges)
		if err != nil || len(directions) != len(c.parts) {
			t.Fatalf("%v: %d directions, %v", c.charges, len(directions), err)
		}
		for d, parts := range c.parts {
			found := deltaFromBelow(parts, counts, step, both)
			below, near := found[:len(targets)], found[len(targets):]
			for i, eps := range targets {
				curve, err := lossBound(directions[d], counts, testBits, towardEpsilon(eps))
				if err != nil {
					t.Fatal(err)
				}
				got := curve.at(eps)
				if got < below[i]*(1-1e-9) {
					t.Errorf("%v, direction %d: δ(%g) = %g, but it is at least %g", c.charges, d, eps, got,
						below[i])
				}
				if eps > 1.5*reach && got > near[i]*1.01+1e-12 {
					t.Errorf("%v, direction %d: δ(%g) = %g, but about %g", c.charges, d, eps, got, below[i])
				}
				if i != 1 {
					continue
				}
				if all, err := lossDelta(c.charges, eps, testBits); err != nil || all < got {
					t.Errorf("%v: δ(%g) = %g, %v, but %g in direction %d", c.charges, eps, all, err, got, d)
				} else if all > 1e-300 && all < 0.9 {
					if back, err := lossEpsilon(c.charges, all, testBits); err != nil ||
						back > eps*(1+1e-3)+1e-3 || back < eps*(1-0.05)-reach {
						t.Errorf("%v: ε(δ(%g)) = %g, %v", c.charges, eps, back, err)
					}
				}
			}
		}
	}
	// Beyond the grid something is left.
	for _, e := range []Event{Gaussian{1, add}, DiscreteGaussian{1, 1, add}} {
		for _, eps := range []float64{45, 1000} {
			if d, err := lossDelta([]Charge{{e, 1}}, eps, testBits); err != nil || !(d > 0 && d < 1e-300) {
				t.Errorf("%v: δ(%g) = %g, %v", e, eps, d, err)
			}
		}
	}
}

// One vector of two discrete coordinates, GNMax's, against 320-bit sums over all outcomes.
func TestDiscreteGaussianAgainstEnumeration(t *testing.T) {
	if raced.Enabled {
		t.Skip("slow, and nothing in it is concurrent")
	}
	t.Parallel()
	below := false // the normal distribution's δ, somewhere
	for _, c := range []struct {
		sigma float64
		shift int
	}{{1.1, 1}, {2, 3}} {
		square := num.FromRat(num.Decimal(c.sigma))
		square = square.Mul(square).Mul(num.FromInt(2))
		reach := int(14*c.sigma) + c.shift
		var weights []num.Interval
		norm := num.FromInt(0)
		for x := -reach - c.shift; x <= reach; x++ {
			w := num.ExpReal(num.FromInt(0).Sub(num.FromInt(int64(x * x)).Quo(square)))
			weights, norm = append(weights, w), norm.Add(w)
		}
		for i := range weights {
			weights[i] = weights[i].Quo(norm)
		}
		at := func(x int) num.Interval { return weights[x+reach+c.shift] }
		e := Charge{DiscreteGaussian{c.sigma, c.shift, ReplaceOne}, 2}
		// Outcomes with the same sum of coordinates have the same loss.
		p, q := map[int]num.Interval{}, map[int]num.Interval{}
		for x := -reach; x <= reach; x++ {
			for y := -reach; y <= reach; y++ {
				a, b := at(x-c.shift).Mul(at(y-c.shift)), at(x).Mul(at(y))
				if old, ok := p[x+y]; ok {
					a, b = a.Add(old), b.Add(q[x+y])
				}
				p[x+y], q[x+y] = a, b
			}
		}
		for _, eps := range []float64{0, 0.3, 1.7} {
			grow := num.ExpReal(num.FromRat(num.Decimal(eps)))
			truth := 0.0 // from below: what is out of reach is left out
			for s := range p {
				truth += max(0, p[s].Sub(grow.Mul(q[s])).Lower())
			}
			truth *= 1 - 1e-12
			got, err := lossDelta([]Charge{e}, eps, coarseGridBits)
			if err != nil || got < truth || got > truth*(1+1e-3)+1e-12 {
				t.Errorf("%v: δ(%g) = %.15g, %v, exactly %.15g", e, eps, got, err, truth)
			}
			rdp, err := rdpDelta([]Charge{e}, eps)
			if err != nil || rdp < truth {
				t.Errorf("%v: Rényi δ(%g) = %g, %v, exactly %g", e, eps, rdp, err, truth)
			}
			rho, err := zcdp([]Charge{e})
			if err != nil || zcdpDelta(rho, eps) < truth {
				t.Errorf("%v: zCDP δ(%g) = %g, %v, exactly %g", e, eps, zcdpDelta(rho, eps), err, truth)
			}
			normal, err := GaussianDelta(c.sigma/(math.Sqrt2*float64(c.shift)), eps)
			if err != nil {
				t.Fatal(err)
			}
			below = below || normal < truth*(1-1e-3)
		}
	}
	// Above the discrete one's δ there is the normal one's, and below it: it is no bound.
	if !below {
		t.Error("the normal distribution's curve was nowhere below: the event would not be needed")
	}
	// Its own ρ and no formula of the normal distribution is used.
	a := mustNew(t, ReplaceOne, Charge{DiscreteGaussian{2, 1, ReplaceOne}, 3})
	r, err := a.AtDelta(1e-6)
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range r.Bounds {
		if b.Method == MethodGaussian {
			t.Errorf("discrete noise has the normal distribution's curve: %v", b)
		}
	}
	if best, _ := r.Best(); best.Method != MethodPLD || len(r.Bounds) != 3 {
		t.Errorf("%+v", r)
	}
}

// A window that holds only a part of the sum is still a bound: what lies above it counts
// in full, what wraps around is added.
func TestNarrowWindowIsOutward(t *testing.T) {
	part := Repeated{Cost{0.5, 1e-6}, 20}
	o := newOracle([]Repeated{part})
	for _, theta := range []float64{0, 0.3, 2} {
		for _, bits := range []int{3, 4, 5, 6, 8} {
			s, err := newLossSum([]lossSource{responseLoss{part.Cost}}, []int{part.Count}, 0.25, bits)
			if err != nil {
				t.Fatal(err)
			}
			c := s.curve(theta)
			for eps := 0.0; eps < 11; eps += 0.3 {
				if d := c.at(eps); !o.holds(Cost{eps, d}) {
					t.Errorf("θ = %g, 2^%d points: δ(%g) = %g, exactly %g", theta, bits, eps, d,
						o.delta(eps).Upper())
				} else if bits == 8 && theta > 0 && d > 2*o.delta(eps).Upper() && eps < 9 {
					t.Errorf("θ = %g: δ(%g) = %g, exactly %g", theta, eps, d, o.delta(eps).Upper())
				}
			}
		}
	}
}
