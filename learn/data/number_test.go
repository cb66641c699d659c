package data

import (
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/darrm/darrm/internal/testing/raced"
)

// compareDigits compares Digits with strconv.
func compareDigits(t interface {
	Errorf(format string, args ...any)
}, s string) bool {
	got, ok := Digits(s)
	if !ok {
		return false
	}
	if want, err := strconv.ParseFloat(s, 64); err != nil || math.Float64bits(got) != math.Float64bits(want) {
		t.Errorf("%q is %v, want %v (%v)", s, got, want, err)
	}
	return true
}

// Digits are the nearest float64, by strconv's reading; numbers half way between two are among them.
func TestDigitsAreTheNearestNumber(t *testing.T) {
	raced.Sequential(t)
	rng := rand.New(rand.NewPCG(7, 8))
	for _, s := range []string{"0", "-0", "0.0", "1", "12345678", "123456789012345678", "9999999999999999999", "9007199254740993",
		"900719925474099.3", "0.1", ".5", "5.", "-.5", "0000000000000000001", "0.000000000000000001", "00000000.12345678",
		"9007199254740992.5", "900719925474099250", "0.30000000000000004", "1.7976931348623157", "4503599627370496.5", "4503599627370497.5"} {
		if !compareDigits(t, s) {
			t.Errorf("%q is left to others", s)
		}
	}
	for _, s := range []string{"", "-", ".", "-.", "+1", "1e5", "0x10", "1_000", "--1", "1.2.3", " 1", "1 ", "1,5", "nan", "inf", "12345678901234567890",
		"1234567a", "1234567:", "1234567/", "12345678\xff", "½", "1.2345678\x00"} {
		if v, ok := Digits(s); ok {
			t.Errorf("%q is %v", s, v)
		}
	}
	for range 300_000 {
		digits := 1 + rng.IntN(mostDigits)
		b := make([]byte, digits)
		for i := range b {
			b[i] = byte('0' + rng.IntN(10))
		}
		s := string(b)
		if at := rng.IntN(digits + 2); at <= digits {
			s = s[:at] + "." + s[at:]
		}
		compareDigits(t, s)
		// What programs write, and half way between two.
		x := math.Exp(60*rng.Float64() - 20)
		compareDigits(t, strconv.FormatFloat(x, 'f', -1, 64))
		odd := float64(rng.Uint64N(1<<52)<<1|1) / 2
		compareDigits(t, strings.TrimSuffix(strconv.FormatFloat(odd, 'f', 1, 64), "0"))
		compareDigits(t, strconv.FormatUint(rng.Uint64()>>1|1<<62|1<<9, 10))
	}
}
