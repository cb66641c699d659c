package plurality

import (
	"math"
	"math/big"
	"slices"
	"testing"

	"github.com/darrm/darrm/gamma"
	"github.com/darrm/darrm/internal/check"
)

// The law of uneven shares, by the urn that it is: each vote is for a class with probability
// (A/C + its votes so far)/(A + all votes so far). All C^K sequences are gone through in fractions.
func TestUnevenWeights(t *testing.T) {
	for _, c := range []struct {
		k, classes int
		a          *big.Rat
	}{{1, 3, big.NewRat(1, 1)}, {5, 3, big.NewRat(1, 1)}, {6, 4, big.NewRat(3, 10)},
		{7, 2, big.NewRat(5, 1)}, {4, 5, big.NewRat(100, 1)}, {3, 3, big.NewRat(1000000, 1)}} {
		system := system(t, Problem{K: c.k, Classes: c.classes, Epsilon: 1, Affected: 1})
		want := make([]*big.Rat, system.Histograms())
		for h := range want {
			want[h] = new(big.Rat)
		}
		share := new(big.Rat).Quo(c.a, big.NewRat(int64(c.classes), 1))
		votes := make([]int, c.classes)
		var urn func(n int, p *big.Rat)
		urn = func(n int, p *big.Rat) {
			if n == c.k {
				h, err := system.Index(votes)
				if err != nil {
					t.Fatal(err)
				}
				want[h].Add(want[h], p)
				return
			}
			for i := range votes {
				q := new(big.Rat).Add(share, big.NewRat(int64(votes[i]), 1))
				q.Quo(q, new(big.Rat).Add(c.a, big.NewRat(int64(n), 1)))
				votes[i]++
				urn(n+1, q.Mul(q, p))
				votes[i]--
			}
		}
		urn(0, big.NewRat(1, 1))
		a, _ := c.a.Float64()
		w, err := Objective{Concentration: a}.Weights(t.Context(), system.Space)
		if err != nil {
			t.Fatal(err)
		}
		for h := range want {
			low, high := new(big.Rat).SetFloat64(w.Low[h]), new(big.Rat).SetFloat64(w.High[h])
			if low.Cmp(want[h]) > 0 || high.Cmp(want[h]) < 0 || w.High[h]-w.Low[h] > 1e-15*w.High[h] {
				t.Errorf("A = %v: w(%v) in [%v, %v], by the urn %v", a, system.Histogram(h), w.Low[h],
					w.High[h], want[h].FloatString(20))
			}
		}
	}
}

// Beyond what an urn can be asked, the weights are a law, and where A grows they become that of
// votes for any class alike.
func TestUnevenWeightsOfManyTeachers(t *testing.T) {
	s := NewSpace(100, 4, false, false)
	sums := func(w Weights) (low, high float64) {
		for h := range w.Low {
			low += w.Low[h]
			high += w.High[h]
		}
		return low, high
	}
	for _, a := range []float64{1e-300, 1e-6, 1, 1e6} {
		w, err := Objective{Concentration: a}.Weights(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		// 8,037 float64s are added here.
		if low, high := sums(w); low > 1+1e-12 || high < 1-1e-12 || high-low > 1e-11 {
			t.Errorf("A = %v: the weights add up to [%v, %v]", a, low, high)
		}
	}
	small := NewSpace(12, 3, false, false)
	alike, err := Objective{Concentration: 1e6}.Weights(t.Context(), small)
	if err != nil {
		t.Fatal(err)
	}
	uniform, err := Objective{Accuracy: 1. / 3}.Weights(t.Context(), small)
	if err != nil {
		t.Fatal(err)
	}
	for h := range alike.Low {
		if d := math.Abs(alike.Low[h] - uniform.Low[h]); d > 1e-4*uniform.Low[h]+1e-6 {
			t.Errorf("A = 10⁶: w(%v) = %v, without shares %v", small.Histogram(h), alike.Low[h],
				uniform.Low[h])
		}
	}
}

// What is presumed where nobody says anything is valid for any number of classes, and for two it
// is what the majority presumes.
// Counts of one histogram that are stated in parts, and of classes in other orders, add up.
func TestRepeatedHistogramsAddUp(t *testing.T) {
	s := system(t, Problem{K: 5, Classes: 3, Epsilon: 1, Affected: 1}).Space
	weights := func(counts ...HistogramCount) Weights {
		w, err := Objective{Counts: counts}.Weights(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		return w
	}
	parts := weights(HistogramCount{[]int{3, 1, 1}, 2}, HistogramCount{[]int{5, 0, 0}, 4},
		HistogramCount{[]int{1, 3, 1}, 1}, HistogramCount{[]int{0, 5, 0}, 3}, HistogramCount{[]int{1, 1, 3}, 5})
	whole := weights(HistogramCount{[]int{5, 0, 0}, 7}, HistogramCount{[]int{3, 1, 1}, 8})
	if !slices.Equal(parts.Low, whole.Low) || !slices.Equal(parts.High, whole.High) {
		t.Errorf("in parts %v, at once %v", parts.Low, whole.Low)
	}
}

func TestDefaultObjective(t *testing.T) {
	for c := 2; c <= check.MaxClasses; c++ {
		o := DefaultObjective(c)
		if err := o.Validate(Problem{Classes: c}); err != nil {
			t.Errorf("%d classes: %v", c, err)
		}
		if want := (Objective{Concentration: 1}); c > 2 && !o.Equal(want) {
			t.Errorf("%d classes: %+v", c, o)
		}
	}
	if !DefaultObjective(2).Equal(Objective{Accuracy: gamma.DefaultPriorMean}) {
		t.Error("two classes have another default than the majority")
	}
}

// No two objectives are taken for each other.
func TestObjectivesDiffer(t *testing.T) {
	all := []Objective{
		{Accuracy: 0.5}, {Accuracy: 0.6}, {Concentration: 0.5}, {Concentration: 1},
		{Concentration: 1, AbstainValue: 0.5},
		{Counts: []HistogramCount{{[]int{3, 0, 0}, 1}}}, {Counts: []HistogramCount{{[]int{3, 0, 0}, 2}}},
		{Counts: []HistogramCount{{[]int{2, 1, 0}, 1}}},
	}
	for i := range all {
		for j := range all {
			if all[i].Equal(all[j]) != (i == j) {
				t.Errorf("%+v and %+v", all[i], all[j])
			}
		}
	}
	if slices.ContainsFunc(all, func(o Objective) bool { return o.Equal(Objective{}) }) {
		t.Error("nothing is taken for something")
	}
}

// What an abstention is worth is between 0 and 1 where it is an answer.
func TestAbstainValueIsAShare(t *testing.T) {
	p := Problem{K: 5, Classes: 3, Epsilon: 1, Affected: 1, Abstain: true}
	for value, ok := range map[float64]bool{0: true, 0.5: true, 1: true, 1.1: false, -0.1: false,
		math.Inf(1): false, math.NaN(): false} {
		if err := (Objective{Accuracy: 0.6, AbstainValue: value}).Validate(p); (err == nil) != ok {
			t.Errorf("%v: %v", value, err)
		}
	}
}
