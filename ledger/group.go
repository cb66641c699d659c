package ledger

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
)

// Forcing a commit to disk takes a thousand times as long as judging a request, so calls that
// come together share one: each waits in the queue of the handle, and whoever gets the turn
// writes for all who wait. Each is judged by itself, in the order of the queue.

// job is one call that may write.
type job struct {
	ctx   context.Context
	ids   []string // of the requests that it is about
	judge func(*session) ([]*Entry, error)

	done    chan struct{} // closed when the rest is set
	entries []*Entry      // what was written
	after   State         // with the entries, where err is nil
	err     error
}

func (j *job) finish(after State, err error) {
	j.after, j.err = after, err
	close(j.done)
}

// queue holds the jobs that no commit has taken yet, in their order.
type queue struct {
	mu   sync.Mutex
	jobs []*job
}

func (q *queue) push(j *job) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.jobs = append(q.jobs, j)
}

// putBack returns jobs to the place from which they were taken.
func (q *queue) putBack(jobs []*job) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.jobs = append(jobs, q.jobs...)
}

// withdraw takes j out of the queue and reports whether it was still there. A job that a commit has
// taken is decided by that commit.
func (q *queue) withdraw(j *job) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	i := slices.Index(q.jobs, j)
	if i >= 0 {
		q.jobs = slices.Delete(q.jobs, i, i+1)
	}
	return i >= 0
}

// ids returns those of the requests that wait.
func (q *queue) ids() (ids []string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, j := range q.jobs {
		ids = append(ids, j.ids...)
	}
	return ids
}

// next takes the first job, unless g has no room for it; nil where there is none.
func (q *queue) next(g *group) *job {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.jobs) == 0 || !g.hasRoom(q.jobs[0]) {
		return nil
	}
	j := q.jobs[0]
	q.jobs = slices.Delete(q.jobs, 0, 1)
	return j
}

// group is a commit that is being put together.
type group struct {
	entries []*Entry
	recent  *recent // the entries
	spent   Cost    // by the entries
	clients shares  // what each spent by them
	waiting []*job
}

// hasRoom reports whether j can be judged now. A request that the group is already about is judged
// after the commit: only then is there something to replay.
func (g *group) hasRoom(j *job) bool {
	if len(g.entries) > 0 && len(g.entries)+len(j.ids) > MaxRequests {
		return false
	}
	return !slices.ContainsFunc(j.ids, func(id string) bool {
		return g.recent.first(key{byID, "", id}) != nil || g.recent.first(key{byIDResult, "", id}) != nil
	})
}

func (g *group) add(entries []*Entry) {
	for _, e := range entries {
		g.recent.add(&located{Entry: *e})
		g.spent = g.spent.Plus(e.Total())
		g.clients.add(e)
	}
	g.entries = append(g.entries, entries...)
}

// submit has judge's entries written, with those of other calls. It returns them, and the totals
// with them, when they are on disk. Waiting ends with ctx, and then nothing is written; but what a
// commit has taken waits for the commit.
func (l *Ledger) submit(ctx context.Context, ids []string,
	judge func(*session) ([]*Entry, error)) ([]*Entry, State, error) {
	if l.unmade() {
		return nil, State{}, errUnmade
	}
	j := &job{ctx: ctx, ids: ids, judge: judge, done: make(chan struct{})}
	l.queue.push(j)
	gone := ctx.Done()
	for {
		select {
		case <-j.done:
			if j.err != nil {
				return nil, State{}, j.err
			}
			return j.entries, j.after, nil
		case <-gone:
			if l.queue.withdraw(j) {
				return nil, State{}, ctx.Err()
			}
			gone = nil // a commit has taken it, which decides it or puts it back
		case <-l.turn:
			err := func() error {
				defer func() { l.turn <- struct{}{} }() // whatever a draw does
				return l.lead(j)
			}()
			if err != nil && l.queue.withdraw(j) {
				return nil, State{}, err // the ledger could not be looked at
			}
		}
	}
}

// lead writes one commit for all who wait, unless j is decided by now. The caller has the turn.
func (l *Ledger) lead(j *job) error {
	select {
	case <-j.done:
		return nil
	default:
		return l.locked(j.ctx, true, l.writeWaiting)
	}
}

// writeWaiting judges those who wait and writes what is admitted. A refusal that rests on what is
// on disk already is returned at once. All other callers get their outcome when the commit is on
// disk, or failed.
func (l *Ledger) writeWaiting(s *session) error {
	g := s.group // which has nothing yet
	for j := l.queue.next(g); j != nil; j = l.queue.next(g) {
		var err error
		s.ids = func() []string { return slices.Concat(j.ids, l.queue.ids()) }
		if err = j.ctx.Err(); err == nil {
			j.entries, err = j.judge(s)
		}
		if errors.Is(err, ErrRetry) {
			l.queue.putBack(append(g.waiting, j))
			return nil
		}
		if errors.Is(err, ErrDamaged) {
			return g.finish(State{}, err, j)
		}
		if err == nil {
			g.add(j.entries)
		}
		if len(g.entries) == 0 {
			j.finish(s.state(), err)
			continue
		}
		j.err = err
		g.waiting = append(g.waiting, j)
	}
	if len(g.entries) == 0 {
		return nil
	}
	err := l.write(s, g.entries)
	if errors.Is(err, ErrRetry) {
		l.queue.putBack(g.waiting)
		return nil
	}
	return g.finish(s.state(), err)
}

// finish returns their outcomes to the waiting callers, and the totals after the commit. After a
// failure nobody's verdict stands: it may rest on entries that are not on disk.
func (g *group) finish(after State, err error, more ...*job) error {
	for _, j := range append(g.waiting, more...) {
		if err != nil {
			j.err = err
		}
		j.finish(after, j.err)
	}
	return err
}

var errUnmade = fmt.Errorf("%w: it was not made by Create or Open", ErrBroken)
