package mechanisms

import (
	"context"
	"fmt"
	"math"
	"math/big"

	"github.com/darrm/darrm/cmd/darrm/internal/problem"
	"github.com/darrm/darrm/internal/num"
	"github.com/darrm/darrm/internal/terminal"
	"github.com/darrm/darrm/plurality/answers"
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
	w.Text("  ", "Noise: "+lawText(t.Law)+". The masses are integers, and they alone are priced.")
	w.Printf("Guarantee: up to %d released labels together are\n", p.Answers)
	w.Printf("  (%v, %v)-differentially private,\n", p.Epsilon, p.Delta)
	missing := ""
	if p.Missing {
		missing = "those that are cast or left out among them, "
	}
	w.Hang("  ", "  ", fmt.Sprintf("where one person's record changes at most %d of the votes, %s"+
		"however each query is chosen after the labels before it. Nothing is presumed of the "+
		"teachers.", p.Affected, missing))
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

// renderNamed writes a table of classes that are told apart: what it is worth, beside always the same answer,
// and how it treats each class.
func renderNamed(w *terminal.Page, t *answers.Table) error {
	p := t.Problem()
	by, err := t.ByClass(context.Background())
	if err != nil {
		return err
	}
	if p.Classes == 2 {
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
	rows := make([][]string, p.Classes)
	for c, recall := range by.Recall {
		share := 1 / float64(p.Classes)
		if t.Prior.Shares != nil {
			share = t.Prior.Shares[c]
		}
		rows[c] = []string{fmt.Sprint(c), fmt.Sprintf("%.4g", share), num.Percent(recall)}
	}
	if err := w.Table(terminal.TextTable{Header: []string{"class", "share", "recall"},
		Rows: rows}); err != nil {
		return err
	}
	w.Printf("\n")
	bound := ""
	if t.Prior.Costs == nil {
		if t.UpperBound < 1 {
			bound = fmt.Sprintf(" No table that is used for all %d labels can give more than %s.", p.Answers,
				num.PercentUp(t.UpperBound))
		}
		w.Text("  ", fmt.Sprintf("Agreement: %s expected (%s). Always answering %d: %s.%s", num.Percent(t.Value),
			problem.AgreementRule, by.Constant, num.Percent(by.ConstantValue), bound))
	} else {
		if t.UpperBound < 0 {
			bound = fmt.Sprintf(" No table that is used for all %d labels can cost less than %s.", p.Answers,
				num.Outward(-t.UpperBound, 6, false))
		}
		w.Text("  ", fmt.Sprintf("Cost: %.6g expected of an answer. Always answering %d: %.6g.%s", math.Abs(t.Value), by.Constant,
			math.Abs(by.ConstantValue), bound))
	}
	w.Text("  ", fmt.Sprintf("Recall: how often a class is answered where it has the most votes; in the mean over the classes %s.",
		num.Percent(by.Balanced)))
	if !by.Tells(t.Value) {
		w.Text("  ", fmt.Sprintf("Always answering %d is as good as this table, to a thousandth of what labels without "+
			"noise would gain: its labels tell nothing.", by.Constant))
	}
	w.Text("  ", "Prior: "+problem.PriorText(t.Prior.Objective)+", for classes of these shares. It decides what is useful and "+
		"never what is private.")
	return renderPromise(w, t)
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
