package experiment_test

import (
	"os"
	"testing"

	"github.com/darrm/darrm/experiment"
	"github.com/darrm/darrm/experiment/classes"
	"github.com/darrm/darrm/experiment/convex"
	"github.com/darrm/darrm/experiment/federated"
	"github.com/darrm/darrm/experiment/majority"
	"github.com/darrm/darrm/experiment/manyanswers"
	"github.com/darrm/darrm/experiment/pairwise"
	"github.com/darrm/darrm/experiment/pipeline"
	"github.com/darrm/darrm/experiment/shuffled"
	"github.com/darrm/darrm/experiment/sketch"
	"github.com/darrm/darrm/gamma/solve"
	"github.com/darrm/darrm/internal/must"
)

// catalog is the catalog of the command line.
var catalog = catalogWith(solve.Optimal)

func catalogWith(s majority.Solver) *experiment.Catalog {
	return experiment.New(majority.Field(s), shuffled.Field(), pipeline.Field(s), sketch.Field(),
		convex.Field(), federated.Field(), pairwise.Field(), classes.Field(), manyanswers.Field())
}

// source returns the definition file of a built-in experiment.
func source(t testing.TB, name string) []byte {
	t.Helper()
	return must.Get(catalog.Source(name))(t)
}

// realData returns the folder of real files for experiments that cannot do without, and an
// empty one for those that have a stand-in: their golden values are its.
func realData(t testing.TB, d experiment.Definition) string {
	if d.NeedsData() == "" {
		return t.TempDir()
	}
	return os.Getenv("DARRM_DATA")
}
