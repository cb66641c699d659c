// Package federated measures the methods of package learn/federated: a network on California
// housing in ten silos with and without a trusted server, what local steps gain where silos
// differ, and what it costs not to trust a server, in noise and in bytes.
//
// Source: Efficient private federated non-convex optimization with shuffled model (anonymous
// submission), of which the one experiment prints no number. The published figures are those of an
// independent implementation of the project's specification of it.
//
// # Notation
//
//	ε, δ, ε₀    line.Epsilon, Delta, LocalEpsilon   central, central, of one report
//	R, η        Rounds, step.First                  rounds, step size
//	β, C_1, C_2 line.Momentum, DifferenceClip, GradientClip
//	τ, H        taus, steps                         heterogeneity, local steps
package federated

import (
	"embed"
	"sync"

	"github.com/darrm/darrm/experiment"
)

//go:embed field.json definitions/*.json
var files embed.FS

// Field returns the field.
func Field() experiment.Field {
	return experiment.ReadField(files,
		experiment.KindOf[training]("federated"),
		experiment.KindOf[localSteps]("federated-local-steps"),
		experiment.KindOf[price]("federated-price"),
	)
}

// prefix keeps the looks apart from other fields'.
const prefix = "federated-"

// looks are the looks of the field's methods and lines.
var looks = sync.OnceValue(func() map[experiment.Method]experiment.Look { return Field().Looks })
