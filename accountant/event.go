package accountant

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"

	"github.com/darrm/darrm/internal/check"
)

// Event is one access to private data, as an immutable value: what was done and for
// which neighbouring relation its parameters hold. The events of this package are
// ApproxDP, BoundedRange, Gaussian, DiscreteGaussian, SubsampledGaussian, Laplace,
// RandomizedResponse, Curve, Profile, HockeyStick and what Compose returns, each as a value, not a
// pointer; any other is refused with ErrUnsupported. What another package proves of a mechanism
// it states as a Curve, a Profile, a HockeyStick or one of the others.
type Event interface {
	Relation() Relation
	String() string
}

// ErrUnsupported is the error for an event, or a combination of events, that cannot be accounted
// for.
var ErrUnsupported = errors.New("unsupported by the accountant")

// ApproxDP is any mechanism that is (ε, δ)-DP; of the mechanism nothing else is used.
type ApproxDP struct {
	Cost       Cost
	Neighbours Relation
}

// Gaussian adds normal noise. Noise that was sampled on integers is DiscreteGaussian, for
// which the exact formula of the normal distribution does not hold.
type Gaussian struct {
	NoiseMultiplier float64 // standard deviation per unit of L2 sensitivity, > 0
	Neighbours      Relation
}

// SubsampledGaussian adds normal noise to a sum over a Poisson sample, into which each
// record comes independently. It is accounted for under AddOrRemoveOne only. A shuffled
// or a fixed-size batch is no Poisson sample: its privacy is not this one's.
type SubsampledGaussian struct {
	NoiseMultiplier float64 // standard deviation per unit of L2 sensitivity, > 0
	SamplingRate    float64 // probability of each record, in [0,1]
	Neighbours      Relation
}

// Laplace adds noise with density e^{-|x|/b}/(2b).
type Laplace struct {
	Scale      float64 // b per unit of L1 sensitivity, > 0; the event is (1/b, 0)-DP
	Neighbours Relation
}

// RandomizedResponse tells the truth of one bit with probability e^ε/(1+e^ε).
type RandomizedResponse struct {
	Epsilon    float64 // ≥ 0
	Neighbours Relation
}

// Charge is an event that happens count times, each time with fresh randomness.
type Charge struct {
	Event Event
	Count int // ≥ 1
}

// composed is several charges as one event.
type composed struct {
	relation Relation
	parts    []Charge // plain events, each once
}

// Compose returns the charges as one event, like events together. They must be valid and share one
// neighbouring relation. The error names the charge that breaks this. It is ErrUnsupported for two
// relations and for an event that this package does not know.
func Compose(charges ...Charge) (Event, error) {
	if len(charges) == 0 {
		return nil, errors.New("nothing to compose")
	}
	var parts []Charge
	for _, c := range charges {
		if err := c.check(); err != nil {
			return nil, err
		}
		if a, b := charges[0].Event.Relation(), c.Event.Relation(); a != b {
			return nil, fmt.Errorf("%v is for %q but %v is for %q: %w", charges[0].Event, a, c.Event, b,
				ErrUnsupported)
		}
		var err error
		if parts, err = flatten(parts, c); err != nil {
			return nil, err
		}
	}
	return composed{charges[0].Event.Relation(), parts}, nil
}

// Relation returns the neighbouring relation that the event's parameters are for.
func (e ApproxDP) Relation() Relation { return e.Neighbours }

// Relation returns the neighbouring relation that the event's parameters are for.
func (e Gaussian) Relation() Relation { return e.Neighbours }

// Relation returns the neighbouring relation that the event's parameters are for.
func (e SubsampledGaussian) Relation() Relation { return e.Neighbours }

// Relation returns the neighbouring relation that the event's parameters are for.
func (e Laplace) Relation() Relation { return e.Neighbours }

// Relation returns the neighbouring relation that the event's parameters are for.
func (e RandomizedResponse) Relation() Relation { return e.Neighbours }

func (e composed) Relation() Relation { return e.relation }

func (e ApproxDP) String() string { return fmt.Sprintf("%v-DP", e.Cost) }

func (e Gaussian) String() string { return fmt.Sprintf("gaussian noise %g", e.NoiseMultiplier) }

func (e SubsampledGaussian) String() string {
	return fmt.Sprintf("gaussian noise %g on a Poisson sample at rate %g", e.NoiseMultiplier,
		e.SamplingRate)
}

func (e Laplace) String() string { return fmt.Sprintf("laplace noise %g", e.Scale) }

func (e RandomizedResponse) String() string {
	return fmt.Sprintf("randomised response at epsilon %g", e.Epsilon)
}

func (e composed) String() string {
	parts := make([]string, len(e.parts))
	for i, c := range e.parts {
		parts[i] = fmt.Sprintf("%d × %v", c.Count, c.Event)
	}
	return "(" + strings.Join(parts, ", ") + ")"
}

// MaxNoise is the largest noise multiplier. More noise may be stated as this much, which
// only raises what it costs.
const MaxNoise = 1e8

// The ranges keep every figure within a float64 that it can be inverted in.
const (
	minNoise = 1e-4
	maxPure  = 1e4
)

func noiseRange(name string, x float64) error {
	if !(x >= minNoise && x <= MaxNoise) {
		return &check.Error{Name: name, Value: x, Rule: fmt.Sprintf("between %g and %g", minNoise,
			MaxNoise)}
	}
	return nil
}

func pureRange(name string, x float64) error {
	if x > maxPure {
		return &check.Error{Name: name, Value: x, Rule: fmt.Sprintf("at most %g", maxPure)}
	}
	return nil
}

func (c Charge) check() error {
	if c.Count < 1 || c.Count > math.MaxInt32 {
		return &check.Error{Name: "count", Value: c.Count,
			Rule: fmt.Sprintf("between 1 and %d", math.MaxInt32)}
	}
	return checkEvent(c.Event)
}

// flatten appends the plain charges of c, each times the counts around it.
func flatten(to []Charge, c Charge) ([]Charge, error) {
	together, ok := c.Event.(composed)
	if !ok {
		for i := range to {
			if reflect.DeepEqual(to[i].Event, c.Event) {
				if to[i].Count > math.MaxInt32-c.Count { // an int may have 32 bits
					return nil, &check.Error{Name: "count", Value: fmt.Sprintf("%d + %d", to[i].Count, c.Count),
						Rule: fmt.Sprintf("at most %d", math.MaxInt32)}
				}
				to[i].Count += c.Count
				return to, nil
			}
		}
		return append(to, c), nil
	}
	for _, p := range together.parts {
		if p.Count > math.MaxInt32/c.Count {
			return nil, &check.Error{Name: "count", Value: fmt.Sprintf("%d × %d", p.Count, c.Count),
				Rule: fmt.Sprintf("at most %d", math.MaxInt32)}
		}
		var err error
		if to, err = flatten(to, Charge{p.Event, p.Count * c.Count}); err != nil {
			return nil, err
		}
	}
	return to, nil
}
