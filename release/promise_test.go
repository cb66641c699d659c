package release

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/constraints"
	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/internal/testing/must"
)

// What goes on answering takes no table at its word, neither that the teachers are private nor that
// a record cannot reach all of them. Only the worst case needs no statement.
func TestOnlineNeedsTheTeachersStated(t *testing.T) {
	all := ways(t)
	for name, w := range all {
		_, options := newOnline(t, w.plan, w.charge, 1e3)
		p := w.plan.mechanism.Problem()
		unstated, presumes := "nothing was stated of the teachers", w.plan.promise()
		if !presumes {
			unstated = "since neither affected nor data was given, but the mechanism is for"
			presumes = p.Affected < p.K
		}
		for _, c := range []struct {
			stated ensemble.Stated
			want   string // in the error; "" for none
			fails  bool
		}{
			{saidOf(w.plan), "", false},
			{ensemble.Stated{}, unstated, presumes},
			{ensemble.Stated{M: new(7.), Delta: new(.1)}, unstated, presumes},
			{ensemble.Stated{Epsilon: new(0.05), TeacherDelta: new(1e-5), Affected: new(3)}, "epsilon = 0.05", true},
			{ensemble.Stated{Affected: new(p.K + 1)}, "the mechanism is for", true},
		} {
			options.Stated = c.stated
			o, err := OpenOnline(t.Context(), options)
			var usage *UsageError
			if c.fails && (o != nil || !errors.As(err, &usage) || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("%s, %+v: %v, want %q", name, c.stated, err, c.want)
			}
			if !c.fails && err != nil {
				t.Errorf("%s, %+v: %v", name, c.stated, err)
			}
		}
	}
	o, _ := newOnline(t, all["fresh"].plan, all["fresh"].charge, 1e3)
	p, text, said := o.Stated()
	want := "each (0.1, 1e-05)-differentially private; one record may reach all 3 teachers"
	if !said || p != all["fresh"].plan.mechanism.Problem() || text != want {
		t.Errorf("%v %+v %q", said, p, text)
	}
	worst := must.Get(ensemble.LNMax(ensemble.Setting{K: 10, Classes: 3, Affected: 10,
		Neighbours: accountant.ReplaceOne}, 0.5))(t)
	_, options := newOnline(t, must.Get(NewPlan(worst))(t), Charge{}, 1e3)
	options.Stated = ensemble.Stated{}
	if _, text, said := openOnline(t, options).Stated(); said || text != "" {
		t.Errorf("nothing was stated, and it says %q", text)
	}
}

// A table is taken for the teachers that were stated, all of them and with the worst case
// for what was left out; where nothing was said of them it is taken at its word.
func TestTableMustMatchWhatIsStated(t *testing.T) {
	disjoint := constraints.Problem{K: 5, M: 1, Epsilon: 0.3, TeacherDelta: 1e-5, Affected: 1,
		Delta: 1e-5}
	overlapping := disjoint
	overlapping.Affected = 5
	nothing := constraints.Problem{K: 5, TotalEpsilon: 1, Epsilon: math.Inf(1), Affected: 1}
	f := func(x float64) *float64 { return &x }
	n := func(x int) *int { return &x }
	for _, tt := range []struct {
		name   string
		stated ensemble.Stated
		table  constraints.Problem
		want   string // in the error; "" for none
	}{
		{"nothing said", ensemble.Stated{}, disjoint, ""},
		{"all said", ensemble.Stated{Epsilon: f(0.3), TeacherDelta: f(1e-5), Affected: n(1)}, disjoint, ""},
		{"reach left out", ensemble.Stated{Epsilon: f(0.3), TeacherDelta: f(1e-5)}, disjoint, "affected = 5"},
		{"reach left out, worst case", ensemble.Stated{Epsilon: f(0.3), TeacherDelta: f(1e-5)}, overlapping, ""},
		{"all reached", ensemble.Stated{Epsilon: f(0.3), TeacherDelta: f(1e-5), Affected: n(ensemble.AllTeachers)},
			overlapping, ""},
		{"all reached, table for one", ensemble.Stated{Epsilon: f(0.3), TeacherDelta: f(1e-5),
			Affected: n(ensemble.AllTeachers)}, disjoint, "affected = 5"},
		{"fewer reached than the table has", ensemble.Stated{Epsilon: f(0.3), TeacherDelta: f(1e-5),
			Affected: n(1)}, overlapping, "affected = 1"},
		{"another epsilon", ensemble.Stated{Epsilon: f(0.2), TeacherDelta: f(1e-5), Affected: n(1)}, disjoint,
			"epsilon = 0.2"},
		{"another delta", ensemble.Stated{Epsilon: f(0.3), TeacherDelta: f(1e-4), Affected: n(1)}, disjoint,
			"teacher delta = 0.0001"},
		{"epsilon left out", ensemble.Stated{TeacherDelta: f(1e-5), Affected: n(1)}, disjoint,
			"epsilon was not given"},
		{"delta left out", ensemble.Stated{Epsilon: f(0.3), Affected: n(1)}, disjoint,
			"teacher delta was not given"},
		{"reach only", ensemble.Stated{Affected: n(1)}, disjoint, "epsilon was not given"},
		{"reach only, no promise", ensemble.Stated{Affected: n(1)}, nothing, ""},
		{"reach left out, no promise", ensemble.Stated{Epsilon: f(math.Inf(1))}, nothing, "affected = 5"},
		{"the release's own", ensemble.Stated{M: f(1), Delta: f(1e-5)}, disjoint, ""},
		{"another allowance", ensemble.Stated{M: f(2)}, disjoint, "m = 2"},
		{"another delta of a release", ensemble.Stated{Delta: f(1e-6)}, disjoint, "delta = 1e-06"},
		{"a total instead of an allowance", ensemble.Stated{LabelEpsilon: f(0.3)}, disjoint, "label epsilon = 0.3"},
	} {
		err := Match(tt.stated, tt.table, "t.json")
		var usage *UsageError
		switch {
		case tt.want == "" && err != nil:
			t.Errorf("%s: %v", tt.name, err)
		case tt.want != "" && (err == nil || !errors.As(err, &usage) ||
			!strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), "t.json")):
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
	}
}

func TestAffectedByData(t *testing.T) {
	for data, want := range map[string]int{"disjoint": 1, "overlapping": ensemble.AllTeachers} {
		if got, err := AffectedByData(data); err != nil || got != want {
			t.Errorf("%s: %d, %v", data, got, err)
		}
	}
	for _, data := range []string{"", "Disjoint", "both"} {
		if got, err := AffectedByData(data); err == nil {
			t.Errorf("%q: %d", data, got)
		}
	}
}

// What was said is the problem, with the worst case for what was left out. A total ε of 0 that was
// said is an error and not the lack of one.
func TestStatedProblem(t *testing.T) {
	f := func(x float64) *float64 { return &x }
	n := func(x int) *int { return &x }
	for _, tt := range []struct {
		stated ensemble.Stated
		want   constraints.Problem
	}{
		{ensemble.Stated{Epsilon: f(0.3), TeacherDelta: f(0), M: f(2)},
			constraints.Problem{K: 5, M: 2, Epsilon: 0.3, Affected: 5}},
		{ensemble.Stated{Epsilon: f(0.3), TeacherDelta: f(0), M: f(2), Affected: n(ensemble.AllTeachers)},
			constraints.Problem{K: 5, M: 2, Epsilon: 0.3, Affected: 5}},
		{ensemble.Stated{Epsilon: f(math.Inf(1)), LabelEpsilon: f(1), Affected: n(2), Delta: f(1e-5)},
			constraints.Problem{K: 5, TotalEpsilon: 1, Epsilon: math.Inf(1), Affected: 2, Delta: 1e-5}},
	} {
		if got, err := tt.stated.Problem(5); err != nil || got != tt.want {
			t.Errorf("%+v, %v, want %+v", got, err, tt.want)
		}
	}
	for want, s := range map[string]ensemble.Stated{
		"label epsilon = 0": {Epsilon: f(0.3), TeacherDelta: f(0), LabelEpsilon: f(0), M: f(1)},
		"affected = 6":      {Epsilon: f(0.3), TeacherDelta: f(0), M: f(1), Affected: n(6)},
	} {
		if _, err := s.Problem(5); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
