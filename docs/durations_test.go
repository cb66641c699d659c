package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	duration = regexp.MustCompile(
		"\\b(?:in|takes?|took|within|about|than|are|`minimised`) (?:about |some |under |half " +
			")*(?:an?|one|two|three|five|ten|twenty|some|\\d[\\d.]*)(?: and a half)? " +
			`(?:ms|seconds?|minutes?|hours?)\b|\bhalf an hour\b|\d[\d.]* (?:µs|ms|s)\b`)
	spaces   = regexp.MustCompile(`\s+`)
	measured = regexp.MustCompile(`(?m)^\| (\S+\.md) \| (.+?) \| .+ \| ([0-9.]+) \| ([0-9.]+) \|$`)
)

// What is no claim about how long something takes, or was measured when it was decided.
var otherDurations = []string{
	"in five minutes",                        // a heading
	"than a second release",                  // an ordinal
	"entries open in 0.3 s instead of 3.8 s", // the decision against a database that is no more
	// what all experiments take, and they say so when they run
	"half an hour, with data",
	"half an hour on two cores, most",        // the same
	"5 s for TLS, 5 s for the whole request", // limits of darrm serve, which are set
	"| 30 s without a request |",
	"one each second, for 2 s at most",
	"`request-timeout`, and 5 s to send its header",
}

// Each duration that the README and the guides state is a row of the table that bench/quoted
// prints (bench/README.md), in the page's own words; and the words of each row are on its page.
func TestDurationsAreMeasured(t *testing.T) {
	report, err := os.ReadFile("../bench/README.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string][]string{}
	for _, m := range measured.FindAllStringSubmatch(string(report), -1) {
		rows[m[1]] = append(rows[m[1]], m[2])
	}
	if len(rows) < 4 {
		t.Fatalf("the table names %d pages", len(rows))
	}
	pages, err := filepath.Glob("*.md")
	if err != nil {
		t.Fatal(err)
	}
	for i := range pages {
		pages[i] = "docs/" + pages[i]
	}
	for _, page := range append(pages, "README.md", "ARCHITECTURE.md", "beam/README.md",
		"python/README.md") {
		b, err := os.ReadFile(filepath.Join("..", page))
		if err != nil {
			t.Fatal(err)
		}
		text := spaces.ReplaceAllString(string(b), " ")
		for _, words := range rows[page] {
			if !strings.Contains(text, words) {
				t.Errorf("%s does not say %q, which bench/quoted measures", page, words)
			}
			text = strings.ReplaceAll(text, words, "")
		}
		for _, words := range otherDurations {
			text = strings.ReplaceAll(text, words, "")
		}
		for _, at := range duration.FindAllStringIndex(text, -1) {
			t.Errorf("%s: nothing measures %q (bench/quoted)", page, text[max(0, at[0]-40):at[1]])
		}
	}
}
