package sweep

import (
	"context"
	"fmt"
	"math"
	"strconv"

	"github.com/darrm/darrm/constraints"
	"github.com/darrm/darrm/internal/memo"
	"github.com/darrm/darrm/plurality"
)

// MaxPoints bounds a grid: a slip in a range must be an error and no day of work.
const MaxPoints = 100_000

// All stands for every teacher in Grid.Affected.
const All = 0

// Grid is every combination of its values, the last list varying fastest. Either M or
// TotalEpsilon has values.
type Grid struct {
	K            []int
	M            []float64
	TotalEpsilon []float64
	Epsilon      []float64 // +Inf for teachers that promise nothing
	TeacherDelta []float64
	Affected     []int    // [All] for every teacher
	Delta        *float64 // δ of every release; nil for each problem's default

	// TeacherDeltaStated marks TeacherDelta as stated by the user, not a default. A default is not
	// for teachers that promise nothing: theirs is 0.
	TeacherDeltaStated bool
}

// Point is a problem with the combination that it comes from.
type Point struct {
	Problem  constraints.Problem
	Affected int // as the grid has it: [All] for every teacher
}

// String names the point as its flags do.
func (p Point) String() string {
	affected := "all"
	if p.Affected != All {
		affected = strconv.Itoa(p.Affected)
	}
	budget := fmt.Sprintf("m = %v", p.Problem.M)
	if p.Problem.TotalEpsilon != 0 {
		budget = fmt.Sprintf("label-eps = %v", p.Problem.TotalEpsilon)
	}
	epsilon := "inf"
	if !math.IsInf(p.Problem.Epsilon, 1) {
		epsilon = strconv.FormatFloat(p.Problem.Epsilon, 'g', -1, 64)
	}
	return fmt.Sprintf("K = %d, %s, eps = %s, teacher-delta = %v, affected = %s", p.Problem.K, budget,
		epsilon, p.Problem.TeacherDelta, affected)
}

// SizeError is the error for a grid of more than [MaxPoints] combinations.
type SizeError struct{ Shape string } // how many values of each list

func (e *SizeError) Error() string {
	return fmt.Sprintf("the grid has more than %d points (%s): solve it in parts", MaxPoints, e.Shape)
}

// axis is a list of a grid: its flag, and how many values it has.
type axis struct {
	flag   string
	values int
}

// checkSize returns a *SizeError where the grid of these lists has more than MaxPoints points.
func checkSize(axes ...axis) error {
	n, shape := int64(1), ""
	for i, a := range axes {
		n = min(n*int64(a.values), MaxPoints+1) // no overflow
		if i > 0 {
			shape += " × "
		}
		shape += fmt.Sprintf("%d %s", a.values, a.flag)
	}
	if n > MaxPoints {
		return &SizeError{shape}
	}
	return nil
}

// Points returns the grid's problems in order, each once however often it is named, and
// what is wrong with the combinations that are no problem: a *constraints.ParameterError
// behind the combination's name. The error is a *[SizeError] or that of ctx.
func (g Grid) Points(ctx context.Context) (valid []Point, invalid []error, err error) {
	budgets := make([]constraints.Problem, 0, len(g.M)+len(g.TotalEpsilon))
	for _, m := range g.M {
		budgets = append(budgets, constraints.Problem{M: m})
	}
	for _, total := range g.TotalEpsilon {
		budgets = append(budgets, constraints.Problem{TotalEpsilon: total})
	}
	budget := "m"
	if len(g.TotalEpsilon) > 0 {
		budget = "label-eps"
	}
	if err := checkSize(axis{"K", len(g.K)}, axis{budget, len(budgets)}, axis{"eps", len(g.Epsilon)},
		axis{"teacher-delta", len(g.TeacherDelta)}, axis{"affected", len(g.Affected)}); err != nil {
		return nil, nil, err
	}
	seen := map[constraints.Problem]bool{}
	defaultDelta := rememberedDelta()
	for _, k := range g.K {
		for _, p := range budgets {
			for _, p.Epsilon = range g.Epsilon {
				for _, p.TeacherDelta = range g.TeacherDelta {
					if err := ctx.Err(); err != nil {
						return nil, nil, err
					}
					if math.IsInf(p.Epsilon, 1) && !g.TeacherDeltaStated {
						p.TeacherDelta = 0
					}
					for _, affected := range g.Affected {
						p.K, p.Affected = k, affected
						if affected == All {
							p.Affected = k
						}
						problem, err := g.withDelta(p, defaultDelta)
						point := Point{problem, affected}
						if err != nil {
							invalid = append(invalid, fmt.Errorf("%v: %w", point, err))
						} else if !seen[problem] {
							seen[problem] = true
							valid = append(valid, point)
						}
					}
				}
			}
		}
	}
	return valid, invalid, nil
}

// withDelta sets δ and validates the problem. A default δ is asked for valid problems only.
func (g Grid) withDelta(p constraints.Problem,
	defaultDelta func(constraints.Problem) float64) (constraints.Problem, error) {
	if g.Delta != nil {
		p.Delta = *g.Delta
		return p, p.Validate()
	}
	p.Delta = p.TeacherDelta // valid wherever anything is
	if err := p.Validate(); err != nil {
		return p, err
	}
	p.Delta = defaultDelta(p)
	return p, p.Validate()
}

// rememberedDelta is Problem.DefaultDelta with a memory, since a default δ takes a while
// to work out and depends on less than the whole problem.
func rememberedDelta() func(constraints.Problem) float64 {
	var known memo.Of[constraints.Problem, float64]
	return func(p constraints.Problem) float64 {
		key := p
		key.K, key.Delta = 0, 0
		if p.TotalEpsilon == 0 {
			key.M, key.Epsilon, key.Affected = min(p.M, float64(p.Affected)), 0, 0
		}
		delta, _ := known.Get(key, func() (float64, error) { return p.DefaultDelta(), nil })
		return delta
	}
}

// ClassGrid is every combination of its values for the plurality of many classes, the last list
// varying fastest.
type ClassGrid struct {
	Classes      []int
	K            []int
	TotalEpsilon []float64
	Affected     []int   // [All] for every teacher
	Delta        float64 // of every problem, and so
	Abstain      bool
}

// className names a problem of a ClassGrid as its flags do.
func className(p plurality.Problem) string {
	return fmt.Sprintf("classes = %d, K = %d, label-eps = %v, affected = %d", p.Classes, p.K,
		p.Epsilon, p.Affected)
}

// Problems returns the grid's problems in order, each once however often it is named, and what is
// wrong with the combinations that are no problem: a *constraints.ParameterError behind the
// combination's name. The error is a *[SizeError].
func (g ClassGrid) Problems() (valid []plurality.Problem, invalid []error, err error) {
	if err := checkSize(axis{"classes", len(g.Classes)}, axis{"K", len(g.K)},
		axis{"label-eps", len(g.TotalEpsilon)}, axis{"affected", len(g.Affected)}); err != nil {
		return nil, nil, err
	}
	seen := map[plurality.Problem]bool{}
	p := plurality.Problem{Delta: g.Delta, Abstain: g.Abstain}
	for _, p.Classes = range g.Classes {
		for _, p.K = range g.K {
			for _, p.Epsilon = range g.TotalEpsilon {
				for _, p.Affected = range g.Affected {
					if p.Affected == All {
						p.Affected = p.K
					}
					if err := p.Validate(); err != nil {
						invalid = append(invalid, fmt.Errorf("%s: %w", className(p), err))
					} else if !seen[p] {
						seen[p] = true
						valid = append(valid, p)
					}
				}
			}
		}
	}
	return valid, invalid, nil
}
