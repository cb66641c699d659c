// Package choice is the study behind the default choice of a training method (learn/choose): the
// methods of learn/convex on tables of files and on made-up ones, at several values of n·ε/d, beside the method
// that the rule takes. Some tables judge: the rule was fixed before they were run.
//
// # Notation
//
//	n, d, K      cell.Records; features with the constant one; classes
//	(ε, δ)       cell.Epsilon, n^-1.1; one record is replaced
//	n·ε/d        parameters.Ratios
//	regret       what a method's score is behind that of the best method of the cell, which other seeds chose
//
// Scores are the AUC of two classes, the accuracy of several, and R² of numbers, 0 at least.
package choice

import (
	"embed"

	"github.com/darrm/darrm/experiment"
)

//go:embed field.json definitions/*.json
var files embed.FS

// Field returns the field.
func Field() experiment.Field {
	return experiment.ReadField(files, experiment.KindOf[parameters]("choice"))
}

const lookPrefix = "choice-"
