package accountant

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"

	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/num"
)

// Accountant adds up events under one neighbouring relation. It is an immutable value:
// Charge returns a new one. The zero Accountant refuses everything; make one with New.
//
// An Accountant only computes. It does not remember across runs and cannot know what
// was not charged to it.
type Accountant struct {
	relation Relation
	charges  []Charge // plain events, each once
}

// New returns an Accountant without charges for the relation.
func New(relation Relation) (Accountant, error) {
	if err := relation.check(); err != nil {
		return Accountant{}, err
	}
	return Accountant{relation: relation}, nil
}

// Charge returns the Accountant with count more of the event, each with randomness of
// its own, chosen adaptively. Everything is checked first: on an error, which is
// ErrUnsupported for an event that it cannot account for, nothing is charged. An event
// for another neighbouring relation is refused.
func (a Accountant) Charge(event Event, count int) (Accountant, error) {
	if err := a.relation.check(); err != nil {
		return a, err
	}
	c := Charge{event, count}
	if err := c.check(); err != nil {
		return a, err
	}
	if r := event.Relation(); r != a.relation {
		return a, fmt.Errorf("%v is for %q, the accountant for %q: %w", event, r, a.relation, ErrUnsupported)
	}
	charges, err := flatten(slices.Clone(a.charges), c)
	if err != nil {
		return a, err
	}
	return Accountant{a.relation, charges}, nil
}

// Relation returns the neighbouring relation of every figure.
func (a Accountant) Relation() Relation { return a.relation }

// Charges returns what was charged, like events together.
func (a Accountant) Charges() []Charge { return slices.Clone(a.charges) }

// Method is a way of bounding what the charges cost together.
type Method string

// The methods, from the simplest to the most general.
const (
	MethodBasic    Method = "basic"    // BasicHeterogeneous, for (ε, δ)-DP events
	MethodGeneral  Method = "general"  // GeneralHeterogeneous, for (ε, δ)-DP events
	MethodOptimal  Method = "optimal"  // OptimalHeterogeneous, for (ε, δ)-DP events
	MethodGaussian Method = "gaussian" // GaussianDelta of the summed noise, for Gaussian events and an Iteration's ρ
	MethodZCDP     Method = "zcdp"     // EpsilonFromZCDP
	MethodRDP      Method = "rdp"      // EpsilonFromRDP at the best order
	MethodPLD      Method = "pld"      // privacy loss distribution, for any mixture
)

// Methods returns all of them, the simplest first.
func Methods() []Method {
	return []Method{MethodBasic, MethodGeneral, MethodOptimal, MethodGaussian, MethodZCDP, MethodRDP, MethodPLD}
}

// Bound is one method's figure, rounded up.
type Bound struct {
	Method Method
	Cost   Cost
	Note   string // what the method chose, such as an order
}

// Refusal says why a method does not apply.
type Refusal struct {
	Method Method
	Err    error
}

// Report holds every applicable bound. All are valid at once; the first is the best.
type Report struct {
	Relation Relation
	Bounds   []Bound   // best first
	Refused  []Refusal // methods that do not apply, and why
}

// Best returns the smallest bound; ok is false where no method applies.
func (r Report) Best() (best Bound, ok bool) {
	if len(r.Bounds) == 0 {
		return Bound{}, false
	}
	return r.Bounds[0], true
}

// AtDelta bounds the smallest ε at a given δ by every method that applies, or by the named
// ones. It takes delta in [0,1). That no method applies is not an error: see
// Report.Refused.
//
// Privacy loss distributions take tenths of a second, some seconds beyond 10,000 events or
// with dozens of different ones; the others milliseconds, tens of them for a million
// events.
func (a Accountant) AtDelta(delta float64, methods ...Method) (Report, error) {
	if err := check.Delta("delta", delta); err != nil {
		return Report{}, err
	}
	delta = max(delta, 0) // -0 is 0
	return a.report(methods, func(m Method) (Bound, error) {
		eps, note, err := a.epsilonBy(m, delta)
		return Bound{m, Cost{eps, delta}, note}, err
	}, func(x, y Bound) int { return cmp.Compare(x.Cost.Epsilon, y.Cost.Epsilon) })
}

// AtEpsilon bounds the smallest δ at a given ε by every method that applies, or by the
// named ones. It takes epsilon in [0, 1e4·2³¹]. Cost as AtDelta.
func (a Accountant) AtEpsilon(epsilon float64, methods ...Method) (Report, error) {
	if err := check.Epsilon("epsilon", epsilon); err != nil {
		return Report{}, err
	}
	if epsilon > maxPure*math.MaxInt32 {
		return Report{}, &check.Error{Name: "epsilon", Value: epsilon, Rule: fmt.Sprintf("at most %g", float64(maxPure*math.MaxInt32))}
	}
	epsilon = max(epsilon, 0) // -0 is 0
	return a.report(methods, func(m Method) (Bound, error) {
		delta, note, err := a.deltaBy(m, epsilon)
		return Bound{m, Cost{epsilon, delta}, note}, err
	}, func(x, y Bound) int { return cmp.Compare(x.Cost.Delta, y.Cost.Delta) })
}

func (a Accountant) report(methods []Method, bound func(Method) (Bound, error), order func(x, y Bound) int) (Report, error) {
	if err := a.relation.check(); err != nil {
		return Report{}, err
	}
	if len(methods) == 0 {
		methods = Methods()
	}
	r := Report{Relation: a.relation}
	for _, m := range methods {
		if !slices.Contains(Methods(), m) {
			return Report{}, &check.Error{Name: "method", Value: m, Rule: fmt.Sprintf("one of %v", Methods())}
		}
		b, err := bound(m)
		if err != nil {
			r.Refused = append(r.Refused, Refusal{m, err})
			continue
		}
		r.Bounds = append(r.Bounds, b)
	}
	slices.SortStableFunc(r.Bounds, order) // the first named, by default the simpler, wins a tie
	return r, nil
}

// Epsilon returns the smallest bound of AtDelta.
func (a Accountant) Epsilon(delta float64) (float64, error) {
	r, err := a.AtDelta(delta)
	if err != nil {
		return 0, err
	}
	b, ok := r.Best()
	if !ok {
		return 0, r.refusal()
	}
	return b.Cost.Epsilon, nil
}

// Delta returns the smallest bound of AtEpsilon.
func (a Accountant) Delta(epsilon float64) (float64, error) {
	r, err := a.AtEpsilon(epsilon)
	if err != nil {
		return 0, err
	}
	b, ok := r.Best()
	if !ok {
		return 0, r.refusal()
	}
	return b.Cost.Delta, nil
}

func (r Report) refusal() error {
	errs := make([]error, len(r.Refused))
	for i, f := range r.Refused {
		errs[i] = fmt.Errorf("%s: %w", f.Method, f.Err)
	}
	return fmt.Errorf("no method applies: %w", errors.Join(errs...))
}

func needsDelta(delta float64) error {
	if delta == 0 {
		return fmt.Errorf("delta = 0: %w", ErrDeltaTooSmall)
	}
	return nil
}

func (a Accountant) epsilonBy(m Method, delta float64) (eps float64, note string, err error) {
	if len(a.charges) == 0 {
		return 0, "nothing charged", nil
	}
	switch m {
	case MethodBasic:
		parts, err := guarantees(a.charges)
		if err != nil {
			return 0, "", err
		}
		total, err := BasicHeterogeneous(parts)
		if err == nil && total.Delta > delta {
			err = fmt.Errorf("the events' own delta is %g: %w", total.Delta, ErrDeltaTooSmall)
		}
		return total.Epsilon, "", err
	case MethodGeneral:
		parts, err := guarantees(a.charges)
		if err != nil {
			return 0, "", err
		}
		return generalEpsilon(parts, delta)
	case MethodOptimal:
		parts, err := guarantees(a.charges)
		if err != nil {
			return 0, "", err
		}
		o, err := OptimalHeterogeneous(parts)
		if err != nil {
			return 0, "", err
		}
		eps, err = o.Epsilon(delta)
		return eps, o.note(), err
	}
	if err := needsDelta(delta); err != nil && m != MethodPLD {
		return 0, "", err
	}
	switch m {
	case MethodGaussian:
		sigma, err := summedNoise(a.charges)
		if err != nil {
			return 0, "", err
		}
		eps, err = gaussianEpsilon(sigma, delta)
		return eps, noiseNote(sigma), err
	case MethodZCDP:
		rho, err := zcdp(a.charges)
		if err != nil {
			return 0, "", err
		}
		eps, err = EpsilonFromZCDP(rho, delta)
		return eps, fmt.Sprintf("rho %.6g", rho), err
	case MethodRDP:
		eps, order, err := rdpEpsilon(a.charges, delta)
		return eps, fmt.Sprintf("order %.6g", order), err
	case MethodPLD:
		if delta == 0 {
			return 0, "", fmt.Errorf("delta = 0: %w", ErrDeltaTooSmall)
		}
		bits := bitsFor(a.charges)
		eps, err = lossEpsilon(a.charges, delta, bits)
		return eps, lossNote(a.charges, bits), err
	}
	return 0, "", fmt.Errorf("method %q: %w", m, ErrUnsupported)
}

func (a Accountant) deltaBy(m Method, epsilon float64) (delta float64, note string, err error) {
	if len(a.charges) == 0 {
		return 0, "nothing charged", nil
	}
	switch m {
	case MethodBasic:
		parts, err := guarantees(a.charges)
		if err != nil {
			return 0, "", err
		}
		total, err := BasicHeterogeneous(parts)
		if err == nil && total.Epsilon > epsilon {
			err = fmt.Errorf("epsilon = %g, but the events' own add up to %g: %w", epsilon, total.Epsilon, ErrUnsupported)
		}
		return total.Delta, "", err
	case MethodGeneral:
		parts, err := guarantees(a.charges)
		if err != nil {
			return 0, "", err
		}
		return generalDelta(parts, epsilon)
	case MethodOptimal:
		parts, err := guarantees(a.charges)
		if err != nil {
			return 0, "", err
		}
		o, err := OptimalHeterogeneous(parts)
		if err != nil {
			return 0, "", err
		}
		delta, err = o.Delta(epsilon)
		return delta, o.note(), err
	case MethodGaussian:
		sigma, err := summedNoise(a.charges)
		if err != nil {
			return 0, "", err
		}
		if err := pureRange("epsilon", epsilon); err != nil {
			return 0, "", err
		}
		return gaussianDelta(num.Decimal(sigma), num.Decimal(epsilon)), noiseNote(sigma), nil
	case MethodZCDP:
		rho, err := zcdp(a.charges)
		if err != nil {
			return 0, "", err
		}
		return zcdpDelta(rho, epsilon), fmt.Sprintf("rho %.6g", rho), nil
	case MethodRDP:
		delta, order, err := rdpDelta(a.charges, epsilon)
		return delta, fmt.Sprintf("order %.6g", order), err
	case MethodPLD:
		bits := bitsFor(a.charges)
		delta, err = lossDelta(a.charges, epsilon, bits)
		return delta, lossNote(a.charges, bits), err
	}
	return 0, "", fmt.Errorf("method %q: %w", m, ErrUnsupported)
}

// lossNote says what the privacy loss distribution's bound is, for people.
func lossNote(charges []Charge, bits int) string {
	note := fmt.Sprintf("on 2^%d points, rounded up", bits)
	if parts, err := guarantees(charges); err == nil && len(groupByEpsilon(parts)) > 1 && !hasLaplace(charges) {
		note += "; from above the optimal composition of different costs"
	}
	return note
}

// hasLaplace says whether some loss distribution says more than the event's (ε, δ).
func hasLaplace(charges []Charge) bool {
	return slices.ContainsFunc(charges, func(c Charge) bool { _, ok := c.Event.(Laplace); return ok })
}

// generalEpsilon spends on General's slack what delta leaves.
func generalEpsilon(parts []Repeated, delta float64) (eps float64, note string, err error) {
	f := newGeneralForm(parts)
	rest := num.FromInt(1).Sub(f.catastrophe)
	left := 0.0
	if rest.Lower() > 0 {
		left = num.FromRat(num.Decimal(delta)).Sub(f.catastrophe).Quo(rest).DecimalDown()
	}
	for range 4 {
		if !(left > 0) {
			break
		}
		total, err := f.at(left)
		if err != nil {
			return 0, "", err
		}
		if total.Delta <= delta {
			return total.Epsilon, fmt.Sprintf("slack %.6g", left), nil
		}
		left = math.Nextafter(left, 0) * (1 - 0x1p-50) // rounding
	}
	return 0, "", fmt.Errorf("delta = %g leaves no slack: %w", delta, ErrDeltaTooSmall)
}

// generalDelta finds the smallest slack, to about 1e-9, whose ε is at most epsilon.
func generalDelta(parts []Repeated, epsilon float64) (delta float64, note string, err error) {
	f := newGeneralForm(parts)
	enough := func(logSlack float64) bool {
		c, err := f.at(math.Exp(logSlack))
		return err == nil && c.Epsilon <= epsilon
	}
	low, high := -690.0, -1e-9
	if !enough(high) {
		return 0, "", fmt.Errorf("epsilon = %g is too small for any slack: %w", epsilon, ErrUnsupported)
	}
	for range 40 {
		if mid := (low + high) / 2; enough(mid) {
			high = mid
		} else {
			low = mid
		}
	}
	c, err := f.at(math.Exp(high))
	return c.Delta, fmt.Sprintf("slack %.6g", math.Exp(high)), err
}

// summedNoise returns the noise multiplier of the one Gaussian release that Gaussian
// releases amount to, 1/√(Σ 1/σ²), rounded down: the sum of their privacy losses is
// normal too. It may be below the range of an event's noise: the formulas do not end there.
// Dong, Roth and Su, Gaussian Differential Privacy (2022), Corollary 3.3.
func summedNoise(charges []Charge) (float64, error) {
	sum := new(big.Rat)
	for _, c := range charges {
		f, err := factsOf(c.Event)
		if err != nil {
			return 0, err
		}
		if !f.gaussian {
			return 0, fmt.Errorf("%v is not plain gaussian noise: %w", c.Event, ErrUnsupported)
		}
		sum.Add(sum, f.twoRho.Mul(f.twoRho, big.NewRat(int64(c.Count), 1)))
	}
	return num.Sqrt(num.FromRat(sum.Inv(sum))).DecimalDown(), nil
}

func noiseNote(sigma float64) string { return fmt.Sprintf("as one release with noise %.6g", sigma) }
