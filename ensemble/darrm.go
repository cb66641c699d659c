package ensemble

import (
	"errors"
	"fmt"
	"math"
	"sync"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/constraints"
	"github.com/darrm/darrm/gamma"
	"github.com/darrm/darrm/internal/handle"
	"github.com/darrm/darrm/internal/randsrc"
)

// DaRRM returns the mechanism of a certified noise function over two classes: with
// probability |γ(L)| it answers the majority of the teachers, or the minority where γ(L) is below
// 0, otherwise a fair coin. L is counts[1]. Randomised response and subsampling are DaRRM with
// their own γ (see Baseline), and so is the best mechanism for teachers without privacy (ε = ∞).
// The relation is that of the teachers' own promise, or that for which affected was counted where
// they have none. Nothing says how good such a function is, so the Name is OtherTable; see [Optimal].
//
// Source: S. Jiang, Communication Efficient and Differentially Private Optimization (2025),
// Algorithm 1.
func DaRRM(c *gamma.Certified, neighbours accountant.Relation) (*Mechanism, error) {
	if c == nil || c.Problem().K < 1 {
		return nil, errors.New("DaRRM needs a certified noise function")
	}
	c = handle.Copy(c)
	p := c.Problem()
	s := Setting{K: p.K, Classes: 2, Affected: p.Affected, Neighbours: neighbours}
	if err := s.Validate(); err != nil {
		return nil, err
	}
	eps, delta := p.Total()
	cost := accountant.Cost{Epsilon: eps, Delta: delta}
	m := &Mechanism{
		name: OtherTable, setting: s, cost: cost,
		event:    known(accountant.ApproxDP{Cost: cost, Neighbours: neighbours}),
		basis:    certificateBasis(c),
		assumes:  append(teachersPromise(p), s.affectedInWords()),
		anyVotes: math.IsInf(p.Epsilon, 1),
		rule:     darrm{c.Func()},
		noise:    c,
		figures:  Figures{M: p.M},
	}
	if m.anyVotes {
		m.joint = sync.OnceValue(func() *JointPrice { return jointOfNoise(c) })
	}
	return m, nil
}

// Optimal returns DaRRM with the noise function of a table, under the name of the optimum that the
// table's proof is about: OptimalTeachers, or OptimalCounts where the teachers promise nothing. Without
// a proof it is OtherTable.
func Optimal(t *gamma.Table, neighbours accountant.Relation) (*Mechanism, error) {
	if t == nil {
		return nil, errors.New("DaRRM needs a certified noise function")
	}
	m, err := DaRRM(t.Certified, neighbours)
	if err == nil {
		m.name = NoiseName(t)
	}
	return m, err
}

// NoiseName returns the Name of [Optimal] of a table.
func NoiseName(t *gamma.Table) string {
	switch {
	case t == nil || !t.Bounded():
		return OtherTable
	case math.IsInf(t.Problem().Epsilon, 1):
		return OptimalCounts
	}
	return OptimalTeachers
}

// Baseline returns the mechanism of a baseline: DaRRM with its noise function, under the
// baseline's name. What it needs of the teachers is what DaRRM needs.
func Baseline(b gamma.Named, neighbours accountant.Relation) (*Mechanism, error) {
	m, err := DaRRM(b.Certified, neighbours)
	if err != nil {
		return nil, err
	}
	m.name, m.figures = b.Name, Figures{Drawn: b.Drawn}
	return m, nil
}

func certificateBasis(c *gamma.Certified) string {
	if c.Certificate().Method == gamma.PostProcessing {
		return "the teachers' own privacy: the answer is computed from their votes"
	}
	return "a certificate that every privacy constraint holds, rounding errors included"
}

func teachersPromise(p constraints.Problem) []string {
	if math.IsInf(p.Epsilon, 1) {
		return []string{"the teachers need no privacy of their own"}
	}
	return []string{
		fmt.Sprintf("each teacher's vote is (%g, %g)-differentially private by itself", p.Epsilon,
			p.TeacherDelta),
		"the teachers vote independently of each other",
	}
}

// darrm is DaRRM by itself.
type darrm struct{ gamma gamma.Func }

func (d darrm) draw(src randsrc.Source, counts []int) (int, error) {
	one, err := d.answer(src, counts[1])
	if err != nil || !one {
		return 0, err
	}
	return 1, nil
}

// answer draws the answer. Both draws are made whatever the votes are, so that the number
// of draws says nothing about them.
func (d darrm) answer(src randsrc.Source, ones int) (bool, error) {
	n := d.gamma.Numerator(ones)
	told, err := randsrc.Bernoulli53(src, uint64(max(n, -n)))
	if err != nil {
		return false, err
	}
	coin, err := src.Bit()
	if err != nil {
		return false, err
	}
	if told { // at a tie only where the labels have names, and then of label 1
		return 2*ones >= d.gamma.K() == (n > 0), nil
	}
	return coin, nil
}

func (d darrm) exact() string { return "" }

func (d darrm) law(counts []int) []float64 {
	const whole = 2 * uint64(gamma.One)
	one := d.numeratorOfOne(counts[1])
	return []float64{float64(whole-one) / float64(whole), float64(one) / float64(whole)}
}

// numeratorOfOne returns Pr[answer 1 | L = ones] as a numerator over 2⁵⁴, which is exact:
//
//	(2⁵³ + sign(L-K/2)·γ(L)·2⁵³) / 2⁵⁴
func (d darrm) numeratorOfOne(ones int) uint64 {
	if 2*ones >= d.gamma.K() { // γ is 0 at a tie, or label 1's
		return uint64(gamma.One + d.gamma.Numerator(ones))
	}
	return uint64(gamma.One - d.gamma.Numerator(ones))
}

// OptimalTables returns the optimal noise functions that a comparison shows: the one for the
// teachers of p, and the one for teachers that promise nothing, with the same promise of a label. No
// mechanism on the two counts is better than the second. Where p's teachers promise nothing, the two
// are the same. solve returns the optimum of a problem.
func OptimalTables(p constraints.Problem, solve func(constraints.Problem) (*gamma.Certified,
	error)) ([]NamedTable, error) {
	if solve == nil {
		return nil, errors.New("solve must be given: a function that returns the optimum of a problem")
	}
	var tables []NamedTable
	if !math.IsInf(p.Epsilon, 1) {
		own, err := solve(p)
		if err != nil {
			return nil, err
		}
		tables = append(tables, NamedTable{Name: OptimalTeachers, Noise: own})
		total, _ := p.Total()
		p.M, p.TotalEpsilon, p.Epsilon, p.TeacherDelta = 0, total, math.Inf(1), 0
	}
	counts, err := solve(p)
	if err != nil {
		return nil, err
	}
	return append(tables, NamedTable{Name: OptimalCounts, Noise: counts}), nil
}
