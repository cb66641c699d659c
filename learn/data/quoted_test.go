package data

import (
	"io"
	"strings"
	"testing"
)

// lines gives the line for ever.
type lines string

func (l lines) Read(p []byte) (int, error) {
	return copy(p, strings.Repeat(string(l), len(p)/len(l)+1)), nil
}

// A quote that is not closed makes all lines one field, which encoding/csv keeps in memory:
// the test takes all of it where such lines are counted one by one.
func TestQuotedLinesAreOne(t *testing.T) {
	endless := io.MultiReader(strings.NewReader("1,\"2"), io.LimitReader(lines("3,4\n"), 4*MaxLine))
	if err := rows(endless, false, nil); err == nil ||
		!strings.Contains(err.Error(), "longer than 16777216 bytes") {
		t.Errorf("got %v", err)
	}
	// Closed quotes change nothing, doubled ones in them neither.
	n := 0
	err := rows(strings.NewReader("\"1\",2\n\"3\",\"4\"\n"), false, func([]string, int) { n++ })
	if err != nil || n != 2 {
		t.Errorf("%d rows, %v", n, err)
	}
	g := &lineGuard{r: strings.NewReader("\"a\"\"b\"\n" + strings.Repeat("x", 10) + "\n"), line: 1}
	if _, err := io.ReadAll(g); err != nil || g.length != 0 || g.line != 3 {
		t.Errorf("%v, length %d in line %d", err, g.length, g.line)
	}
}
