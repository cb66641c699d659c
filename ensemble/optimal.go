package ensemble

import (
	"errors"
	"math"

	"github.com/darrm/darrm/constraints"
	"github.com/darrm/darrm/gamma"
)

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
