// Package meter tells how much of one long piece of work is done: of a price, of a certificate. What works
// and what shows it are many calls apart, so the context carries the reader. No result depends on it.
package meter

import "context"

type key struct{}

// With returns a context whose pieces of work tell report the share that is done of each, in [0, 1].
// Several goroutines may call report at a time.
func With(ctx context.Context, report func(share float64)) context.Context {
	return context.WithValue(ctx, key{}, report)
}

// Share tells the reader of ctx, if it has one, that so much of so much work is done.
func Share(ctx context.Context, done, total float64) {
	if report, ok := ctx.Value(key{}).(func(float64)); ok && total > 0 {
		report(min(1, done/total))
	}
}
