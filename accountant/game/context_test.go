package game_test

import (
	"context"

	"github.com/darrm/darrm/internal/testing/must"
)

// contextOf returns the test's context, where it has one.
func contextOf(t must.TB) context.Context {
	if c, ok := t.(interface{ Context() context.Context }); ok {
		return c.Context()
	}
	return context.Background()
}
