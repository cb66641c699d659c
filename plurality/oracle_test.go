package plurality

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/darrm/darrm/internal/testing/must"
)

// A second opinion, from the definition: histograms are lists of C counts, nothing is
// sorted, and fractions are exact.

func allHistograms(k, c int) [][]int {
	if c == 1 {
		return [][]int{{k}}
	}
	var out [][]int
	for v := 0; v <= k; v++ {
		for _, rest := range allHistograms(k-v, c-1) {
			out = append(out, append([]int{v}, rest...))
		}
	}
	return out
}

func moved(a, b []int) int {
	d := 0
	for c := range a {
		d += max(0, a[c]-b[c])
	}
	return d
}

// law returns the probabilities of each class (and of abstaining) when these are the counts.
func law(t rapid.TB, s *System, g []uint64, counts []int) []*big.Rat {
	t.Helper()
	h, err := s.Index(counts)
	if err != nil {
		t.Fatal(err)
	}
	first, end := s.Range(h)
	of := func(votes int) *big.Rat {
		for i := first; i < end; i++ {
			if s.Votes(i) == votes {
				same := 0
				for _, v := range counts {
					if v == votes {
						same++
					}
				}
				if votes == Abstained {
					same = 1
				}
				return new(big.Rat).SetFrac(new(big.Int).SetUint64(g[i]),
					new(big.Int).Mul(new(big.Int).SetUint64(One), big.NewInt(int64(same))))
			}
		}
		t.Fatalf("no variable for %d votes of %v", votes, counts)
		return nil
	}
	var out []*big.Rat
	for _, v := range counts {
		out = append(out, of(v))
	}
	if s.problem.Abstain {
		out = append(out, of(Abstained))
	}
	return out
}

// private decides by the definition, with the factor E⁻ for e^ε.
func private(t rapid.TB, s *System, g []uint64, delta *big.Rat) bool {
	t.Helper()
	return spentBy(t, s, g).Cmp(delta) <= 0
}

// spentBy returns the largest Σ_c (p(h,c) - E⁻p(h',c))₊ of all neighbouring histograms.
func spentBy(t rapid.TB, s *System, g []uint64) *big.Rat {
	t.Helper()
	most := new(big.Rat)
	e := new(big.Rat).SetFloat64(s.below)
	all := allHistograms(s.k, s.classes)
	laws := make([][]*big.Rat, len(all))
	for n, h := range all {
		laws[n] = law(t, s, g, h)
	}
	for n, a := range all {
		for m, b := range all {
			if n == m || moved(a, b) > s.problem.Affected {
				continue
			}
			sum := new(big.Rat)
			for c := range laws[n] {
				over := new(big.Rat).Sub(laws[n][c], new(big.Rat).Mul(e, laws[m][c]))
				if over.Sign() > 0 {
					sum.Add(sum, over)
				}
			}
			if sum.Cmp(most) > 0 {
				most = sum
			}
		}
	}
	return most
}

func system(t rapid.TB, p Problem) *System {
	t.Helper()
	return must.Get(NewSystem(p))(t)
}

// Certify agrees with the definition, on masses that are a few units from breaking a row.
// Where δ > 0 its rounding may refuse what is within 2⁻⁵⁰ of δ, and never the other way.
func TestCertifyAgreesWithTheDefinition(t *testing.T) {
	slack := new(big.Rat).SetFrac(big.NewInt(1), big.NewInt(1<<50))
	var passed, refused int
	rapid.Check(t, func(rt *rapid.T) {
		p := Problem{
			K: rapid.IntRange(1, 5).Draw(rt, "K"), Classes: rapid.IntRange(2, 4).Draw(rt, "C"),
			Epsilon: rapid.SampledFrom([]float64{0.01, 0.5, 1, 5, 60}).Draw(rt, "eps"),
			Delta:   rapid.SampledFrom([]float64{0, 0, 1e-12, 0.1}).Draw(rt, "delta"),
			Abstain: rapid.Bool().Draw(rt, "abstain"),
		}
		p.Affected = rapid.IntRange(1, p.K).Draw(rt, "t")
		s := system(t, p)
		// Tight masses: those of powers of E⁻, as permute-and-flip and others have them.
		var masses []uint64
		q := s.PermuteAndFlip()
		if rapid.Bool().Draw(rt, "exponential") {
			q = s.exponential()
		}
		masses = s.masses(q, rapid.SampledFrom([]float64{0, 1e-15, 1e-12, 0.5, 1}).Draw(rt, "lambda"))
		for range rapid.IntRange(0, 3).Draw(rt, "moves") {
			h := rapid.IntRange(0, s.Histograms()-1).Draw(rt, "histogram")
			first, end := s.Range(h)
			i := rapid.IntRange(first, end-1).Draw(rt, "from")
			j := rapid.IntRange(first, end-1).Draw(rt, "to")
			units := rapid.SampledFrom([]uint64{1, 10, 1 << 20, 1 << 50}).Draw(rt, "units")
			units = min(units, masses[i])
			masses[i] -= units
			masses[j] += units
		}
		_, err := Certify(context.Background(), s, masses)
		var violation *ViolationError
		if err != nil && !errors.As(err, &violation) {
			rt.Fatal(err)
		}
		if err == nil && !private(rt, s, masses, s.delta) {
			rt.Fatalf("%+v: certified, but not private", p)
		}
		tighter := s.delta
		if p.Delta > 0 {
			tighter = new(big.Rat).Sub(s.delta, slack)
		}
		if err != nil && private(rt, s, masses, tighter) {
			rt.Fatalf("%+v: refused (%v), but private", p, err)
		}
		if err == nil {
			passed++
		} else {
			refused++
		}
	})
	if passed == 0 || refused == 0 {
		t.Errorf("%d passed and %d were refused: one side is not tested", passed, refused)
	}
}

// columns of a pair of unsorted histograms, as a canonical string.
func columnsOf(a, b []int) string {
	var cols [][2]int
	for c := range a {
		cols = append(cols, [2]int{a[c], b[c]})
	}
	slices.SortFunc(cols, func(x, y [2]int) int { return slices.Compare(x[:], y[:]) })
	return fmt.Sprint(cols)
}

// The pairs are exactly those of the definition, once each, at every distance 1 … t and with
// all their columns.
func TestNeighboursAreAllPairs(t *testing.T) {
	for k := 1; k <= 6; k++ {
		for c := 2; c <= 4; c++ {
			for reach := 1; reach <= min(k, 3); reach++ {
				s := NewSpace(k, c, true, false)
				want := map[string]bool{}
				all := allHistograms(k, c)
				for _, a := range all {
					for _, b := range all {
						if d := moved(a, b); d >= 1 && d <= reach {
							want[columnsOf(a, b)] = true
						}
					}
				}
				found := map[string]bool{}
				for h := range s.Histograms() {
					s.Neighbours(h, reach, func(p *Pair) bool {
						var a, b []int
						for _, col := range p.Columns {
							if (s.Votes(col.I) == Abstained) != (s.Votes(col.J) == Abstained) {
								t.Fatal("abstaining is paired with a class")
							}
							if s.histogramOf(col.I) != p.From || s.histogramOf(col.J) != p.To {
								t.Fatal("a column is of another histogram")
							}
							for range col.Classes {
								if s.Votes(col.I) != Abstained {
									a, b = append(a, s.Votes(col.I)), append(b, s.Votes(col.J))
								}
							}
						}
						key := columnsOf(a, b)
						if found[key] {
							t.Fatalf("%s comes twice", key)
						}
						if last := p.Columns[len(p.Columns)-1]; s.Votes(last.I) != Abstained {
							t.Fatal("no column for abstaining")
						}
						found[key] = true
						again, ok := s.Between(h, reach, p.Changes)
						if !ok || again.To != p.To || !slices.Equal(again.Columns, p.Columns) {
							t.Fatalf("%s: Between differs", key)
						}
						return true
					})
				}
				if len(found) != len(want) {
					t.Fatalf("K=%d C=%d t=%d: %d pairs, want %d", k, c, reach, len(found), len(want))
				}
				for key := range want {
					if !found[key] {
						t.Fatalf("K=%d C=%d t=%d: %s is missing", k, c, reach, key)
					}
				}
			}
		}
	}
}

// A histogram may have more pairs than are visited between two looks at the context.
func TestNeighboursOfAHistogramWithMany(t *testing.T) {
	const k, reach = 14, 7
	s := NewSpace(k, 6, false, false)
	all, most := 0, 0
	for h := range s.Histograms() {
		n := 0
		if !s.Neighbours(h, reach, func(*Pair) bool { n++; return true }) {
			t.Fatalf("%v: stopped after %d", s.Histogram(h), n)
		}
		all, most = all+n, max(most, n)
	}
	want := 0
	if err := s.Pairs(context.Background(), reach,
		func(*Pair) bool { want++; return true }); err != nil {
		t.Fatal(err)
	}
	if all != want || most < 4096 {
		t.Errorf("%d pairs, at most %d of a histogram, want %d", all, most, want)
	}
}

// Between takes the changes that can be made one after the other, and no others.
func TestBetweenByTheDefinition(t *testing.T) {
	const k, classes = 4, 3
	s := NewSpace(k, classes, false, false)
	pairs := 0
	for h := range s.Histograms() {
		for reach := 1; reach <= 2; reach++ {
			var all []Change
			for votes := 0; votes <= k; votes++ {
				for delta := -3; delta <= 3; delta++ {
					for n := -1; n <= 3; n++ {
						all = append(all, Change{votes, delta, n})
					}
				}
			}
			for _, a := range all {
				for _, b := range all {
					changes := []Change{a, b}
					want := changed(s.Histogram(h), changes, reach)
					got, ok := s.Between(h, reach, changes)
					if ok != (want != nil) || ok && !slices.Equal(s.Histogram(got.To), want) {
						t.Fatalf("%v, t = %d, %v: %t, %+v, want %v", s.Histogram(h), reach, changes, ok, got, want)
					}
					if !ok {
						continue
					}
					pairs++
					if _, ok := s.Between(h, reach, append(changes, Change{0, 1, 0})); ok {
						t.Fatalf("%v, %v: and a change of no class", s.Histogram(h), changes)
					}
				}
			}
		}
	}
	if pairs < 20 {
		t.Errorf("only %d pairs", pairs)
	}
}

// changed returns the votes, descending, after the changes, or nil where they cannot be made or are
// of none or more than reach moved votes.
func changed(votes []int, changes []Change, reach int) []int {
	left := slices.Clone(votes)
	var after []int
	up, down := 0, 0
	for _, c := range changes {
		if c.Classes < 1 || c.Votes+c.Delta < 0 {
			return nil
		}
		for range c.Classes {
			i := slices.Index(left, c.Votes)
			if i < 0 {
				return nil
			}
			left = slices.Delete(left, i, i+1)
			after = append(after, c.Votes+c.Delta)
			up, down = up+max(0, c.Delta), down+max(0, -c.Delta)
		}
	}
	if up != down || up == 0 || up > reach {
		return nil
	}
	after = append(after, left...)
	slices.SortFunc(after, func(a, b int) int { return b - a })
	return after
}

// Rows by pairs, rows by Row, and rows by cliques are the same rows.
func TestCliquesAreTheRows(t *testing.T) {
	for k := 1; k <= 7; k++ {
		for c := 2; c <= 4; c++ {
			for reach := 1; reach <= min(k, 3); reach++ {
				s := system(t, Problem{K: k, Classes: c, Affected: reach, Epsilon: 1, Abstain: c == 3})
				want := map[[2]int]bool{}
				for h := range s.Histograms() {
					s.Neighbours(h, reach, func(p *Pair) bool {
						for _, col := range p.Columns {
							want[[2]int{col.I, col.J}] = true
						}
						return true
					})
				}
				cliques, err := s.Cliques(context.Background())
				if err != nil {
					t.Fatal(err)
				}
				found := map[[2]int]bool{}
				for n := range cliques.Len() {
					for _, i := range cliques.At(n) {
						for _, j := range cliques.At(n) {
							found[[2]int{int(i), int(j)}] = true
						}
					}
				}
				for i := range s.Variables() {
					want[[2]int{i, i}] = true // at no distance, and true of everything
					for j := range s.Variables() {
						row := [2]int{i, j}
						if found[row] != want[row] || s.row(i, j, reach) != want[row] {
							t.Fatalf("K=%d C=%d t=%d, %v %d → %v %d: %t by pairs, %t by cliques, %t by Row", k, c, reach,
								s.Histogram(s.histogramOf(i)), s.Votes(i), s.Histogram(s.histogramOf(j)), s.Votes(j),
								want[row], found[row], s.row(i, j, reach))
						}
					}
				}
			}
		}
	}
}

// The space: sorted, complete, numbered as Index says.
func TestSpace(t *testing.T) {
	for k := 0; k <= 12; k++ {
		for c := 2; c <= 15; c += 3 {
			s := NewSpace(k, c, false, false)
			if n := Histograms(k, c); n != s.Histograms() {
				t.Fatalf("K=%d C=%d: %d histograms, counted %d", k, c, s.Histograms(), n)
			}
			var before []int
			for h := range s.Histograms() {
				now := s.Histogram(h)
				if h > 0 && slices.Compare(before, now) >= 0 ||
					!slices.IsSortedFunc(now, func(a, b int) int { return b - a }) {
					t.Fatalf("%v after %v", now, before)
				}
				before = slices.Clone(now)
				rand.Shuffle(len(now), func(a, b int) { now[a], now[b] = now[b], now[a] })
				if got, err := s.Index(now); err != nil || got != h {
					t.Fatalf("%v is number %d, %v, want %d", now, got, err, h)
				}
			}
		}
	}
	// The sizes of the published table.
	for _, x := range []struct{ k, c, histograms, variables int }{
		{25, 4, 185, 640}, {50, 4, 1154, 4248}, {25, 10, 1455, 6875}, {250, 3, 5334, 15876},
		{100, 4, 8037, 30787}, {50, 10, 62740, 378666},
	} {
		if s := NewSpace(x.k, x.c, false, false); s.Histograms() != x.histograms ||
			s.Variables() != x.variables {
			t.Errorf("K=%d C=%d: %d histograms and %d variables, want %d and %d", x.k, x.c, s.Histograms(),
				s.Variables(), x.histograms, x.variables)
		}
	}
}

// The weights are the law of sorted histograms: sums over all vectors of votes, in fractions.
func TestWeightsAreTheLaw(t *testing.T) {
	for _, x := range []struct {
		k, c int
		mu   float64
	}{{4, 2, 0.75}, {5, 3, 0.6}, {3, 4, 0.3}, {2, 5, 0.9}} {
		s := NewSpace(x.k, x.c, false, false)
		right := big.NewRat(int64(x.mu*100+.5), 100)
		wrong := new(big.Rat).Quo(new(big.Rat).Sub(big.NewRat(1, 1), right), big.NewRat(int64(x.c-1), 1))
		want := make([]*big.Rat, s.Histograms())
		for h := range want {
			want[h] = new(big.Rat)
		}
		var vote func(truth, left int, counts []int, p *big.Rat)
		vote = func(truth, left int, counts []int, p *big.Rat) {
			if left == 0 {
				h, err := s.Index(counts)
				if err != nil {
					t.Fatal(err)
				}
				want[h].Add(want[h], p)
				return
			}
			for c := range x.c {
				q := wrong
				if c == truth {
					q = right
				}
				counts[c]++
				vote(truth, left-1, counts, new(big.Rat).Mul(p, q))
				counts[c]--
			}
		}
		for truth := range x.c {
			vote(truth, x.k, make([]int, x.c), big.NewRat(1, int64(x.c)))
		}
		w, err := Objective{Accuracy: x.mu}.Weights(context.Background(), s)
		if err != nil {
			t.Fatal(err)
		}
		for h := range want {
			low, high := new(big.Rat).SetFloat64(w.Low[h]), new(big.Rat).SetFloat64(w.High[h])
			if low.Cmp(want[h]) > 0 || high.Cmp(want[h]) < 0 || w.High[h]-w.Low[h] > 1e-15*w.High[h] {
				t.Errorf("K=%d C=%d: w(%v) in [%v, %v], want %v", x.k, x.c, s.Histogram(h), w.Low[h], w.High[h],
					want[h].FloatString(20))
			}
		}
	}
}

// What a certificate says is spent of δ is what the definition says, rounded up by little,
// for masses that are nothing like a good mechanism's.
func TestSpentIsByTheDefinition(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		p := Problem{
			K: rapid.IntRange(1, 4).Draw(rt, "K"), Classes: rapid.IntRange(2, 4).Draw(rt, "C"), Affected: 1,
			Epsilon: rapid.SampledFrom([]float64{0.01, 0.5, 2}).Draw(rt, "eps"), Delta: 0.999999,
			Abstain: rapid.Bool().Draw(rt, "abstain"),
		}
		s := system(rt, p)
		x := make([]float64, s.Variables())
		for i := range x {
			x[i] = rapid.Float64Range(1e-3, 1).Draw(rt, "p")
		}
		q, err := s.normalise(x)
		if err != nil {
			rt.Fatal(err)
		}
		g := s.masses(q, 0)
		c, err := Certify(context.Background(), s, g)
		if err != nil {
			rt.Fatal(err)
		}
		want := spentBy(rt, s, g)
		got := new(big.Rat).SetFloat64(c.Certificate().Spent)
		most := new(big.Rat).Add(want, new(big.Rat).SetFrac(big.NewInt(1), big.NewInt(1<<51)))
		if got.Cmp(want) < 0 || got.Cmp(most) > 0 {
			rt.Fatalf("%+v: %v is spent, the certificate says %v", p, want.FloatString(20),
				got.FloatString(20))
		}
	})
}
