package sketch

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
)

// summer adds the clients' vectors up in parallel. The clients form at most 32 fixed groups;
// each is summed by itself and the groups in their order, so that the result is the same for
// every number of workers. A worker keeps 2d' + k numbers.
type summer struct {
	n, groups int
	buffers   []buffer // one per worker
}

type buffer struct {
	part, scratch []float64 // a group's sum, and room for a transform
	y             []float64 // room for a client's k numbers
}

func newSummer(workers, n, k, d int) *summer {
	if workers == 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	s := &summer{n: n, groups: min(n, 32)}
	if n*d < 1<<14 {
		workers = 1 // less work than starting another goroutine
	}
	for range min(workers, s.groups) {
		s.buffers = append(s.buffers, buffer{make([]float64, d), make([]float64, d), make([]float64, k)})
	}
	return s
}

// add adds f's contributions of all clients to out.
func (s *summer) add(ctx context.Context, out []float64,
	f func(i int, out []float64, b buffer)) error {
	done := make([]chan struct{}, s.groups)
	for g := range done {
		done[g] = make(chan struct{})
	}
	var next atomic.Int64
	var wg sync.WaitGroup
	for _, b := range s.buffers {
		wg.Go(func() {
			for {
				g := int(next.Add(1)) - 1
				if g >= s.groups {
					return
				}
				part := b.part
				clear(part)
				for i := g * s.n / s.groups; i < (g+1)*s.n/s.groups && ctx.Err() == nil; i++ {
					f(i, part, b)
				}
				if g > 0 {
					<-done[g-1] // groups are taken in order, so that it is done or being done
				}
				for j, v := range part {
					out[j] += v
				}
				close(done[g])
			}
		})
	}
	wg.Wait()
	return ctx.Err()
}
