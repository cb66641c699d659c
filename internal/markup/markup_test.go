package markup

import (
	"html"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// A value is text wherever it may stand, whatever it holds: it opens no tag, ends no attribute, and
// reads back as what it was.
func TestValuesAreText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.String().Draw(t, "text"), rapid.String().Draw(t, "attribute")
		if rapid.Bool().Draw(t, "hostile") {
			a += `</p><script>alert(1)</script>&amp;"'`
			b += `" onload="x' onload='y> <b`
		}
		var p Page
		p.Put(`<p title="{}" id="{}">{}</p>`, b, 7, a)
		got := string(p.Bytes())
		inner, ok := strings.CutPrefix(got, `<p title="`)
		title, rest, cut := strings.Cut(inner, `" id="7">`)
		text, end := strings.CutSuffix(rest, "</p>")
		if !ok || !cut || !end || strings.ContainsAny(title+text, `<>"'`) {
			t.Fatalf("%q", got)
		}
		for want, got := range map[string]string{b: title, a: text} {
			if html.UnescapeString(got) != strings.ReplaceAll(want, "\x00", "\uFFFD") {
				t.Fatalf("%q is written %q", want, got)
			}
		}
	})
}

// What stands where no value may is a mistake of the source.
func TestPlaces(t *testing.T) {
	panics := func(fn func(*Page)) (did bool) {
		defer func() { did = recover() != nil }()
		fn(&Page{})
		return false
	}
	for name, fn := range map[string]func(*Page){
		"a tag's name":          func(p *Page) { p.Put("<{}>", "script") },
		"without quotes":        func(p *Page) { p.Put("<p title={}>", "x") },
		"behind quotes":         func(p *Page) { p.Put(`<p title="x" id={}>`, "y onload=z") },
		"single quotes":         func(p *Page) { p.Put("<p title='{}'>", "x") },
		"a handler":             func(p *Page) { p.Put(`<p onload="{}">`, "x") },
		"a link":                func(p *Page) { p.Put(`<a href="{}">`, "javascript:x") },
		"a link's scheme":       func(p *Page) { p.Put(`<a href="java{}">`, "script:x") },
		"a picture":             func(p *Page) { p.Put(`<img src="{}">`, "x") },
		"a style":               func(p *Page) { p.Put(`<p style="{}">`, "color: red") },
		"a second attribute":    func(p *Page) { p.Put(`<a title="{}" href="{}">`, "x", "y") },
		"split over two calls":  func(p *Page) { p.Put(`<a href="`); p.Put("{}", "x") },
		"too few values":        func(p *Page) { p.Put("<p>{}</p>") },
		"too many values":       func(p *Page) { p.Put("<p></p>", 1) },
		"trusted within a tag":  func(p *Page) { p.Put("<p "); p.Trust("x") },
		"an end within a tag":   func(p *Page) { p.Put("<p "); p.Bytes() },
		"an end within a value": func(p *Page) { p.Put(`<p title="`); p.Bytes() },
	} {
		if !panics(fn) {
			t.Errorf("%s: no panic", name)
		}
	}
	for name, fn := range map[string]func(*Page){
		"text":      func(p *Page) { p.Put("<p>{}</p>", "x"); p.Bytes() },
		"fragment":  func(p *Page) { p.Put(`<a href="#{}" title="{}">`, "x", "y"); p.Bytes() },
		"number":    func(p *Page) { p.Put(`<p style="width: {}%">{}`, 1.5, 2); p.Bytes() },
		"trusted":   func(p *Page) { p.Put("<p>"); p.Trust("<b>"); p.Bytes() },
		"css":       func(p *Page) { p.Put(`<style>a > b { content: ": "; }</style>{}`, "x"); p.Bytes() },
		"two parts": func(p *Page) { p.Put(`<p title="{}`, "x"); p.Put(`{}">`, "y"); p.Bytes() },
	} {
		if panics(fn) {
			t.Errorf("%s: a panic", name)
		}
	}
}
