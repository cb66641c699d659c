// Package manyanswers measures mechanisms that answer many queries under one budget, on votes: a
// table that is priced for all of its answers together (package plurality/answers) beside
// mechanisms that answer one query at a time, whose answers are composed (package plan). The votes
// are those of experiment/classes.
//
// # Notation
//
//	K, C      teachers and classes: outcome.K, set.Classes
//	t         affected: 1, since every part of the data is one teacher's
//	Q         set.Queries
//	(E, D)    budget: of all Q answers together
package manyanswers

import (
	"embed"

	"github.com/darrm/darrm/experiment"
)

//go:embed definitions/*.json
var definitions embed.FS

// Field returns the field.
func Field() experiment.Field {
	return experiment.Field{
		Kinds: []experiment.Kind{{Name: "answers",
			New: func() experiment.Parameters { return &parameters{} }}},
		Looks: looks,
		Files: definitions,
		Names: []string{"many-answers"},
	}
}

// The mechanisms. Those that answer one query at a time have the names of package ensemble, but
// for the optimum, which has two there.
const (
	gnmax  = "gnmax"
	flip   = "permute-and-flip"
	single = "one answer" // the optimum of one answer
	normal = "normal"     // a table of normal noise, priced by its label
	best   = "best"       // the better one of it and the optimum under a bound of an order
	above  = "bound"      // no table of two classes is above
)

const lookPrefix = "answers-"

// looks have the colours of Okabe and Ito, as in the other fields.
var looks = map[experiment.Method]experiment.Look{
	lookPrefix + above: {Title: "no table is above (two classes)", Color: 0x333333,
		Dashes: []float64{2, 2}},
	lookPrefix + best: {Title: "table for many answers", Color: 0xD55E00},
	lookPrefix + normal: {Title: "normal noise, priced by its label", Color: 0xE69F00,
		Dashes: []float64{6, 2}, Glyph: 1},
	lookPrefix + gnmax: {Title: "GNMax, priced by its counts", Color: 0xCC79A7, Glyph: 4},
	lookPrefix + flip:  {Title: "permute-and-flip", Color: 0x0072B2, Glyph: 2},
	lookPrefix + single: {Title: "optimum of one answer", Color: 0x56B4E9, Dashes: []float64{4, 2},
		Glyph: 5},
}
