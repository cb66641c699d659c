package solve_test

import (
	"bytes"
	"testing"
	"time"

	"github.com/darrm/darrm/internal/must"
	"github.com/darrm/darrm/plurality"
	"github.com/darrm/darrm/plurality/answers"
	"github.com/darrm/darrm/plurality/answers/solve"
)

func TestX(t *testing.T) {
	for _, q := range []int{5, 200} {
		eps := 2.0
		if q == 20 { eps = 3 }
		for _, yes := range [][]float64{{.1, .1}, {.05, .1, .3}} {
			p := answers.Problem{K: 25, Classes: 2, Affected: 1, Answers: q, Epsilon: eps, Delta: 1e-5, Named: true, Labels: len(yes)}
			begin := time.Now()
			got := must.Get(solve.Best(t.Context(), p, answers.Prior{Objective: plurality.Objective{Accuracy: .75}, Yes: yes}, solve.Options{Progress: func(x solve.Progress) { println(x.Elapsed.String(), x.Law, x.Delta) }}))(t)
			var b bytes.Buffer
			if err := got.Encode(&b); err != nil { t.Fatal(err) }
			t.Log(q, len(yes), got.Value, got.UpperBound, got.Law, got.Certificate(), time.Since(begin), b.Len())
			sum := 0.0
			for _, y := range yes {
				p.Labels = 0
				one := must.Get(solve.Best(t.Context(), p, answers.Prior{Objective: plurality.Objective{Accuracy: .75}, Shares: plurality.Shares{1 - y, y}}, solve.Options{}))(t)
				sum += one.Value
			}
			t.Log("alone", sum/float64(len(yes)))
			begin = time.Now()
			must.Get(answers.Decode(t.Context(), &b))(t)
			t.Log("decode", time.Since(begin)); println("x")
		}
	}
}
