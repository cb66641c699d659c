package ensemble

import (
	"bytes"
	"context"
	"math"
	"reflect"
	"slices"
	"testing"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/internal/testing/raced"
	"github.com/darrm/darrm/plurality"
)

// lawPair holds the laws of a mechanism's answer on two neighbouring histograms.
type lawPair struct{ p, q []float64 }

// lawPairs returns all ordered pairs of vote counts that differ by 1 to t moved votes.
func lawPairs(t testing.TB, m *Mechanism) (pairs []lawPair) {
	t.Helper()
	s := m.Setting()
	var all [][]int
	var list func(prefix []int, left int)
	list = func(prefix []int, left int) {
		if len(prefix) == s.Classes-1 {
			all = append(all, append(slices.Clone(prefix), left))
			return
		}
		for v := 0; v <= left; v++ {
			list(append(prefix, v), left-v)
		}
	}
	list(nil, s.K)
	for _, a := range all {
		for _, b := range all {
			moved := 0
			for c := range a {
				moved += max(0, a[c]-b[c])
			}
			if moved < 1 || moved > s.Affected {
				continue
			}
			var pair lawPair
			var err error
			if pair.p, err = m.Probabilities(a); err != nil {
				t.Fatal(err)
			}
			if pair.q, err = m.Probabilities(b); err != nil {
				t.Fatal(err)
			}
			pairs = append(pairs, pair)
		}
	}
	return pairs
}

// distinct leaves out pairs that are others' with the classes renamed.
func distinct(pairs []lawPair) (out []lawPair) {
	for _, x := range pairs {
		order := make([]int, len(x.p))
		for i := range order {
			order[i] = i
		}
		slices.SortFunc(order, func(i, j int) int {
			return slices.Compare([]float64{x.p[i], x.q[i]}, []float64{x.p[j], x.q[j]})
		})
		var y lawPair
		for _, i := range order {
			y.p, y.q = append(y.p, x.p[i]), append(y.q, x.q[i])
		}
		if !slices.ContainsFunc(out, func(z lawPair) bool { return reflect.DeepEqual(y, z) }) {
			out = append(out, y)
		}
	}
	return out
}

// worstDelta is the largest Σ (p - e^ε·q)₊ of so many answers, each to any pair.
func worstDelta(pairs []lawPair, count int, epsilon float64) float64 {
	e, worst := math.Exp(epsilon), 0.0
	var walk func(from, left int, p, q []float64)
	walk = func(from, left int, p, q []float64) {
		if left == 0 {
			sum := 0.0
			for i := range p {
				sum += max(0, p[i]-e*q[i])
			}
			worst = max(worst, sum)
			return
		}
		for k := from; k < len(pairs); k++ { // the order does not matter
			x := pairs[k]
			next := lawPair{make([]float64, 0, len(p)*len(x.p)), make([]float64, 0, len(p)*len(x.p))}
			for i := range p {
				for j := range x.p {
					next.p, next.q = append(next.p, p[i]*x.p[j]), append(next.q, q[i]*x.q[j])
				}
			}
			walk(k, left-1, next.p, next.q)
		}
	}
	walk(0, count, []float64{1}, []float64{1})
	return worst
}

// What the accountant charges for one to three answers is never below what the definition says of
// any histograms, in any mixture of directions. Of one answer it is within a thousandth of that
// where δ = 0, of more within 6 % (two classes: 20 %), as the worst pair of one ε is not that of
// another.
func TestPluralityEventAgainstTheDefinition(t *testing.T) {
	raced.Elsewhere(t, "TestAnswerConcurrently")
	for _, p := range pluralityCases {
		m := mustPlurality(t, solvedPlurality(t, p))
		pairs := distinct(lawPairs(t, m))
		for count := 1; count <= 3; count++ {
			if count == 3 && len(pairs) > 20 {
				continue
			}
			for _, x := range [][]float64{{0, p.Epsilon / 2}, {p.Epsilon / 2, 1.3 * p.Epsilon},
				{p.Epsilon / 2}}[count-1] {
				a, err := accountant.New(accountant.ReplaceOne)
				if err != nil {
					t.Fatal(err)
				}
				if a, err = a.Charge(m.Event(), count); err != nil {
					t.Fatal(err)
				}
				r, err := a.AtEpsilon(x, accountant.MethodPLD)
				if err != nil || len(r.Bounds) != 1 {
					t.Fatalf("%+v, %v", r, err)
				}
				got, truth := r.Bounds[0].Cost.Delta, worstDelta(pairs, count, x)
				loose := 0.06
				switch {
				case count == 1:
					loose = 1e-3
				case p.Classes == 2:
					loose = 0.2
				}
				if got < truth-1e-14 || got > truth*(1+loose)+1e-9 && p.Delta == 0 {
					t.Errorf("%+v, %d answers, %d pairs, ε = %v: δ %v, by the definition %v", p, count, len(pairs),
						x, got, truth)
				}
			}
		}
	}
}

// A table that was written and read again has the same event.
func TestPluralityEventIsTheTables(t *testing.T) {
	for _, p := range pluralityCases {
		table := solvedPlurality(t, p)
		var b bytes.Buffer
		if err := table.Encode(&b); err != nil {
			t.Fatal(err)
		}
		again, err := plurality.Decode(context.Background(), &b)
		if err != nil {
			t.Fatal(err)
		}
		if x, y := mustPlurality(t, table).Event(),
			mustPlurality(t, again).Event(); !reflect.DeepEqual(x, y) {
			t.Errorf("%+v: %v, %v", p, x, y)
		}
	}
}
