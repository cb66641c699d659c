package experiment

import (
	"slices"
	"strings"
	"testing"

	"github.com/darrm/darrm/internal/figure"
)

// What a folder's texts say is text, in every place of the page.
func TestReportEscapes(t *testing.T) {
	const bad = `"><script>alert(1)</script><i title='`
	s := section{Result: Result{Name: bad, Title: bad, Source: bad, About: bad,
		Notes: []string{bad}, Claims: []Claim{{"a < b" + bad, false, bad}, {bad, true, bad}}}, ID: bad,
		Params: bad, Pictures: []picture{{Caption: bad, SVG: "<svg></svg>"}}}
	for _, long := range []bool{false, true} {
		s.Tables = append(s.Tables, shownTable{Table{Name: bad, Caption: bad, Long: long,
			Columns: []Column{{Title: bad, Format: "%v"}}, Rows: [][]any{{bad}}}, &Catalog{}})
	}
	s.Record.Version, s.Record.Solver, s.Record.Inputs = bad, bad, map[string]string{bad: bad}
	s.Record.Machine = machine{OS: bad, Arch: bad, Processor: bad, Go: bad}
	text := string(reportPage{Sections: []section{s}, Claims: 2, Fails: 1}.html())
	if strings.Contains(text, "<script>") || strings.Contains(text, "<i") ||
		!strings.Contains(text, "a &lt; b") || !strings.Contains(text,
		"of 2 statements about the numbers, 1 hold") ||
		!strings.Contains(text, "does not hold that a &lt; b") || strings.Count(text, "<svg>") != 1 {
		t.Error(text)
	}
	if n := strings.Count(text, "&lt;script&gt;"); n < 30 {
		t.Errorf("%d of the texts are on the page", n)
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
		`<svg viewBox="0 0 1 1"><path style="fill:URL(http://x)"/></svg>`,
		`<svg viewBox="0 0 1 1"><path style="cursor:u\72l(http://x)"/></svg>`,
		`<svg viewBox="0 0 1 1"><path style="fill:rgb(0,0,0);cursor:image-set('x')"/></svg>`,
		`<svg viewBox="0 0 1 1"><path clip-path="url(http://x/a.svg#b)"/></svg>`,
		`<svg viewBox="0 0 1 1"><path clip-path="URL(//x#b)"/></svg>`,
		`<svg viewBox="0 0 1 1"><text x="url(http://x)"/></svg>`,
		`<svg viewBox="0 0 1 1"><svg viewBox="0 0 1 1"></svg></svg>`,
		`<svg viewBox="0 0 1 1"></svg><svg viewBox="0 0 1 1"></svg>`,
	} {
		if out, err := inlineSVG([]byte(bad), ""); err == nil {
			t.Errorf("%s becomes %s", bad, out)
		}
	}
}

// The summary counts what agrees, and names what does not with the reason.
func TestReportSummary(t *testing.T) {
	holds, fails := Claim{"a = b", true, "1 = 1"}, Claim{"c < d", false, "2 against 1"}
	part := func(title string, quick bool, claims ...Claim) section {
		return section{Result: Result{Name: title, Title: title, Quick: quick, Claims: claims}, ID: title}
	}
	for _, tt := range []struct {
		sections []section
		want     []string
	}{
		{[]section{part("A", false, holds, holds), part("B", false, holds)},
			[]string{"All agree: 2 experiments found what their sources or theory say. 3 statements about " +
				"the numbers were tested and all hold."}},
		{[]section{part("A", true, holds), part("B", false, holds, fails), part("C", false)}, []string{
			"1 of 3 experiments found what their sources or theory say: of 3 statements about the " +
				"numbers, 2 hold.",
			"In a quick form, smaller than the source's: 1 of 3.",
			"Without a statement that can be tested: 1.",
			"What does not agree: B (1 of 2 statements fail). The statements, with the numbers they were " +
				"tested on:"}},
		{[]section{part("A", false)},
			[]string{"1 experiment, and no statement about the numbers was tested."}},
	} {
		page := reportPage{Sections: tt.sections}
		for _, s := range tt.sections {
			page.Claims += len(s.Claims)
			page.Fails += len(s.Failed())
		}
		if got := page.Summary(); !slices.Equal(got, tt.want) {
			t.Errorf("got %q, want %q", got, tt.want)
		}
	}
}
