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
	"bytes"
	"embed"
	"html/template"
	"io"
	"time"

	"github.com/darrm/darrm/internal/figure"
	"github.com/darrm/darrm/release"
	"github.com/darrm/darrm/release/budgetpage"
)

// Policy is the Content-Security-Policy that the page must be sent with: no script, no resource
// and no form, and nobody may put it into a frame. Its own styles stand in it.
const Policy = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action " +
	"'none'; frame-ancestors 'none'"

//go:embed page.html.tmpl
var files embed.FS

var text = template.Must(budgetpage.Parts().ParseFS(files, "page.html.tmpl")).Lookup(
	"page.html.tmpl")

// Service describes the mechanism and the teachers that answer.
type Service struct {
	Plan release.Plan
	// Teachers is "fresh", "frozen", or "" of teachers that promise nothing.
	Teachers string
	Stated   string   // of the teachers, by who runs the server; "" for nothing
	Classes  []string // their names, in order
}

// Page is the page of one service. It is safe for concurrent use.
type Page struct {
	service Service
	picture template.HTML
}

// New draws what does not change: the mechanism. Cost: up to 100 times that of a mechanism's
// Probabilities; of the optimum, and of DaRRM, next to nothing.
func New(s Service) (*Page, error) {
	sheet, label, err := mechanismPicture(s.Plan)
	if err != nil {
		return nil, err
	}
	svg, err := sheet.Inline(label)
	return &Page{s, template.HTML(svg)}, err // drawn here, with nothing but numbers in it
}

// Write writes the page of a state of the ledger at a time. The error is that of w, or of a
// picture.
func (p *Page) Write(w io.Writer, budget *release.BudgetView, now time.Time) error {
	m := p.service.Plan.Mechanism()
	data := struct {
		*release.BudgetView
		Service
		Now             time.Time
		StyleSheet      template.CSS
		Mechanism       string
		Cost, Basis     string
		Presumed        []string
		Gamma, OverTime template.HTML
	}{
		BudgetView: budget, Service: p.service, Now: now, StyleSheet: template.CSS(figure.StyleSheet),
		Mechanism: m.Title(),
		Cost:      m.PerAnswer().String(), Basis: m.Basis(), Presumed: m.Assumptions(), Gamma: p.picture,
	}
	if len(budget.Spending) > 0 {
		svg, err := spendingPicture(budget, now)
		if err != nil {
			return err
		}
		data.OverTime = template.HTML(svg)
	}
	// Into memory first: half a page is no page.
	var b bytes.Buffer
	if err := text.Execute(&b, data); err != nil {
		return err
	}
	_, err := w.Write(b.Bytes())
	return err
}
