package solve

import (
	"math"
	"testing"

	"github.com/darrm/darrm/plurality"
)

// Each table is the best under its own prior and not under the others': docs/many-answers.md
// shows these numbers.
func TestNoPriorFreeOptimum(t *testing.T) {
	priors := []float64{.4, .6, .8}
	want := [][]float64{{.6579, .7278, .8533}, {.6469, .7324, .8634}, {.6251, .7229, .8694}}
	values := make([][]float64, len(priors))
	for i, presumed := range priors {
		table := optimal(t, plurality.Problem{K: 11, Classes: 3, Epsilon: .5, Affected: 1},
			plurality.Objective{Accuracy: presumed}, Options{Gap: 1e-8})
		for j, mu := range priors {
			as, err := plurality.NewTable(t.Context(), table.Certified, plurality.Objective{Accuracy: mu},
				plurality.Proof{})
			if err != nil {
				t.Fatal(err)
			}
			values[i] = append(values[i], as.Value)
			if math.Abs(as.Value-want[i][j]) > 6e-5 {
				t.Errorf("optimal for %v, where it is %v: %v, want %v", presumed, mu, as.Value, want[i][j])
			}
		}
	}
	for i := range priors {
		for j := range priors {
			if i != j && values[i][j] > values[j][j]-1e-3 {
				t.Errorf("what is best for %v is as good for %v", priors[i], priors[j])
			}
		}
	}
}
