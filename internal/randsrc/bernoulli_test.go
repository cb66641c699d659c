package randsrc_test

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/darrm/darrm/internal/randsrc"
	"github.com/darrm/darrm/internal/testing/randsrctest"
	"pgregory.net/rapid"
)

type bernoulli func(src randsrc.Source, k uint64) (bool, error)

// checkBernoulli compares b with the definition, true iff u < k, at the places
// where a wrong comparison differs: around k, at both ends of the range and
// around the powers of two. For a k in reach, a count of all u below a bound
// makes the probability exact.
func checkBernoulli(b bernoulli) error {
	one := func(u, k uint64) error {
		src := &randsrctest.Sequence{Words: []uint64{u}}
		got, err := b(src, k)
		if err != nil {
			return fmt.Errorf("u = %d, k = %d: %w", u, k, err)
		}
		if want := u < k; got != want {
			return fmt.Errorf("u = %d, k = %d: got %t, want %t", u, k, got, want)
		}
		if words, bits := src.Used(); words != 1 || bits != 0 {
			return fmt.Errorf("u = %d, k = %d: drew %d words and %d bits, want one word", u, k, words, bits)
		}
		return nil
	}
	ks := []uint64{0, 1, 2, 3, 5, randsrc.One53 / 3, randsrc.One53 - 1, randsrc.One53}
	for e := 2; e < 53; e++ {
		ks = append(ks, 1<<e-1, 1<<e, 1<<e+1)
	}
	for _, k := range ks {
		us := []uint64{0, 1, randsrc.One53/2 - 1, randsrc.One53 / 2, randsrc.One53 - 1}
		for d := range uint64(3) { // k-1, k, k+1
			us = append(us, k+d-1)
		}
		for _, u := range us {
			if u >= randsrc.One53 { // includes k-1 for k = 0
				continue
			}
			if err := one(u, k); err != nil {
				return err
			}
		}
	}
	for k := range uint64(20) { // every u up to 40: exactly k of them are below k
		for u := range uint64(40) {
			if err := one(u, k); err != nil {
				return err
			}
		}
	}
	return nil
}

func TestBernoulli53IsExact(t *testing.T) {
	if err := checkBernoulli(randsrc.Bernoulli53); err != nil {
		t.Error(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		k := rapid.Uint64Range(0, randsrc.One53).Draw(t, "k")
		u := rapid.Uint64Range(0, randsrc.One53-1).Draw(t, "u")
		got, err := randsrc.Bernoulli53(&randsrctest.Sequence{Words: []uint64{u}}, k)
		if err != nil || got != (u < k) {
			t.Fatalf("got %t, %v", got, err)
		}
	})
}

// Every planted mistake must fail the check that the real function passes. The
// first three are biases far too small for any statistical test.
func TestMutantCoinsAreCaught(t *testing.T) {
	draw := func(f func(u, k uint64) bool) bernoulli {
		return func(src randsrc.Source, k uint64) (bool, error) {
			u, err := src.Uint53()
			return f(u, k), err
		}
	}
	mutants := map[string]bernoulli{
		"u <= k":           draw(func(u, k uint64) bool { return u <= k }),
		"u+1 < k":          draw(func(u, k uint64) bool { return u+1 < k }),
		"52 bits":          draw(func(u, k uint64) bool { return u>>1 < k>>1 }),
		"32 bits":          draw(func(u, k uint64) bool { return u>>21 < k>>21 }),
		"float32":          draw(func(u, k uint64) bool { return float32(u) < float32(k) }),
		"inverted":         draw(func(u, k uint64) bool { return u >= k }),
		"signed 53 bits":   draw(func(u, k uint64) bool { return int64(u<<11) < int64(k<<11) }),
		"k = 0 draws none": skipDraw(0, false),
		"k = 2^53 draws none": skipDraw(randsrc.One53,
			true),
		"best of two": func(src randsrc.Source, k uint64) (bool, error) {
			a, err := src.Uint53()
			if err != nil {
				return false, err
			}
			b, err := src.Uint53()
			return min(a, b) < k, err
		},
	}
	for name, m := range mutants {
		if checkBernoulli(m) == nil {
			t.Errorf("mutant %q passes", name)
		}
	}
}

func skipDraw(at uint64, result bool) bernoulli {
	return func(src randsrc.Source, k uint64) (bool, error) {
		if k == at {
			return result, nil
		}
		return randsrc.Bernoulli53(src, k)
	}
}

func TestBernoulli53Errors(t *testing.T) {
	boom := errors.New("boom")
	words := func(u ...uint64) randsrc.Source { return &randsrctest.Sequence{Words: u} }
	tests := []struct {
		name string
		src  randsrc.Source
		k    uint64
		want error // nil: any
	}{
		{"k above 2^53", words(0), randsrc.One53 + 1, nil},
		{"k of all ones", words(0), math.MaxUint64, nil},
		{"nil source", nil, 1, nil},
		{"nil *Secure", (*randsrc.Secure)(nil), 1, nil},
		{"source fails", &randsrctest.Sequence{Err: boom}, 1, boom},
		{"source leaves its range", words(randsrc.One53), randsrc.One53, nil},
	}
	for _, tt := range tests {
		got, err := randsrc.Bernoulli53(tt.src, tt.k)
		if err == nil || got {
			t.Errorf("%s: got %t, %v; want false and an error", tt.name, got, err)
		}
		if tt.want != nil && !errors.Is(err, tt.want) {
			t.Errorf("%s: got %v, want %v", tt.name, err, tt.want)
		}
	}
}

// The frequencies of true over n = 200,000 draws, against the binomial law. The
// limit of 7 standard deviations gives a false alarm once in 4e11 checks; the
// 12 checks here fail by chance with probability 3e-11.
func TestBernoulli53Frequencies(t *testing.T) {
	const n = 200_000
	sources := map[string]randsrc.Source{"secure": randsrc.NewSecure(), "seeded": randsrc.NewSeeded(1)}
	for name, src := range sources {
		for _, k := range []uint64{0, randsrc.One53 / 100, randsrc.One53 / 3, randsrc.One53 / 2,
			randsrc.One53 / 10 * 9, randsrc.One53} {
			var ones int
			for range n {
				b, err := randsrc.Bernoulli53(src, k)
				if err != nil {
					t.Fatal(err)
				}
				if b {
					ones++
				}
			}
			p := float64(k) / float64(randsrc.One53)
			sigma := math.Sqrt(n * p * (1 - p))
			if d := math.Abs(float64(ones) - n*p); d > 7*sigma {
				t.Errorf("%s, k = %d: %d ones of %d, %g standard deviations off", name, k, ones, n, d/sigma)
			}
		}
	}
}

func BenchmarkBernoulli53(b *testing.B) {
	for name, src := range map[string]randsrc.Source{"secure": randsrc.NewSecure(),
		"seeded": randsrc.NewSeeded(1)} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := randsrc.Bernoulli53(src, randsrc.One53/3); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
