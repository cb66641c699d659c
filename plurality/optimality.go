package plurality

import (
	"fmt"
	"math"
	"math/big"

	"github.com/darrm/darrm/internal/handle"
)

// Proof proves an upper bound on the value of every private mechanism: multipliers y ≥ 0 of some
// privacy rows. Rows serve δ = 0 and Pairs δ > 0. The empty Proof is valid and shows that no value
// is above that of knowing the plurality.
type Proof struct {
	Rows  []RowMultiplier
	Pairs []PairMultiplier
}

// RowMultiplier is a row p(I) ≤ e^ε·p(J) and its multiplier.
type RowMultiplier struct {
	I, J  int // variables
	Value float64
}

// PairMultiplier is an ordered pair of neighbouring histograms and the multipliers of its
// columns, in the order of Pair.Columns.
type PairMultiplier struct {
	From    int       `json:"from"` // histogram
	Changes []Change  `json:"changes"`
	Values  []float64 `json:"values"`
}

// UpperBound returns a number that no private mechanism's value can exceed. With
// r = w·m·[plurality class] - Gᵀy, where G's rows are e_i - E⁺e_j, it is
//
//	U(y) = Σ_λ max_v r(λ,v)/m(λ,v)  +  δ·Σ_pairs max_k y_k/n_k
//
// since -y·Gp ≥ 0 (at least -δ·max y_k/n_k for a pair) for every private p, and p is in a simplex
// for each histogram. Proved by machine for exact numbers: upper_bound in proofs/ManyVotes.v,
// many_optimal in proofs/ManyBound.v. So the multipliers may come from anyone. Everything is
// rounded up. The error names a multiplier that is not finite and ≥ 0 or whose row is none of the
// problem's.
func (s *System) UpperBound(w Weights, abstainValue float64, proof Proof) (float64, error) {
	s = handle.Made(s)
	gain := make([]float64, s.Variables()) // the positive and the negative part of r
	loss := make([]float64, s.Variables())
	terms := make([]int32, s.Variables())
	add := func(i, j int, y float64) {
		loss[i] += y
		gain[j] += float64(y * s.above)
		terms[i]++
		terms[j]++
	}
	allowance := 0.0 // Σ max y/n
	switch {
	case s.problem.Delta == 0 && len(proof.Pairs) > 0:
		return 0, fmt.Errorf("the proof has multipliers of pairs, but δ is 0")
	case s.problem.Delta > 0 && len(proof.Rows) > 0:
		return 0, fmt.Errorf("the proof has multipliers of rows, but δ is above 0")
	}
	for n, m := range proof.Rows {
		if err := checkMultiplier(n, m.Value); err != nil {
			return 0, err
		}
		if !s.row(m.I, m.J, s.problem.Affected) {
			return 0, fmt.Errorf("multiplier %d is of variables %d and %d, which are no row", n, m.I, m.J)
		}
		add(m.I, m.J, m.Value)
	}
	for n, m := range proof.Pairs {
		pair, ok := s.Between(m.From, s.problem.Affected, m.Changes)
		if !ok || len(m.Values) != len(pair.Columns) {
			return 0, fmt.Errorf("multiplier %d is of no pair of neighbouring histograms", n)
		}
		most := 0.0
		for k, c := range pair.Columns {
			if err := checkMultiplier(n, m.Values[k]); err != nil {
				return 0, err
			}
			most = max(most, up(m.Values[k]/float64(c.Classes)))
			add(c.I, c.J, m.Values[k])
		}
		allowance += most
	}
	extra := 0.0
	if allowance > 0 {
		extra = up(rounded(allowance, int32(len(proof.Pairs))) * s.deltaUp)
	}
	return s.Ceiling(w, abstainValue, gain, loss, terms, extra), nil
}

// Ceiling returns Σ_λ max_v r(λ,v)/m(λ,v) + extra, at most 1 and rounded up, where
//
//	r = w·m·[plurality class] + abstainValue·w·[abstaining] + gain - loss
//
// Each gain and loss of a variable is a float64 sum of at most terms numbers ≥ 0. Those of gain may
// be off by one rounding each, and those of loss are not above what they stand for.
func (s *Space) Ceiling(w Weights, abstainValue float64, gain, loss []float64, terms []int32,
	extra float64) float64 {
	s = handle.Made(s)
	// No mechanism is better than one that is always right.
	return min(1, s.CeilingOf(func(h, i int) float64 { return s.worth(w.High, abstainValue, h, i) }, gain, loss, terms, extra))
}

// CeilingOf is Ceiling, without its limit of 1, for what a variable i of histogram h is worth, rounded up, in the
// place of w·m·[plurality class] + abstainValue·w·[abstaining].
func (s *Space) CeilingOf(worth func(h, i int) float64, gain, loss []float64, terms []int32, extra float64) float64 {
	s = handle.Made(s)
	if worth == nil {
		return math.Inf(1)
	}
	total := outward(big.ToPositiveInf)
	for h := range s.Histograms() {
		first, end := s.Range(h)
		best := math.Inf(-1)
		for i := first; i < end; i++ {
			r := up(worth(h, i) + rounded(gain[i], terms[i]))
			r = up(r - down(loss[i]*(1-float64(float64(terms[i]+2)*0x1p-53))))
			best = max(best, up(r/float64(s.classesOf[i])))
		}
		if !(best < math.MaxFloat64) { // NaN too, after multipliers whose sums overflow
			return math.Inf(1)
		}
		total.Add(total, big.NewFloat(best))
	}
	if !(extra < math.MaxFloat64) {
		return math.Inf(1)
	}
	total.Add(total, big.NewFloat(extra))
	bound, accuracy := total.Float64()
	if accuracy == big.Below {
		bound = up(bound)
	}
	return bound
}

// outward returns 0 for sums that are rounded one way only.
func outward(mode big.RoundingMode) *big.Float {
	return new(big.Float).SetPrec(128).SetMode(mode)
}

func checkMultiplier(n int, y float64) error {
	if !(y >= 0) || math.IsInf(y, 1) {
		return fmt.Errorf("multiplier %d = %v, but it must be finite and ≥ 0", n, y)
	}
	return nil
}

// worth returns what one unit of p(i) adds to the value: w·m for the plurality classes.
func (s *Space) worth(weights []float64, abstainValue float64, h, i int) float64 {
	switch {
	case i == int(s.start[h]):
		return up(weights[h] * float64(s.classesOf[i]))
	case s.votes[i] == Abstained:
		return up(weights[h] * abstainValue)
	}
	return 0
}

// rounded returns an upper bound on a sum of n products of numbers ≥ 0 that was formed
// in float64 as x: each operation is off by at most 2⁻⁵³ of its result.
func rounded(x float64, n int32) float64 { return up(x * (1 + float64(float64(n+2)*0x1p-52))) }

func up(x float64) float64   { return math.Nextafter(x, math.Inf(1)) }
func down(x float64) float64 { return math.Nextafter(x, math.Inf(-1)) }

// Value returns the value of masses, one for each variable, under the weights: the probability that
// the answer is a plurality class, plus abstainValue times that of abstaining, rounded down.
func (s *Space) Value(w Weights, abstainValue float64, masses []uint64) float64 {
	sum, product := outward(big.ToNegativeInf), outward(big.ToNegativeInf)
	add := func(weight *big.Float, mass uint64) {
		sum.Add(sum, product.Mul(weight, new(big.Float).SetUint64(mass)))
	}
	worth := outward(big.ToNegativeInf)
	for h, weight := range w.Low {
		first, end := s.Range(h)
		add(big.NewFloat(weight), masses[first])
		if s.abstain {
			add(worth.Mul(big.NewFloat(weight), big.NewFloat(abstainValue)), masses[end-1])
		}
	}
	// In big.Float nothing underflows before the end.
	v, accuracy := sum.Quo(sum, new(big.Float).SetUint64(One)).Float64()
	if accuracy == big.Above {
		v = down(v)
	}
	return v
}

// Margin summarises the histograms whose first class leads by Lead to Most votes, under a table's
// objective, as float64.
type Margin struct {
	Lead, Most int
	Share      float64 // how often they occur
	// Right and Abstained are the probabilities of a plurality class, and of no class, given
	// that lead.
	Right, Abstained float64
	Baselines        []float64 // Right of Table.Baselines, in their order
}

// Margins returns the leads that occur, ascending. A lead of 0 is a tie, of which any class
// with the most votes is right. Neighbouring leads but ties are taken together as long as they
// occur with probability least at most; 0 keeps them apart.
func (t *Table) Margins(least float64) []Margin {
	if t == nil || t.Problem().K < 1 {
		return nil
	}
	s := t.system
	others := s.baselines()
	byLead := make([]Margin, s.k+1)
	for h, weight := range t.weights.Low {
		first, end := s.Range(h)
		lead := s.lead(h)
		m := &byLead[lead]
		if m.Baselines == nil {
			*m = Margin{Lead: lead, Most: lead, Baselines: make([]float64, len(others))}
		}
		m.Share += weight
		m.Right += float64(weight * float64(t.masses[first]) / float64(One))
		if s.abstain {
			m.Abstained += float64(weight * float64(t.masses[end-1]) / float64(One))
		}
		for b, p := range others {
			m.Baselines[b] += float64(weight * p.probabilities[first] * float64(s.classesOf[first]))
		}
	}
	var out []Margin
	for _, m := range byLead {
		if last := len(out) - 1; m.Share == 0 {
			continue
		} else if last >= 0 && out[last].Lead > 0 && out[last].Share+m.Share <= least {
			out[last].add(m)
		} else {
			out = append(out, m)
		}
	}
	for i := range out {
		m := &out[i]
		m.Right /= m.Share
		m.Abstained /= m.Share
		for b := range m.Baselines {
			m.Baselines[b] /= m.Share
		}
	}
	return out
}

// add adds the leads of n, which are the next, before any division.
func (m *Margin) add(n Margin) {
	m.Most = n.Most
	m.Share += n.Share
	m.Right += n.Right
	m.Abstained += n.Abstained
	for b, x := range n.Baselines {
		m.Baselines[b] += x
	}
}

// lead returns by how many votes the first class of histogram h leads; 0 for a tie.
func (s *Space) lead(h int) int {
	first, _ := s.Range(h)
	if s.classesOf[first] > 1 {
		return 0
	}
	return s.Votes(first) - s.Votes(first+1) // there are two classes at least
}
