package ensemble

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/darrm/darrm/accountant"
)

// What a Bound composes.
const (
	OfAnswers        = "answers"             // of the ensemble
	OfTeachers       = "teachers"            // as they were trained
	OfTeacherAnswers = "answers of teachers" // each by itself
)

// Bound is one way of bounding what Answers cost.
type Bound struct {
	Of     string            // OfAnswers, OfTeachers or OfTeacherAnswers
	Count  int               // how many of them
	Method accountant.Method // by which they were composed
	Cost   accountant.Cost   // rounded up
	// for these teachers; if not, it is a figure for comparison and no guarantee
	Holds bool
	Note  string // what the method chose
}

// Rule names in words the rule that the bound follows from.
func (b Bound) Rule() string {
	if b.Count == 1 && b.Method != methodGame {
		switch b.Of {
		case OfAnswers:
			return "one answer"
		case OfTeachers:
			return "one of the teachers"
		case OfTeacherAnswers:
			return "one answer of one teacher"
		}
	}
	if b.Method == methodGame {
		together := " together"
		if b.Count == 1 {
			together = ""
		}
		return "the price of " + upTo(b.Count) + together
	}
	return fmt.Sprintf("%s composition of %d %s", b.Method, b.Count, b.Of)
}

// upTo names the answers that a table is for.
func upTo(answers int) string {
	if answers == 1 {
		return "one answer"
	}
	return fmt.Sprintf("up to %d answers", answers)
}

// Refusal is a method that gives no bound, with the reason.
type Refusal struct {
	Of     string
	Count  int
	Method accountant.Method
	Err    error
}

// Report is every bound on Answers, side by side.
type Report struct {
	Queries int
	Delta   float64 // what no bound that holds exceeds: the δ at which they are compared
	Bounds  []Bound // those that hold first, and of them the smallest ε first
	Refused []Refusal
}

// Best returns the bound of the smallest ε that holds; ok is false if there is none.
func (r Report) Best() (best Bound, ok bool) {
	if len(r.Bounds) == 0 || !r.Bounds[0].Holds {
		return Bound{}, false
	}
	return r.Bounds[0], true
}

func (r Report) refusal() error {
	errs := make([]error, len(r.Refused))
	for i, f := range r.Refused {
		errs[i] = fmt.Errorf("%s of %d %s: %w", f.Method, f.Count, f.Of, f.Err)
	}
	return fmt.Errorf("no bound holds: %w", errors.Join(errs...))
}

// sort puts what holds first, and of that the smallest ε.
func (r *Report) sort() {
	slices.SortStableFunc(r.Bounds, func(x, y Bound) int {
		if x.Holds != y.Holds {
			if x.Holds {
				return -1
			}
			return 1
		}
		return cmp.Or(cmp.Compare(x.Cost.Epsilon, y.Cost.Epsilon),
			cmp.Compare(x.Cost.Delta, y.Cost.Delta))
	})
}

// Bounds returns every bound on the release: each way of composing what Total's rules
// allow, and the Q-fold figures of frozen teachers, marked as not holding. With a Delta,
// all are taken at that total δ. Without, those of OfAnswers are taken at what their own δ
// and the Slack add up to (Basic without the Slack), and those of the teachers at no more
// than that, or at what their own δ and the Slack add up to where answers do not add up. No
// queries have no bounds. Errors as Total.
//
// Cost: milliseconds, tens of them for a million answers, as accountant.Optimal; a
// NoisyAnswer that needs a privacy loss distribution takes tenths of a second, and one with a
// JointPrice up to some seconds, once for each number of answers.
func (r Answers) Bounds() (Report, error) {
	if err := r.check(); err != nil {
		return Report{}, err
	}
	report := Report{Queries: r.Queries, Delta: r.Delta}
	if r.Queries == 0 {
		return report, nil
	}
	if r.Together.Most > 0 {
		return r.together(), nil
	}
	// Answers add up where each has randomness of its own, and one alone always holds.
	own := r.Randomness == FreshTeachers || math.IsInf(r.Teachers.Epsilon, 1) || r.Queries == 1
	fixed := r.Delta > 0
	if r.PerAnswer != (accountant.Cost{}) {
		target := r.compose(&report, OfAnswers, accountant.Repeated{Cost: r.PerAnswer, Count: r.Queries},
			own, report.Delta, fixed)
		if own {
			report.Delta, fixed = target, true
		}
	}
	// A cost that is all the accountant knows of the noise was composed above.
	if e, plain := r.Noise.Event.(accountant.ApproxDP); r.Noise.Event != nil &&
		!(plain && own && e.Cost == r.PerAnswer) {
		report.Delta = r.composeNoise(&report, report.Delta, fixed, own &&
			r.PerAnswer != (accountant.Cost{}))
		fixed = true
	}
	if r.Joint != nil && r.Queries > 1 && report.Delta > 0 && report.Delta < 1 {
		e, err := r.Joint.epsilon(context.Background(), report.Delta, r.Queries)
		if err != nil {
			report.Refused = append(report.Refused, Refusal{OfAnswers, r.Queries, methodGame, err})
		} else {
			report.Bounds = append(report.Bounds, Bound{OfAnswers, r.Queries, methodGame,
				accountant.Cost{Epsilon: e, Delta: report.Delta}, true, ""})
		}
	}
	if r.teachersArePrivate() {
		target := r.composeTeachers(&report, report.Delta, fixed)
		if !fixed {
			report.Delta = target
		}
	}
	report.sort()
	return report, nil
}

// composeTeachers adds the bounds that follow from the teachers' own promise: everything is
// a function of the teachers, or of their answers. target as compose.
func (r Answers) composeTeachers(report *Report, target float64, fixed bool) float64 {
	if r.Randomness == FrozenTeachers {
		return r.compose(report, OfTeachers, accountant.Repeated{Cost: r.Teachers, Count: r.Affected},
			true, target, fixed)
	}
	if r.Affected > math.MaxInt/r.Queries { // an int may have 32 bits
		report.Refused = append(report.Refused, Refusal{OfTeacherAnswers, math.MaxInt,
			accountant.MethodBasic,
			fmt.Errorf("%d answers of %d teachers: %w", r.Queries, r.Affected, accountant.ErrUnsupported)})
		return target
	}
	return r.compose(report, OfTeacherAnswers, accountant.Repeated{Cost: r.Teachers,
		Count: r.Affected * r.Queries}, true, target, fixed)
}

// compose adds the bounds on what is composed, none with a larger δ than the target, and
// returns that. Unless it is fixed, the target is what the parts' own δ and the Slack add
// up to; one part by itself spends no slack.
func (r Answers) compose(report *Report, of string, part accountant.Repeated, holds bool,
	target float64, fixed bool) float64 {
	add := func(m accountant.Method, c accountant.Cost, note string, err error) {
		if err != nil {
			report.Refused = append(report.Refused, Refusal{of, part.Count, m, err})
			return
		}
		report.Bounds = append(report.Bounds, Bound{of, part.Count, m, c, holds, note})
	}
	own := part.Cost.Delta
	if part.Count > 1 {
		own = totalDelta(0, part)
	}
	spend := !fixed && r.Slack > 0 && part.Count > 1
	if spend {
		target = totalDelta(r.Slack, part)
	} else if !fixed {
		target = own
	}
	basic, err := accountant.Basic(part.Count, part.Cost)
	if err == nil && own > target {
		err = fmt.Errorf("delta = %g, but the mechanisms' own add up to %g: %w", target, own,
			accountant.ErrDeltaTooSmall)
	}
	if r.Delta > 0 {
		basic.Delta = r.Delta
	}
	add(accountant.MethodBasic, basic, "", err)
	if part.Count == 1 || own == target {
		return target // nothing to compose, or nothing to spend on it
	}
	if target >= 1 { // no ε is worth that
		add(accountant.MethodGeneral, accountant.Cost{}, "", errDeltaOne())
		add(accountant.MethodOptimal, accountant.Cost{}, "", errDeltaOne())
		return target
	}
	if spend {
		general, err := accountant.General(part.Count, part.Cost, r.Slack)
		add(accountant.MethodGeneral, general, "", err)
	} else {
		general, note, err := generalAt(part, target)
		add(accountant.MethodGeneral, general, note, err)
	}
	optimal, err := accountant.Optimal(part.Count, part.Cost, target)
	add(accountant.MethodOptimal, optimal, "exact", err)
	return target
}

// totalDelta returns 1-(1-slack)·Π(1-δ)^k, rounded up: a slack is one more δ.
func totalDelta(slack float64, parts ...accountant.Repeated) float64 {
	var all []accountant.Repeated
	for _, p := range parts {
		all = append(all, accountant.Repeated{Cost: accountant.Cost{Delta: p.Cost.Delta}, Count: p.Count})
	}
	all = append(all, accountant.Repeated{Cost: accountant.Cost{Delta: slack}, Count: 1})
	total, err := accountant.BasicHeterogeneous(all)
	if err != nil { // the parts were checked
		return 1
	}
	return total.Delta
}

// generalAt is General's composition at a total δ: it spends what is left of it.
func generalAt(part accountant.Repeated, target float64) (accountant.Cost, string, error) {
	// The relation plays no part in what costs add up to.
	a, err := accountant.New(accountant.ReplaceOne)
	if err == nil {
		a, err = a.Charge(accountant.ApproxDP{Cost: part.Cost, Neighbours: accountant.ReplaceOne},
			part.Count)
	}
	if err != nil {
		return accountant.Cost{}, "", err
	}
	report, err := a.AtDelta(target, accountant.MethodGeneral)
	if err != nil {
		return accountant.Cost{}, "", err
	}
	if best, ok := report.Best(); ok {
		return best.Cost, best.Note, nil
	}
	return accountant.Cost{}, "", report.Refused[0].Err
}

func errDeltaOne() error {
	return fmt.Errorf("the mechanisms' delta adds up to 1: %w", accountant.ErrDeltaTooSmall)
}

// composeNoise adds the bounds on answers that are private by their own noise, as compose. What
// follows from an (ε, δ) alone is left out where the cost of one answer was composed already.
func (r Answers) composeNoise(report *Report, target float64, fixed, composed bool) float64 {
	refuse := func(m accountant.Method, err error) {
		report.Refused = append(report.Refused, Refusal{OfAnswers, r.Queries, m, err})
	}
	a, err := accountant.New(r.Noise.Event.Relation())
	if err == nil {
		a, err = a.Charge(r.Noise.Event, r.Queries)
	}
	if err != nil {
		refuse(accountant.MethodBasic, err)
		return target
	}
	if !fixed {
		target = totalDelta(r.Slack, withDelta(a.Charges())...)
	}
	if target >= 1 {
		refuse(accountant.MethodBasic, errDeltaOne())
		return target
	}
	bounds, err := a.AtDelta(target, applicable(a.Charges(), composed)...)
	if err != nil {
		refuse(accountant.MethodBasic, err)
		return target
	}
	for _, b := range bounds.Bounds {
		report.Bounds = append(report.Bounds, Bound{OfAnswers, r.Queries, b.Method, b.Cost, true, b.Note})
	}
	for _, f := range bounds.Refused {
		refuse(f.Method, f.Err)
	}
	return target
}

// withDelta returns the events that have a δ of their own.
func withDelta(charges []accountant.Charge) []accountant.Repeated {
	var parts []accountant.Repeated
	for _, c := range charges {
		switch e := c.Event.(type) {
		case accountant.ApproxDP:
			parts = append(parts, accountant.Repeated{Cost: e.Cost, Count: c.Count})
		case accountant.HockeyStick:
			parts = append(parts, accountant.Repeated{Cost: e.Cost(), Count: c.Count})
		}
	}
	return parts
}

// applicable leaves out what is refused anyway, and privacy loss distributions, which take
// the longest, where another method is exact. composed states that the (ε, δ) of a HockeyStick were
// composed before.
func applicable(charges []accountant.Charge, composed bool) []accountant.Method {
	gaussian, costs, more := true, true, false // more is known of some than their (ε, δ)
	for _, c := range charges {
		switch c.Event.(type) {
		case accountant.Gaussian:
			costs = false
		case accountant.ApproxDP, accountant.RandomizedResponse:
			gaussian = false
		case accountant.Laplace:
			gaussian, more = false, true
		case accountant.HockeyStick:
			gaussian, more = false, true
			costs = costs && !composed
		default:
			gaussian, costs = false, false
		}
	}
	exact := gaussian || costs && !more && len(charges) == 1
	return slices.DeleteFunc(accountant.Methods(), func(m accountant.Method) bool {
		switch m {
		case accountant.MethodBasic, accountant.MethodGeneral, accountant.MethodOptimal:
			return !costs
		case accountant.MethodGaussian:
			return !gaussian
		case accountant.MethodPLD:
			return exact
		}
		return false
	})
}
