package noisetest

import (
	"math/rand/v2"
	"testing"
)

func TestCheck(t *testing.T) {
	law := []float64{0.1, 0.2, 0, 0.7}
	draw := func(seed uint64, n int, law []float64) []int {
		rng := rand.New(rand.NewPCG(seed, 1))
		out := make([]int, len(law))
		for range n {
			u, i := rng.Float64(), 0
			for ; i < len(law)-1 && u >= law[i]; i++ {
				u -= law[i]
			}
			out[i]++
		}
		return out
	}
	// 200 tests: a false alarm with probability 2e-4 at most, and seeded
	for seed := range uint64(200) {
		if err := Check(draw(seed, 20_000, law), law); err != nil {
			t.Errorf("seed %d: %v", seed, err)
		}
	}
	for name, other := range map[string][]float64{
		"one in a hundred": {0.11, 0.19, 0, 0.7}, "what cannot be": {0.1, 0.2, 0.0005, 0.6995},
	} {
		if Check(draw(7, 200_000, other), law) == nil {
			t.Errorf("%s: passes", name)
		}
	}
	if Check([]int{1}, law) == nil {
		t.Error("another number of outcomes passes")
	}
	if err := Check(make([]int, 4), law); err != nil {
		t.Errorf("no draws: %v", err)
	}
}
