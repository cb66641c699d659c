package plurality

import (
	"slices"
	"testing"
)

// ballots returns all vectors of k votes, each a class below c or, where votes may be missing, c.
func ballots(k, c int, missing bool) [][]int {
	if k == 0 {
		return [][]int{nil}
	}
	values := c
	if missing {
		values++
	}
	var out [][]int
	for _, rest := range ballots(k-1, c, missing) {
		for v := range values {
			out = append(out, append(slices.Clone(rest), v))
		}
	}
	return out
}

// tally returns how many votes each class has.
func tally(ballot []int, c int) []int {
	counts := make([]int, c+1)
	for _, v := range ballot {
		counts[v]++
	}
	return counts[:c]
}

// The pairs are those of the definition: all pairs of ballots of which at most t entries differ,
// the classes matched by their names. Both where every teacher votes and where votes may be
// missing.
func TestPairsAreThoseOfBallots(t *testing.T) {
	for _, x := range []struct{ k, c int }{{1, 2}, {3, 2}, {5, 2}, {1, 3}, {4, 3}, {3, 4}} {
		for _, missing := range []bool{false, true} {
			s := NewSpace(x.k, x.c, false, missing)
			all := ballots(x.k, x.c, missing)
			for reach := 1; reach <= x.k; reach++ {
				want := map[string]bool{}
				for _, a := range all {
					for _, b := range all {
						differ := 0
						for i := range a {
							if a[i] != b[i] {
								differ++
							}
						}
						if from, to := tally(a, x.c), tally(b, x.c); differ <= reach && !slices.Equal(from, to) {
							want[columnsOf(from, to)] = true
						}
					}
				}
				found := map[string]bool{}
				for h := range s.Histograms() {
					s.Neighbours(h, reach, func(p *Pair) bool {
						var a, b []int
						for _, col := range p.Columns {
							for range col.Classes {
								a, b = append(a, s.Votes(col.I)), append(b, s.Votes(col.J))
							}
						}
						key := columnsOf(a, b)
						if found[key] || !want[key] {
							t.Fatalf("K=%d C=%d t=%d, missing %t: %s comes twice or is no pair", x.k, x.c, reach,
								missing, key)
						}
						found[key] = true
						if again, ok := s.Between(h, reach, p.Changes); !ok || again.To != p.To ||
							!slices.Equal(again.Columns, p.Columns) {
							t.Fatalf("%s: from its changes it is another pair", key)
						}
						return true
					})
				}
				if len(found) != len(want) {
					t.Errorf("K=%d C=%d t=%d, missing %t: %d pairs, want %d", x.k, x.c, reach, missing, len(found),
						len(want))
				}
			}
		}
	}
}

// Where votes may be missing, a space has the histograms of all numbers of votes, as Index numbers
// them.
func TestSpaceOfMissingVotes(t *testing.T) {
	for k := range 9 {
		for c := 2; c <= 5; c++ {
			s := NewSpace(k, c, c == 3, true)
			if n := HistogramsUpTo(k, c); n != s.Histograms() {
				t.Errorf("K=%d C=%d: %d histograms, counted %d", k, c, s.Histograms(), n)
			}
			for h := range s.Histograms() {
				counts := s.Histogram(h)
				slices.Reverse(counts)
				if got, err := s.Index(counts); err != nil || got != h {
					t.Errorf("K=%d C=%d: %v is number %d, %v, want %d", k, c, counts, got, err, h)
				}
			}
			if _, err := s.Index(append([]int{k, 1}, make([]int, c-2)...)); err == nil {
				t.Errorf("K=%d C=%d: one vote too many has a number", k, c)
			}
		}
	}
	if n := HistogramsUpTo(2000, 900); n != MaxHistograms+1 {
		t.Errorf("too many histograms are counted as %d", n)
	}
}
