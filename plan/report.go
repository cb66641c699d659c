package plan

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/internal/handle"
	"github.com/darrm/darrm/internal/num"
	"github.com/darrm/darrm/plurality"
	"github.com/darrm/darrm/plurality/answers"
)

// ReportOptions hold the facts of a Report that the plan does not have.
type ReportOptions struct {
	ReachStated bool // Request.Affected was stated, and is no default
	// that the teachers were trained on: see ensemble.Worthless; 0 if unknown
	Records int
	Classes []string // their names; nil for their numbers
	Labels  []string // likewise of labels of a question
	// the front end's name of a parameter, such as a flag; nil for the library's
	Name func(parameter string) string
}

// Report is a plan as JSON, with remarks on its figures. docs/plan.md describes the fields.
type Report struct {
	Queries int `json:"queries"` // of several labels, the answers that are charged
	// Questions is of questions with several labels, and Several of these and of a stated YesFrom.
	Questions     int               `json:"questions,omitempty"`
	Several       *ensemble.Several `json:"several,omitempty"`
	K             int               `json:"k"`
	Classes       int               `json:"classes"`
	Affected      int               `json:"affected"`
	Neighbours    string            `json:"neighbours"`
	Budget        accountant.Cost   `json:"budget"`
	Teachers      string            `json:"teachers"` // "fresh", "frozen" or "promise nothing"
	PerTeacher    *accountant.Cost  `json:"per_teacher"`
	Training      *accountant.Cost  `json:"training"`
	NoNoiseNeeded bool              `json:"no_noise_needed"`
	Useless       bool              `json:"useless"`
	For           Purpose           `json:"for"`
	AgreementFrom string            `json:"agreement_from"` // "prior" or "votes"
	PriorMean     float64           `json:"prior_mean,omitempty"`
	Concentration float64           `json:"prior_concentration,omitempty"`
	Always        *ReportedAlways   `json:"always,omitempty"` // by votes only: not private
	Numbers       []ReportedNumber  `json:"compared_queries,omitempty"`
	Choices       []ReportedChoice  `json:"choices"` // the best first
	Refused       []ReportedReason  `json:"refused"`
	Advice        *ReportedAdvice   `json:"advice"`
	Notes         []string          `json:"notes"`    // null where there are none
	Warnings      []string          `json:"warnings"` // the same
}

// ReportedChoice is a Choice of a Report.
type ReportedChoice struct {
	Mechanism string `json:"mechanism"`
	Title     string `json:"title"`
	NoNoise   bool   `json:"no_noise"`
	ensemble.Figures
	PerLabel      accountant.Cost `json:"per_label"`
	Slack         float64         `json:"slack"`
	AllLabels     accountant.Cost `json:"all_labels"`
	Rule          string          `json:"rule"`
	Agreement     float64         `json:"agreement"`
	StandardError float64         `json:"agreement_standard_error"`
	Abstained     float64         `json:"abstained"`
	Worth         float64         `json:"worth"`
	WorthLimit    float64         `json:"worth_limit,omitempty"`
	Bounds        []ReportedBound `json:"bounds"`
	// ByClass is there for a table of classes that are told apart.
	ByClass *ReportedClasses `json:"by_class,omitempty"`
	// UpperBound is Choice.Bound, left out where it is not known.
	UpperBound float64 `json:"upper_bound,omitempty"`
	// Prepare and PrepareArgs are the front end's command to run before, where there is one.
	Prepare     string   `json:"prepare,omitempty"`
	PrepareArgs []string `json:"prepare_args,omitempty"`
	// Command and Args are the front end's command that releases the labels, for a shell and as
	// arguments. The front end fills them in.
	Command string   `json:"command"`
	Args    []string `json:"args"`
}

// ReportedNumber is the first choice of a plan for another number of labels.
type ReportedNumber struct {
	Queries   int      `json:"queries"`
	Mechanism string   `json:"mechanism,omitempty"`
	Agreement *float64 `json:"agreement"` // null where nothing keeps the budget
	Worth     *float64 `json:"worth"`     // the same
}

// ReportNumbers returns plans for several numbers of labels as JSON has them.
func ReportNumbers(all []Numbered) (out []ReportedNumber) {
	for _, n := range all {
		x := ReportedNumber{Queries: n.Queries}
		if n.Plan != nil {
			best := n.Plan.Choices[0]
			x.Mechanism, x.Agreement, x.Worth = best.Name, &best.Agreement.Expected, &best.Worth.Labels
		}
		out = append(out, x)
	}
	return out
}

// ReportedAlways is always one class as the answer.
type ReportedAlways struct {
	Class     string  `json:"class"`
	Agreement float64 `json:"agreement"`
	// Where costs are stated it is the class that costs least: what its answer is expected to cost, and the mean over the
	// classes that lead of how often it is answered there.
	Cost     *float64 `json:"cost,omitempty"`
	Balanced *float64 `json:"balanced,omitempty"`
}

// ReportedBound is a bound on what all labels of a choice cost.
type ReportedBound struct {
	Of      string  `json:"of"`
	Count   int     `json:"count"`
	Method  string  `json:"method"`
	Epsilon float64 `json:"epsilon"`
	Delta   float64 `json:"delta"`
	Holds   bool    `json:"holds"`
}

// ReportedReason is a Refusal of a Report.
type ReportedReason struct {
	Mechanism string `json:"mechanism"`
	Why       string `json:"why"`
}

// ReportedAdvice is the Advice of a Report.
type ReportedAdvice struct {
	Agreement float64 `json:"agreement"`
	Epsilon   float64 `json:"least_budget_epsilon"`
	Queries   int     `json:"most_queries"`
	Worth     float64 `json:"worth,omitempty"` // of so many queries
}

// NewReport returns the report of the plan that New returned for r.
func NewReport(r Request, p *Plan, o ReportOptions) *Report {
	if p == nil || len(p.Choices) == 0 {
		return &Report{}
	}
	out := &Report{
		Queries: r.Queries, K: r.K, Classes: r.Classes, Affected: r.reach(),
		Neighbours: r.Neighbours.String(), Budget: r.Budget,
		Teachers: "promise nothing", NoNoiseNeeded: p.Fits, Useless: p.Useless,
		For:           r.purpose(),
		AgreementFrom: "prior", PriorMean: r.Votes.Mean(), Concentration: r.Votes.Concentration(),
		Refused: []ReportedReason{}, Notes: o.notes(&r, p), Warnings: o.warnings(&r, p),
	}
	if r.Several != (ensemble.Several{}) {
		out.Several = &r.Several
	}
	if r.Several.Labels > 0 {
		out.Questions = r.Questions()
	}
	if r.promise() {
		out.Teachers, out.PerTeacher = string(r.Teachers), new(r.Each())
	}
	if t := p.Training; t != nil {
		out.Training = &t.Cost
	}
	if r.Votes.FromVotes() {
		out.AgreementFrom = "votes"
	}
	out.Always = o.always(&r)
	for _, c := range p.Choices {
		x := c.report()
		x.ByClass = o.ByClass(c)
		out.Choices = append(out.Choices, x)
	}
	for _, x := range p.Refused {
		out.Refused = append(out.Refused, ReportedReason{x.Name, x.Err.Error()})
	}
	if x := p.Advice; x != nil {
		out.Advice = &ReportedAdvice{r.Agreement, x.Epsilon, x.Queries, x.Worth.Labels}
	}
	return out
}

// always returns always one class as the answer; nil for a prior.
func (o ReportOptions) always(r *Request) *ReportedAlways {
	class, agreement, ok := r.Votes.Always()
	if !ok {
		return nil
	}
	costs := r.Losses.Costs.Uneven()
	if costs == nil {
		return &ReportedAlways{Class: o.class(class), Agreement: agreement}
	}
	class, cost := r.Votes.cheapest(costs)
	leads := r.Votes.Leads()
	recall := make([]float64, len(leads))
	recall[class] = 1
	balanced := answers.Balanced(leads, recall)
	return &ReportedAlways{o.class(class), leads[class], &cost, &balanced}
}

// cheapest returns the class that is expected to cost least where it is always answered, the first of several, and how
// much that is.
func (l *Law) cheapest(costs plurality.Costs) (class int, cost float64) {
	each := make([]float64, l.classes)
	for _, c := range l.cells {
		for a := range each {
			each[a] += float64(c.weight / l.total * costs.Cost(c.counts, a))
		}
	}
	for a, x := range each {
		if x < each[class] {
			class = a
		}
	}
	return class, each[class]
}

// EachLikelier stands for the constant answer of labels of a question that differ in it.
const EachLikelier = "each label's likelier answer"

// class returns the name of a class, its number where it has none.
func (o ReportOptions) class(c int) string {
	switch {
	case c < 0:
		return EachLikelier
	case c < len(o.Classes):
		return o.Classes[c]
	}
	return strconv.Itoa(c)
}

func (c Choice) report() ReportedChoice {
	bound := c.Bound
	if bound == 1 { // nothing is known
		bound = 0
	}
	out := ReportedChoice{UpperBound: bound,
		Mechanism: c.Name, Title: c.Title(), NoNoise: c.NoNoise, Figures: c.Mechanism.Figures(),
		PerLabel: c.Mechanism.PerAnswer(), Slack: c.Slack,
		AllLabels: c.Total, Rule: c.Rule, Agreement: c.Agreement.Expected,
		StandardError: c.Agreement.StandardError,
		Abstained:     c.Agreement.Abstained,
		Worth:         c.Worth.Labels,
		WorthLimit:    c.Worth.Limit,
	}
	for _, b := range c.Bounds.Bounds {
		out.Bounds = append(out.Bounds, ReportedBound{b.Of, b.Count, string(b.Method), b.Cost.Epsilon,
			b.Cost.Delta, b.Holds})
	}
	return out
}

// Title names the mechanism with its parameters, for people.
func (c Choice) Title() string {
	if c.NoNoise {
		return "majority, no noise"
	}
	if d, _ := ensemble.Describe(c.Name); d.Check {
		return c.Name // with the check's parameters it is too long for a table
	}
	return c.Mechanism.Title()
}

// Table returns the choices as the header and rows of a table for people. Costs are rounded up.
func (p *Plan) Table() (header []string, rows [][]string) {
	p = handle.Made(p)
	for _, c := range p.Choices {
		per := c.Mechanism.PerAnswer()
		one := []string{num.Outward(per.Epsilon, 4, true), num.Outward(per.Delta, 3, true)}
		if c.Mechanism.Together().Most > 0 {
			one = []string{"-", "-"} // no label has a price of its own
		}
		worth := c.Worth.String()
		if c.Worth.Of == 0 {
			worth = "-"
		}
		rows = append(rows, []string{c.Title(), one[0], one[1],
			strings.TrimSuffix(c.Agreement.String(), " %"), worth,
			num.Outward(c.Total.Epsilon, 5, true), num.Outward(c.Total.Delta, 3, true)})
	}
	return []string{"mechanism", "ε each", "δ each", "agrees %", "worth", "ε all", "δ all"}, rows
}

// String returns the expected share in percent, with the standard error of an estimate.
func (a Agreement) String() string {
	if a.StandardError > 0 {
		return fmt.Sprintf("%.1f ± %.1f %%", 100*a.Expected, 100*a.StandardError)
	}
	return num.Percent(a.Expected)
}

// ComparedByClass describes, in whole sentences, how the mechanisms of a comparison treat classes that are told
// apart; nil where none does.
func ComparedByClass(c *ensemble.Comparison) []string {
	if !c.TellsApart() {
		return nil
	}
	notes := []string{"Balanced: the mean over the classes of how often each is the answer where it has the most votes, " +
		"alone or with another."}
	for _, r := range c.Rows {
		if r.Refused == nil && r.Mechanism.Named() {
			notes = append(notes, fmt.Sprintf("%s: %s.", r.Title, ReportOptions{Classes: c.Classes}.Recalls(r.Recall)))
		}
	}
	return notes
}
