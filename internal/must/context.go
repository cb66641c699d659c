package must

import (
	"context"
	"sync/atomic"
)

// EndAfter returns a context whose Err is nil when first asked n times, and err from then on, so
// that a test can stop work at each of its steps. Its Done never ends. Any number of goroutines may
// ask.
func EndAfter(n int, err error) context.Context {
	c := &ending{Context: context.Background(), err: err}
	c.left.Store(int64(n))
	return c
}

type ending struct {
	context.Context
	left atomic.Int64
	err  error
}

func (c *ending) Err() error {
	if c.left.Add(-1) < 0 {
		return c.err
	}
	return nil
}
