package experiment

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/darrm/darrm/internal/check"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// Negligible is the largest error that is shown, and meant, as 0: what rounding and the
// solver's tolerances leave. It is far below what can be seen in a picture.
const Negligible = 1e-10

// Below reports whether a is less than b, or both are Negligible.
func Below(a, b float64) bool { return a < b || a <= Negligible && b <= Negligible }

// Agrees reports whether v, rounded to as many decimals as printed has, is printed.
func Agrees(v float64, printed string) bool {
	_, decimals, _ := strings.Cut(printed, ".")
	return strconv.FormatFloat(v, 'f', len(decimals), 64) == printed
}

// CheckOrdering checks a claim of a definition that each of better is better than each of
// worse: some of each, all different and among the known ones.
func CheckOrdering[M ~string](better, worse, known []M) error {
	if err := check.Some("better and worse", len(better), len(worse)); err != nil {
		return err
	}
	return check.Each("methods of a claim", slices.Concat(better, worse), check.Among(known))
}

// Difference is a mean with its 95 % confidence interval by Student's t.
type Difference struct{ Mean, Low, High float64 }

// MeanDeviation returns the mean and the standard deviation, 0 for one value.
func MeanDeviation(x []float64) (mean, sd float64) {
	if len(x) == 1 {
		return x[0], 0
	}
	return stat.MeanStdDev(x, nil)
}

// Paired returns by how much a exceeds b, which were measured in pairs.
func Paired(a, b []float64) Difference {
	d := make([]float64, len(a))
	for i := range d {
		d[i] = a[i] - b[i]
	}
	mean, sd := stat.MeanStdDev(d, nil)
	t := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: float64(len(d) - 1)}.Quantile(0.975)
	half := t * sd / math.Sqrt(float64(len(d)))
	return Difference{mean, mean - half, mean + half}
}

// Edge returns "largest" or "smallest" where the best value is an end of the grid of those tried,
// so that a better one may lie beyond. It returns "" inside the grid, and for a grid of one.
func Edge(best float64, tried []float64) string {
	least, most := slices.Min(tried), slices.Max(tried)
	switch {
	case least == most:
		return ""
	case best == most:
		return "largest"
	case best == least:
		return "smallest"
	}
	return ""
}
