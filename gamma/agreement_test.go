package gamma

import (
	"context"
	"encoding/json"
	"math"
	"testing"

	"pgregory.net/rapid"
)

// Pr[label ≠ majority] by going through the votes and the coins one by one: counts drawn
// with their frequency, a label that is the majority with probability γ, else a fair coin.
func TestDisagreementByEnumeration(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := rapid.IntRange(1, 12).Draw(t, "K")
		f, err := FromFree(k, drawFree(t, k))
		if err != nil {
			t.Fatal(err)
		}
		counts := rapid.SliceOfN(rapid.Float64Range(0.001, 10), k+1, k+1).Draw(t, "counts")
		total, differs := 0.0, 0.0
		for l, c := range counts {
			total += c
			if 2*l == k {
				continue
			}
			majority := 2*l > k
			for _, coin := range []bool{false, true} {
				if coin != majority {
					differs += c * (1 - f.At(l)) / 2
				}
			}
		}
		got, err := Disagreement(f, counts)
		if err != nil || math.Abs(got-differs/total) > 1e-14 {
			t.Fatalf("%v, %v; by enumeration %v", got, err, differs/total)
		}
	})
}

// Independent votes of mean μ for an answer that is 0 or 1 with equal probability, all 2^K
// rows of them.
func TestTwoSidedCountsAreTheVotesOf(t *testing.T) {
	const k, mu = 7, 0.7
	want := make([]float64, k+1)
	for row := range 1 << k {
		for _, p := range []float64{mu, 1 - mu} {
			pr, ones := 0.5, 0
			for i := range k {
				if row>>i&1 == 1 {
					pr *= p
					ones++
				} else {
					pr *= 1 - p
				}
			}
			want[ones] += pr
		}
	}
	got, err := TwoSidedCounts(k, mu)
	if err != nil {
		t.Fatal(err)
	}
	for l, w := range want {
		if math.Abs(got[l]-w) > 1e-15 {
			t.Errorf("Pr[%d votes] = %v, want %v", l, got[l], w)
		}
	}
}

func TestUniformCountsAreEqual(t *testing.T) {
	counts, err := UniformCounts(4)
	if err != nil || len(counts) != 5 {
		t.Fatalf("%v, %v", counts, err)
	}
	// γ is 1, ½ and, at the tie, nothing: two counts of five are wrong half of half the time.
	if got, err := Disagreement(mustFree(t, 4, 1, 0.5), counts); err != nil ||
		math.Abs(got-0.1) > 1e-15 {
		t.Errorf("Pr[label ≠ majority] = %v, %v; want 0.1", got, err)
	}
}

func TestCountLawsRefuse(t *testing.T) {
	f := mustFree(t, 3, 1, 0.5)
	for name, err := range map[string]error{
		"uniform, K = 0": second(UniformCounts(0)), "two-sided, K = 0": second(TwoSidedCounts(0, 0.75)),
		"mean 0.5": second(TwoSidedCounts(3, 0.5)), "mean 1": second(TwoSidedCounts(3, 1)),
		"counts of others": second(Disagreement(f, []float64{1, 1, 1})),
		"ties only":        second(Disagreement(f, []float64{0, 0, 0, 0})),
	} {
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// The distance of the laws is never above the probability of a wrong label.
func TestDisagreementIsAboveTheExpectedError(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := rapid.IntRange(1, 20).Draw(t, "K")
		f, err := FromFree(k, drawFree(t, k))
		if err != nil {
			t.Fatal(err)
		}
		mu := rapid.Float64Range(0.51, 0.99).Draw(t, "μ")
		weights, err := Weights(k, mu)
		if err != nil {
			t.Fatal(err)
		}
		o := Objective{PriorMean: mu, Shape: Free}
		if d, e := o.Disagreements(f).Binomial, expectedError(f, weights); d < e-1e-15 {
			t.Fatalf("Pr[label ≠ majority] = %v, expected error %v", d, e)
		}
	})
}

// A table states the rate at which its labels differ from the majority, whatever its objective.
// Without a prior mean the law is that of 0.75.
func TestTableSaysItsDisagreement(t *testing.T) {
	f := mustFree(t, 3, 1, 0.5)
	for name, c := range map[string]struct {
		o    Objective
		mean float64
	}{
		"prior mean": {Objective{PriorMean: 0.9, Shape: Free}, 0.9},
		"counts":     {Objective{Counts: []float64{1, 0, 0, 1}, Shape: Free}, 0.75},
		"worst case": {Objective{WorstCase: true, Shape: Free}, 0.75},
	} {
		certified, err := CertifyShrunk(context.Background(), problem(t, 3, 1, 0.1, 0), f)
		if err != nil {
			t.Fatal(err)
		}
		table, err := NewTable(context.Background(), certified, c.o, Proof{})
		if err != nil {
			t.Fatal(err)
		}
		var file struct{ Disagreement map[string]float64 }
		if err := json.Unmarshal(encode(t, table), &file); err != nil {
			t.Fatal(err)
		}
		g := certified.Func()
		middle := 3 * c.mean * (1 - c.mean) // Pr[1 or 2 votes] for either answer
		binomial := (1-middle)*(1-g.At(0))/2 + middle*(1-g.At(1))/2
		uniform := (1-g.At(0))/4 + (1-g.At(1))/4
		if math.Abs(file.Disagreement["binomial"]-binomial) > 1e-15 ||
			math.Abs(file.Disagreement["uniform"]-uniform) > 1e-15 {
			t.Errorf("%s: %v, want %v and %v", name, file.Disagreement, binomial, uniform)
		}
	}
}
