package darrmbeam

import (
	"context"
	"errors"
	"sync"
	"time"
)

// endTime is how long the end of a job waits for its workers in this process, which stop at once unless they hang. What
// they would still write then finds no directory.
const endTime = 2 * time.Second

// works are the jobs for which workers in this process may be at work.
var works sync.Map // [32]byte, the key's fingerprint → *work

// work is what the workers of this process do for a job. A job ends with its workers: one that went on would write into a
// directory that is being removed, and leave some of it.
type work struct {
	ctx  context.Context // done when the job is over
	stop context.CancelFunc
	mu   sync.Mutex
	over bool
	busy sync.WaitGroup
}

func beginWork(fingerprint [32]byte) *work {
	w := new(work)
	w.ctx, w.stop = context.WithCancel(context.Background())
	works.Store(fingerprint, w)
	return w
}

// end stops the work, and waits for it.
func (w *work) end() {
	w.mu.Lock()
	w.over = true
	w.mu.Unlock()
	w.stop()
	ended := make(chan struct{})
	go func() { w.busy.Wait(); close(ended) }()
	select {
	case <-ended:
	case <-time.After(endTime):
	}
}

var errOver = errors.New("the job is over")

// enter begins a piece of work: its context is done when the job is over, and leave says that it is done. A
// worker of another process, which has no work to enter, goes on.
func (at keyAt) enter(ctx context.Context) (inner context.Context, leave func(), err error) {
	found, ok := works.Load([32]byte(at.Fingerprint))
	if !ok {
		if at.File == "" {
			return nil, nil, errOver
		}
		return ctx, func() {}, nil
	}
	w := found.(*work)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.over {
		return nil, nil, errOver
	}
	w.busy.Add(1)
	inner, cancel := context.WithCancel(ctx)
	unhook := context.AfterFunc(w.ctx, cancel)
	return inner, func() { unhook(); cancel(); w.busy.Done() }, nil
}
