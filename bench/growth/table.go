package main

import (
	"fmt"
	"strconv"
	"strings"
)

const mebibyte = 1 << 20

// growthTable returns all measurements as a markdown table.
func growthTable(list []measurement) string {
	var b strings.Builder
	b.WriteString("| K | shape | Δ | constraints | runs | seconds, fastest | peak MiB | expected " +
		"error | gap | gap, relative |\n")
	b.WriteString("|---:|---|---|---:|---:|---:|---:|---:|---:|---:|\n")
	for _, m := range list {
		fmt.Fprintf(&b, "| %d | %s | %s | %s | %d | %.3g | %.0f | %.12f | %.1e | %.1e |\n",
			m.k, m.shape, short(m.delta), thousands(m.constraints), m.runs, m.seconds,
			float64(m.peakBytes)/mebibyte, m.expectedError, m.gap, m.relativeGap())
	}
	return b.String()
}

// thousands groups digits by three: 73,629,072.
func thousands(n uint64) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// short writes the shortest decimal, with exponents as people write them: 1e-5, not 1e-05.
func short(x float64) string {
	return strings.Replace(strconv.FormatFloat(x, 'g', -1, 64), "e-0", "e-", 1)
}
