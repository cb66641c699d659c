package accountant

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/darrm/darrm/internal/check"
)

// Accountant adds up events under one neighbouring relation. It is an immutable value:
// Charge returns a new one, and goroutines may share it. The zero Accountant refuses everything;
// make one with New.
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
		return a, fmt.Errorf("%v is for %q, the accountant for %q: %w", event, r, a.relation,
			ErrUnsupported)
	}
	charges, err := flatten(slices.Clone(a.charges), c)
	if err != nil {
		return a, err
	}
	return Accountant{a.relation, charges}, nil
}

// Charges returns the charges, equal events together.
func (a Accountant) Charges() []Charge { return slices.Clone(a.charges) }

// Bound is one method's figure, rounded up.
type Bound struct {
	Method Method
	Cost   Cost
	Note   string // what the method chose, such as an order
}

// Refusal is a method that does not apply, with the reason.
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
		return Report{}, check.Wantf("epsilon", epsilon, "at most %g", float64(maxPure*math.MaxInt32))
	}
	epsilon = max(epsilon, 0) // -0 is 0
	return a.report(methods, func(m Method) (Bound, error) {
		delta, note, err := a.deltaBy(m, epsilon)
		return Bound{m, Cost{epsilon, delta}, note}, err
	}, func(x, y Bound) int { return cmp.Compare(x.Cost.Delta, y.Cost.Delta) })
}

func (a Accountant) report(methods []Method, bound func(Method) (Bound, error),
	order func(x, y Bound) int) (Report, error) {
	if err := a.relation.check(); err != nil {
		return Report{}, err
	}
	if len(methods) == 0 {
		methods = Methods()
	}
	r := Report{Relation: a.relation}
	for _, m := range methods {
		if _, err := m.row(); err != nil {
			return Report{}, err
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
