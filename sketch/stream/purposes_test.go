package stream

import "testing"

// Each purpose has streams of its own.
func TestPurposesAreApart(t *testing.T) {
	seen := map[uint64]bool{}
	for _, purpose := range []uint64{SRHTSigns, SRHTRows, Dense, RandK, WangniCoins, InducedSubset, MonteCarlo, DataSplit, Synthetic, MessageTag,
		Rounding, Direction, Projection} {
		if seen[purpose] {
			t.Errorf("purpose %d is that of two kinds of draws", purpose)
		}
		seen[purpose] = true
	}
}

// AddFlipped adds what Flip makes, whatever the length.
func TestAddFlippedIsFlipAdded(t *testing.T) {
	for _, n := range []int{0, 1, 7, 63, 64, 65, 200} {
		src, want, got := make([]float64, n), make([]float64, n), make([]float64, n)
		for i := range src {
			src[i], got[i] = float64(i+1), 1
		}
		flips, adds := New(5, 1), New(5, 1)
		flips.FlipTo(want, src)
		adds.AddFlipped(got, src)
		for i := range got {
			if got[i] != 1+want[i] || want[i] != src[i] && want[i] != -src[i] {
				t.Fatalf("%d numbers: %v becomes %v, flipped %v", n, src[i], got[i], want[i])
			}
		}
	}
}
