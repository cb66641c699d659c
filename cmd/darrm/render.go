package main

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/olekukonko/tablewriter"
	"github.com/olekukonko/tablewriter/renderer"
	"github.com/olekukonko/tablewriter/tw"

	"github.com/darrm/darrm/constraints"
	"github.com/darrm/darrm/gamma"
	"github.com/darrm/darrm/gamma/solve"
	"github.com/darrm/darrm/internal/num"
)

// renderRows writes a plain table: words to the left, numbers to the right.
func renderRows(w io.Writer, header []string, rows [][]string, footer []string) error {
	t := tablewriter.NewTable(w,
		tablewriter.WithRenderer(renderer.NewBlueprint(tw.Rendition{
			Borders: tw.BorderNone,
			Symbols: tw.NewSymbols(tw.StyleLight),
			Settings: tw.Settings{
				Separators: tw.Separators{BetweenColumns: tw.Off, BetweenRows: tw.Off, ShowHeader: tw.On, ShowFooter: tw.On},
				Lines:      tw.Lines{ShowHeaderLine: tw.On, ShowFooterLine: tw.On},
			},
		})),
		tablewriter.WithHeaderAutoFormat(tw.Off),
		tablewriter.WithAlignment(alignment(header, rows)),
		tablewriter.WithHeaderAutoWrap(tw.WrapNone),
		tablewriter.WithRowAutoWrap(tw.WrapNone),
		tablewriter.WithFooterAutoWrap(tw.WrapNone),
		tablewriter.WithFooterAutoFormat(tw.Off),
		tablewriter.WithFooterAlignmentConfig(tw.CellAlignment{PerColumn: alignment(header, rows)}),
		tablewriter.WithHeaderAlignmentConfig(tw.CellAlignment{PerColumn: alignment(header, rows)}),
	)
	wrapped := make([]string, len(header))
	for i, h := range header {
		width := headerWidth
		for _, row := range rows {
			width = max(width, len([]rune(row[i])))
		}
		wrapped[i] = wrap(h, width)
	}
	t.Header(wrapped)
	if err := t.Bulk(rows); err != nil {
		return err
	}
	if footer != nil {
		t.Footer(footer)
	}
	return t.Render()
}

// headerWidth is where headers are broken into lines, unless the column is wider
// anyway, so that the usual tables fit a terminal.
const headerWidth = 12

// wrap breaks a header at spaces into lines of at most width characters.
func wrap(header string, width int) string {
	var lines []string
	for _, word := range strings.Fields(header) {
		last := len(lines) - 1
		if last >= 0 && len([]rune(lines[last]))+1+len([]rune(word)) <= width {
			lines[last] += " " + word
		} else {
			lines = append(lines, word)
		}
	}
	return strings.Join(lines, "\n")
}

// alignment puts columns with numbers to the right, and those with words and the first
// to the left.
func alignment(header []string, rows [][]string) tw.Alignment {
	out := tw.Alignment{tw.AlignLeft}
	for i := 1; i < len(header); i++ {
		align := tw.AlignLeft
		for _, row := range rows {
			if looksNumeric(row[i]) {
				align = tw.AlignRight
			}
		}
		out = append(out, align)
	}
	return out
}

func looksNumeric(cell string) bool {
	number, _, _ := strings.Cut(strings.ReplaceAll(cell, ",", ""), " ") // a unit may follow
	_, err := strconv.ParseFloat(number, 64)
	return err == nil && !strings.Contains(cell, " of ")
}

// renderTable writes what a person wants to know about a solved table, in at most 80 columns.
func renderTable(w io.Writer, t *gamma.Table) error {
	p, m := t.Problem(), metrics(t)
	kind := "Certified"
	if t.Gap <= solve.OptimalGap*t.ErrorOfCoin() {
		kind = "Optimal"
	}
	fmt.Fprintf(w, "%s noise function for K = %d teachers,\n%s\n\n", kind, p.K, teachers(p))
	if err := renderGamma(w, t, m); err != nil {
		return err
	}
	fmt.Fprint(w, `
γ(l): the majority is released with probability γ(l), otherwise a fair coin.
`)
	for _, m := range m {
		fmt.Fprintln(w, paragraph(m.name+": "+m.says))
	}
	fmt.Fprintf(w, "Guarantee: %s\n", guarantee(p))
	c := t.Certificate()
	if c.Method == gamma.PostProcessing {
		fmt.Fprintln(w, paragraph(fmt.Sprintf("Certificate: all %s privacy constraints hold: no noise is needed. "+
			"One record reaches t = %d of the teachers; their answers together are (tε, 1-(1-Δ)^t)-differentially private, "+
			"within the guarantee, and the majority is computed from them.", num.Thousands(c.Constraints), p.Affected)))
	} else {
		fmt.Fprintln(w, paragraph(fmt.Sprintf("Certificate: all %s privacy constraints hold, rounding errors included:", num.Thousands(c.Constraints))))
		fmt.Fprintf(w, "  f ≤ %.15g ≤ e^(mε)-1+2δ = %.15g.\n", c.Bound, c.RightHandSide)
	}
	fmt.Fprintln(w, paragraph(fmt.Sprintf("Optimality: no private noise function (shape %s, %s) has %s below %s; this one is within %s of that.",
		t.Shape, m[0].prior, m[0].title, num.Outward(t.LowerBound, 12, false), num.Outward(t.Gap, 2, true))))
	return nil
}

// paragraph breaks a text at 80 columns.
func paragraph(text string) string { return strings.ReplaceAll(wrap(text, 78), "\n", "\n  ") }

// teachers says what the teachers promise.
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

// metrics are what the table is optimal for, and what its labels cost by the other metric.
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
		says: fmt.Sprintf("Pr[label ≠ majority of its votes], votes of mean %v either way", mean),
		of:   func(f gamma.Func) float64 { return t.Disagreements(f).Binomial },
	}
	if t.Counts != nil {
		differs.says, differs.of = "Pr[label ≠ majority of its votes], over the given vote counts", t.Error
		return []metric{differs, distance}
	}
	if t.WorstCase {
		distance.title, distance.prior, distance.of = "a largest error", "whatever the teachers do", t.Error
		distance.says = "largest |Pr[label = 1] - Pr[majority = 1]|, whatever the teachers do"
	}
	return []metric{distance, differs}
}

// renderGamma writes γ beside the baselines', one row for each vote count, and what each
// costs by the metrics.
func renderGamma(w io.Writer, t *gamma.Table, metrics []metric) error {
	k := t.Func().K()
	header := []string{"votes for one answer", "γ(l), optimal"}
	functions := []gamma.Func{t.Func()}
	for _, b := range t.Baselines {
		header = append(header, b.Title)
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
	return renderRows(w, header, rows, footer)
}

// guarantee says in words what a release with p's table promises.
func guarantee(p constraints.Problem) string {
	reach := "any number"
	if p.Affected < p.K {
		reach = fmt.Sprintf("at most %d", p.Affected)
	}
	return fmt.Sprintf("one released majority is\n  (%s, %v)-differentially private,\n  where one person's record reaches %s of the teachers.", p.TotalDecimal(), p.Delta, reach)
}
