package release

import (
	"fmt"
	"math"
	"strings"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/constraints"
	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/votes"
)

// Source is the origin of the promise presumed of the teachers.
type Source string

// The sources.
const (
	SourceFlags Source = "flags" // the user stated it
	SourceTable Source = "table" // nobody but the table says so
)

// Summary describes a release of labels, for every front end.
type Summary struct {
	Plan      Plan             // what answered
	Budget    *accountant.Cost // of all labels, in numbers; nil where none was stated
	Mechanism string           // its name
	Queries   int              // that were answered: of several labels each is a label of a question
	Several   ensemble.Several // L, τ and YesFrom of questions with several labels
	Labels    []string         // their names
	Charged   int              // the answers that the queries are charged as: as many, but for several labels
	// an answer's names, in order; the last one of an abstention, where there are any
	Classes  []string
	Columns  votes.Roles         // which columns are votes, ids and true labels
	Same     []votes.Spelling    // that were stated for votes
	Problem  constraints.Problem // what is presumed of the teachers; its K counts public votes too (Several.Votes)
	Presumed bool                // the mechanism rests on it: DaRRM
	// Certificate describes the check of the mechanism's numbers; "" where it has none.
	Certificate string
	PerAnswer   accountant.Cost
	// Together is the price that up to Most answers have in common; Most is 0 where each release pays
	// for its own.
	Together ensemble.Together
	Totals   Totals
	Teachers ensemble.TeacherRandomness // NothingPromised also where it was not said
	Source   Source
	Records  int // that the teachers were trained on; 0 if unknown
	// Again is true if these votes were answered before, and a charge of the draw pays for this
	// answer and for all that follow.
	Again  bool
	PaidBy string // the earlier charge that pays for the release; "" for none
	// Charge is the charge that the labels were taken of, after they were; nil where they have a price
	// of their own.
	Charge *LabelCharge
	// Remembered is true if a ledger knows the release. Where none does, nothing remembers it: the
	// same votes are answered again without being charged or refused.
	Remembered bool
	// Simulated is true of labels that are drawn from a seed, or that a ledger for tests pays for:
	// nothing was released, and the file of labels is marked.
	Simulated bool
	// Before is true if the request was released before: its labels are in the output, unchanged,
	// and nothing was charged or drawn.
	Before bool
}

// Summary returns what is known of the answers to votes in these columns, but for Totals.
func (plan Plan) Summary(columns votes.Roles, c Charge) Summary {
	if plan.mechanism == nil {
		return Summary{Columns: columns, Teachers: c.Teachers}
	}
	return Summary{
		Plan: plan, Budget: c.budget,
		Mechanism: plan.mechanism.Name(), Queries: plan.queries, Columns: columns,
		Problem: plan.mechanism.Problem(), Presumed: plan.mechanism.NoiseFunction() != nil,
		Certificate: plan.certificate(), PerAnswer: plan.mechanism.PerAnswer(), Teachers: c.Teachers,
		Several: plan.several, Charged: plan.charged(),
		Together: plan.Together(), Source: SourceFlags, Remembered: c.Ledger != "",
		Records: c.Records,
	}
}

// CheckRecords checks how many records a promise is about, 0 if unknown. The error is a
// [UsageError].
func CheckRecords(n int) error {
	if n < 0 {
		return &UsageError{check.Want("records", n, "at least 1, or left out")}
	}
	return nil
}

// Fact is a title and what is said under it, a text without line breaks. Where the title is
// "", it belongs to the fact before.
type Fact struct{ Title, Text string }

// Facts returns the promise for people: what is presumed of the teachers, what one label and
// all labels cost, and a warning for each total that protects nobody.
func (s Summary) Facts() (facts []Fact) {
	add := func(title, text string) { facts = append(facts, Fact{title, text}) }
	add("columns:", s.Columns.String())
	if s.Several.Labels == 0 && s.Several.YesFrom != "" {
		add("answer:", s.Several.String())
	}
	if s.Several.Labels > 0 {
		t := s.Problem.Affected
		add("questions:", fmt.Sprintf("%d; %v; a question is charged as %d answers, %d in all",
			s.Several.Questions(s.Queries), s.Several, s.Several.PerQuestion(t), s.Charged))
	}
	if len(s.Same) > 0 {
		add("same:", strings.Join(spellings(s.Same), ", "))
	}
	add("teachers:", s.presumed())
	add("reach:", s.reach())
	if s.Source == SourceTable {
		add("", "both come from the table, not from you: state ε, Δ and t, "+
			"and a table for others is refused")
	}
	if !s.Remembered {
		add("ledger:", "none: nothing remembers these labels; a second run costs as much again, and "+
			"nothing adds the two up")
	}
	one, title := s.PerAnswer.Short()+"-DP", "one label:"
	if s.Together.Most > 0 {
		one, title = fmt.Sprintf("%s for up to %d", s.Together.Cost.Short()+"-DP", s.Together.Most),
			"all labels:"
	}
	if s.Certificate != "" {
		one += ", " + s.Certificate
	}
	add(title, one)
	totals := s.totals()
	if s.Together.Most == 0 {
		for i, t := range totals {
			title := "all labels:"
			if i > 0 {
				title = "or:"
			}
			add(title, t.cost.Short()+"-DP"+t.holds)
		}
	}
	if c := s.Charge; c != nil {
		add("charge:", c.String())
	}
	for _, t := range totals {
		if text := unchecked(t.cost, s.Records); text != "" {
			add("records:", text)
			break
		}
	}
	for _, warning := range s.Warnings() {
		add("WARNING:", warning)
	}
	return facts
}

// total is the joint cost of all labels, and the condition under which it holds.
type total struct {
	name  string // "" where there is only one
	cost  accountant.Cost
	holds string
}

// of names the total in errors.
func (t total) of() string {
	if t.name == "" {
		return "the total of all labels"
	}
	return "the total of all labels, if the teachers are " + strings.TrimSuffix(t.name, " teachers") +
		","
}

// totals are those that hold, as far as it was said who votes.
func (s Summary) totals() (out []total) {
	if s.Totals.Frozen == nil {
		return []total{{cost: s.Totals.Fresh.Cost}}
	}
	if s.Again {
		return []total{{"fresh teachers", s.Totals.Again.Cost,
			" for these and all further answers to these votes, besides what the first answer cost (fresh " +
				"teachers)"}}
	}
	promise := fmt.Sprintf("(%v, %v)-DP", s.Problem.Epsilon, s.Problem.TeacherDelta)
	if s.Teachers != ensemble.FreshTeachers {
		out = append(out, total{"frozen teachers", s.Totals.Frozen.Cost,
			fmt.Sprintf(" if each teacher's training is %s, with independent randomness (frozen teachers, "+
				"however many queries)", promise)})
	}
	if s.Teachers != ensemble.FrozenTeachers {
		out = append(out, total{"fresh teachers", s.Totals.Fresh.Cost,
			fmt.Sprintf(" if each vote is a new run of a mechanism that is %s, and these votes are "+
				"answered once (fresh teachers)", promise)})
	}
	return out
}

// Cost returns what all labels cost together: the larger of the totals that may hold, where the
// teachers promise something and nobody said how they spend it.
func (s Summary) Cost() accountant.Cost {
	if s.Totals.Frozen != nil && s.Again {
		return s.Totals.Again.Cost
	}
	return s.Totals.cost(s.Teachers)
}

// CheckTotals refuses totals of a release without a ledger that protect nobody, as far as it was
// said who votes; with one, the ledger is asked what is spent in all. The error is a [UsageError]
// of a [WeakError].
func (s Summary) CheckTotals(c Charge) error {
	for _, t := range s.totals() {
		if err := c.strength().judge(t.of(), t.cost); err != nil {
			return err
		}
	}
	return nil
}

func (s Summary) presumed() string {
	switch {
	case !s.Presumed:
		return "nothing is presumed of them"
	case math.IsInf(s.Problem.Epsilon, 1):
		return "they promise nothing themselves"
	}
	return fmt.Sprintf("each (%v, %v)-differentially private", s.Problem.Epsilon,
		s.Problem.TeacherDelta)
}

// Warnings returns a warning for each total that holds and protects nobody: the reason, and advice.
func (s Summary) Warnings() (out []string) {
	for _, t := range s.totals() {
		reason, worthless := ensemble.Worthless(t.cost, s.Records)
		if !worthless {
			continue
		}
		if t.name != "" {
			reason = t.name + ": " + reason
		}
		out = append(out, reason+"; "+labelAdvice)
	}
	return out
}

// reach is reach of the teachers, without public votes.
func (s Summary) reach() string {
	p := s.Problem
	p.K = s.Several.TeachersOf(p.K)
	return reach(p)
}

// reach states the number of teachers that one record reaches, for people.
func reach(p constraints.Problem) string {
	if p.Affected >= p.K {
		return fmt.Sprintf("one record may reach all %d teachers", p.K)
	}
	return fmt.Sprintf("one record reaches at most %d of the %d teachers", p.Affected, p.K)
}
