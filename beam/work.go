package darrmbeam

import (
	"context"
	"errors"
	"sync"
	"time"
)

// endTime limits the wait of a job's end for its workers in this process. They stop at once unless
// they hang. A late worker finds no directory to write to.
const endTime = 2 * time.Second

// works are the jobs for which workers in this process may be at work.
var works sync.Map // [32]byte, the key's fingerprint → *work

// work tracks the workers of a job in this process. A job ends with its workers: one that went on
// would write into a directory that is being removed, and leave some of it.
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

// enter begins a piece of work. Its context ends with the job. The caller calls leave when the
// piece is done. A worker of another process has no work to enter, and keeps its context.
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
