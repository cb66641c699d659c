// Package budgetpage writes a [release.BudgetReport] as one HTML page, whole in itself: no
// scripts, nothing from any network, in light or dark as the reader asks for, on paper too. It
// is a package of its own so that those who only release link no pages.
package budgetpage

import (
	_ "embed"
	"errors"
	"io"
	"strings"
	"time"

	"github.com/darrm/darrm/internal/markup"
	"github.com/darrm/darrm/release"
)

//go:embed style.css
var styleSheet markup.Trusted

const dayFormat = "2 January 2006"

// When is a time as pages have it.
func When(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 MST") }

func period(list []release.ReportEntry) string {
	first, last := list[0].Time.UTC().Format(dayFormat),
		list[len(list)-1].Time.UTC().Format(dayFormat)
	if first == last {
		return "on " + first
	}
	return "from " + first + " to " + last
}

// Plural is the ending of n things.
func Plural[T int | uint64](n T) string {
	if n == 1 {
		return ""
	}
	return "s"
}

// Head begins a page, up to the end of its title and of the style that pages share.
func Head(p *markup.Page, title string) {
	p.Begin(title)
	p.Trust(styleSheet)
	p.Put("</style>\n")
}

// Budget writes what is left of a budget, and what that promises.
func Budget(p *markup.Page, s *release.BudgetState, short release.ShortBudget, warnings []string) {
	if s == nil {
		return
	}
	p.Put(`<p class="meaning">{}</p>
<p class="soft">{}</p>`, s.Meaning, s.Limit)
	for _, w := range warnings {
		p.Put("\n<p class=\"warn\">Warning: {}.</p>", w)
	}
	p.Put(`
<div class="budget">
<div>ε, privacy loss<br><strong title="{}">{}</strong> remains`, s.Remaining.Epsilon, short.Remaining[0])
	if release.SpentUp(s.Remaining, s.Granted) != "" {
		p.Put(`<div class="bar spent">`)
	} else {
		p.Put(`<div class="bar">`)
	}
	p.Put(`<span style="width: {}%"></span></div>{} of {} spent ({} %)</div>
`, s.Share[0], short.Spent[0], s.Granted.Epsilon, s.Share[0])
	p.Put(`<div>δ, the chance that is added<br><strong title="{}">{}</strong> remains<div class="bar"><span style="width: {}%"></span></div>{} of {} spent ({} %)</div>
</div>
<p class="soft">ε and δ have no unit. The ledger counts them in whole units of 10⁻¹² (ε) and 10⁻²⁴ (δ): costs are rounded up, and nothing is given back.</p>
`, s.Remaining.Delta, short.Remaining[1], s.Share[1], short.Spent[1], s.Granted.Delta, s.Share[1])
}

// Charges writes the table of charges. what writes the text on each.
func Charges(p *markup.Page, list []release.ReportEntry, what func(*release.ReportEntry)) {
	p.Put(`
<table>
<thead><tr><th scope="col">Request</th><th scope="col">Charged</th><th scope="col">What</th><th scope="col">ε</th><th scope="col">δ</th></tr></thead>
<tbody>`)
	for i := range list {
		e := &list[i]
		p.Put(`
<tr>
<td class="id">{}</td>
<td class="time" data-name="charged">{}</td>
<td>{}`, e.ID, When(e.Time), e.What)
		what(e)
		p.Put(`</td>
<td class="number" data-name="ε">{}</td>
<td class="number" data-name="δ">{}</td>
</tr>`, e.Cost.Epsilon, e.Cost.Delta)
	}
	p.Put("\n</tbody>\n</table>")
}

// Write writes the page. The error is that of w.
func Write(w io.Writer, r *release.BudgetReport) error {
	if w == nil || r == nil {
		return errors.New("writer and report must be given")
	}
	var p markup.Page // into memory first: half a page is no page
	Head(&p, "Privacy budget "+r.Ledger)
	p.Body()
	p.Put("<h1>Privacy budget {}</h1>\n", r.Ledger)
	if r.Warnings == nil && release.SpentUp(r.Remaining, r.Granted) == "" {
		p.Put(`<p class="verdict">{}</p>`, r.Verdict)
	} else {
		p.Put(`<p class="verdict warn">{}</p>`, r.Verdict)
	}
	about(&p, r)
	p.Put(`
<p class="soft">What was released from one set of people's data, under which promise, and what remains. Nothing on this page was computed from these data but digests (SHA-256): those of what was released and, in the head at the end, one of all entries, in which votes have digests that tell nothing without a secret key.</p>`)
	counted(&p, r.Releases)
	p.Put("\n")
	Budget(&p, &release.BudgetState{Meaning: r.Meaning, Limit: r.Limit, BudgetBalance: r.BudgetBalance,
		Share: r.Share}, r.Short, r.Warnings)
	p.Put("<h2>What was charged</h2>")
	if len(r.Releases) > 0 {
		Charges(&p, r.Releases, func(e *release.ReportEntry) { details(&p, e) })
	} else {
		p.Put("\n<p>Nothing was charged yet.</p>")
	}
	p.Put(`
<h2>What was assumed</h2>
<p>No ledger can see whether this holds. Who signs, vouches for it.</p>
<ol>`)
	for _, a := range r.Assumed {
		p.Put("\n<li>{}", a.Text)
		if len(a.Requests) > 0 {
			names := make([]string, len(a.Requests))
			for i, id := range a.Requests {
				names[i] = release.ShortID(id) // the charge's own row has all of it
			}
			p.Put(` <span class="soft">({})</span>`, strings.Join(names, ", "))
		}
		p.Put("</li>")
	}
	p.Put(`
</ol>
<h2>State</h2>
<p>{} entries, all verified. Head: <code>{}</code></p>
<div class="sign"><span>Name</span><span>Date</span><span>Signature</span></div>`, r.Entries, r.Head)
	p.End()
	_, err := w.Write(p.Bytes())
	return err
}

// counted writes how many releases there are, apart from the charges that pay for them.
func counted(p *markup.Page, list []release.ReportEntry) {
	if len(list) == 0 {
		return
	}
	payers := 0
	for i := range list {
		if list[i].Shared {
			payers++
		}
	}
	n := len(list) - payers
	p.Put("\n<p>{} release{}, {}", n, Plural(n), period(list))
	switch {
	case payers == 1:
		p.Put("; 1 further charge pays for them")
	case payers > 1:
		p.Put("; {} further charges pay for them", payers)
	}
	p.Put(".</p>")
}

// about writes what the ledger is for, where that is stated.
func about(p *markup.Page, r *release.BudgetReport) {
	a := r.About
	if a == nil {
		return
	}
	p.Put("\n<dl>")
	if a.Purpose != "" {
		p.Put("<dt>purpose</dt><dd>{}</dd>", a.Purpose)
	}
	if a.Custodian != "" {
		p.Put("<dt>custodian</dt><dd>{}</dd>", a.Custodian)
	}
	if a.DataSet != "" {
		p.Put("<dt>data set</dt><dd>{}</dd>", a.DataSet)
	}
	if a.From != "" || a.Until != "" {
		p.Put("<dt>days of the data</dt><dd>")
		if a.From != "" {
			p.Put("from {}", a.From)
		}
		if a.Until != "" {
			p.Put(" until {}", a.Until)
		}
		p.Put("</dd>")
	}
	p.Put(`
</dl>
<p class="soft">Stated when the ledger was made, and never changed since.</p>`)
}

// details writes what there is to say of a charge.
func details(p *markup.Page, e *release.ReportEntry) {
	if e.Who != "" {
		p.Put("; ensemble {}", e.Who)
	}
	if e.PaidBy != "" {
		p.Put(`<br><span class="soft">costs nothing more: paid by {}</span>`, release.ShortID(e.PaidBy))
	}
	if e.Reach != "" {
		p.Put("<br>{}", e.Reach)
	}
	if e.Rule != "" {
		p.Put(`<br><span class="soft">the cost follows from: {}</span>`, e.Rule)
	}
	switch {
	case e.Result != "":
		p.Put(`<br><span class="soft">released, SHA-256 <code>{}</code></span>`, e.Result)
	case e.Shared:
		p.Put(`<br><span class="soft">no release itself: it pays for others</span>`)
	default:
		p.Put(`<br><span class="warn">no result is recorded</span>`)
	}
}
