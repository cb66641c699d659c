package plurality

import (
	"math"
	"slices"
	"testing"
)

// The law of uneven shares, by the urn that it is: each vote is for a class with probability
// (A/C + its votes so far)/(A + all votes so far). All C^K sequences are gone through.
func TestUnevenCounts(t *testing.T) {
	for _, c := range []struct {
		k, classes int
		a          float64
	}{{1, 3, 1}, {5, 3, 1}, {6, 4, 0.3}, {7, 2, 5}, {4, 5, 100}} {
		system, err := NewSystem(Problem{K: c.k, Classes: c.classes, Epsilon: 1, Affected: 1})
		if err != nil {
			t.Fatal(err)
		}
		want := make([]float64, system.Histograms())
		votes := make([]int, c.classes)
		var urn func(n int, p float64)
		urn = func(n int, p float64) {
			if n == c.k {
				h, err := system.Index(votes)
				if err != nil {
					t.Fatal(err)
				}
				want[h] += p
				return
			}
			for i := range votes {
				q := p * (c.a/float64(c.classes) + float64(votes[i])) / (c.a + float64(n))
				votes[i]++
				urn(n+1, q)
				votes[i]--
			}
		}
		urn(0, 1)
		got, err := UnevenCounts(system.Space, c.a)
		if err != nil {
			t.Fatal(err)
		}
		for h, x := range got {
			if !slices.Equal(x.Votes, system.Histogram(h)) || math.Abs(x.Count-want[h]) > 1e-12 {
				t.Errorf("%+v: histogram %v has %v, by the urn %v", c, x.Votes, x.Count, want[h])
			}
		}
		if _, err := (Objective{Counts: got}).Weights(system.Space); err != nil {
			t.Errorf("%+v: %v", c, err)
		}
	}
	system, err := NewSystem(Problem{K: 5, Classes: 3, Epsilon: 1, Affected: 1})
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range []float64{0, -1, math.NaN(), math.Inf(1), 1e7} {
		if _, err := UnevenCounts(system.Space, a); err == nil {
			t.Errorf("concentration %v is accepted", a)
		}
	}
}
