package plurality

import (
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/integrate/quad"

	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/handle"
	"github.com/darrm/darrm/internal/num"
	"github.com/darrm/darrm/internal/strictjson"
)

// Table is a certified mechanism with all that is known about it: what it is to be best
// at, and how far from the best it can be at most.
type Table struct {
	*Certified
	Objective  Objective
	Proof      Proof
	Value      float64 // of the mechanism under the objective, rounded down
	UpperBound float64 // no private mechanism has a larger value
	Gap        float64 // UpperBound - Value ≥ 0, rounded up
	Solver     string  // what proposed the masses; nothing rests on it
	Version    string  // the program that wrote the table

	weights Weights // of Objective
}

// Bounded reports whether it is proved how far the table is from the optimum: it has a proof, or none
// can be better.
func (t *Table) Bounded() bool {
	t = handle.Made(t)
	return len(t.Proof.Rows)+len(t.Proof.Pairs) > 0 || t.Gap == 0
}

// NewTable works out the value of c and the bound that proof shows. The error is what is wrong with
// o or proof, or ctx.Err().
func NewTable(ctx context.Context, c *Certified, o Objective, proof Proof) (*Table, error) {
	if c.Problem().K < 1 {
		return nil, errUncertified
	}
	if err := o.Validate(c.Problem()); err != nil {
		return nil, err
	}
	w, err := o.Weights(ctx, c.system.Space)
	if err != nil {
		return nil, err
	}
	return NewWeightedTable(c, o, w, proof)
}

// NewWeightedTable is NewTable where the objective's weights are known.
func NewWeightedTable(c *Certified, o Objective, w Weights, proof Proof) (*Table, error) {
	if c.Problem().K < 1 {
		return nil, errUncertified
	}
	bound, err := c.system.UpperBound(w, o.AbstainValue, proof)
	if err != nil {
		return nil, err
	}
	value := c.system.Value(w, o.AbstainValue, c.masses)
	// A private mechanism cannot be better than a bound for all of them: then one is wrong.
	if value > bound {
		return nil, fmt.Errorf("the proof shows that no value is above %v, but it is %v", bound, value)
	}
	return &Table{Certified: handle.Copy(c), Objective: o, Proof: proof, Value: value, UpperBound: bound,
		Gap: up(bound - value), weights: w}, nil
}

// Baseline is a mechanism that needs no table, under the same promise.
type Baseline struct {
	Name  string
	Value float64 // under a table's objective, as float64

	probabilities []float64 // of each variable
}

// Baselines returns what mechanisms that need no table reach under the table's objective.
func (t *Table) Baselines() []Baseline {
	if t == nil || t.Problem().K < 1 {
		return nil
	}
	var out []Baseline
	for _, b := range t.system.baselines() {
		for h, weight := range t.weights.Low {
			first, _ := t.system.Range(h)
			b.Value += float64(weight * b.probabilities[first] * float64(t.system.classesOf[first]))
		}
		b.probabilities = nil // large
		out = append(out, b)
	}
	return out
}

// baselines are the mechanisms, without values.
func (s *System) baselines() []Baseline {
	return []Baseline{
		{Name: "permute-and-flip", probabilities: s.PermuteAndFlip()},
		{Name: "exponential", probabilities: s.exponential()},
	}
}

// Claim is the content of a file, checked for form and not yet for truth. It cannot release
// anything; Certify turns it into a Table.
type Claim struct {
	System    *System
	Masses    []uint64
	Objective Objective
	Proof     Proof
	Solver    string
	Version   string

	stated fileFigures
}

// Certify checks every privacy row and works out value and bound anew. The error is a
// *ViolationError, a *FormatError, or ctx.Err().
func (c *Claim) Certify(ctx context.Context) (*Table, error) {
	c = handle.Made(c)
	certified, err := Certify(ctx, c.System, c.Masses)
	if bad := (*check.Error)(nil); errors.As(err, &bad) { // masses that are none
		return nil, &FormatError{What: formatName, Reason: err}
	}
	if err != nil {
		return nil, err
	}
	t, err := NewTable(ctx, certified, c.Objective, c.Proof)
	if t, err = strictjson.Result(ctx, formatName, t, err); err != nil {
		return nil, err
	}
	t.Solver, t.Version = c.Solver, c.Version
	return t, nil
}

// Verify certifies the claim and compares what it says about itself with what is found: bounds may
// be weaker than those found, counts are the same. The errors are those of Certify, or a
// *MismatchError.
func (c *Claim) Verify(ctx context.Context) (*Table, error) {
	c = handle.Made(c)
	return strictjson.Verify(ctx, c, func(s *check.Stated, t *Table) {
		stated, found := c.stated, t.figures()
		s.Lower("value", stated.Value, found.Value)
		s.Upper("upper_bound", stated.UpperBound, found.UpperBound)
		s.Upper("gap", stated.Gap, found.Gap)
		s.Upper("certificate.spent", stated.Certificate.Spent, found.Certificate.Spent)
		s.Exact("certificate.pairs", stated.Certificate.Pairs, found.Certificate.Pairs)
		s.Exact("certificate.rows", stated.Certificate.Rows, found.Certificate.Rows)
	})
}

var (
	errUncertified = errors.New("the mechanism was not certified")
	errNoSystem    = errors.New("system must be given: use NewSystem")
)

// Law returns the probability of each class when these are the votes, then that of
// abstaining where it is an answer, to the nearest float64. It is not private.
func (c *Certified) Law(counts []int) ([]float64, error) {
	if c.Problem().K < 1 {
		return nil, errUncertified
	}
	return c.system.Law(c.masses, counts)
}

// Law is Certified.Law for the masses of s's variables.
func (s *Space) Law(masses []uint64, counts []int) ([]float64, error) {
	s = handle.Made(s)
	h, err := s.Index(counts)
	if err != nil {
		return nil, err
	}
	if s.named {
		law := make([]float64, s.classes)
		for c := range law {
			law[c] = float64(masses[h*s.classes+c]) / float64(One)
		}
		return law, nil
	}
	each := map[int]float64{}
	for i := s.start[h]; i < s.start[h+1]; i++ {
		each[int(s.votes[i])] = float64(masses[i]) / float64(One) / float64(s.classesOf[i])
	}
	law := make([]float64, 0, s.classes+1)
	for _, v := range counts {
		law = append(law, each[v])
	}
	if s.abstain {
		law = append(law, each[Abstained])
	}
	return law, nil
}

// PermuteAndFlip returns the probabilities of permute-and-flip at rate ε/(2t), one for each
// variable, as float64: the law of noise.PermuteAndFlip. With ρ_c = e^{-(v_max-v_c)ε/2t},
//
//	Pr[c] = ρ_c·∫₀¹ Π_{d≠c} (1-ρ_d·x) dx
//
// which Gauss's quadrature gives exactly, since the integrand is a polynomial. It never
// abstains. Source: McKenna and Sheldon, Permute-and-Flip: A New Mechanism for
// Differentially Private Selection (2020).
func (s *System) PermuteAndFlip() []float64 {
	if s == nil || s.Space == nil {
		return nil
	}
	nodes := make([]float64, (s.classes+1)/2) // exact to degree 2n-1 ≥ C-1
	weights := make([]float64, len(nodes))
	quad.Legendre{}.FixedLocations(nodes, weights, 0, 1)
	return s.scored(func(v, rho []float64, classes []int16) {
		for i := range v {
			v[i] = 0
		}
		for n, x := range nodes {
			all := weights[n]
			for i, r := range rho {
				all *= num.Power(1-float64(r*x), int(classes[i]))
			}
			for i, r := range rho {
				v[i] += r * all / (1 - float64(r*x))
			}
		}
	})
}

// exponential returns the probabilities of the exponential mechanism at rate ε/(2t),
// Pr[c] ∝ e^{v_c·ε/2t}, as PermuteAndFlip does.
func (s *System) exponential() []float64 {
	return s.scored(func(v, rho []float64, classes []int16) {
		sum := 0.0
		for i, r := range rho {
			sum += float64(r * float64(classes[i]))
		}
		for i, r := range rho {
			v[i] = r / sum
		}
	})
}

// scored fills the probabilities of each histogram by law, from ρ of its runs.
func (s *System) scored(law func(v, rho []float64, classes []int16)) []float64 {
	rate := s.problem.Epsilon / (2 * float64(s.problem.Affected))
	p := make([]float64, s.Variables())
	rho := make([]float64, 0, s.classes)
	for h := range s.Histograms() {
		first, end := s.Range(h)
		if s.abstain {
			end--
		}
		rho = rho[:0]
		for i := first; i < end; i++ {
			rho = append(rho, math.Exp(-rate*float64(s.votes[first]-s.votes[i])))
		}
		law(p[first:end], rho, s.classesOf[first:end])
	}
	return p
}
