package choose

import (
	"math"

	"github.com/darrm/darrm/gamma"
	"github.com/darrm/darrm/plan"
)

// Always is always one class as the answer, by public counts of votes, beside the labels of a Choice.
type Always struct {
	Class     int
	Agreement float64 // of that answer with the majority; a tie agrees
	Labels    float64 // of the labels
}

// Always returns the class that agrees most often by the public counts that the noise function was
// solved for. It is not ok without such counts, and where they treat the two classes alike, as every
// prior does that is no file.
func (c Choice) Always() (a Always, ok bool) {
	if c.Noise == nil || c.Noise.Counts == nil {
		return a, false
	}
	counts := c.Noise.Counts
	k := len(counts) - 1
	law, err := plan.NewSample(k, 2)
	for ones, n := range counts {
		if err == nil && n > 0 {
			err = law.AddTimes([]int{k - ones, ones}, n)
		}
	}
	if err != nil {
		return a, false
	}
	if a.Class, a.Agreement, ok = law.Always(); !ok {
		return a, false
	}
	missed, err := gamma.Disagreement(c.Noise.Func(), counts)
	a.Labels = 1 - missed
	leads := law.Leads()
	return a, err == nil && math.Abs(leads[1]-leads[0]) > alike
}

// alike is the share of queries below which the two classes lead equally often: sums round.
const alike = 1e-9
