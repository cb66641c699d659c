package plan

import (
	"context"
	"errors"
	"math"
	"testing"
	"time"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/plurality"
	"github.com/darrm/darrm/plurality/answers"
	answerssolve "github.com/darrm/darrm/plurality/answers/solve"
	"github.com/darrm/darrm/plurality/solve"
)

// No certified optimum agrees more often than any mechanism can, and where one record reaches all
// votes the best is randomised response, which does but for ties.
func TestMostIsABoundForEveryMechanism(t *testing.T) {
	for _, x := range []struct {
		p    plurality.Problem
		near float64 // how near the optimum comes
	}{
		{plurality.Problem{K: 6, Classes: 3, Epsilon: 0.7, Affected: 6}, 5e-3}, // a tie's classes share
		{plurality.Problem{K: 5, Classes: 2, Epsilon: 0.7, Affected: 5}, 2e-5},
		{plurality.Problem{K: 5, Classes: 4, Epsilon: 0.2, Affected: 5}, 5e-3},
		{plurality.Problem{K: 8, Classes: 3, Epsilon: 0.5, Affected: 1}, 1},
		{plurality.Problem{K: 8, Classes: 3, Epsilon: 0.5, Affected: 3}, 1},
		{plurality.Problem{K: 7, Classes: 3, Epsilon: 0.3, Delta: 0.02, Affected: 2}, 1},
		{plurality.Problem{K: 6, Classes: 2, Epsilon: 0.3, Delta: 0.05, Affected: 6}, 1},
	} {
		law, err := Uneven(x.p.K, x.p.Classes, 1)
		if x.p.Classes == 2 {
			law, err = Prior(x.p.K, 2, 0.75)
		}
		if err != nil {
			t.Fatal(err)
		}
		o := plurality.DefaultObjective(x.p.Classes)
		table, err := solve.Optimal(context.Background(), x.p, o, solve.Options{Gap: 1e-5})
		if err != nil {
			t.Fatal(err)
		}
		most := law.most(x.p.Affected, accountant.Cost{Epsilon: x.p.Epsilon, Delta: x.p.Delta})
		if table.Value > most || most-table.Value > x.near || most > 1 {
			t.Errorf("%+v: the optimum agrees in %v, at most in %v", x.p, table.Value, most)
		}
	}
}

// Where nothing can be useful no table is looked for; where something may be, one is.
func TestUselessIsSeenWithoutSolving(t *testing.T) {
	asked := 0
	r := request(t, 40, 6, nothing)
	r.Affected, r.Queries, r.Budget, r.Agreement = new(40), 100, accountant.Cost{Epsilon: 3, Delta: 1e-6},
		0.9
	r.SolvePlurality = func(context.Context, plurality.Problem, plurality.Objective,
		int64) (*plurality.Table, error) {
		asked++
		return nil, errors.New("it takes hours")
	}
	r.SolveAnswers = func(context.Context, answers.Problem, answers.Prior) (*answers.Table, error) {
		return nil, errors.New("it has too many pairs")
	}
	p := mustPlan(t, r)
	var useless *UselessError
	if !p.Useless || asked > 0 || len(p.Refused) != 2 ||
		p.Refused[0].Name != ensemble.OptimalCounts || !errors.As(p.Refused[0].Err, &useless) {
		t.Fatalf("asked %d times, %+v", asked, p)
	}
	if best := p.Choices[0].Agreement.Expected; !(useless.Guess < best && best < useless.Most) {
		t.Errorf("a guess agrees in %v, the best in %v, none in more than %v", useless.Guess, best,
			useless.Most)
	}
	r.Affected, r.Agreement = new(1), 0 // no advice is wanted
	if p := mustPlan(t, r); p.Useless || asked == 0 {
		t.Errorf("asked %d times, %+v", asked, p)
	}
}

// What takes more work than is counted is left out, by its size and not by a clock: the first table
// may take all of it, and those that are tried after it as much together.
func TestWorkIsCounted(t *testing.T) {
	r := request(t, 12, 4, nothing)
	r.Queries, r.Budget = 100, accountant.Cost{Epsilon: 3, Delta: 1e-5}
	r.Work = 1 << 30
	var given []int64
	r.SolvePlurality = func(ctx context.Context, p plurality.Problem, o plurality.Objective,
		work int64) (*plurality.Table, error) {
		given = append(given, work)
		return SolvePlurality(ctx, p, o, work)
	}
	want := mustPlan(t, r)
	rest := int64(0)
	for _, work := range given[1:] {
		rest += work
	}
	if len(given) < 2 || len(given) > 5 || given[0] != r.Work || given[1] != r.Work/4 || rest > r.Work { // four at most
		t.Errorf("tables of work %v, of %d", given, r.Work)
	}
	again := mustPlan(t, r)
	for i, c := range again.Choices {
		if c.Agreement != want.Choices[i].Agreement || c.Total != want.Choices[i].Total {
			t.Errorf("%s: %+v and %+v", c.Name, c.Agreement, want.Choices[i].Agreement)
		}
	}
	r.SolvePlurality, r.Work = nil, 1
	var limit *solve.LimitError
	var many *WorkError
	p := mustPlan(t, r)
	if len(p.Refused) != 2 || !errors.As(p.Refused[0].Err, &limit) || limit.Work != 1 ||
		limit.Limit != 0 || !errors.As(p.Refused[1].Err, &many) ||
		math.IsNaN(p.Choices[0].Agreement.Expected) {
		t.Errorf("%+v", p.Refused)
	}
}

// A limit of time that somebody stated ends a plan: without it another mechanism may be the best.
func TestTimeIsAnError(t *testing.T) {
	r := request(t, 12, 4, nothing)
	late := []error{&solve.LimitError{Limit: time.Second}, &answerssolve.LimitError{Limit: time.Second}}
	for i, err := range late {
		r := r
		if i == 0 {
			r.SolvePlurality = func(context.Context, plurality.Problem, plurality.Objective, int64) (
				*plurality.Table, error) {
				return nil, err
			}
		} else {
			r.SolveAnswers = func(context.Context, answers.Problem, answers.Prior) (*answers.Table, error) {
				return nil, err
			}
		}
		if p, got := New(t.Context(), r); p != nil || !errors.Is(got, err) {
			t.Errorf("%v: %+v, %v", err, p, got)
		}
	}
}
