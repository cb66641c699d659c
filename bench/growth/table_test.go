package main

import (
	"math"
	"strings"
	"testing"

	"github.com/darrm/darrm/internal/num"
)

var sample = measurement{
	solveCase: solveCase{41, free, 1e-5}, runs: 3, seconds: 0.0152, peakBytes: 20 << 20,
	constraints: 73629072, expectedError: 0.017361725991, gap: 2.1e-13,
}

func TestGrowthTable(t *testing.T) {
	const want = "| 41 | free | 1e-5 | 73,629,072 | 3 | 0.0152 | 20 | 0.017361725991 | 2.1e-13 | " +
		"1.2e-11 |\n"
	got := growthTable([]measurement{sample})
	if !strings.HasSuffix(got, "|\n"+want) {
		t.Errorf("got\n%s\nwithout the row\n%s", got, want)
	}
	rows := strings.Split(strings.TrimSpace(got), "\n")
	for _, row := range rows {
		if strings.Count(row, "|") != strings.Count(rows[0], "|") {
			t.Errorf("row %q has not as many cells as the header", row)
		}
	}
}

func TestShort(t *testing.T) {
	for x, want := range map[float64]string{0: "0", 1e-5: "1e-5", 1e-10: "1e-10", 1e-8: "1e-8",
		0.25: "0.25", 1.5e-7: "1.5e-7"} {
		if got := num.Shortest(x); got != want {
			t.Errorf("num.Shortest(%g) = %q, want %q", x, got, want)
		}
	}
}

func TestRequirementsTable(t *testing.T) {
	limits := []requirement{{sample.solveCase, 0.2, 1e-6}}
	change := func(f func(*measurement)) measurement {
		m := sample
		f(&m)
		return m
	}
	for _, tc := range []struct {
		name string
		m    measurement
		met  bool
	}{
		{"all within", sample, true},
		{"at the time limit", change(func(m *measurement) { m.seconds = 0.2 }), false},
		{"at the memory limit", change(func(m *measurement) { m.peakBytes = mostBytes }), false},
		{"gap too wide", change(func(m *measurement) { m.gap = 2e-6 * m.expectedError }), false},
		{"gap narrow enough", change(func(m *measurement) { m.gap = 0.9e-6 * m.expectedError }), true},
		{"gap unknown", change(func(m *measurement) { m.gap = math.NaN() }), false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			rows := strings.Split(strings.TrimSpace(requirementsTable(limits, []measurement{tc.m})), "\n")
			if len(rows) != 3 {
				t.Fatalf("%d rows, want header, rule and one case", len(rows))
			}
			if got := strings.HasSuffix(rows[2], "| yes |"); got != tc.met {
				t.Errorf("met is %v, want %v: %s", got, tc.met, rows[2])
			}
		})
	}
	other := change(func(m *measurement) { m.shape = monotone })
	if got := requirementsTable(limits, []measurement{other}); strings.Count(got, "\n") != 2 {
		t.Errorf("a requirement that was not measured has a row:\n%s", got)
	}
}

// Every requirement must be among the cases measured, or its row would silently be missing.
func TestRequirementsAreMeasured(t *testing.T) {
	measured := make(map[solveCase]bool)
	for _, c := range cases(false) {
		if measured[c] {
			t.Errorf("%s is measured twice", c)
		}
		measured[c] = true
	}
	for _, r := range requirements {
		if !measured[r.solveCase] {
			t.Errorf("%s is required but not measured", r.solveCase)
		}
	}
	for _, c := range cases(true) {
		if !measured[c] || c.k > 101 {
			t.Errorf("%s is not one of the small cases", c)
		}
	}
}

func TestRelativeGap(t *testing.T) {
	for _, tc := range []struct{ e, gap, want float64 }{
		{0.5, 0, 0}, {0, 0, 0}, {0.5, 0.25, 1}, {0.25, 0.25, math.Inf(1)}, {0.125, 0.25, math.Inf(1)},
	} {
		if got := (measurement{expectedError: tc.e, gap: tc.gap}).relativeGap(); got != tc.want {
			t.Errorf("error %g, gap %g: %g, want %g", tc.e, tc.gap, got, tc.want)
		}
	}
}
