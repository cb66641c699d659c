package textrows

import (
	"context"
	"io"

	"golang.org/x/sync/errgroup"
)

// A Pipeline does jobs on several goroutines and returns the results in the order
// of the jobs.
type Pipeline[R any] struct {
	ctx   context.Context
	order chan chan R   // in the order of the jobs; some more than workers, to keep them busy
	Done  chan struct{} // nothing is under way any more
}

// InOrder takes jobs from next, which returns io.EOF behind the last, and does
// them. An error of next is turned into the last result by fail. ctx ends it all.
func InOrder[J, R any](ctx context.Context, workers int, next func() (J, error), do func(J) R,
	fail func(error) R) *Pipeline[R] {
	p := &Pipeline[R]{ctx: ctx, order: make(chan chan R, workers+2), Done: make(chan struct{})}
	var group errgroup.Group
	group.SetLimit(workers)
	go func() {
		defer close(p.Done)
		defer group.Wait() // its functions return no error
		defer close(p.order)
		for {
			job, err := next()
			if err == io.EOF {
				return
			}
			slot := make(chan R, 1)
			select {
			case p.order <- slot:
			case <-ctx.Done():
				return
			}
			if err != nil {
				slot <- fail(err)
				return
			}
			group.Go(func() error {
				slot <- do(job)
				return nil
			})
		}
	}()
	return p
}

// Next returns the next result, io.EOF behind the last, and at once an error when
// the context is done: a stream that was stopped must not look like one at its end.
func (p *Pipeline[R]) Next() (result R, err error) {
	select {
	case slot, ok := <-p.order:
		if err := context.Cause(p.ctx); err != nil {
			return result, err
		}
		if !ok {
			return result, io.EOF
		}
		select {
		case result = <-slot:
			return result, nil
		case <-p.ctx.Done():
		}
	case <-p.ctx.Done():
	}
	return result, context.Cause(p.ctx)
}
