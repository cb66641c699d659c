package ensemble

import (
	"cmp"
	"errors"
	"fmt"
	"math"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/internal/check"
)

// TeacherRandomness states how teachers spend their privacy: whether they draw new randomness for
// every query. The joint cost of many answers depends on it.
type TeacherRandomness string

const (
	// every answer of a teacher is a new run of its private mechanism
	FreshTeachers TeacherRandomness = "fresh"
	// teachers were trained once, privately or not, and vote ever after
	FrozenTeachers TeacherRandomness = "frozen"
	// teachers that promise nothing have no privacy to spend; the zero value
	NothingPromised TeacherRandomness = ""
)

// Answers is a series of answers by one ensemble. All its costs are for one neighbouring
// relation, that of the teachers' own promise.
type Answers struct {
	Queries   int             // Q ≥ 0, how many answers are released
	PerAnswer accountant.Cost // of one answer by itself, given what Teachers promise: (mε, δ)
	// besides PerAnswer or instead of it: one answer that is private by its own noise
	Noise NoisyAnswer
	// besides Noise: the price of many answers of a table; nil for none
	Joint *JointPrice
	// instead of all: the price of all answers, fixed before the first one
	Together Together
	// of one teacher's training, or of one answer if fresh: (ε, Δ); ε = +Inf if they promise nothing
	Teachers accountant.Cost
	K        int // teachers
	// t, the most teachers that one record reaches; K if unknown, 1 if their data are disjoint
	Affected   int
	Randomness TeacherRandomness // no default
	// δ' in [0,1) that compositions may spend besides the δ; 0 spends none
	Slack float64
	Delta float64 // instead of Slack: the total δ in (0,1) at which ε is asked for
}

// defaultSlack is the most δ' that a composition spends by default.
const defaultSlack = 1e-6

// SlackFor returns the slack that applies where none was stated, for parts of this cost: 1e-6,
// but never more than the δ that is stated of one part. Parts with δ = 0 have a total with δ = 0,
// so no δ is presumed. It depends on the cost of one part only: never on how many there are, nor on
// what is left of a budget. A slack that did would be chosen by what was released before, and
// composition theorems do not allow that.
func SlackFor(each accountant.Cost) float64 {
	return min(defaultSlack, each.Delta)
}

// NoisyAnswer is an answer whose privacy is that of its own noise, new in every answer,
// whatever the teachers are: noisy vote counts, of which one record changes at most
// Affected votes. It adds up over queries even where teachers are frozen.
//
// Under ReplaceOne a record that is replaced leaves one teacher and may join another:
// where the data are split by a rule that looks at the record, that is two votes.
type NoisyAnswer struct {
	Event    accountant.Event // nil for none
	Affected int              // the most votes that may differ for Event to hold
}

// Total is the joint cost of Answers.
type Total struct {
	Cost accountant.Cost // what holds
	Rule string          // what it follows from, for people

	// QueryFold is the figure that publications print: General's composition of all
	// answers (Basic's where Slack and Delta are 0; the best of a NoisyAnswer). With
	// frozen teachers that promise something it is no guarantee.
	QueryFold      accountant.Cost
	QueryFoldHolds bool
}

// Total returns what all answers cost together. Every figure is rounded up.
//
//	fresh                   the Q-fold composition of PerAnswer, or the tQ-fold one of Teachers
//	frozen                  the t-fold composition of Teachers, however many queries
//	frozen, promise nothing the Q-fold composition of PerAnswer
//	Noise, either way       the Q-fold composition of Noise
//	Together, either way    its Cost, for up to Most answers
//
// Composition theorems need fresh randomness in every query. Answers of frozen teachers
// share that of their training, so PerAnswer holds for each answer but does not add up:
// two answers can reveal together what neither does alone. What holds is
// post-processing: all answers are a function of the trained teachers, of which one
// record reaches t. With t = 1 (disjoint training data) that is one teacher's cost. A
// single frozen answer also has its own.
//
// Where teachers promise nothing (Teachers.Epsilon = +Inf), PerAnswer is what the
// mechanism's own randomness gives whatever t of the votes do. That is fresh in every
// query and holds given the trained teachers, so it adds up. PerAnswer must then have
// been worked out for teachers that promise nothing: with any other it is no guarantee.
//
// Compositions are the optimal ones (accountant.Optimal) at total δ = 1-(1-δ)^k(1-δ'),
// beyond MaxOptimalCount those of General, or Basic where that has no larger ε; of a
// NoisyAnswer, the best of the Accountant. One answer spends no slack of its own cost. Of
// several totals that hold it is the one of the smallest ε among those whose δ is at most
// that of the answers: no ε is bought with a larger δ. Bounds lists all. The error names
// the parameter that is out of range or missing: a zero PerAnswer, or frozen Teachers of
// zero cost, is taken for one that was forgotten.
//
// Answers are one request: Queries, the costs and Slack are fixed before anything is
// drawn. Several requests add up, ε and δ each, whoever chooses them after having seen
// earlier answers. Composing them again as one larger series gives a smaller figure that
// does not hold for such a choice.
func (r Answers) Total() (Total, error) {
	b, err := r.Bounds()
	if err != nil {
		return Total{}, err
	}
	if r.Queries == 0 {
		return Total{Rule: "nothing released", QueryFoldHolds: true}, nil
	}
	best, ok := b.Best()
	if !ok {
		return Total{}, b.refusal()
	}
	t := Total{Cost: best.Cost, Rule: best.Rule()}
	// the first that is there
	for _, want := range []accountant.Method{accountant.MethodGeneral, accountant.MethodBasic, ""} {
		for _, x := range b.Bounds {
			if x.Of == OfAnswers && (x.Method == want || want == "" || x.Count == 1) {
				t.QueryFold, t.QueryFoldHolds = x.Cost, x.Holds
				return t, nil
			}
		}
	}
	return t, nil
}

// AnyNumber returns what any number of answers to the same Queries rows of votes cost
// together, by any mechanism, however they are chosen: all are functions of the votes, or
// of the frozen teachers.
//
//	fresh   the tQ-fold composition of Teachers, for as long as nobody votes anew
//	frozen  the t-fold composition of Teachers, whatever Queries is
//
// It is the smallest of Basic, General and accountant.Optimal at total δ = Delta, or
// 1-(1-Δ)^k(1-δ') with δ' = Slack. PerAnswer and Noise play no part. QueryFold is left
// empty. Teachers that promise nothing have no such total, which is ErrUnsupported:
// there the noise is new in each answer, and each answer costs what it costs. Other errors
// as Total.
func (r Answers) AnyNumber() (Total, error) {
	if err := r.checkPlan(); err != nil {
		return Total{}, err
	}
	if !r.teachersArePrivate() {
		return Total{}, fmt.Errorf(
			"answers of teachers that cost %v have no total for any number of them: state the teachers' (epsilon, "+
				"delta), with a finite epsilon: %w", r.Teachers, accountant.ErrUnsupported)
	}
	if r.Randomness == FreshTeachers && r.Queries == 0 {
		return Total{Rule: "nothing released"}, nil
	}
	var report Report
	r.composeTeachers(&report, r.Delta, r.Delta > 0)
	report.sort()
	best, ok := report.Best()
	if !ok {
		return Total{}, report.refusal()
	}
	rule := best.Rule()
	if r.Randomness == FreshTeachers {
		rule += ", for any number of answers to these votes"
	}
	return Total{Cost: best.Cost, Rule: rule}, nil
}

func (r Answers) check() error {
	if err := r.checkPlan(); err != nil {
		return err
	}
	if r.Together.Most > 0 {
		return r.checkTogether()
	}
	if r.Noise.Event != nil {
		if err := r.checkNoise(); err != nil {
			return err
		}
	}
	if r.Noise.Event == nil || r.PerAnswer != (accountant.Cost{}) {
		if err := checkCost("answer's ", r.PerAnswer); err != nil {
			return err
		}
	}
	if r.Noise.Event != nil {
		return nil
	}
	if r.PerAnswer == (accountant.Cost{}) && r.Queries > 0 {
		return check.Want("cost of one answer", r.PerAnswer, "stated: more than (0, 0)")
	}
	if r.Randomness == FrozenTeachers && r.Teachers == (accountant.Cost{}) {
		return check.Want("cost of one frozen teacher", r.Teachers,
			"stated: more than (0, 0), or with epsilon = +Inf where it promises nothing")
	}
	return nil
}

// checkPlan checks all but what one answer costs.
func (r Answers) checkPlan() error {
	if r.Queries < 0 {
		return check.Want("queries", r.Queries, "at least 0")
	}
	if err := cmp.Or(check.Teachers(r.K), check.Affected(r.Affected, r.K)); err != nil {
		return err
	}
	if !(r.Slack >= 0 && r.Slack < 1) {
		return check.Want("slack", r.Slack, "in [0,1)")
	}
	if err := check.Delta("total delta", r.Delta); err != nil {
		return err
	}
	if r.Delta > 0 && r.Slack > 0 {
		return check.Want("slack", r.Slack, "0 where a total delta is given")
	}
	if r.Randomness != FreshTeachers && r.Randomness != FrozenTeachers {
		return errors.New("teacher randomness must be stated: FreshTeachers or FrozenTeachers")
	}
	return r.checkTeachers()
}

func (r Answers) checkTeachers() error {
	if math.IsInf(r.Teachers.Epsilon, 1) {
		return check.Delta("teacher delta", r.Teachers.Delta)
	}
	return checkCost("teacher ", r.Teachers)
}

// checkCost validates the pair; prefix names whose it is.
func checkCost(prefix string, c accountant.Cost) error {
	return cmp.Or(check.Epsilon(prefix+"epsilon", c.Epsilon), check.Delta(prefix+"delta", c.Delta))
}

func (r Answers) checkNoise() error {
	if _, err := accountant.Compose(accountant.Charge{Event: r.Noise.Event, Count: 1}); err != nil {
		return err
	}
	// Noise for one vote hides one vote, not the many that overlapping data can change.
	if r.Noise.Affected < r.Affected {
		return fmt.Errorf("%v is for records that reach %d teachers, but here one reaches %d: %w",
			r.Noise.Event, r.Noise.Affected, r.Affected, accountant.ErrUnsupported)
	}
	return nil
}

// teachersArePrivate reports whether the teachers' own (ε, Δ) is stated and finite.
func (r Answers) teachersArePrivate() bool {
	return r.Teachers != (accountant.Cost{}) && !math.IsInf(r.Teachers.Epsilon, 1)
}
