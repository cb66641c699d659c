package federated

import (
	"sync"
	"testing"
)

// Each vector of several blocks is summed once, by whatever number of workers.
func TestBlockSumsTakeEachVectorOnce(t *testing.T) {
	const n = 2*BlockSize + 300
	for _, workers := range []int{1, 3} {
		var mu sync.Mutex
		taken := make([]int, n)
		sum := []float64{-1} // which is to be cleared
		err := blockSums(t.Context(), n, workers, sum, func(_, from, to int, sum []float64) error {
			mu.Lock()
			defer mu.Unlock()
			for i := from; i < to; i++ {
				taken[i]++
				sum[0] += float64(i)
			}
			return nil
		})
		if err != nil || sum[0] != n*(n-1)/2 {
			t.Errorf("%d workers: the sum is %g, want %d, %v", workers, sum[0], n*(n-1)/2, err)
		}
		for i, times := range taken {
			if times != 1 {
				t.Fatalf("%d workers: vector %d is taken %d times", workers, i, times)
			}
		}
	}
}
