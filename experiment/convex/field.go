// Package convex measures the methods of package learn/convex: the tasks that its source's
// specification has numbers for, how the excess risk falls with the number of records and grows
// with the dimension in the geometries of ℓ1 and ℓ2, all methods at one (ε, δ), and a real task.
//
// Source: Bassily, Guzmán and Menart, Differentially Private Stochastic Optimization: New Results
// in Convex and Non-Convex Settings (2021). It has no experiments; the published numbers are those
// of an independent implementation of the project's specification of it.
//
// # Notation
//
//	n, d, ε, δ  Records, Dim, Epsilon, Delta   or what a sweep puts in their place
//	F, F*       (of a task)                    mean loss on fresh records; that of the truth
//	gap         convex.Gap                     of Frank and Wolfe, on fresh records
package convex

import (
	"embed"
	"sync"

	"github.com/darrm/darrm/experiment"
)

//go:embed field.json definitions/*.json
var files embed.FS

// Field returns the field.
func Field() experiment.Field {
	return experiment.ReadField(files, experiment.KindOf[parameters]("convex"))
}

// methodPrefix keeps the methods' looks apart from other fields'.
const methodPrefix = "convex-"

// looks are the looks of the field's methods and lines.
var looks = sync.OnceValue(func() map[experiment.Method]experiment.Look { return Field().Looks })
