package accountant

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/num"
)

// Profile is a mechanism with a proved dominating pair. The caller of NewProfile answers for the
// proof. The pair is a mixture of parts: with each part's probability it is normal noise with that
// part's multiplier, and the choice of the part is public. It is immutable, and the zero Profile is
// refused. It is accounted for by MethodRDP and MethodPLD.
type Profile struct {
	proved *profile // never changed; events have to be comparable
}

type profile struct {
	relation Relation
	theorem  string
	loss     mixtureLoss
}

// ProfilePart is one part of a Profile.
type ProfilePart struct {
	Weight          float64 // probability, in (0,1]
	NoiseMultiplier float64 // σ at a sensitivity of 1; 0 reveals everything, +Inf nothing
}

// maxProfileParts is the largest number of parts of a Profile. Each takes milliseconds.
const maxProfileParts = 2000

// NewProfile returns the mechanism that is dominated by the parts, whatever the mechanisms
// before it returned: for any two datasets that are neighbours by the relation, and every ε,
//
//	δ(ε) ≤ Σ_j Weight_j·δ_{σ_j}(ε)
//
// where δ_σ is GaussianDelta's. theorem is the name of what proves that, for people. The
// parts are copied.
//
// Weights must sum to 1, to 5e-13. A multiplier in between 0 and +Inf must be at least
// 1e-4; above 1e8 it is counted as 1e8, which only raises δ. At most 2000 parts are taken.
func NewProfile(relation Relation, theorem string, parts []ProfilePart) (Profile, error) {
	if err := checkProof(relation, theorem); err != nil {
		return Profile{}, err
	}
	if len(parts) > maxProfileParts {
		return Profile{}, check.Wantf("parts of a profile", len(parts), "at most %d", maxProfileParts)
	}
	var loss mixtureLoss
	sum := 0.0
	for _, p := range parts {
		if !(p.Weight > 0 && p.Weight <= 1) {
			return Profile{}, check.Want("weight", p.Weight, "in (0,1]")
		}
		sum += p.Weight
		switch {
		case math.IsInf(p.NoiseMultiplier, 1):
			loss.rest += p.Weight
		case p.NoiseMultiplier == 0:
			loss.infinite += p.Weight
		default:
			sigma := min(p.NoiseMultiplier, MaxNoise)
			if err := noiseRange("noise multiplier", sigma); err != nil {
				return Profile{}, err
			}
			loss.parts = append(loss.parts, mixturePart{p.Weight, normalLoss{sigma, 1, false}})
		}
	}
	// mixtureMargin makes up for what the sum may lack.
	if !(math.Abs(sum-1) <= mixtureMargin/2) {
		return Profile{}, check.Want("sum of the weights", sum, "1")
	}
	slices.SortStableFunc(loss.parts, func(a, b mixturePart) int {
		return cmp.Compare(a.sigma, b.sigma)
	})
	return Profile{&profile{relation, theorem, loss}}, nil
}

// Relation returns the neighbouring relation that the profile was proved for.
func (e Profile) Relation() Relation {
	if e.proved == nil {
		return 0 // which is refused
	}
	return e.proved.relation
}

func (e Profile) String() string {
	if e.proved == nil {
		return "no profile; make it with NewProfile"
	}
	return fmt.Sprintf("mixture of %d normal noises by %s", len(e.proved.loss.parts), e.proved.theorem)
}

// mixtureLoss is a Gaussian mechanism whose noise multiplier is drawn, independently of the
// data, and told. With probability rest it tells nothing, with probability infinite all.
type mixtureLoss struct {
	parts          []mixturePart // the least noise first
	rest, infinite float64
}

type mixturePart struct {
	weight float64
	normalLoss
}

// mixtureMargin rounds masses outward that up to 2000 parts were added to.
const mixtureMargin = 1e-12

func (l mixtureLoss) span() (low, high, deviation float64) {
	if len(l.parts) == 0 {
		return 0, 0, 0
	}
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
		a := part.edgeAt(float64(out.first+first) * step)
		// All below the part's grid is raised to it.
		out.addAt(out.first+first, up*lowest.massUpTo(a.moved, +1))
		for i := first; i < last; i++ {
			b := part.edgeAt(float64(out.first+i+1) * step)
			p[i] += up * a.moved.massUpTo(b.moved, +1)
			q[i] += down * a.plain.massUpTo(b.plain, -1)
			a = b
		}
		out.infinite += up * a.moved.massUpTo(highest, +1)
	}
	for i := range p {
		if p[i] > 0 {
			out.spread(i, step, p[i], q[i])
		}
	}
	out.addAt(0, l.rest*(1+mixtureMargin))
	out.infinite += l.infinite * (1 + mixtureMargin)
	return out, nil
}

// rdp returns ln(Σ_j w_j·e^{(α-1)α/(2σ_j²)})/(α-1), rounded up, for a loss that is finite.
// The sum less 1 is taken with expm1: where the exponents are small, the sum is 1 to all
// digits but the divergence, its logarithm over a small α-1, is not 0.
func (l mixtureLoss) rdp(alpha float64) float64 {
	if len(l.parts) == 0 {
		return 0
	}
	x := (alpha - 1) * alpha / 2
	top := x / (l.parts[0].sigma * l.parts[0].sigma)
	if math.IsInf(top, 1) {
		return top
	}
	sum, log := 0.0, 0.0
	if top < 600 {
		for _, p := range l.parts {
			sum += p.weight * math.Expm1(x/(p.sigma*p.sigma))
		}
		log = math.Log1p(sum)
	} else { // e^top may not fit
		sum = l.rest * math.Exp(-top)
		for _, p := range l.parts {
			sum += p.weight * math.Exp(x/(p.sigma*p.sigma)-top)
		}
		log = top + math.Log(sum) + 1e-13*(1+top)
	}
	return (log*(1+num.SumMargin)+num.Tiny)/(alpha-1)*(1+num.Margin) + num.Tiny
}
