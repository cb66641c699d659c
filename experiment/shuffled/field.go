// Package shuffled repeats the figures and tables on private shuffled gradient methods: their
// excess risk with and without public data, and its bounds.
//
// Source: Improving the Convergence of Private Shuffled Gradient Methods with Public Data
// (2026), Section 6.
//
// The data sets are generated stand-ins for the real ones, unless the real files are in the data
// folder. Titles, pictures and notes name the one that was used.
//
// # Notation
//
//	p        Fraction        share of private steps
//	η        StepSize        step size
//	n_d      (of a schedule) private steps in an epoch of n
//	IG, SO, RR  Order        order of the private records: fixed, shuffled once, reshuffled
package shuffled

import (
	"embed"

	"github.com/darrm/darrm/experiment"
	"github.com/darrm/darrm/learn/shuffled"
)

//go:embed definitions/*.json
var definitions embed.FS

// streamRepeats is the stream of the experiment's seed that repeat 0 has, the next ones follow.
const streamRepeats = 7 << 20

// Field returns the field. Its methods have the names that package shuffled has for them.
func Field() experiment.Field {
	return experiment.Field{
		Kinds: []experiment.Kind{{Name: "training", New: func() experiment.Parameters {
			return &trainingParameters{}
		}}},
		Looks: map[experiment.Method]experiment.Look{
			experiment.Method(shuffled.ShuffleG): {Title: "ShuffleG, not private", Color: 0x333333,
				Dashes: []float64{1, 2}},
			experiment.Method(shuffled.DPShuffleG): {Title: "DP-ShuffleG", Color: 0x009E73,
				Dashes: []float64{4, 3}, Glyph: 3},
			experiment.Method(shuffled.PrivPub): {Title: "Priv-Pub", Color: 0x0072B2,
				Dashes: []float64{5, 3}, Glyph: 2},
			experiment.Method(shuffled.PubPriv): {Title: "Pub-Priv", Color: 0x56B4E9,
				Dashes: []float64{2, 2}, Glyph: 4},
			experiment.Method(shuffled.Interleaved): {Title: "Interleaved", Color: 0xD55E00},
			experiment.Method(shuffled.PublicOnly): {Title: "Public Only", Color: 0x777777,
				Dashes: []float64{8, 3, 2, 3}, Glyph: 5},
			experiment.Method(shuffled.DPSGD): {Title: "DP-SGD (not the source's)", Color: 0xCC79A7,
				Dashes: []float64{6, 2}, Glyph: 1},
		},
		Files: definitions,
		Names: []string{"crime", "compas", "credit-card", "mnist-69", "cifar-10"},
	}
}
