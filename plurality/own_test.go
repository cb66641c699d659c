package plurality

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/darrm/darrm/internal/testing/must"
)

// given returns the laws of K = 2 votes for 3 classes: (1,1,0) and (2,0,0).
func given() []HistogramLaw {
	return []HistogramLaw{
		{[]int{2, 0, 0}, []float64{0.5, 0.25, 0.25}},
		{[]int{1, 1, 0}, []float64{0.4, 0.4, 0.2}},
	}
}

func TestFromGiven(t *testing.T) {
	s := NewSpace(2, 3, false, false)
	masses, change, err := s.FromGiven(given())
	if err != nil || s.CheckMasses(masses) != nil || change > 0x1p-52 || change == 0 {
		t.Fatalf("%v, change %v, %v", masses, change, err)
	}
	for i, want := range []float64{0.8, 0.2, 0.5, 0.5} { // the groups of (1,1,0), then of (2,0,0)
		if got := float64(masses[i]) / float64(One); math.Abs(got-want) > 0x1p-52 {
			t.Errorf("group %d has %v, want %v", i, got, want)
		}
	}
	// What is off by less than 1e-9 is rounding: it is divided by its sum, and counts as a change.
	laws := given()
	laws[0].Probabilities = []float64{0.5 + 8e-10, 0.25, 0.25 - 2e-10}
	if _, change, err = s.FromGiven(laws); err != nil || change < 2.9e-10 || change > 3.1e-10 {
		t.Errorf("change %v, %v", change, err)
	}
	laws[0].Probabilities = []float64{0.5 - 6e-10, 0.25, 0.25} // all of them grow
	if _, change, err = s.FromGiven(laws); err != nil || change < 2.9e-10 || change > 3.1e-10 {
		t.Errorf("change %v, %v", change, err)
	}
	laws[0].Probabilities = []float64{1, -1e-10, 1e-10}
	masses, change, err = s.FromGiven(laws)
	if err != nil || masses[2] < One-1e6 || change < 1e-10 || change > 2e-10 {
		t.Errorf("%v, change %v, %v", masses, change, err)
	}
	// A class that abstaining makes less likely, and a probability of 0.
	s = NewSpace(2, 3, true, false)
	laws = []HistogramLaw{{[]int{2, 0, 0}, []float64{0.5, 0, 0, 0.5}},
		{[]int{1, 1, 0}, []float64{0, 0, 0, 1}}}
	if masses, change, err = s.FromGiven(laws); err != nil || change != 0 ||
		!slices.Equal(masses, []uint64{0, 0, One, One / 2, 0, One / 2}) {
		t.Errorf("%v, change %v, %v", masses, change, err)
	}
}

func TestFromGivenRefuses(t *testing.T) {
	s := NewSpace(2, 3, false, false)
	for want, change := range map[string]func(l []HistogramLaw) []HistogramLaw{
		"histogram = [1 1 0], but it must be among those that are given, 1 of 2": func(
			l []HistogramLaw) []HistogramLaw {
			return l[:1]
		},
		"histogram = [2 0 0], but it must be there once": func(l []HistogramLaw) []HistogramLaw {
			return append(l, l[0])
		},
		"histogram = [0 2 0], but it must be in descending order": func(l []HistogramLaw) []HistogramLaw {
			l[0].Votes = []int{0, 2, 0}
			return l
		},
		"histogram [2 1 0]: the counts sum to 3": func(l []HistogramLaw) []HistogramLaw {
			l[0].Votes = []int{2, 1, 0}
			return l
		},
		"histogram [2 0]: 2 counts": func(l []HistogramLaw) []HistogramLaw {
			l[0].Votes = []int{2, 0}
			return l
		},
		"number of probabilities of histogram [2 0 0] = 2": func(l []HistogramLaw) []HistogramLaw {
			l[0].Probabilities = l[0].Probabilities[:2]
			return l
		},
		"probability of histogram [1 1 0] = NaN": func(l []HistogramLaw) []HistogramLaw {
			l[1].Probabilities[1] = math.NaN()
			return l
		},
		"probability of histogram [1 1 0] = -0.1": func(l []HistogramLaw) []HistogramLaw {
			l[1].Probabilities = []float64{0.55, 0.55, -0.1}
			return l
		},
		"sum of probabilities of histogram [2 0 0] = 1.0000000012": func(l []HistogramLaw) []HistogramLaw {
			l[0].Probabilities[0] += 1.2e-9
			return l
		},
		"probabilities of classes with 0 votes of histogram [2 0 0] = [0.2": func(
			l []HistogramLaw) []HistogramLaw {
			l[0].Probabilities = []float64{0.5, 0.25 - 1e-9, 0.25 + 1e-9}
			return l
		},
	} {
		masses, _, err := s.FromGiven(change(given()))
		if masses != nil || err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// spentByDefinition is the largest Σ_c (p(h,c) - e^ε·p(h',c))₊ over all pairs of lists of counts.
func spentByDefinition(t *rapid.T, s *Space, masses []uint64, reach int, epsilon float64) float64 {
	worst := 0.0
	all := allHistograms(s.k, s.classes)
	for _, h := range all {
		p := must.Get(s.Law(masses, h))(t)
		for _, other := range all {
			if moved(h, other) > reach {
				continue
			}
			sum := 0.0
			for c, q := range must.Get(s.Law(masses, other))(t) {
				sum += max(0, p[c]-math.Exp(epsilon)*q)
			}
			worst = max(worst, sum)
		}
	}
	return worst
}

func drawMasses(t *rapid.T) (Problem, *Space, []uint64) {
	p := Problem{K: rapid.IntRange(1, 4).Draw(t, "K"), Classes: rapid.IntRange(2, 4).Draw(t, "C"),
		Abstain: rapid.Bool().Draw(t, "abstain")}
	p.Affected = rapid.IntRange(1, p.K).Draw(t, "t")
	s := NewSpace(p.K, p.Classes, p.Abstain, false)
	x := rapid.SliceOfN(rapid.Float64Range(0, 1), s.Variables(), s.Variables()).Draw(t, "p")
	var laws []HistogramLaw
	for h := range s.Histograms() {
		law := HistogramLaw{Votes: s.Histogram(h)}
		first, end := s.Range(h)
		sum := 0.0
		for i := first; i < end; i++ {
			x[i] += 1e-9 // not all 0
			sum += x[i] * float64(s.ClassesOf(i))
		}
		for i := first; i < end; i++ {
			for range s.ClassesOf(i) {
				law.Probabilities = append(law.Probabilities, x[i]/sum)
			}
		}
		laws = append(laws, law)
	}
	laws = rapid.Permutation(laws).Draw(t, "order")
	masses, change, err := s.FromGiven(laws)
	if err != nil || change > 1e-15 {
		t.Fatal(change, err)
	}
	return p, s, masses
}

// The δ and the ε that are proved are the least ones, by the definition, and never below them.
func TestCertifyOwnByTheDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, s, masses := drawMasses(t)
		ctx := context.Background()
		p.Epsilon = rapid.Float64Range(0.01, 5).Draw(t, "epsilon")
		p.Delta = 0.5
		want := spentByDefinition(t, s, masses, p.Affected, p.Epsilon)
		c, err := CertifyDelta(ctx, p, masses)
		if err != nil {
			t.Fatal(err)
		}
		if got := c.Problem().Delta; got < want-1e-15 || got > want+1e-14 {
			t.Fatalf("δ = %v, want %v", got, want)
		}
		p.Delta = rapid.SampledFrom([]float64{0, 1e-6, 0.1}).Draw(t, "delta")
		if c, err = CertifyEpsilon(ctx, p, masses); err != nil {
			t.Fatal(err)
		}
		got := c.Problem().Epsilon
		if spent := spentByDefinition(t, s, masses, p.Affected, got); spent > p.Delta+1e-14 {
			t.Fatalf("ε = %v, at which %v is spent", got, spent)
		}
		less := got*(1-1e-8) - 2*leastEpsilon
		if less > 0 && spentByDefinition(t, s, masses, p.Affected, less) <= p.Delta {
			t.Fatalf("ε = %v, but %v would do", got, less)
		}
		if c.Problem().Affected != p.Affected || !slices.Equal(c.masses, masses) {
			t.Fatal("another mechanism")
		}
	})
}

func TestCertifyOwnRefuses(t *testing.T) {
	ctx := context.Background()
	p := Problem{K: 2, Classes: 3, Affected: 1, Epsilon: 1}
	sure := []uint64{0, One, One, 0} // the class without votes, or the one with all
	for want, certify := range map[string]func() (*Certified, error){
		"no delta below 1 is proved: the masses": func() (*Certified, error) {
			return CertifyDelta(ctx, p, sure)
		},
		"no epsilon is proved: the masses": func() (*Certified, error) {
			return CertifyEpsilon(ctx, p, sure)
		},
		"sum of masses of [1 1 0] = 9007199254740991": func() (*Certified, error) {
			return CertifyDelta(ctx, p, []uint64{One / 2, One/2 - 1, One, 0})
		},
		"number of masses = 1": func() (*Certified, error) { return CertifyDelta(ctx, p, sure[:1]) },
		"affected = 3": func() (*Certified, error) {
			p := p
			p.Affected = 3
			return CertifyEpsilon(ctx, p, sure)
		},
		"label epsilon = 0": func() (*Certified, error) {
			return CertifyDelta(ctx, Problem{K: 2, Classes: 3, Affected: 1}, sure)
		},
		"context canceled": func() (*Certified, error) {
			masses, _, err := NewSpace(2, 3, false, false).FromGiven(given())
			if err != nil {
				t.Fatal(err)
			}
			return CertifyEpsilon(must.EndAfter(5, context.Canceled), p, masses)
		},
	} {
		c, err := certify()
		if c != nil || err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
		if strings.Contains(want, "proved") && !errors.As(err, new(*ViolationError)) {
			t.Errorf("%T", err)
		}
	}
}

// The exponential mechanism over counts is ε-private for its rate, of which the proof finds all
// digits but the last few.
func TestCertifyEpsilonOfPermuteAndFlip(t *testing.T) {
	p := Problem{K: 6, Classes: 3, Affected: 1, Epsilon: 0.7}
	s := must.Get(NewSystem(p))(t)
	masses := s.Masses(s.PermuteAndFlip())
	for delta, most := range map[float64]float64{0: 0.7 * (1 + 1e-8), 1e-3: 0.7} {
		p.Delta = delta
		c := must.Get(CertifyEpsilon(context.Background(), p, masses))(t)
		if got := c.Problem().Epsilon; got > most || got < 0.6 {
			t.Errorf("δ = %v: ε = %v", delta, got)
		}
	}
}
