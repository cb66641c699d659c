package experiment

import (
	"strconv"
	"strings"
)

// agrees reports whether v, rounded to as many decimals as printed has, is printed.
func agrees(v float64, printed string) bool {
	_, decimals, _ := strings.Cut(printed, ".")
	return strconv.FormatFloat(v, 'f', len(decimals), 64) == printed
}
