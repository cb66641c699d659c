package data

import (
	"math"
	"math/bits"
	"strconv"
	"strings"

	"github.com/darrm/darrm/internal/check"
)

// NumberText returns a number as a cell of text: "" for NaN, which is a missing one, and whole numbers without a point.
func NumberText(x float64) string {
	switch {
	case math.IsNaN(x):
		return ""
	case x == math.Trunc(x) && math.Abs(x) < 1e15:
		return strconv.FormatInt(int64(x), 10)
	}
	return strconv.FormatFloat(x, 'g', -1, 64)
}

// ParseNumber parses a finite decimal.
func ParseNumber(field string) (float64, error) {
	if v, ok := Digits(field); ok {
		return v, nil
	}
	field = strings.TrimSpace(field)
	v, err := strconv.ParseFloat(field, 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
		return 0, check.Want("value", Shorten(field), "a finite number")
	}
	return v, nil
}

// mostDigits is how many digits any whole number of 64 bits may have.
const mostDigits = 19

// Digits returns the number of a cell that is 1 to 19 digits, with a minus before them or not, and a point among them
// or not: the float64 nearest to it, as strconv.ParseFloat has it, in a third of the time. ok is false of any other cell,
// which may be a number too.
func Digits(s string) (v float64, ok bool) {
	negative := s != "" && s[0] == '-'
	if negative {
		s = s[1:]
	}
	if len(s) > mostDigits+1 {
		return 0, false
	}
	m, point := uint64(0), -1
	for i := 0; i < len(s); {
		if i+8 <= len(s) {
			if eight := load(s[i : i+8]); allDigits(eight) {
				m = m*1e8 + value(eight)
				i += 8
				continue
			}
		}
		switch c := s[i] - '0'; {
		case c <= 9:
			m = 10*m + uint64(c)
		case s[i] == '.' && point < 0:
			point = i
		default:
			return 0, false
		}
		i++
	}
	digits, decimals := len(s), 0
	if point >= 0 {
		digits, decimals = len(s)-1, len(s)-1-point
	}
	if digits < 1 || digits > mostDigits {
		return 0, false
	}
	v = scaled(m, decimals)
	if negative {
		v = -v
	}
	return v, true
}

// load returns eight bytes, the first the lowest.
func load(s string) uint64 {
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 | uint64(s[4])<<32 | uint64(s[5])<<40 |
		uint64(s[6])<<48 | uint64(s[7])<<56
}

// allDigits reports whether eight bytes are all from '0' to '9': their high halves are 3, also with 6 added.
func allDigits(eight uint64) bool {
	return eight&(eight+0x0606060606060606)&0xf0f0f0f0f0f0f0f0 == 0x3030303030303030 &&
		(eight|(eight+0x0606060606060606))&0xf0f0f0f0f0f0f0f0 == 0x3030303030303030
}

// value returns the number of eight digits: pairs, then fours, then all.
func value(eight uint64) uint64 {
	eight -= 0x3030303030303030
	eight = eight*10 + eight>>8
	return (eight&0x000000ff000000ff*(100+1000000<<32) + eight>>16&0x000000ff000000ff*(1+10000<<32)) >> 32
}

var powersOfFive = func() (p [mostDigits + 1]uint64) {
	p[0] = 1
	for k := range mostDigits {
		p[k+1] = 5 * p[k]
	}
	return p
}()

// scaled returns m/10^k for k ≤ 19, rounded to the nearest, ties to even. The quotient of m and 5^k, both shifted to 64
// bits, has 63 bits at least, and the remainder tells whether it is exact: nothing is lost that rounding asks for.
func scaled(m uint64, k int) float64 {
	if k == 0 || m == 0 {
		return float64(m)
	}
	if m < 1<<53 {
		return float64(m) / math.Pow10(k) // both are exact, as 10^k is up to 22
	}
	five := powersOfFive[k]
	up, by := bits.LeadingZeros64(m), bits.LeadingZeros64(five)
	q, rest := bits.Div64(m<<up>>1, m<<up<<63, five<<by)
	cut := bits.Len64(q) - 53
	low, half := q&(1<<cut-1), uint64(1)<<(cut-1)
	q >>= cut
	if low > half || low == half && (rest != 0 || q&1 == 1) {
		q++
	}
	return float64(q) * math.Float64frombits(uint64(1023+cut-63+by-up-k)<<52)
}
