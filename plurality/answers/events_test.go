package answers

import (
	"context"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/plurality"
)

// The right side of a line is the largest distance of the link from it, by coins on a grid that are
// told apart by sums over all numbers of heads. Of one answer at e^ε it is δ.
func TestEventDeltas(t *testing.T) {
	for _, p := range []Problem{{Answers: 1, Epsilon: 1, Delta: 1e-3}, {Answers: 3, Epsilon: 1.2, Delta: 1e-3},
		{Answers: 12, Epsilon: 2, Delta: 1e-2}} {
		factors := []float64{1, 1.2, 2, math.Exp(p.Epsilon)}
		got := p.EventDeltas(factors)
		most := make([]float64, len(factors))
		for x := 0.0; x < .999; x += 1. / 160 {
			low, high := x, 1.0
			for range 40 {
				mid := (low + high) / 2
				if max(hockeyStick(p.Answers, mid, x, p.Epsilon), hockeyStick(p.Answers, 1-x, 1-mid,
					p.Epsilon)) <= p.Delta {
					low = mid
				} else {
					high = mid
				}
			}
			for i, s := range factors {
				most[i] = max(most[i], low-s*x)
			}
		}
		for i := range factors {
			if got[i] < most[i]-1e-12 || got[i] > most[i]+4e-3 {
				t.Errorf("%+v: %v at %v, on a grid %v", p, got[i], factors[i], most[i])
			}
		}
		if p.Answers == 1 && (got[3] < p.Delta || got[3] > p.Delta*1.02) {
			t.Errorf("one answer: %v at e^ε, want %v", got[3], p.Delta)
		}
	}
}

// Whatever multipliers it has, the bound holds for every table that keeps the promise: random ones,
// whose promise is their own price.
func TestEventBoundHolds(t *testing.T) {
	ctx := context.Background()
	below, closest := 0, 1.0
	rapid.Check(t, func(rt *rapid.T) {
		p := drawProblem(rt)
		p.Answers, p.Epsilon, p.Delta = rapid.IntRange(1, 4).Draw(rt, "Q"), .5, .5
		s := must.Get(NewSystem(ctx, p))(rt)
		masses := slanted(s, rapid.Float64Range(.02, .3).Draw(rt, "strength"))
		price, o, err := s.Price(ctx, masses, gameOptions)
		if err != nil || !(price > 1e-9 && price < .9) {
			rt.Skip()
		}
		p.Delta = up(price)
		s = must.Get(NewSystem(ctx, p))(rt)
		prior := DefaultPrior(p)
		w := must.Get(prior.Weights(ctx, s))(rt)
		scale := rapid.SampledFrom([]float64{.05, .1, .3, .5}).Draw(rt, "scale")
		factor := rapid.SampledFrom([]float64{1, 1.05, 1.2, math.Exp(.5)}).Draw(rt, "factor")
		var events []Event
		err = s.Pairs(ctx, func(pair *plurality.Pair) bool {
			e := Event{From: pair.From, Changes: append([]plurality.Change(nil), pair.Changes...), Factor: factor,
				Value: scale * w.High[pair.From] * rapid.Float64Range(.5, 1).Draw(rt, "y")}
			for i, c := range pair.Columns {
				if float64(masses[c.I])*float64(s.space.ClassesOf(c.J)) >
					float64(masses[c.J])*float64(s.space.ClassesOf(c.I)) {
					e.Columns = append(e.Columns, i)
				}
			}
			events = append(events, e)
			return true
		})
		if err != nil {
			rt.Fatal(err)
		}
		table, err := NewTable(ctx, must.Get(Certify(ctx, s, masses, o))(rt), prior,
			Law{Name: NormalLaw, Sigma: 1}, nil, events...)
		if err != nil {
			rt.Fatalf("%+v: %v", p, err)
		}
		if bound := must.Get(s.eventBound(w, prior, events))(rt); bound < 1 {
			below++
			closest = min(closest, bound-table.Value)
		}
	})
	if below < 3 || closest > .6 {
		t.Errorf("%d bounds are below 1, the closest by %v: the test shows nothing", below, closest)
	}
}

// The bound of one event is that of its formula.
func TestEventBoundOfOneEvent(t *testing.T) {
	p := Problem{K: 3, Classes: 3, Affected: 1, Answers: 1, Epsilon: 1, Delta: 0.01}
	s := must.Get(NewSystem(t.Context(), p))(t)
	var pair plurality.Pair
	_ = s.Pairs(t.Context(), func(q *plurality.Pair) bool {
		pair = plurality.Pair{From: q.From, To: q.To, Columns: append([]plurality.Column(nil), q.Columns...),
			Changes: append([]plurality.Change(nil), q.Changes...)}
		return q.From == q.To // until it is of two
	})
	n := s.space.Histograms()
	w := plurality.Weights{Low: make([]float64, n), High: make([]float64, n)}
	for h := range n {
		w.Low[h], w.High[h] = 0.5/float64(n), 0.5/float64(n) // a bound of 1 would hide what is wrong
	}
	y := .02
	e := Event{From: pair.From, Changes: pair.Changes, Columns: []int{0}, Factor: math.E, Value: y}
	for i := range pair.Columns {
		one := e
		one.Columns = []int{i}
		got := must.Get(s.eventBound(w, Prior{}, []Event{one}))(t)
		b := p.EventDeltas([]float64{math.E})[0]
		// P(S) loses y for each class of its column, P'(S) gains e·y.
		r := make([]float64, s.space.Variables())
		for h := range n {
			first, _ := s.space.Range(h)
			r[first] = w.High[h] * float64(s.space.ClassesOf(first))
		}
		c := pair.Columns[i]
		r[c.I] -= float64(c.Classes) * y
		r[c.J] += float64(c.Classes) * y * math.E
		want := y * b
		for h := range n {
			first, end := s.space.Range(h)
			best := math.Inf(-1)
			for i := first; i < end; i++ {
				best = max(best, r[i]/float64(s.space.ClassesOf(i)))
			}
			want += best
		}
		if want = min(1, want); math.Abs(got-want) > 1e-12 || got < want {
			t.Errorf("%.17g, want %.17g", got, want)
		}
	}
	for name, bad := range map[string]Event{
		"value":   {From: e.From, Changes: e.Changes, Columns: e.Columns, Factor: 2, Value: math.Inf(1)},
		"sign":    {From: e.From, Changes: e.Changes, Columns: e.Columns, Factor: 2, Value: -1},
		"factor":  {From: e.From, Changes: e.Changes, Columns: e.Columns, Factor: .9, Value: 1},
		"line":    {From: e.From, Changes: e.Changes, Columns: e.Columns, Factor: math.NaN(), Value: 1},
		"columns": {From: e.From, Changes: e.Changes, Columns: []int{0, 0}, Factor: 2, Value: 1},
		"column":  {From: e.From, Changes: e.Changes, Columns: []int{99}, Factor: 2, Value: 1},
		"pair":    {From: 99, Changes: e.Changes, Columns: e.Columns, Factor: 2, Value: 1},
	} {
		if got, err := s.eventBound(w, Prior{}, []Event{bad}); err == nil {
			t.Errorf("an event with a bad %s proves %v", name, got)
		}
	}
	if got := must.Get(s.eventBound(w, Prior{}, nil))(t); got != 1 {
		t.Errorf("no event proves %v", got)
	}
}
