package experiment

import (
	"fmt"
	"maps"
	"slices"

	"github.com/darrm/darrm/internal/figure"
	"github.com/darrm/darrm/internal/markup"
)

// html is the page.
func (p reportPage) html() []byte {
	var out markup.Page
	out.Begin("Experiments with private majorities")
	out.Put(`:root { --ink: #222; --soft: #555; --paper: #fff; --line: #ddd; --link: #0072b2; --good: #00704f; --bad: #b03000; --panel: #f6f6f6; }
@media screen and (prefers-color-scheme: dark) { :root { --ink: #e8e8e8; --soft: #b0b4ba; --paper: #14171c; --line: #363b44; --link: #6db6ea; --good: #45c49b; --bad: #f0975a; --panel: #1d2128; } }
`)
	out.Trust(markup.Trusted(figure.StyleSheet))
	out.Put(`
body { font: 16px/1.5 "Liberation Sans", Arial, Helvetica, sans-serif; color: var(--ink); background: var(--paper); margin: 0 auto; max-width: 62rem; padding: 1.5rem; }
h1 { font-size: 1.7rem; line-height: 1.2; } h2 { font-size: 1.3rem; margin-top: 3rem; border-top: 2px solid var(--line); padding-top: 1rem; }
a { color: var(--link); }
figure { margin: 1.2rem 0; overflow-x: auto; } figure svg { width: 100%; height: auto; display: block; } figcaption, .caption { color: var(--soft); font-size: .9rem; text-align: left; }
.caption { margin: 1rem 0 .3rem; max-width: 42rem; }
.scroll { overflow-x: auto; margin: 0 0 1rem; }
table { border-collapse: collapse; font-size: .85rem; }
th, td { padding: .18rem .6rem; border-bottom: 1px solid var(--line); text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
th { border-bottom: 2px solid var(--soft); vertical-align: bottom; white-space: normal; }
summary { cursor: pointer; color: var(--link); }
.meta { color: var(--soft); font-size: .9rem; }
ul.claims { list-style: none; padding: 0; } ul.claims li { margin: .15rem 0; padding-left: 5.2rem; text-indent: -5.2rem; }
.holds, .fails { display: inline-block; width: 4.6rem; text-indent: 0; font-weight: bold; margin-right: .6rem; }
.holds { color: var(--good); } .fails { color: var(--bad); }
.summary { font-size: 1.1rem; border-left: 4px solid var(--line); padding-left: 1rem; }
.evidence { color: var(--soft); font-size: .9rem; }
pre { background: var(--panel); padding: .7rem; white-space: pre-wrap; overflow-wrap: anywhere; font-size: .8rem; }
@media (max-width: 480px) { figure { margin-inline: -1.5rem; } figcaption { padding-inline: 1.5rem; } }
</style>
`)
	out.Body()
	out.Put(`<h1>Experiments with private majorities and private training</h1>
<div class="summary">`)
	for _, text := range p.Summary() {
		out.Put("\n<p>{}</p>", text)
	}
	if p.Fails > 0 {
		out.Put("\n<ul>")
		for _, s := range p.Sections {
			for _, c := range s.Failed() {
				out.Put(`
<li><a href="#{}">{}</a>: it does not hold that {} <span class="evidence">({})</span></li>`, s.ID,
					s.Title, c.Text, c.Evidence)
			}
		}
		out.Put("\n</ul>")
	}
	out.Put(`
</div>
<p>K teachers, each (ε, Δ)-differentially private, answer yes or no. What is released is their majority with a probability that depends on the votes, otherwise a fair coin. That probability decides how private and how useful the answer is. Figures name its kinds as the command does: optimal-teachers (the source's γ<sub>opt</sub>) is the best there is under a promise (mε, δ), found by linear programming and certified; subsampling (γ<sub>Sub</sub>) asks m of the teachers only; randomised-response (γ<sub>const</sub>) has one probability for all votes. GNMax adds normal noise to the votes of teachers that are not private themselves.</p>
<p>Teachers, and models that stand alone, can be trained by shuffled gradient methods: each epoch visits the private records in some order and adds noise to every step, and public records, visited in epochs or steps of their own, save noise. The measure is the excess risk, the distance of the private objective from its optimum.</p>
<p>The sources are S. Jiang, <cite>Communication Efficient and Differentially Private Optimization</cite> (2025), chapter 3 and appendix B.4, and for training <cite>Improving the Convergence of Private Shuffled Gradient Methods with Public Data</cite> (2026), section 6. Nothing on this page is private: it is computed from raw votes, and with randomness from a seed.</p>
<nav><ul>`)
	for _, s := range p.Sections {
		out.Put(`
<li><a href="#{}">{}</a> <span class="meta">({}`, s.ID, s.Title, s.Source)
		if s.Quick {
			out.Put("; quick form")
		}
		out.Put(")")
		if n := len(s.Failed()); n > 0 {
			out.Put(` <span class="fails">{} fail</span>`, n)
		}
		out.Put("</span></li>")
	}
	out.Put("\n</ul></nav>\n")
	for i := range p.Sections {
		p.Sections[i].html(&out)
	}
	out.End()
	return out.Bytes()
}

// html writes one experiment.
func (s *section) html(out *markup.Page) {
	out.Put(`
<section id="{}">
<h2>{}</h2>
<p class="meta">`, s.ID, s.Title)
	if s.Source != "" {
		out.Put("Repeats {} of the source. ", s.Source)
	}
	if s.Quick {
		out.Put("<strong>Quick form: smaller than the source's.</strong>")
	}
	out.Put("</p>\n<p>{}</p>\n", s.About)
	for _, p := range s.Pictures {
		out.Put(`<figure aria-label="{}" tabindex="0">`, p.Caption)
		out.Trust(p.SVG)
		out.Put("<figcaption>{}</figcaption></figure>\n", p.Caption)
	}
	if len(s.Notes) > 0 {
		out.Put("<ul>")
		for _, note := range s.Notes {
			out.Put("<li>{}</li>", note)
		}
		out.Put("</ul>")
	}
	s.claims(out)
	for i := range s.Tables {
		s.Tables[i].html(out, s.Title)
	}
	version := s.Record.Version
	if version == "" {
		version = "unknown"
	}
	m := s.Record.Machine
	out.Put(`
<details><summary>Parameters and record</summary>
<p class="meta">Version {}, solver {}, seed {}; {}/{}, {} CPUs`, version, s.Record.Solver,
		s.Record.Seed, m.OS, m.Arch, m.CPUs)
	if m.Processor != "" {
		out.Put(" ({})", m.Processor)
	}
	out.Put(`, {}; {}, {} s of work.</p>
<pre>{}</pre>
`, m.Go, s.Record.Started.Format("2006-01-02 15:04 MST"), fmt.Sprintf("%.1f", s.Record.Seconds),
		s.Params)
	if len(s.Record.Inputs) > 0 {
		out.Put(`<p class="meta">Data (SHA-256):</p><pre>`)
		for _, name := range slices.Sorted(maps.Keys(s.Record.Inputs)) {
			out.Put("{}  {}\n", s.Record.Inputs[name], name)
		}
		out.Put("</pre>")
	}
	out.Put("\n</details>\n</section>\n")
}

// claims writes what was tested of the numbers, unfolded where something fails.
func (s *section) claims(out *markup.Page) {
	if len(s.Claims) == 0 {
		return
	}
	failed := len(s.Failed())
	if failed > 0 {
		out.Put("\n<details open>")
	} else {
		out.Put("\n<details>")
	}
	out.Put(`<summary>{} statements tested, {} fail</summary>
<ul class="claims">`, len(s.Claims), failed)
	for _, c := range s.Claims {
		if c.Holds {
			out.Put(`
<li><span class="holds">holds</span>`)
		} else {
			out.Put(`
<li><span class="fails">FAILS</span>`)
		}
		out.Put(`{} <span class="evidence">({})</span></li>`, c.Text, c.Evidence)
	}
	out.Put("\n</ul></details>\n")
}

// html writes the table of a section, folded up where it is long.
func (t *shownTable) html(out *markup.Page, section string) {
	out.Put("\n")
	if t.Long {
		out.Put("<details><summary>Table {}: {} rows</summary>", t.Name, len(t.Rows))
	}
	out.Put(`
<p class="caption">{}</p>
<div class="scroll" role="region" aria-label="Table {}: {}" tabindex="0"><table>
<thead><tr>`, t.Caption, t.Name, section)
	for _, c := range t.Columns {
		out.Put(`<th scope="col">{}</th>`, c.Title)
	}
	out.Put("</tr></thead>\n<tbody>\n")
	for _, row := range t.Rows {
		out.Put("<tr>")
		for _, cell := range t.Cells(row) {
			out.Put("<td>{}</td>", cell)
		}
		out.Put("</tr>\n")
	}
	out.Put("</tbody></table></div>\n")
	if t.Long {
		out.Put("</details>")
	}
}
