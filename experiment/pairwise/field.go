// Package pairwise measures the methods of package learn/pairwise by the AUC of their models: the
// source's tables on real sets of two classes, its private tables beside what noise with a proof
// gives, and all private methods over ε and over the number of records.
//
// Source: Yang, Lei, Wang, Yang and Ying, Simple Stochastic and Online Gradient Descent Algorithms
// for Pairwise Learning (2021), Tables G.2 to G.5 and Figures G.1 to G.4; and the numbers of an
// independent implementation of the project's specification of it.
//
// # Notation
//
//	n, ε, δ   place.records, place.epsilon, parameters.Delta
//	F_S       measure risk: mean pair loss over the records that a model was trained on
package pairwise

import (
	"embed"
	"sync"

	"github.com/darrm/darrm/experiment"
)

//go:embed field.json definitions/*.json
var files embed.FS

// Field returns the field.
func Field() experiment.Field {
	return experiment.ReadField(files, experiment.KindOf[parameters]("pairwise"))
}

// lookPrefix keeps the methods' looks apart from other fields'.
const lookPrefix = "pairwise-"

// looks are the looks of the field's methods and lines.
var looks = sync.OnceValue(func() map[experiment.Method]experiment.Look { return Field().Looks })
