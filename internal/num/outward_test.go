package num

import (
	"math"
	"math/big"
	"math/rand/v2"
	"strconv"
	"testing"
)

// What Outward writes is on the stated side of the number, and by less than two units of its last
// digit.
func TestOutwardIsOnTheStatedSide(t *testing.T) {
	for _, c := range []struct {
		x    float64
		up   bool
		want string
	}{{0.12345, true, "0.124"}, {0.12345, false, "0.123"}, {0.1239, false, "0.123"}, {0.1239, true, "0.124"},
		{0.5, true, "0.5"}, {0.5, false, "0.5"}, {9.9999, true, "10"}, {9.9999, false, "9.99"}, {0, true, "0"}} {
		if got := Outward(c.x, 3, c.up); got != c.want {
			t.Errorf("Outward(%g, 3, %t) = %s, want %s", c.x, c.up, got, c.want)
		}
	}
	rng := rand.New(rand.NewPCG(5, 6))
	corrected := 0
	for range 20_000 {
		x := rng.ExpFloat64() * 1e3
		digits := 2 + rng.IntN(6)
		for _, up := range []bool{true, false} {
			text := Outward(x, digits, up)
			shown, ok := new(big.Rat).SetString(text)
			if !ok {
				t.Fatalf("%q is no number", text)
			}
			if side := shown.Cmp(new(big.Rat).SetFloat64(x)); up && side < 0 || !up && side > 0 {
				t.Fatalf("Outward(%v, %d, %t) = %s", x, digits, up, text)
			}
			if text != strconv.FormatFloat(x, 'g', digits, 64) {
				corrected++
			}
		}
	}
	if corrected < 10_000 { // half of them: the nearest number is on the wrong side
		t.Errorf("%d of 40000 were nearest on the wrong side: the rare case is hardly tried", corrected)
	}
}

// The shortest decimal stands for the same float64, as people write it.
func TestShortest(t *testing.T) {
	for x, want := range map[float64]string{1e-6: "1e-6", 1.25e-7: "1.25e-7", 1e-12: "1e-12", .1: "0.1", 2: "2", 1e21: "1e21",
		3e6: "3e6", 1e100: "1e100", math.Inf(1): "+Inf"} {
		got := Shortest(x)
		if back, err := strconv.ParseFloat(got, 64); got != want || err != nil || back != x {
			t.Errorf("%v: %q, want %q", x, got, want)
		}
	}
}
