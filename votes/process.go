package votes

import (
	"context"
	"io"
	"runtime"
	"sync"

	"github.com/darrm/darrm/internal/check"
)

// ProcessOptions say how Process works.
type ProcessOptions struct {
	// Workers is how many goroutines call work. Defaults to GOMAXPROCS.
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
func Process[T any](r *Reader, o ProcessOptions, work func(context.Context, *Batch) (T, error), sink func(*Batch, T) error) error {
	if o.Workers < 0 || o.Workers > 1024 {
		return &check.Error{Name: "workers", Value: o.Workers, Rule: "between 0 (one per processor) and 1024"}
	}
	if o.Workers == 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	type job struct {
		batch  *Batch
		result T
		err    error
		at     Progress
		ready  chan struct{}
	}
	// Not of r.ctx, which ends with the stream, while batches are still under way.
	ctx, cancel := context.WithCancel(r.caller)
	var group sync.WaitGroup
	defer group.Wait()
	defer cancel()
	defer r.cancel() // lets a stuck Next return

	order := make(chan *job, o.Workers+2)
	jobs := make(chan *job, o.Workers)
	group.Go(func() {
		defer close(jobs)
		defer close(order)
		for {
			b, err := r.Next()
			if err == io.EOF {
				return
			}
			j := &job{batch: b, err: err, at: r.Progress(), ready: make(chan struct{})}
			if err != nil {
				close(j.ready)
			}
			select {
			case order <- j:
			case <-ctx.Done():
				return
			}
			if err != nil {
				return
			}
			select {
			case jobs <- j:
			case <-ctx.Done():
				return
			}
		}
	})
	for range o.Workers {
		group.Go(func() {
			for j := range jobs {
				if j.err = ctx.Err(); j.err == nil {
					j.result, j.err = work(ctx, j.batch)
				}
				close(j.ready)
			}
		})
	}
	for {
		var j *job
		var ok bool
		select {
		case j, ok = <-order:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		if !ok {
			switch {
			case r.err == io.EOF:
				return nil
			case r.err != nil:
				return r.err
			}
			return context.Cause(ctx) // it was done while a batch was handed over
		}
		select {
		case <-j.ready:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		if j.err != nil {
			return j.err
		}
		if err := sink(j.batch, j.result); err != nil {
			return err
		}
		j.batch.Release()
		if o.Progress != nil {
			o.Progress(j.at)
		}
	}
}
