// The program serve measures darrm serve: answers a second and latency with 1, 8 and 64 clients, on
// a file and on PostgreSQL, beside the floor of what an answer must wait for, one fsync or one
// commit. Each line has its ratio to the floor that was measured in the same run.
//
//	go build -o /tmp/darrm ./cmd/darrm && go run ./bench/serve [-postgres DIRECTORY] [-seconds 5] /tmp/darrm
//	go run ./bench/serve -soak 1000000 [-ids 20000] /tmp/darrm
//	go run ./bench/serve -opening 1000000 [-postgres DIRECTORY] /tmp/darrm
//
// -postgres names the directory of initdb and postgres; without it the file alone is measured.
// -soak asks for so many answers through 64 clients instead, and prints the server's memory on the
// way; with -ids there are so many different queries, each of which is asked again and again.
// -opening fills a ledger with so many charges of queries and measures how long it takes to open.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/darrm/darrm/bench/peers"
	"github.com/darrm/darrm/internal/testing/servetest"
	"github.com/darrm/darrm/ledger"
	_ "github.com/darrm/darrm/ledger/postgres"
)

func main() {
	postgres := flag.String("postgres", "", "directory of initdb and postgres")
	seconds := flag.Float64("seconds", 5, "how long each line is measured")
	clients := flag.String("clients", "1,8,64", "numbers of clients, each a line")
	soak := flag.Int("soak", 0, "ask for so many answers, and watch the memory")
	ids := flag.Int("ids", 0, "of a soak: different queries (default: as many as answers)")
	opening := flag.Int("opening", 0, "open a ledger of so many entries")
	folder := flag.String("folder", "",
		"where ledgers are (default: the system's for temporary files)")
	flag.Parse()
	if flag.NArg() != 1 {
		flag.Usage()
		os.Exit(2)
	}
	dir, err := os.MkdirTemp(*folder, "bench")
	if err == nil {
		b := bench{program: flag.Arg(0), folder: dir,
			each: time.Duration(*seconds * float64(time.Second))}
		for text := range strings.SplitSeq(*clients, ",") {
			n, bad := strconv.Atoi(text)
			err = errors.Join(err, bad)
			b.clients = append(b.clients, n)
		}
		switch {
		case err != nil:
		case *soak > 0:
			err = b.soak(*soak, *ids)
		case *opening > 0:
			err = b.opening(*postgres, *opening)
		default:
			err = b.all(*postgres)
		}
		err = errors.Join(err, os.RemoveAll(dir))
	}
	peers.End("serve", err)
}

type bench struct {
	program string
	folder  string
	each    time.Duration
	clients []int
}

// server makes a ledger and a server of it.
func (b *bench) server(ctx context.Context, location string) (*servetest.Server, error) {
	budget, err := ledger.NewBudget(1e9, 0)
	if err != nil {
		return nil, err
	}
	if _, err := ledger.Create(ctx, location, budget, ledger.ReplaceOne); err != nil {
		return nil, err
	}
	socket := filepath.Join(b.folder, "serve.sock")
	s := &servetest.Server{Program: b.program, Socket: socket, Args: []string{
		"serve", "--quiet", "--ledger", location, "--key", filepath.Join(b.folder, "service.key"),
		"--listen", "unix:" + socket,
		"--mechanism", "permute-and-flip", "--K", "11", "--label-eps", "0.125", "--affected", "1",
		"--accept-weak", // more answers than anybody should pay for
	}}
	return s, s.Start(ctx)
}

// load asks the queries that name names, from 1, from so many clients until the time is over, or n
// are answered, and returns how long each took.
func load(ctx context.Context, socket string, clients int, each time.Duration, n int,
	name func(i int) (id string, votes int)) (took []time.Duration, elapsed time.Duration, err error) {
	var next atomic.Int64
	var mu sync.Mutex
	var wg sync.WaitGroup
	start := time.Now()
	c := servetest.NewClient(socket)
	defer c.Close()
	for range clients {
		wg.Go(func() {
			var mine []time.Duration
			for time.Since(start) < each {
				i := int(next.Add(1))
				if n > 0 && i > n {
					break
				}
				at := time.Now()
				id, votes := name(i)
				if _, fail := c.Once(ctx, id, []int{votes, 11 - votes}); fail != nil {
					mu.Lock()
					err = fail
					mu.Unlock()
					break
				}
				mine = append(mine, time.Since(at))
			}
			mu.Lock()
			took = append(took, mine...)
			mu.Unlock()
		})
	}
	wg.Wait()
	return took, time.Since(start), err
}

// quantile returns the q-quantile of sorted times.
func quantile(sorted []time.Duration, q float64) time.Duration {
	return sorted[min(len(sorted)-1, int(q*float64(len(sorted))))]
}

func ms(d time.Duration) string { return fmt.Sprintf("%.2f", float64(d)/float64(time.Millisecond)) }

func (b *bench) all(postgres string) error {
	ctx := context.Background()
	fmt.Print("| store | clients | answers/s | p50, ms | p99, ms | answers/s ÷ floor | p50 ÷ floor |\n",
		"|---|---:|---:|---:|---:|---:|---:|\n")
	if err := b.table(ctx, "file", filepath.Join(b.folder, "l.ledger"), "fsync",
		func() (func() error, func(), error) { return fsyncs(b.folder) }); err != nil {
		return err
	}
	if postgres == "" {
		return nil
	}
	db, err := startPostgres(postgres)
	if err != nil {
		return err
	}
	defer db.stop()
	return b.table(ctx, "PostgreSQL", db.location+"ledger=l&secret="+filepath.Join(b.folder, "secret"), "commit",
		func() (func() error, func(), error) { return commits(ctx, db.location) })
}

// table prints the floor and the lines of a store, whose ledger is at the location.
func (b *bench) table(ctx context.Context, store, location, name string,
	floor func() (func() error, func(), error)) error {
	once, end, err := floor()
	if err != nil {
		return err
	}
	defer end()
	server, err := b.server(ctx, location)
	if err != nil {
		return err
	}
	defer server.Kill()
	for _, clients := range b.clients {
		bare, took, rate, err := b.inTurns(ctx, once, server, clients)
		if err != nil {
			return err
		}
		slices.Sort(bare)
		slices.Sort(took)
		var sum time.Duration
		for _, d := range bare {
			sum += d
		}
		most := float64(len(bare)) / sum.Seconds()
		fmt.Printf("| one %s | 1 | %.0f | %s | %s | 1 | 1 |\n", name, most, ms(quantile(bare, 0.5)),
			ms(quantile(bare, 0.99)))
		fmt.Printf("| %s | %d | %.0f | %s | %s | %.2f | %.1f |\n", store, clients, rate,
			ms(quantile(took, 0.5)), ms(quantile(took, 0.99)), rate/most,
			float64(quantile(took, 0.5))/float64(quantile(bare, 0.5)))
	}
	return nil
}

// inTurns measures the floor and loads the server, four times, since the machine may be busy at one
// time and idle at another. It returns how long each step of the floor and each answer took, and how
// many answers there were a second.
func (b *bench) inTurns(ctx context.Context, once func() error, server *servetest.Server,
	clients int) (bare, took []time.Duration, rate float64, err error) {
	const turns = 4
	var elapsed time.Duration
	for turn := range turns {
		for start := time.Now(); time.Since(start) < b.each/(2*turns); {
			at := time.Now()
			if err := once(); err != nil {
				return nil, nil, 0, err
			}
			bare = append(bare, time.Since(at))
		}
		more, lasted, err := load(ctx, server.Socket, clients, b.each/turns, 0,
			func(n int) (string, int) { return fmt.Sprintf("c%d-%d-%d", clients, turn, n), n % 12 })
		if err != nil {
			return nil, nil, 0, err
		}
		took = append(took, more...)
		elapsed += lasted
	}
	return bare, took, float64(len(took)) / elapsed.Seconds(), nil
}

// soak asks for n answers and prints the memory ten times on the way. New entries of the ledger
// take their share of its index; an answer that is given again takes nothing.
func (b *bench) soak(n, ids int) error {
	ctx := context.Background()
	s, err := b.server(ctx, filepath.Join(b.folder, "l.ledger"))
	if err != nil {
		return err
	}
	defer s.Kill()
	fmt.Println("| answers | answers/s | p50, ms | p99, ms | resident, MiB | heap in use, MiB | " +
		"goroutines |")
	fmt.Println("|---:|---:|---:|---:|---:|---:|---:|")
	c := servetest.NewClient(s.Socket)
	defer c.Close()
	const parts = 10
	for part := range parts {
		took, elapsed, err := load(ctx, s.Socket, 64, 100*time.Hour, n/parts, func(i int) (string, int) {
			query := part*(n/parts) + i
			if ids > 0 {
				query %= ids
			}
			return fmt.Sprint(query), query % 12
		})
		if err != nil {
			return err
		}
		slices.Sort(took)
		metrics, err := c.Text(ctx, "/metrics")
		if err != nil {
			return err
		}
		fmt.Printf("| %d | %.0f | %s | %s | %.0f | %.0f | %.0f |\n", (part+1)*(n/parts),
			float64(len(took))/elapsed.Seconds(), ms(quantile(took, 0.5)), ms(quantile(took, 0.99)),
			resident(s.PID()), gauge(metrics, "go_memstats_heap_inuse_bytes")/(1<<20),
			gauge(metrics, "go_goroutines"))
	}
	return nil
}

// gauge reads one number of Prometheus text.
func gauge(text, name string) (x float64) {
	for line := range strings.Lines(text) {
		if rest, ok := strings.CutPrefix(line, name+" "); ok {
			_, _ = fmt.Sscan(rest, &x) // a metric that is missing shows as 0
		}
	}
	return x
}

// resident returns a process's memory in MiB, from /proc; 0 where there is none.
func resident(pid int) (mib float64) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(b)) {
		if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			_, _ = fmt.Sscan(rest, &mib)
		}
	}
	return mib / 1024
}
