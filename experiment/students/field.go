// Package students measures models that are trained on released labels: teachers without privacy,
// trained on disjoint parts of private records, vote on a pool of public queries; the votes' labels are
// released within one budget, by a table that is priced for all of them and by GNMax; a linear student
// learns from them, with the labels as they are or with their law as its last layer; and its accuracy is
// measured on public truth.
//
// # Notation
//
//	K, Q      parameters.Teachers, Queries: labels of the first Q queries of the pool
//	(ε, δ)    parameters.Epsilon, Delta: of all Q labels together
//	β         labellaw.Law.Beta: a label is softmax(β·K·s), s the student's shares of the votes
//	l2        parameters.L2, of the student's weights; its constant has none
package students

import (
	"embed"

	"github.com/darrm/darrm/experiment"
)

//go:embed field.json definitions/*.json
var files embed.FS

// Field returns the field.
func Field() experiment.Field {
	return experiment.ReadField(files, experiment.KindOf[parameters]("students"))
}

const lookPrefix = "students-"

// The ways from votes to a student.
const (
	tableLayer = "table-layer" // labels of the table, whose law is the last layer
	tablePlain = "table-plain" // the same labels as they are
	gnmaxLayer = "gnmax-layer"
	gnmaxPlain = "gnmax-plain"
)

var ways = []string{tableLayer, tablePlain, gnmaxLayer, gnmaxPlain}
