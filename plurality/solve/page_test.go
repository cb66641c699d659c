package solve

import (
	"context"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/internal/testing/raced"
	"github.com/darrm/darrm/plurality"
)

// docs/many-answers.md compares the optimum with mechanisms that need no table: every figure there
// is what is computed, to its four digits.
func TestPageComparison(t *testing.T) {
	raced.Elsewhere(t, "TestWorkersDoNotMatter")
	page, err := os.ReadFile("../../docs/many-answers.md")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(page), "\n")
	header := -1
	for i, line := range lines {
		if strings.HasPrefix(line, "| | ε =") {
			header = i
		}
	}
	if header < 0 {
		t.Fatal("the page has no such table")
	}
	cells := func(line string) []string { return strings.Split(strings.Trim(line, "| "), "|") }
	number := func(s string) float64 {
		return must.Get(strconv.ParseFloat(strings.TrimSpace(s), 64))(t)
	}
	column := regexp.MustCompile(`^ *(ε|C) = ([0-9.]+) *$`)
	for c, title := range cells("|-" + lines[header][1:]) {
		if c == 0 {
			continue
		}
		m := column.FindStringSubmatch(title)
		if m == nil {
			t.Fatalf("column %q", title)
		}
		p := plurality.Problem{K: 25, Classes: 4, Epsilon: .4, Affected: 1}
		if m[1] == "ε" {
			p.Epsilon = number(m[2])
		} else {
			p.K, p.Classes = 20, int(number(m[2]))
		}
		table, err := Optimal(context.Background(), p,
			plurality.Objective{Accuracy: map[bool]float64{true: .75, false: .5}[p.Classes == 2]},
			Options{Gap: 2e-5})
		if err != nil {
			t.Fatal(err)
		}
		for row, b := range append([]plurality.Baseline{{Name: "optimum", Value: table.Value}},
			table.Baselines()...) {
			of := cells(lines[header+2+row])
			// The optimum lies above the value, by up to the gap.
			low, high := b.Value, b.Value
			if row == 0 {
				high += table.Gap
			}
			if x := number(of[c]); strings.TrimSpace(of[0]) != b.Name || x < low-5.1e-5 || x > high+5.1e-5 {
				t.Errorf("%s, %s: the page says %q, %v; it is in [%.6f, %.6f]", title, b.Name, of[0], x, low,
					high)
			}
		}
	}
}
