// Package handle_test overwrites all that the module gives out.
package handle_test

import (
	"bytes"
	"fmt"
	"math"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"github.com/darrm/darrm"
	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/accountant/noisymax"
	"github.com/darrm/darrm/constraints"
	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/gamma"
	"github.com/darrm/darrm/gamma/solve"
	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/ledger"
	"github.com/darrm/darrm/ledger/memory"
	"github.com/darrm/darrm/plurality"
	"github.com/darrm/darrm/plurality/answers"
	answerssolve "github.com/darrm/darrm/plurality/answers/solve"
	pluralitysolve "github.com/darrm/darrm/plurality/solve"
	"github.com/darrm/darrm/release"
)

const teachers = 5

// kind is a mechanism with all that it was made of.
type kind struct {
	mechanism *ensemble.Mechanism
	table     release.Table
}

// kinds returns mechanisms of each kind, at ε and twice for tables.
func kinds(t *testing.T, epsilon float64) (all []kind) {
	t.Helper()
	const relation = accountant.ReplaceOne
	own := func(m *ensemble.Mechanism, err error) kind { return kind{mechanism: must.Get(m, err)(t)} }
	for _, teacher := range []float64{epsilon / 4, math.Inf(1)} {
		p := constraints.Problem{K: teachers, M: 2, Epsilon: teacher, Affected: 1}
		if math.IsInf(teacher, 1) {
			p.M, p.TotalEpsilon = 0, epsilon
		}
		table := must.Get(solve.Optimal(t.Context(), p, solve.Options{}))(t)
		all = append(all, kind{must.Get(ensemble.Optimal(table, relation))(t), release.Table{Gamma: table}})
	}
	p := constraints.Problem{K: teachers, M: 2, Epsilon: epsilon / 4, Affected: teachers}
	three := must.Get(pluralitysolve.Optimal(t.Context(),
		plurality.Problem{K: teachers, Classes: 3, Epsilon: epsilon, Affected: 1},
		plurality.DefaultObjective(3), pluralitysolve.Options{}))(t)
	all = append(all, kind{must.Get(ensemble.OptimalPlurality(three, relation))(t),
		release.Table{Plurality: three}})
	many := answers.Problem{K: teachers, Classes: 2, Affected: 1, Answers: 7, Epsilon: epsilon,
		Delta: 1e-4}
	table := must.Get(answerssolve.Best(t.Context(), many, answers.DefaultPrior(many),
		answerssolve.Options{}))(t)
	all = append(all, kind{must.Get(ensemble.ManyAnswers(table.Certified, relation))(t),
		release.Table{Answers: table}})
	for _, d := range ensemble.Mechanisms() {
		if b, ok := d.Baseline(); ok && b.Applies(p) == nil {
			all = append(all, own(ensemble.Baseline(must.Get(b.Certify(t.Context(), p))(t), relation)))
		}
		if d.Calibrated() {
			s := ensemble.Setting{K: teachers, Classes: 3, Affected: 1, Neighbours: relation}
			all = append(all, own(ensemble.Calibrated(d.Name, s, accountant.Cost{Epsilon: epsilon, Delta: 1e-4},
				ensemble.Check{Ratio: ensemble.CheckRatio})))
		}
	}
	noise := must.Get(noisymax.Best(t.Context(), noisymax.Problem{Teachers: teachers, Classes: 3, Affected: 1, Answers: 7,
		Epsilon: epsilon, Delta: 1e-4}))(t)
	all = append(all, kind{must.Get(ensemble.NoiseOfAnswers(noise, relation))(t),
		release.Table{Noise: &noisymax.Table{Certified: noise}}})
	return all
}

// votes are counts of classes for the mechanism.
func votes(m *ensemble.Mechanism) []int {
	counts := make([]int, m.Setting().Classes)
	counts[0], counts[1] = 2, 3
	return counts
}

// state is all that a mechanism draws, says and costs.
func state(t *testing.T, m *ensemble.Mechanism) string {
	t.Helper()
	draws := make([]int, 100)
	for i := range draws {
		draws[i] = must.Get(m.Simulate(7, fmt.Sprint(i), votes(m)))(t)
	}
	cost := "no bound"
	if report, err := m.Answers(6, 1e-6).Bounds(); err == nil {
		cost = fmt.Sprintf("%+v", report)
	}
	return fmt.Sprintf("%v %v %v %+v %+v %+v %v %v %v", draws, m.Title(), m.Parameters(), m.Setting(),
		m.PerAnswer(), m.Together(), cost, m.Assumptions(), must.Get(m.Probabilities(votes(m)))(t))
}

// file is the file of a table, empty without one.
func file(t *testing.T, table release.Table) string {
	t.Helper()
	var b bytes.Buffer
	var err error
	switch {
	case table.Gamma != nil:
		err = table.Gamma.Encode(&b)
	case table.Plurality != nil:
		err = table.Plurality.Encode(&b)
	case table.Answers != nil:
		err = table.Answers.Encode(&b)
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// book returns a new ledger in memory.
func book(t *testing.T, budget float64) *ledger.Ledger {
	t.Helper()
	location, forget := memory.Make(filepath.Join(t.TempDir(), "secret"))
	t.Cleanup(forget)
	return must.Get(ledger.Create(t.Context(), location, must.Get(ledger.NewBudget(budget, 0.5))(t),
		ledger.ReplaceOne))(t)
}

// releaser returns a way to labels of the mechanism, and what it was made of.
func releaser(t *testing.T, k kind) (r *darrm.Releaser, m *darrm.Mechanism, plan release.Plan,
	paid *ledger.Ledger) {
	t.Helper()
	plan = must.Get(release.NewPlan(k.mechanism))(t).WithTable(k.table)
	if plan.Table() == (release.Table{}) != (k.table == (release.Table{})) {
		t.Errorf("%s: the plan lost its table", k.mechanism.Name())
	}
	p := k.mechanism.Problem()
	with := darrm.Teachers{K: p.K, Classes: k.mechanism.Setting().Classes, Affected: p.Affected,
		Neighbours: darrm.ReplaceOne}
	if !math.IsInf(p.Epsilon, 1) {
		with.Epsilon, with.Delta, with.Randomness = p.Epsilon, p.TeacherDelta, darrm.Fresh
	}
	m = must.Get(darrm.Use(with, plan))(t)
	paid = book(t, 1000)
	r = must.Get(darrm.NewReleaser(t.Context(), m, paid,
		darrm.KeyFile(filepath.Join(t.TempDir(), "key")),
		func(o *release.OnlineOptions) { o.Charge.AcceptWeak = true }))(t)
	return r, m, plan, paid
}

// What a mechanism, a plan, an on-line release or a releaser gives out is a copy: zero, or another
// mechanism, written over all of it changes no draw and no charge. The pointers are found by
// reflection.
func TestWhatIsGivenOutIsACopy(t *testing.T) {
	w := &walker{t: t, reached: map[string]bool{}}
	names, written := map[string]bool{}, 0
	others := kinds(t, 2)
	for i, k := range kinds(t, 1) {
		names[k.mechanism.Name()] = true
		r, m, plan, paid := releaser(t, k)
		otherR, otherM, otherPlan, _ := releaser(t, others[i])
		roots := []any{k.mechanism, &plan, m, r, paid}
		other := [][]reflect.Value{}
		for _, v := range []any{others[i].mechanism, &otherPlan, otherM, otherR} {
			other = append(other, w.of(v))
		}
		before, table := state(t, k.mechanism), file(t, plan.Table())
		const key = "00112233445566778899aabbccddeeff"
		ask := func(id string) *release.Answered {
			return must.Get(r.Online().Answer(t.Context(),
				release.Query{ID: id, ReplayKey: key, Counts: votes(k.mechanism)}))(t)
		}
		first, unit := ask("first"), r.Online().Unit()
		for round, values := range [][]reflect.Value{nil, slices.Concat(other...)} {
			for _, root := range roots {
				written += overwrite(w.of(root), values)
			}
			name := fmt.Sprintf("%s, round %d", k.mechanism.Name(), round)
			if state(t, k.mechanism) != before || state(t, plan.Mechanism()) != before ||
				file(t, plan.Table()) != table || state(t, r.Online().Plan().Mechanism()) != before {
				t.Errorf("%s: the mechanism is another", name)
			}
			now := must.Get(paid.Spent(t.Context()))(t)
			again, next := ask("first"), ask(name)
			if !again.Replayed || again.Class != first.Class || next.Replayed || r.Online().Unit() != unit ||
				next.Charge.Unit != first.Charge.Unit {
				t.Errorf("%s: %+v, then %+v and %+v", name, first, again, next)
			}
			after := must.Get(paid.Spent(t.Context()))(t)
			if together := k.mechanism.Together(); together.Most == 0 && after != now.Plus(unit) {
				t.Errorf("%s: %v was spent for %v", name, after.Minus(now), unit)
			}
		}
	}
	for _, d := range ensemble.Mechanisms() {
		if !names[d.Name] {
			t.Errorf("%s was not tried: %v", d.Name, names)
		}
	}
	if written < 1000 {
		t.Errorf("%d values were written", written)
	}
	everyAccessor(t, w.reached)
}

// What a constructor took is a copy, too.
func TestWhatIsTakenIsACopy(t *testing.T) {
	all, others := kinds(t, 1), kinds(t, 2)
	for i, k := range all {
		r, _, plan, _ := releaser(t, k)
		before := state(t, plan.Mechanism())
		other := others[i].table
		switch {
		case k.table.Gamma != nil:
			*k.table.Gamma.Certified, *k.table.Gamma = *other.Gamma.Certified, *other.Gamma
		case k.table.Plurality != nil:
			*k.table.Plurality.Certified, *k.table.Plurality = *other.Plurality.Certified, *other.Plurality
		case k.table.Answers != nil:
			*k.table.Answers.Certified, *k.table.Answers = *other.Answers.Certified, *other.Answers
		}
		if state(t, k.mechanism) != before {
			t.Errorf("%s answers by another table", k.mechanism.Name())
		}
		*k.mechanism = *others[i].mechanism
		if state(t, plan.Mechanism()) != before || state(t, r.Online().Plan().Mechanism()) != before {
			t.Errorf("a plan answers as another mechanism: %s", k.mechanism.Name())
		}
	}

	p := plurality.Problem{K: 3, Classes: 3, Epsilon: 1, Affected: 1}
	s := must.Get(plurality.NewSystem(p))(t)
	c := must.Get(plurality.Round(t.Context(), s, s.PermuteAndFlip()))(t)
	law := must.Get(c.Law([]int{1, 2, 0}))(t)
	p.Epsilon = 2
	*s.Space, *s = plurality.Space{}, *must.Get(plurality.NewSystem(p))(t)
	if c.Problem().Epsilon != 1 || !slices.Equal(must.Get(c.Law([]int{1, 2, 0}))(t), law) {
		t.Errorf("a certified table is for %+v", c.Problem())
	}

	slack, owner := 0.0, book(t, 9)
	plan := must.Get(release.NewPlan(must.Get(ensemble.LNMax(ensemble.Setting{K: teachers, Classes: 2,
		Affected: 1, Neighbours: accountant.ReplaceOne}, 1))(t)))(t)
	o := must.Get(release.OpenOnline(t.Context(), release.OnlineOptions{Plan: plan, Book: owner,
		Stated: ensemble.Stated{Epsilon: new(math.Inf(1)), Affected: new(1)},
		Key:    filepath.Join(t.TempDir(), "key"), Charge: release.Charge{Slack: &slack}}))(t)
	id := owner.ID()
	slack, *owner = math.NaN(), ledger.Ledger{}
	got := must.Get(o.Batch(t.Context(), release.Batch{Name: "a", Counts: [][]int{{2, 3}}}))(t)
	if of := must.Get(o.Ledger(t.Context()))(t); of.ID() != id || len(got.Labels) != 1 {
		t.Errorf("%+v is paid for in %s", got, of.ID())
	}
	if (*gamma.Certified)(nil).Same(nil) || (*plurality.Certified)(nil).Same(nil) ||
		(*answers.Certified)(nil).Same(nil) {
		t.Error("no table is the same as none")
	}
}
