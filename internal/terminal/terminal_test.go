package terminal

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/olekukonko/tablewriter/pkg/twwidth"
	"pgregory.net/rapid"
)

func TestWidth(t *testing.T) {
	for text, want := range map[string]int{"": Standard, "100": 100, "0": Standard, "-3": Standard,
		"wide": Standard, "7": least} {
		t.Setenv("COLUMNS", text)
		if got := Width(io.Discard); got != want {
			t.Errorf("COLUMNS=%q: %d columns, want %d", text, got, want)
		}
	}
	t.Setenv("COLUMNS", "")
	f, err := os.Create(t.TempDir() + "/file")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if got := Width(f); got != Standard {
		t.Errorf("a file has %d columns, want %d", got, Standard)
	}
}

func TestFoldKeepsTogether(t *testing.T) {
	for text, want := range map[string][]string{
		"the release costs (0.4, 1e-05)-DP": {"the release costs", "(0.4, 1e-05)-DP"},
		"one two three four δ = 1e-05":      {"one two three four", "δ = 1e-05"},
		"it is right in all 93.5 % of them": {"it is right in all", "93.5 % of them"},
		"1234567890123456789012345 x":       {"1234567890123456789012345", "x"},
		"":                                  {""},
	} {
		if got := Fold(text, 20); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// Lines are as long as they may be, and the words are those of the text.
func TestHang(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOfN(rapid.StringMatching(`[a-zσ0-9.=]{1,9}`), 1, 40).Draw(t, "words")
		width := rapid.IntRange(40, 120).Draw(t, "width")
		first, rest := "first line: ", "  "
		text := Hang(width, first, rest, strings.Join(words, " "))
		lines := strings.Split(text, "\n")
		for i, line := range lines {
			if twwidth.Width(line) > width {
				t.Fatalf("%d columns of %d: %q", twwidth.Width(line), width, line)
			}
			if i > 0 && !strings.HasPrefix(line, rest) {
				t.Fatalf("line %d begins otherwise: %q", i, line)
			}
		}
		if got := strings.Fields(strings.TrimPrefix(text, first)); !slices.Equal(got, words) {
			t.Fatalf("words %q, want %q", got, words)
		}
	})
}

// No line of a table is too long, and each cell is there, whole: numbers in one piece, texts
// word by word. Where the table is cut, each part begins with the key.
func TestTable(t *testing.T) {
	cell := func(row, col int, words []string) string {
		out := make([]string, len(words))
		for i, w := range words {
			out[i] = fmt.Sprintf("%s%c%d", w, 'A'+rune(col), row)
		}
		return strings.Join(out, " ")
	}
	rapid.Check(t, func(t *rapid.T) {
		width := rapid.IntRange(least, 130).Draw(t, "width")
		table := TextTable{Keys: rapid.IntRange(0, 2).Draw(t, "keys")}
		cols, rows := rapid.IntRange(1, 9).Draw(t, "columns"), rapid.IntRange(1, 12).Draw(t, "rows")
		numeric := make([]bool, cols)
		for c := range cols {
			numeric[c] = c > 0 && rapid.Bool().Draw(t, "numeric")
			table.Header = append(table.Header, fmt.Sprintf("head of C%d", c))
		}
		for r := range rows {
			var row []string
			for c := range cols {
				if numeric[c] {
					row = append(row, fmt.Sprintf("%d%d.%0*d", r+1, c+1, rapid.IntRange(1, 12).Draw(t, "digits"),
						7))
				} else {
					row = append(row, cell(r, c, rapid.SliceOfN(rapid.StringMatching(`[a-z]{1,7}`), 1, 12).Draw(t,
						"words")))
				}
			}
			table.Rows = append(table.Rows, row)
		}
		var b bytes.Buffer
		if err := (&Page{&b, width}).Table(table); err != nil {
			t.Fatal(err)
		}
		text := b.String()
		for line := range strings.Lines(text) {
			if n := twwidth.Width(strings.TrimSuffix(line, "\n")); n > width {
				t.Fatalf("%d columns of %d:\n%s", n, width, text)
			}
		}
		words := strings.Fields(text)
		for _, row := range table.Rows {
			for _, cell := range row {
				for _, word := range strings.Fields(cell) {
					if !slices.Contains(words, word) {
						t.Fatalf("%q is missing at %d columns:\n%s", word, width, text)
					}
				}
			}
		}
		for part := range strings.SplitSeq(strings.TrimSpace(text), "\n\n") {
			if !strings.Contains(part, strings.Fields(table.Rows[rows-1][0])[0]) {
				t.Fatalf("a part without the key:\n%s", part)
			}
		}
	})
}

// What fits stays in one piece, and a footer stays under its column.
func TestTableInOnePiece(t *testing.T) {
	table := TextTable{
		Header: []string{"votes for one answer", "γ(l), optimal", "what is said of it"},
		Rows: [][]string{{"0 or 11", "1.000000", "nothing that would be long"},
			{"1 or 10", "0.977696", "-"}},
		Footer: []string{"error\nother", "0.041269485\n0.045812597", ""},
	}
	for width, want := range map[int]string{
		80: ` votes for         γ(l),  what is said of it
 one answer      optimal
─────────────────────────────────────────────────────
 0 or 11        1.000000  nothing that would be long
 1 or 10        0.977696  -
─────────────────────────────────────────────────────
 error       0.041269485
 other       0.045812597
`,
		50: ` votes for         γ(l),  what is said of it
 one answer      optimal
────────────────────────────────────────────────
 0 or 11        1.000000  nothing that would be
                          long
 1 or 10        0.977696  -
────────────────────────────────────────────────
 error       0.041269485
 other       0.045812597
`,
	} {
		var b bytes.Buffer
		if err := (&Page{&b, width}).Table(table); err != nil {
			t.Fatal(err)
		}
		if b.String() != want {
			t.Errorf("at %d columns:\n%s\nwant\n%s", width, &b, want)
		}
	}
}

// Each part of a table repeats its keys, as many of them as leave half of the width.
func TestPartsRepeatTheirKeys(t *testing.T) {
	columns := make([]column, 8)
	for i := range columns {
		columns[i] = column{index: i, width: 8, least: 8, numeric: true}
	}
	for width, want := range map[int]int{64: 3, 60: 2, 45: 2, 41: 2, 39: 1, 25: 1} { // of three keys, ten cells each
		all := parts(columns, 3, width)
		if len(all) < 2 {
			t.Fatalf("at %d columns it is one table", width)
		}
		for _, part := range all[1:] {
			keys := 0
			for keys < len(part) && part[keys].index == keys {
				keys++
			}
			if keys != want {
				t.Errorf("at %d columns: %d keys are repeated, want %d", width, keys, want)
			}
		}
	}
}
