package choose

import (
	"context"
	"math"
	"testing"

	"github.com/darrm/darrm/constraints"
	"github.com/darrm/darrm/gamma"
	"github.com/darrm/darrm/gamma/solve"
)

// Public counts of which one class leads more often say what always that class agrees in; counts that
// treat the classes alike, and objectives without counts, say nothing.
func TestAlwaysByPublicCounts(t *testing.T) {
	p := constraints.Problem{K: 4, TotalEpsilon: 0.5, Epsilon: math.Inf(1), Affected: 1}
	binomial, err := gamma.TwoSidedCounts(4, 0.75)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		options solve.Options
		ok      bool
		want    Always
	}{
		"ones":   {solve.Options{Counts: []float64{0, 1, 1, 2, 6}}, true, Always{Class: 1, Agreement: 0.9}},
		"zeros":  {solve.Options{Counts: []float64{5, 1, 2, 1, 1}}, true, Always{Class: 0, Agreement: 0.8}},
		"alike":  {solve.Options{Counts: []float64{3, 1, 2, 1, 3}}, false, Always{}},
		"a mean": {solve.Options{Counts: binomial}, false, Always{}},
		"source": {solve.Options{PriorMean: 0.75}, false, Always{}},
	} {
		table, err := solve.Optimal(context.Background(), p, c.options)
		if err != nil {
			t.Fatal(err)
		}
		got, ok := Choice{Noise: table}.Always()
		if ok != c.ok {
			t.Errorf("%s: %v", name, ok)
		}
		if c.want.Labels = 1 - table.ExpectedError; ok && (got.Class != c.want.Class ||
			math.Abs(got.Agreement-c.want.Agreement) > 1e-12 || math.Abs(got.Labels-c.want.Labels) > 1e-12) {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
	if _, ok := (Choice{}).Always(); ok {
		t.Error("no noise function, and yet counts")
	}
}
