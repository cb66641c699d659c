package plan

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/ensemble/labellaw"
	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/plurality"
)

// bruteAgreement goes through all votes of k teachers, each for class 0 with probability mean
// and else for any other.
func bruteAgreement(t *testing.T, m *ensemble.Mechanism, k, classes int,
	mean float64) (agree float64) {
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
		most, sum := 0, 0.0
		for c, n := range counts {
			if n > most {
				most, sum = n, 0
			}
			if n == most {
				sum += law[c]
			}
		}
		agree += weight * sum
	}
	visit(0, 1)
	return agree
}

// Expected agreement is that of the stated prior, any class with the most votes being right:
// exactly, but for Laplace's noise between more than two classes, within five standard errors,
// which a right simulation misses once in 1.7 million seeds; the seed is fixed.
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
		for _, name := range []string{"gnmax", "lnmax", "permute-and-flip"} {
			m, err := ensemble.Calibrated(name, s, accountant.Cost{Epsilon: 2, Delta: 1e-4},
				ensemble.Check{Ratio: ensemble.CheckRatio})
			if err != nil {
				t.Fatal(err)
			}
			a, err := law.Agreement(context.Background(), m)
			want := bruteAgreement(t, m, c.k, c.classes, c.mean)
			if tolerance := 5*a.StandardError + 1e-12; err != nil || math.Abs(a.Expected-want) > tolerance ||
				(a.StandardError > 0) != (c.classes > 2 && name == "lnmax") {
				t.Errorf("K = %d, %d classes, mean %v, %s: %+v, want %v, %v", c.k, c.classes, c.mean, name, a,
					want, err)
			}
			drawn, err := newLaw(c.k, c.classes)
			if err != nil {
				t.Fatal(err)
			}
			drawn.draw(oneRight(c.classes, c.mean))
			if a, err := drawn.Agreement(context.Background(), m); err != nil || a.StandardError <= 0 ||
				math.Abs(a.Expected-want) > 5*a.StandardError {
				t.Errorf("K = %d, %d classes, mean %v, %s: %+v of drawn queries, want %v, %v", c.k, c.classes,
					c.mean, name, a, want, err)
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
		for _, name := range []string{"gnmax", "confident-gnmax", "lnmax", "permute-and-flip"} {
			m, err := ensemble.Calibrated(name, s, accountant.Cost{Epsilon: 1,
				Delta: map[bool]float64{true: 1e-3}[name[0] == 'g' || name[0] == 'c']},
				ensemble.Check{Ratio: ensemble.CheckRatio})
			if err != nil {
				t.Fatal(err)
			}
			want, err := m.Evaluate(ballots)
			if err != nil {
				t.Fatal(err)
			}
			got, err := sample.Agreement(context.Background(), m)
			if tolerance := 5*got.StandardError + 1e-12; err != nil ||
				math.Abs(got.Expected-want.Agreement) > tolerance ||
				math.Abs(got.Abstained-want.Abstained) > 0.04*got.StandardError/0.007+1e-12 {
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
	}{{0, 2, 0.75}, {11, 1, 0.75}, {11, 2, 0.5}, {11, 2, 1}, {11, 4, 0.25}, {11, 4, math.NaN()},
		{11, 4, 1}} {
		if l, err := Prior(c.k, c.classes, c.mean); err == nil {
			t.Errorf("%+v: %v", c, l)
		}
	}
}

// Uneven shares are those of plurality.Objective, exactly where they have few histograms; queries
// drawn of more are within five standard errors, as above. Another concentration differs by more.
func TestUnevenAgreement(t *testing.T) {
	for _, c := range []struct {
		k, classes int
		a          float64
	}{{7, 3, 1}, {9, 4, 0.3}, {6, 3, 10}, {30, 7, 0.3}} {
		law, err := Uneven(c.k, c.classes, c.a)
		if err != nil {
			t.Fatal(err)
		}
		if law.Concentration() != c.a || law.Mean() != 0 || law.FromVotes() {
			t.Errorf("%+v: %v, %v, %v", c, law.Concentration(), law.Mean(), law.FromVotes())
		}
		system, err := plurality.NewSystem(plurality.Problem{K: c.k, Classes: c.classes, Epsilon: 1,
			Affected: 1})
		if err != nil {
			t.Fatal(err)
		}
		agreement := func(m *ensemble.Mechanism, a float64) (agree float64) {
			w, err := plurality.Objective{Concentration: a}.Weights(context.Background(), system.Space)
			if err != nil {
				t.Fatal(err)
			}
			for h, weight := range w.Low {
				counts := system.Histogram(h)
				p, err := m.Probabilities(counts)
				if err != nil {
					t.Fatal(err)
				}
				agrees, _ := labellaw.Plurality(counts, p)
				agree += weight * agrees
			}
			return agree
		}
		s := ensemble.Setting{K: c.k, Classes: c.classes, Affected: 1, Neighbours: accountant.ReplaceOne}
		for _, name := range []string{"lnmax", "permute-and-flip"} {
			m, err := ensemble.Calibrated(name, s, accountant.Cost{Epsilon: 1},
				ensemble.Check{Ratio: ensemble.CheckRatio})
			if err != nil {
				t.Fatal(err)
			}
			got, err := law.Agreement(context.Background(), m)
			if err != nil || (got.StandardError > 0) != (name == "lnmax") ||
				math.Abs(got.Expected-agreement(m, c.a)) > 5*got.StandardError+1e-12 {
				t.Errorf("%+v, %s: %+v, want %v, %v", c, name, got, agreement(m, c.a), err)
			}
			drawn, err := newLaw(c.k, c.classes)
			if err != nil {
				t.Fatal(err)
			}
			drawn.draw(polyaUrn(c.classes, c.a))
			got, err = drawn.Agreement(context.Background(), m)
			if err != nil || got.StandardError <= 0 || math.Abs(got.Expected-agreement(m, c.a)) > 5*
				got.StandardError {
				t.Errorf("%+v, %s: %+v of drawn queries, want %v, %v", c, name, got, agreement(m, c.a), err)
			}
			if other := agreement(m, 3*c.a); name != "lnmax" &&
				math.Abs(got.Expected-other) < 5*got.StandardError {
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

// The standard error of a sampled prior is that of a mean of as many queries as were drawn: worked
// out here query by query. A guess agrees as often as a mechanism that ignores the votes.
func TestStandardErrorOfASampledPrior(t *testing.T) {
	law, err := Uneven(60, 10, 1)
	if err != nil {
		t.Fatal(err)
	}
	if !law.sampled {
		t.Fatalf("%d histograms are few", plurality.Histograms(60, 10))
	}
	m, err := ensemble.PermuteAndFlip(ensemble.Setting{K: 60, Classes: 10, Affected: 1,
		Neighbours: accountant.ReplaceOne}, 0.3)
	if err != nil {
		t.Fatal(err)
	}
	var each []float64
	sum, guess := 0.0, 0.0
	for _, c := range law.cells {
		p, err := m.Probabilities(c.counts)
		if err != nil {
			t.Fatal(err)
		}
		agree, leaders := 0.0, 0.0
		for class, n := range c.counts {
			if n == c.counts[len(c.counts)-1] { // the largest: add sorts
				agree += p[class]
				leaders++
			}
		}
		for range int(c.weight) {
			each = append(each, agree)
			sum += agree
			guess += leaders / 10
		}
	}
	n := float64(len(each))
	if n != simulations {
		t.Fatalf("%v queries were drawn", n)
	}
	variance := 0.0
	for _, x := range each {
		variance += (x - sum/n) * (x - sum/n) / n
	}
	a, err := law.Agreement(context.Background(), m)
	if want := math.Sqrt(variance / n); err != nil || math.Abs(a.StandardError-want) > 1e-9 ||
		math.Abs(a.Expected-sum/n) > 1e-12 || want < 1e-4 {
		t.Errorf("%+v, want %v ± %v, %v", a, sum/n, want, err)
	}
	if got := law.Guess(); math.Abs(got-guess/n) > 1e-12 || got < 0.1 {
		t.Errorf("a guess agrees with %v, want %v", got, guess/n)
	}
}

// 25 teachers, 10 classes and 100 labels: how often GNMax agrees is known to four digits, by an
// independent program and the exact prior; a sample of 5,000 labels was up to a hundredth off, and
// more than the optimum is behind.
func TestAgreementOfTenClasses(t *testing.T) {
	law, err := Uneven(25, 10, 1)
	if err != nil {
		t.Fatal(err)
	}
	m, err := ensemble.GNMax(ensemble.Setting{K: 25, Classes: 10, Affected: 1,
		Neighbours: accountant.ReplaceOne}, accountant.Cost{Epsilon: 0.4, Delta: 1e-8}, 21.8335)
	if err != nil {
		t.Fatal(err)
	}
	if a, err := law.Agreement(context.Background(), m); err != nil ||
		math.Abs(a.Expected-0.2677) > 6e-5 || a.StandardError != 0 {
		t.Errorf("%+v, want 0.2677, %v", a, err)
	}
}

// Always one class agrees where it has the most votes, also where others have as many; a prior does
// not say which class leads.
func TestAlwaysOfASample(t *testing.T) {
	l, err := NewSample(4, 3)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, ok := l.Always(); ok {
		t.Error("no votes, and yet a class")
	}
	for _, counts := range [][]int{{0, 3, 1}, {0, 4, 0}, {2, 2, 0}, {3, 0, 1}, {2, 0, 2}} {
		if err := l.Add(counts); err != nil {
			t.Fatal(err)
		}
	}
	if class, agreement, ok := l.Always(); class != 0 || agreement != 3./5 || !ok {
		t.Errorf("class %d, %v, %v", class, agreement, ok)
	}
	if err := l.AddTimes([]int{0, 1, 3}, 2.5); err != nil {
		t.Fatal(err)
	}
	if got := l.Leads(); !slices.Equal(got, []float64{3 / 7.5, 3 / 7.5, 3.5 / 7.5}) {
		t.Errorf("with 2.5 times another query: %v", got)
	}
	for _, n := range []float64{0, -1, math.NaN(), math.Inf(1)} {
		if err := l.AddTimes([]int{0, 1, 3}, n); err == nil {
			t.Errorf("a query counts %v times", n)
		}
	}
	prior, err := DefaultLaw(4, 3)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, ok := prior.Always(); ok || prior.Leads() != nil {
		t.Error("a prior says which class leads")
	}
}

// Public counts are a law that treats the classes alike, and no sample of private votes.
func TestCounted(t *testing.T) {
	l, err := Counted(4, 3, []plurality.HistogramCount{{Votes: []int{4, 0, 0}, Count: 3},
		{Votes: []int{0, 4, 0}, Count: 1}, {Votes: []int{1, 2, 0}, Count: 4}, {Votes: []int{0, 0, 0}}})
	if err != nil || l.FromVotes() {
		t.Fatalf("%v", err)
	}
	got := map[int]float64{}
	for counts, share := range l.Histograms() {
		got[counts[0]*100+counts[1]*10+counts[2]] += share
	}
	if len(got) != 2 || got[4] != .5 || got[12] != .5 {
		t.Errorf("%v", got)
	}
	for _, c := range [][]plurality.HistogramCount{nil, {{Votes: []int{1, 3, 0}}}, {{Votes: []int{5, 0, 0}, Count: 1}},
		{{Votes: []int{4, 0}, Count: 1}}, {{Votes: []int{4, 0, 0}, Count: -1}},
		{{Votes: []int{4, 0, 0}, Count: math.Inf(1)}}} {
		if _, err := Counted(4, 3, c); err == nil {
			t.Errorf("%v are counts", c)
		}
	}
}

// The law of classes with shares, summed over the true class: each teacher is right with probability mean, one by
// one.
func TestNamedLawByHand(t *testing.T) {
	const mean = 0.8
	shares := plurality.Shares{0.9, 0.1}
	l := must.Get(NamedLaw(2, 2, mean, shares))(t)
	if !l.Named() || l.Mean() != mean {
		t.Errorf("named %t, mean %v", l.Named(), l.Mean())
	}
	want := map[[2]int]float64{
		{2, 0}: 0.9*mean*mean + 0.1*(1-mean)*(1-mean), {1, 1}: 2 * mean * (1 - mean),
		{0, 2}: 0.1*mean*mean + 0.9*(1-mean)*(1-mean),
	}
	n := 0
	for counts, share := range l.Histograms() {
		if n++; math.Abs(share-want[[2]int(counts)]) > 1e-12 {
			t.Errorf("%v has %v, want %v", counts, share, want[[2]int(counts)])
		}
	}
	if n != len(want) {
		t.Errorf("%d histograms", n)
	}
	if _, err := NamedLaw(2, 2, mean, plurality.Shares{0.9, 0.2}); err == nil {
		t.Error("shares of sum 1.1")
	}
}
