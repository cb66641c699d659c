package plan

import (
	"encoding/json"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/internal/testing/must"
)

// Notes and warnings name parameters, or what a front end calls them, and are those of the plan.
func TestReportNotes(t *testing.T) {
	votes := must.Get(NewSample(3, 2))(t)
	if err := votes.Add([]int{1, 2}); err != nil {
		t.Fatal(err)
	}
	prior := must.Get(Prior(3, 2, 0.75))(t)
	base := Request{
		Stated: ensemble.Stated{K: 3, Classes: 2, Affected: new(3), Neighbours: accountant.ReplaceOne},
		Budget: accountant.Cost{Epsilon: 6}, Queries: 2, Votes: prior,
	}
	private := new(0.1)
	for name, tt := range map[string]struct {
		change func(*Request)
		o      ReportOptions
		want   []string // beginnings of notes and warnings
		not    string
	}{
		"reach unsaid": {func(*Request) {}, ReportOptions{},
			[]string{"Neither affected nor data was given, so one record may reach all 3 teachers."},
			"disjoint, say affected"},
		"reach said": {func(*Request) {}, ReportOptions{ReachStated: true}, nil, "Neither"},
		"named": {func(r *Request) { r.Votes = votes },
			ReportOptions{Name: func(p string) string { return "--" + p }},
			[]string{"Neither --affected nor --data was given",
				"agreement was computed from the votes: it is NOT PRIVATE"}, ""},
		"frozen, disjoint": {func(r *Request) {
			r.Affected, r.Epsilon, r.Teachers = new(1), private, ensemble.FrozenTeachers
		}, ReportOptions{}, []string{"No noise is needed: the teachers are private, and with disjoint " +
			"data (affected 1) one record reaches one of them. All labels together cost (0.1, 0), " +
			"however many."}, ""},
		"frozen, too dear": {func(r *Request) {
			r.Affected, r.Epsilon, r.Teachers, r.Budget = new(3), private, ensemble.FrozenTeachers,
				accountant.Cost{Epsilon: 0.2}
		}, ReportOptions{}, []string{"The teachers' own privacy does not fit: their training costs",
			"No mechanism is useful",
			"If the teachers' data are disjoint, say affected 1: then no noise is needed."}, ""},
		"frozen, too dear by a rounding": {func(r *Request) {
			r.Affected = new(3)
			r.state(accountant.Cost{Epsilon: 0.1, Delta: 1e-5}, ensemble.FrozenTeachers)
			// 1-(1-1e-5)^3 in floating point; exactly it is 2.9999700001e-05
			r.Budget = accountant.Cost{Epsilon: 0.3, Delta: 2.9999700000837848e-05}
		}, ReportOptions{Name: func(p string) string { return "--" + p }},
			[]string{"The teachers' own privacy fits the budget but for rounding: their training costs " +
				"δ = 2.9999700001e-05, and the budget's δ = 2.9999700000837848e-05 is below that."},
			"does not fit: their training"},
		"no noise": {func(r *Request) {
			r.Affected, r.Epsilon, r.Teachers, r.Queries = new(1), private, ensemble.FreshTeachers, 1
		}, ReportOptions{}, []string{"No noise is needed: all the votes that one record reaches may be " +
			"revealed within the budget."}, ""},
		"many classes": {func(r *Request) {
			r.Affected, r.Epsilon, r.Teachers, r.Classes = new(1), private, ensemble.FrozenTeachers, 3
			r.Votes = must.Get(Prior(3, 3, 0.75))(t)
		}, ReportOptions{}, []string{"The teachers' own privacy fits the budget without noise: the class with the most votes"},
			"No noise is needed"},
		"few ones of several labels": {func(r *Request) { r.Queries, r.Several = 5, ensemble.Several{Labels: 5, MostYes: 1} }, ReportOptions{},
			[]string{"At most 1 of the 5 labels of a question are counted of a teacher, so a label has at most 0.6 of the 3 votes"}, ""},
		"several labels": {func(r *Request) { r.Queries, r.Several = 5, ensemble.Several{Labels: 5} }, ReportOptions{}, nil,
			"labels of a question are counted"},
		"all of several labels": {func(r *Request) { r.Queries, r.Several = 5, ensemble.Several{Labels: 5, MostYes: 5} }, ReportOptions{}, nil,
			"labels of a question are counted"},
		"wanted more": {func(r *Request) { r.Affected, r.Budget.Epsilon, r.Agreement = new(1), 0.5, 0.9 },
			ReportOptions{},
			[]string{"For 90.00 % agreement, 2 labels need a budget of ε = ",
				"For 90.00 % agreement, this budget pays for "}, ""},
		"worthless": {func(r *Request) { r.Budget.Delta = 0.5 }, ReportOptions{Records: 100},
			[]string{"this total protects nobody: "}, ""},
	} {
		r := base
		tt.change(&r)
		report := NewReport(r, must.Get(New(t.Context(), r))(t), tt.o)
		said := append(report.Notes, report.Warnings...)
		all := strings.Join(said, "\n")
		for _, want := range tt.want {
			if !strings.Contains("\n"+all, "\n"+want) {
				t.Errorf("%s: no %q in\n%s", name, want, all)
			}
		}
		if tt.not != "" && strings.Contains(all, tt.not) {
			t.Errorf("%s: %q in\n%s", name, tt.not, all)
		}
		if wanted := r.promise(); wanted != (report.PerTeacher != nil) ||
			wanted == (report.Teachers == "promise nothing") {
			t.Errorf("%s: teachers %q, each %v", name, report.Teachers, report.PerTeacher)
		}
	}
}

// A report has the plan's choices and refusals, of which there is a list where there are none.
func TestReportIsThePlan(t *testing.T) {
	r := Request{
		Stated: ensemble.Stated{K: 3, Classes: 2, Affected: new(1), Neighbours: accountant.ReplaceOne},
		Votes:  must.Get(Prior(3, 2, 0.75))(t), Budget: accountant.Cost{Epsilon: 6, Delta: 1e-5}, Queries: 2,
	}
	p := must.Get(New(t.Context(), r))(t)
	report := NewReport(r, p, ReportOptions{})
	if len(report.Choices) != len(p.Choices) || len(report.Refused) != len(p.Refused) {
		t.Fatalf("%+v", report)
	}
	for i, c := range p.Choices {
		x := report.Choices[i]
		if x.Mechanism != c.Name || x.AllLabels != c.Total || x.PerLabel != c.Mechanism.PerAnswer() ||
			x.Slack != c.Slack || len(x.Bounds) != len(c.Bounds.Bounds) {
			t.Errorf("%+v is reported of %+v", x, c)
		}
	}
	if b := string(must.Get(json.Marshal(NewReport(r, &Plan{Choices: p.Choices}, ReportOptions{})))(
		t)); !strings.Contains(b, `"refused":[]`) {
		t.Errorf("no list of refusals in %s", b)
	}
}

// docs/plan.md has every field.
func TestReportPage(t *testing.T) {
	page := strings.ReplaceAll(string(must.Get(os.ReadFile("../docs/plan.md"))(t)), "`choices[].", "`")
	var look func(reflect.Type)
	look = func(kind reflect.Type) {
		for i := range kind.NumField() {
			f := kind.Field(i)
			if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); !strings.Contains(page, "`"+name+"`") {
				t.Errorf("docs/plan.md does not have `%s`", name)
			}
			for f.Type.Kind() == reflect.Slice || f.Type.Kind() == reflect.Pointer {
				f.Type = f.Type.Elem()
			}
			if strings.HasPrefix(f.Type.Name(), "Reported") {
				look(f.Type)
			}
		}
	}
	look(reflect.TypeFor[Report]())
}
