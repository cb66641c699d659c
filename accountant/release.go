package accountant

import (
	"errors"
	"fmt"

	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/num"
)

// TeacherRandomness says whether teachers draw new randomness for every query. What
// many answers cost together turns on it.
type TeacherRandomness int

// The zero TeacherRandomness is neither and is refused.
const (
	FreshTeachers  TeacherRandomness = iota + 1 // every answer of a teacher is a new run of its private mechanism
	FrozenTeachers                              // teachers were trained once, privately, and vote ever after
)

// String returns "fresh" or "frozen".
func (t TeacherRandomness) String() string {
	switch t {
	case FreshTeachers:
		return "fresh"
	case FrozenTeachers:
		return "frozen"
	}
	return fmt.Sprintf("TeacherRandomness(%d)", int(t))
}

// Release is a series of answers by one ensemble.
type Release struct {
	Queries    int               // Q ≥ 0, how many answers are released
	PerAnswer  Cost              // of one answer by itself: (mε, δ)
	Teachers   Cost              // of one teacher's training, or of one answer if fresh: (ε, Δ)
	K          int               // teachers
	Affected   int               // t, the most teachers that one record reaches; K if unknown
	Randomness TeacherRandomness // no default
	Slack      float64           // δ' in [0,1) that compositions may spend besides the δ; 0 spends none
}

// ReleaseTotal is what a Release costs.
type ReleaseTotal struct {
	Cost Cost   // what holds
	Rule string // what it follows from, for people

	// QueryFold is General's composition of all answers at the slack (Basic's where
	// that is 0), the figure that publications print. It holds for fresh teachers only;
	// with frozen ones it is no guarantee.
	QueryFold      Cost
	QueryFoldHolds bool
}

// Total returns what all answers cost together. Every figure is rounded up.
//
//	fresh    the Q-fold composition of PerAnswer
//	frozen   the t-fold composition of Teachers, however many queries
//
// Composition theorems need fresh randomness in every query. Answers of frozen teachers
// share that of their training, so PerAnswer holds for each answer but does not add up:
// two answers can reveal together what neither does alone. What holds is
// post-processing: all answers are a function of the trained teachers, of which one
// record reaches t. With t = 1 (disjoint training data) that is one teacher's cost. A
// single frozen answer also has its own.
//
// Compositions are the optimal ones (OptimalHomogeneous) at total δ = 1-(1-δ)^k(1-δ'),
// or Basic where that has no larger ε. The error names the parameter that is out of
// range. Frozen teachers that promise nothing (ε = ∞) have no total here: their
// mechanism's noise alone must be accounted for.
func (r Release) Total() (ReleaseTotal, error) {
	if err := r.check(); err != nil {
		return ReleaseTotal{}, err
	}
	if r.Queries == 0 {
		return ReleaseTotal{Rule: "nothing released", QueryFoldHolds: true}, nil
	}
	var t ReleaseTotal
	var err error
	if r.Slack > 0 {
		t.QueryFold, err = General(r.Queries, r.PerAnswer, r.Slack)
	} else {
		t.QueryFold, err = Basic(r.Queries, r.PerAnswer)
	}
	if err != nil {
		return ReleaseTotal{}, err
	}
	t.QueryFoldHolds = r.Randomness == FreshTeachers || r.Queries == 1
	if r.Randomness == FreshTeachers {
		t.Cost, t.Rule, err = composeBest(r.Queries, r.PerAnswer, r.Slack, "answers")
		return t, err
	}
	t.Cost, t.Rule, err = composeBest(r.Affected, r.Teachers, r.Slack, "teachers")
	if err != nil {
		return ReleaseTotal{}, err
	}
	if r.Queries == 1 && r.PerAnswer.Epsilon < t.Cost.Epsilon {
		t.Cost, t.Rule = r.PerAnswer, "one answer"
	}
	return t, nil
}

func (r Release) check() error {
	if r.Queries < 0 || r.Queries > MaxOptimalCount {
		return &check.Error{Name: "queries", Value: r.Queries, Rule: fmt.Sprintf("between 0 and %d", MaxOptimalCount)}
	}
	if err := r.PerAnswer.check(""); err != nil {
		return err
	}
	if err := check.Teachers(r.K); err != nil {
		return err
	}
	if err := check.Affected(r.Affected, r.K); err != nil {
		return err
	}
	if !(r.Slack >= 0 && r.Slack < 1) {
		return &check.Error{Name: "slack", Value: r.Slack, Rule: "in [0,1)"}
	}
	switch r.Randomness {
	case FreshTeachers:
		return nil // what the teachers cost is within PerAnswer
	case FrozenTeachers:
		return r.Teachers.check("teacher ")
	}
	return errors.New("teacher randomness must be stated: FreshTeachers or FrozenTeachers")
}

// composeBest composes k of one cost, with the rule that gave the figure.
func composeBest(k int, each Cost, slack float64, what string) (Cost, string, error) {
	basic, err := Basic(k, each)
	if err != nil {
		return Cost{}, "", err
	}
	if k == 1 {
		return basic, "one of the " + what, nil
	}
	rule := fmt.Sprintf("basic composition of %d %s", k, what)
	if slack > 0 {
		o, err := OptimalHomogeneous(k, each)
		if err != nil {
			return Cost{}, "", err
		}
		delta := withSlack(o.catastrophe, num.FromRat(num.Decimal(slack)))
		if delta < 1 {
			eps, err := o.Epsilon(delta)
			if err != nil {
				return Cost{}, "", err
			}
			if eps < basic.Epsilon {
				return Cost{eps, delta}, fmt.Sprintf("optimal composition of %d %s", k, what), nil
			}
		}
	}
	return basic, rule, nil
}
