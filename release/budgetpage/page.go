// Package budgetpage writes a [release.BudgetReport] as one HTML page, whole in itself: no
// scripts, nothing from any network, in light or dark as the reader asks for, on paper too. It
// is a package of its own so that those who only release link no HTML templates.
package budgetpage

import (
	"bytes"
	"embed"
	"html/template"
	"io"
	"strings"
	"time"

	"github.com/darrm/darrm/release"
)

//go:embed parts.html.tmpl page.html.tmpl
var files embed.FS

const dayFormat = "2 January 2006"

var funcs = template.FuncMap{
	"when": func(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 MST") },
	"period": func(list []release.ReportEntry) string {
		first, last := list[0].Time.UTC().Format(dayFormat),
			list[len(list)-1].Time.UTC().Format(dayFormat)
		if first == last {
			return "on " + first
		}
		return "from " + first + " to " + last
	},
	"join": func(list []string) string { return strings.Join(list, ", ") },
}

var page = template.Must(Parts().ParseFS(files, "page.html.tmpl")).Lookup("page.html.tmpl")

// Parts returns what other pages share with this one, as templates of their own: "head" and
// "style" for the page's head, which take nothing, and "budget", what is left and what it
// promises, which takes a [release.BudgetReport]. The function when writes a time.
func Parts() *template.Template {
	return template.Must(template.New("parts").Funcs(funcs).ParseFS(files, "parts.html.tmpl"))
}

// Write writes the page. The error is that of w.
func Write(w io.Writer, r *release.BudgetReport) error {
	// Into memory first: half a page is no page.
	var b bytes.Buffer
	if err := page.Execute(&b, r); err != nil {
		return err
	}
	_, err := w.Write(b.Bytes())
	return err
}
