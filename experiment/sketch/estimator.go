package sketch

import (
	"context"

	"github.com/darrm/darrm/experiment"
	"github.com/darrm/darrm/sketch"
)

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
