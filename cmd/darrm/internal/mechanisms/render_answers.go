package mechanisms

import (
	"context"
	"fmt"
	"math"
	"math/big"

	"github.com/darrm/darrm/cmd/darrm/internal/problem"
	"github.com/darrm/darrm/internal/num"
	"github.com/darrm/darrm/internal/terminal"
	"github.com/darrm/darrm/plan"
	"github.com/darrm/darrm/plurality"
	"github.com/darrm/darrm/plurality/answers"
	"github.com/darrm/darrm/plurality/solve"
)

// renderAnswers writes a table for many answers for people.
func renderAnswers(w *terminal.Page, t *answers.Table) error {
	p := t.Problem()
	w.Printf("Table for up to %d labels of K = %d votes for %d classes\n\n", p.Answers, p.K,
		p.Classes)
	if p.Named {
		return renderNamed(w, t)
	}
	if p.Classes == 2 {
		if err := renderLeads(w, t); err != nil {
			return err
		}
		w.Printf("\n")
	}
	value := "Agreement"
	if p.Abstain {
		value = fmt.Sprintf("Agreement, plus %v times the share of no answer", t.Prior.AbstainValue)
	}
	value += fmt.Sprintf(": %s expected (%s).", num.Percent(t.Value), problem.AgreementRule)
	if t.UpperBound < 1 {
		value += fmt.Sprintf(" No table that is used for all %d labels can give more than %s.",
			p.Answers, num.PercentUp(t.UpperBound))
	}
	if t.LawBound < 1 {
		value += fmt.Sprintf(" No table under its bound on the Rényi divergence can give more than %s.",
			num.Percent(t.LawBound))
	}
	w.Text("  ", value)
	prior := problem.PriorText(t.Prior.Objective)
	if t.Prior.Present != 0 {
		prior += fmt.Sprintf(", and each teacher votes with probability %v", t.Prior.Present)
	}
	w.Text("  ", "Prior: "+prior+". It decides what is useful and never what is private.")
	return renderPromise(w, t)
}

// renderPromise writes what the table promises, and the proof.
func renderPromise(w *terminal.Page, t *answers.Table) error {
	p := t.Problem()
	w.Text("  ", "Noise, as its maker says: "+lawText(t.Law)+". The masses are integers, and they alone are priced.")
	renderGuarantee(w, p)
	c := t.Certificate()
	if c.Each.Epsilon > 0 {
		w.Text("  ", fmt.Sprintf("Certificate: each label is (%s, %s)-differentially private by itself, over "+
			"all %s ordered pairs of neighbouring votes, and at ε = %v so many labels cost δ ≤ %s by exact "+
			"composition, with every rounding upward.", num.Outward(c.Each.Epsilon, 6, true),
			num.Outward(c.Each.Delta, 6, true), num.Thousands(big.NewInt(int64(c.Pairs))), p.Epsilon,
			num.Outward(c.Delta, 6, true)))
		return nil
	}
	w.Text("  ", fmt.Sprintf("Certificate: at ε = %v the labels cost δ ≤ %s, over all %s ordered pairs "+
		"of neighbouring votes, with every rounding upward.", p.Epsilon, num.Outward(c.Delta, 6, true),
		num.Thousands(big.NewInt(int64(c.Pairs)))))
	return nil
}

// renderGuarantee writes what is promised of all answers.
func renderGuarantee(w *terminal.Page, p answers.Problem) {
	w.Printf("Guarantee: up to %d released labels together are\n", p.Answers)
	w.Printf("  (%v, %v)-differentially private,\n", p.Epsilon, p.Delta)
	missing := ""
	if p.Missing {
		missing = "those that are cast or left out among them, "
	}
	w.Hang("  ", "  ", fmt.Sprintf("where one person's record changes at most %d of the votes, %s"+
		"however each query is chosen after the labels before it. Nothing is presumed of the "+
		"teachers.", p.Affected, missing))
}

// renderNamed writes a table of classes that are told apart: what it is worth, beside always the same answer,
// and how it treats each class.
func renderNamed(w *terminal.Page, t *answers.Table) error {
	p := t.Problem()
	by, err := t.ByClass(context.Background())
	if err != nil {
		return err
	}
	switch {
	case p.Labels > 0:
		if err := renderEachLabel(w, t); err != nil {
			return err
		}
	case p.Classes == 2:
		var rows [][]string
		step := max(1, p.K/leadRows)
		for k := 0; k <= p.K; k += step {
			law, err := t.Certified.Law([]int{p.K - k, k})
			if err != nil {
				return err
			}
			rows = append(rows, []string{fmt.Sprint(k), fmt.Sprintf("%.6f", law[1])})
		}
		if err := w.Table(terminal.TextTable{Header: []string{"votes for 1", "answer 1"}, Rows: rows}); err != nil {
			return err
		}
		w.Printf("\n")
	}
	rows, shares := make([][]string, p.Classes), t.Prior.MeanShares()
	for c, recall := range by.Recall {
		share := 1 / float64(p.Classes)
		if shares != nil {
			share = shares[c]
		}
		rows[c] = []string{fmt.Sprint(c), fmt.Sprintf("%.4g", share), num.Percent(recall)}
	}
	if err := w.Table(terminal.TextTable{Header: []string{"class", "share", "recall"},
		Rows: rows}); err != nil {
		return err
	}
	w.Printf("\n")
	bound, constant := "", fmt.Sprint(by.Constant)
	if by.Constant < 0 {
		constant = plan.EachLikelier
	}
	if t.Prior.Costs == nil {
		if t.UpperBound < 1 {
			bound = fmt.Sprintf(" No table that is used for all %d labels can give more than %s.", p.Answers,
				num.PercentUp(t.UpperBound))
		}
		w.Text("  ", fmt.Sprintf("Agreement: %s expected (%s). Always answering %s: %s.%s", num.Percent(t.Value),
			problem.AgreementRule, constant, num.Percent(by.ConstantValue), bound))
	} else {
		if t.UpperBound < 0 {
			bound = fmt.Sprintf(" No table that is used for all %d labels can cost less than %s.", p.Answers,
				num.Outward(-t.UpperBound, 6, false))
		}
		w.Text("  ", fmt.Sprintf("Cost: %.6g expected of an answer. Always answering %s: %.6g.%s", math.Abs(t.Value), constant,
			math.Abs(by.ConstantValue), bound))
	}
	w.Text("  ", fmt.Sprintf("Recall: how often a class is answered where it has the most votes; in the mean over the classes %s.",
		num.Percent(by.Balanced)))
	if !by.Tells(t.Value) {
		w.Text("  ", fmt.Sprintf("Always answering %s is as good as this table, to a thousandth of what labels without "+
			"noise would gain: its labels tell nothing.", constant))
	}
	w.Text("  ", "Prior: "+problem.PriorText(t.Prior.Objective)+", for classes of these shares. It decides what is useful and "+
		"never what is private.")
	return renderPromise(w, t)
}

// renderEachLabel writes how the table of each label treats no and yes.
func renderEachLabel(w *terminal.Page, t *answers.Table) error {
	var rows [][]string
	for label := range t.Problem().Labels {
		one, err := t.OfLabel(context.Background(), label)
		if err != nil {
			return err
		}
		by, err := one.ByClass(context.Background())
		if err != nil {
			return err
		}
		rows = append(rows, []string{fmt.Sprint(label), fmt.Sprintf("%.4g", t.Prior.Yes[label]), fmt.Sprintf("%.6f", one.Value),
			fmt.Sprintf("%.6f", by.ConstantValue), num.Percent(by.Recall[0]), num.Percent(by.Recall[1])})
	}
	if err := w.Table(terminal.TextTable{Header: []string{"label", "share of 1", "value", "always one", "recall 0", "recall 1"},
		Rows: rows}); err != nil {
		return err
	}
	w.Printf("\n")
	return nil
}

// lawText describes how a table was made.
func lawText(l answers.Law) string {
	switch l.Name {
	case answers.NormalLaw:
		return fmt.Sprintf("normal with deviation %s on each count, priced by the label",
			num.Outward(l.Sigma, 5, true))
	case answers.CoinsLaw:
		return fmt.Sprintf("the best of which so many coins of neighbours cost no more than ε = %s",
			num.Outward(l.Epsilon, 5, true))
	case answers.OneLaw:
		return fmt.Sprintf("the best of which each label is (%s, %s)-differentially private",
			num.Outward(l.Epsilon, 6, true), num.Outward(l.Delta, 6, true))
	case answers.ChainLaw:
		return fmt.Sprintf("the best under a bound on the Rényi divergence of order %v", l.Order)
	}
	return fmt.Sprintf("the best of a convex program under a bound on the Rényi divergence of order "+
		"%v", l.Order)
}

// leadRows is about how many leads are shown.
const leadRows = 8

// renderLeads writes how likely the class that leads is the label, of two classes.
func renderLeads(w *terminal.Page, t *answers.Table) error {
	p := t.Problem()
	header := []string{"lead", "its label"}
	if p.Abstain {
		header = append(header, "no answer")
	}
	least, apart := p.K%2, 2 // leads, where every teacher votes
	if p.Missing {
		least, apart = 0, 1
	}
	step := apart * max(1, (p.K+1)/2/leadRows)
	var rows [][]string
	for lead := least; lead <= p.K; lead += apart {
		if (lead-least)%step != 0 && lead != p.K {
			continue
		}
		second := 0
		if !p.Missing {
			second = (p.K - lead) / 2
		}
		law, err := t.Certified.Law([]int{lead + second, second})
		if err != nil {
			return err
		}
		row := []string{fmt.Sprint(lead), fmt.Sprintf("%.6f", law[0])}
		if p.Abstain {
			row = append(row, fmt.Sprintf("%.6f", law[2]))
		}
		rows = append(rows, row)
	}
	return w.Table(terminal.TextTable{Header: header, Rows: rows})
}

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
