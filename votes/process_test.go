package votes

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/iotest"
	"time"

	"pgregory.net/rapid"

	"github.com/darrm/darrm/internal/testing/must"
)

func open(t must.TB, in io.Reader, opts Options) *Reader {
	return must.Get(NewReader(context.Background(), in, opts))(t)
}

// Results reach sink in order, each once, whatever the workers and chunks.
func TestProcessKeepsOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 500).Draw(t, "N")
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "%d,%d,1\n", i, i&1)
		}
		r := open(t, strings.NewReader(b.String()),
			Options{IDColumn: "1", K: 2, Header: HeaderNo,
				chunkBytes: rapid.IntRange(1, 300).Draw(t, "chunk"),
				Workers:    rapid.IntRange(1, 4).Draw(t, "parsers")})
		defer r.Close()
		var out bytes.Buffer
		var last Progress
		err := Process(r, ProcessOptions{Workers: rapid.IntRange(1, 4).Draw(t, "workers"),
			Progress: func(p Progress) {
				if p.Rows <= last.Rows || p.Bytes < last.Bytes {
					t.Fatalf("progress %+v after %+v", p, last)
				}
				last = p
			}}, func(_ context.Context, b *Batch) ([]int, error) {
			if b.First%3 == 0 {
				runtime.Gosched()
			}
			out := make([]int, b.Len())
			for i := range out {
				out[i] = b.Ones(i) - 1
			}
			return out, nil
		}, func(b *Batch, answers []int) error {
			for i, a := range answers {
				fmt.Fprintf(&out, "%s,%d,1\n", b.ID(i), a)
			}
			return nil
		})
		if err != nil || out.String() != b.String() {
			t.Fatalf("%v\ngot %q\nwant %q", err, out.String(), b.String())
		}
		if last.Rows != int64(n) || last.Bytes != int64(b.Len()) {
			t.Fatalf("progress %+v at the end of %d rows in %d bytes", last, n, b.Len())
		}
	})
}

func TestProcessStops(t *testing.T) {
	boom := errors.New("boom")
	rows := strings.Repeat("0,1\n", 10_000)
	fine := func(_ context.Context, b *Batch) (int, error) { return b.Len(), nil }
	for _, tt := range []struct {
		name string
		in   io.Reader
		work func(context.Context, *Batch) (int, error)
		sink func(*Batch, int) error
		want string
	}{
		{"work fails", strings.NewReader(rows), func(_ context.Context, b *Batch) (int, error) {
			if b.First > 5000 {
				return 0, boom
			}
			return 0, nil
		}, nil, "boom"},
		{"sink fails", strings.NewReader(rows), fine, func(b *Batch, _ int) error {
			if b.First > 5000 {
				return boom
			}
			return nil
		}, "boom"},
		{"the stream fails", io.MultiReader(strings.NewReader(rows), iotest.ErrReader(boom)), fine, nil,
			"read votes after line 10000: boom"},
		{"a bad row", strings.NewReader(rows + "0,2\n"), fine, nil,
			`votes:10001: column 2: vote "2" is not 0 or 1: classes names others`},
		{"work of another batch than the first fails later", strings.NewReader(rows),
			func(_ context.Context, b *Batch) (int, error) {
				if b.First == 0 {
					time.Sleep(10 * time.Millisecond)
					return 0, boom
				}
				return 0, errors.New("later")
			}, nil, "boom"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := open(t, tt.in, Options{chunkBytes: 64, K: 2, Header: HeaderNo})
			var failed, after atomic.Bool
			next := int64(0)
			err := Process(r, ProcessOptions{Workers: 3}, tt.work, func(b *Batch, n int) error {
				if b.First != next {
					t.Errorf("batch %d, want %d", b.First, next)
				}
				next += int64(b.Len())
				if failed.Load() {
					after.Store(true)
				}
				if tt.sink == nil {
					return nil
				}
				err := tt.sink(b, n)
				failed.Store(err != nil)
				return err
			})
			if err == nil || err.Error() != tt.want {
				t.Errorf("got %v, want %s", err, tt.want)
			}
			if after.Load() {
				t.Error("sink was called after it failed")
			}
			if err := r.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// Cancelling ends everything at once, even a read that hangs, and calls of work
// are waited for.
func TestCancel(t *testing.T) {
	for _, when := range []string{"read", "work", "sink", "next"} {
		t.Run(when, func(t *testing.T) {
			before := runtime.NumGoroutine()
			ctx, cancel := context.WithCancelCause(context.Background())
			stop := errors.New("stop")
			pr, pw := io.Pipe() // hangs once the rows are read
			go pw.Write([]byte(strings.Repeat("0,1\n", 100)))
			r, err := NewReader(ctx, pr, Options{chunkBytes: 40, K: 2, Header: HeaderNo})
			if err != nil {
				t.Fatal(err)
			}
			if when == "next" {
				time.AfterFunc(5*time.Millisecond, func() { cancel(stop) })
				for err == nil {
					_, err = r.Next()
				}
			} else {
				var working atomic.Int32
				if when == "read" {
					time.AfterFunc(5*time.Millisecond, func() { cancel(stop) })
				}
				err = Process(r, ProcessOptions{}, func(ctx context.Context, b *Batch) (int, error) {
					working.Add(1)
					defer working.Add(-1)
					if when == "work" {
						cancel(stop)
						<-ctx.Done()
						return 0, ctx.Err()
					}
					return 0, nil
				}, func(*Batch, int) error {
					if when == "sink" {
						cancel(stop)
					}
					return nil
				})
				if n := working.Load(); n != 0 {
					t.Errorf("%d calls of work are left", n)
				}
			}
			if !errors.Is(err, stop) && !errors.Is(err, context.Canceled) {
				t.Errorf("got %v, want the cancellation", err)
			}
			if err := r.Close(); err != nil {
				t.Error(err)
			}
			pw.Close() // frees the stuck read
			for i := 0; runtime.NumGoroutine() > before && i < 1000; i++ {
				time.Sleep(time.Millisecond)
			}
			if n := runtime.NumGoroutine(); n > before {
				t.Errorf("%d goroutines, %d before", n, before)
			}
		})
	}
}

// A stream that was cancelled never looks like one that has ended: whatever is
// noticed first, there is an error. What is noticed first is chance, so often.
func TestCancelIsNoEnd(t *testing.T) {
	rows := strings.Repeat("0,1\n", 200)
	for i := range 300 {
		ctx, cancel := context.WithCancel(context.Background())
		r, err := NewReader(ctx, strings.NewReader(rows), Options{chunkBytes: 40, K: 2, Header: HeaderNo})
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		err = Process(r, ProcessOptions{Workers: 1 + i%3},
			func(_ context.Context, b *Batch) (int, error) { return b.Len(), nil },
			func(_ *Batch, k int) error {
				if n += k; n > i%150 {
					cancel()
				}
				return nil
			})
		cancel()
		if err == nil && n < 200 {
			t.Fatalf("round %d: no error after %d of 200 rows", i, n)
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// Closing in the middle stops the goroutines and closes the files.
func TestCloseInTheMiddle(t *testing.T) {
	before := runtime.NumGoroutine()
	path := filepath.Join(t.TempDir(), "v.csv")
	if err := os.WriteFile(path, []byte(strings.Repeat("0,1\n", 100_000)), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 20 {
		r, err := Open(context.Background(), Options{chunkBytes: 100, K: 2, Header: HeaderNo}, path)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := r.Next(); err != nil {
			t.Fatal(err)
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		if _, err := r.Next(); err == nil || err == io.EOF {
			t.Fatalf("after Close: %v", err)
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
	}
	// A goroutine that has said that it is done may still be on its way out.
	n := runtime.NumGoroutine()
	for end := time.Now().Add(time.Minute); n > before &&
		time.Now().Before(end); n = runtime.NumGoroutine() {
		time.Sleep(time.Millisecond)
	}
	if n > before {
		t.Errorf("%d goroutines, %d before", n, before)
	}
}

// A worker count that makes no sense is refused.
func TestWorkers(t *testing.T) {
	if _, err := NewReader(context.Background(), strings.NewReader("0,1\n"),
		Options{Workers: -1}); err == nil {
		t.Error("Workers: -1 accepted")
	}
	r := open(t, strings.NewReader("0,1\n"), Options{K: 2, Header: HeaderNo})
	defer r.Close()
	err := Process(r, ProcessOptions{Workers: 5000},
		func(context.Context, *Batch) (int, error) { return 0, nil },
		func(*Batch, int) error { return nil })
	if err == nil || !strings.Contains(err.Error(), "workers = 5000") {
		t.Errorf("Workers: 5000: %v", err)
	}
}

func TestMissingVotesAreCountedApart(t *testing.T) {
	r := open(t, strings.NewReader("0,,NA\n1,1,1\n,,\n"),
		Options{Missing: MissingCoin, Classes: IntegerClasses(3), Header: HeaderNo, K: 3,
			KeepVotes: true})
	b, err := r.Next()
	if err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(b.Counts, b.Missing, b.Votes) !=
		"[1 0 0 0 3 0 0 0 0] [2 0 3] [0 -1 -1 1 1 1 -1 -1 -1]" {
		t.Fatalf("read %v, missing %v, votes %v", b.Counts, b.Missing, b.Votes)
	}
	defer func() {
		if recover() == nil {
			t.Error("Ones of a query with missing votes")
		}
	}()
	r = open(t, strings.NewReader("t1,t2\n0,\n"), Options{Missing: MissingCoin})
	if b, err = r.Next(); err != nil {
		t.Fatal(err)
	}
	b.Ones(0)
}

// Every way to complete a vote keeps the teacher's promise or does not: with an
// (ε, 0)-DP teacher that answers 0, 1 or nothing, the completed vote's ratio of
// probabilities on two neighbours stays below e^ε for a coin, and a silence that
// the promise does not cover breaks it.
func TestMissingCoinKeepsThePromise(t *testing.T) {
	const e = 2.0 // e^ε
	grid := []float64{0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1}
	within := func(p, q float64) bool { return p <= e*q+1e-12 && q <= e*p+1e-12 }
	n := 0
	for _, p1 := range grid {
		for _, p0 := range grid {
			for _, q1 := range grid {
				for _, q0 := range grid {
					if p0+p1 > 1 || q0+q1 > 1 || !within(p0, q0) || !within(p1, q1) || !within(1-p0-p1, 1-q0-q1) {
						continue // no teacher, or one that breaks its promise
					}
					n++
					if p, q := p1+(1-p0-p1)/2, q1+(1-q0-q1)/2; !within(p, q) || !within(1-p, 1-q) {
						t.Fatalf("teacher (%g, %g) against (%g, %g): coin gives %g against %g", p0, p1, q0, q1, p, q)
					}
				}
			}
		}
	}
	if n < 100 {
		t.Fatalf("only %d teachers", n)
	}
	// Certain on one dataset, silent on its neighbour: 1 against ½.
	const small = 1.5 // e^ε
	if p, q := 1.0, 0.5; p <= small*q {
		t.Error("a silence that gives the record away would pass")
	}
}
