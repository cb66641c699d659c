package choose

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/internal/check"
)

// A forecast rises with records and with ε towards the best that the records allow, and a second
// one is the same.
func TestForecast(t *testing.T) {
	for task, best := range map[string]float64{"logistic": 0.8, "auc": 0.85, "linear": 0.7} {
		const d = 5
		learn, test, err := MadeUp(task, d, best, 3)
		if err != nil {
			t.Fatal(err)
		}
		f := Forecast{Problem: Problem{Task: task, Radius: columns(d + 1)}, Learn: learn, Test: test,
			Runs: 3, Seed: 1}
		at := func(n int, epsilon float64) Expected {
			e, err := f.At(t.Context(), n, accountant.Cost{Epsilon: epsilon, Delta: 1e-6})
			if err != nil {
				t.Fatal(err)
			}
			return e
		}
		few, many, loose := at(100, 0.2), at(6_000, 0.2), at(6_000, 10)
		if !(few.Median < many.Median && few.Low <= few.Median && few.Median <= few.High) {
			t.Errorf("%s: %+v with 100 records, %+v with 30000", task, few, many)
		}
		if math.Abs(loose.Median-best) > 0.03 || loose.Median < many.Median-0.01 {
			t.Errorf("%s: %v at best, %+v with 6000 records", task, best, loose)
		}
		if again := at(100, 0.2); again != few || few.Score != ScoreOf(task) {
			t.Errorf("%s: %+v, then %+v", task, few, again)
		}
	}
}

// What makes no forecast is refused.
func TestForecastRefuses(t *testing.T) {
	var wrong *check.Error
	for _, c := range []struct {
		task string
		d    int
		best float64
	}{{"logistic", 0, 0.8}, {"logistic", 3, 0.5}, {"linear", 3, 1}, {"auc", 3, math.NaN()},
		{"ridge", 3, 0.8}, {"auc", 1 << 30, 0.8}} {
		if _, _, err := MadeUp(c.task, c.d, c.best, 1); !errors.As(err, &wrong) {
			t.Errorf("%+v: %v", c, err)
		}
	}
	learn, test, err := MadeUp("logistic", 2, 0.8, 1)
	if err != nil {
		t.Fatal(err)
	}
	f := Forecast{Problem: Problem{Task: "logistic", Radius: columns(3)}, Learn: learn, Test: test,
		Runs: 1}
	cost := accountant.Cost{Epsilon: 1, Delta: 1e-6}
	if _, err := f.At(t.Context(), 0, cost); !errors.As(err, &wrong) {
		t.Errorf("no records: %v", err)
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if _, err := f.At(ctx, 1000, cost); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
	f.Runs = 0
	if _, err := f.At(t.Context(), 100, cost); !errors.As(err, &wrong) {
		t.Errorf("no runs: %v", err)
	}
}
