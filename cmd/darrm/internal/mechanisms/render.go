package mechanisms

import (
	"fmt"
	"math"

	"github.com/darrm/darrm/cmd/darrm/internal/problem"
	"github.com/darrm/darrm/constraints"
	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/gamma"
	"github.com/darrm/darrm/internal/num"
	"github.com/darrm/darrm/internal/terminal"
	"github.com/darrm/darrm/plan"
)

// renderTable writes a solved table for people: γ, guarantee, certificate and gap.
func renderTable(w *terminal.Page, t *gamma.Table) error {
	p, m := t.Problem(), metrics(t)
	kind := "Certified"
	if t.Optimal() {
		kind = "Optimal"
	}
	w.Printf("%s noise function for K = %d teachers,\n%s\n\n", kind, p.K, teachers(p))
	if err := renderGamma(w, t, m); err != nil {
		return err
	}
	w.Printf("\n")
	if t.Shape == gamma.ByName {
		w.Text("  ", "The labels are told apart, so the table has the probability of label 1. Where label 1 has at least "+
			"half of the votes, a tie included, γ(l) is for label 1, otherwise for label 0.")
	}
	says := "γ(l): the majority is released with probability γ(l), otherwise a fair coin."
	if !t.Func().Truthful() {
		says += " Where γ(l) is below 0, the minority is released with probability -γ(l)."
	}
	w.Text("  ", says)
	for _, m := range m {
		w.Text("  ", m.name+": "+m.says)
	}
	renderLabels(w, t)
	w.Printf("Guarantee: one released majority is\n")
	w.Printf("  (%s, %v)-differentially private,\n", p.TotalDecimal(), p.Delta)
	w.Hang("  ", "  ", fmt.Sprintf("where one person's record reaches %s of the teachers.", reach(p)))
	c := t.Certificate()
	if c.Method == gamma.PostProcessing {
		w.Text("  ", fmt.Sprintf("Certificate: all %s privacy constraints hold: no noise is needed. "+
			"One record reaches t = %d of the teachers; their answers together are (tε, "+
			"1-(1-Δ)^t)-differentially private, "+
			"within the guarantee, and the majority is computed from them.", num.Thousands(c.Constraints),
			p.Affected))
	} else {
		w.Text("  ", fmt.Sprintf(
			"Certificate: all %s privacy constraints hold, rounding errors included:",
			num.Thousands(c.Constraints)))
		w.Printf("  f ≤ %.15g ≤ e^(mε)-1+2δ = %.15g.\n", c.Bound, c.RightHandSide)
	}
	if !t.Bounded() {
		w.Text("  ", "Optimality: nothing is proved of how near to the optimum this noise function is.")
		return nil
	}
	w.Text("  ", fmt.Sprintf("Optimality: no private noise function (shape %s, %s) has %s below %s; "+
		"this one is within %s of that.",
		t.Shape, m[0].prior, m[0].title, num.Outward(t.LowerBound, 12, false),
		num.Outward(t.Gap, 2, true)))
	if t.Lopsided() && t.Shape != gamma.ByName {
		w.Text("  ", "The given vote counts favour one label. A noise function treats both labels alike, so it is "+
			"optimal for half of the counts and half of their mirror image: a mechanism that treats the labels "+
			"differently may differ from the majority less often.")
	}
	return nil
}

// renderLabels says how a function that tells the labels apart treats each.
func renderLabels(w *terminal.Page, t *gamma.Table) {
	if t.Shape != gamma.ByName {
		return
	}
	for _, note := range (plan.ReportOptions{}).ClassNotes(plan.Choice{Noise: t}) {
		w.Text("  ", note)
	}
}

// teachers returns the teachers' promise in words.
func teachers(p constraints.Problem) string {
	if promiseNothing(p) {
		return "which promise nothing themselves"
	}
	return fmt.Sprintf("each (%v, %v)-differentially private", p.Epsilon, p.TeacherDelta)
}

func promiseNothing(p constraints.Problem) bool { return math.IsInf(p.Epsilon, 1) }

// metric is a figure of merit.
type metric struct {
	name  string // in the table
	title string // in a sentence
	prior string // which votes it presumes
	says  string // what it is
	of    func(gamma.Func) float64
}

// metrics returns the table's own metric, for which it is optimal, and then the other metric.
func metrics(t *gamma.Table) []metric {
	mean := t.PriorMean
	if mean == 0 {
		mean = gamma.DefaultPriorMean
	}
	distance := metric{
		name: "error", title: "an error", prior: fmt.Sprintf("prior mean %v", mean),
		says: fmt.Sprintf("expected |Pr[label = 1] - Pr[majority = 1]|, prior mean %v", mean),
		of:   gamma.Objective{PriorMean: mean}.Error,
	}
	differs := metric{
		name: "≠ majority", title: "a Pr[label ≠ majority]", prior: "given vote counts",
		says: fmt.Sprintf("Pr[label ≠ majority of its votes], where %s; votes of mean %v either way",
			problem.AgreementRule, mean),
		of: func(f gamma.Func) float64 { return t.Disagreements(f).Binomial },
	}
	switch {
	case t.Costs != [2]float64{}:
		differs.name, differs.title = "expected cost", "an expected cost"
		differs.says, differs.of = fmt.Sprintf("of a label that differs from the majority of its votes: %v for 0 and %v for 1; "+
			"over the given vote counts", t.Costs[0], t.Costs[1]), t.Error
		return []metric{differs, distance}
	case t.Counts != nil:
		differs.says, differs.of = "Pr[label ≠ majority of its votes], where "+problem.AgreementRule+
			"; over the given vote counts", t.Error
		return []metric{differs, distance}
	}
	if t.WorstCase {
		distance.title, distance.prior, distance.of = "a largest error", "whatever the teachers do",
			t.Error
		distance.says = "largest |Pr[label = 1] - Pr[majority = 1]|, whatever the teachers do"
	}
	return []metric{distance, differs}
}

// renderGamma writes γ beside the baselines', one row for each vote count, and the metrics of each.
func renderGamma(w *terminal.Page, t *gamma.Table, metrics []metric) error {
	k := t.Func().K()
	header := []string{"votes for one answer", "γ(l), " + ensemble.NoiseName(t)}
	functions := []gamma.Func{t.Func()}
	for _, b := range t.Baselines {
		header = append(header, b.Title())
		functions = append(functions, b.Certified.Func())
	}
	footer := make([]string, len(header))
	for i, m := range metrics {
		if i > 0 {
			for j := range footer {
				footer[j] += "\n"
			}
		}
		footer[0] += m.name
		for j, f := range functions {
			footer[1+j] += fmt.Sprintf("%.9f", m.of(f))
		}
	}
	var rows [][]string
	if t.Shape == gamma.ByName {
		header[0], header[1] = "votes for label 1", "Pr[label = 1], "+ensemble.NoiseName(t)
		for l := range k + 1 {
			row := []string{fmt.Sprint(l)}
			for _, f := range functions {
				row = append(row, fmt.Sprintf("%.6f", (1+f.Phi()[l])/2))
			}
			rows = append(rows, row)
		}
		return w.Table(terminal.TextTable{Header: header, Rows: rows, Footer: footer})
	}
	for l := 0; 2*l < k; l++ {
		row := []string{fmt.Sprintf("%d or %d", l, k-l)}
		for _, f := range functions {
			row = append(row, fmt.Sprintf("%.6f", f.At(l)))
		}
		rows = append(rows, row)
	}
	if k%2 == 0 {
		row := []string{fmt.Sprintf("%d (a tie)", k/2)}
		for range len(header) - 1 {
			row = append(row, "coin")
		}
		rows = append(rows, row)
	}
	return w.Table(terminal.TextTable{Header: header, Rows: rows, Footer: footer})
}

// reach describes in words the number of teachers that one person's record reaches.
func reach(p constraints.Problem) string {
	if p.Affected < p.K {
		return fmt.Sprintf("at most %d", p.Affected)
	}
	return "any number"
}
