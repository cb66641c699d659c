package ensemble

import (
	"math"
	"testing"

	"github.com/darrm/darrm/accountant"
)

// renyi returns the Rényi divergence of order α of two positive laws.
func renyi(p, q []float64, alpha float64) float64 {
	sum := 0.0
	for c := range p {
		sum += math.Exp(alpha*math.Log(p[c]) - (alpha-1)*math.Log(q[c]))
	}
	return math.Log(sum) / (alpha - 1)
}

// Pure answers are zero-concentrated at ρ = ε²/2 and no better. The exponential mechanism
// has ε²/8, because its losses span ε and not 2ε; permute-and-flip and noisy counts do not:
// on all small counts, by their exact laws, permute-and-flip exceeds ε²/8 nearly fourfold.
// What the accountant charges is never below the truth, for one answer and for many.
func TestPureAnswersAreConcentratedAtHalfEpsilonSquared(t *testing.T) {
	exceeds := 0.0 // the largest divergence over α·ε²/8
	for _, epsilon := range []float64{0.1, 0.5, 2} {
		for _, shape := range []struct{ teachers, classes, affected int }{{1, 2, 1}, {5, 2, 1}, {4, 3, 1},
			{4, 3, 2}, {3, 4, 1}} {
			s := Setting{K: shape.teachers, Classes: shape.classes, Affected: shape.affected,
				Neighbours: accountant.ReplaceOne}
			a, err := PermuteAndFlip(s, epsilon)
			if err != nil {
				t.Fatal(err)
			}
			brute := bruteFlip(epsilon / (2 * float64(shape.affected)))
			votesOf(s.K, s.Classes, func(x []int) {
				p := brute(x)
				neighboursOf(x, s.Affected, func(y []int) {
					q := brute(y)
					for _, alpha := range []float64{1.01, 1.5, 2, 4, 16, 100} {
						truth := renyi(p, q, alpha)
						exceeds = max(exceeds, truth/(alpha*epsilon*epsilon/8))
						charged, err := accountant.RDP(a.Event(), alpha)
						if err != nil || charged < truth-1e-13/(alpha-1) {
							t.Errorf("ε = %g, %v and %v: divergence %g at order %g, charged %g, %v", epsilon, x, y,
								truth, alpha, charged, err)
						}
						if most := alpha * epsilon * epsilon / 2; truth > most+1e-13/(alpha-1) ||
							charged > most*(1+1e-8) {
							t.Errorf("ε = %g, %v and %v: divergence %g at order %g, charged %g, above αε²/2 = %g",
								epsilon, x, y, truth, alpha, charged, most)
						}
					}
				})
			})
		}
	}
	if exceeds < 3.5 {
		t.Errorf("no divergence is above %g·αε²/8: the test cannot tell the exponential mechanism's claim", exceeds)
	}
	// Many answers, charged by zCDP: two classes and one teacher, who votes either way.
	for _, tt := range []struct {
		epsilon float64
		answers int
	}{{0.1, 200}, {0.02, 10_000}} {
		a, err := PermuteAndFlip(Setting{K: 1, Classes: 2, Affected: 1,
			Neighbours: accountant.ReplaceOne}, tt.epsilon)
		if err != nil {
			t.Fatal(err)
		}
		account, err := accountant.New(accountant.ReplaceOne)
		if err != nil {
			t.Fatal(err)
		}
		if account, err = account.Charge(a.Event(), tt.answers); err != nil {
			t.Fatal(err)
		}
		const delta = 1e-5
		report, err := account.AtDelta(delta, accountant.MethodZCDP, accountant.MethodRDP)
		if err != nil || len(report.Bounds) != 2 {
			t.Fatalf("%+v, %v", report, err)
		}
		brute := bruteFlip(tt.epsilon / 2)
		p, q := brute([]int{1, 0}), brute([]int{0, 1})
		for _, b := range report.Bounds {
			if d := repeatedDelta(p, q, tt.answers, b.Cost.Epsilon); d > delta {
				t.Errorf("%d answers at ε = %g: %s says %v, δ there is %g", tt.answers, tt.epsilon, b.Method,
					b.Cost, d)
			}
		}
		// The mutant: ρ = ε²/8.
		mutant, err := accountant.EpsilonFromZCDP(float64(tt.answers)*tt.epsilon*tt.epsilon/8, delta)
		if err != nil {
			t.Fatal(err)
		}
		if d := repeatedDelta(p, q, tt.answers, mutant); d < 10*delta {
			t.Errorf("%d answers at ε = %g: δ(%g) = %g: a claim of ε²/8 would pass", tt.answers, tt.epsilon,
				mutant, d)
		}
	}
}

// repeatedDelta returns δ(ε) of so many independent answers that are 0 with probability p[0]
// or q[0]: their number is all that counts.
func repeatedDelta(p, q []float64, answers int, eps float64) float64 {
	lgamma := func(x float64) float64 { y, _ := math.Lgamma(x); return y }
	sum, n := 0.0, float64(answers)
	for i := range answers + 1 {
		j := float64(i)
		choose := lgamma(n+1) - lgamma(j+1) - lgamma(n-j+1)
		a := choose + j*math.Log(p[0]) + (n-j)*math.Log(p[1])
		b := choose + j*math.Log(q[0]) + (n-j)*math.Log(q[1])
		sum += max(0, math.Exp(a)-math.Exp(eps+b))
	}
	return sum
}
