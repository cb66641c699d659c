package votes

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

func TestReadHistogram(t *testing.T) {
	for _, c := range []struct {
		in   string
		want []float64
	}{
		{"ones,count\n0,120\n1,35\n3,2.5\n", []float64{120, 35, 0, 2.5}},
		{"3,1\n0, 2\n", []float64{2, 0, 0, 1}},
		{"ones,count\r\n2,1e3\r\n", []float64{0, 0, 1000, 0}},
	} {
		got, err := ReadHistogram(strings.NewReader(c.in), "h.csv", 3)
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%q: %v, %v, want %v", c.in, got, err, c.want)
		}
	}
}

func TestReadHistogramRefuses(t *testing.T) {
	for in, rule := range map[string]string{
		"":                         "no count",
		"ones,count\n":             "no count",
		"0,1\n4,1\n":               "between 0 and K = 3",
		"0,1\n-1,1\n":              "between 0 and K = 3",
		"0,1\nx,1\n":               "between 0 and K = 3",
		"0,1\n1,-1\n":              "finite number",
		"0,1\n1,NaN\n":             "finite number",
		"0,1\n1,inf\n":             "finite number",
		"0,1\n1,x\n":               "finite number",
		"0,1\n0,2\n":               "twice",
		"0,1,2\n":                  "two columns",
		"0\n":                      "two columns",
		"0,1\n\"a\n":               "two columns",
		strings.Repeat("x", 2<<20): "two columns",
		"0,1\n1," + strings.Repeat("1", 2<<20) + "\n": "longer",
	} {
		_, err := ReadHistogram(strings.NewReader(in), "h.csv", 3)
		var p *ParseError
		if !errors.As(err, &p) || !strings.Contains(err.Error(), rule) ||
			!strings.Contains(err.Error(), "h.csv") {
			t.Errorf("%.20q: %.300v, want an error about %q", in, err, rule)
		}
	}
}

func FuzzReadHistogram(f *testing.F) {
	f.Add("ones,count\n0,120\n1,35\n")
	f.Fuzz(func(t *testing.T, in string) {
		counts, err := ReadHistogram(strings.NewReader(in), "h.csv", 5)
		if err == nil && (len(counts) != 6 || slices.ContainsFunc(counts,
			func(c float64) bool { return !(c >= 0) })) {
			t.Errorf("%q read as %v", in, counts)
		}
	})
}
