package sketch

import (
	"context"
	"fmt"
	"math/bits"

	"github.com/darrm/darrm/experiment"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/sketch"
)

// The estimators.
const (
	methodRandK        experiment.Method = "rand-k"
	methodSpatialAvg   experiment.Method = "rand-k-spatial-avg"
	methodSpatialOpt   experiment.Method = "rand-k-spatial-opt"
	methodSpatialMax   experiment.Method = "rand-k-spatial-max"
	methodProjAvg      experiment.Method = "rand-proj-spatial-avg"
	methodProjOpt      experiment.Method = "rand-proj-spatial-opt"
	methodProjMax      experiment.Method = "rand-proj-spatial-max"
	methodWangni       experiment.Method = "wangni"
	methodInduced      experiment.Method = "induced"
	methodRotated      experiment.Method = "eden"
	methodRankOne      experiment.Method = "rank-1"
	methodUncompressed experiment.Method = "uncompressed"
)

// known are the estimators that simulations and tasks can name.
var known = []experiment.Method{methodRandK, methodSpatialAvg, methodSpatialOpt, methodSpatialMax, methodProjAvg, methodProjOpt, methodProjMax, methodWangni, methodInduced, methodUncompressed}

// estimator is one of the estimators for vectors of one shape.
type estimator struct {
	compressor sketch.Compressor // nil for the mean itself
	// predict returns the expected squared error for these vectors.
	predict func(ctx context.Context, xs [][]float64) (float64, error)
	bits    float64 // what a client sends, on average
}

// shape is what vectors and messages have in common in one setting.
type shape struct {
	n, k, d int
	root    uint64
	beta    sketch.BetaMode
	workers int
}

// config returns the codec's configuration of a member of the two spatial families; rho is
// ρ* for Opt. ok is false for others.
func (s shape) config(m experiment.Method, rho float64) (c sketch.Config, ok bool) {
	c = sketch.Config{N: s.n, K: s.k, D: s.d, Ensemble: sketch.RowSelect, Root: s.root, Workers: s.workers}
	switch m {
	case methodProjAvg, methodProjOpt, methodProjMax:
		c.Ensemble, c.Beta = sketch.SRHT, s.beta
	}
	switch m {
	case methodRandK:
	case methodSpatialAvg, methodProjAvg:
		c.T.Avg = true
	case methodSpatialOpt, methodProjOpt:
		c.T.Rho = rho
	case methodSpatialMax, methodProjMax:
		c.T.Rho = sketch.RhoMax()
	default:
		return c, false
	}
	return c, true
}

// number is a float64 on the wire.
const number = 64

// estimator returns the estimator of that name.
func (s shape) estimator(m experiment.Method, rho float64) (estimator, error) {
	if c, ok := s.config(m, rho); ok {
		codec, err := sketch.NewCodec(c)
		return estimator{codec, func(ctx context.Context, xs [][]float64) (float64, error) {
			r, q := sketch.Correlation(xs)
			return sketch.PredictMSE(ctx, c, r, q)
		}, number * float64(s.k)}, err
	}
	b := sketch.Baseline{N: s.n, K: s.k, D: s.d, Root: s.root}
	place := float64(bits.Len(uint(s.d - 1)))
	switch m {
	case methodWangni:
		w, err := sketch.NewWangni(b)
		return estimator{w, func(_ context.Context, xs [][]float64) (float64, error) { return w.MSE(xs) }, (number + place) * float64(s.k)}, err
	case methodInduced:
		i, err := sketch.NewInduced(b, sketch.InducedTop(s.k))
		if err != nil {
			return estimator{}, err
		}
		return estimator{i, func(_ context.Context, xs [][]float64) (float64, error) { return i.MSE(xs) }, number*float64(s.k) + place*float64(i.Top)}, nil
	case methodUncompressed:
		return estimator{nil, func(context.Context, [][]float64) (float64, error) { return 0, nil }, number * float64(s.d)}, nil
	}
	return estimator{}, &check.Error{Name: "estimator", Value: m, Rule: fmt.Sprintf("one of %v", known)}
}

// mean sends the vectors through messages and returns the server's estimate.
func (e estimator) mean(ctx context.Context, round uint64, xs [][]float64) ([]float64, error) {
	if e.compressor == nil {
		return meanOf(xs), nil
	}
	decoder := e.compressor.NewDecoder(round)
	for i, x := range xs {
		message, err := e.compressor.Encode(round, uint64(i), x)
		if err != nil {
			return nil, err
		}
		if err := decoder.Add(uint64(i), message); err != nil {
			return nil, err
		}
	}
	return decoder.Mean(ctx)
}

func meanOf(xs [][]float64) []float64 {
	out := make([]float64, len(xs[0]))
	for _, x := range xs {
		for j, v := range x {
			out[j] += v / float64(len(xs))
		}
	}
	return out
}

// squaredDistance is ‖a-b‖².
func squaredDistance(a, b []float64) float64 {
	s := 0.0
	for j, v := range a {
		s += (v - b[j]) * (v - b[j])
	}
	return s
}
