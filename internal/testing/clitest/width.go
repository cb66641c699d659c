// Package clitest has what the tests of several rooms of the command share.
package clitest

import (
	"regexp"
	"strings"
	"testing"

	"github.com/olekukonko/tablewriter/pkg/twwidth"
)

// Widths are a narrow terminal, the usual one and a wide one.
var Widths = []int{60, 80, 120}

// unbreakable matches text that must not be broken between lines, however long: a path, a digest,
// the head of a ledger.
var unbreakable = regexp.MustCompile(`\S*[/\\\\]\S+|[0-9a-f]{32,}|\d+:[0-9a-f]{32,}`)

// CheckWidth fails for each line that is longer than width, unless what makes it so is all
// that stands in the line.
func CheckWidth(t testing.TB, name, text string, width int) {
	t.Helper()
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if twwidth.Width(line) > width && len(unbreakable.ReplaceAllString(strings.TrimSpace(line), "")) >
			len("3 entries, head ") {
			t.Errorf("%s: %d columns of %d: %s", name, twwidth.Width(line), width, line)
		}
		if strings.HasSuffix(line, " ") {
			t.Errorf("%s: spaces at the end: %q", name, line)
		}
	}
}
