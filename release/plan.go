package release

import (
	"encoding/binary"
	"fmt"
	"hash"
	"math"
	"math/big"
	"slices"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/constraints"
	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/gamma"
	"github.com/darrm/darrm/internal/num"
	"github.com/darrm/darrm/plurality"
)

// Plan is a mechanism, the number of its answers, and the promise of its teachers.
type Plan struct {
	Mechanism *ensemble.Mechanism
	// Problem has the promise of the teachers and the number of them that one record reaches; ε =
	// +Inf where the mechanism presumes no promise.
	Problem constraints.Problem
	// Certified is the noise function of DaRRM and its baselines, nil of other mechanisms.
	Certified *gamma.Certified
	// Plurality is the table of the optimal plurality, nil of other mechanisms.
	Plurality *plurality.Certified
	Queries   int
}

// DaRRM returns answers with a certified noise function to the votes of the teachers that it
// is certified for. neighbours is the relation of their promise.
func DaRRM(c *gamma.Certified, neighbours accountant.Relation) (Plan, error) {
	m, err := ensemble.DaRRM(c, neighbours)
	return Plan{Mechanism: m, Problem: c.Problem(), Certified: c}, err
}

// Plurality returns answers with a certified table for many classes. neighbours is the relation
// for which its t was counted.
func Plurality(c *plurality.Certified, neighbours accountant.Relation) (Plan, error) {
	m, err := ensemble.Plurality(c, neighbours)
	if err != nil {
		return Plan{}, err
	}
	return Plan{Mechanism: m, Problem: ensemble.OfCounts(m.Setting(), m.PerAnswer()), Plurality: c},
		nil
}

// Fits refuses votes of other teachers or classes than the mechanism is for.
func (plan Plan) Fits(teachers, classes int) error {
	if s := plan.Mechanism.Setting(); s.K != teachers || s.Classes != classes {
		return InputError{fmt.Errorf("the votes are those of K = %d teachers for %d classes, but %s is "+
			"made for %d and %d",
			teachers, classes, plan.Mechanism.Name(), s.K, s.Classes)}
	}
	return nil
}

// abstention is the name of an answer that names no class.
const abstention = "abstained"

// AnswerNames returns the names of the answers about classes of these names, in order; the last
// one is that of an abstention, where there are any.
func (plan Plan) AnswerNames(classes []string) []string {
	names := slices.Clone(classes)
	if plan.Mechanism.Abstains() {
		names = append(names, abstention)
	}
	return names
}

// tabled reports whether the mechanism is given by certified numbers.
func (plan Plan) tabled() bool { return plan.Certified != nil || plan.Plurality != nil }

// pin adds the numbers of the mechanism to the hash: two mechanisms that could answer the same
// votes differently differ in it.
func (plan Plan) pin(h hash.Hash) {
	var buf []byte
	add := func(v uint64) {
		buf = binary.LittleEndian.AppendUint64(buf[:0], v)
		h.Write(buf)
	}
	if c := plan.Plurality; c != nil {
		p, end := c.Problem(), c.System().Variables()
		h.Write([]byte("plurality"))
		add(uint64(p.K))
		add(uint64(p.Classes))
		for i := range end {
			add(c.Mass(i))
		}
		return
	}
	for _, v := range plan.Certified.Func().Values() {
		add(math.Float64bits(v))
	}
}

// certificate describes the check of the mechanism's numbers; "" where it has none.
func (plan Plan) certificate() string {
	switch {
	case plan.Plurality != nil:
		c := plan.Plurality.Certificate()
		return fmt.Sprintf("certified against all %s privacy rows", num.Thousands(big.NewInt(c.Rows)))
	case plan.Certified != nil:
		return fmt.Sprintf("certified against all %s constraints", num.Thousands(plan.Problem.Count()))
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

// Totals accounts for the answers. slack is [Charge.Slack]. Where the teachers promise
// nothing, all privacy is the mechanism's own noise, fresh in every answer. The errors are
// those of [ensemble.Answers.Total].
func (plan Plan) Totals(slack *float64) (t Totals, err error) {
	p, per := plan.Problem, plan.Mechanism.PerAnswer()
	if t.Slack = ensemble.SlackFor(per); slack != nil {
		t.Slack = *slack
	}
	r := plan.Mechanism.Answers(plan.Queries, accountant.Cost{Epsilon: p.Epsilon,
		Delta: p.TeacherDelta}, t.Slack)
	if t.Fresh, err = r.Total(); err != nil || !plan.promise() {
		return t, err
	}
	// A slack of its own: what is charged once must not depend on who asks first.
	r.Slack = ensemble.SlackFor(r.Teachers)
	again, err := r.AnyNumber()
	if err != nil {
		return t, err
	}
	frozen, err := Frozen(p)
	t.Frozen, t.Again = &frozen, &again
	return t, err
}

// promise reports whether the teachers are private themselves.
func (plan Plan) promise() bool { return !math.IsInf(plan.Problem.Epsilon, 1) }

// Frozen returns what any number of answers of teachers that were trained once costs.
func Frozen(p constraints.Problem) (ensemble.Total, error) {
	return ensemble.Answers{
		K: p.K, Affected: p.Affected, Randomness: ensemble.FrozenTeachers,
		Teachers: accountant.Cost{Epsilon: p.Epsilon, Delta: p.TeacherDelta},
	}.AnyNumber()
}
