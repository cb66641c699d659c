package experiment

import (
	"slices"
	"strconv"
	"strings"

	"github.com/darrm/darrm/internal/check"
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
