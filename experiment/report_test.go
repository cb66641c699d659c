package experiment_test

import (
	"bytes"
	"context"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/darrm/darrm/experiment"
	"github.com/darrm/darrm/internal/figure"
	"github.com/darrm/darrm/internal/testing/experimenttest"
)

func TestReport(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"accounting", "figure-b.5"} {
		experimenttest.Run(t, experimenttest.Load(t, catalog, name), dir,
			experiment.Options{Quick: true, Version: "1.2.3"})
	}
	var page bytes.Buffer
	if err := catalog.WriteReport(context.Background(), &page, dir); err != nil {
		t.Fatal(err)
	}
	text := page.String()
	for _, want := range []string{`<section id="figure-b.5">`, `<section id="accounting">`,
		"All agree: 2 experiments", "tested and all hold", figure.StyleSheet, "Quick form", "1.2.3",
		"<svg viewBox=", "9.901", "double-subsampling"} {
		if !strings.Contains(text, want) {
			t.Errorf("the page has no %q", want)
		}
	}
	if strings.Index(text, `<section id="figure-b.5">`) > strings.Index(text,
		`<section id="accounting">`) {
		t.Error("sections are not in the source's order")
	}
	// The opening says what mechanisms are, by the names that they have in the figures.
	opening, figures, _ := strings.Cut(text, "<nav>")
	for _, name := range []string{"optimal-teachers", "subsampling", "randomised-response"} {
		if !strings.Contains(opening, name) || !strings.Contains(figures, name) {
			t.Errorf("the opening and the figures have not both %q", name)
		}
	}
	if strings.Contains(opening, "γ_") {
		t.Error("the opening has an underscore for a subscript")
	}
	// Nothing is loaded from anywhere, and nothing runs.
	if found := regexp.MustCompile(
		`(?i)<script|https?://|\son\w+=|<(link|iframe|img|object|embed|base)\b|@import|url\(`).FindString(
		text); found != "" {
		t.Errorf("the page has %q", found)
	}
	var again bytes.Buffer
	if err := catalog.WriteReport(context.Background(), &again, filepath.Join(dir, "accounting"),
		filepath.Join(dir, "figure-b.5-quick")); err != nil || again.String() != text {
		t.Errorf("the same folders named one by one give another page (%v)", err)
	}

	if err := catalog.WriteReport(context.Background(), &page, t.TempDir()); err == nil {
		t.Error("an empty folder gives a page")
	}
	svg := filepath.Join(dir, "accounting", "totals.svg")
	if err := os.WriteFile(svg, []byte("<svg/>"), 0o666); err != nil {
		t.Fatal(err)
	}
	page.Reset()
	if err := catalog.WriteReport(context.Background(), &page, dir); err == nil || page.Len() > 0 ||
		!strings.Contains(err.Error(), "totals.svg") {
		t.Errorf("a picture that is not the recorded one: %v", err)
	}
}

// Pictures are pictures: the PNG decodes and is not one colour, the SVG has the titles,
// and the same method has the same colour in every figure.
func TestPictures(t *testing.T) {
	experimenttest.Numbers(t)
	dir := t.TempDir()
	for _, name := range []string{"figure-b.5", "figure-b.6"} {
		out := experimenttest.Run(t, experimenttest.Load(t, catalog, name), dir,
			experiment.Options{Quick: true})
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
			for m, c := range map[string]uint32{"opt": 0xD55E00, "sub": 0x0072B2, "const": 0x333333} {
				if n := colours[[4]uint32{c >> 16, c >> 8 & 0xFF, c & 0xFF, 255}]; n < 50 {
					t.Errorf("%s: %d points in the colour of %s", name, n, m)
				}
			}
			svg, err := os.ReadFile(filepath.Join(out.Dir, f.Name+".svg"))
			if err != nil {
				t.Fatal(err)
			}
			for _, want := range []string{"m = 3", "l, votes for 1", "optimal-teachers", "Arial"} {
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
	if err != nil || !experimenttest.Long() {
		t.Skip("needs DARRM_LONG=1 and chromium")
	}
	dir := t.TempDir()
	experimenttest.Run(t, experimenttest.Load(t, catalog, "figure-b.5"), dir,
		experiment.Options{Quick: true})
	var page bytes.Buffer
	if err := catalog.WriteReport(context.Background(), &page, dir); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "report.html")
	if err := os.WriteFile(file, page.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	dom, err := exec.Command(chromium, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic",
		"--no-first-run", "--disable-background-networking",
		"--disable-component-update", "--disable-sync", "--user-data-dir="+t.TempDir(), "--dump-dom",
		"file://"+file).Output()
	if err != nil {
		t.Fatal(err)
	}
	// Elements that the browser did not understand would have closed the picture early.
	if text := string(dom); strings.Count(text, "<svg") != 1 ||
		!regexp.MustCompile(`randomised-response</text>\s*</g>\s*</svg><figcaption>`).MatchString(text) {
		t.Errorf("the browser's page has %d pictures", strings.Count(string(dom), "<svg"))
	}
}
