package accountant

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync"

	"github.com/darrm/darrm/internal/num"
)

// What a ReleaseBound composes.
const (
	OfAnswers        = "answers"             // of the ensemble
	OfTeachers       = "teachers"            // as they were trained
	OfTeacherAnswers = "answers of teachers" // each by itself
)

// ReleaseBound is one way of bounding what a Release costs.
type ReleaseBound struct {
	Of     string // OfAnswers, OfTeachers or OfTeacherAnswers
	Count  int    // how many of them
	Method Method // by which they were composed
	Cost   Cost   // rounded up
	Holds  bool   // for these teachers; if not, it is a figure for comparison and no guarantee
	Note   string // what the method chose
}

// Rule says in words what the bound follows from.
func (b ReleaseBound) Rule() string {
	if b.Count == 1 {
		switch b.Of {
		case OfAnswers:
			return "one answer"
		case OfTeachers:
			return "one of the teachers"
		}
	}
	return fmt.Sprintf("%s composition of %d %s", b.Method, b.Count, b.Of)
}

// ReleaseRefusal says why a method gives no bound.
type ReleaseRefusal struct {
	Of     string
	Count  int
	Method Method
	Err    error
}

// ReleaseReport is every bound on a Release, side by side.
type ReleaseReport struct {
	Queries int
	Bounds  []ReleaseBound // those that hold first, and of them the smallest ε first
	Refused []ReleaseRefusal
}

// Best returns the bound of the smallest ε that holds; ok is false if there is none.
func (r ReleaseReport) Best() (best ReleaseBound, ok bool) {
	if len(r.Bounds) == 0 || !r.Bounds[0].Holds {
		return ReleaseBound{}, false
	}
	return r.Bounds[0], true
}

func (r ReleaseReport) refusal() error {
	errs := make([]error, len(r.Refused))
	for i, f := range r.Refused {
		errs[i] = fmt.Errorf("%s of %d %s: %w", f.Method, f.Count, f.Of, f.Err)
	}
	return fmt.Errorf("no bound holds: %w", errors.Join(errs...))
}

// Bounds returns every bound on the release: each way of composing what Total's rules
// allow, and the Q-fold figures of frozen teachers, marked as not holding. With a Delta,
// all are taken at that total δ; without, at what the parts' own δ and the Slack add up to
// (Basic without the Slack), and those of OfTeacherAnswers at no more than those of
// OfAnswers. No queries have no bounds. Errors as Total.
//
// Cost: milliseconds, tens of them for a million answers, as OptimalHomogeneous; a
// NoisyAnswer that needs a privacy loss distribution takes tenths of a second.
func (r Release) Bounds() (ReleaseReport, error) {
	if err := r.check(); err != nil {
		return ReleaseReport{}, err
	}
	report := ReleaseReport{Queries: r.Queries}
	if r.Queries == 0 {
		return report, nil
	}
	// Answers add up where each has randomness of its own, and one alone always holds.
	own := r.Randomness == FreshTeachers || r.Noise.Event != nil || math.IsInf(r.Teachers.Epsilon, 1)
	r.compose(&report, OfAnswers, r.Queries, own || r.Queries == 1)
	if r.promise() {
		// Everything is a function of the teachers, or of their answers.
		if r.Randomness == FrozenTeachers {
			r.compose(&report, OfTeachers, r.Affected, true)
		} else if r.Affected <= math.MaxInt/r.Queries { // an int may have 32 bits
			r.compose(&report, OfTeacherAnswers, r.Affected*r.Queries, true)
		}
	}
	slices.SortStableFunc(report.Bounds, func(x, y ReleaseBound) int {
		if x.Holds != y.Holds {
			if x.Holds {
				return -1
			}
			return 1
		}
		return cmp.Or(cmp.Compare(x.Cost.Epsilon, y.Cost.Epsilon), cmp.Compare(x.Cost.Delta, y.Cost.Delta))
	})
	return report, nil
}

// Sweep returns Bounds for each of the numbers of queries, in that order, for a table or a
// plot. It works on all processors, and stops early with the context's error.
func (r Release) Sweep(ctx context.Context, queries []int) ([]ReleaseReport, error) {
	reports, errs := make([]ReleaseReport, len(queries)), make([]error, len(queries))
	var group sync.WaitGroup
	next := make(chan int)
	for range min(len(queries), runtime.GOMAXPROCS(0)) {
		group.Go(func() {
			for i := range next {
				each := r
				each.Queries = queries[i]
				reports[i], errs[i] = each.Bounds()
			}
		})
	}
feed:
	for i := range queries {
		select {
		case next <- i:
		case <-ctx.Done():
			break feed
		}
	}
	close(next)
	group.Wait()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	for i, err := range errs {
		if err != nil {
			return nil, fmt.Errorf("queries = %d: %w", queries[i], err)
		}
	}
	return reports, nil
}

// compose adds the bounds on count of one thing.
func (r Release) compose(report *ReleaseReport, of string, count int, holds bool) {
	add := func(m Method, c Cost, note string, err error) {
		if err != nil {
			report.Refused = append(report.Refused, ReleaseRefusal{of, count, m, err})
			return
		}
		report.Bounds = append(report.Bounds, ReleaseBound{of, count, m, c, holds, note})
	}
	if of == OfAnswers && r.Noise.Event != nil {
		r.composeNoise(count, add)
		return
	}
	each, given := r.PerAnswer, r.Delta
	if of != OfAnswers {
		each = r.Teachers
	}
	if of == OfTeacherAnswers && given == 0 {
		// At the δ of the ensemble's answers, or a smaller ε may only be a larger δ.
		given = withSlack(catastrophe(r.Queries, r.PerAnswer.Delta), num.FromRat(num.Decimal(r.Slack)))
	}
	parts := []Repeated{{each, count}}
	basic, err := BasicHeterogeneous(parts)
	if count == 1 {
		basic, err = each, nil
	}
	if err == nil && given > 0 && basic.Delta > given || of == OfTeacherAnswers && basic.Delta > given {
		err = tooSmall(given, basic.Delta)
	}
	if r.Delta > 0 {
		basic.Delta = r.Delta
	}
	add(MethodBasic, basic, "", err)
	if count == 1 || r.Slack == 0 && r.Delta == 0 {
		return // nothing to compose, or nothing to spend on it
	}
	target, general, note := given, Cost{}, ""
	switch {
	case target >= 1:
		err = certain()
	case target > 0:
		general.Delta = target
		general.Epsilon, note, err = generalEpsilon(parts, target)
	default:
		if general, err = GeneralHeterogeneous(parts, r.Slack); err == nil && general.Delta >= 1 {
			err = certain() // no ε is worth that
		}
		target = withSlack(catastrophes(parts), num.FromRat(num.Decimal(r.Slack)))
	}
	add(MethodGeneral, general, note, err)
	eps, err := optimalEpsilon(count, each, target)
	add(MethodOptimal, Cost{eps, target}, "exact", err)
}

func optimalEpsilon(count int, each Cost, delta float64) (float64, error) {
	if delta >= 1 {
		return 0, certain()
	}
	o, err := OptimalHomogeneous(count, each)
	if err != nil {
		return 0, err
	}
	return o.Epsilon(delta)
}

func certain() error { return fmt.Errorf("the mechanisms' delta adds up to 1: %w", ErrDeltaTooSmall) }

// composeNoise adds the bounds on count answers that are private by their own noise.
func (r Release) composeNoise(count int, add func(Method, Cost, string, error)) {
	a, err := New(r.Noise.Event.Relation())
	if err == nil {
		a, err = a.Charge(r.Noise.Event, count)
	}
	if err != nil {
		add(MethodBasic, Cost{}, "", err)
		return
	}
	target := r.Delta
	if target == 0 {
		target = withSlack(ownDelta(a.charges), num.FromRat(num.Decimal(r.Slack)))
	}
	if target >= 1 {
		add(MethodBasic, Cost{}, "", certain())
		return
	}
	report, err := a.AtDelta(target, applicable(a.charges)...)
	if err != nil {
		add(MethodBasic, Cost{}, "", err)
		return
	}
	for _, b := range report.Bounds {
		add(b.Method, b.Cost, b.Note, nil)
	}
	for _, f := range report.Refused {
		add(f.Method, Cost{}, "", f.Err)
	}
}

// ownDelta returns 1-Π(1-δ) over the events that have a δ of their own.
func ownDelta(charges []Charge) num.Interval {
	var parts []Repeated
	for _, c := range charges {
		if each, err := pureOrApprox(c.Event); err == nil {
			parts = append(parts, Repeated{each, c.Count})
		}
	}
	return catastrophes(parts)
}

// applicable leaves out what is refused anyway, and privacy loss distributions, which take
// the longest, where another method is exact.
func applicable(charges []Charge) []Method {
	gaussian, costs := true, true
	for _, c := range charges {
		_, plain := c.Event.(Gaussian)
		_, err := pureOrApprox(c.Event)
		gaussian, costs = gaussian && plain, costs && err == nil
	}
	parts, _ := guarantees(charges)
	exact := gaussian || costs && !hasLaplace(charges) && len(groupByEpsilon(parts)) <= 1
	return slices.DeleteFunc(Methods(), func(m Method) bool {
		switch m {
		case MethodBasic, MethodGeneral, MethodOptimal:
			return !costs
		case MethodGaussian:
			return !gaussian
		case MethodPLD:
			return exact
		}
		return false
	})
}
