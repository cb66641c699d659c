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

//go:embed field.json definitions/*.json
var files embed.FS

// Field returns the field.
func Field() experiment.Field {
	return experiment.ReadField(files, experiment.KindOf[parameters]("answers"))
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
