package figure

import (
	"slices"
	"testing"
)

// Names keep their order and their distance, stay between the edges, and move no further than they must.
func TestApart(t *testing.T) {
	for _, c := range []struct{ wanted, want []float64 }{
		{[]float64{10, 50}, []float64{10, 50}},
		{[]float64{50, 51, 10}, []float64{50, 54, 10}},
		{[]float64{99, 100}, []float64{96, 100}},
		{[]float64{0, 0, 0}, []float64{0, 4, 8}},
		{nil, []float64{}},
	} {
		if got := apart(c.wanted, 4, 0, 100); !slices.Equal(got, c.want) {
			t.Errorf("apart(%v) = %v, want %v", c.wanted, got, c.want)
		}
	}
}

// The names of a chart fit between its data and its right edge.
func TestRoomForNames(t *testing.T) {
	b := Beside{{Text: "permute-and-flip"}, {Text: "GNMax"}}
	end := b.Room(0, 3, SingleWidth)
	if left := (SingleWidth - 50) * (1 - 3/end); left < b.Width().Points()-1e-9 || end > 6 {
		t.Errorf("an axis to %v leaves %v points for names of %v", end, left, b.Width())
	}
}

// A long name of a bar has two lines, broken near its middle; a short one, or one without a place for it, has one.
func TestTwoLines(t *testing.T) {
	for name, want := range map[string]string{
		"randomised-response-tight":  "randomised-\nresponse-tight",
		"optimal-teachers":           "optimal-teachers",
		"gnmax, σ = 74.64 and 18.66": "gnmax, σ =\n74.64 and 18.66",
		"aaaaaaaaaaaaaaaaaaaaaaaaa":  "aaaaaaaaaaaaaaaaaaaaaaaaa",
	} {
		if got := twoLines(name); got != want {
			t.Errorf("twoLines(%q) = %q, want %q", name, got, want)
		}
	}
}
