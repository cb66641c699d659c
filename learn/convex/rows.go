package convex

import (
	"math"

	"github.com/darrm/darrm/internal/vec"
)

// short are the features of records as a pass reads them: float32s in units of a power of two, half the memory that a
// pass waits for. They are rounded toward 0, each by 2⁻²³ of itself at most, so that no record gets longer; what is below
// 2⁻¹²⁶ units becomes 0. Rounding is of a record by itself: neighbours stay neighbours. Norms, slopes and sums are float64s.
type short struct {
	count int
	width int       // of a row: the features, and zeros up to whole lanes
	x     []float32 // row by row, and a last row of zeros
	unit  float64
}

// newShort rounds d features of count rows, which are of norm radius at most.
func newShort(rows samples, count, d int, radius float64) short {
	_, e := math.Frexp(radius)
	s := short{count: count, width: (d + vec.Lanes - 1) / vec.Lanes * vec.Lanes, unit: math.Ldexp(1, e)}
	s.x = make([]float32, (count+1)*s.width)
	const part = 4096 // rows
	onCores((count+part-1)/part, func(k int) {
		for i := k * part; i < min(count, (k+1)*part); i++ {
			row := s.x[i*s.width:]
			for j, v := range rows.Row(i) {
				row[j] = towardZero(v / s.unit)
			}
		}
	})
	return s
}

// towardZero returns the float32 next to v on the side of 0; 0 for what is not a number, or is too small or too large for
// all digits of a float32.
func towardZero(v float64) float32 {
	cut := math.Float64frombits(math.Float64bits(v) &^ (1<<29 - 1)) // to the 24 digits of a float32
	if size := math.Abs(cut); size >= 0x1p-126 && size <= math.MaxFloat32 {
		return float32(cut)
	}
	return 0
}

// row returns row i, that of zeros for i = count.
func (s *short) row(i int) []float32 { return s.x[i*s.width : (i+1)*s.width] }

// norm returns an upper bound on the norm of row i in the units of the records.
func (s *short) norm(i int) float64 {
	square := 0.0
	for _, v := range s.row(i) {
		square += float64(v) * float64(v)
	}
	return math.Sqrt(square) * s.unit * (1 + vec.Slack(s.width))
}
