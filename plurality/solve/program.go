package solve

import (
	"context"
	"errors"
	"math"

	"github.com/darrm/darrm/lp"
	"github.com/darrm/darrm/plurality"
)

// program is the linear program in floating point. What is right here only decides how
// fast and how well it is solved: masses and proofs are checked by package plurality.
type program struct {
	system  *plurality.System
	first   []int32   // histogram h has the variables first[h] … first[h+1]-1
	classes []float64 // m of each variable
	cost    []float64 // what each variable adds to the value
	weight  []float64 // of each variable's histogram, at most 1
	uniform float64   // value of the uniform distribution
	outputs float64
	e       float64
	rows    rows
}

// rows are the privacy constraints, in blocks. Each block has dual values of its own.
type rows interface {
	blocks() int
	block(n int) (from, to int)           // its dual values
	variables(n int, visit func(i int32)) // of the block, perhaps repeatedly
	// σ of each block and 1/τ of each variable that converge
	steps(share []float64) (sigma, load []float64)
	pull(i int, dual []float64) float64 // (Gᵀ·dual)_i
	// near is the point where the block's last projection ended, for the next one
	advance(n int, sigma float64, dual, xbar, out []float64, near *float64)
	excess(n int, x []float64) float64          // by how much x breaks the block
	price(from, to int, dual []float64) float64 // what the blocks' dual values add to the bound
	proof(dual []float64, least float64) plurality.Proof
	// the dual program; dual values from its solution
	dual(p *program) (d lp.Sparse, values func(x []float64) []float64)
}

// errTooMany reports more dual values than are wanted.
var errTooMany = errors.New("too many dual values")

// newRows lists the rows of s. Where their number alone tells that a search takes more work than
// o.Work, the error is a *LimitError, after no more memory than the largest search takes.
func newRows(ctx context.Context, s *plurality.System, o Options) (r rows, err error) {
	p := s.Problem()
	most := o.mostValues(p.Delta > 0)
	if p.Delta == 0 {
		r, err = newCliqueRows(ctx, s, most)
	} else {
		r, err = newPairRows(ctx, s, most)
	}
	if errors.Is(err, errTooMany) {
		return nil, &LimitError{Problem: p, Work: o.Work, Values: most}
	}
	return r, err
}

// mostValues returns up to how many dual values o.Work reaches the first look at what was found,
// or a method runs that it does not bound.
func (o Options) mostValues(pairs bool) int {
	switch {
	case o.Work == 0 || o.Method != "" && o.Method != FirstOrder:
		return math.MaxInt
	case o.Method == "" && pairs:
		return max(mostInterior, int(o.Work/firstLook))
	}
	return int(o.Work / firstLook)
}

func newProgram(s *plurality.System, r rows, o plurality.Objective, w plurality.Weights) *program {
	n := s.Variables()
	p := &program{
		system: s, rows: r, e: s.Factor(), outputs: float64(s.Problem().Classes),
		classes: make([]float64, n), cost: make([]float64, n), weight: make([]float64, n),
	}
	if s.Problem().Abstain {
		p.outputs++
	}
	largest := 0.0
	for h := range s.Histograms() {
		largest = max(largest, w.High[h])
	}
	for h := range s.Histograms() {
		first, end := s.Range(h)
		p.first = append(p.first, int32(first))
		for i := first; i < end; i++ {
			p.classes[i] = float64(s.ClassesOf(i))
			p.weight[i] = w.High[h] / largest
			if i == first {
				p.cost[i] = w.Low[h] * p.classes[i]
			}
			if s.Votes(i) == plurality.Abstained {
				p.cost[i] = w.Low[h] * o.AbstainValue
			}
			p.uniform += p.cost[i] / p.outputs
		}
	}
	p.first = append(p.first, int32(n))
	return p
}

func (p *program) histograms() int { return len(p.first) - 1 }

// value returns the value of the mechanism x under the objective.
func (p *program) value(x []float64) float64 {
	sum := 0.0
	for i, c := range p.cost {
		sum += c * x[i]
	}
	return sum
}

// loss returns the value lost by mixing x with the uniform distribution until it is private.
func (p *program) loss(value, excess float64) float64 {
	lambda := p.outputs * excess / (p.e - 1)
	if d := p.system.Problem().Delta; d > 0 {
		lambda = min(lambda, excess/(d+excess))
	}
	return min(1, lambda) * (value - p.uniform)
}
