// Package page draws the page of a server of private answers: what is left of the budget and how it
// was spent over time, what that promises, what answers, and the latest requests by their ids. It
// shows no votes, no answers and no digest of either. The page is whole in itself: no scripts,
// nothing from any network, light or dark as the reader asks for, readable on 400 pixels.
//
// # Notation
//
//	(ε, δ)    release.BudgetReport   what was granted, spent, remains
//	K         Setting.K              teachers
//	γ(l)      Certified.Func         how often DaRRM answers the majority where l teachers vote 1
package page

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"

	"github.com/darrm/darrm/internal/figure"
	"github.com/darrm/darrm/internal/markup"
	"github.com/darrm/darrm/ledger"
	"github.com/darrm/darrm/release"
	"github.com/darrm/darrm/release/budgetpage"
)

// Policy is the Content-Security-Policy that the page must be sent with: no script, no resource
// and no form, and nobody may put it into a frame. Its own styles stand in it.
const Policy = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action " +
	"'none'; frame-ancestors 'none'"

// Service describes the mechanism and the teachers that answer.
type Service struct {
	Plan release.Plan
	// Teachers is "fresh", "frozen", or "" of teachers that promise nothing.
	Teachers string
	Stated   string   // of the teachers, by who runs the server; "" for nothing
	Classes  []string // their names, in order
	Labels   []string // of each question, where it has several: classes are then those of each label
	// Usable is what can still be charged in a state of the ledger ([release.Online.Usable]); nil for
	// all that is left.
	Usable func(ledger.State) ledger.Cost
}

// Page is the page of one service. It is safe for concurrent use.
type Page struct {
	service Service
	picture markup.Trusted
}

// New draws what does not change: the mechanism. Cost: up to 100 times that of a mechanism's
// Probabilities; of the optimum, and of DaRRM, next to nothing.
func New(s Service) (*Page, error) {
	if s.Plan.Mechanism() == nil {
		return nil, errors.New("plan must be given, of a mechanism")
	}
	sheet, label, err := mechanismPicture(s.Plan)
	if err != nil {
		return nil, err
	}
	svg, err := sheet.Inline(label)
	return &Page{s, markup.Trusted(svg)}, err // drawn here, with nothing but numbers in it
}

// Write writes the page of a state of the ledger at a time. The error is that of w, or of a
// picture.
func (p *Page) Write(w io.Writer, budget *release.BudgetView, now time.Time) error {
	if p == nil || p.service.Plan.Mechanism() == nil || w == nil || budget == nil {
		return errors.New("service, writer and budget must be given")
	}
	var overTime markup.Trusted
	if len(budget.Spending) > 0 {
		svg, err := spendingPicture(budget, now)
		if err != nil {
			return err
		}
		overTime = markup.Trusted(svg)
	}
	var out markup.Page // into memory first: half a page is no page
	budgetpage.Head(&out, "darrm: private answers, budget "+budget.Ledger)
	out.Put("<style>\n")
	out.Trust(markup.Trusted(figure.StyleSheet))
	out.Put(`
figure { margin: 1rem 0; } svg { display: block; height: auto; }
.charts { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 24rem), 1fr)); gap: 1rem; align-items: start; }
@media screen and (max-width: 900px) { figure { margin-inline: -1rem; } figcaption { padding-inline: 1rem; } }
</style>
`)
	out.Body()
	out.Put(`<h1>Private answers</h1>
<p class="soft">Each answer is charged to the privacy budget <code>{}</code>, on its disk, before it leaves. This page has no votes and no answers.</p>
`, budget.Ledger)
	budgetpage.Budget(&out, &budget.BudgetState, budget.Short, budget.Warnings)
	p.service.rest(&out, budget)
	out.Put("<h2>The budget over time, and the mechanism</h2>")
	if overTime == "" {
		out.Put("\n<p>Nothing was spent by {}.</p>", budgetpage.When(now))
	}
	out.Put("\n<div class=\"charts\">")
	if overTime != "" {
		out.Put("\n<figure>")
		out.Trust(overTime)
		out.Put(`<figcaption class="soft">What lies above a curve is left. {} charge{} by {}.</figcaption></figure>`,
			budget.Charges, budgetpage.Plural(budget.Charges), budgetpage.When(now))
	}
	out.Put("\n<figure>")
	out.Trust(p.picture)
	out.Put("</figure>\n</div>\n")
	p.service.write(&out)
	latest(&out, budget)
	out.Put(`
<h2>What was assumed</h2>
<p>No server can see whether this holds.`)
	if budget.Read < budget.Charges {
		out.Put(" What the latest {} charges rest on, and what paid for them, stands here; "+
			"<code>darrm budget report</code> reads all {}.", budget.Read, budget.Charges)
	}
	out.Put("</p>\n<ol>")
	for _, text := range slices.Concat(p.service.Plan.Mechanism().Assumptions(), budget.Assumed) {
		out.Put("\n<li>{}</li>", text)
	}
	out.Put(`
</ol>
<h2>State</h2>
<p>{} entries, all verified. Head: <code>{}</code></p>
<p class="soft">For programs: <a href="/openapi.json">openapi.json</a>, <a href="/v1/budget">v1/budget</a>, <a href="/v1/mechanism">v1/mechanism</a>.</p>`, budget.Entries, budget.Head)
	out.End()
	_, err := w.Write(out.Bytes())
	return err
}

// rest writes what this server can still charge, and what the ledger has left.
func (s *Service) rest(out *markup.Page, budget *release.BudgetView) {
	left := budget.Now.Remaining
	usable := left
	if s.Usable != nil {
		usable = s.Usable(budget.Now)
	}
	out.Put("<p>Usable by this server: {}; left of the ledger: {}.", usable, left)
	if usable != left {
		out.Put(" This server stops before its ledger is spent: a larger total would protect nobody.")
	}
	out.Put("</p>\n")
}

// write writes what answers, and for whom.
func (s *Service) write(out *markup.Page) {
	m := s.Plan.Mechanism()
	teachers := "they promise nothing, each answer has noise of its own"
	switch s.Teachers {
	case "fresh":
		teachers = "they vote anew for each request"
	case "frozen":
		teachers = "trained once, and charged once for all answers"
	}
	stated := "nothing of the teachers"
	if s.Stated != "" {
		stated = s.Stated + "; by who runs the server, who answers for it"
	}
	questions := strings.Join(s.Classes, ", ")
	if several := s.Plan.Several(); several.Labels > 0 {
		questions = fmt.Sprintf("%s, for each label of a question: %s. %v; a question is charged as %d answers", questions,
			strings.Join(s.Labels, ", "), several, several.PerQuestion(m.Setting().Affected))
	} else if several.YesFrom != "" {
		questions += "; " + several.String()
	}
	out.Put(`<h2>What answers</h2>
<dl>
<dt>mechanism</dt><dd>{}</dd>
<dt>teachers</dt><dd>{}, one record reaches {} of them; {}</dd>
<dt>stated</dt><dd>{}</dd>
<dt>classes</dt><dd>{}</dd>
<dt>one answer</dt><dd>{}-DP</dd>
<dt>proved by</dt><dd>{}</dd>
</dl>
`, m.Title(), s.Plan.Several().TeachersOf(m.Setting().K), m.Setting().Affected, teachers, stated, questions,
		m.PerAnswer(), m.Basis())
}

// latest writes the latest charges.
func latest(out *markup.Page, budget *release.BudgetView) {
	out.Put("<h2>Latest requests</h2>")
	if len(budget.Latest) == 0 {
		out.Put("\n<p>None yet.</p>")
		return
	}
	budgetpage.Charges(out, budget.Latest, func(e *release.ReportEntry) {
		if e.PaidBy != "" {
			out.Put(`<br><span class="soft">costs nothing more: paid by {}</span>`, release.ShortID(e.PaidBy))
		}
		if e.Reach != "" {
			out.Put("<br>{}", e.Reach)
		}
	})
	out.Put(`
<p class="soft">The latest charges, by the clocks of the machines that charged.</p>`)
}

// spendingPicture draws how much of ε and of δ was spent, in percent of the budget, from the first
// charge to now.
func spendingPicture(b *release.BudgetView, now time.Time) (string, error) {
	first := b.Spending[0].Time
	unit, name := axisUnit(now.Sub(first))
	c := figure.NewChart("", name+" since the first charge", "spent, % of the budget")
	end := max(0, now.Sub(first).Seconds()/unit)
	points := [2]plotter.XYs{}
	granted := [2]float64{number(b.Granted.Epsilon), number(b.Granted.Delta)}
	x := 0.0
	for _, s := range b.Spending {
		// Clocks of several machines may disagree: the axis has no way back.
		x = max(x, s.Time.Sub(first).Seconds()/unit)
		for j, spent := range [2]float64{s.Epsilon, s.Delta} {
			points[j] = append(points[j], plotter.XY{X: x, Y: 100 * spent / max(granted[j], 1e-300)})
		}
	}
	end = max(end, x)
	for j, name := range [2]string{"ε", "δ"} {
		if granted[j] == 0 {
			continue // there is none to spend
		}
		p := append(plotter.XYs{{X: 0, Y: 0}}, points[j]...)
		p = append(p, plotter.XY{X: end, Y: p[len(p)-1].Y})
		line := figure.Line(figure.Blue)
		if j == 1 {
			line = figure.Line(figure.Vermillion, 5, 3)
		}
		if err := c.Steps(name, p, line); err != nil {
			return "", err
		}
	}
	c.Y.Min, c.Y.Max = 0, 104
	c.X.Min, c.X.Max = 0, max(end, 1e-3)
	c.X.Tick.Marker, c.Y.Tick.Marker = plot.TickerFunc(figure.FewTicks),
		plot.TickerFunc(figure.FewTicks)
	return c.Sheet().Inline(fmt.Sprintf("The budget over time: %v %% of ε and %v %% of δ are spent",
		b.Share[0], b.Share[1]))
}

// axisUnit returns the unit of a time axis of that length, in seconds, and its name.
func axisUnit(d time.Duration) (seconds float64, name string) {
	switch {
	case d >= 72*time.Hour:
		return 86400, "days"
	case d >= 3*time.Hour:
		return 3600, "hours"
	case d >= 3*time.Minute:
		return 60, "minutes"
	}
	return 1, "seconds"
}

// number reads a decimal of the ledger, which is one.
func number(n json.Number) float64 {
	x, _ := n.Float64()
	return x
}
