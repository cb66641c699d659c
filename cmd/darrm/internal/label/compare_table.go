package label

import (
	"fmt"
	"image/color"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"

	"github.com/darrm/darrm/cmd/darrm/internal/problem"
	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/internal/figure"
	"github.com/darrm/darrm/internal/num"
	"github.com/darrm/darrm/internal/terminal"
	"github.com/darrm/darrm/plan"
)

func renderComparison(w *terminal.Page, c *ensemble.Comparison, verbose bool) error {
	w.Text("  ", notPrivate)
	every := "one answer"
	if c.Answers > 1 {
		every = fmt.Sprintf("%d answers together", c.Answers)
	}
	classes := fmt.Sprintf("%d classes", c.Setting.Classes)
	if c.Several.YesFrom != "" {
		classes += ", " + ensemble.Several{YesFrom: c.Several.YesFrom, Teachers: c.Several.Teachers}.String()
	}
	w.Text("", fmt.Sprintf("%s, K = %d teachers%s, %s; every mechanism: %s "+
		"(%v, %v)-DP where neighbours %s, which reaches at most %d of the teachers",
		num.Count(c.Queries, "query"), c.Several.TeachersOf(c.Setting.K), publicVotes(c.Several), classes, every, c.Target.Epsilon, c.Target.Delta,
		c.Setting.Neighbours, c.Setting.Affected))
	w.Printf("\n")
	header, rows := c.Table()
	if err := w.Table(terminal.TextTable{Header: header, Rows: rows}); err != nil {
		return err
	}
	w.Text("  ", "All in percent; to agree with the plain majority, "+problem.AgreementRule+
		". 95 %: Wilson's interval, for other queries of the same kind. Noise is not in it: it is "+
		"averaged out exactly. All rows are about the same queries, so their differences vary less.")
	w.Text("  ", fmt.Sprintf("Worth: a model learns from %s as much as from so many without "+
		"noise, by how often they agree with these votes and for classes that are equally frequent.",
		num.Count(c.Labels(), "label")))
	for _, note := range plan.ComparedByClass(c) {
		w.Text("  ", note)
	}
	if c.Plain.Labels > 0 {
		w.Text("  ", fmt.Sprintf("Right: over the %d of %d queries whose true label is known.",
			c.Plain.Labels, c.Queries))
	}
	if slices.ContainsFunc(c.Rows, func(r ensemble.ComparisonRow) bool {
		return r.Planned != nil && r.Planned.Chosen
	}) {
		w.Text("  ", "Expected: by the prior. "+strings.TrimSpace(ensemble.Chosen)+" is what aggregate takes "+
			"for this budget, chosen by the prior before the votes are seen. A choice by this table would "+
			"be a choice by private votes, which no budget covers.")
	}
	if !c.Tells() {
		w.Text("  ", ensemble.AlwaysNote(c.AlwaysClass(), c.Always.Score.Agreement))
	}
	if c.UpperBound < 1 {
		what := "No mechanism on the counts that keeps this promise"
		if c.Answers > 1 {
			what = fmt.Sprintf("No one mechanism on the counts that gives %d answers within the budget", c.Answers)
		}
		w.Text("  ", fmt.Sprintf("%s, presumes nothing of the teachers and treats the classes alike agrees "+
			"with these votes in more than %s.%s", what, num.Outward(100*c.UpperBound, 4, true), above(c)))
	}
	if verbose {
		renderAlike(w, "What proves each promise:", c.Rows, func(a *ensemble.Mechanism) []string {
			return []string{a.Basis()}
		})
	}
	renderAlike(w, "What each assumes:", c.Rows, (*ensemble.Mechanism).Assumptions)
	title := "\nNot applicable:\n"
	for _, r := range c.Rows {
		if r.Refused != nil {
			w.Printf("%s", title)
			w.Hang("  ", "    ", fmt.Sprintf("%s: %v", r.Title, r.Refused))
			title = ""
		}
	}
	return renderAtVotes(w, c)
}

// above explains rows that agree more often than the bound, where there are any.
func above(c *ensemble.Comparison) string {
	if slices.ContainsFunc(c.Rows, func(r ensemble.ComparisonRow) bool {
		return r.Refused == nil && r.Score.Agreement > c.UpperBound
	}) {
		return " Rows with more rest on the teachers' own privacy, or favour a class."
	}
	return ""
}

// renderAlike writes the remarks on mechanisms, each remark once with all mechanisms that it
// applies to.
func renderAlike(w *terminal.Page, title string, rows []ensemble.ComparisonRow,
	say func(*ensemble.Mechanism) []string) {
	var order []string
	mechanisms := map[string][]string{}
	for _, r := range rows {
		if r.Refused != nil {
			continue
		}
		what := strings.Join(say(r.Mechanism), "\n")
		if mechanisms[what] == nil {
			order = append(order, what)
		}
		mechanisms[what] = append(mechanisms[what], r.Title)
	}
	w.Printf("\n%s\n", title)
	for _, what := range order {
		w.Hang("  ", "  ", strings.Join(mechanisms[what], "; ")+":")
		for line := range strings.Lines(what) {
			w.Hang("    - ", "      ", line)
		}
	}
}

// renderAtVotes writes the data-dependent costs.
func renderAtVotes(w *terminal.Page, c *ensemble.Comparison) error {
	var rows [][]string
	for _, r := range c.Rows {
		if d := r.AtVotes; d != nil {
			rows = append(rows, []string{
				r.Title, num.Outward(d.AnyVotes, 6, true), num.Outward(d.Epsilon, 6, true),
				fmt.Sprintf("%.4g", d.Order), fmt.Sprintf("%d of %d", d.Cheaper, d.Answers),
			})
		}
	}
	if rows == nil {
		return nil
	}
	w.Printf("\n")
	w.Text("  ", fmt.Sprintf("ε of answers to all %d queries, at δ = %v, by Rényi divergences:",
		c.Queries, c.Target.Delta))
	w.Printf("\n")
	if err := w.Table(terminal.TextTable{Header: []string{"mechanism", "at any votes",
		"at these votes",
		"order", "cheaper at these"}, Rows: rows}); err != nil {
		return err
	}
	w.Hang("  ", "  ", `"At these votes" is COMPUTED FROM PRIVATE VOTES and not sanitised. It is no promise: it holds for these votes alone, in one direction, for queries that were fixed beforehand. No ledger takes it.`)
	return nil
}

// comparisonPicture draws how often each mechanism that applies agrees with the majority, in percent, with its
// interval as a whisker: the first at the top as in the table, and the constant answer below them.
func comparisonPicture(c *ensemble.Comparison) (figure.Sheet, error) {
	var names, labels []string
	var values []float64
	var spans []figure.Span
	var colors []color.Color
	add := func(name string, s ensemble.Score, color color.Color) {
		i := s.AgreementInterval()
		names = append(names, name)
		values = append(values, 100*s.Agreement)
		spans = append(spans, figure.Span{Low: 100 * i.Low, High: 100 * i.High})
		labels = append(labels, fmt.Sprintf("%.2f (%.2f to %.2f)", 100*s.Agreement, 100*i.Low, 100*i.High))
		colors = append(colors, color)
	}
	for _, r := range c.Rows {
		switch {
		case r.Refused != nil:
		case r.Planned != nil && r.Planned.Chosen:
			add(ensemble.Chosen+r.Name, r.Score, figure.Vermillion)
		default:
			add(r.Name, r.Score, figure.Blue)
		}
	}
	add("always "+c.AlwaysClass(), c.Always.Score, figure.Grey)
	promise := fmt.Sprintf("each answer (%.4g, %.3g)-DP", c.Target.Epsilon, c.Target.Delta)
	if c.Answers > 1 {
		promise = fmt.Sprintf("%d answers (%.4g, %.3g)-DP", c.Answers, c.Target.Epsilon, c.Target.Delta)
	}
	p := figure.New(fmt.Sprintf("Not private: %d queries, %d teachers, %s", c.Queries, c.Setting.K, promise), "agrees with the majority, percent (95 %)", "")
	height := vg.Points(float64(90 + 26*len(names)))
	if err := figure.Bars(p, names, labels, values, spans, colors, height); err != nil {
		return figure.Sheet{}, err
	}
	p.X.Max = 160 // room for the label of 100 %
	p.X.Tick.Marker = plot.ConstantTicks{{Value: 0, Label: "0"}, {Value: 50, Label: "50"}, {Value: 100, Label: "100"}}
	return figure.Sheet{Charts: [][]*plot.Plot{{p}}, Width: vg.Points(figure.SingleWidth), Height: height}, nil
}
