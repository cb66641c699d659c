package experiment

import (
	"bytes"
	"context"
	"html/template"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

func TestReport(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"accounting", "figure-b.5"} {
		mustRun(t, load(t, name), dir, Options{Quick: true, Version: "1.2.3"})
	}
	var page bytes.Buffer
	if err := WriteReport(context.Background(), &page, dir); err != nil {
		t.Fatal(err)
	}
	text := page.String()
	for _, want := range []string{`<section id="figure-b.5">`, `<section id="accounting">`, "and all hold", "Quick form", "1.2.3", "<svg viewBox=", "9.901", "γ_DSub"} {
		if !strings.Contains(text, want) {
			t.Errorf("the page has no %q", want)
		}
	}
	if strings.Index(text, `<section id="figure-b.5">`) > strings.Index(text, `<section id="accounting">`) {
		t.Error("sections are not in the source's order")
	}
	// Nothing is loaded from anywhere, and nothing runs.
	if found := regexp.MustCompile(`(?i)<script|https?://|\son\w+=|<(link|iframe|img|object|embed|base)\b|@import|url\(`).FindString(text); found != "" {
		t.Errorf("the page has %q", found)
	}
	var again bytes.Buffer
	if err := WriteReport(context.Background(), &again, filepath.Join(dir, "accounting"), filepath.Join(dir, "figure-b.5-quick")); err != nil || again.String() != text {
		t.Errorf("the same folders named one by one give another page (%v)", err)
	}

	if err := WriteReport(context.Background(), &page, t.TempDir()); err == nil {
		t.Error("an empty folder gives a page")
	}
	svg := filepath.Join(dir, "accounting", "totals.svg")
	if err := os.WriteFile(svg, []byte("<svg/>"), 0o666); err != nil {
		t.Fatal(err)
	}
	page.Reset()
	if err := WriteReport(context.Background(), &page, dir); err == nil || page.Len() > 0 || !strings.Contains(err.Error(), "totals.svg") {
		t.Errorf("a picture that is not the recorded one: %v", err)
	}
}

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
	for _, bad := range []string{
		"", "text", `<svg viewBox="0 0 1 1">`, `<svg></svg>`, `<g viewBox="0 0 1 1"></g>`,
		`<svg viewBox="0 0 1 1"><script>x</script></svg>`,
		`<svg viewBox="0 0 1 1"><g onload="x"></g></svg>`,
		`<svg viewBox="0 0 1 1" onload="x"></svg>`,
		`<svg viewBox="0 0 1 1"><image href="http://x"/></svg>`,
		`<svg viewBox="0 0 1 1"><a href="javascript:x"/></svg>`,
		`<svg viewBox="0 0 1 1"><foreignObject/></svg>`,
		`<svg viewBox="0 0 1 1"><style>@import "x"</style></svg>`,
		`<svg viewBox="0 0 1 1"><path style="fill:url(http://x)"/></svg>`,
		`<svg viewBox="0 0 1 1"><svg viewBox="0 0 1 1"></svg></svg>`,
		`<svg viewBox="0 0 1 1"></svg><svg viewBox="0 0 1 1"></svg>`,
	} {
		if out, err := inlineSVG([]byte(bad), ""); err == nil {
			t.Errorf("%s becomes %s", bad, out)
		}
	}
}

// Pictures are pictures: the PNG decodes and is not one colour, the SVG has the titles,
// and the same method has the same colour in every figure.
func TestPictures(t *testing.T) {
	numbers(t)
	dir := t.TempDir()
	for _, name := range []string{"figure-b.5", "figure-b.7"} {
		out := mustRun(t, load(t, name), dir, Options{Quick: true})
		for _, f := range out.Result.Figures {
			data, err := os.ReadFile(filepath.Join(out.Dir, f.Name+".png"))
			if err != nil {
				t.Fatal(err)
			}
			img, err := png.Decode(bytes.NewReader(data))
			if err != nil {
				t.Fatal(err)
			}
			colours := map[[4]uint32]int{}
			for y := img.Bounds().Min.Y; y < img.Bounds().Max.Y; y += 2 {
				for x := img.Bounds().Min.X; x < img.Bounds().Max.X; x += 2 {
					r, g, b, a := img.At(x, y).RGBA()
					colours[[4]uint32{r >> 8, g >> 8, b >> 8, a >> 8}]++
				}
			}
			for _, m := range []Method{MethodOpt, MethodSub, MethodConst} {
				c := looks[m].color
				if n := colours[[4]uint32{uint32(c.R), uint32(c.G), uint32(c.B), 255}]; n < 50 {
					t.Errorf("%s: %d points in the colour of %s", name, n, m)
				}
			}
			svg, err := os.ReadFile(filepath.Join(out.Dir, f.Name+".svg"))
			if err != nil {
				t.Fatal(err)
			}
			for _, want := range []string{"m = 3", "l, votes for 1", "γ_opt", "Arial"} {
				if !strings.Contains(string(svg), want) {
					t.Errorf("%s: the picture has no %q", name, want)
				}
			}
		}
	}
}

// A real browser opens the page: with DARRM_LONG=1, where Chromium is installed.
func TestReportInABrowser(t *testing.T) {
	chromium, err := exec.LookPath("chromium")
	if err != nil || !long() {
		t.Skip("needs DARRM_LONG=1 and chromium")
	}
	dir := t.TempDir()
	mustRun(t, load(t, "figure-b.5"), dir, Options{Quick: true})
	var page bytes.Buffer
	if err := WriteReport(context.Background(), &page, dir); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "report.html")
	if err := os.WriteFile(file, page.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	dom, err := exec.Command(chromium, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
		"--disable-component-update", "--disable-sync", "--user-data-dir="+t.TempDir(), "--dump-dom", "file://"+file).Output()
	if err != nil {
		t.Fatal(err)
	}
	// Elements that the browser did not understand would have closed the picture early.
	if text := string(dom); strings.Count(text, "<svg") != 1 || !regexp.MustCompile(`γ_const \(RR\)</text>\s*</g>\s*</svg><figcaption>`).MatchString(text) {
		t.Errorf("the browser's page has %d pictures", strings.Count(string(dom), "<svg"))
	}
}
