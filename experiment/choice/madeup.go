package choice

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/learn/data"
	"github.com/darrm/darrm/learn/prepare"
)

// madeUp is a made-up table of a stated kind: columns from -1 to 1, or from 0 to 1, and responses by a linear law of
// them, which is logistic for classes, and has normal noise for numbers.
type madeUp struct {
	Name     string  `json:"name"`
	Title    string  `json:"title"`
	Records  int     `json:"records"`
	Features int     `json:"features"`
	Classes  int     `json:"classes"` // 0 for numbers
	Law      string  `json:"law"`     // of features
	Relevant int     `json:"relevant"`
	Strength float64 `json:"strength"` // deviation of a score, or of a number's part that features tell
	Shift    float64 `json:"shift"`    // of the score of the last class
}

// The laws of features.
const (
	even       = "even"       // uniform
	correlated = "correlated" // half of each is one of two common factors
	sparse     = "sparse"     // 0 but for one in twenty
	skewed     = "skewed"     // from 0 to 1, most near 0, as amounts are
)

var laws = []string{even, correlated, sparse, skewed}

func (m madeUp) validate() error {
	err := cmp.Or(check.Whole("records", m.Records, 4, 1<<20), check.Whole("features", m.Features, 1, 2000),
		check.Whole("classes", m.Classes, 0, 1000), check.Whole("relevant", m.Relevant, 1, 1<<20),
		check.UpTo("strength", m.Strength, 1e3))
	if err == nil && m.Classes == 1 {
		err = check.Want("classes", 1, "0 for numbers, or 2 at least")
	}
	if err == nil && !(math.Abs(m.Shift) <= 1e3) {
		err = check.Want("shift", m.Shift, "between -1000 and 1000")
	}
	if err == nil && !slices.Contains(laws, m.Law) {
		err = check.Want("law", fmt.Sprintf("%q", m.Law), "one of "+strings.Join(laws, ", "))
	}
	return err
}

// task returns the task of package choose.
func (m madeUp) task() string {
	if m.Classes == 0 {
		return "linear"
	}
	return "logistic"
}

// fill draws a record.
func (m madeUp) fill(x []float64, rng *rand.Rand) {
	var common [2]float64
	for k := range common {
		common[k] = 2*rng.Float64() - 1
	}
	for j := range x {
		u := rng.Float64()
		switch m.Law {
		case even:
			x[j] = 2*u - 1
		case correlated:
			x[j] = float64(0.3*(2*u-1)) + float64(0.7*common[j%2])
		case sparse:
			if x[j] = 0; rng.IntN(20) == 0 {
				x[j] = u
			}
		case skewed:
			x[j] = float64(u*u) * float64(u*u)
		}
	}
}

// records draws the table. A center is that of the ranges [0,1].
func (m madeUp) records(seed uint64, center string) (records, error) {
	rng := rand.New(rand.NewPCG(seed, 77))
	n, d, scores := m.Records, m.Features, max(1, m.Classes)
	if m.Classes == 2 {
		scores = 1
	}
	x := make([]float64, n*d)
	for i := range n {
		m.fill(x[i*d:(i+1)*d], rng)
	}
	z := make([][]float64, scores)
	for k := range z {
		w := make([]float64, d)
		for range min(d, m.Relevant) {
			w[rng.IntN(d)] += rng.NormFloat64()
		}
		z[k] = make([]float64, n)
		mean, square := 0.0, 0.0
		for i := range n {
			for j, v := range x[i*d : (i+1)*d] {
				z[k][i] += float64(w[j] * v)
			}
			mean += z[k][i] / float64(n)
		}
		for _, v := range z[k] {
			square += (v - mean) * (v - mean) / float64(n)
		}
		for i := range n {
			z[k][i] = (z[k][i] - mean) * m.Strength / math.Sqrt(square)
		}
	}
	y := make([]float64, n)
	for i := range n {
		switch m.Classes {
		case 0:
			y[i] = max(-1, min(1, float64(0.3*z[0][i])+float64(0.3*rng.NormFloat64())))
		case 2:
			if rng.Float64() < 1/(1+math.Exp(-z[0][i]-m.Shift)) {
				y[i] = 1
			}
		default: // the largest of scores with Gumbel noise
			best := math.Inf(-1)
			for k := range z {
				v := z[k][i] - math.Log(rng.ExpFloat64())
				if k == m.Classes-1 {
					v += m.Shift
				}
				if v > best {
					best, y[i] = v, float64(k)
				}
			}
		}
	}
	if center != prepare.Zero && (m.Law == sparse || m.Law == skewed) {
		for j := range x {
			x[j] = 2*x[j] - 1
		}
	}
	r, err := data.NewRecords(n, d, x, y)
	if err != nil {
		return records{}, fmt.Errorf("%s: %w", m.Name, err)
	}
	return records{all: r, bound: math.Sqrt(float64(d))}, nil
}
