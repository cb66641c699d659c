package accountant

import (
	"fmt"
	"math"
)

// What epochs tell of a record, as privacy losses (docs/training-accounting.md). Modes with
// a ρ are one Gaussian mechanism with μ² = 2ρ, noise multiplier 1/μ. In a mixture the pair
// (J, N(μ_J, 1)) against (J, N(0, 1)) dominates, J the record's place, and nothing (μ = 0)
// where it is not visited:
//
//	δ(ε) = Σ_j δ_{μ_j}(ε)/n,   μ_j = 2G/√V_j, times √K_p if one place serves all epochs

// gaussianNoiseOf returns the noise multiplier 1/√(2ρ), rounded down.
func gaussianNoiseOf(rho float64) (float64, error) {
	sigma := 1 / math.Sqrt(2*rho) * (1 - floatMargin)
	return sigma, noiseRange("noise of all epochs together", sigma)
}

// gaussianEpsilonOf returns the exact ε of a Gaussian mechanism with μ² = 2ρ.
func gaussianEpsilonOf(rho, delta float64) (float64, error) {
	sigma, err := gaussianNoiseOf(rho)
	if err != nil {
		return 0, err
	}
	return gaussianEpsilon(sigma, delta)
}

// losses returns one direction of the event's losses (both are alike) and how many
// independent ones there are.
func (e Iteration) losses() (source lossSource, times int, err error) {
	switch {
	case !e.private():
		return responseLoss{}, 1, nil
	case e.Noise == 0:
		return nil, 0, fmt.Errorf("privacy losses without noise: %w", ErrUnsupported)
	}
	named, least := e, math.Inf(1)
	for _, c := range e.certified() {
		m, _, err := c.certify()
		if err != nil {
			return nil, 0, err
		}
		// Any of them bounds the losses. Order 8 only decides which is likely to be best.
		if r := c.divergence(8, m); r < least {
			named, least = c, r
		}
	}
	switch e = named; e.mode() {
	case IterationRRMixture:
		source, err = e.mixture(1)
		return source, e.Epochs, err
	case IterationSOMixture:
		source, err = e.mixture(math.Sqrt(float64(e.Epochs)) * (1 + floatMargin))
		return source, 1, err
	}
	rho, err := e.ZCDP()
	if err != nil {
		return nil, 0, err
	}
	sigma, err := gaussianNoiseOf(rho)
	return normalLoss{sigma, 1, false}, 1, err
}

// mixtureExact is the cost of runs in a mixture mode by their privacy losses.
func (r *IterationReport) mixtureExact(private []Iteration) (err error) {
	var charges []Charge
	for _, e := range private {
		charges = append(charges, Charge{e, 1})
	}
	r.Cost.Epsilon, err = lossEpsilon(charges, r.Cost.Delta, mixtureBits)
	return err
}

// mixtureBits is the grid of mixtures, and mixturePositions up to which place from the end
// they are taken one by one. More of either makes the figure smaller by less than 1e-3 of
// it, and takes longer.
const mixtureBits, mixturePositions = 14, 64

// mixture returns the losses of one epoch, each μ times the factor.
func (e Iteration) mixture(factor float64) (mixtureLoss, error) {
	n := float64(e.Records)
	m := mixtureLoss{rest: float64(e.Records-e.Private) / n}
	var err error
	e.eachBlock(mixturePositions, func(i, count float64) {
		sigma := math.Sqrt(e.tail(i)) / (2 * e.Clip * factor) * (1 - floatMargin)
		if i == 1 {
			err = noiseRange("noise of the last private step", max(sigma, 0))
		}
		// More noise than can be handled is counted as less: that only raises the loss.
		m.parts = append(m.parts, mixturePart{count / n, normalLoss{min(sigma, maxNoise), 1, false}})
	})
	return m, err
}

// mixtureLoss is a Gaussian mechanism whose noise multiplier is drawn, independently of the
// data, and told. With probability rest it tells nothing.
type mixtureLoss struct {
	parts []mixturePart // the least noise first
	rest  float64
}

type mixturePart struct {
	weight float64
	normalLoss
}

// mixtureMargin rounds masses outward that up to 2000 parts were added to.
const mixtureMargin = 1e-12

func (l mixtureLoss) span() (low, high, deviation float64) {
	variance := 0.0
	for _, p := range l.parts {
		variance += p.weight / (p.sigma * p.sigma)
	}
	low, high, _ = l.parts[0].span()
	return low, high, math.Sqrt(variance)
}

// discretise adds up, within each step of the grid, what the parts have there under P and
// under Q, and spreads the sums: spreading is linear, so that is to spread each part.
func (l mixtureLoss) discretise(step float64) (lossMass, error) {
	low, high, _ := l.span()
	out, err := newLossMass(step, low, high)
	if err != nil {
		return out, err
	}
	p, q := make([]float64, len(out.mass)-1), make([]float64, len(out.mass)-1)
	for _, part := range l.parts {
		up, down := part.weight*(1+mixtureMargin), part.weight*(1-mixtureMargin)
		low, high, _ := part.span()
		first := max(0, int(math.Floor(low/step))-out.first)
		last := min(len(p), int(math.Ceil(high/step))-out.first+1)
		ap, aq := part.edges(float64(out.first+first) * step)
		out.put(out.first+first, up*ap.below()) // all below the part's grid, raised to it
		for i := first; i < last; i++ {
			bp, bq := part.edges(float64(out.first+i+1) * step)
			p[i] += up * ap.upTo(bp, +1)
			q[i] += down * aq.upTo(bq, -1)
			ap, aq = bp, bq
		}
		out.infinite += up * ap.beyond()
	}
	for i := range p {
		if p[i] > 0 {
			out.spread(i, step, p[i], q[i])
		}
	}
	out.put(0, l.rest*(1+mixtureMargin))
	return out, nil
}

// edges returns where the loss is x, in standard deviations of P and of Q from their means.
func (l normalLoss) edges(x float64) (p, q normalEdge) {
	at, wobble := l.locate(x)
	return newNormalEdge((at-1)/l.sigma, wobble/l.sigma), newNormalEdge(at/l.sigma, wobble/l.sigma)
}

// normalEdge is a point z that the standard normal's mass is cut at: the smaller side's mass
// and a bound on its error.
type normalEdge struct {
	z, tail, slack float64
}

// newNormalEdge allows for the error of Erfc, as normalMass does, and for z being off by
// the wobble: the density at z is at most 1+|z| of the tail (Birnbaum's inequality).
func newNormalEdge(z, wobble float64) normalEdge {
	a := math.Abs(z)
	t := math.Erfc(a/math.Sqrt2) / 2
	return normalEdge{z, t, t*(0x1p-52*(8+2*z*z)+2*(1+a)*wobble) + 4*math.SmallestNonzeroFloat64}
}

// upTo returns the mass from e to f > e, rounded up for side = 1 and down for -1.
func (e normalEdge) upTo(f normalEdge, side float64) float64 {
	var m float64
	slack := e.slack + f.slack
	switch {
	case e.z >= 0:
		m = e.tail - f.tail
	case f.z <= 0:
		m = f.tail - e.tail
	default:
		m, slack = 1-e.tail-f.tail, slack+2*0x1p-52
	}
	return max(0, m+side*slack)
}

// below returns the mass under e, rounded up, and beyond the mass above it.
func (e normalEdge) below() float64  { return normalEdge{z: math.Inf(-1)}.upTo(e, +1) }
func (e normalEdge) beyond() float64 { return e.upTo(normalEdge{z: math.Inf(1)}, +1) }
