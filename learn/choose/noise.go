package choose

import (
	"math"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/learn/train"
)

// NoiseToSignal returns how long the noise of a training by steps on all records is, in parts of the longest
// sum of gradients that any records have; 0 of other methods. From 1 on a model is expected to be hardly
// better than a constant: at 1 a Forecast of two classes by made-up records, of which the best model has an
// accuracy of 0.75 to 0.9, is 0.52 to 0.58. It follows from the price alone, so that it is public.
//
// n gradients of norm at most C add up to nC. T steps of deviation σ have the noise of one of σ/√T, whose
// length in m dimensions is √m·σ/√T. C is the sensitivity, or its half where a record is replaced.
func NoiseToSignal(p train.Price) float64 {
	if p.Method != "dp-sgd" || p.Bound != accountant.MethodGaussian || len(p.Blocks) != 1 || p.Chosen {
		return 0
	}
	b := p.Blocks[0]
	longest := b.Sensitivity
	if p.Relation == accountant.ReplaceOne {
		longest /= 2
	}
	return math.Sqrt(float64(p.Dim)/float64(b.Releases)) * b.Deviation / (float64(p.Records) * longest)
}
