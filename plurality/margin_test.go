package plurality

import (
	"context"
	"math"
	"slices"
	"testing"
)

// The margins are the histograms by their leads, and their shares add up to the values.
func TestMargins(t *testing.T) {
	for _, p := range []Problem{{K: 7, Classes: 3, Epsilon: .5, Affected: 1},
		{K: 6, Classes: 4, Epsilon: 1, Affected: 2, Abstain: true},
		{K: 5, Classes: 2, Epsilon: 1, Affected: 1}} {
		s, err := NewSystem(p)
		if err != nil {
			t.Fatal(err)
		}
		x := s.PermuteAndFlip()
		if p.Abstain { // half of the time
			for h := range s.Histograms() {
				first, end := s.Range(h)
				for i := first; i < end-1; i++ {
					x[i] /= 2
				}
				x[end-1] = .5
			}
		}
		c, err := Round(context.Background(), s, x)
		if err != nil {
			t.Fatal(err)
		}
		table, err := NewTable(context.Background(), c, Objective{Accuracy: .6}, Proof{})
		if err != nil {
			t.Fatal(err)
		}
		margins := table.Margins(0)
		few := table.Margins(.3)
		if few[0].Lead == 0 && few[0].Most != 0 || few[len(few)-1].Most != p.K ||
			len(few) > len(margins) {
			t.Errorf("%+v: %+v", p, few)
		}
		one := slices.DeleteFunc(table.Margins(1), func(m Margin) bool { return m.Lead == 0 })
		if len(one) != 1 || one[0].Most != p.K {
			t.Errorf("%+v: all but ties are %+v", p, one)
		}
		together := 0.0
		for i, m := range few {
			together += m.Share * m.Right
			if i > 0 && m.Lead <= few[i-1].Most || m.Lead < m.Most && m.Share > .3 {
				t.Errorf("%+v: %+v after %+v", p, m, few[i-1])
			}
		}
		if math.Abs(together-table.Value) > 1e-12 {
			t.Errorf("%+v: leads taken together have value %v, want %v", p, together, table.Value)
		}
		baselines := table.Baselines()
		w, err := table.Objective.Weights(context.Background(), s.Space)
		if err != nil {
			t.Fatal(err)
		}
		byLead := map[int]float64{}
		for h := range s.Histograms() {
			votes := s.Histogram(h)
			slices.Sort(votes)
			byLead[votes[len(votes)-1]-votes[len(votes)-2]] += w.Low[h]
		}
		share, value, abstained := 0.0, 0.0, 0.0
		sums := make([]float64, len(baselines))
		for i, m := range margins {
			if i > 0 && m.Lead <= margins[i-1].Most || m.Most != m.Lead ||
				math.Abs(m.Share-byLead[m.Lead]) > 1e-12 {
				t.Errorf("%+v: lead %d has share %v, want %v", p, m.Lead, m.Share, byLead[m.Lead])
			}
			share += m.Share
			value += m.Share * m.Right
			abstained += m.Share * m.Abstained
			for b := range sums {
				sums[b] += m.Share * m.Baselines[b]
			}
		}
		if len(margins) != len(byLead) || math.Abs(share-1) > 1e-12 ||
			math.Abs(value-table.Value) > 1e-12 {
			t.Errorf("%+v: shares sum to %v, values to %v, want %v", p, share, value, table.Value)
		}
		if want := map[bool]float64{true: .5}[p.Abstain]; math.Abs(abstained-want) > 1e-9 {
			t.Errorf("%+v: abstains with %v, want %v", p, abstained, want)
		}
		for b, sum := range sums {
			if math.Abs(sum-baselines[b].Value) > 1e-12 {
				t.Errorf("%+v: %s %v, want %v", p, baselines[b].Name, sum, baselines[b].Value)
			}
		}
	}
}

func TestRecognises(t *testing.T) {
	for data, want := range map[string]bool{
		`{"format_version":1,"kind":"plurality"}`: true, `{"kind":"plurality","k":"x"}`: true,
		`{"format_version":1,"k":3}`: false, `{"kind":"gamma"}`: false, `{"kind":7}`: false,
		`"plurality"`: false, ``: false,
		`{"proof":{"kind":"plurality"}}`: false, `{"k":[1,{"kind":1}],"kind":"plurality"}`: true,
		`[{"kind":"plurality"}]`: false, `{"kind"`: false,
		// What was cut short is one of this kind, as far as can be read.
		`{"kind":"plurality"`: true, `{"format_version":1,"kind":"plurality","masses":[{`: true,
	} {
		if got := Recognises([]byte(data)); got != want {
			t.Errorf("%s: %t", data, got)
		}
	}
}
