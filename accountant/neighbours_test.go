package accountant

import (
	"math"
	"testing"

	"github.com/darrm/darrm/internal/testing/raced"
)

// A parameter has special values, with formulas of their own: no δ, all of the records, one release, ε = 0. Next to
// each of them figures are nearly what they are there, for the event and for the target alike.
func TestNoFigureJumpsBesideASpecialValue(t *testing.T) {
	raced.Sequential(t)
	const tiny = math.SmallestNonzeroFloat64
	below := math.Nextafter(1, 0)
	epsilon := func(e Event, count int, delta float64) float64 {
		t.Helper()
		got, err := mustNew(t, e.Relation(), Charge{e, count}).Epsilon(delta)
		if err != nil {
			t.Fatalf("%v, %d times, at δ = %v: %v", e, count, delta, err)
		}
		return got
	}
	near := func(what string, at, beside float64) {
		t.Helper()
		if !(math.Abs(at-beside) <= 0.02*math.Abs(at)+1e-12) {
			t.Errorf("%s: %v, beside it %v", what, at, beside)
		}
	}
	for _, delta := range []float64{0, 1e-6} {
		for _, count := range []int{1, 30} {
			pure := epsilon(ApproxDP{Cost{0.1, 0}, ReplaceOne}, count, delta)
			near("no ε beside the least", epsilon(ApproxDP{Cost{0, 0}, ReplaceOne}, count, delta),
				epsilon(ApproxDP{Cost{tiny, 0}, ReplaceOne}, count, delta))
			if delta > 0 {
				for _, own := range []float64{tiny, 1e-30} {
					near("no δ of its own beside the least", pure, epsilon(ApproxDP{Cost{0.1, own}, ReplaceOne}, count, delta))
				}
			}
		}
	}
	for _, e := range []Event{ApproxDP{Cost{0.1, 0}, ReplaceOne}, RandomizedResponse{0.1, ReplaceOne}, Laplace{10, ReplaceOne}} {
		for _, count := range []int{1, 30} {
			for _, delta := range []float64{tiny, 1e-300} {
				near("δ = 0 beside the least", epsilon(e, count, 0), epsilon(e, count, delta))
			}
		}
	}
	for _, count := range []int{1, 20} {
		all := epsilon(SubsampledGaussian{4, 1, AddOrRemoveOne}, count, 1e-6)
		near("all records and the plain noise", epsilon(Gaussian{4, AddOrRemoveOne}, count, 1e-6), all)
		near("all records beside nearly all", all, epsilon(SubsampledGaussian{4, below, AddOrRemoveOne}, count, 1e-6))
	}
	// Nor do the δ of an ε: at 0, and where a pure event ends.
	for _, e := range []Event{ApproxDP{Cost{0.5, 1e-9}, ReplaceOne}, Gaussian{3, ReplaceOne}} {
		a := mustNew(t, e.Relation(), Charge{e, 3})
		for _, at := range []float64{0, 0.5, 1, 1.5} {
			one, err1 := a.Delta(at)
			two, err2 := a.Delta(math.Nextafter(at, 9))
			if err1 != nil || err2 != nil {
				t.Fatal(err1, err2)
			}
			near("δ of ε", one, two)
		}
	}
}
