// Package convex measures the methods of package learn/convex: the tasks that its source's
// specification has numbers for, how the excess risk falls with the number of records and grows
// with the dimension in the geometries of ℓ1 and ℓ2, all methods at one (ε, δ), and a real task.
//
// Source: Bassily, Guzmán and Menart, Differentially Private Stochastic Optimization: New Results
// in Convex and Non-Convex Settings (2021). It has no experiments; the published numbers are those
// of an independent implementation of the project's specification of it.
//
// # Notation
//
//	n, d, ε, δ  Records, Dim, Epsilon, Delta   or what a sweep puts in their place
//	F, F*       (of a task)                    mean loss on fresh records; that of the truth
//	gap         convex.Gap                     of Frank and Wolfe, on fresh records
package convex

import (
	"embed"

	"github.com/darrm/darrm/experiment"
)

//go:embed definitions/*.json
var definitions embed.FS

// Field returns the field.
func Field() experiment.Field {
	return experiment.Field{
		Kinds: []experiment.Kind{{Name: "convex",
			New: func() experiment.Parameters { return &parameters{} }}},
		Looks: looks,
		Files: definitions,
		Names: []string{"convex-robust", "convex-sparse", "convex-gap-l1", "convex-gap-l2",
			"convex-phase", "convex-phase-lp", "convex-dimension", "convex-field", "convex-credit",
			"convex-credit-real"},
	}
}

// methodPrefix keeps the methods' looks apart from other fields'.
const methodPrefix = "convex-"

// looks have the colours of Okabe and Ito, as in the other fields. Those after the methods are for
// lines of one method that differ in their noise.
var looks = map[experiment.Method]experiment.Look{
	methodPrefix + "phased-sgd": {Title: "phased SGD", Color: 0x0072B2,
		Dashes: []float64{5, 3}, Glyph: 2},
	methodPrefix + "frank-wolfe": {Title: "Frank-Wolfe", Color: 0xD55E00},
	methodPrefix + "poly-sfw": {Title: "polySFW", Color: 0xE69F00,
		Dashes: []float64{4, 3}, Glyph: 3},
	methodPrefix + "nsfw": {Title: "nSFW", Color: 0x56B4E9, Dashes: []float64{2, 2},
		Glyph: 4},
	methodPrefix + "proximally-guided": {Title: "proximally guided", Color: 0x333333,
		Dashes: []float64{8, 3, 2, 3}, Glyph: 1},
	methodPrefix + "dp-sgd": {Title: "DP-SGD, convex", Color: 0xCC79A7,
		Dashes: []float64{6, 2}, Glyph: 1},
	methodPrefix + "longer": {Title: "phased SGD, longer steps", Color: 0x0072B2,
		Glyph: 0},
	methodPrefix + "tuned": {Title: "DP-SGD, tuned", Color: 0xCC79A7, Glyph: 0},
	methodPrefix + "output-perturbation": {Title: "output perturbation", Color: 0x777777,
		Dashes: []float64{2, 3}, Glyph: 3},
	methodPrefix + "objective-perturbation": {Title: "objective perturbation", Color: 0x009E73,
		Dashes: []float64{4, 3}, Glyph: 4},
	methodPrefix + zero: {Title: "w = 0", Color: 0x999999},
	methodPrefix + optimum: {Title: "not private", Color: 0x333333,
		Dashes: []float64{1, 2}, Glyph: 5},
	methodPrefix + "quiet": {Title: "next to no noise", Color: 0x333333,
		Dashes: []float64{1, 2}, Glyph: 5},
	methodPrefix + "printed":    {Title: "printed noise", Color: 0xD55E00},
	methodPrefix + "calibrated": {Title: "calibrated noise", Color: 0x0072B2, Glyph: 2},
	methodPrefix + "weak": {Title: "printed noise, larger ε", Color: 0x009E73,
		Dashes: []float64{4, 3}, Glyph: 3},
}
