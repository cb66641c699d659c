package data

import (
	"math"
	"testing"

	"github.com/darrm/darrm/internal/must"
)

func newRecords(t testing.TB, rows [][]float64, y []float64) *Records {
	t.Helper()
	var x []float64
	for _, r := range rows {
		x = append(x, r...)
	}
	return must.Get(NewRecords(len(rows), len(rows[0]), x, y))(t)
}

// Rows whose squares overflow or underflow are shortened too, and no others are touched.
func TestShortenedBeyondSquares(t *testing.T) {
	for _, c := range []struct {
		feature, radius float64
		long            bool
	}{{1e-170, 1e-200, true}, {1e-170, 1e-160, false}, {1e-140, 1e-150, true}, {0, 1e-200, false},
		{1e49, 1, true}} {
		r, err := NewRecords(1, 3, []float64{c.feature, -c.feature, 0}, nil)
		if err != nil {
			t.Fatal(err)
		}
		s := r.Shortened(c.radius)
		if (s != r) != c.long {
			t.Errorf("%+v: changed %v", c, s != r)
		}
		if got := math.Hypot(s.Row(0)[0], s.Row(0)[1]); got > c.radius*(1+1e-12) || c.long &&
			got < c.radius*(1-1e-9) {
			t.Errorf("%+v: norm %g", c, got)
		}
	}
}
