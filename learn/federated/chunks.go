package federated

import (
	"context"

	"golang.org/x/sync/errgroup"
)

// chunkSize is the number of records or messages in a chunk, the unit of work. Each chunk is
// summed, then the chunks' sums are added in order, and each chunk has coins of its own. So no
// result depends on the number of workers. Another size changes the results of a seed.
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

// BlockSize is the number of vectors in a block. Each block is summed apart from the others, so
// that several machines can sum blocks and one can add their sums. Another size changes the results
// of a seed.
const BlockSize = 64 * chunkSize

// blocks returns the number of blocks of n vectors.
func blocks(n int) int { return (n + BlockSize - 1) / BlockSize }

// blockSums adds vectors up, block after block: do adds those of its chunk to a sum of its own.
func blockSums(ctx context.Context, n, workers int, sum []float64,
	do func(worker, from, to int, sum []float64) error) error {
	clear(sum)
	block := make([]float64, len(sum))
	for start := 0; start < n; start += BlockSize {
		err := chunkSums(ctx, min(n-start, BlockSize), workers, block,
			func(worker, from, to int, sum []float64) error {
				return do(worker, start+from, start+to, sum)
			})
		if err != nil {
			return err
		}
		addTo(sum, block)
	}
	return nil
}

// chunkSums adds the vectors of one block up.
func chunkSums(ctx context.Context, n, workers int, sum []float64,
	do func(worker, from, to int, sum []float64) error) error {
	count, d := (n+chunkSize-1)/chunkSize, len(sum)
	parts := make([]float64, d*count)
	err := chunks(ctx, n, workers, func(worker, from, to int) error {
		at := d * (from / chunkSize)
		return do(worker, from, to, parts[at:at+d])
	})
	clear(sum)
	for c := range count {
		addTo(sum, parts[d*c:d*(c+1)])
	}
	return err
}

func addTo(sum, v []float64) {
	for j, x := range v {
		sum[j] += x
	}
}
