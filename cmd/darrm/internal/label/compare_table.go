package label

import (
	"fmt"
	"strings"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/cmd/darrm/internal/problem"
	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/internal/num"
	"github.com/darrm/darrm/internal/terminal"
)

func renderComparison(w *terminal.Page, c *ensemble.Comparison) error {
	w.Text("  ", notPrivate)
	w.Text("", fmt.Sprintf("%d queries, K = %d teachers, %d classes; every mechanism: one answer "+
		"(%v, %v)-DP where neighbours %s, which reaches at most %d of the teachers",
		c.Queries, c.Setting.K, c.Setting.Classes, c.Target.Epsilon, c.Target.Delta, c.Setting.Neighbours,
		c.Setting.Affected))
	w.Printf("\n")
	var refused []string
	// The majority always agrees with itself.
	plain := comparedRow("plain majority (not private)", c.Plain)
	plain[2] = "-"
	rows := [][]string{plain}
	for _, r := range c.Rows {
		if r.Refused != nil {
			refused = append(refused, fmt.Sprintf("%s: %v", r.Title, r.Refused))
			continue
		}
		rows = append(rows, comparedRow(r.Title, r.Score))
	}
	if err := w.Table(terminal.TextTable{Header: []string{"mechanism, over its noise", "agrees",
		"95 %",
		"right", "95 %", "abstains"}, Rows: rows}); err != nil {
		return err
	}
	w.Text("  ", "All in percent; to agree with the plain majority, "+problem.AgreementRule+
		". 95 %: Wilson's interval, for other queries of the same kind. Noise is not in it: it is "+
		"averaged out exactly. All rows are about the same queries, so their differences vary less.")
	renderAlike(w, "What proves each promise:", c.Rows, func(a *ensemble.Mechanism) []string {
		return []string{a.Basis()}
	})
	renderAlike(w, "What each assumes:", c.Rows, (*ensemble.Mechanism).Assumptions)
	if len(refused) > 0 {
		w.Printf("\nNot applicable:\n")
		for _, n := range refused {
			w.Hang("  ", "    ", n)
		}
	}
	return renderAtVotes(w, c)
}

// comparedRow is a row of the comparison, in percent.
func comparedRow(title string, s ensemble.Score) []string {
	interval := func(i ensemble.Interval) string {
		return fmt.Sprintf("%.1f–%.1f", 100*i.Low, 100*i.High)
	}
	row := []string{title, fmt.Sprintf("%.2f", 100*s.Agreement), interval(s.AgreementInterval()), "-",
		"-", "-"}
	if s.Labels > 0 {
		row[3], row[4] = fmt.Sprintf("%.2f", 100*s.Accuracy), interval(s.AccuracyInterval())
	}
	if s.Abstained > 0 {
		row[5] = fmt.Sprintf("%.2f", 100*s.Abstained)
	}
	return row
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

func comparisonJSON(c *ensemble.Comparison) any {
	type score struct {
		Agreement float64 `json:"agreement"`
		// Wilson's, over the queries; null for the majority itself
		AgreementInterval *[2]float64 `json:"agreement_95"`
		Accuracy          *float64    `json:"accuracy"`    // null without true labels
		AccuracyInterval  *[2]float64 `json:"accuracy_95"` // null without true labels
		Abstained         float64     `json:"abstained"`
	}
	of := func(s ensemble.Score) *score {
		interval := func(i ensemble.Interval) *[2]float64 { return &[2]float64{i.Low, i.High} }
		out := &score{Agreement: s.Agreement, AgreementInterval: interval(s.AgreementInterval()),
			Abstained: s.Abstained}
		if s.Labels > 0 {
			out.Accuracy, out.AccuracyInterval = &s.Accuracy, interval(s.AccuracyInterval())
		}
		return out
	}
	type atVotes struct {
		Computed  string  `json:"computed_from"` // "private votes", always
		Sanitised bool    `json:"sanitised"`     // false, always
		Queries   int     `json:"queries"`
		Delta     float64 `json:"delta"`
		Epsilon   float64 `json:"epsilon"`
		AnyVotes  float64 `json:"epsilon_at_any_votes"`
		Order     float64 `json:"order"`
		Cheaper   int     `json:"cheaper"`
	}
	type row struct {
		Name      string           `json:"mechanism"`
		Title     string           `json:"title"`
		PerAnswer *accountant.Cost `json:"per_answer,omitempty"`
		Score     *score           `json:"score,omitempty"`
		Basis     string           `json:"basis,omitempty"`
		Assumes   []string         `json:"assumes,omitempty"`
		AtVotes   *atVotes         `json:"all_answers_at_these_votes,omitempty"`
		Refused   string           `json:"refused,omitempty"`
	}
	out := struct {
		Private    bool            `json:"private"` // false, always
		Queries    int             `json:"queries"`
		K          int             `json:"k"`
		Classes    int             `json:"classes"`
		Affected   int             `json:"affected"`
		Neighbours string          `json:"neighbours"`
		Target     accountant.Cost `json:"target"`
		Plain      *score          `json:"plain_majority"`
		Mechanisms []row           `json:"mechanisms"`
	}{
		Queries: c.Queries, K: c.Setting.K, Classes: c.Setting.Classes, Affected: c.Setting.Affected,
		Neighbours: c.Setting.Neighbours.String(), Target: c.Target, Plain: of(c.Plain),
	}
	out.Plain.AgreementInterval = nil // it agrees with itself whatever queries come
	for _, r := range c.Rows {
		j := row{Name: r.Name, Title: r.Title}
		if r.Refused != nil {
			j.Refused = r.Refused.Error()
		} else {
			per := r.Mechanism.PerAnswer()
			j.PerAnswer, j.Score = &per, of(r.Score)
			j.Basis, j.Assumes = r.Mechanism.Basis(), r.Mechanism.Assumptions()
		}
		if d := r.AtVotes; d != nil {
			j.AtVotes = &atVotes{"private votes", false, d.Answers, d.Delta, d.Epsilon, d.AnyVotes, d.Order,
				d.Cheaper}
		}
		out.Mechanisms = append(out.Mechanisms, j)
	}
	return out
}
