// Package pipeline puts two fields together, from training to private labels: teachers are
// trained by shuffled gradient methods, and their votes are aggregated by private majorities.
// Its methods are those of packages majority and shuffled, with which it is registered.
package pipeline

import (
	"context"
	"embed"

	"github.com/darrm/darrm/constraints"
	"github.com/darrm/darrm/experiment"
	"github.com/darrm/darrm/gamma"
	"github.com/darrm/darrm/gamma/solve"
)

//go:embed field.json definitions/*.json
var files embed.FS

// streamPipeline is the first stream of the experiment's seed: others have a number of their
// own for every use and repeat.
const streamPipeline = 8 << 20

type solver = func(context.Context, constraints.Problem, solve.Options) (*gamma.Table, error)

// Field returns the field, with the solver of noise functions that its experiments use.
func Field(s solver) experiment.Field {
	return experiment.ReadField(files, experiment.Kind{Name: "pipeline",
		New: func() experiment.Parameters { return &pipelineParameters{solve: s} }})
}

// The ways to answer.
const (
	methodPrivate     experiment.Method = "teachers"     // the plain majority of the private teachers
	methodSingle      experiment.Method = "single"       // one private model of all data
	methodSinglePlain experiment.Method = "single_plain" // one model of all data, not private
	methodPublicModel experiment.Method = "public_model" // one model of the public data

	// Methods of package majority, whose looks they have.
	methodOpt      experiment.Method = "opt"
	methodSub      experiment.Method = "sub"
	methodDisjoint experiment.Method = "opt_t1"
	methodMajority experiment.Method = "majority"
)
