package ensemble

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/internal/handle"
)

// ComparisonReport is a Comparison as JSON. It is not private.
type ComparisonReport struct {
	Private    bool                `json:"private"` // false, always
	Queries    int                 `json:"queries"`
	K          int                 `json:"k"` // teachers
	Several    *Several            `json:"several,omitempty"`
	Classes    int                 `json:"classes"`
	Affected   int                 `json:"affected"`
	Neighbours string              `json:"neighbours"`
	Answers    int                 `json:"answers"` // that target is the cost of, together
	Target     accountant.Cost     `json:"target"`
	Plain      *ReportedScore      `json:"plain_majority"`
	Always     *ReportedAlways     `json:"always"`
	Mechanisms []ReportedMechanism `json:"mechanisms"`
}

// ReportedScore is a Score of a ComparisonReport. What true labels are needed for is null without
// them.
type ReportedScore struct {
	Agreement float64 `json:"agreement"`
	// Wilson's, over the queries; null for the majority itself
	AgreementInterval *[2]float64 `json:"agreement_95"`
	Labelled          int         `json:"labelled"` // queries of Accuracy: those whose true label is known
	Accuracy          *float64    `json:"accuracy"`
	AccuracyInterval  *[2]float64 `json:"accuracy_95"`
	Abstained         float64     `json:"abstained"`
	Balanced          float64     `json:"balanced"` // the mean of the recall of the classes that lead
}

// ReportedAlways is the Always of a ComparisonReport.
type ReportedAlways struct {
	Private bool   `json:"private"` // false, always
	Class   string `json:"class"`
	*ReportedScore
}

// ReportedMechanism is a row of a ComparisonReport. Refused says why it has no score.
type ReportedMechanism struct {
	Name  string `json:"mechanism"`
	Title string `json:"title"`
	Figures
	PerAnswer *accountant.Cost `json:"per_answer,omitempty"`
	*Planned
	Score *ReportedScore `json:"score,omitempty"`
	// of each class: how often it is the answer where it has the most votes; null where it never has
	Recall []*float64 `json:"recall,omitempty"`
	// by these votes: so many labels without noise tell a student as much as all of these
	Worth *float64 `json:"worth,omitempty"`
	// that the score of such a mechanism cannot exceed; left out where none is known
	UpperBound float64          `json:"upper_bound,omitempty"`
	Basis      string           `json:"basis,omitempty"`
	Assumes    []string         `json:"assumes,omitempty"`
	AtVotes    *ReportedAtVotes `json:"all_answers_at_these_votes,omitempty"`
	Refused    string           `json:"refused,omitempty"`
}

// ReportedAtVotes is a DataDependent of a ComparisonReport.
type ReportedAtVotes struct {
	Computed  string `json:"computed_from"` // "private votes", always
	Sanitised bool   `json:"sanitised"`     // false, always
	*DataDependent
}

// Report returns the comparison as JSON has it.
func (c *Comparison) Report() *ComparisonReport {
	c = handle.Made(c)
	out := &ComparisonReport{
		Queries: c.Queries, K: c.Several.TeachersOf(c.Setting.K), Classes: c.Setting.Classes, Affected: c.Setting.Affected,
		Neighbours: c.Setting.Neighbours.String(), Answers: c.Answers, Target: c.Target,
		Plain: c.Plain.report(), Always: &ReportedAlways{false, c.AlwaysClass(), c.Always.Score.report()},
	}
	if c.Several != (Several{}) {
		out.Several = &c.Several
	}
	out.Plain.AgreementInterval = nil // it agrees with itself whatever queries come
	for _, r := range c.Rows {
		m := ReportedMechanism{Name: r.Name, Title: r.Title}
		if r.Refused != nil {
			m.Refused = r.Refused.Error()
		} else {
			per := r.Mechanism.PerAnswer()
			m.PerAnswer, m.Score, m.Recall = &per, r.Score.report(), r.Recall
			m.Basis, m.Assumes = r.Mechanism.Basis(), r.Mechanism.Assumptions()
			m.Figures = r.Mechanism.Figures()
			if worth := c.Worth(r); !r.Mechanism.Named() {
				m.Worth = &worth
			}
			if bound := c.Bound(r); bound < 1 {
				m.UpperBound = bound
			}
			m.Planned = r.Planned
		}
		if d := r.AtVotes; d != nil {
			m.AtVotes = &ReportedAtVotes{"private votes", false, d}
		}
		out.Mechanisms = append(out.Mechanisms, m)
	}
	return out
}

func (s Score) report() *ReportedScore {
	interval := func(i Interval) *[2]float64 { return &[2]float64{i.Low, i.High} }
	out := &ReportedScore{Agreement: s.Agreement, AgreementInterval: interval(s.AgreementInterval()),
		Labelled: s.Labels, Abstained: s.Abstained, Balanced: s.Balanced}
	if s.Labels > 0 {
		out.Accuracy, out.AccuracyInterval = &s.Accuracy, interval(s.AccuracyInterval())
	}
	return out
}

// AlwaysClass returns the name of the class of Always, or its number.
func (c *Comparison) AlwaysClass() string {
	c = handle.Made(c)
	if class := c.Always.Class; class < len(c.Classes) {
		return c.Classes[class]
	}
	return strconv.Itoa(c.Always.Class)
}

// Chosen begins the title of the row in a Table that a release would take.
const Chosen = "→ "

// Table returns the comparison as rows of a table for people, in percent, with what its columns
// are. Mechanisms that do not apply have no row. The majority is the first, then always one class.
func (c *Comparison) Table() (header []string, rows [][]string) {
	c = handle.Made(c)
	plain := c.Plain.row("plain majority (not private)", fmt.Sprintf("%.1f", c.worth(c.Plain)))
	plain[2] = "-" // it agrees with itself whatever queries come
	rows = [][]string{plain, c.Always.Score.row("always "+c.AlwaysClass()+" (not private)", "0.0")}
	expected := []string{"-", "-"}
	planned := false
	for _, r := range c.Rows {
		if r.Refused != nil {
			continue
		}
		title := r.Title
		prior := "-"
		if r.Planned != nil {
			planned, prior = true, fmt.Sprintf("%.2f", 100*r.Planned.Expected)
			if r.Planned.Chosen {
				title = Chosen + title
			}
		}
		worth := fmt.Sprintf("%.1f", c.Worth(r))
		if r.Mechanism.Named() { // a worth is of classes that are treated alike
			worth = "-"
		}
		rows = append(rows, r.Score.row(title, worth))
		expected = append(expected, prior)
	}
	header = []string{"mechanism, over its noise", "agrees", "95 %", "worth", "right", "95 %"}
	if c.TellsApart() {
		header = slices.Insert(header, 3, "balanced")
		balanced := []float64{c.Plain.Balanced, c.Always.Score.Balanced}
		for _, r := range c.Rows {
			if r.Refused == nil {
				balanced = append(balanced, r.Score.Balanced)
			}
		}
		for i := range rows {
			rows[i] = slices.Insert(rows[i], 3, fmt.Sprintf("%.2f", 100*balanced[i]))
		}
	}
	if planned {
		header = slices.Insert(header, 1, "expected")
		for i := range rows {
			rows[i] = slices.Insert(rows[i], 1, expected[i])
		}
	}
	return header, rows
}

// TellsApart reports whether some mechanism tells the classes apart: then a Table has the balanced agreement of all.
func (c *Comparison) TellsApart() bool {
	return slices.ContainsFunc(handle.Made(c).Rows, func(r ComparisonRow) bool { return r.Refused == nil && r.Mechanism.Named() })
}

func (s Score) row(title, worth string) []string {
	interval := func(i Interval) string {
		return fmt.Sprintf("%.1f–%.1f", 100*i.Low, 100*i.High)
	}
	if s.Abstained > 0 {
		title += fmt.Sprintf(", abstains in %.2f %%", 100*s.Abstained)
	}
	row := []string{title, fmt.Sprintf("%.2f", 100*s.Agreement), interval(s.AgreementInterval()),
		worth, "-", "-"}
	if s.Labels > 0 {
		row[4], row[5] = fmt.Sprintf("%.2f", 100*s.Accuracy), interval(s.AccuracyInterval())
	}
	return row
}
