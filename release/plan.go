package release

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"
	"sync"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/constraints"
	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/gamma"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/handle"
	"github.com/darrm/darrm/internal/num"
	"github.com/darrm/darrm/ledger"
	"github.com/darrm/darrm/plurality"
	"github.com/darrm/darrm/votes"
)

// Plan is a mechanism and the number of its answers. What a release presumes of the teachers, and
// what it is charged, follows from the mechanism's proof. It is immutable and safe for concurrent
// use. The zero Plan has no mechanism and is refused.
type Plan struct {
	mechanism *ensemble.Mechanism
	queries   int
	several   ensemble.Several     // what queries are labels of
	labels    int                  // answers that one charge pays for; 0 where each release pays for its answers
	whole     Totals               // of labels
	table     Table                // of the mechanism, where more than its numbers is known
	numbers   func() ledger.Digest // see tableDigest
}

// NewPlan returns the plan of answers by m, without their number. m is required.
func NewPlan(m *ensemble.Mechanism) (Plan, error) {
	m = handle.Copy(m)
	plan := Plan{mechanism: m, numbers: sync.OnceValue(func() ledger.Digest { return digestOfTable(m) })}
	if err := plan.check(); err != nil {
		return Plan{}, err
	}
	return plan, nil
}

// planOf is NewPlan of a mechanism that was made with err.
func planOf(m *ensemble.Mechanism, err error) (Plan, error) {
	if err != nil {
		return Plan{}, err
	}
	return NewPlan(m)
}

// check refuses a plan without a mechanism that a constructor made.
func (plan Plan) check() error {
	if plan.mechanism == nil || plan.mechanism.Setting().Validate() != nil {
		return usagef("mechanism must be given: a plan is made of one that package ensemble made")
	}
	return nil
}

// Mechanism returns a copy of the mechanism; nil for the zero Plan.
func (plan Plan) Mechanism() *ensemble.Mechanism { return handle.Copy(plan.mechanism) }

// Queries returns the number of answers that are drawn.
func (plan Plan) Queries() int { return plan.queries }

// WithSeveral returns the plan for queries that are the labels of questions. They are charged as
// [ensemble.Several.Answers] says, whichever of a question's labels are asked. s is of teachers that promise
// nothing and of two classes.
func (plan Plan) WithSeveral(s ensemble.Several) (Plan, error) {
	if err := plan.check(); err != nil {
		return Plan{}, err
	}
	if err := cmp.Or(s.Validate(), s.Fits(plan.mechanism.Setting().K)); err != nil {
		return Plan{}, &UsageError{err}
	}
	switch setting, own := plan.mechanism.Setting(), plan.mechanism.LabelTables(); {
	case own > 0 && own != s.Labels:
		return Plan{}, usagef("the table has masses for each of %d labels of a question, in their order, but %d labels "+
			"are stated", own, s.Labels)
	case own > 0 && s.YesFrom != "": // as in a plan: shares of yes are of labels that the majority decides
		return Plan{}, usagef("the table has masses for the share of yes of each label, which goes without another number of " +
			"teachers from which on a label is yes")
	case s == ensemble.Several{}:
	case s.Labels > 0 && plan.promise():
		return Plan{}, usagef("several labels of a question presume nothing of the teachers: a promise about one "+
			"label is none about all of them, so %s goes without it", plan.mechanism.Name())
	case setting.Classes != 2:
		return Plan{}, usagef("each of several labels, and a question with another number of teachers from which on it is yes, "+
			"has two classes, no and yes, but %s is for %d", plan.mechanism.Name(), setting.Classes)
	case setting.Missing && s.YesFrom != "":
		return Plan{}, usagef("votes that may be missing go without another number of teachers from which on a label is "+
			"yes: %s %v counts a blank of several labels as no, and %v one of a single question as a coin", pMissing,
			votes.MissingNo, votes.MissingCoin)
	case setting.Missing && s.MostYes != 0 && s.MostYes != s.Labels:
		return Plan{}, usagef("votes that may be missing change on every label, so they go without a most of them: "+
			"%s %v counts a blank as no", pMissing, votes.MissingNo)
	}
	plan.several = s
	return plan, nil
}

// Several returns L, τ and YesFrom of the questions whose labels the queries are; zero where a query is a question of
// its own.
func (plan Plan) Several() ensemble.Several { return plan.several }

// charged returns N, the number of answers that the queries are charged as.
func (plan Plan) charged() int {
	return plan.several.Answers(plan.queries, plan.mechanism.Setting().Affected)
}

// WithQueries returns the plan for the given number of answers.
func (plan Plan) WithQueries(n int) Plan {
	plan.queries = n
	return plan
}

// ForLabels returns the plan under which one charge pays for up to n labels, in any number of
// releases. A table for many answers has the price that it was made with; n answers of another
// mechanism have their joint price. slack is [Charge.Slack]. n is fixed before the first answer.
// Teachers whose own privacy is spent have no such charge: fresh ones pay for each series of votes,
// frozen ones once for all.
func (plan Plan) ForLabels(n int, slack *float64) (Plan, error) {
	if err := plan.check(); err != nil {
		return Plan{}, err
	}
	switch most := plan.mechanism.Together().Most; {
	case most > 0 && n != most:
		return Plan{}, &UsageError{check.Wantf("queries", n, "%d, the number of answers that the table was made for", most)}
	case most > 0:
		return plan, nil
	case plan.promise():
		return Plan{}, usagef("%s = %d goes with noise that needs no privacy of the teachers' own: %s "+
			"spends it, so fresh teachers pay for the labels of each release, and frozen ones once for all",
			pQueries, n, plan.mechanism.Name())
	}
	var err error
	plan.labels = 0
	whole := plan
	whole.queries, whole.several = n, ensemble.Several{}
	if plan.whole, err = whole.Totals(slack); err != nil {
		return Plan{}, err
	}
	plan.labels = n
	return plan, nil
}

// ForQuestions is ForLabels of n questions, each with several labels or one.
func (plan Plan) ForQuestions(n int, several ensemble.Several, slack *float64) (Plan, error) {
	if err := plan.check(); err != nil {
		return Plan{}, err
	}
	return plan.ForLabels(n*several.PerQuestion(plan.mechanism.Setting().Affected), slack)
}

// Together returns the price that all answers have in common, and how many there are at most: 0
// where each release pays for its own.
func (plan Plan) Together() ensemble.Together {
	switch {
	case plan.mechanism == nil:
		return ensemble.Together{}
	case plan.labels > 0:
		return ensemble.Together{Cost: plan.whole.Fresh.Cost, Most: plan.labels}
	}
	return plan.mechanism.Together()
}

// Table returns a copy of the mechanism's table, where more than its numbers is known.
func (plan Plan) Table() Table { return handle.Deep(plan.table) }

// WithTable returns the plan with the table that its mechanism is of, so that all that is known of
// it is kept with its charge. A table of other numbers is left out.
func (plan Plan) WithTable(t Table) Plan {
	m := plan.mechanism
	if m != nil && (t.Answers != nil && t.Answers.Certified.Same(m.AnswersTable()) ||
		t.Noise != nil && t.Noise.Certified.Same(m.PricedNoise()) ||
		t.Plurality != nil && t.Plurality.Certified.Same(m.Table()) ||
		t.Gamma != nil && t.Gamma.Certified.Same(m.NoiseFunction())) {
		plan.table = handle.Deep(t)
	}
	return plan
}

// DaRRM returns answers with a certified noise function to the votes of the teachers that it
// is certified for. neighbours is the relation of their promise.
func DaRRM(c *gamma.Certified, neighbours accountant.Relation) (Plan, error) {
	return planOf(ensemble.DaRRM(c, neighbours))
}

// Plurality returns answers with a certified table for many classes. neighbours is the relation
// for which its t was counted.
func Plurality(c *plurality.Certified, neighbours accountant.Relation) (Plan, error) {
	return planOf(ensemble.Plurality(c, neighbours))
}

// Baseline returns answers with the baseline of this name, certified for p. neighbours is the relation
// of the teachers' promise.
func Baseline(ctx context.Context, name string, p constraints.Problem,
	neighbours accountant.Relation) (Plan, error) {
	d, _ := ensemble.Describe(name)
	kind, ok := d.Baseline()
	if !ok {
		return Plan{}, fmt.Errorf("%q is no baseline of the literature", name)
	}
	b, err := kind.Certify(ctx, p)
	if err != nil {
		return Plan{}, err
	}
	return planOf(ensemble.Baseline(b, neighbours))
}

// Fits refuses votes of other teachers or classes than the mechanism is for.
func (plan Plan) Fits(teachers, classes int) error {
	if err := plan.check(); err != nil {
		return err
	}
	if s := plan.mechanism.Setting(); s.K != teachers || s.Classes != classes {
		return &InputError{fmt.Errorf("the votes are those of K = %d teachers for %d classes, but %s is "+
			"made for %d and %d",
			teachers, classes, plan.mechanism.Name(), s.K, s.Classes)}
	}
	return nil
}

// Reads refuses a treatment of missing votes for which the mechanism was not proved: a missing vote
// that counts as none needs a mechanism for such votes, which draws no vote in its place.
func (plan Plan) Reads(missing votes.MissingPolicy) error {
	if err := plan.check(); err != nil {
		return err
	}
	switch takes := plan.mechanism.Setting().Missing; {
	case missing == votes.MissingAbstain && !takes:
		return usagef("%s %s does not go with %s %s: %w; those that take missing votes are %s",
			pMechanism, plan.mechanism.Name(), pMissing, missing, ensemble.ErrMissing,
			strings.Join(ensemble.MissingNames(), ", "))
	case missing == votes.MissingCoin && takes:
		return usagef("%s %s is proved for votes that may be missing: it goes with %s %s, not with %s",
			pMechanism, plan.mechanism.Name(), pMissing, votes.MissingAbstain, missing)
	}
	return nil
}

// abstention is the name of an answer that names no class.
const abstention = "abstained"

// AnswerNames returns the names of the answers about classes of these names, in order; the last
// one is that of an abstention, where there are any.
func (plan Plan) AnswerNames(classes []string) []string {
	names := slices.Clone(classes)
	if plan.mechanism != nil && plan.mechanism.Abstains() {
		names = append(names, abstention)
	}
	return names
}

// tabled reports whether the mechanism is given by certified numbers.
func (plan Plan) tabled() bool {
	m := plan.mechanism
	return m.NoiseFunction() != nil || m.Table() != nil || m.HashOfAll() != ""
}

// certificate describes the check of the mechanism's numbers; "" where it has none.
func (plan Plan) certificate() string {
	switch m := plan.mechanism; {
	case m.Table() != nil:
		c := m.Table().Certificate()
		return fmt.Sprintf("certified against all %s privacy rows", num.Thousands(big.NewInt(c.Rows)))
	case m.AnswersTable() != nil:
		c := m.AnswersTable().Certificate()
		return fmt.Sprintf("%s priced over all %s pairs of neighbours", num.All(m.Together().Most, "answer"),
			num.Thousands(big.NewInt(int64(c.Pairs))))
	case m.PricedNoise() != nil:
		return num.All(m.Together().Most, "answer") + " priced by their labels over all counts"
	case m.NoiseFunction() != nil:
		return fmt.Sprintf("certified against all %s constraints",
			num.Thousands(m.NoiseFunction().Certificate().Constraints))
	}
	return ""
}

// Totals is the joint cost of the answers, by the kind of teachers.
type Totals struct {
	Slack  float64 // δ' that Fresh spends
	Fresh  ensemble.Total
	Frozen *ensemble.Total // nil where the teachers promise nothing
	// Again is the joint cost of any number of further answers to the same votes of fresh teachers;
	// nil where the teachers promise nothing, since then every answer pays.
	Again *ensemble.Total
}

// cost returns what holds of teachers that spend so, and the larger ε and δ where that is unknown.
// Totals that nobody worked out promise nothing.
func (t Totals) cost(spend ensemble.TeacherRandomness) accountant.Cost {
	switch {
	case t == Totals{}:
		return accountant.Cost{Epsilon: math.Inf(1), Delta: 1}
	case t.Frozen == nil || spend == ensemble.FreshTeachers:
		return t.Fresh.Cost
	case spend == ensemble.FrozenTeachers:
		return t.Frozen.Cost
	}
	return accountant.Cost{Epsilon: max(t.Fresh.Cost.Epsilon, t.Frozen.Cost.Epsilon),
		Delta: max(t.Fresh.Cost.Delta, t.Frozen.Cost.Delta)}
}

// Totals accounts for the answers. slack is [Charge.Slack]. Where the teachers promise
// nothing, all privacy is the mechanism's own noise, fresh in every answer. The errors are
// those of [ensemble.Answers.Total].
func (plan Plan) Totals(slack *float64) (t Totals, err error) {
	if err := plan.check(); err != nil {
		return Totals{}, err
	}
	if plan.labels > 0 {
		if n := plan.charged(); n > plan.labels {
			return Totals{}, tooMany(n, plan.labels)
		}
		return plan.whole, nil
	}
	together := plan.mechanism.Together().Most > 0
	switch {
	case together && slack != nil && *slack != 0:
		return Totals{}, &UsageError{check.Want("slack", *slack,
			"left out for a table for many answers: nothing composes")}
	case slack != nil:
		t.Slack = *slack
	case !together:
		t.Slack = ensemble.SlackFor(plan.mechanism.PerAnswer())
	}
	r := plan.mechanism.Answers(plan.charged(), t.Slack)
	if t.Fresh, err = r.Total(); err != nil || !plan.promise() {
		return t, err
	}
	// A slack of its own: what is charged once must not depend on who asks first.
	r.Slack = ensemble.SlackFor(r.Teachers)
	again, err := r.AnyNumber()
	if err != nil {
		return t, err
	}
	frozen, err := plan.frozen()
	t.Frozen, t.Again = &frozen, &again
	return t, err
}

// promise reports whether the teachers are private themselves.
func (plan Plan) promise() bool { return !math.IsInf(plan.mechanism.Teachers().Epsilon, 1) }

// frozen returns what any number of answers of teachers that were trained once costs.
func (plan Plan) frozen() (ensemble.Total, error) {
	s := plan.mechanism.Setting()
	return ensemble.Answers{
		K: s.K, Affected: s.Affected, Randomness: ensemble.FrozenTeachers,
		Teachers: plan.mechanism.Teachers(),
	}.AnyNumber()
}
