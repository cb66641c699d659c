package servetest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"
)

// Kills is a run in which something is killed while clients ask.
type Kills struct {
	// Sockets of the servers; each client goes from one to the next.
	Sockets []string
	Clients int
	Kills   int
	// Kill ends and starts something, as often as Kills says.
	Kill func(ctx context.Context, i int) error
	// MaxPause is the longest time, drawn at random, from one kill to the next.
	MaxPause time.Duration
	// Least is how many queries are answered at least from one kill to the next, in the mean of all:
	// a slow machine is waited for.
	Least int
	// Counts are the votes on query i.
	Counts func(i int) []int
}

// Killed is the outcome of a run.
type Killed struct {
	Asked    int               // different queries that were asked
	Answers  map[string]Answer // the first answer to each
	Replays  int               // answers that were given again
	Retries  int               // requests without a response, or put off
	Elapsed  time.Duration
	Violated []string // what must not be
}

// Run asks and kills. Every query is asked by two clients at least, at different times, so
// that each answer is compared with another one. The error is that of a kill, or of a client that
// has no answer in the end: then something is lost.
func (k Kills) Run(ctx context.Context) (*Killed, error) {
	start := time.Now()
	out := &Killed{Answers: map[string]Answer{}}
	var mu sync.Mutex
	var next atomic.Int64
	var stop atomic.Bool
	var wg sync.WaitGroup
	failed := make(chan error, k.Clients)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	for n := range k.Clients {
		clients := make([]*Client, len(k.Sockets))
		for i, socket := range k.Sockets {
			clients[i] = NewClient(socket)
			defer clients[i].Close()
		}
		random := rand.New(rand.NewPCG(uint64(n), 1))
		wg.Go(func() {
			for turn := n; !stop.Load(); turn++ {
				i := int(next.Load())
				if random.IntN(2) == 0 || i == 0 {
					i = int(next.Add(1))
				} else { // one that was asked before, or is being asked now
					i = max(1, i-random.IntN(50))
				}
				id := fmt.Sprintf("query-%d", i)
				a, tries, err := clients[turn%len(clients)].Ask(ctx, id, k.Counts(i))
				if err != nil {
					failed <- fmt.Errorf("%s: %w", id, err)
					return
				}
				mu.Lock()
				out.Retries += tries - 1
				out.compare(*a)
				mu.Unlock()
			}
		})
	}
	answered := func() int {
		mu.Lock()
		defer mu.Unlock()
		return len(out.Answers)
	}
	var err error
	for i := 0; i < k.Kills && err == nil; i++ {
		due := time.Now().Add(time.Duration(rand.Int64N(int64(k.MaxPause))))
		for err == nil && (time.Now().Before(due) || answered() < i*k.Least) {
			select {
			case err = <-failed:
			case <-ctx.Done():
				err = ctx.Err()
			case <-time.After(time.Millisecond):
			}
		}
		if err == nil {
			err = k.Kill(ctx, i)
		}
	}
	stop.Store(true)
	if err != nil {
		cancel()
	}
	wg.Wait()
	if len(failed) > 0 && err == nil {
		err = <-failed
	}
	out.Asked, out.Elapsed = int(next.Load()), time.Since(start)
	return out, err
}

func (k *Killed) compare(a Answer) {
	first, ok := k.Answers[a.ID]
	if !ok {
		k.Answers[a.ID] = a
		return
	}
	k.Replays++
	if (first.Class == nil) != (a.Class == nil) || a.Class != nil && *a.Class != *first.Class {
		k.Violated = append(k.Violated, fmt.Sprintf("%s has two answers", a.ID))
	}
	if a.Receipt != first.Receipt {
		k.Violated = append(k.Violated, fmt.Sprintf("%s was charged twice: %v and %v", a.ID,
			first.Receipt, a.Receipt))
	}
}

// Again asks for every answer once more, and adds to Violated each that differs or is lost.
func (k *Killed) Again(ctx context.Context, socket string, counts func(i int) []int) error {
	c := NewClient(socket)
	defer c.Close()
	for id := range k.Answers {
		var i int
		if _, err := fmt.Sscanf(id, "query-%d", &i); err != nil {
			return err
		}
		a, _, err := c.Ask(ctx, id, counts(i))
		if err != nil {
			return fmt.Errorf("%s: %w", id, err)
		}
		if !a.Replayed {
			k.Violated = append(k.Violated, id+" was answered and is not known")
		}
		k.compare(*a)
	}
	return nil
}
