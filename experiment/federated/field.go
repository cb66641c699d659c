// Package federated measures the methods of package learn/federated: a network on California
// housing in ten silos with and without a trusted server, what local steps gain where silos
// differ, and what it costs not to trust a server, in noise and in bytes.
//
// Source: Efficient private federated non-convex optimization with shuffled model (anonymous
// submission), of which the one experiment prints no number. The published figures are those of an
// independent implementation of the project's specification of it.
//
// # Notation
//
//	ε, δ, ε₀    line.Epsilon, Delta, LocalEpsilon   central, central, of one report
//	R, η        Rounds, step.First                  rounds, step size
//	β, C_1, C_2 line.Momentum, DifferenceClip, GradientClip
//	τ, H        taus, steps                         heterogeneity, local steps
package federated

import (
	"embed"

	"github.com/darrm/darrm/experiment"
)

//go:embed definitions/*.json
var definitions embed.FS

// Field returns the field.
func Field() experiment.Field {
	return experiment.Field{
		Kinds: []experiment.Kind{
			{Name: "federated", New: func() experiment.Parameters { return &training{} }},
			{Name: "federated-local-steps", New: func() experiment.Parameters { return &localSteps{} }},
			{Name: "federated-price", New: func() experiment.Parameters { return &price{} }},
		},
		Looks: looks,
		Files: definitions,
		Names: []string{"federated-california", "federated-belts", "federated-local-steps",
			"federated-price"},
	}
}

// prefix keeps the looks apart from other fields'.
const prefix = "federated-"

// looks have the colours of Okabe and Ito, as in the other fields.
var looks = map[experiment.Method]experiment.Look{
	prefix + "quiet": {Title: "no noise, same clips", Color: 0x333333, Dashes: []float64{1, 2},
		Glyph: 5},
	prefix + "loose":  {Title: "shuffled, ε = 1.6", Color: 0x56B4E9},
	prefix + "middle": {Title: "shuffled, ε = 0.8", Color: 0x0072B2},
	prefix + "tight":  {Title: "shuffled, ε = 0.4", Color: 0x009E73, Glyph: 2},
	prefix + "batch": {Title: "shuffled, batches", Color: 0x009E73, Dashes: []float64{6, 2},
		Glyph: 3},
	prefix + "local": {Title: "shuffled, local steps", Color: 0xCC79A7, Dashes: []float64{6, 2},
		Glyph: 4},
	prefix + "dp-gd": {Title: "trusted server, DP-GD", Color: 0xD55E00, Dashes: []float64{5, 3},
		Glyph: 1},
	prefix + "diff2": {Title: "trusted server, DIFF2-GD", Color: 0xCC79A7, Dashes: []float64{4, 3},
		Glyph: 3},
	prefix + "bvr": {Title: "trusted server, DIFF2-BVR", Color: 0xD55E00, Dashes: []float64{2, 2},
		Glyph: 4},
	prefix + "ldp": {Title: "no shuffler", Color: 0x777777, Dashes: []float64{2, 3}, Glyph: 3},
	prefix + "real": {Title: "shuffled, real reports", Color: 0x000000,
		Dashes: []float64{8, 3, 2, 3}, Glyph: 1},
	prefix + "one":     {Title: "H = 1", Color: 0x777777},
	prefix + "five":    {Title: "H = 5", Color: 0xE69F00, Glyph: 2},
	prefix + "twenty":  {Title: "H = 20", Color: 0x0072B2, Glyph: 3},
	prefix + "formula": {Title: "formula", Color: 0x777777, Dashes: []float64{4, 3}},
}
