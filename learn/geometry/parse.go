package geometry

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/darrm/darrm/internal/check"
)

// SetNames returns the sets that ParseSet takes, with letters for the numbers.
func SetNames() []string {
	return []string{"l2:RADIUS", "l1:RADIUS", "lp:P:RADIUS", "simplex:RADIUS"}
}

// ParseSet returns the set of a dimension that text names: l2:1 and l1:1 are the balls of
// radius 1, lp:1.5:1 the ball of ‖·‖_1.5, simplex:1 the vectors ≥ 0 of sum 1.
func ParseSet(text string, dim int) (Set, error) {
	family, rest, _ := strings.Cut(text, ":")
	var numbers []float64
	for _, field := range strings.Split(rest, ":") {
		v, err := strconv.ParseFloat(field, 64)
		if err != nil {
			return nil, noSet(text)
		}
		numbers = append(numbers, v)
	}
	radius := numbers[len(numbers)-1]
	switch {
	case family == "lp" && len(numbers) == 2:
		return NewLpBall(dim, numbers[0], radius)
	case len(numbers) != 1:
	case family == "l2":
		return NewLpBall(dim, 2, radius)
	case family == "l1":
		return NewL1Ball(dim, radius)
	case family == "simplex":
		return NewSimplex(dim, radius)
	}
	return nil, noSet(text)
}

func noSet(text string) error {
	return &check.Error{Name: "set", Value: fmt.Sprintf("%q", text),
		Rule: "one of " + strings.Join(SetNames(), ", ")}
}
