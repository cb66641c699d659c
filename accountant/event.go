package accountant

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"

	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/num"
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
		return check.Wantf(name, x, "between %g and %g", minNoise, MaxNoise)
	}
	return nil
}

func pureRange(x float64) error {
	if x > maxPure {
		return check.Wantf("epsilon", x, "at most %g", maxPure)
	}
	return nil
}

func (c Charge) check() error {
	if c.Count < 1 || c.Count > math.MaxInt32 {
		return check.Wantf("count", c.Count, "between 1 and %d", math.MaxInt32)
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
					return nil, check.Wantf("count", fmt.Sprintf("%d + %d", to[i].Count, c.Count),
						"at most %d", math.MaxInt32)
				}
				to[i].Count += c.Count
				return to, nil
			}
		}
		return append(to, c), nil
	}
	for _, p := range together.parts {
		if p.Count > math.MaxInt32/c.Count {
			return nil, check.Wantf("count", fmt.Sprintf("%d × %d", p.Count, c.Count), "at most %d",
				math.MaxInt32)
		}
		var err error
		if to, err = flatten(to, Charge{p.Event, p.Count * c.Count}); err != nil {
			return nil, err
		}
	}
	return to, nil
}

// BoundedRange is a mechanism whose privacy loss between two neighbours lies, whatever comes
// out, in an interval of length ε that may depend on the two. It is ε-DP, and less is lost
// than by the worst ε-DP mechanism: it is (ε²/8)-zCDP where that is (ε²/2)-zCDP. The
// exponential mechanism Pr[i] ∝ e^{-q_i/s} is one, with ε = (max_i δ_i - min_i δ_i)/s where
// δ_i is the change of score q_i: the log ratio of its laws is δ_i/s and one constant.
// Noisy maxima with Laplace or exponential noise are not; they are ApproxDP.
//
// Sources: Durfee and Rogers, Practical Differentially Private Top-k Selection with
// Pay-what-you-get Composition (2019), Definition 3.1; Dong, Durfee and Rogers, Optimal
// Differential Privacy Composition for Exponential Mechanisms (2020); Cesar and Rogers,
// Bounding, Concentrating, and Truncating (2021), Lemma 3.2.
type BoundedRange struct {
	Epsilon    float64 // the interval's length, ≥ 0
	Neighbours Relation
}

// Relation returns the neighbouring relation that the event's parameters are for.
func (e BoundedRange) Relation() Relation { return e.Neighbours }

func (e BoundedRange) String() string {
	return fmt.Sprintf("exponential mechanism of range %g", e.Epsilon)
}

// rangeRDP returns the divergence αε²/8, or that of the worst ε-DP mechanism where it is less.
func rangeRDP(eps, alpha float64) float64 {
	if eps == 0 {
		return 0
	}
	return min(alpha*eps*eps/8*(1+num.SumMargin)+math.SmallestNonzeroFloat64, responseRDP(eps, alpha))
}

// Relation is the neighbouring relation: it defines the pairs of datasets that are neighbours.
// Guarantees under different relations are never mixed: (ε, δ) under one is a different promise
// under the other. A ledger has one, for ever. As JSON it is its [Relation.Name].
type Relation int

// The zero Relation is none of them and is refused.
const (
	AddOrRemoveOne Relation = iota + 1 // one record is added or removed
	ReplaceOne                         // one record is replaced by another
	// BlankOne: one record is replaced by a blank one, which moves nothing (zero-out
	// adjacency). Two such steps replace a record. No ledger counts by it.
	BlankOne
)

// String returns the name that reports use.
func (r Relation) String() string {
	switch r {
	case AddOrRemoveOne:
		return "add or remove one record"
	case ReplaceOne:
		return "replace one record"
	case BlankOne:
		return "blank one record"
	}
	return fmt.Sprintf("Relation(%d)", int(r))
}

// relationNames are in the order of the relations.
var relationNames = []string{"add-remove", "replace", "blank"}

// Name returns the relation's name for programs, such as "replace"; "" of none of them.
func (r Relation) Name() string {
	if r < AddOrRemoveOne || r > BlankOne {
		return ""
	}
	return relationNames[r-1]
}

// MarshalText returns the name.
func (r Relation) MarshalText() ([]byte, error) { return []byte(r.Name()), r.check() }

// UnmarshalText reads a name.
func (r *Relation) UnmarshalText(name []byte) error {
	i := slices.Index(relationNames, string(name))
	if i < 0 {
		return fmt.Errorf("neighbouring relation = %.40q, but it must be among %q", name, relationNames)
	}
	*r = Relation(i + 1)
	return nil
}

func (r Relation) check() error {
	if r < AddOrRemoveOne || r > BlankOne {
		return fmt.Errorf("neighbouring relation = %v, but it must be stated: AddOrRemoveOne, "+
			"ReplaceOne or BlankOne", r)
	}
	return nil
}
