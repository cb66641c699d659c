package label

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/cmd/darrm/internal/cli"
	"github.com/darrm/darrm/cmd/darrm/internal/problem"
	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/internal/num"
	"github.com/darrm/darrm/internal/terminal"
	"github.com/darrm/darrm/plan"
	"github.com/darrm/darrm/plan/choose"
	"github.com/darrm/darrm/release"
)

// report prints a description of the release and its cost on stderr.
func report(a *cli.App, s *release.Summary, g choose.Choice, simulated bool) {
	if simulated {
		a.Say("SIMULATION: drawn from a seed, NOT PRIVATE; do not release these labels")
	}
	by := ""
	if g.Noise == nil {
		by = " by " + g.Mechanism().Title()
	}
	a.Say("%s from K = %d teachers%s%s", num.Count(s.Queries, "label"), s.Several.TeachersOf(s.Problem.K), publicVotes(s.Several), by)
	reportOptimum(a, g, namesOf(s))
	reportPromise(a, s)
}

// reportOptimum prints the objective of the optimum of many classes, or why another mechanism was used;
// and, by public counts of two classes, what always one answer agrees in.
func reportOptimum(a *cli.App, g choose.Choice, names plan.ReportOptions) {
	classes, notes := names.Classes, names.ClassNotes(tableOf(g))
	for i, note := range notes {
		a.Fact([]string{"expected:", "classes:"}[min(i, 1)], note)
	}
	if always, ok := g.Always(); ok && notes == nil && always.Class < len(classes) {
		less := ""
		if always.Agreement > always.Labels {
			less = ": these labels tell less than that"
		}
		a.Fact("expected:", fmt.Sprintf("%s with the majority, by the public counts; always answering %s "+
			"agrees in %s%s", num.Percent(always.Labels), classes[always.Class],
			num.Percent(always.Agreement), less))
	}
	if g.Instead != nil {
		a.Fact("note:", fmt.Sprintf("%s instead of %s: %v", ensemble.Fallback,
			ensemble.OptimalCounts,
			g.Instead))
	}
	if losses := plan.LossesOf(g.Answers); losses.Stated() {
		a.Fact("classes:", "the table tells them apart, by the order of "+orderOf(losses)+": "+losses.Text(names.Classes, names.Labels...))
	}
	if t := g.Optimum; t != nil {
		worth := "agreement"
		if t.Problem().Abstain {
			worth = fmt.Sprintf("agreement, with %v for each abstention,", t.Objective.AbstainValue)
		}
		a.Fact("best for:", fmt.Sprintf("%s: %s %s, within %s of the most that is possible",
			problem.PriorText(t.Objective), worth, num.Percent(t.Value), num.Outward(t.Gap, 2, true)))
	}
}

// namesOf are the names of the classes and of the labels of a question.
func namesOf(s *release.Summary) plan.ReportOptions {
	return plan.ReportOptions{Classes: classNames(s.Several, s.Classes), Labels: s.Labels}
}

// tableOf is the choice as a plan has it: the table alone, which says how the classes are treated.
func tableOf(g choose.Choice) plan.Choice { return plan.Choice{Noise: g.Noise, Answers: g.Answers} }

// reportPromise prints the release's input, assumptions and guarantees.
func reportPromise(a *cli.App, s *release.Summary) {
	for _, fact := range s.Facts() {
		a.Fact(fact.Title, fact.Text)
	}
}

// releaseFields are the JSON fields that a dry run and a release share.
type releaseFields struct {
	Mechanism string `json:"mechanism"`
	ensemble.Figures
	K            int                    `json:"k"`
	Affected     int                    `json:"affected"`
	TeachersFrom release.Source         `json:"teachers_from"`
	Columns      string                 `json:"columns"`
	Queries      int                    `json:"queries"`
	Several      *ensemble.Several      `json:"several,omitempty"` // L, τ and YesFrom
	Charged      int                    `json:"charged,omitempty"` // answers that these are charged as
	Slack        float64                `json:"slack"`
	PerLabel     accountant.Cost        `json:"per_label"`
	MostLabels   int                    `json:"most_labels,omitempty"` // that per_label is the price of
	AllFrozen    *accountant.Cost       `json:"all_labels_frozen_teachers"`
	AllFresh     accountant.Cost        `json:"all_labels_fresh_teachers"`
	Again        *accountant.Cost       `json:"same_votes_again"`
	PaidBy       string                 `json:"paid_by,omitempty"`
	Budget       *accountant.Cost       `json:"budget,omitempty"`             // of all labels, where stated
	Expected     *float64               `json:"expected_agreement,omitempty"` // of the plan within it
	ByClass      *plan.ReportedClasses  `json:"by_class,omitempty"`           // of a table that tells the classes apart
	Warnings     []string               `json:"warnings,omitempty"`
	Optimal      *problem.OptimalFields `json:"optimal,omitempty"` // of the optimum of many classes
	Instead      string                 `json:"instead_of_optimal,omitempty"`
}

func fieldsOf(s *release.Summary, g choose.Choice, planned *within) releaseFields {
	f := releaseFields{
		Mechanism: s.Mechanism, Figures: g.Mechanism().Figures(), K: s.Several.TeachersOf(s.Problem.K), Affected: s.Problem.Affected, TeachersFrom: s.Source,
		Columns: s.Columns.String(),
		Queries: s.Queries, Slack: s.Totals.Slack, PerLabel: s.PerAnswer, AllFresh: s.Totals.Fresh.Cost,
		MostLabels: s.Together.Most, PaidBy: s.PaidBy, Warnings: s.Warnings(),
		Optimal: problem.OptimalFieldsOf(g.Optimum),
	}
	if s.Several != (ensemble.Several{}) {
		f.Several = &s.Several
	}
	if s.Several.Labels > 0 {
		f.Charged = s.Charged
	}
	names := namesOf(s)
	f.ByClass = names.ByClass(tableOf(g))
	if planned.choice != nil {
		f.ByClass = names.ByClass(*planned.choice)
		f.Budget, f.Expected = s.Budget, &planned.choice.Agreement.Expected
	}
	if g.Instead != nil {
		f.Instead = g.Instead.Error()
	}
	if s.Totals.Frozen != nil {
		f.AllFrozen, f.Again = &s.Totals.Frozen.Cost, &s.Totals.Again.Cost
	}
	return f
}

// quote prints the cost of the release, and the charge to the ledger.
func quote(a *cli.App, q *release.Quote, g choose.Choice, planned *within) error {
	out := struct {
		DryRun bool `json:"dry_run"`
		releaseFields
		Charge    *release.Amount `json:"charge,omitempty"`
		Remaining *release.Amount `json:"remaining,omitempty"`
		// of which the labels would be taken, as it would be then
		Labels *release.LabelCharge `json:"label_charge,omitempty"`
	}{Labels: q.Summary.Charge, DryRun: true, releaseFields: fieldsOf(&q.Summary, g, planned)}
	if q.Charge != nil {
		paid, left := release.NewAmount(*q.Charge), release.NewAmount(*q.Remaining)
		out.Charge, out.Remaining = &paid, &left
	}
	if a.JSON {
		return a.DeliverJSON("", out)
	}
	reportOptimum(a, g, namesOf(&q.Summary))
	reportPromise(a, &q.Summary)
	return a.Print(func(w *terminal.Page) error {
		return w.Table(terminal.TextTable{Header: []string{"dry run: nothing was released", "ε", "δ"},
			Rows: q.Rows()})
	})
}

// jsonAnswer is the answer to a query: the number of a class.
type jsonAnswer struct {
	query string
	class int
}

// encodeAnswers writes the answers as one JSON document with their price.
func encodeAnswers(w io.Writer, s *release.Summary, g choose.Choice, planned *within,
	answers []jsonAnswer, simulated bool) error {
	type label struct {
		Query string          `json:"query"`
		Label json.RawMessage `json:"label"`
	}
	out := struct {
		Private bool `json:"private"`
		releaseFields
		Labels    []label `json:"labels,omitempty"`
		Simulated []label `json:"simulated_labels,omitempty"`
	}{Private: !simulated, releaseFields: fieldsOf(s, g, planned)}
	labels := make([]label, len(answers))
	for i, a := range answers {
		if a.class == ensemble.Abstained {
			a.class = len(s.Classes) - 1
		}
		labels[i] = label{a.query, jsonClass(s.Classes[a.class])}
	}
	if out.Labels = labels; simulated {
		out.Labels, out.Simulated = nil, labels
	}
	return cli.EncodeJSON(w, out)
}

// jsonClass returns a class as a JSON value: an integer where its name is one.
func jsonClass(name string) json.RawMessage {
	if n, err := strconv.Atoi(name); err == nil && strconv.Itoa(n) == name {
		return json.RawMessage(name)
	}
	b, _ := json.Marshal(name) // a string always marshals
	return b
}

// orderOf names the flag that orders what losses are stated of.
func orderOf(losses plan.Losses) string {
	if losses.Yes != nil {
		return "--labels"
	}
	return "--classes"
}
