package federated

import (
	"context"
	"path/filepath"
	"slices"
	"testing"

	"github.com/darrm/darrm/experiment"
	"github.com/darrm/darrm/experiment/experimenttest"
)

// Acceptance tests 15 to 17 of the specification at full size, three starts each: the claims hold
// on the golden figures, which only the long test computes. Of test 15 continuous integration
// computes the quick form, 2064 records and 100 rounds. The figures are means, so each stands for
// one run. The first error of a run is not among them, and claims that it falls are judged where it
// is computed.
func TestClaimsHoldOnGoldenFigures(t *testing.T) {
	for _, name := range []string{"federated-california", "federated-belts"} {
		text, err := catalog.Source(name)
		if err != nil {
			t.Fatal(err)
		}
		p := decoded(t, string(text))
		p.Claims = slices.DeleteFunc(p.Claims, func(c experiment.Statement) bool {
			return c.Measure == "fall"
		})
		f := p.tidy(nil)
		experimenttest.Golden(t, f, experimenttest.Rows(t, filepath.Join("..", "testdata", "golden", name,
			"models.csv")), "train", "test", "gradient", "kept", "eps")
		r := experimenttest.Load(t, catalog, name).NewRun(context.Background(), experiment.Options{})
		p.judge(r, f)
		experimenttest.Hold(t, r)
	}
}
