package stream

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// Acceptance A1: the state and outputs were computed by a plain-Python implementation.
func TestA1Outputs(t *testing.T) {
	s := New(42, 1, 0, 0)
	if s.state != 0x3e4a12d70b0af178 {
		t.Errorf("state = %#x", s.state)
	}
	for i, want := range []uint64{0x797e279fb8afeba3, 0x1fd872243663d270, 0xd21551237ee7efea,
		0xe11985d96f04e464} {
		if got := s.Uint64(); got != want {
			t.Errorf("output %d = %#x, want %#x", i, got, want)
		}
	}
}

// Acceptance A1: d = 16, k = 3, root 42, round 0.
func TestA1SignsAndSubsets(t *testing.T) {
	for client, want := range []struct {
		signs        string
		rows, coords []int
	}{
		{"--+++-+---+-+---", []int{6, 10, 14}, []int{3, 11, 12}},
		{"-+--+--++-+--++-", []int{3, 4, 15}, []int{11, 12, 14}},
		{"+-++++---+++-+-+", []int{0, 4, 10}, []int{10, 12, 15}},
	} {
		a := make([]float64, 16)
		for j := range a {
			a[j] = float64(j + 1)
		}
		s := New(42, SRHTSigns, 0, uint64(client))
		s.Flip(a)
		var got strings.Builder
		for j, v := range a {
			if math.Abs(v) != float64(j+1) {
				t.Fatalf("coordinate %d = %g", j, v)
			}
			got.WriteByte("+-"[int(math.Float64bits(v)>>63)])
		}
		if got.String() != want.signs {
			t.Errorf("client %d: signs %s, want %s", client, got.String(), want.signs)
		}
		s = New(42, SRHTRows, 0, uint64(client))
		if r := s.Subset(16, 3); !slices.Equal(r, want.rows) {
			t.Errorf("client %d: rows %v, want %v", client, r, want.rows)
		}
		s = New(42, RandK, 0, uint64(client))
		if r := s.Subset(16, 3); !slices.Equal(r, want.coords) {
			t.Errorf("client %d: subset %v, want %v", client, r, want.coords)
		}
	}
}

// Both ways to shuffle, by a map and by an array, are one algorithm. 20 of 1280 takes the map, and
// meets a place twice in one root of seven.
func TestSubsetIsOneShuffle(t *testing.T) {
	check := func(t interface {
		Helper()
		Fatalf(string, ...any)
	}, root uint64, d, k int) {
		t.Helper()
		s := New(root)
		got := s.Subset(d, k)
		r := New(root)
		all := make([]int, d)
		for j := range all {
			all[j] = j
		}
		for a := range k {
			b := a + int(r.Bound(uint64(d-a)))
			all[a], all[b] = all[b], all[a]
		}
		want := slices.Sorted(slices.Values(all[:k]))
		if !slices.Equal(got, want) {
			t.Fatalf("Subset(%d, %d) = %v, want %v", d, k, got, want)
		}
		if s != r {
			t.Fatalf("Subset(%d, %d): the two ways draw different numbers of words", d, k)
		}
	}
	for root := range uint64(300) {
		check(t, root, 1280, 20)
	}
	rapid.Check(t, func(t *rapid.T) {
		d := rapid.IntRange(1, 400).Draw(t, "d")
		check(t, rapid.Uint64().Draw(t, "root"), d, rapid.IntRange(0, d).Draw(t, "k"))
	})
}

// All 10 sets of 2 of 5 are equally likely: χ² with 9 degrees of freedom stays below 45 but
// once in 10⁶; a shuffle that draws from all d places each time gives about 300 here.
func TestSubsetIsUniform(t *testing.T) {
	const trials = 20000
	count := map[string]int{}
	for i := range uint64(trials) {
		s := New(7, i)
		count[fmt.Sprint(s.Subset(5, 2))]++
	}
	chi := 0.0
	for _, c := range count {
		chi += math.Pow(float64(c)-trials/10, 2) / (trials / 10)
	}
	if len(count) != 10 || chi > 45 {
		t.Errorf("%d sets, χ² = %g", len(count), chi)
	}
}

func TestBoundRejects(t *testing.T) {
	m := uint64(1<<63 + 1) // nearly half of all words must be drawn again
	threshold := -m % m
	s := New(1)
	r := s
	for range 200 {
		got := s.Bound(m)
		x := r.Uint64()
		for x < threshold {
			x = r.Uint64()
		}
		if got != x%m || got >= m {
			t.Fatalf("Bound = %d, want %d", got, x%m)
		}
	}
}

// Mean and variance of 10⁵ normal numbers; the limits are 5 standard errors, so that a false
// alarm has probability 10⁻⁶; a variance of 1.1 would fail.
func TestNormal(t *testing.T) {
	const n = 100000
	s := New(3, 3)
	sum, sq := 0.0, 0.0
	for range n {
		v := s.Normal()
		sum += v
		sq += v * v
	}
	if m := sum / n; math.Abs(m) > 5/math.Sqrt(n) {
		t.Errorf("mean %g", m)
	}
	if v := sq / n; math.Abs(v-1) > 5*math.Sqrt(2.0/n) {
		t.Errorf("variance %g", v)
	}
}
