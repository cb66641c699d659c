package pairwise

import (
	"flag"
	"math"
	"os"
	"testing"

	"pgregory.net/rapid"

	"github.com/darrm/darrm/accountant"
)

// Over random settings: a plan costs at most its target by every rule of the accountant that
// knows its event, phases do not overlap and shrink, and noise falls with them.
func TestPlansKeepTargets(t *testing.T) {
	// A plan takes up to a second to calibrate, so that 20 are made, and 100 with DARRM_LONG=1.
	if os.Getenv("DARRM_LONG") == "" {
		checks := flag.Lookup("rapid.checks").Value
		old := checks.String()
		if err := checks.Set("20"); err != nil {
			t.Fatal(err)
		}
		defer func() { _ = checks.Set(old) }()
	}
	losses := []string{"logistic", "square", "logistic:ordered", "square:ordered", "hinge"}
	rapid.Check(t, func(rt *rapid.T) {
		s := setting(t)
		name := rapid.SampledFrom(losses).Draw(rt, "loss")
		s.Loss = pair(t, name)
		s.Radius = math.Exp(rapid.Float64Range(-3, 3).Draw(rt, "ln radius"))
		s.Ball = math.Exp(rapid.Float64Range(-3, 3).Draw(rt, "ln ball"))
		s.Clip = rapid.SampledFrom([]float64{0, .1, 1, 10}).Draw(rt, "clip")
		s.Target = accountant.Cost{
			Epsilon: math.Exp(rapid.Float64Range(-3, 3).Draw(rt, "ln epsilon")),
			Delta:   math.Exp(rapid.Float64Range(-20, -1).Draw(rt, "ln delta")),
		}
		n, d := rapid.IntRange(4, 3000).Draw(rt, "n"), rapid.IntRange(1, 50).Draw(rt, "d")
		var m Method
		switch kind := rapid.IntRange(0, 9).Draw(rt, "method"); {
		case name == "hinge" || kind < 3:
			if s.Clip == 0 {
				s.Clip = 1
			}
			m = Minimised{Setting: s}
		case kind < 5:
			m = OnePass{Setting: s}
		case kind < 7:
			m = Cyclic{Setting: s, Passes: rapid.IntRange(1, 30).Draw(rt, "passes")}
		case kind < 9:
			m = FullBatch{Setting: s, Passes: rapid.Float64Range(.01, 30).Draw(rt, "passes")}
		default:
			rule := rapid.SampledFrom([]Rule{Averaged, Mixture, Exact, Chernoff}).Draw(rt, "rule")
			m = Localized{Setting: s, Rule: rule, Passes: rapid.Float64Range(.01, 30).Draw(rt, "passes")}
		}
		p, err := m.Plan(n, d)
		if err != nil {
			rt.Fatalf("%T: %v", m, err)
		}
		price := p.Price
		if price.Cost.Epsilon > s.Target.Epsilon || price.Cost.Delta > s.Target.Delta {
			rt.Fatalf("%v costs %v", s.Target, price.Cost)
		}
		a, err := accountant.New(price.Relation)
		if err == nil {
			a, err = a.Charge(price.Event, 1)
		}
		if err != nil {
			rt.Fatal(err)
		}
		if at, err := a.AtEpsilon(s.Target.Epsilon, price.Bound); err != nil ||
			at.Bounds[0].Cost.Delta > s.Target.Delta {
			rt.Fatalf("%v: %v (%v)", s.Target, at, err)
		}
		star, err := accountant.GaussianNoise(s.Target)
		if err != nil {
			rt.Fatal(err)
		}
		to := 0
		for k, b := range price.Blocks {
			if b.From != to || b.To-b.From != n>>(k+1) || b.To > n {
				rt.Fatalf("block %+v", b)
			}
			to = b.To
			if b.Sensitivity <= 0 || price.Bound == accountant.MethodGaussian &&
				b.Deviation < star*b.Sensitivity {
				rt.Fatalf("block %+v, multiplier %g", b, star)
			}
		}
	})
}

// A record that a phase draws so seldom that δ would cover it has noise all the same.
func TestSeldomDrawnRecordsHaveNoise(t *testing.T) {
	s := setting(t)
	s.Ball, s.Target = 1, accountant.Cost{Epsilon: 1, Delta: .4}
	for _, rule := range []Rule{Exact, Averaged, Mixture} {
		p, err := Localized{Setting: s, Rule: rule, Passes: .01}.Plan(22, 1)
		if err != nil {
			t.Fatal(rule, err)
		}
		for _, b := range p.Price.Blocks {
			if once := 2 * 2 * s.Radius * b.StepSize; b.Sensitivity < once || b.Deviation <= 0 {
				t.Errorf("%s: %+v, of which one occurrence is %g", rule, b, once)
			}
		}
	}
}
