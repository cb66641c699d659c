// Package sketch repeats the figures on correlation-aware distributed mean estimation: what
// estimators' errors are and what is predicted for them, three tasks that are worked on by
// such means, and what the same bits buy elsewhere.
//
// Source: S. Jiang, Communication Efficient and Differentially Private Optimization (2025),
// Chapter 2 and Appendix A; S. Jiang, P. Sharma, G. Joshi, Correlation Aware Sparsified Mean
// Estimation Using Random Projection (NeurIPS 2023).
//
// Nothing of it is private. The data of the tasks are the real files where the data folder has
// them, and documented stand-ins otherwise; titles, pictures and notes name the one that was used.
//
// # Notation
//
//	n, k, d   Clients, Sent, Dimension   clients, numbers that each sends, length of a vector
//	R, ρ*     rho                        correlation of the vectors; ρ* = R/(n-1)
//	Q         (of vectors)               Σ ‖x_i‖²
//	β         Beta                       what makes an estimator unbiased
//	Max, Avg, Opt                        ρ = 1, n/(2(n-1)), ρ*
package sketch

import (
	"context"
	"embed"
	"sync"

	"github.com/darrm/darrm/experiment"
	"github.com/darrm/darrm/sketch"
)

//go:embed field.json definitions/*.json
var files embed.FS

// Field returns the field.
func Field() experiment.Field {
	f := experiment.ReadField(files,
		experiment.KindOf[simulationParameters]("mean-simulation"),
		experiment.KindOf[rankParameters]("mean-rank"),
		experiment.KindOf[tasksParameters]("mean-tasks"),
		experiment.KindOf[bitsParameters]("mean-bits"),
	)
	for m, look := range f.Looks {
		if look.Title == "" {
			look.Title = sketch.Estimator(m).Title()
			f.Looks[m] = look
		}
	}
	return f
}

var looks = sync.OnceValue(func() map[experiment.Method]experiment.Look { return Field().Looks })

// The estimators have the names that package sketch has for them.
const (
	methodRandK        = experiment.Method(sketch.RandK)
	methodSpatialAvg   = experiment.Method(sketch.RandKSpatialAvg)
	methodSpatialOpt   = experiment.Method(sketch.RandKSpatialOpt)
	methodSpatialMax   = experiment.Method(sketch.RandKSpatialMax)
	methodProjAvg      = experiment.Method(sketch.RandProjAvg)
	methodProjOpt      = experiment.Method(sketch.RandProjOpt)
	methodProjMax      = experiment.Method(sketch.RandProjMax)
	methodWangni       = experiment.Method(sketch.RandKWangni)
	methodInduced      = experiment.Method(sketch.TopKInduced)
	methodRotated      = experiment.Method(sketch.RotatedQuantised)
	methodRankOne      = experiment.Method("rank-1")
	methodUncompressed = experiment.Method("uncompressed")
)

// known are the estimators that simulations and tasks can name.
var known = []experiment.Method{methodRandK, methodSpatialAvg, methodSpatialOpt, methodSpatialMax,
	methodProjAvg, methodProjOpt, methodProjMax, methodWangni, methodInduced, methodUncompressed}

// number is the bits of a number that is not rounded.
const number = 64

// estimator returns the estimator of that name for the shape of c.
func newEstimator(m experiment.Method, c sketch.Config, rho float64) (sketch.Compared, error) {
	if m == methodUncompressed {
		return sketch.Compared{Predict: func(context.Context, [][]float64) (float64, error) {
			return 0,
				nil
		}, Bits: number * float64(c.D)}, nil
	}
	return sketch.Estimator(m).New(c, rho, number)
}
