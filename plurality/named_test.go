package plurality

import (
	"context"
	"math"
	"slices"
	"testing"
)

// Every vector of votes has one histogram, and every change of at most t votes one pair, by brute force.
func TestNamedSpaceByBruteForce(t *testing.T) {
	for k := 1; k <= 4; k++ {
		for classes := 2; classes <= 3; classes++ {
			s := NewNamedSpace(k, classes)
			if n := NamedHistograms(k, classes); s.Histograms() != n || s.Variables() != n*classes || !s.Named() {
				t.Fatalf("K=%d C=%d: %d histograms and %d variables, want %d and %d", k, classes, s.Histograms(),
					s.Variables(), n, n*classes)
			}
			for h := range s.Histograms() {
				if at, err := s.Index(s.Histogram(h)); err != nil || at != h {
					t.Fatalf("Index(Histogram(%d)) = %d, %v", h, at, err)
				}
			}
			var vectors [][]int
			for i := range int(math.Pow(float64(classes), float64(k))) {
				v := make([]int, k)
				for teacher := range v {
					v[teacher] = i % classes
					i /= classes
				}
				vectors = append(vectors, v)
			}
			for reach := 1; reach <= k; reach++ {
				want := map[[2]int]bool{}
				for _, v := range vectors {
					for _, w := range vectors {
						apart := 0
						for teacher := range v {
							if v[teacher] != w[teacher] {
								apart++
							}
						}
						a, b := index(t, s, v, classes), index(t, s, w, classes)
						if a != b && apart <= reach {
							want[[2]int{a, b}] = true
						}
					}
				}
				got := map[[2]int]bool{}
				if err := s.Pairs(context.Background(), reach, func(p *Pair) bool {
					key := [2]int{p.From, p.To}
					if got[key] {
						t.Fatalf("pair %v comes twice", key)
					}
					got[key] = true
					for c, column := range p.Columns {
						first, _ := s.Range(p.From)
						second, _ := s.Range(p.To)
						if column != (Column{first + c, second + c, 1}) {
							t.Fatalf("pair %v has column %v at class %d", key, column, c)
						}
					}
					return true
				}); err != nil {
					t.Fatal(err)
				}
				if len(got) != len(want) {
					t.Fatalf("K=%d C=%d t=%d: %d pairs, want %d", k, classes, reach, len(got), len(want))
				}
				for key := range want {
					if !got[key] {
						t.Fatalf("K=%d C=%d t=%d: no pair %v", k, classes, reach, key)
					}
				}
			}
		}
	}
}

func index(t *testing.T, s *Space, votes []int, classes int) int {
	counts := make([]int, classes)
	for _, v := range votes {
		counts[v]++
	}
	h, err := s.Index(counts)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// With equal shares the histograms of one sorted histogram have together its weight; and with others
// the weights sum to 1, classes with larger shares have more votes, and the formula is the definition.
func TestNamedWeights(t *testing.T) {
	ctx := context.Background()
	for _, o := range []Objective{{Accuracy: 0.6}, {Concentration: 1}} {
		named, sorted := NewNamedSpace(6, 3), NewSpace(6, 3, false, false)
		w, err := o.SharedWeights(ctx, named, nil)
		if err != nil {
			t.Fatal(err)
		}
		want, err := o.Weights(ctx, sorted)
		if err != nil {
			t.Fatal(err)
		}
		sums := make([]float64, sorted.Histograms())
		for h := range named.Histograms() {
			at, err := sorted.Index(named.Histogram(h))
			if err != nil {
				t.Fatal(err)
			}
			sums[at] += w.High[h]
		}
		for h, sum := range sums {
			if math.Abs(sum-want.High[h]) > 1e-14 {
				t.Errorf("%v: histogram %v has weight %v, want %v", o, sorted.Histogram(h), sum, want.High[h])
			}
		}
	}
	shares := Shares{0.7, 0.2, 0.1}
	for _, o := range []Objective{{Accuracy: 0.6}, {Concentration: 1}} {
		s := NewNamedSpace(9, 3)
		w, err := o.SharedWeights(ctx, s, shares)
		if err != nil {
			t.Fatal(err)
		}
		total, votes := 0.0, make([]float64, 3)
		for h, x := range w.Low {
			if x > w.High[h] || w.High[h]-x > 1e-15 {
				t.Fatalf("weight between %v and %v", x, w.High[h])
			}
			total += x
			for c, n := range s.Histogram(h) {
				votes[c] += x * float64(n) / 9
			}
		}
		if math.Abs(total-1) > 1e-12 {
			t.Errorf("%v: weights sum to %v", o, total)
		}
		for c, got := range votes { // one teacher's vote
			want := shares[c]
			if o.Accuracy != 0 {
				want = shares[c]*0.6 + (1-shares[c])*0.2
			}
			if math.Abs(got-want) > 1e-12 {
				t.Errorf("%v: class %d has %v of the votes, want %v", o, c, got, want)
			}
		}
	}
	// Public counts are as they are stated, and not mirrored.
	s := NewNamedSpace(2, 2)
	w, err := (Objective{Counts: []HistogramCount{{Votes: []int{2, 0}, Count: 3}, {Votes: []int{1, 1}, Count: 1}}}).
		SharedWeights(ctx, s, nil)
	if err != nil || !slices.Equal(w.Low, []float64{0, 0.25, 0.75}) {
		t.Errorf("weights of counts are %v, %v", w.Low, err)
	}
}

func TestNamedLaw(t *testing.T) {
	s := NewNamedSpace(2, 2) // 0,2  1,1  2,0
	masses := []uint64{One / 4, One - One/4, One / 2, One / 2, One, 0}
	if err := s.CheckMasses(masses); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		votes []int
		want  []float64
	}{{[]int{0, 2}, []float64{0.25, 0.75}}, {[]int{2, 0}, []float64{1, 0}}} {
		if law, err := s.Law(masses, c.votes); err != nil || !slices.Equal(law, c.want) {
			t.Errorf("law of %v is %v, %v; want %v", c.votes, law, err, c.want)
		}
	}
}

func TestCosts(t *testing.T) {
	ordered := Costs{{0, 1, 2}, {1, 0, 1}, {2, 1, 0}}
	for _, c := range []struct {
		costs  Costs
		votes  []int
		answer int
		want   float64
	}{
		{nil, []int{3, 1, 1}, 0, 0}, {nil, []int{3, 1, 1}, 2, 1}, {nil, []int{2, 1, 2}, 2, 0},
		{ordered, []int{3, 1, 1}, 2, 2}, {ordered, []int{2, 1, 2}, 1, 1}, {ordered, []int{2, 2, 1}, 2, 1},
		{ordered, []int{2, 2, 1}, 3, 1},
	} {
		if got := c.costs.Cost(c.votes, c.answer); got != c.want {
			t.Errorf("answer %d at votes %v costs %v, want %v", c.answer, c.votes, got, c.want)
		}
	}
	for _, bad := range []Costs{{}, {{0, 1}}, {{0, 1}, {1}}, {{1, 1}, {1, 0}}, {{0, -1}, {1, 0}},
		{{0, 0}, {0, 0}}, {{0, math.NaN()}, {1, 0}}, {{0, math.Inf(1)}, {1, 0}}} {
		if bad.Validate(2) == nil {
			t.Errorf("costs %v are taken", bad)
		}
	}
	for _, bad := range []Shares{{}, {1}, {0.5, 0.4}, {1, 0}, {0.5, 0.5, 0}, {math.NaN(), 1}, {-1, 2}} {
		if bad.Validate(2) == nil {
			t.Errorf("shares %v are taken", bad)
		}
	}
	if err := (Shares{0.05, 0.95}).Validate(2); err != nil {
		t.Error(err)
	}
}
