package release

import (
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/constraints"
	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/gamma"
	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/ledger"
)

// promises are mechanisms that differ in one thing that they presume or promise, each with the
// ledger entry that it must leave.
func promises(t *testing.T) map[string]*ensemble.Mechanism {
	t.Helper()
	noise := func(p constraints.Problem, r accountant.Relation) *ensemble.Mechanism {
		f := must.Get(gamma.Constant(p.K, 0.01))(t)
		return must.Get(ensemble.DaRRM(must.Get(gamma.Certify(t.Context(), p, f))(t), r))(t)
	}
	private := constraints.Problem{K: 25, M: 1, Epsilon: 0.1, TeacherDelta: 1e-6, Delta: 1e-5,
		Affected: 2}
	less := func(change func(*constraints.Problem)) constraints.Problem {
		p := private
		change(&p)
		return p
	}
	counts := func(s ensemble.Setting) *ensemble.Mechanism {
		return must.Get(ensemble.LNMax(s, 0.5))(t)
	}
	s := ensemble.Setting{K: 25, Classes: 3, Affected: 1, Neighbours: accountant.ReplaceOne}
	all, other := s, s
	all.Affected, other.Neighbours = 25, accountant.AddOrRemoveOne
	return map[string]*ensemble.Mechanism{
		"private": noise(private, accountant.ReplaceOne),
		"fewer":   noise(less(func(p *constraints.Problem) { p.K = 11 }), accountant.ReplaceOne),
		"reach":   noise(less(func(p *constraints.Problem) { p.Affected = 5 }), accountant.ReplaceOne),
		"epsilon": noise(less(func(p *constraints.Problem) { p.Epsilon = 0.2 }), accountant.ReplaceOne),
		"teacher delta": noise(less(func(p *constraints.Problem) { p.TeacherDelta = 2e-6 }),
			accountant.ReplaceOne),
		"delta": noise(less(func(p *constraints.Problem) { p.Delta = 2e-5 }),
			accountant.ReplaceOne),
		"relation of private teachers": noise(private, accountant.AddOrRemoveOne),
		"promise nothing": noise(constraints.Problem{K: 25, TotalEpsilon: 0.3, Epsilon: math.Inf(1),
			Delta: 1e-5, Affected: 1}, accountant.ReplaceOne),
		"counts": counts(s), "counts of all": counts(all), "counts, relation": counts(other),
	}
}

// What is presumed, and charged, is what the mechanism was proved for: every entry repeats it, and
// a ledger for another relation refuses the charge.
func TestPlanIsOfTheMechanism(t *testing.T) {
	seen := map[string]string{}
	for name, m := range promises(t) {
		s, teachers := m.Setting(), m.Teachers()
		c := Charge{Ledger: "stated", RequestID: "a"}
		if !math.IsInf(teachers.Epsilon, 1) {
			c.Teachers, c.Ensemble = "frozen", "e"
		}
		plan := must.Get(NewPlan(m))(t).WithQueries(3)
		b := must.Get(plan.Bill(c))(t)
		for relation, of := range map[accountant.Relation]ledger.Relation{
			accountant.ReplaceOne:     ledger.ReplaceOne,
			accountant.AddOrRemoveOne: ledger.AddOrRemoveOne,
		} {
			budget := must.Get(ledger.NewBudget(1e3, 0.5))(t)
			l := must.Get(ledger.Create(t.Context(), t.TempDir()+"/l", budget, of))(t)
			_, err := b.Pay(t.Context(), l, false)
			if (err == nil) != (relation == s.Neighbours) || err != nil &&
				!errors.Is(err, ledger.ErrRelation) {
				t.Errorf("%s, ledger for %v: %v", name, relation, err)
			}
		}
		var e Event
		if err := json.Unmarshal(b.release.Event, &e); err != nil || e.K != s.K ||
			e.Affected != s.Affected ||
			*e.PerAnswer != m.PerAnswer() {
			t.Errorf("%s: %+v, %v", name, e, err)
		}
		totals := must.Get(plan.Totals(nil))(t)
		want := must.Get(m.Answers(3, totals.Slack).Total())(t)
		if totals.Fresh.Cost != want.Cost || (totals.Frozen == nil) != (c.Teachers == "") {
			t.Errorf("%s: %+v, want %v", name, totals, want.Cost)
		}
		if c.Teachers == "" {
			continue
		}
		frozen := must.Get(accountant.Basic(s.Affected, teachers))(t)
		if totals.Frozen.Cost.Epsilon > frozen.Epsilon ||
			totals.Frozen.Cost.Epsilon < 0.7*frozen.Epsilon {
			t.Errorf("%s: frozen %v, %d teachers cost %v", name, totals.Frozen.Cost, s.Affected, frozen)
		}
		// Two that presume something else of frozen teachers charge something else.
		text := string(b.training.Event) + string(b.release.Event) + b.release.Relation.Name()
		if before, ok := seen[text]; ok {
			t.Errorf("%s is charged as %s", name, before)
		}
		seen[text] = name
	}
}

// No exported field of what a front end fills in states what the mechanism states, so none can
// differ from it. Stated is the operator's word, which is compared with it.
func TestNothingIsStatedBesideTheMechanism(t *testing.T) {
	words := []string{"problem", "affected", "relation", "neighbour", "epsilon", "delta", "mechanism",
		"certified", "peranswer", "k", "m", "classes", "totals"}
	for _, of := range []reflect.Type{reflect.TypeFor[Plan](), reflect.TypeFor[Charge](),
		reflect.TypeFor[Labels](), reflect.TypeFor[OnlineOptions](), reflect.TypeFor[Bill](),
		reflect.TypeFor[ensemble.Mechanism]()} {
		for i := range of.NumField() {
			f := of.Field(i)
			if f.IsExported() && slices.Contains(words, strings.ToLower(f.Name)) {
				t.Errorf("%v has a field %s", of, f.Name)
			}
		}
	}
	for name, of := range map[string]any{"Totals": Plan.Totals, "Bill": Plan.Bill} {
		f := reflect.TypeOf(of)
		for i := 1; i < f.NumIn(); i++ {
			if in := f.In(i); in != reflect.TypeFor[Charge]() && in != reflect.TypeFor[*float64]() {
				t.Errorf("%s takes a %v", name, in)
			}
		}
	}
}

// A plan needs a mechanism that a constructor made.
func TestPlanNeedsAMechanism(t *testing.T) {
	for name, m := range map[string]*ensemble.Mechanism{"nil": nil, "zero": new(ensemble.Mechanism)} {
		if _, err := NewPlan(m); !isUsage(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
	var zero Plan
	_, totals := zero.Totals(nil)
	_, bill := zero.Bill(Charge{})
	_, online := OpenOnline(t.Context(), OnlineOptions{})
	_, relation := DaRRM(promises(t)["private"].NoiseFunction(), 0)
	for name, err := range map[string]error{"fits": zero.Fits(1, 2), "totals": totals, "bill": bill,
		"online": online} {
		if !isUsage(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if relation == nil {
		t.Error("a promise for no relation")
	}
}
