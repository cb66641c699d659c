package labellaw

import (
	"cmp"
	"math"
	"slices"

	"github.com/darrm/darrm/internal/check"
)

// Channel is the law of a label by the class that has the most votes.
type Channel struct {
	Classes  int     // C, from 2 on
	Agrees   float64 // a in [0,1]: the label is that class; of a tie, a class that is drawn from it
	Abstains float64 // n in [0, 1-a]: the label is no class
	// Apart is T of classes that are told apart, nil of classes that are alike. Labels are then classes, and a is the
	// mean of its diagonal by the classes' shares.
	Apart [][]float64
}

// Validate returns an error naming the first field that breaks its rule.
func (c Channel) Validate() error {
	if err := cmp.Or(check.Classes(c.Classes), check.Probability("agreement", c.Agrees)); err != nil {
		return err
	}
	if !(c.Abstains >= 0 && c.Agrees+c.Abstains <= 1+rounding) {
		return check.Want("share of abstentions", c.Abstains, "at least 0, and at most 1 together with the agreement")
	}
	if c.Apart == nil {
		return nil
	}
	if len(c.Apart) != c.Classes || c.Abstains != 0 {
		return check.Wantf("laws of classes that are told apart", len(c.Apart), "one for each of the %d, and labels that are classes", c.Classes)
	}
	for _, row := range c.Apart {
		if err := checkShares(row, c.Classes); err != nil {
			return err
		}
	}
	return nil
}

// rounding is by how much sums of probabilities may miss 1.
const rounding = 1e-9

// other returns the probability of each class that does not have the most votes.
func (c Channel) other() float64 {
	return max(0, 1-c.Agrees-c.Abstains) / float64(c.Classes-1)
}

// columns returns the number of labels: one more than classes where no class is one.
func (c Channel) columns() int {
	if c.Abstains > 0 {
		return c.Classes + 1
	}
	return c.Classes
}

// Transition returns T, a row for each class. Abstaining, where it occurs, is the last column.
func (c Channel) Transition() [][]float64 {
	t := make([][]float64, c.Classes)
	for class, row := range c.Apart {
		t[class] = slices.Clone(row)
	}
	if c.Apart != nil {
		return t
	}
	for class := range t {
		row := slices.Repeat([]float64{c.other()}, c.columns())
		row[class] = c.Agrees
		if c.Abstains > 0 {
			row[c.Classes] = c.Abstains
		}
		t[class] = row
	}
	return t
}

// Equal returns equal shares of the given number of classes.
func Equal(classes int) []float64 { return slices.Repeat([]float64{1 / float64(classes)}, classes) }

// checkShares refuses shares that do not fit the number of classes: each is at least 0, and they sum to 1.
func checkShares(shares []float64, classes int) error {
	sum := 0.0
	for _, s := range shares {
		if !(s >= 0 && s <= 1) {
			return check.Want("share of a class", s, "in [0,1]")
		}
		sum += s
	}
	if len(shares) != classes {
		return check.Wantf("shares", len(shares), "one for each of the %d classes", classes)
	}
	if math.Abs(sum-1) > rounding {
		return check.Want("sum of the shares", sum, "1")
	}
	return nil
}

// diagonal returns Σ_c π_c·T[c][c].
func (c Channel) diagonal(shares []float64) (sum float64) {
	for class, row := range c.Transition() {
		sum += float64(shares[class] * row[class])
	}
	return min(1, sum)
}

// Labels returns q = πT, the law of a label by the classes' shares.
func (c Channel) Labels(shares []float64) []float64 {
	q := make([]float64, c.columns())
	for class, row := range c.Transition() {
		for y, p := range row {
			q[y] += shares[class] * p
		}
	}
	return q
}

// ChiSquare returns χ²(π, T) = Σ_y Σ_c π_c·(T[c][y]-q_y)²/q_y, in [0, C-1].
func (c Channel) ChiSquare(shares []float64) float64 {
	return c.divergence(shares, func(t, q float64) float64 { return (t - q) * (t - q) / q })
}

// Information returns MI(π, T) = Σ_c Σ_y π_c·T[c][y]·ln(T[c][y]/q_y), what a label tells of the class,
// in nats.
func (c Channel) Information(shares []float64) float64 {
	return c.divergence(shares, func(t, q float64) float64 {
		if t == 0 {
			return 0
		}
		return t * math.Log(t/q)
	})
}

func (c Channel) divergence(shares []float64, of func(t, q float64) float64) float64 {
	q, sum := c.Labels(shares), 0.0
	for class, row := range c.Transition() {
		for y, t := range row {
			if q[y] > 0 && shares[class] > 0 {
				sum += shares[class] * of(t, q[y])
			}
		}
	}
	return max(0, sum)
}

// Posterior returns, for each label, the probability of each class behind it. A label that never occurs
// has the shares themselves.
func (c Channel) Posterior(shares []float64) [][]float64 {
	q, t := c.Labels(shares), c.Transition()
	out := make([][]float64, len(q))
	for y := range q {
		out[y] = slices.Clone(shares)
		for class := range shares {
			if q[y] > 0 {
				out[y][class] = shares[class] * t[class][y] / q[y]
			}
		}
	}
	return out
}

// Worth returns how many labels without noise carry as much as the given number of these, by shares π of the
// classes: labels·χ²/(C-1). With equal shares, and where no label is missing, that is labels·ρ²,
// ρ = (C·a-1)/(C-1).
func (c Channel) Worth(shares []float64, labels int) float64 {
	if c.Classes < 2 || len(shares) != c.Classes {
		return 0
	}
	return float64(labels) * c.ChiSquare(shares) / float64(c.Classes-1)
}
