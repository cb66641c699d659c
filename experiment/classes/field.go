// Package classes measures private pluralities of many classes on votes: of teachers that were
// trained without privacy on disjoint parts of images, and of simulated prompts of a language
// model. At each ε it puts the optimum under several priors beside permute-and-flip, noisy maxima
// and the best that any mechanism could do on these votes. The votes come with the package;
// votes/README.md describes their making.
//
// # Notation
//
//	K, C      teachers and classes, Set.Classes
//	ε, δ      Set.Epsilons, parameters.Delta
//	t         affected: 1, since every part is one teacher's
//	μ         Set.Accuracies: the prior of package plurality
//	A         parameters.Concentration: of plurality.Objective
//	U         row.Bound: no private mechanism has a higher value under the table's prior
package classes

import (
	"embed"

	"github.com/darrm/darrm/experiment"
)

//go:embed definitions/*.json
var definitions embed.FS

//go:embed votes/*.csv.gz
var voteFiles embed.FS

// Field returns the field.
func Field() experiment.Field {
	return experiment.Field{
		Kinds: []experiment.Kind{{Name: "classes",
			New: func() experiment.Parameters { return &parameters{} }}},
		Looks: looks,
		Files: definitions,
		Names: []string{"many-classes"},
	}
}

// The mechanisms, as package ensemble calls them, and two that are no release.
const (
	plain   = "plurality" // without noise
	optimum = "optimal"
	flip    = "permute-and-flip"
	ceiling = "ceiling" // the optimum whose prior is the votes themselves
)

// calibrated are the mechanisms that need no table.
var calibrated = []string{flip, "lnmax", "gnmax"}

const lookPrefix = "classes-"

// looks have the colours of Okabe and Ito, as in the other fields.
var looks = map[experiment.Method]experiment.Look{
	lookPrefix + plain:   {Title: "plurality, not private", Color: 0x999999, Dashes: []float64{1, 2}},
	lookPrefix + ceiling: {Title: "no mechanism is above", Color: 0x333333, Dashes: []float64{2, 2}},
	lookPrefix + optimum: {Title: "optimum, μ named", Color: 0x56B4E9, Dashes: []float64{4, 2},
		Glyph: 5},
	lookPrefix + uneven: {Title: "optimum, uneven shares", Color: 0xD55E00},
	lookPrefix + public: {Title: "optimum, public counts", Color: 0xE69F00, Dashes: []float64{6, 2},
		Glyph: 1},
	lookPrefix + flip:    {Title: "permute-and-flip", Color: 0x0072B2, Glyph: 2},
	lookPrefix + "lnmax": {Title: "LNMax", Color: 0x009E73, Glyph: 3},
	lookPrefix + "gnmax": {Title: "GNMax", Color: 0xCC79A7, Glyph: 4},
}
