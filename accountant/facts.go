package accountant

import (
	"fmt"
	"math"
	"math/big"

	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/num"
)

// facts holds the properties of an event that methods use. One that is not known is nil, and the
// methods that need it refuse the event.
type facts struct {
	cost     *Cost                       // (ε, δ) by itself
	twoRho   *big.Rat                    // 2ρ of zero-concentrated differential privacy
	gaussian bool                        // it is normal noise with 1/σ² = twoRho, and nothing else
	rdp      func(alpha float64) float64 // Rényi divergence, rounded up, at orders up to maxOrder
	losses   []lossSource                // one for each direction, one alone where they are alike

	maxOrder float64
	orders   []float64 // which must be tried: the divergence has kinks there
}

// anyOrder is the largest order of the search where every order has a divergence.
const anyOrder = 1e10

// factsOf checks an event and returns what is known of it. It alone decides which events the
// accountant supports, and by which methods. No method of e is called before its type is known to
// be one of this package: others may be nil pointers, or answer differently each time.
func factsOf(e Event) (facts, error) {
	switch e.(type) {
	case ApproxDP, BoundedRange, Gaussian, DiscreteGaussian, SubsampledGaussian, Laplace,
		RandomizedResponse, Curve, Profile, HockeyStick, composed:
	case nil:
		return facts{}, fmt.Errorf("no event: %w", ErrUnsupported)
	default:
		return facts{}, fmt.Errorf("event %T: %w", e, ErrUnsupported)
	}
	if err := e.Relation().check(); err != nil {
		return facts{}, fmt.Errorf("%v: %w", e, err)
	}
	f := facts{maxOrder: math.Inf(1)}
	switch e := e.(type) {
	case ApproxDP:
		if err := e.Cost.check(""); err != nil {
			return f, err
		}
		f.cost, f.losses = &e.Cost, []lossSource{responseLoss{e.Cost}}
		if e.Cost.Delta == 0 {
			f.twoRho = square(num.Decimal(e.Cost.Epsilon))
			f.rdp = func(alpha float64) float64 { return responseRDP(e.Cost.Epsilon, alpha) }
		}
		return f, pureRange(e.Cost.Epsilon)
	case BoundedRange:
		if f, err := factsOf(ApproxDP{Cost{Epsilon: e.Epsilon}, e.Neighbours}); err != nil {
			return f, err
		}
		f.cost, f.losses = &Cost{Epsilon: e.Epsilon}, []lossSource{responseLoss{Cost{Epsilon: e.Epsilon}}}
		f.twoRho = square(new(big.Rat).Quo(num.Decimal(e.Epsilon), big.NewRat(2, 1)))
		f.rdp = func(alpha float64) float64 { return rangeRDP(e.Epsilon, alpha) }
	case RandomizedResponse:
		return factsOf(ApproxDP{Cost{Epsilon: e.Epsilon}, e.Neighbours}) // it is the worst of them
	case Laplace:
		if err := noiseRange("laplace scale", e.Scale); err != nil {
			return f, err
		}
		f.cost = &Cost{Epsilon: num.FromInt(1).Quo(num.FromRat(num.Decimal(e.Scale))).DecimalUp()}
		f.twoRho = square(num.Decimal(f.cost.Epsilon))
		f.rdp = func(alpha float64) float64 { return laplaceRDP(e.Scale, alpha) }
		f.losses = []lossSource{laplaceLoss{1 / e.Scale}}
	case Gaussian:
		if err := noiseRange("noise multiplier", e.NoiseMultiplier); err != nil {
			return f, err
		}
		f.gaussian, f.twoRho = true, square(new(big.Rat).Inv(num.Decimal(e.NoiseMultiplier)))
		f.rdp = func(alpha float64) float64 { return gaussianRDP(e.NoiseMultiplier, alpha) }
		f.losses = []lossSource{normalLoss{e.NoiseMultiplier, 1, false}}
	case DiscreteGaussian:
		if err := e.check(); err != nil {
			return f, err
		}
		f.twoRho = square(new(big.Rat).Quo(big.NewRat(int64(e.Sensitivity), 1), num.Decimal(e.Sigma)))
		f.rdp = func(alpha float64) float64 { return gaussianRDP(e.Sigma/float64(e.Sensitivity), alpha) }
		f.losses = []lossSource{discreteLoss{e.Sigma, float64(e.Sensitivity)}}
	case SubsampledGaussian:
		if err := check.Probability("sampling rate", e.SamplingRate); err != nil {
			return f, err
		}
		if e.Neighbours != AddOrRemoveOne {
			return f, fmt.Errorf("%v for %q: %w", e, e.Neighbours, ErrUnsupported)
		}
		f.maxOrder = maxSubsampledOrder
		f.rdp = func(alpha float64) float64 {
			return subsampledRDP(e.NoiseMultiplier, e.SamplingRate, alpha)
		}
		f.losses = e.losses()
		return f, noiseRange("noise multiplier", e.NoiseMultiplier)
	case Curve:
		f.orders, f.rdp = e.proved.orders, e.proved.at
		f.maxOrder = f.orders[len(f.orders)-1]
	case Profile:
		f.losses = []lossSource{e.proved.loss}
		if e.proved.loss.infinite == 0 {
			f.rdp = e.proved.loss.rdp
		}
	case HockeyStick:
		cost, loss := e.proved.cost, e.proved.loss
		f.cost, f.losses = &cost, []lossSource{loss}
		if cost.Delta == 0 {
			f.twoRho = square(num.Decimal(cost.Epsilon))
			f.rdp = func(alpha float64) float64 {
				return min(loss.rdp(alpha), responseRDP(cost.Epsilon, alpha))
			}
		}
	} // the parts of a composition were checked when it was made, and are charged one by one
	return f, nil
}

// orderFor returns an error if an order is above those of which the facts know a divergence.
func (f facts) orderFor(e Event, alpha float64) error {
	if alpha > f.maxOrder {
		return check.Wantf("order", alpha, "at most %g for %v", f.maxOrder, e)
	}
	return nil
}

func square(x *big.Rat) *big.Rat { return new(big.Rat).Mul(x, x) }

// unsupported returns the error of a method that needs an unknown property of an event.
func unsupported(what string, e Event) error {
	return fmt.Errorf("%s of %v: %w", what, e, ErrUnsupported)
}

// checkEvent returns an error unless the accountant can account for e. It runs before anything is
// charged.
func checkEvent(e Event) error {
	_, err := factsOf(e)
	return err
}

// pureOrApprox returns the (ε, δ) that the event has by itself.
func pureOrApprox(e Event) (Cost, error) {
	f, err := factsOf(e)
	if err == nil && f.cost == nil {
		err = unsupported("(epsilon, delta)", e)
	}
	if err != nil {
		return Cost{}, err
	}
	return *f.cost, nil
}

// guarantees returns what the charges promise each by itself.
func guarantees(charges []Charge) ([]Repeated, error) {
	parts := make([]Repeated, len(charges))
	for i, c := range charges {
		each, err := pureOrApprox(c.Event)
		if err != nil {
			return nil, err
		}
		parts[i] = Repeated{each, c.Count}
	}
	return parts, nil
}
