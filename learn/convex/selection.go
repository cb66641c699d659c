package convex

import (
	"fmt"
	"math"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/noise"
	"github.com/darrm/darrm/internal/randsrc"
	"github.com/darrm/darrm/learn/data"
)

// Selection is a private way to choose the vertex of least score.
//
// Scores are integers here, in units of 2⁻³⁰ of the noise's scale s: floats are rounded
// before noise is added, and the account is for what the rounded scores can do. Let δ_v be the
// change of vertex v's score between neighbours; then only the range max δ - min δ matters,
// since a change that all scores share changes no law. With ε₀ = range/2³⁰:
//
//   - exponential: Pr[v] ∝ e^{-score/2³⁰}, whose privacy loss lies in an interval of length
//     ε₀ (accountant.BoundedRange). Under composition that costs a quarter of an ε₀-DP step.
//   - permute-and-flip has the law of a noisy minimum with one-sided exponential noise (Ding
//     and others, The Permute-and-Flip Mechanism Is Identical to Report-Noisy-Max with
//     Exponential Noise, 2021). Shift v's own noise by the range: where v was the least it
//     still is, and the density falls by at most e^{-ε₀}. So it is ε₀-DP, as laplace is, and
//     its scores are never worse in expectation.
//   - laplace adds discrete Laplace noise to each score. The same shift by the range, an
//     integer, leaves every comparison with another vertex at least as good for v, ties
//     included, and falls in probability by e^{-ε₀}.
type Selection string

// The selections.
const (
	Exponential Selection = "exponential" // the default
	// never worse than Laplace at the same cost by itself
	PermuteAndFlip Selection = "permute-and-flip"
	LaplaceNoise   Selection = "laplace" // as the source prints it
)

// Rule names the known bound on the change of scores between neighbours.
type Rule string

// The rules.
const (
	Range Rule = "range" // max δ - min δ is at most D·‖g-g′‖: true for linear scores; the default
	Sup   Rule = "sup"   // only that each |δ| is at most D·‖g-g′‖, so the range twice that
)

// selectionScale is s in units of scores, 2³⁰.
const selectionScale = 1 << 30

// choice is the selection mechanism of a plan and the rule for its scores.
type choice struct {
	kind Selection
	rule Rule
}

// newChoice resolves the defaults. The printed noise is Laplace's.
func newChoice(kind Selection, rule Rule, n Noise) (choice, error) {
	if kind == "" {
		kind = Exponential
		if n == Printed {
			kind = LaplaceNoise
		}
	}
	kind, err := check.OneOf("selection", kind, Exponential, PermuteAndFlip, LaplaceNoise)
	if err == nil {
		rule, err = check.OneOf("rule", rule, Range, Sup)
	}
	return choice{kind, rule}, err
}

// inUse is the reading of the row in use.
func (c choice) inUse() string { return "in use: " + string(c.kind) + " by " + string(c.rule) }

// epsilon returns ε₀ of a step in which the range of scores changes by at most so many units,
// rounded up.
func (c choice) epsilon(units float64) float64 {
	if c.rule == Sup {
		units *= 2
	}
	return units / selectionScale * (1 + 0x1p-48)
}

// event returns the step's event.
func (c choice) event(eps float64, relation accountant.Relation) accountant.Event {
	if c.kind == Exponential {
		return accountant.BoundedRange{Epsilon: eps, Neighbours: relation}
	}
	return accountant.ApproxDP{Cost: accountant.Cost{Epsilon: eps}, Neighbours: relation}
}

// rho returns the step's ρ of zero-concentrated differential privacy, rounded up.
func (c choice) rho(eps float64) float64 {
	if c.kind == Exponential {
		return eps * eps / 8 * (1 + 0x1p-48)
	}
	return eps * eps / 2 * (1 + 0x1p-48)
}

// deviation returns the standard deviation of the noise on a score whose scale is s: of
// Laplace, exponential or Gumbel noise, of which the exponential mechanism is the noisy
// minimum.
func (c choice) deviation(s float64) float64 {
	switch c.kind {
	case LaplaceNoise:
		return s * math.Sqrt2
	case Exponential:
		return s * math.Pi / math.Sqrt(6)
	}
	return s
}

// picker draws vertices by their scores.
type picker interface {
	pick(scores []int64) (int, error)
}

// noisy is the picker of a choice.
type noisy struct {
	kind    Selection
	src     randsrc.Source
	laplace noise.Laplace
	buffer  []int64
	flips   []int
}

func newNoisy(kind Selection, src randsrc.Source) (*noisy, error) {
	law, err := noise.NewLaplace(selectionScale, 1)
	return &noisy{kind: kind, src: src, laplace: law}, err
}

func (c *noisy) pick(scores []int64) (int, error) {
	switch c.kind {
	case Exponential:
		levels, err := noise.NewLevels(scores, selectionScale)
		if err != nil {
			return 0, err
		}
		return levels.Sample(c.src)
	case PermuteAndFlip:
		c.flips = c.flips[:0]
		for _, s := range scores {
			c.flips = append(c.flips, int(-s))
		}
		return noise.PermuteAndFlip(c.src, c.flips, 1, selectionScale)
	case LaplaceNoise:
		c.buffer = c.buffer[:0]
		for _, s := range scores {
			y, err := c.laplace.Sample(c.src)
			if err != nil {
				return 0, err
			}
			c.buffer = append(c.buffer, -(s + y))
		}
		return noise.ArgMax(c.src, c.buffer)
	}
	return 0, fmt.Errorf("selection %q", c.kind) // newChoice lets no other through
}

// least is the picker without noise: the first vertex of least score. For tests.
type least struct{}

func (least) pick(scores []int64) (int, error) {
	best := 0
	for i, s := range scores {
		if s < scores[best] {
			best = i
		}
	}
	return best, nil
}

// maxUnits keeps scores and their noise within 62 bits.
const maxUnits = 1 << 61

// fits refuses scores beyond what the samplers take.
func (c choice) fits(bound float64) error {
	if !(bound <= maxUnits) {
		return check.Want("target epsilon", fmt.Sprintf("for scores up to %.3g units", bound),
			"less: the noise would be too small for exact samplers")
	}
	if c.kind == Exponential {
		if err := noise.LevelsFit(int64(bound), selectionScale); err != nil {
			return check.SettledBy(fmt.Errorf("epsilon is too large for the exponential mechanism: %w", err),
				"selection=permute-and-flip")
		}
	}
	return nil
}

// integers is a dense matrix of rounded features, a record a row. Its products with integers are
// exact in any order and on any machine, which sums of floats are not.
type integers struct {
	d int
	x []int32
}

// Records are dense where denseShare of denseParts of their features are not 0. A dense product
// takes about as long as adding the rows of one record in denseParts.
const (
	denseShare = 1
	denseParts = 4
)

// integers returns the features rounded towards 0.
func (p *frankWolfePlan) integers(rows *data.Sparse) *integers {
	m := &integers{d: p.d, x: make([]int32, p.n*p.d)}
	for i := range p.n {
		columns, values := rows.Row(i)
		row := m.x[i*p.d : (i+1)*p.d]
		for k, j := range columns {
			row[j] = int32(p.feature(values[k]))
		}
	}
	return m
}

// add adds the product of the transposed matrix and a vector to sum. Four rows at once read and
// write each sum once, so that the time is that of reading the matrix.
func (m *integers) add(sum, by []int64) {
	x := m.x
	for ; len(by) >= 4; by, x = by[4:], x[4*m.d:] {
		by0, by1, by2, by3 := by[0], by[1], by[2], by[3]
		if by0|by1|by2|by3 == 0 {
			continue
		}
		x0, x1, x2, x3 := x[:m.d], x[m.d:2*m.d], x[2*m.d:3*m.d], x[3*m.d:4*m.d]
		s := sum[:len(x0)]
		x1, x2, x3 = x1[:len(x0)], x2[:len(x0)], x3[:len(x0)]
		for j, v := range x0 {
			s[j] += by0*int64(v) + by1*int64(x1[j]) + by2*int64(x2[j]) + by3*int64(x3[j])
		}
	}
	for i, b := range by {
		for j, v := range x[i*m.d : (i+1)*m.d] {
			sum[j] += b * int64(v)
		}
	}
}
