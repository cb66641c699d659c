package choose

import "github.com/darrm/darrm/gamma"

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
	var all, tied float64
	var leads [2]float64
	for ones, n := range counts {
		all += n
		switch zeros := len(counts) - 1 - ones; {
		case ones > zeros:
			leads[1] += n
		case ones < zeros:
			leads[0] += n
		default:
			tied += n
		}
	}
	if leads[1] > leads[0] {
		a.Class = 1
	}
	a.Agreement = (leads[a.Class] + tied) / all
	missed, err := gamma.Disagreement(c.Noise.Func(), counts)
	a.Labels = 1 - missed
	return a, err == nil && max(leads[0], leads[1])-min(leads[0], leads[1]) > alike*all
}

// alike is the share of queries below which the two classes lead equally often: sums round.
const alike = 1e-9
