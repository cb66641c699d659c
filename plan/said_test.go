package plan

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/internal/testing/golden"
	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/plurality"
	"github.com/darrm/darrm/plurality/answers"
)

// fields returns a value as JSON, a line for each field.
func fields(t *testing.T, value any) string {
	t.Helper()
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(value); err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(b.String(), ",\"", ",\n\"")
}

// All that a plan says, for requests that differ from one in a setting or two: the report, its notes and warnings, the
// table for people, the errors; and the plans for other numbers of teachers and labels.
func TestAllThatIsSaidOfPlans(t *testing.T) {
	votes := must.Get(NewSample(3, 2))(t)
	for _, counts := range [][]int{{1, 2}, {1, 2}, {0, 3}, {3, 0}} {
		if err := votes.Add(counts); err != nil {
			t.Fatal(err)
		}
	}
	promise := func(epsilon, delta float64, how ensemble.TeacherRandomness) func(*Request) {
		return func(r *Request) { r.state(accountant.Cost{Epsilon: epsilon, Delta: delta}, how) }
	}
	frozen, fresh := promise(0.1, 1e-7, ensemble.FrozenTeachers), promise(0.1, 1e-7, ensemble.FreshTeachers)
	flags := ReportOptions{ReachStated: true, Records: 100, Classes: []string{"no", "yes"}, Name: func(p string) string { return "--" + p }}
	var b strings.Builder
	for _, tt := range []struct {
		name   string
		change func(*Request)
		o      ReportOptions
	}{
		{"base", func(*Request) {}, ReportOptions{}}, {"base, named", func(*Request) {}, flags},
		{"all reached", func(r *Request) { r.Affected = new(3) }, ReportOptions{}},
		{"all reached, named", func(r *Request) { r.Affected = new(3) }, ReportOptions{Name: flags.Name}},
		{"add-remove, no delta", func(r *Request) { r.Neighbours, r.Budget.Delta = accountant.AddOrRemoveOne, 0 }, ReportOptions{}},
		{"of votes", func(r *Request) { r.Votes = votes }, flags},
		{"wanted more", func(r *Request) { r.Agreement = 0.95 }, ReportOptions{}},
		{"wanted more, three classes", func(r *Request) { r.Classes, r.Votes, r.Agreement, r.Budget.Delta = 3, nil, 0.9, 0 }, flags},
		{"for labels", func(r *Request) { r.For, r.Budget.Delta = ForLabels, 0 }, ReportOptions{}},
		{"for nothing", func(r *Request) { r.For = "fun" }, ReportOptions{}},
		{"three classes", func(r *Request) { r.Classes, r.Votes = 3, nil }, ReportOptions{}},
		{"three classes, frozen", func(r *Request) { r.Classes, r.Votes = 3, nil; frozen(r) }, ReportOptions{}},
		{"frozen", frozen, ReportOptions{}}, {"frozen, reach 2", func(r *Request) { r.Affected = new(2); frozen(r) }, ReportOptions{}},
		{"frozen, too dear", func(r *Request) { r.Affected, r.Budget.Epsilon = new(3), 0.2; frozen(r) }, ReportOptions{}},
		{"frozen, too dear by a rounding", func(r *Request) {
			promise(0.1, 1e-5, ensemble.FrozenTeachers)(r)
			r.Affected, r.Budget = new(3), accountant.Cost{Epsilon: 0.3, Delta: 2.9999700000837848e-05}
		}, flags},
		{"fresh", func(r *Request) { r.Budget.Delta = 1e-5; fresh(r) }, ReportOptions{}}, {"fresh, one label", func(r *Request) { r.Queries = 1; fresh(r) }, ReportOptions{}},
		{"fresh, reach 3, wanted more", func(r *Request) {
			r.Affected, r.Agreement, r.Budget = new(2), 0.97, accountant.Cost{Epsilon: 0.15, Delta: 1e-5}
			fresh(r)
		}, ReportOptions{}},
		{"fresh, dear", promise(3, 0, ensemble.FreshTeachers), ReportOptions{}},
		{"missing votes", func(r *Request) { r.Missing = true }, ReportOptions{}},
		{"may abstain", func(r *Request) { r.Abstain, r.Budget.Delta = true, 1e-5 }, ReportOptions{}},
		{"several labels", func(r *Request) { r.Queries, r.Several = 10, ensemble.Several{Labels: 5, MostYes: 1} }, ReportOptions{}},
		{"several labels, any", func(r *Request) { r.Budget.Delta = 0; r.Queries, r.Several = 10, ensemble.Several{Labels: 5} }, ReportOptions{}},
		{"several labels, not whole", func(r *Request) { r.Queries, r.Several = 9, ensemble.Several{Labels: 5} }, ReportOptions{}},
		{"several labels, three classes", func(r *Request) { r.Classes, r.Votes, r.Queries, r.Several = 3, nil, 10, ensemble.Several{Labels: 5} }, ReportOptions{}},
		{"shares", func(r *Request) { r.Votes, r.Losses.Shares = nil, plurality.Shares{0.8, 0.2} }, flags},
		{"shares that tell nothing", func(r *Request) { r.Votes, r.Losses.Shares, r.Budget.Epsilon = nil, plurality.Shares{0.99, 0.01}, 0.05 }, flags},
		{"shares and costs", func(r *Request) {
			r.Votes, r.Losses = nil, Losses{Shares: plurality.Shares{0.8, 0.2}, Costs: plurality.Costs{{0, 2}, {3, 0}}}
		}, ReportOptions{}},
		{"shares, missing", func(r *Request) { r.Losses.Shares, r.Missing = plurality.Shares{0.8, 0.2}, true }, ReportOptions{}},
		{"shares for a student", func(r *Request) { r.Losses.Shares, r.For = plurality.Shares{0.8, 0.2}, ForStudent }, ReportOptions{}},
		{"shares of three, no delta", func(r *Request) {
			r.Classes, r.Votes, r.Losses.Shares, r.Budget.Delta = 3, nil, plurality.Shares{0.6, 0.3, 0.1}, 0
		}, ReportOptions{}},
		{"worthless", func(r *Request) { r.Budget.Delta = 0.5 }, flags},
		{"useless", func(r *Request) { r.Budget.Epsilon, r.Affected = 0.01, new(3) }, ReportOptions{}},
		{"useless, three classes", func(r *Request) { r.Classes, r.Votes, r.Budget.Epsilon, r.Affected = 3, nil, 0.01, new(3) }, ReportOptions{}},
		{"too little", func(r *Request) { r.Budget, r.Queries = accountant.Cost{Epsilon: 1e-6}, 100 }, ReportOptions{}},
		{"teachers missing", func(r *Request) { r.Missing = true; fresh(r) }, ReportOptions{}},
		{"teachers of several labels", func(r *Request) { r.Several = ensemble.Several{Labels: 5}; fresh(r) }, ReportOptions{}},
		{"teachers of no cost", promise(0, 0, ensemble.FreshTeachers), ReportOptions{}}, {"teachers of any kind", promise(1, 0, ""), ReportOptions{}},
		{"work below 0", func(r *Request) { r.Work = -1 }, ReportOptions{}}, {"little work", func(r *Request) { r.Work, r.Queries = 1, 2 }, ReportOptions{}},
		{"other votes", func(r *Request) { r.K = 6 }, ReportOptions{}}, {"too many labels", func(r *Request) { r.Queries = 10_000_001 }, ReportOptions{}},
	} {
		r := Request{Stated: ensemble.Stated{K: 3, Classes: 2, Affected: new(1), Neighbours: accountant.ReplaceOne},
			Votes: must.Get(Prior(3, 2, 0.75))(t), Queries: 4, Budget: accountant.Cost{Epsilon: 2, Delta: 1e-5}, SolveAnswers: normalNoise}
		switch tt.name { // the others leave out what takes the time
		case "base, named", "three classes", "missing votes", "of votes", "wanted more", "shares and costs", "several labels":
		default:
			r.Budget.Delta = 0
			r.SolveAnswers = func(context.Context, answers.Problem, answers.Prior) (*answers.Table, error) {
				return nil, errors.New("tables for many answers are left out")
			}
		}
		tt.change(&r)
		fmt.Fprintf(&b, "\n## %s\n", tt.name)
		p, err := New(t.Context(), r)
		if err != nil {
			var none *InfeasibleError
			fmt.Fprintf(&b, "refused: %v, of the budget: %t\n", err, errors.As(err, &none))
			continue
		}
		report := NewReport(r, p, tt.o)
		b.WriteString(fields(t, report))
		header, rows := p.Table()
		fmt.Fprintf(&b, "%q\n%q\n", header, rows)
		for _, c := range p.Choices {
			fmt.Fprintf(&b, "%s, %s, bound %.4g: %s\n", c.Name, c.Title(), c.Bound, c.Worth.Sentence(c.Agreement))
		}
		fmt.Fprintf(&b, "%d questions, %d labels, advice %+v\n", r.Questions(), r.Labels(), p.Advice)
		if tt.name == "base" {
			all := must.Get(Numbers(t.Context(), r, []int{1, 4, 12}))(t)
			fmt.Fprintf(&b, "numbers %s most %d\n", fields(t, ReportNumbers(all)), Most(all).Queries)
			sizes := must.Get(Sizes(t.Context(), r, []Size{{K: 2, Affected: 1}, {K: 3, Affected: 2}, {K: 4, Affected: 4}}))(t)
			for _, s := range sizes {
				fmt.Fprintf(&b, "%d teachers, %d reached: %s %.4f\n", s.K, s.Affected, s.Best.Name, s.Best.Agreement.Expected)
			}
		}
	}
	fmt.Fprintln(&b, UsualNumbers(0), UsualNumbers(50), UsualNumbers(777), UsualNumbers(2_000_000), Purposes())
	golden.Compare(t, "reports.golden", b.String(), 1e-3)
}

// All that laws of votes say: which are refused, and of the others the figures that follow from them.
func TestAllThatIsSaidOfLaws(t *testing.T) {
	var b strings.Builder
	say := func(name string, l *Law, err error) {
		fmt.Fprintf(&b, "\n## %s\n", name)
		if err != nil {
			fmt.Fprintf(&b, "refused: %v\n", err)
			return
		}
		class, agreement, ok := l.Always()
		fmt.Fprintf(&b, "votes %t, mean %v, concentration %v, named %t, guess %.6f, leads %.6f, always %d %.6f %t\n", l.FromVotes(), l.Mean(),
			l.Concentration(), l.Named(), l.Guess(), l.Leads(), class, agreement, ok)
		n := 0
		for h, share := range l.Histograms() {
			if n++; n <= 20 {
				fmt.Fprintf(&b, "%v %.6f\n", h, share)
			}
		}
		for _, label := range []accountant.Cost{{Epsilon: 0.1}, {Epsilon: 1, Delta: 1e-3}} {
			for _, reached := range []int{1, 2} {
				most := l.most(reached, label)
				fmt.Fprintf(&b, "%v, %d reached: at most %.6f, useless %t\n", label, reached, most, l.useless(most))
			}
		}
		fmt.Fprintf(&b, "%d histograms\n", n)
	}
	for _, k := range []int{0, 1, 4, 7} {
		for _, classes := range []int{1, 2, 3} {
			for _, x := range []float64{0.25, 0.5, 0.8, 1} {
				l, err := Prior(k, classes, x)
				say(fmt.Sprintf("prior %d %d %v", k, classes, x), l, err)
			}
			l, err := DefaultLaw(k, classes)
			say(fmt.Sprintf("default %d %d", k, classes), l, err)
		}
	}
	for _, x := range []float64{0, 0.5, 3, 1e7} {
		l, err := Uneven(4, 3, x)
		say(fmt.Sprintf("uneven %v", x), l, err)
	}
	for _, counts := range [][]float64{{1, 2, 0, 3}, {0, 0, 0}, {1, -1}, {math.Inf(1), 1}, {1}} {
		l, err := CountedOnes(counts)
		say(fmt.Sprintf("counted %v", counts), l, err)
	}
	for _, h := range []plurality.HistogramCount{{Votes: []int{1, 2, 0}, Count: 2}, {Votes: []int{1, 1, 0}, Count: 1}, {Votes: []int{2, 2, 0}, Count: 1},
		{Votes: []int{1, 2}, Count: 1}, {Votes: []int{1, 2, 0}, Count: math.NaN()}} {
		l, err := Counted(3, 3, []plurality.HistogramCount{h})
		say(fmt.Sprintf("counted %v", h), l, err)
	}
	for _, tt := range []struct {
		classes int
		mean    float64
		shares  plurality.Shares
	}{{2, 0, plurality.Shares{0.9, 0.1}}, {2, 0.8, nil}, {2, 0.5, nil}, {3, 0, plurality.Shares{0.5, 0.3, 0.2}}, {3, 0.7, nil}, {2, 0, plurality.Shares{1, 1}}} {
		l, err := NamedLaw(4, tt.classes, tt.mean, tt.shares)
		say(fmt.Sprintf("named %+v", tt), l, err)
	}
	l, err := NamedLaw(100, 4, 0, plurality.Shares{0.25, 0.25, 0.25, 0.25})
	say("named, too many", l, err)
	for _, losses := range []Losses{{}, {Shares: plurality.Shares{0.9, 0.1}}, {Costs: plurality.Costs{{0, 2}, {3, 0}}},
		{Shares: plurality.Shares{0.9, 0.1}, Costs: plurality.Costs{{0, 2}, {3, 0}}}} {
		fmt.Fprintln(&b, losses.Stated(), losses.Text(nil), "/", losses.Text([]string{"no", "yes"}))
	}
	for _, w := range []Worth{{}, {Labels: 3, Of: 3}, {Labels: 12.345, Of: 20}, {Labels: 0.5, Of: 1}, {Labels: 0.0994, Of: 4, Limit: 5}, {Labels: 0.0996, Of: 4}, {Labels: 10, Of: 11}} {
		fmt.Fprintf(&b, "%s: %.4f: %s\n", w, w.Each(), w.Sentence(Agreement{Expected: 0.8}))
	}
	fmt.Fprintln(&b, Agreement{Expected: 0.5, StandardError: 0.01}, Agreement{Expected: 0.98765})
	golden.Compare(t, "laws.golden", b.String(), 1e-9)
}
