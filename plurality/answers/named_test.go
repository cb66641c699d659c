package answers

import (
	"math"
	"math/big"
	"slices"
	"testing"

	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/plurality"
)

// Whether labels tell something does not depend on the unit of costs, and a class that is answered once in
// thousands of its labels tells nothing.
func TestTellsByWhatPluralityWouldGain(t *testing.T) {
	for _, x := range []struct {
		value, constant, perfect float64
		want                     bool
	}{
		{0.9, 0.8, 1, true}, {0.8, 0.8, 1, false}, {0.80001, 0.8, 1, false}, {0.801, 0.8, 1, true},
		{-0.2, -0.5, 0, true}, {-0.2e-9, -0.5e-9, 0, true}, {-0.2e6, -0.5e6, 0, true},
		{-0.4999e-9, -0.5e-9, 0, false}, {-0.4999e6, -0.5e6, 0, false}, {0, 0, 0, false},
	} {
		b := ByClass{ConstantValue: x.constant, Perfect: x.perfect}
		if got := b.Tells(x.value); got != x.want {
			t.Errorf("%+v: %v", x, got)
		}
	}
}

// An answer is worth 1 where it has the most votes, or minus its cost; and what the second class gains is by those
// worths, times how often its votes occur.
func TestWorthByHand(t *testing.T) {
	costs := Prior{Costs: plurality.Costs{{0, 9}, {4, 0}}}
	for _, tt := range []struct {
		votes       []int
		plain, cost [2]float64 // of either answer
	}{
		{[]int{3, 0}, [2]float64{1, 0}, [2]float64{0, -4}}, {[]int{1, 2}, [2]float64{0, 1}, [2]float64{-9, 0}},
		{[]int{2, 2}, [2]float64{1, 1}, [2]float64{0, 0}},
	} {
		for a := range 2 {
			if got, cost := (Prior{}).Worth(tt.votes, a), costs.Worth(tt.votes, a); got != tt.plain[a] || cost != tt.cost[a] {
				t.Errorf("%v, answer %d: worth %v, with costs %v, want %v and %v", tt.votes, a, got, cost, tt.plain[a], tt.cost[a])
			}
		}
	}
	s := must.Get(NewSystem(t.Context(), Problem{K: 3, Classes: 2, Affected: 1, Answers: 1, Epsilon: 1, Delta: 1e-3, Named: true}))(t)
	w := plurality.Weights{Low: make([]float64, s.space.Histograms())}
	for h := range w.Low {
		w.Low[h] = float64(1 + s.space.Histogram(h)[1])
	}
	if got, want := s.Gains(costs, w), []float64{-4, -8, 27, 36}; !slices.Equal(got, want) {
		t.Errorf("gains %v, want %v", got, want)
	}
	if got := s.Gains(costs, plurality.Weights{Low: w.Low[1:]}); got != nil {
		t.Errorf("gains %v of other weights", got)
	}
}

// The bounds of a binomial tail hold the exact one, where it is no subnormal number, and are close to it.
func TestTailHoldsTheExactOne(t *testing.T) {
	for _, q := range []int{1, 7, 60} {
		for _, p := range []float64{0.01, 0.3, 0.5, 0.77} {
			exact, rat := new(big.Rat), new(big.Rat).SetFloat64(p)
			other := new(big.Rat).Sub(big.NewRat(1, 1), rat)
			terms := make([]*big.Rat, q+1)
			for j := range terms {
				terms[j] = new(big.Rat).SetInt(new(big.Int).Binomial(int64(q), int64(j)))
			}
			power, rest := big.NewRat(1, 1), big.NewRat(1, 1)
			for j := range terms {
				terms[j].Mul(terms[j], power)
				terms[q-j].Mul(terms[q-j], rest)
				power, rest = new(big.Rat).Mul(power, rat), new(big.Rat).Mul(rest, other)
			}
			for from := q; from > 0; from-- {
				exact.Add(exact, terms[from])
				low, high := newCoins(q, 1, 1e-3).tail(p, from)
				want, _ := exact.Float64()
				if want > 1e-300 && (new(big.Rat).SetFloat64(low).Cmp(exact) > 0 || new(big.Rat).SetFloat64(high).Cmp(exact) < 0) ||
					math.Abs(high-low) > 1e-9*want+1e-12 {
					t.Fatalf("Pr[J >= %d] of %d coins of %v is in [%v, %v], and it is %v", from, q, p, low, high, want)
				}
			}
		}
	}
}

// Leads that no weight is stated of have none.
func TestWindowOfFewWeights(t *testing.T) {
	p := Problem{K: 5, Classes: 2, Affected: 2, Answers: 3, Epsilon: 1, Delta: 1e-3, Missing: true}
	few, link := []float64{0, 1}, p.CoinLink(p.Epsilon)
	all := append(slices.Clone(few), 0, 0, 0, 0)
	if got, want := p.Window(few, link), p.Window(all, link); !slices.Equal(got, want) {
		t.Errorf("%v, with zeros %v", got, want)
	}
}
