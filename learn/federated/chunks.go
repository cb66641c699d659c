package federated

import (
	"context"

	"golang.org/x/sync/errgroup"
)

// chunkSize is how many records or messages are worked on in one go. Sums are of chunks and then of
// chunks' sums, in order, and each chunk has coins of its own: so nothing depends on how many workers
// there are. It is part of what a seed stands for.
const chunkSize = 128

// chunks calls do for each chunk of n things, on so many workers. Things from to to-1 are chunk
// number from/chunkSize. Calls with the same worker come one after another.
func chunks(ctx context.Context, n, workers int, do func(worker, from, to int) error) error {
	g, ctx := errgroup.WithContext(ctx)
	count := (n + chunkSize - 1) / chunkSize
	for w := range min(workers, count) {
		g.Go(func() error {
			for c := w; c < count; c += workers {
				if err := ctx.Err(); err != nil {
					return err
				}
				if err := do(w, c*chunkSize, min(n, (c+1)*chunkSize)); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return g.Wait()
}

// chunkSums adds vectors up: do adds those of its chunk to the sums, one for each stream.
func chunkSums(ctx context.Context, n, d, workers int, sums [2][]float64, do func(worker, from, to int, sums [2][]float64) error) error {
	count := (n + chunkSize - 1) / chunkSize
	parts := make([]float64, 2*d*count)
	err := chunks(ctx, n, workers, func(worker, from, to int) error {
		at := 2 * d * (from / chunkSize)
		return do(worker, from, to, [2][]float64{parts[at : at+d], parts[at+d : at+2*d]})
	})
	if err != nil {
		return err
	}
	for s, sum := range sums {
		clear(sum)
		for c := range count {
			for j, v := range parts[2*d*c+s*d : 2*d*c+(s+1)*d] {
				sum[j] += v
			}
		}
	}
	return nil
}
