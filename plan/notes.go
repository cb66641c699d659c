package plan

import (
	"fmt"

	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/num"
)

const (
	pAffected    check.Parameter = "affected"
	pData        check.Parameter = "data"
	pBudgetDelta check.Parameter = "budget delta"
	pTeachers    check.Parameter = "number of teachers K"

	pAcceptConstant check.Parameter = "accept constant"
)

// notes returns remarks on the plan's figures.
func (o ReportOptions) notes(r *Request, p *Plan) (notes []string) {
	best := p.Choices[0]
	note := func(format string, args ...any) { notes = append(notes, o.text(format, args...)) }
	switch {
	case best.Frozen && r.reach() == 1:
		note("No noise is needed: the teachers are private, and with disjoint data (%s 1) one "+
			"record reaches one of them. All labels together cost %s, however many.",
			pAffected, best.Total.Short())
	case best.Frozen:
		note("No noise is needed: the teachers are private, and all labels are computed from "+
			"them. One record reaches %d of them, which cost %s together, however many labels.",
			r.reach(), best.Total.Short())
	case best.NoNoise:
		note("No noise is needed: all the votes that one record reaches may be revealed within " +
			"the budget.")
	case p.Fits:
		note("The teachers' own privacy fits the budget without noise: the class with the most "+
			"votes may be released as it is. aggregate has no such mechanism for %d classes; the "+
			"noise below is not needed.", r.Classes)
	case p.Training != nil && r.roundedBelow(p.Training.Cost):
		note("The teachers' own privacy fits the budget but for rounding: their training costs "+
			"δ = %v, and the budget's δ = %v is below that. A δ that was computed in floating point is "+
			"off in its last digits. With %s = %v no noise is needed.", p.Training.Cost.Delta,
			r.Budget.Delta, pBudgetDelta, p.Training.Cost.Delta)
	case p.Training != nil:
		note("The teachers' own privacy does not fit: their training costs %s, however few "+
			"labels. They are planned for as teachers that promise nothing, with noise on each "+
			"label.", p.Training.Cost.Short())
	}
	if s := r.Several; s.MostYes > 0 && s.MostYes < s.Labels {
		expected := "labels that are as often yes"
		if r.Losses.Stated() {
			expected = "the stated classes where all votes are counted"
		}
		note("At most %d of the %d labels of a question are counted of a teacher, so a label has at most %s of the "+
			"%d votes on average: most labels are no, and always no may agree more often than any of these. The "+
			"expected agreement is that of %s.", s.MostYes, s.Labels,
			num.Outward(float64(s.MostYes*r.K)/float64(s.Labels), 3, true), r.K, expected)
	}
	if best.Name == ensemble.LabelNoise {
		note("A table for %d labels of so many teachers and classes is too large: noise that is priced by "+
			"its label takes its place.", r.Queries)
	}
	if p.Useless {
		note("No mechanism is useful: none within the budget agrees with the majority much more " +
			"often than a guess. Have one record reach fewer teachers, ask for fewer labels, or " +
			"raise the budget.")
	}
	notes = append(notes, o.lossNotes(best)...)
	if a := o.always(r); a != nil && a.Cost == nil && a.Agreement > best.Agreement.Expected {
		note("%s", ensemble.AlwaysNote(a.Class, a.Agreement))
	}
	if p.FitsIfDisjoint && !p.Fits {
		note("If the teachers' data are disjoint, say %s 1: then no noise is needed.", pAffected)
	} else if r.reach() == r.votes() && r.votes() > 1 && !p.Fits && !o.ReachStated {
		note("Neither %s nor %s was given, so one record may reach all %d teachers. If their data "+
			"are disjoint, say %s disjoint: labels are then much better.",
			pAffected, pData, r.votes(), pData)
	}
	if p.Advice != nil {
		notes = append(notes, p.Advice.notes(r, best.Worth)...)
	}
	return notes
}

// notes describes the budget, and the number of labels, that reach the wanted agreement, and what fewer
// labels cost a student. all is the worth of those that are planned.
func (a *Advice) notes(r *Request, all Worth) []string {
	wanted := fmt.Sprintf("%.2f %% agreement", 100*r.Agreement)
	budget := fmt.Sprintf("No budget up to ε = %d gives %s at δ = %v.",
		maxEpsilon, wanted, r.Budget.Delta)
	if a.Epsilon > 0 {
		budget = fmt.Sprintf("For %s, %d labels need a budget of ε = %v at δ = %v (%s).",
			wanted, r.Queries, a.Epsilon, r.Budget.Delta, a.EpsilonName)
	}
	labels := fmt.Sprintf("For %s, this budget pays for no label.", wanted)
	if a.Queries > 0 {
		labels = fmt.Sprintf("For %s, this budget pays for %s (%s).",
			wanted, num.Count(a.Queries, "label"), a.QueriesName)
	}
	if a.Worth.Of > 0 {
		labels += fmt.Sprintf(" A student learns from them as from %s labels without noise, and from the %s "+
			"labels above as from %s.", a.Worth, count(all.Of), all)
	}
	return []string{budget, labels}
}

// warnings returns reasons why the plan, or its promise, is worth less than it looks.
func (o ReportOptions) warnings(r *Request, p *Plan) (warnings []string) {
	if r.Votes.FromVotes() {
		warnings = append(warnings, o.text("agreement was computed from the votes: it is NOT "+
			"PRIVATE, and a choice by private votes is not covered by the budget. Use public "+
			"votes, or leave the files out and state %s", pTeachers))
	}
	if reason, worthless := ensemble.Worthless(p.Choices[0].Total, o.Records); worthless {
		warnings = append(warnings, reason+"; "+ensemble.LabelAdvice)
	}
	return warnings
}

func (o ReportOptions) text(format string, args ...any) string {
	text := check.Named(format, args...)
	if o.Name == nil {
		return text.String()
	}
	return text.By(func(p check.Parameter) string { return o.Name(string(p)) })
}
