package darrmbeam

import (
	"context"
	"errors"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/learn/federated"
	"github.com/darrm/darrm/learn/federated/randomiser"
)

// stopAt cancels a context where a worker has answered a shard of this number, and lets the worker
// go on a while. stopped says that it ended.
func stopAt(t testing.TB, shard int64) (ctx context.Context, stopped *atomic.Bool) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	stopped = new(atomic.Bool)
	setFault(t, func(at int64, behind bool) error {
		if at == shard && !behind {
			cancel()
			time.Sleep(300 * time.Millisecond)
			stopped.Store(true)
		}
		return nil
	})
	return ctx, stopped
}

// A job that is stopped ends when its workers have ended, and not before: one that goes on would
// write into the temporary directory while it is being removed.
func TestStoppedJobEndsWithItsWorkers(t *testing.T) {
	t.Run("labels", func(t *testing.T) {
		job := newJob(t, queries(300), true)
		ctx, stopped := stopAt(t, 0)
		_, err := Run(ctx, job)
		if !errors.Is(err, context.Canceled) || !stopped.Load() {
			t.Errorf("%v, worker ended: %t", err, stopped.Load())
		}
		checkNoOutput(t, job)
	})
	t.Run("round", func(t *testing.T) {
		x := newRound(t, func(c *federated.PSGM) { c.Silos = []int{30, 20, 25, 5} })
		ctx, stopped := stopAt(t, partKey(randomiser.Gradients, 0))
		_, err := RunRound(ctx, x.job)
		if !errors.Is(err, context.Canceled) || !stopped.Load() {
			t.Errorf("%v, worker ended: %t", err, stopped.Load())
		}
		x.checkNothing(t)
	})
}

// A late worker of a job that is over does nothing, wherever the key is.
func TestLateWorker(t *testing.T) {
	for _, dir := range []string{"", t.TempDir()} {
		_, at, forget := newKey(t, dir)
		found, _ := works.Load([32]byte(at.Fingerprint))
		found.(*work).end()
		f := &answerShard{Table: table(t), Queries: 10, ShardRows: 10,
			Neighbours: accountant.ReplaceOne, worker: worker{Temp: t.TempDir(), Key: at}}
		if err := f.ProcessElement(t.Context(), 0, func(*voteBlock) bool { return false }); !errors.Is(
			err, errOver) {
			t.Errorf("key in %q: %v", dir, err)
		}
		if err := forget(); err != nil {
			t.Error(err)
		}
	}
}

// Labels whose digest is in the ledger are published, whatever is interrupted meanwhile; and so are
// the outputs of a round that the book has.
func TestStopBehindTheNote(t *testing.T) {
	for _, out := range []string{"", "memfs://" + t.Name() + "/labels.csv"} {
		job := newJob(t, queries(100), true)
		job.Charge = newCharge(t, 1e4, "fresh")
		if out != "" {
			job.Out = out
		}
		ctx, _ := stopAt(t, outputShard)
		r, err := Run(ctx, job)
		if err != nil || ctx.Err() == nil {
			t.Fatalf("%v; interrupted: %v", err, ctx.Err())
		}
		if b := must.Get(get(t.Context(), job.Out))(t); len(b) == 0 || r.Queries != 100 {
			t.Errorf("%d bytes, %+v", len(b), r)
		}
		checkClean(t, job)
	}
	x := newRound(t, func(c *federated.PSGM) { c.Silos = []int{30, 20, 25, 5} })
	ctx, _ := stopAt(t, outputShard)
	r, err := RunRound(ctx, x.job)
	if err != nil || ctx.Err() == nil {
		t.Fatalf("%v; interrupted: %v", err, ctx.Err())
	}
	x.check(t, r, x.files...)
}

// One that comes before the note releases nothing, and nothing is noted.
func TestStopBeforeTheNote(t *testing.T) {
	job := newJob(t, queries(100), true)
	job.Charge = newCharge(t, 1e4, "fresh")
	ctx, cancel := context.WithCancel(t.Context())
	run, n := job.Run, 0
	job.Run = func(ctx context.Context, p *beam.Pipeline) error {
		err := run(ctx, p)
		if n++; n == 2 {
			cancel()
		}
		return err
	}
	if _, err := Run(ctx, job); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if got := entries(t, job.Charge.Ledger); len(got) != 1 {
		t.Errorf("entries %q, want the charge alone", got)
	}
	if _, err := os.Stat(job.Out); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("there is an output: %v", err)
	}
	checkNoOutput(t, job)
}
