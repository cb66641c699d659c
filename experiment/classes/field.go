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

//go:embed field.json definitions/*.json
var files embed.FS

//go:embed votes/*.csv.gz
var voteFiles embed.FS

// Field returns the field.
func Field() experiment.Field {
	return experiment.ReadField(files, experiment.KindOf[parameters]("classes"))
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
