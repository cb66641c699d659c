package votes

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/darrm/darrm/internal/testing/raced"
)

func TestReadHistograms(t *testing.T) {
	for _, c := range []struct {
		in     string
		votes  [][]int
		counts []float64
	}{
		{"cat,dog,bird,count\n2,1,0,12\n0, 0,3,2.5\n", [][]int{{2, 1, 0}, {0, 0, 3}}, []float64{12, 2.5}},
		{"1,1,1,1e3\r\n1,1,1,0\r\n", [][]int{{1, 1, 1}, {1, 1, 1}}, []float64{1000, 0}},
	} {
		votes, counts, err := ReadHistograms(strings.NewReader(c.in), "h.csv", 3, 3)
		if err != nil || !reflect.DeepEqual(votes, c.votes) || !slices.Equal(counts, c.counts) {
			t.Errorf("%q: %v, %v, %v", c.in, votes, counts, err)
		}
	}
}

func TestReadHistogramsRefuses(t *testing.T) {
	raced.Sequential(t)
	for in, rule := range map[string]string{
		"":                         "no count",
		"a,b,c,count\n":            "no count",
		"2,1,0,1\n2,2,0,1\n":       "h.csv:2: the votes sum to 4, but must be K = 3",
		"2,0,0,1\n":                "the votes sum to 2, but must be K = 3",
		"2,1,0,1\n4,-1,0,1\n":      "between 0 and K = 3",
		"2,1,0,1\n1,x,0,1\n":       "votes are \"x\"",
		"x,1,0,1\n":                "votes are \"x\"", // no header: its last column is a number
		"2,1,0,1\n2,1,0,-1\n":      "finite number",
		"2,1,0,1\n2,1,0,NaN\n":     "finite number",
		"2,1,0,1\n2,1,0,inf\n":     "finite number",
		"2,1,0,1\n2,1,0,x\n":       "count is \"x\"",
		"2,1,1\n":                  "4 columns",
		"2,1,0,1\n\"a\n":           "4 columns",
		strings.Repeat("x", 2<<20): "4 columns",
		"2,1,0," + strings.Repeat("1", MaxHistogramsBytes) + "\n": "longer",
	} {
		_, _, err := ReadHistograms(strings.NewReader(in), "h.csv", 3, 3)
		var p *ParseError
		if !errors.As(err, &p) || !strings.Contains(err.Error(), rule) ||
			!strings.Contains(err.Error(), "h.csv") {
			t.Errorf("%.40q: %v, want %q", in, err, rule)
		}
	}
}

// Whatever is read sums to K, and reads the same once written.
func FuzzReadHistograms(f *testing.F) {
	f.Add([]byte("a,b,c,n\n2,1,0,12\n0,0,3,2.5\n"))
	f.Add([]byte("1,1,1,1e3\r\n"))
	f.Add([]byte("1,1,0,1\n"))
	f.Add([]byte("\"1\",1,\" 1\",0x1p3\n"))
	f.Fuzz(func(t *testing.T, in []byte) {
		votes, counts, err := ReadHistograms(bytes.NewReader(in), "h.csv", 3, 3)
		if err != nil {
			return
		}
		var b strings.Builder
		for i, v := range votes {
			if v[0]+v[1]+v[2] != 3 || !(counts[i] >= 0) {
				t.Fatalf("%v, %v", v, counts[i])
			}
			fmt.Fprintf(&b, "%d,%d,%d,%v\n", v[0], v[1], v[2], counts[i])
		}
		again, same, err := ReadHistograms(strings.NewReader(b.String()), "h.csv", 3, 3)
		if err != nil || !reflect.DeepEqual(again, votes) || !slices.Equal(same, counts) {
			t.Errorf("%q: %v", b.String(), err)
		}
	})
}
