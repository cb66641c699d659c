package answer

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/gamma/solve"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/plan"
	"github.com/darrm/darrm/plan/choose"
	"github.com/darrm/darrm/plan/commandline"
	"github.com/darrm/darrm/plurality"
	"github.com/darrm/darrm/release"
)

// What the page plans for. Beyond, a search takes minutes in a browser, where the program runs on
// one core and at a third of its speed.
const (
	mostTeachers   = 150  // of two classes
	mostHistograms = 3000 // sorted histograms of more classes
	mostQueries    = 10_000
)

// Plan is the answer to a budget.
type Plan struct {
	Report *plan.Report `json:"report"` // that of darrm plan --json
	Header []string     `json:"header"` // of Rows
	Rows   [][]string   `json:"rows"`   // the table that darrm plan prints
	Short  string       `json:"short"`  // the answer in one sentence
	Point  Point        `json:"point"`  // of every curve through what is stated; its X is not set
	// Sentence explains the first choice to the person who decides whether it may be made.
	Sentence string `json:"sentence"`
}

// Beyond is why the page does not plan for what is stated, with the command that does.
type Beyond struct {
	Limit   string `json:"limit"`
	Command string `json:"command"` // darrm plan, with all that is stated
}

// PlanCommand returns the darrm plan command of what is stated.
func PlanCommand(s Stated) string {
	words := []string{"darrm", "plan"}
	for _, flag := range slices.Sorted(maps.Keys(s)) {
		if s.has(flag) {
			words = append(words, "--"+flag, s[flag])
		}
	}
	return strings.Join(commandline.ShellWords(words), " ")
}

// TooLarge returns why the page does not plan for what is stated, nil where it does. It leaves what
// breaks a rule to NewPlan.
func TooLarge(s Stated) *Beyond {
	k, _ := s.count("K", "", 0)
	classes, _ := s.count("num-classes", "", 2)
	queries, _ := s.count("queries", "", 0)
	limit := ""
	switch {
	case classes == 2 && k > mostTeachers:
		limit = fmt.Sprintf("this page plans for at most %d teachers of two classes", mostTeachers)
	case classes > 2 && k > 0 && s.many().Lossy() && plurality.NamedHistograms(k, classes) > mostHistograms:
		limit = fmt.Sprintf("this page plans with shares or costs for so few teachers and classes that their votes "+
			"have at most %d histograms", mostHistograms)
	case classes > 2 && k > 0 && plurality.Histograms(k, classes) > mostHistograms:
		limit = fmt.Sprintf("this page plans for so few teachers and classes that their votes have at "+
			"most %d sorted histograms", mostHistograms)
	case queries > mostQueries:
		limit = fmt.Sprintf("this page plans for at most %d labels", mostQueries)
	default:
		return nil
	}
	return &Beyond{Limit: limit, Command: PlanCommand(s)}
}

// Meaning returns what the stated budget promises a person, in words; "" where none is stated.
func Meaning(s Stated) string {
	e, err1 := s.number("budget-eps", "", 0)
	d, err2 := s.number("budget-delta", "", 0)
	if err1 != nil || err2 != nil || !(e > 0) || !(d >= 0 && d < 1) {
		return ""
	}
	meaning, err := release.Meaning(accountant.Cost{Epsilon: e, Delta: d}, accountant.ReplaceOne)
	if err != nil {
		return ""
	}
	return meaning
}

// many returns the losses that are stated.
func (s Stated) many() choose.Many { return choose.Many{Shares: s["shares"], Cost: s["cost"]} }

// request returns the request of a plan for classes with these names, nil for numbered ones.
func request(s Stated, names []string) (r plan.Request, err error) {
	var budget release.LabelBudget
	var prior choose.Noise
	r.Classes, r.Neighbours, r.Agreement = 2, accountant.ReplaceOne, 0.9
	if err := s.into(&r, &budget, &prior); err != nil {
		return r, err
	}
	r.Budget = accountant.Cost{Epsilon: budget.Epsilon.Number, Delta: budget.Delta.Number}
	if !r.Promised() {
		r.Teachers = ""
	}
	// Checked here: the default law of no teachers would be another one's error.
	if err := cmp.Or(check.Teachers(r.K), check.Classes(r.Classes), r.CheckReach(r.K)); err != nil {
		return r, err
	}
	if TooLarge(s) == nil {
		if err := s.many().State(&r, names, prior.PriorMean); err != nil {
			return r, err
		}
		if r.Losses.Stated() {
			r.For = plan.ForLabels
		}
	}
	choose.SolveNoise(&r, prior.PriorMean, solve.Optimal)
	return r, nil
}

// NewPlan plans for what is stated of K, num-classes (2), queries, budget-eps, budget-delta,
// affected (K), prior-mean, agreement (0.9), shares and cost of numbered classes, and of teachers' own privacy eps, teacher-delta and
// teachers. progress, unless nil, is called with the number of mechanisms that were worked out, and early with
// the plan of those that are not tables, without advice, while the others are worked out: as plan.Request.
// Cost: that of plan.New.
func NewPlan(ctx context.Context, s Stated, progress func(done, of int), early func(*Plan)) (*Plan, error) {
	r, err := request(s, nil)
	if err != nil {
		return nil, err
	}
	if b := TooLarge(s); b != nil {
		return nil, fmt.Errorf("%s: use %s", b.Limit, b.Command)
	}
	r.Progress = progress
	if early != nil {
		r.Early = func(p *plan.Plan) {
			unadvised := r
			unadvised.Agreement = 0
			if a, err := planShown(s, unadvised, p); err == nil { // else the whole plan says what is wrong
				early(a)
			}
		}
	}
	p, err := planOf(ctx, r)
	if err != nil {
		return nil, err
	}
	return planShown(s, r, p)
}

// planOf is plan.New, whose refusals say what takes too much work.
func planOf(ctx context.Context, r plan.Request) (*plan.Plan, error) {
	p, err := plan.New(ctx, r)
	if err != nil {
		return nil, err
	}
	for i, x := range p.Refused {
		p.Refused[i].Err = cmp.Or(choose.TooLong(x.Err), x.Err)
	}
	return p, nil
}

// planShown returns the plan as the page shows it.
func planShown(s Stated, r plan.Request, p *plan.Plan) (*Plan, error) {
	a := &Plan{Report: plan.NewReport(r, p, plan.ReportOptions{
		ReachStated: s.has("affected"), Name: fieldName,
	})}
	flags := make(map[string][]string)
	for flag := range s {
		if s.has(flag) {
			flags[flag] = []string{s[flag]}
		}
	}
	if _, err := (commandline.Stated{
		Flags: flags, Reading: func(flag string) bool { return flag == "K" || flag == "num-classes" },
	}).Complete(a.Report, r, p); err != nil {
		return nil, err
	}
	a.Header, a.Rows = p.Table()
	a.Point = pointOf(0, a.Report, p)
	first := p.Choices[0]
	a.Short = fmt.Sprintf("%v of %d labels are expected to agree with the majority of %d teachers, by %s.",
		first.Agreement, r.Queries, r.K, first.Title())
	o := plan.ReportOptions{}
	if notes := o.ClassNotes(first); notes != nil { // what is stated of the classes decides what labels are good for
		if a.Short = notes[0] + " By " + first.Title() + "."; !o.ByClass(first).Tells {
			a.Short = notes[len(notes)-1]
		}
	}
	var err error
	a.Sentence, err = sentence(r, first)
	return a, err
}

// fieldNames are the titles of the page's fields, by the flags that they stand for.
var fieldNames = map[string]string{
	"K": "“Teachers”", "num-classes": "“Classes”", "queries": "“Labels”", "affected": "“Teachers that one record reaches”",
	"budget-eps": "“Budget: ε of all labels”", "budget-delta": "“Budget: δ of all labels”",
	"agreement": "“Wanted agreement”", "prior-mean": "“How often a teacher is right”",
}

// fieldName is the page's name of a parameter.
func fieldName(parameter string) string {
	switch parameter {
	case "affected":
		return fieldNames["affected"]
	case "data":
		return "their reach"
	case "number of teachers K":
		return "the number of teachers"
	case "classes":
		return fieldNames["num-classes"]
	}
	return parameter
}

// sentence describes the planned release for the person who decides whether it may be made.
func sentence(r plan.Request, c plan.Choice) (string, error) {
	meaning, err := release.Meaning(c.Total, r.Neighbours)
	if err != nil {
		return "", err
	}
	expected := fmt.Sprintf("We expect %v of the labels to agree with the models' majority.", c.Agreement)
	if notes := (plan.ReportOptions{}).ClassNotes(c); notes != nil {
		expected = strings.Join(notes, " ")
	}
	return fmt.Sprintf("We will publish %d labels, each the answer of %d models to one question by "+
		"the mechanism \"%s\"; one person's record reaches at most %d of the models. All labels "+
		"together are %s-differentially private: %s %s",
		r.Queries, r.K, c.Title(), r.Reach(r.K), c.Total.Short(), lowerFirst(meaning), expected), nil
}

func lowerFirst(s string) string {
	if s == "" {
		return s
	}
	return strings.ToLower(s[:1]) + s[1:]
}
