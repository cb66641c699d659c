package main

import (
	"fmt"
	"strings"

	"github.com/darrm/darrm/internal/num"
)

// requirement bounds the cost of a case and its distance from the optimum.
type requirement struct {
	solveCase
	seconds     float64
	relativeGap float64
}

// Every case has to stay below this.
const mostBytes = 2 << 30

const (
	freeGap     = 1e-6
	monotoneGap = 1e-8
)

// requirements for a machine with two cores.
var requirements = []requirement{
	{solveCase{41, free, 1e-5}, 0.2, freeGap},
	{solveCase{101, free, 0}, 2, freeGap},
	{solveCase{101, free, 1e-5}, 2, freeGap},
	{solveCase{301, free, 1e-5}, 30, freeGap},
	{solveCase{501, free, 0}, 180, freeGap},
	{solveCase{501, free, 1e-5}, 180, freeGap},
	{solveCase{1001, monotone, 1e-5}, 15, monotoneGap},
}

// requirementsTable compares measurements with requirements; it reports, it does not
// judge: a time missed is a line to read, not a failure. Requirements whose case was
// not measured are left out.
func requirementsTable(wanted []requirement, list []measurement) string {
	measured := make(map[solveCase]measurement, len(list))
	for _, m := range list {
		measured[m.solveCase] = m
	}
	var b strings.Builder
	b.WriteString("| K | shape | Δ | seconds | allowed | peak MiB | allowed | gap, relative | " +
		"allowed | met |\n")
	b.WriteString("|---:|---|---|---:|---:|---:|---:|---:|---:|---|\n")
	for _, r := range wanted {
		m, ok := measured[r.solveCase]
		if !ok {
			continue
		}
		met := "yes"
		if !(m.seconds < r.seconds && m.peakBytes < mostBytes && m.relativeGap() <= r.relativeGap) {
			met = "**no**"
		}
		fmt.Fprintf(&b, "| %d | %s | %s | %.3g | %g | %.0f | %d | %.1e | %s | %s |\n",
			m.k, m.shape, num.Shortest(m.delta), m.seconds, r.seconds,
			float64(m.peakBytes)/mebibyte, mostBytes/mebibyte, m.relativeGap(), num.Shortest(r.relativeGap), met)
	}
	return b.String()
}
