package mechanisms

import (
	"fmt"
	"math/big"

	"github.com/darrm/darrm/cmd/darrm/internal/problem"
	"github.com/darrm/darrm/internal/num"
	"github.com/darrm/darrm/internal/terminal"
	"github.com/darrm/darrm/plurality"
	"github.com/darrm/darrm/plurality/solve"
)

// renderPlurality writes a table of many classes for people: agreement by lead, guarantee,
// certificate and gap.
func renderPlurality(w *terminal.Page, t *plurality.Table) error {
	p := t.Problem()
	kind := "Certified"
	if t.Gap <= solve.DefaultGap {
		kind = "Optimal"
	}
	w.Printf("%s mechanism for the plurality of K = %d votes for %d classes\n\n", kind, p.K, p.Classes)
	if err := renderMargins(w, t); err != nil {
		return err
	}
	w.Printf("\n")
	w.Text("  ", "lead: votes of the first class beyond those of the second. A number is the "+
		"probability that the answer agrees with the plurality: "+problem.AgreementRule+".")
	if p.Abstain {
		w.Text("  ", fmt.Sprintf("value: that probability, plus %v times that of no answer.",
			t.Objective.AbstainValue))
	}
	w.Text("  ", "Prior: "+problem.PriorText(t.Objective)+
		". It decides what is useful and never what is private.")
	w.Printf("Guarantee: one released answer is\n")
	w.Printf("  (%v, %v)-differentially private,\n", p.Epsilon, p.Delta)
	w.Hang("  ", "  ", fmt.Sprintf("where one person's record changes at most %d of the votes. "+
		"Nothing is presumed of the teachers.", p.Affected))
	c := t.Certificate()
	spent := ""
	if p.Delta > 0 {
		spent = fmt.Sprintf(" At most %s of δ is used.", num.Outward(c.Spent, 6, true))
	}
	w.Text("  ", fmt.Sprintf("Certificate: all %s privacy constraints hold, checked in integers: "+
		"those of %s pairs of neighbouring histograms.%s",
		num.Thousands(big.NewInt(c.Rows)), num.Thousands(big.NewInt(c.Pairs)), spent))
	if !t.Bounded() {
		w.Text("  ", "Optimality: nothing is proved of how near to the optimum this mechanism is.")
		return nil
	}
	w.Text("  ", fmt.Sprintf("Optimality: under this prior no private mechanism has a value above "+
		"%s; this one is within %s of that.",
		num.Outward(t.UpperBound, 12, true), num.Outward(t.Gap, 2, true)))
	return nil
}

// leastShare bounds the probability of neighbouring leads that share a row of the table.
const leastShare = 0.15

// renderMargins writes how often the answer is right by lead, for the table and the baselines.
func renderMargins(w *terminal.Page, t *plurality.Table) error {
	margins := t.Margins(leastShare)
	baselines := t.Baselines()
	header := []string{"lead", "how often", "this table"}
	abstain := t.Problem().Abstain
	if abstain {
		header = append(header, "no answer")
	}
	footer := []string{"value", "", num.Outward(t.Value, 9, false)}
	if abstain {
		footer = append(footer, "")
	}
	for _, b := range baselines {
		header = append(header, b.Name)
		footer = append(footer, fmt.Sprintf("%.9f", b.Value))
	}
	var rows [][]string
	for _, m := range margins {
		lead := fmt.Sprint(m.Lead)
		switch {
		case m.Lead == 0:
			lead = "0 (a tie)"
		case m.Most > m.Lead:
			lead = fmt.Sprintf("%d to %d", m.Lead, m.Most)
		}
		row := []string{lead, fmt.Sprintf("%.6f", m.Share), fmt.Sprintf("%.6f", m.Right)}
		if abstain {
			row = append(row, fmt.Sprintf("%.6f", m.Abstained))
		}
		for _, x := range m.Baselines {
			row = append(row, fmt.Sprintf("%.6f", x))
		}
		rows = append(rows, row)
	}
	return w.Table(terminal.TextTable{Header: header, Rows: rows, Footer: footer})
}
