package certify

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/constraints"
	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/gamma"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/handle"
	"github.com/darrm/darrm/internal/param"
	"github.com/darrm/darrm/plurality"
	"github.com/darrm/darrm/plurality/answers"
)

// with returns what is stated of a mechanism in its file and beside it. What both state must be the same.
func with(file, more ensemble.Stated) (ensemble.Stated, error) {
	beside := param.Of(&more)
	for i, p := range param.Of(&file) {
		switch other := beside[i]; {
		case !other.Stated():
		case !p.Stated():
			p.Value.Set(other.Value)
		default:
			was, is := reflect.Indirect(p.Value).Interface(), reflect.Indirect(other.Value).Interface()
			if was != is {
				return file, check.Wantf(string(p.Name), is, "what the file states, %v", was)
			}
		}
	}
	return file, nil
}

// Draft is a mechanism from elsewhere, with the statements about it. It promises nothing. Exactly
// one of Gamma and Laws holds it. It may be read by several goroutines at once.
type Draft struct {
	// Stated is what the file states. Of K, with histograms their number of votes, all teachers are reached and
	// nothing is promised by them unless it is stated. For a stated ε of one label the smallest δ is
	// proved, for a stated δ the smallest ε. What each teacher promises counts for noise functions alone, and
	// only of fresh teachers: frozen ones have the same randomness in every label. A table does not
	// keep Neighbours, accountant.ReplaceOne unless stated: a release states it again.
	ensemble.Stated
	Gamma []float64                // see gamma.FromGiven
	Laws  []plurality.HistogramLaw // see plurality.Space.FromGiven
	// Abstains states that the last probability of each law is that of abstaining.
	Abstains bool
}

// Result is a certified table: the one of its tables that is not nil.
type Result struct {
	Gamma      *gamma.Table
	Plurality  *plurality.Table
	Answers    *answers.Table      // of one answer, for more than two classes that are told apart
	Change     float64             // the largest change of a probability by rounding, rounded up
	Neighbours accountant.Relation // that the promise is for
}

// StatementError reports statements about a mechanism that are missing or superfluous.
type StatementError struct{ Err error }

func (e *StatementError) Error() string { return fmt.Sprint(e.Err) }
func (e *StatementError) Unwrap() error { return e.Err }

func statef(format string, args ...any) error {
	return &StatementError{check.Namedf(format, args...)}
}

// MechanismError is the error for values that are no mechanism, whatever is stated of them.
type MechanismError struct{ Err error }

func (e *MechanismError) Error() string { return fmt.Sprint(e.Err) }
func (e *MechanismError) Unwrap() error { return e.Err }

// Certify rounds the mechanism and proves the smallest δ, or ε, of the rounded one, for what the
// file and more state. The errors name the parameter that breaks its rule; are a *MechanismError,
// which names the histogram; or a *gamma.ViolationError or *plurality.ViolationError where nothing
// can be proved, or ctx.Err(). Cost: that of CertifyDelta or CertifyEpsilon, and of a table's other
// figures.
func (d *Draft) Certify(ctx context.Context, more ensemble.Stated) (*Result, error) {
	d = handle.Made(d)
	s, err := with(d.Stated, more)
	if err != nil {
		return nil, err
	}
	if s.M != nil || (s.LabelEpsilon == nil) == (s.Delta == nil) {
		return nil, statef("exactly one of %v and %v must be stated: the other one is what is proved",
			check.Parameter("label epsilon"), check.Parameter("delta"))
	}
	r := &Result{Neighbours: cmp.Or(s.Neighbours, accountant.ReplaceOne)}
	if (d.Gamma == nil) == (d.Laws == nil) {
		return nil, &MechanismError{errors.New("it must be either gamma or histograms")}
	}
	if d.Gamma != nil {
		err = d.certifyGamma(ctx, s, r)
	} else {
		err = d.certifyLaws(ctx, s, r)
	}
	if err != nil {
		return nil, err
	}
	return r, nil
}

// value returns *p, or the default where p is nil.
func value[T any](p *T, otherwise T) T {
	if p == nil {
		return otherwise
	}
	return *p
}

func (d *Draft) certifyGamma(ctx context.Context, s ensemble.Stated, r *Result) error {
	if s.K == 0 {
		return statef("%v must be stated: how many teachers vote",
			check.Parameter("number of teachers K"))
	}
	if err := checkTeachers(s); err != nil {
		return err
	}
	if err := check.Teachers(s.K); err != nil {
		return err
	}
	f, change, err := gamma.FromGiven(s.K, d.Gamma)
	if err != nil {
		return &MechanismError{err}
	}
	return certifyNoise(ctx, s, f, change, r)
}

// certifyNoise certifies a noise function, one that treats the labels by their names among them.
func certifyNoise(ctx context.Context, s ensemble.Stated, f gamma.Func, change float64, r *Result) (err error) {
	each := s.Each()
	p := constraints.Problem{K: s.K, Affected: value(s.Affected, s.K), Epsilon: each.Epsilon, TeacherDelta: each.Delta}
	var c *gamma.Certified
	if s.LabelEpsilon != nil {
		if err := check.LabelEpsilon(*s.LabelEpsilon); err != nil { // 0 would be m to the library
			return err
		}
		p.TotalEpsilon = *s.LabelEpsilon
		c, err = gamma.CertifyDelta(ctx, p, f)
	} else {
		p.Delta = *s.Delta
		c, err = gamma.CertifyEpsilon(ctx, p, f)
	}
	if err != nil {
		return err
	}
	r.Change = change
	o := gamma.Objective{PriorMean: gamma.DefaultPriorMean, Shape: gamma.Free}
	if !f.Symmetric() { // the same prior, as counts of label 1
		o = gamma.Objective{Shape: gamma.ByName}
		if o.Counts, err = gamma.SharedCounts(s.K, gamma.DefaultPriorMean, 0.5); err != nil {
			return err
		}
	}
	r.Gamma, err = gamma.NewTable(ctx, c, o, gamma.Proof{})
	if err == nil {
		r.Gamma.Solver = solver
	}
	return err
}

// solver is the Solver of a table made from a given mechanism.
const solver = "given"

// checkTeachers checks what is stated of teachers that answer through a noise function.
func checkTeachers(s ensemble.Stated) error {
	if !s.Promised() {
		if s.Each().Delta != 0 || s.Teachers == ensemble.FreshTeachers {
			return statef("%v must be stated: what each teacher promises", check.Parameter("epsilon"))
		}
		return nil
	}
	switch {
	case s.Teachers == ensemble.FrozenTeachers:
		return statef("%v = %q, but then %v must be left out: the randomness of frozen teachers is "+
			"the same in every label, so the table must hide their votes by itself",
			check.Parameter("teachers"), s.Teachers, check.Parameter("epsilon"))
	case s.Teachers != ensemble.FreshTeachers || s.TeacherDelta == nil:
		return statef("%v = %v needs %v, and %v = %q: each vote is a new run of a private mechanism",
			check.Parameter("epsilon"), *s.Epsilon, check.Parameter("teacher delta"),
			check.Parameter("teachers"), ensemble.FreshTeachers)
	}
	return nil
}

// votes returns the number of votes of the first histogram.
func (d *Draft) votes() (votes int) {
	for _, v := range d.Laws[0].Votes {
		votes += min(max(0, v), check.MaxTeachers+1) // no overflow: there are at most 1000 classes
	}
	return votes
}

func (d *Draft) certifyLaws(ctx context.Context, s ensemble.Stated, r *Result) error {
	if s.Promised() || s.Each().Delta != 0 || s.Teachers == ensemble.FreshTeachers {
		return statef("%v, %v and %v do not go with histograms: nothing is presumed of the teachers",
			check.Parameter("epsilon"), check.Parameter("teacher delta"), check.Parameter("teachers"))
	}
	if len(d.Laws) == 0 {
		return &MechanismError{errors.New("the mechanism has no histogram")}
	}
	if slices.ContainsFunc(d.Laws, func(l plurality.HistogramLaw) bool {
		return !slices.IsSortedFunc(l.Votes, func(a, b int) int { return b - a })
	}) {
		return d.certifyNamed(ctx, s, r)
	}
	first, votes := d.Laws[0], d.votes()
	p := plurality.Problem{K: cmp.Or(s.K, votes), Classes: len(first.Votes), Abstain: d.Abstains,
		Epsilon: value(s.LabelEpsilon, 1), Delta: value(s.Delta, 0)}
	p.Affected = value(s.Affected, p.K)
	if err := p.Validate(); err != nil {
		return err
	}
	// Before the space is listed: a small file must not ask for a large one.
	if n := plurality.Histograms(p.K, p.Classes); len(d.Laws) < n/2 {
		return &MechanismError{check.Wantf("number of histograms", len(d.Laws),
			"%d: all sorted histograms of %d votes for %d classes", n, p.K, p.Classes)}
	}
	space := plurality.NewSpace(p.K, p.Classes, p.Abstain, false)
	masses, change, err := space.FromGiven(d.Laws)
	if err != nil {
		return &MechanismError{err}
	}
	var c *plurality.Certified
	if s.LabelEpsilon != nil {
		c, err = plurality.CertifyDelta(ctx, p, masses)
	} else {
		c, err = plurality.CertifyEpsilon(ctx, p, masses)
	}
	if err != nil {
		return err
	}
	r.Change = change
	r.Plurality, err = plurality.NewTable(ctx, c, plurality.DefaultObjective(p.Classes),
		plurality.Proof{})
	if err == nil {
		r.Plurality.Solver = solver
	}
	return err
}
