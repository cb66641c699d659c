package plan

import (
	"context"
	"math"
	"testing"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/plurality"
)

// bruteAgreement goes through all votes of k teachers, each for class 0 with probability mean
// and else for any other.
func bruteAgreement(t *testing.T, m *ensemble.Mechanism, k, classes int, mean float64) (agree float64) {
	t.Helper()
	counts := make([]int, classes)
	var visit func(teacher int, weight float64)
	visit = func(teacher int, weight float64) {
		if teacher < k {
			for c := range classes {
				p := mean
				if c > 0 {
					p = (1 - mean) / float64(classes-1)
				}
				counts[c]++
				visit(teacher+1, weight*p)
				counts[c]--
			}
			return
		}
		law, err := m.Probabilities(counts)
		if err != nil {
			t.Fatal(err)
		}
		most, winners, sum := 0, 0, 0.0
		for c, n := range counts {
			if n > most {
				most, winners, sum = n, 0, 0
			}
			if n == most {
				winners++
				sum += law[c]
			}
		}
		agree += weight * sum / float64(winners)
	}
	visit(0, 1)
	return agree
}

// Expected agreement is that of the stated prior: exactly for two classes, within five
// standard errors for more, which a right simulation misses once in 1.7 million seeds; the
// seed is fixed. Another prior mean differs by far more (ten standard errors and more).
func TestAgreementByBruteForce(t *testing.T) {
	for _, c := range []struct {
		k, classes int
		mean       float64
	}{{7, 2, 0.75}, {8, 2, 0.6}, {5, 3, 0.75}, {5, 3, 0.5}, {4, 4, 0.9}} {
		law, err := Prior(c.k, c.classes, c.mean)
		if err != nil {
			t.Fatal(err)
		}
		s := ensemble.Setting{K: c.k, Classes: c.classes, Affected: 1, Neighbours: accountant.ReplaceOne}
		for _, name := range []string{"gnmax", "lnmax", "permute_and_flip"} {
			m, err := ensemble.Calibrated(name, s, accountant.Cost{Epsilon: 2, Delta: 1e-4}, confident)
			if err != nil {
				t.Fatal(err)
			}
			a, err := law.Agreement(context.Background(), m)
			want := bruteAgreement(t, m, c.k, c.classes, c.mean)
			if tolerance := 5*a.StandardError + 1e-12; err != nil || math.Abs(a.Expected-want) > tolerance || (a.StandardError > 0) == (c.classes == 2) {
				t.Errorf("K = %d, %d classes, mean %v, %s: %+v, want %v, %v", c.k, c.classes, c.mean, name, a, want, err)
			}
		}
	}
}

// On votes it is what Mechanism.Evaluate says of them.
func TestAgreementOnVotes(t *testing.T) {
	for classes := 2; classes <= 3; classes++ {
		sample, err := NewSample(6, classes)
		if err != nil {
			t.Fatal(err)
		}
		ballots, err := ensemble.NewBallots(6, classes)
		if err != nil {
			t.Fatal(err)
		}
		for i := range 30 {
			counts := make([]int, classes)
			for j := range 6 {
				counts[(i*j*j+i)%classes*(j%3+i)%classes]++
			}
			if err := sample.Add(counts); err != nil {
				t.Fatal(err)
			}
			if err := ballots.Add(counts, ensemble.NoTruth); err != nil {
				t.Fatal(err)
			}
		}
		s := ensemble.Setting{K: 6, Classes: classes, Affected: 1, Neighbours: accountant.ReplaceOne}
		for _, name := range []string{"gnmax", "confident_gnmax", "lnmax", "permute_and_flip"} {
			m, err := ensemble.Calibrated(name, s, accountant.Cost{Epsilon: 1, Delta: map[bool]float64{true: 1e-3}[name[0] == 'g' || name[0] == 'c']}, confident)
			if err != nil {
				t.Fatal(err)
			}
			want, err := m.Evaluate(ballots)
			if err != nil {
				t.Fatal(err)
			}
			got, err := sample.Agreement(context.Background(), m)
			if tolerance := 5*got.StandardError + 1e-12; err != nil || math.Abs(got.Expected-want.Agreement) > tolerance || math.Abs(got.Abstained-want.Abstained) > 0.04*got.StandardError/0.007+1e-12 {
				t.Errorf("%s, %d classes: %+v, want %+v, %v", name, classes, got, want, err)
			}
		}
	}
	if sample, err := NewSample(6, 2); err != nil {
		t.Fatal(err)
	} else if err := sample.Add([]int{3, 4}); err == nil {
		t.Error("seven votes of six teachers")
	}
}

func TestPriorErrors(t *testing.T) {
	for _, c := range []struct {
		k, classes int
		mean       float64
	}{{0, 2, 0.75}, {11, 1, 0.75}, {11, 2, 0.5}, {11, 2, 1}, {11, 4, 0.25}, {11, 4, math.NaN()}, {11, 4, 1}} {
		if l, err := Prior(c.k, c.classes, c.mean); err == nil {
			t.Errorf("%+v: %v", c, l)
		}
	}
}

// Uneven shares are those of plurality.Objective: each mechanism agrees as often as the weights of
// all histograms say, within five standard errors, as above. Another concentration differs by more.
func TestUnevenAgreement(t *testing.T) {
	for _, c := range []struct {
		k, classes int
		a          float64
	}{{7, 3, 1}, {9, 4, 0.3}, {6, 3, 10}} {
		law, err := Uneven(c.k, c.classes, c.a)
		if err != nil {
			t.Fatal(err)
		}
		if law.Concentration() != c.a || law.Mean() != 0 || law.FromVotes() {
			t.Errorf("%+v: %v, %v, %v", c, law.Concentration(), law.Mean(), law.FromVotes())
		}
		system, err := plurality.NewSystem(plurality.Problem{K: c.k, Classes: c.classes, Epsilon: 1, Affected: 1})
		if err != nil {
			t.Fatal(err)
		}
		agreement := func(m *ensemble.Mechanism, a float64) (agree float64) {
			w, err := plurality.Objective{Concentration: a}.Weights(system.Space)
			if err != nil {
				t.Fatal(err)
			}
			for h, weight := range w.Low {
				counts := system.Histogram(h)
				p, err := m.Probabilities(counts)
				if err != nil {
					t.Fatal(err)
				}
				agree += weight * p[0] // each of the classes that share the lead agrees 1/n
			}
			return agree
		}
		s := ensemble.Setting{K: c.k, Classes: c.classes, Affected: 1, Neighbours: accountant.ReplaceOne}
		for _, name := range []string{"lnmax", "permute_and_flip"} {
			m, err := ensemble.Calibrated(name, s, accountant.Cost{Epsilon: 1}, confident)
			if err != nil {
				t.Fatal(err)
			}
			got, err := law.Agreement(context.Background(), m)
			if err != nil || got.StandardError <= 0 || math.Abs(got.Expected-agreement(m, c.a)) > 5*got.StandardError {
				t.Errorf("%+v, %s: %+v, want %v, %v", c, name, got, agreement(m, c.a), err)
			}
			if other := agreement(m, 3*c.a); math.Abs(got.Expected-other) < 5*got.StandardError {
				t.Errorf("%+v, %s: %+v is as near to %v, that of another concentration", c, name, got, other)
			}
		}
	}
	for _, a := range []float64{0, -1, math.NaN(), 1e7} {
		if l, err := Uneven(5, 3, a); err == nil {
			t.Errorf("concentration %v: %v", a, l)
		}
	}
}
