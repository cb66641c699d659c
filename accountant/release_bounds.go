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
		case OfTeacherAnswers:
			return "one answer of one teacher"
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
	Delta   float64        // what no bound that holds exceeds: the δ at which they are compared
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

// sort puts what holds first, and of that the smallest ε.
func (r *ReleaseReport) sort() {
	slices.SortStableFunc(r.Bounds, func(x, y ReleaseBound) int {
		if x.Holds != y.Holds {
			if x.Holds {
				return -1
			}
			return 1
		}
		return cmp.Or(cmp.Compare(x.Cost.Epsilon, y.Cost.Epsilon), cmp.Compare(x.Cost.Delta, y.Cost.Delta))
	})
}

// Bounds returns every bound on the release: each way of composing what Total's rules
// allow, and the Q-fold figures of frozen teachers, marked as not holding. With a Delta,
// all are taken at that total δ. Without, those of OfAnswers are taken at what their own δ
// and the Slack add up to (Basic without the Slack), and those of the teachers at no more
// than that, or at what their own δ and the Slack add up to where answers do not add up. No
// queries have no bounds. Errors as Total.
//
// Cost: milliseconds, tens of them for a million answers, as OptimalHomogeneous; a
// NoisyAnswer that needs a privacy loss distribution takes tenths of a second.
func (r Release) Bounds() (ReleaseReport, error) {
	if err := r.check(); err != nil {
		return ReleaseReport{}, err
	}
	report := ReleaseReport{Queries: r.Queries, Delta: r.Delta}
	if r.Queries == 0 {
		return report, nil
	}
	// Answers add up where each has randomness of its own, and one alone always holds.
	own := r.Randomness == FreshTeachers || math.IsInf(r.Teachers.Epsilon, 1) || r.Queries == 1
	fixed := r.Delta > 0
	if r.PerAnswer != (Cost{}) {
		target := r.compose(&report, OfAnswers, Repeated{r.PerAnswer, r.Queries}, own, report.Delta, fixed)
		if own {
			report.Delta, fixed = target, true
		}
	}
	// A cost that is all the accountant knows of the noise was composed above.
	if e, plain := r.Noise.Event.(ApproxDP); r.Noise.Event != nil && !(plain && own && e.Cost == r.PerAnswer) {
		report.Delta = r.composeNoise(&report, report.Delta, fixed)
		fixed = true
	}
	if r.promise() {
		target := r.composeTeachers(&report, report.Delta, fixed)
		if !fixed {
			report.Delta = target
		}
	}
	report.sort()
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

// composeTeachers adds the bounds that follow from the teachers' own promise: everything is
// a function of the teachers, or of their answers. target as compose.
func (r Release) composeTeachers(report *ReleaseReport, target float64, fixed bool) float64 {
	if r.Randomness == FrozenTeachers {
		return r.compose(report, OfTeachers, Repeated{r.Teachers, r.Affected}, true, target, fixed)
	}
	if r.Affected > math.MaxInt/r.Queries { // an int may have 32 bits
		report.Refused = append(report.Refused, ReleaseRefusal{OfTeacherAnswers, math.MaxInt, MethodBasic,
			fmt.Errorf("%d answers of %d teachers: %w", r.Queries, r.Affected, ErrUnsupported)})
		return target
	}
	return r.compose(report, OfTeacherAnswers, Repeated{r.Teachers, r.Affected * r.Queries}, true, target, fixed)
}

// compose adds the bounds on what is composed, none with a larger δ than the target, and
// returns that. Unless it is fixed, the target is what the parts' own δ and the Slack add
// up to; one part by itself spends no slack.
func (r Release) compose(report *ReleaseReport, of string, part Repeated, holds bool, target float64, fixed bool) float64 {
	add := func(m Method, c Cost, note string, err error) {
		if err != nil {
			report.Refused = append(report.Refused, ReleaseRefusal{of, part.Count, m, err})
			return
		}
		report.Bounds = append(report.Bounds, ReleaseBound{of, part.Count, m, c, holds, note})
	}
	basic, err := Basic(part.Count, part.Cost)
	parts, own := []Repeated{part}, part.Cost.Delta
	if part.Count > 1 {
		own = min(1, catastrophes(parts).DecimalUp())
	}
	spend := !fixed && r.Slack > 0 && part.Count > 1
	if spend {
		target = withSlack(catastrophes(parts), num.FromRat(num.Decimal(r.Slack)))
	} else if !fixed {
		target = own
	}
	if err == nil && own > target {
		err = tooSmall(target, own)
	}
	if r.Delta > 0 {
		basic.Delta = r.Delta
	}
	add(MethodBasic, basic, "", err)
	if part.Count == 1 || own == target {
		return target // nothing to compose, or nothing to spend on it
	}
	general, note := Cost{Delta: target}, ""
	switch {
	case target >= 1:
		err = certain() // no ε is worth that
	case spend:
		general, err = GeneralHeterogeneous(parts, r.Slack)
	default:
		general.Epsilon, note, err = generalEpsilon(parts, target)
	}
	add(MethodGeneral, general, note, err)
	eps, err := optimalEpsilon(part.Count, part.Cost, target)
	add(MethodOptimal, Cost{eps, target}, "exact", err)
	return target
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

// composeNoise adds the bounds on answers that are private by their own noise, as compose.
func (r Release) composeNoise(report *ReleaseReport, target float64, fixed bool) float64 {
	refuse := func(m Method, err error) {
		report.Refused = append(report.Refused, ReleaseRefusal{OfAnswers, r.Queries, m, err})
	}
	a, err := New(r.Noise.Event.Relation())
	if err == nil {
		a, err = a.Charge(r.Noise.Event, r.Queries)
	}
	if err != nil {
		refuse(MethodBasic, err)
		return target
	}
	if !fixed {
		target = withSlack(ownDelta(a.charges), num.FromRat(num.Decimal(r.Slack)))
	}
	if target >= 1 {
		refuse(MethodBasic, certain())
		return target
	}
	bounds, err := a.AtDelta(target, applicable(a.charges)...)
	if err != nil {
		refuse(MethodBasic, err)
		return target
	}
	for _, b := range bounds.Bounds {
		report.Bounds = append(report.Bounds, ReleaseBound{OfAnswers, r.Queries, b.Method, b.Cost, true, b.Note})
	}
	for _, f := range bounds.Refused {
		refuse(f.Method, f.Err)
	}
	return target
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
