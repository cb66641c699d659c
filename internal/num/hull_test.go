package num

import (
	"math/big"
	"testing"
)

func TestHull(t *testing.T) {
	third := FromRat(big.NewRat(1, 3))
	for _, c := range []struct {
		x, y         Interval
		lower, upper float64
	}{
		{FromInt(0), FromInt(1), 0, 1},
		{FromInt(1), FromInt(0), 0, 1},
		{FromInt(2), FromInt(2), 2, 2},
		{FromInt(0).Hull(FromInt(5)), FromInt(1).Hull(FromInt(2)), 0, 5},
		{FromInt(1).Hull(FromInt(2)), FromInt(0).Hull(FromInt(5)), 0, 5},
		{third, FromInt(-1), -1, third.Upper()},
	} {
		if h := c.x.Hull(c.y); h.Lower() != c.lower || h.Upper() != c.upper {
			t.Errorf("[%v, %v], want [%v, %v]", h.Lower(), h.Upper(), c.lower, c.upper)
		}
	}
}
