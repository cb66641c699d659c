package ensemble_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/internal/testing/must"
)

// Figures of sets are sums over every outcome of every label of a question, weighted by its probability.
func TestSetsAgainstAllOutcomes(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	m := must.Get(ensemble.GNMax(ensemble.Setting{K: 7, Classes: 2, Affected: 1, Neighbours: accountant.ReplaceOne},
		accountant.Cost{Epsilon: 1, Delta: 1e-3}, must.Get(ensemble.GNMaxNoise(accountant.Cost{Epsilon: 1, Delta: 1e-3}))(t)))(t)
	labels := []string{"a", "b", "c"}
	for range 30 {
		s := must.Get(ensemble.NewSets(labels))(t)
		var agreement, whole, right, recall, yes, accuracy, truths, sets float64
		n := 1 + random.IntN(5)
		for range n {
			var ones, truth [3]int
			known := true
			for l := range labels {
				ones[l], truth[l] = random.IntN(8), random.IntN(3)-1
				known = known && truth[l] >= 0
				if err := s.Add([]int{7 - ones[l], ones[l]}, truth[l]); err != nil {
					t.Fatal(err)
				}
				if ones[l] > 3 {
					yes++
				}
				if truth[l] >= 0 {
					truths++
				}
			}
			if known {
				sets++
			}
			for outcome := range 8 {
				p, agrees, rights := 1.0, 0, 0
				for l := range labels {
					answer := outcome >> l & 1
					p *= must.Get(m.Probabilities([]int{7 - ones[l], ones[l]}))(t)[answer]
					if (answer == 1) == (ones[l] > 3) {
						agrees++
					}
					if answer == truth[l] {
						rights++
					}
				}
				for l := range labels {
					if ones[l] > 3 && outcome>>l&1 == 1 {
						recall += p
					}
				}
				agreement += p * float64(agrees)
				accuracy += p * float64(rights)
				if agrees == 3 {
					whole += p
				}
				if rights == 3 {
					right += p
				}
			}
		}
		got := must.Get(s.Score(m))(t)
		check := func(what string, got *float64, sum, of float64) {
			t.Helper()
			if (got == nil) != (of == 0) || got != nil && math.Abs(*got-sum/of) > 1e-9 {
				t.Errorf("%s is %v, want %v of %v", what, got, sum, of)
			}
		}
		check("agreement", &got.Agreement, agreement, float64(3*n))
		check("whole sets", &got.Whole, whole, float64(n))
		check("recall", got.Recall, recall, yes)
		check("accuracy", got.Accuracy, accuracy, truths)
		check("whole sets right", got.Right, right, sets)
		mean := 0.0
		for _, l := range got.Labels {
			mean += l.Agreement / 3
		}
		if math.Abs(mean-got.Agreement) > 1e-9 {
			t.Errorf("the labels agree in %v, all together in %v", mean, got.Agreement)
		}
		no := must.Get(s.AlwaysNo())(t)
		for i, l := range no.Labels {
			if l.Agreement != l.AlwaysNo || l.AlwaysNo != got.Labels[i].AlwaysNo || l.Recall != nil && *l.Recall != 0 {
				t.Errorf("always no: %+v", l)
			}
		}
	}
}

func TestSetsRefuse(t *testing.T) {
	if _, err := ensemble.NewSets([]string{"a"}); err == nil {
		t.Error("one label")
	}
	if _, err := ensemble.NewSets(nil); err == nil {
		t.Error("no label")
	}
	for _, none := range []*ensemble.Sets{nil, new(ensemble.Sets)} {
		if none.Add([]int{1, 2}, 0) == nil {
			t.Error("votes without labels")
		}
	}
	s := must.Get(ensemble.NewSets([]string{"a", "b"}))(t)
	if s.Add([]int{1, 2, 3}, 0) == nil || s.Add([]int{-1, 2}, 0) == nil || s.Add([]int{1, 2}, 2) == nil {
		t.Error("votes that are none of a label")
	}
	if _, err := s.AlwaysNo(); err == nil {
		t.Error("no question is scored")
	}
	if err := s.Add([]int{1, 2}, 0); err != nil {
		t.Fatal(err)
	}
	if _, err := s.AlwaysNo(); err == nil {
		t.Error("half a question is scored")
	}
}
