package selection

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/learn/loss"
	"github.com/darrm/darrm/learn/train"
)

// Each candidate is paid for, and the choice: by the plain sum of their ε.
func TestAllCandidatesAndTheChoiceArePaidFor(t *testing.T) {
	for _, m := range []int{1, 5} {
		s := tiny("", 0)
		for len(s.Candidates) < m {
			s.Candidates = append(s.Candidates, bits(5)...)
		}
		s.Candidates = s.Candidates[:m]
		p := planOf(t, s, 5, 1)
		a, _ := accountant.New(accountant.ReplaceOne)
		a, err := a.Charge(p.price.Event, 1)
		if err != nil {
			t.Fatal(err)
		}
		report, err := a.AtDelta(0, accountant.MethodBasic)
		if err != nil {
			t.Fatal(err)
		}
		best, _ := report.Best()
		// Scores of 5 records move apart by two of their 256 parts.
		want := float64(m)*p.base.Epsilon + 512/float64(p.scale)
		if math.Abs(best.Cost.Epsilon-want) > 1e-9 {
			t.Errorf("%d candidates: the sum is %v, not %v", m, best.Cost.Epsilon, want)
		}
		if choice := 512 / float64(p.scale); choice > 0.3*3 || choice < 0.3*3*0.99 {
			t.Errorf("the choice has %g of 0.9", choice)
		}
	}
}

// The target is met and used, and a run has what it is calibrated to.
func TestSelectionUsesItsTarget(t *testing.T) {
	for _, stopping := range []string{"", "poisson", "negative-binomial:0.5"} {
		s := tiny(stopping, 0)
		if stopping != "" {
			s.Runs = 8
		}
		p := planOf(t, s, 5, 1)
		if c := p.price.Cost; c.Delta != s.Target.Delta || c.Epsilon > s.Target.Epsilon ||
			c.Epsilon < 0.99*s.Target.Epsilon {
			t.Errorf("%q costs %v", stopping, c)
		}
		rows, err := p.Compare()
		if err != nil {
			t.Fatal(err)
		}
		in := slices.IndexFunc(rows, func(r train.PriceRow) bool { return r.InUse })
		if in < 0 || rows[in].Epsilon != p.price.Cost.Epsilon || rows[0].Holds ||
			rows[0].Epsilon >= rows[in].Epsilon {
			t.Errorf("%q: rows %+v", stopping, rows)
		}
	}
}

// A release that is interrupted, within a run too, and resumed from its state is the same release:
// the same K, runs and choice.
func TestSelectionResumes(t *testing.T) {
	for _, stopping := range []string{"", "geometric"} {
		s := tiny(stopping, 0)
		if stopping != "" {
			s.Runs = 6
		}
		var stop context.CancelFunc
		runs := 0
		for i, c := range s.Candidates {
			s.Candidates[i].Plan = func(target accountant.Cost) (train.Plan, error) {
				q, err := c.Plan(target)
				b := bitOf(q, i)
				b.twist = func(ctx context.Context, _ float64) error {
					if runs++; stop != nil && runs%2 == 0 {
						stop()
					}
					return ctx.Err()
				}
				return b.plan(), err
			}
		}
		a, err := planOf(t, s, 5, 1).Train(features(t, 1, 1, 1, -1, -1))
		if err != nil {
			t.Fatal(err)
		}
		for seed := range uint64(6) {
			whole := train.Simulate(a, seed)
			want, err := whole.Run(context.Background(), nil)
			if err != nil {
				t.Fatal(err)
			}
			part, stops := train.Simulate(a, seed), 0
			for {
				var ctx context.Context
				ctx, stop = context.WithCancel(context.Background())
				got, err := part.Run(ctx, nil)
				if err == nil {
					if !slices.Equal(got, want) || !sameChoice(part.Choice(), whole.Choice()) {
						t.Fatalf("%q: seed %d: %v %+v, not %v %+v", stopping, seed, got, part.Choice(), want,
							whole.Choice())
					}
					break
				}
				if stops++; !errors.Is(err, context.Canceled) || stops > 200 {
					t.Fatal(err)
				}
				if part.Choice() != nil {
					t.Fatal("a choice before the end")
				}
				stop = nil
				if part, err = train.ResumeSimulation(a, part.Checkpoint()); err != nil {
					t.Fatal(err)
				}
			}
			stop = nil
		}
	}
}

func sameChoice(a, b *train.Choice) bool {
	return a.Candidate == b.Candidate && a.Name == b.Name && (a.Score == nil) == (b.Score == nil) &&
		(a.Score == nil || *a.Score == *b.Score)
}

// A release is paid for once and has the coins of its own; other records or another grid are
// another algorithm.
func TestSelectionReleases(t *testing.T) {
	p := planOf(t, tiny("poisson", 4), 5, 1)
	a, err := p.Train(features(t, 1, 1, 1, -1, -1))
	if err != nil {
		t.Fatal(err)
	}
	r, err := train.NewRelease(a)
	if err != nil || r.Cost() != p.price.Cost {
		t.Fatal(r.Cost(), err)
	}
	if _, err := r.Run(context.Background(), nil); err != nil {
		t.Fatal(err)
	}
	if c := r.Choice(); c == nil || c.Candidate >= 0 &&
		(c.Name == "" || c.Score == nil || !(c.Deviation > 0)) {
		t.Errorf("choice %+v", c)
	}
	for name, change := range map[string]func(s *Selection){
		"runs":  func(s *Selection) { s.Runs = 5 },
		"law":   func(s *Selection) { s.Stopping = "geometric" },
		"all":   func(s *Selection) { s.Stopping, s.Runs = "", 0 },
		"score": func(s *Selection) { s.Score = Score{Kind: MeanLoss, Loss: loss.Logistic{}, Bound: 1} },
		"grid":  func(s *Selection) { s.Candidates[0].Name = "another" },
	} {
		s := tiny("poisson", 4)
		change(&s)
		other, err := planOf(t, s, 5, 1).Train(features(t, 1, 1, 1, -1, -1))
		if err != nil {
			t.Fatal(err)
		}
		if other.Digest == a.Digest {
			t.Errorf("%s is not in the digest", name)
		}
		if _, err := train.ResumeRelease(other, r.Checkpoint()); !errors.Is(err, train.ErrCheckpoint) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A candidate that leaves the range of numbers is the model 0, whose score counts.
func TestSelectionOutlivesADivergedCandidate(t *testing.T) {
	s := tiny("", 0)
	wild := s.Candidates[0].Plan
	s.Candidates[0].Plan = func(target accountant.Cost) (train.Plan, error) {
		q, err := wild(target)
		b := bitOf(q, 0)
		b.twist = func(context.Context, float64) error { return train.ErrDiverged }
		return b.plan(), err
	}
	a, err := planOf(t, s, 5, 1).Train(features(t, 1, 1, 1, -1, -1))
	if err != nil {
		t.Fatal(err)
	}
	zero := 0
	for seed := range uint64(50) {
		r := train.Simulate(a, seed)
		w, err := r.Run(context.Background(), nil)
		if err != nil {
			t.Fatal(err)
		}
		if (w[0] == 0) != (r.Choice().Candidate == 0) {
			t.Fatalf("%v %+v", w, r.Choice())
		}
		if w[0] == 0 {
			zero++
		}
	}
	if zero == 50 {
		t.Error("the diverged candidate always wins")
	}
}

func TestSelectionRefusals(t *testing.T) {
	private := func(change func(*Selection)) Selection {
		s := tiny("poisson", 4)
		change(&s)
		return s
	}
	for name, c := range map[string]struct {
		s    Selection
		want string
	}{
		"no candidates": {private(func(s *Selection) { s.Candidates = nil }), "number of candidates"},
		"epsilon":       {private(func(s *Selection) { s.Target.Epsilon = 0 }), "target epsilon"},
		"delta":         {private(func(s *Selection) { s.Target.Delta = 0 }), "target delta"},
		"share":         {private(func(s *Selection) { s.Share = 1 }), "share of the scores"},
		"small share":   {private(func(s *Selection) { s.Share = 1e-9 }), "share of the scores"},
		"law": {private(func(s *Selection) { s.Stopping = "fixed" }),
			"law of the number of runs"},
		"runs":     {private(func(s *Selection) { s.Stopping = "" }), "runs"},
		"score":    {private(func(s *Selection) { s.Score.Kind = "best" }), "score"},
		"no bound": {private(func(s *Selection) { s.Score.Kind = MeanLoss }), "score bound"},
		"bound":    {private(func(s *Selection) { s.Score.Bound = 1 }), "score bound"},
		"no classes": {private(func(s *Selection) { s.Score.Loss = loss.LeastSquares{} }),
			"no classes"},
		"not private": {private(func(s *Selection) {
			s.Candidates = []Candidate{{Name: "x", Plan: func(accountant.Cost) (train.Plan,
				error) {
				return train.Plan{Price: train.Price{Method: "sgd", Relation: accountant.ReplaceOne}}, nil
			}}}
		}), "not private"},
	} {
		if _, err := c.s.Plan(t.Context(), 5, 1); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := tiny("", 0).Plan(t.Context(), 6, 1); err == nil {
		t.Error("candidates of other records")
	}
	pairs := Score{Kind: Pairs}
	if err := pairs.check(9, accountant.AddOrRemoveOne); err == nil {
		t.Error("pairs where the number of records is secret")
	}
}

// The price of a random number of runs is that of Papernot and Steinke's Theorem 2 by another way:
// a run is a bit of randomised response and a score with the noise that is drawn, of which the
// minimum over a finer grid of orders is at most 1 % below. A price for more noise than is drawn,
// for half of a score's change, for no score or for no random number is below it.
func TestRunsArePricedWithTheirScores(t *testing.T) {
	for _, share := range []float64{0.1, 0.5, 0.9} {
		s := tiny("geometric", 6)
		s.Share = share
		p := planOf(t, s, 5, 1)
		truth := bitOf(p.plans[0], 0).truth()
		rho := func(order float64) float64 {
			told := math.Log(math.Pow(truth, order)*math.Pow(1-truth, 1-order)+math.Pow(1-truth, order)*
				math.Pow(truth, 1-order)) / (order - 1)
			return told + order*256*256/(2*p.sigma*p.sigma)
		}
		extra, want := math.Inf(1), math.Inf(1)
		each := func(visit func(order float64)) {
			for j := -100; j < 200; j++ {
				visit(1 + math.Pow(2, float64(j)/20))
			}
		}
		each(func(order float64) { extra = min(extra, 2*((1-1/order)*rho(order)+math.Log(6)/order)) })
		each(func(order float64) {
			best := rho(order) + extra + math.Log(6)/(order-1)
			want = min(want, best+math.Log1p(-1/order)-(math.Log(s.Target.Delta)+math.Log(order))/(order-1))
		})
		if got := p.price.Cost.Epsilon; got < want*(1-1e-9) || got > want*1.01 {
			t.Errorf("share %g: the price is ε = %g, by the theorem %g", share, got, want)
		}
	}
}
