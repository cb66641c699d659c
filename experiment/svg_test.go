package experiment

import (
	"bytes"
	"html/template"
	"strings"
	"testing"

	"github.com/darrm/darrm/internal/figure"
)

// What a claim's or a title's text says is text.
func TestReportEscapes(t *testing.T) {
	var b bytes.Buffer
	s := section{Result: Result{Name: "x", Title: "<script>alert(1)</script>", Claims: []Claim{{"a < b", false, "<b>"}}}, ID: "x", Pictures: []picture{{Caption: "<i>", SVG: template.HTML("<svg></svg>")}}}
	if err := reportTemplate.Execute(&b, reportPage{Sections: []section{s}, Claims: 1, Fails: 1}); err != nil {
		t.Fatal(err)
	}
	if text := b.String(); strings.Contains(text, "<script>") || strings.Contains(text, "<i>") || !strings.Contains(text, "a &lt; b") || !strings.Contains(text, "one does not hold") {
		t.Error(text)
	}
}

func TestInlineSVGRefuses(t *testing.T) {
	good := `<?xml version="1.0"?><svg width="10pt" viewBox="0 0 10 10" xmlns="http://www.w3.org/2000/svg"><g transform="scale(1)"><text x="1">a &lt; b</text></g></svg>`
	got, err := inlineSVG([]byte(good), `"x"`)
	if want := `<svg viewBox="0 0 10 10" style="max-width:10pt" role="img" aria-label="&#34;x&#34;"><g transform="scale(1)"><text x="1">a &lt; b</text></g></svg>`; err != nil || got != want {
		t.Errorf("%v\n%s\n%s", err, got, want)
	}
	// The style sheet of pictures is the page's already.
	styled := strings.Replace(good, `<g `, `<style>`+figure.StyleSheet+`</style><g `, 1)
	if again, err := inlineSVG([]byte(styled), `"x"`); err != nil || again != got {
		t.Errorf("%v\n%s", err, again)
	}
	for _, bad := range []string{
		"", "text", `<svg viewBox="0 0 1 1">`, `<svg></svg>`, `<g viewBox="0 0 1 1"></g>`,
		`<svg viewBox="0 0 1 1"><script>x</script></svg>`,
		`<svg viewBox="0 0 1 1"><g onload="x"></g></svg>`,
		`<svg viewBox="0 0 1 1" onload="x"></svg>`,
		`<svg viewBox="0 0 1 1"><image href="http://x"/></svg>`,
		`<svg viewBox="0 0 1 1"><a href="javascript:x"/></svg>`,
		`<svg viewBox="0 0 1 1"><foreignObject/></svg>`,
		`<svg viewBox="0 0 1 1"><style>@import "x"</style></svg>`,
		`<svg viewBox="0 0 1 1"><style>` + figure.StyleSheet + ` @import "x"</style></svg>`,
		`<svg viewBox="0 0 1 1"><path style="fill:url(http://x)"/></svg>`,
		`<svg viewBox="0 0 1 1"><svg viewBox="0 0 1 1"></svg></svg>`,
		`<svg viewBox="0 0 1 1"></svg><svg viewBox="0 0 1 1"></svg>`,
	} {
		if out, err := inlineSVG([]byte(bad), ""); err == nil {
			t.Errorf("%s becomes %s", bad, out)
		}
	}
}
