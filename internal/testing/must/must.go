// Package must fails a test unless a condition holds, and ends contexts at a chosen step.
package must

import (
	"context"
	"math"
	"sync/atomic"
)

// TB has the methods of a test that this package needs: *testing.T, *testing.B and *rapid.T have
// it.
type TB interface {
	Helper()
	Errorf(format string, args ...any)
	Fatal(args ...any)
}

// Get returns v, or ends the test where err is not nil: must.Get(f(x))(t).
func Get[T any](v T, err error) func(TB) T {
	return func(t TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// Near fails the test where got is not want, within a part of it.
func Near(t TB, what string, got, want, relative float64) {
	t.Helper()
	if !(math.Abs(got-want) <= relative*math.Abs(want)) {
		t.Errorf("%s = %.12g, want %.12g within %g", what, got, want, relative)
	}
}

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
