package prepare

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/darrm/darrm/internal/npy"
	"github.com/darrm/darrm/learn/data"
)

// The records of an array are those of the same numbers as CSV, by all rules, and so is what is wrong with them.
func TestArraysAreTheirText(t *testing.T) {
	number := rapid.OneOf(rapid.Float64Range(-20, 20), rapid.Map(rapid.IntRange(-2, 3), func(i int) float64 { return float64(i) }),
		rapid.SampledFrom([]float64{0, 1, 0.1, 1e-300, 12345678901234567}))
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.SampledFrom([]int{1, 3, 9, 20, 50, 50, 50, 50, 50, 12000}).Draw(t, "n")
		bad := 0.0
		switch rapid.IntRange(0, 9).Draw(t, "bad") {
		case 0:
			bad = math.NaN()
		case 1:
			bad = math.Inf(1)
		}
		few := make([]float64, 37)
		for i := range few {
			few[i] = number.Draw(t, "x") + 0 // a response of -0 is 0
		}
		zero := ""
		if rapid.Bool().Draw(t, "zero") {
			zero = Zero
		}
		fill, own := "7", Missing
		m := &Map{Features: []Column{{Name: "a"}, {Name: "b'\\ü", Scale: &Range{-5, 10}, Center: zero},
			{Name: "c", Categories: []string{"1", "2"}, Fill: &own}, {Name: "d", Scale: &Range{0, 10}, Fill: &fill},
			{Name: "e", Scale: &Range{0, 10}, Fill: &own}}, Response: &Response{Column: Column{Name: "y"}}}
		names := []string{"e", "a", "y", "b'\\ü", "c", "d"}
		text := bytes.NewBufferString(strings.Join(names, ",") + "\n")
		var fields []string
		for _, name := range names {
			fields = append(fields, fmt.Sprintf("(%s, '<f8')", strings.ReplaceAll(strconv.Quote(name), "ü", "\\xfc")))
		}
		array := npy.Head("["+strings.Join(fields, ", ")+"]", int64(n))
		for i := range n {
			for j := range names {
				v := few[(i*7+j*3)%len(few)]
				if j == 0 && i%5 == 0 || j == 4 && i%7 == 0 || j == 5 && i%3 == 0 {
					v = math.NaN()
				}
				if i == n-1 && j == 3 && bad != 0 {
					v = bad
				}
				array = binary.LittleEndian.AppendUint64(array, math.Float64bits(v))
				if j > 0 {
					text.WriteByte(',')
				}
				if !math.IsNaN(v) {
					text.WriteString(strconv.FormatFloat(v, 'g', -1, 64))
				}
			}
			text.WriteByte('\n')
		}
		csv, err := data.NewCSV(text, true)
		if err != nil {
			t.Fatal(err)
		}
		want, wantErr := Read(csv, m)
		table, err := data.NewNPY(bytes.NewReader(array))
		if err != nil {
			t.Fatal(err)
		}
		got, err := Read(table, m)
		if bad != 0 {
			place, _, _ := strings.Cut(fmt.Sprint(err), ",")
			line, _, _ := strings.Cut(fmt.Sprint(wantErr), ",")
			if place != fmt.Sprintf("record %d", n) || line != fmt.Sprintf("line %d", n+1) {
				t.Fatalf("%v, of text %v", err, wantErr)
			}
			return
		}
		if err != nil || wantErr != nil || got.Digest() != want.Digest() || !slices.Equal(got.Columns(), want.Columns()) {
			t.Fatalf("%d records of an array and %d of text differ: %v, %v", got.Len(), want.Len(), err, wantErr)
		}
	})
}

// What is no array of numbers is refused, and a claim of rows that are not there takes no memory.
func TestArraysAreRefused(t *testing.T) {
	head := func(descr string, shape ...int64) string { return string(npy.Head(descr, shape...)) }
	eight := strings.Repeat("\x00", 8)
	for in, want := range map[string]string{
		head("[('a', '<f8'), ('a', '<f8')]", 1) + eight + eight: "occurs twice",
		head("[('a', '<U3')]", 1):                               "want numbers",
		head("[('a', '<f8', (2,))]", 1):                         "no records of numbers",
		head("[('a', '<f8')]", 1, 1) + eight:                    "want one dimension",
		head("[('a', '<f8')]", 1<<40) + eight:                   "cut off",
		head("[('a', '<f8')]", 1<<62) + eight:                   "more than any disk holds",
		head("[('a', '<f8')]", 1) + eight + "x":                 "behind the last",
		head("[('a', '<f8')]", 0):                               "no records",
		head("'<f8'", 3) + eight:                                "want two dimensions",
		"a,b\n1,2\n":                                            "does not begin as a NumPy array",
	} {
		table, err := data.NewNPY(strings.NewReader(in))
		if err == nil {
			_, err = Read(table, &Map{Features: []Column{{Name: "a"}}})
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60q: %v, want %q", in, err, want)
		}
	}
}
