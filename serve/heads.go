package serve

import (
	"context"
	"sync"
	"time"
)

// headEvery is the time between two copies of the ledger's newest head to another place, where that
// is configured. headTime is the time that one copy may take.
const (
	headEvery = time.Second
	headTime  = 5 * time.Second
)

// keepHeads keeps the ledger's newest head from now on. What it returns ends that, after a last
// time.
func (s *Server) keepHeads(ctx context.Context) (end func()) {
	ctx, cancel := context.WithCancel(ctx)
	var keeping sync.WaitGroup
	keeping.Go(func() {
		every := time.NewTicker(headEvery)
		defer every.Stop()
		for {
			select {
			case <-every.C:
				s.keepHead(ctx)
			case <-ctx.Done():
				return
			}
		}
	})
	return func() {
		cancel()
		keeping.Wait()
		s.keepHead(ctx)
	}
}

// keepHead keeps the newest head, and remembers whether that went well. It goes on when ctx ends.
func (s *Server) keepHead(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), headTime)
	defer cancel()
	err := s.Online.KeepHead(ctx)
	switch was := s.unkept.Swap(err != nil); {
	case err != nil:
		s.journal.error(sort{text: "head not kept", lasts: true}, "cause", err.Error())
	case was:
		s.journal.warn(sort{text: "head kept again"})
	}
}
