// Package markup writes HTML pages of two things that the compiler tells apart: markup, which
// stands in the source, and values, which are escaped. It calls no methods by name, as package
// html/template does, for whose sake the linker keeps every exported method of a program.
package markup

import (
	"bytes"
	"fmt"
	"strings"
)

// literal is markup that stands in the source. Other packages have no name for the type, so that
// nothing but a constant becomes one.
type literal string

// Trusted is markup, or a style sheet, that a program vouches for: a picture that it drew.
type Trusted string

// Page is a page that is written from its beginning to its end. The zero value is empty. It is for
// one goroutine.
type Page struct {
	b         bytes.Buffer
	tag       bool   // within a tag
	quoted    bool   // within a value of an attribute
	attribute string // whose
	before    int    // where that value began
}

// Put appends markup, with each {} replaced by the next value as text, escaped. A {} stands between
// tags, or within the quotes of an attribute: title, id or aria-label; href behind #; style, for a
// number. It panics where one stands elsewhere, or where markup and values do not match: both stand
// in the source, and so does the mistake.
func (p *Page) Put(markup literal, values ...any) {
	parts := strings.Split(string(markup), "{}")
	if len(parts) != len(values)+1 {
		panic(fmt.Sprintf("markup: %d values for %q", len(values), markup))
	}
	if p == nil {
		return
	}
	for i, part := range parts {
		p.b.WriteString(part)
		p.follow(part)
		if i < len(values) {
			p.value(values[i])
		}
	}
}

// Begin writes the beginning of a page, up to that of its style sheet. The page loads nothing and
// runs nothing.
func (p *Page) Begin(title string) {
	p.Put(`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>{}</title>
<style>
`, title)
}

// PrintStyle is the CSS of every page on paper: A4, light, with all of what scrolls on a screen. It follows the
// page's own style, whose colours of the dark must be those of screens alone.
const PrintStyle Trusted = `@page { size: A4; margin: 12mm; }
@media print {
  :root { color-scheme: light; }
  body { max-width: none; margin: 0; padding: 0; }
  nav { display: none; }
  figure, .scroll { overflow: visible; }
  figure, tr { break-inside: avoid; } h1, h2, h3, summary { break-after: avoid; }
  svg { min-width: 0 !important; max-width: 100% !important; max-height: 22cm; }
  p, li, pre, code, dd, figcaption { overflow-wrap: anywhere; }
  .scroll table { width: 100%; font-size: 7.5pt; } .scroll th, .scroll td { padding: 1pt 2pt; white-space: normal; overflow-wrap: anywhere; }
}
`

// Body ends the head, after the end of the page's style, and begins what the page says.
func (p *Page) Body() {
	p.Put("<style>\n")
	p.Trust(PrintStyle)
	p.Put("</style>\n</head>\n<body>\n<main>\n")
}

// End ends what Body began, and the page.
func (p *Page) End() { p.Put("\n</main>\n</body>\n</html>\n") }

// Trust appends what the program vouches for, between tags.
func (p *Page) Trust(t Trusted) {
	if p == nil {
		return
	}
	if p.tag {
		panic("markup: trusted markup within a tag")
	}
	p.b.WriteString(string(t))
}

// Bytes returns what was written. It panics if that ends within a tag.
func (p *Page) Bytes() []byte {
	if p.tag {
		panic("markup: the page ends within a tag")
	}
	return p.b.Bytes()
}

// follow keeps account of where the page is.
func (p *Page) follow(part string) {
	for i := range len(part) {
		switch c := part[i]; {
		case !p.tag:
			p.tag = c == '<'
		case c == '"':
			if p.quoted = !p.quoted; p.quoted {
				name := part[:i]
				name = name[strings.LastIndexAny(name, " <")+1:]
				p.attribute, p.before = strings.TrimSuffix(name, "="), p.b.Len()-len(part)+i+1
			}
		case c == '>' && !p.quoted:
			p.tag = false
		}
	}
}

var escaper = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&#34;", "'",
	"&#39;", "+", "&#43;", "\x00", "\uFFFD")

func (p *Page) value(v any) {
	if p.tag {
		_, whole := v.(int)
		_, number := v.(float64)
		switch behind := p.b.Len() > p.before; {
		case !p.quoted:
			panic("markup: a value within a tag and without quotes")
		case p.attribute == "title", p.attribute == "id", p.attribute == "aria-label":
		case p.attribute == "href" && behind && p.b.Bytes()[p.before] == '#':
		case p.attribute == "style" && (whole || number):
		default:
			panic("markup: a value in the attribute " + p.attribute)
		}
	}
	_, _ = escaper.WriteString(&p.b, fmt.Sprint(v)) // a buffer takes everything
}
