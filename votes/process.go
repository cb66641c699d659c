package votes

import (
	"context"
	"io"
	"runtime"

	"github.com/darrm/darrm/internal/textrows"
)

// ProcessOptions configure Process.
type ProcessOptions struct {
	// Workers is the number of goroutines that call work. Defaults to GOMAXPROCS.
	Workers int
	// Progress, if not nil, is called after every batch that sink has taken, from
	// the goroutine that called Process.
	Progress func(Progress)
}

// Process sends every batch of r through work, on several goroutines at once, and
// the results through sink, one after the other in the order of the stream, on
// the caller's goroutine. What must be drawn or counted in order belongs into
// sink. Two batches per worker and a few more are under way at most, so
// memory is bounded.
//
// work may change the batch; neither may keep it or its slices. The context of
// work ends with that of r, and on the first error, which Process returns; no
// batch reaches sink after one that failed. Process waits for the calls of work
// that are under way, so they should look at their context if they take long.
// Afterwards r is at its end; closing it is left to the caller.
func Process[T any](r *Reader, o ProcessOptions, work func(context.Context, *Batch) (T, error),
	sink func(*Batch, T) error) error {
	if err := checkWorkers(o.Workers); err != nil {
		return err
	}
	if o.Workers == 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	type job struct {
		batch  *Batch
		result T
		err    error
		at     Progress
	}
	// Not of r.ctx, which ends with the stream, while batches are still under way.
	ctx, cancel := context.WithCancel(r.caller)
	p := textrows.InOrder(ctx, o.Workers, func() (job, error) {
		b, err := r.Next()
		return job{batch: b, at: r.Progress()}, err
	}, func(j job) job {
		if j.err = ctx.Err(); j.err == nil {
			j.result, j.err = work(ctx, j.batch)
		}
		return j
	}, func(err error) job { return job{err: err} })
	defer func() {
		cancel()
		r.cancel() // lets a stuck Next return
		<-p.Done
	}()
	for {
		j, err := p.Next()
		if err == io.EOF {
			return nil
		}
		if err == nil {
			err = j.err
		}
		if err == nil {
			err = sink(j.batch, j.result)
		}
		if err != nil {
			return err
		}
		j.batch.Release()
		if o.Progress != nil {
			o.Progress(j.at)
		}
	}
}
