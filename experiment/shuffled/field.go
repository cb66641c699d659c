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
)

//go:embed field.json definitions/*.json
var files embed.FS

// streamRepeats is the stream of the experiment's seed that repeat 0 has, the next ones follow.
const streamRepeats = 7 << 20

// Field returns the field. Its methods have the names that package shuffled has for them.
func Field() experiment.Field {
	return experiment.ReadField(files, experiment.KindOf[trainingParameters]("training"))
}
