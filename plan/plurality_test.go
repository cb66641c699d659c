package plan

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/plurality"
	"github.com/darrm/darrm/plurality/solve"
)

// Of more than two classes the optimum is planned for, is best for the prior, costs what its
// answers cost, and agrees as often as its table certifies of the prior.
func TestPluralityIsPlanned(t *testing.T) {
	r := request(t, 12, 3, nothing)
	r.Queries, r.Budget.Epsilon = 5, 3
	c := mustPlan(t, r).Choices[0]
	if c.Name != ensemble.OptimalCounts || c.Mechanism.Table() == nil ||
		c.Objective.Accuracy != 0.75 ||
		c.Mechanism.Problem().Delta != 0 || c.Mechanism.NoiseFunction() != nil {
		t.Fatalf("%+v", c)
	}
	p := c.Mechanism.Table().Problem()
	if p.K != 12 || p.Classes != 3 || p.Affected != 1 || p.Epsilon != c.x ||
		c.Mechanism.PerAnswer().Epsilon != c.x {
		t.Errorf("%+v for ε₀ = %v", p, c.x)
	}
	table, err := solve.Optimal(context.Background(), p, c.Objective, solve.Options{Gap: 1e-4})
	if err != nil {
		t.Fatal(err)
	}
	if a := c.Agreement; a.StandardError != 0 || math.Abs(a.Expected-table.Value) > 1e-9 {
		t.Errorf("agreement %+v, the optimum's is %v", a, table.Value)
	}
	if total, err := c.Mechanism.Answers(5, c.Slack).Total(); err != nil ||
		total.Cost != c.Total {
		t.Errorf("planned %v, charged %v, %v", c.Total, total.Cost, err)
	}
}

// Votes at hand do not become part of a mechanism.
func TestPluralityIsNotBestForVotes(t *testing.T) {
	r := request(t, 6, 3, nothing)
	r.Votes, _ = NewSample(6, 3)
	for range 10 {
		if err := r.Votes.Add([]int{2, 2, 2}); err != nil {
			t.Fatal(err)
		}
	}
	asked := plurality.Objective{}
	r.SolvePlurality = func(ctx context.Context, p plurality.Problem, o plurality.Objective,
		_ int64) (*plurality.Table, error) {
		asked = o
		return solve.Optimal(ctx, p, o, solve.Options{Gap: 1e-4})
	}
	c := mustPlan(t, r).named(t, ensemble.OptimalCounts)
	if want := (plurality.Objective{Concentration: plurality.DefaultConcentration}); !asked.Equal(
		want) || !c.Objective.Equal(want) {
		t.Errorf("asked for %+v, got %+v", asked, c.Objective)
	}
	if c.Agreement.StandardError != 0 {
		t.Errorf("agreement on these votes is exact: %+v", c.Agreement)
	}
}

// A plan leaves out an optimum that is not found in time, and gives the reason. With two classes no
// such optimum is asked for.
func TestPluralityThatIsNotKnown(t *testing.T) {
	late := errors.New("too late")
	for classes, want := range map[int]bool{2: false, 3: true} {
		r := request(t, 11, classes, nothing)
		r.SolvePlurality = func(context.Context, plurality.Problem, plurality.Objective,
			int64) (*plurality.Table, error) {
			return nil, late
		}
		found := false
		p := mustPlan(t, r)
		for _, x := range p.Refused {
			found = found || x.Name == ensemble.OptimalCounts && errors.Is(x.Err, late)
		}
		if found != want || len(p.Choices) == 0 {
			t.Errorf("%d classes: refused %v", classes, p.Refused)
		}
	}
}

// What many labels cost less by the table than by their ε alone is spent on a larger ε, within the
// budget.
func TestPluralitySpendsWhatItsTableSaves(t *testing.T) {
	r := request(t, 12, 4, nothing)
	r.Queries, r.Budget = 100, accountant.Cost{Epsilon: 1, Delta: 1e-5}
	c := mustPlan(t, r).named(t, ensemble.OptimalCounts)
	if !within(c.Total, r.Budget) {
		t.Errorf("%v is more than the budget", c.Total)
	}
	alone, err := accountant.Optimal(r.Queries, c.Mechanism.PerAnswer(), r.Budget.Delta)
	if err != nil || alone.Epsilon <= 1.05*r.Budget.Epsilon {
		t.Errorf("labels of ε = %v cost %v by that alone, %v", c.x, alone, err)
	}
}
