package darrmbeam

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/apache/beam/sdks/v2/go/container/tools"
	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/runtime/harness"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem/memfs"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/log"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/util/grpcx"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/ensemble"
	"github.com/darrm/darrm/internal/randsrc"
	"github.com/darrm/darrm/internal/testing/must"
)

// This binary is also a worker process, and a driver that is killed.
const (
	workerEnv = "DARRM_BEAM_TEST_WORKER"
	killEnv   = "DARRM_BEAM_TEST_KILL"
	driverEnv = "DARRM_BEAM_TEST_DRIVER"
	// where it is killed
	driverAtEnv = "DARRM_BEAM_TEST_DRIVER_AT"
)

func TestMain(m *testing.M) {
	log.LogLevel = "error"
	if os.Getenv(workerEnv) != "" {
		bootWorker()
		return
	}
	flag.Parse()
	if !testing.Verbose() {
		// Bundles fail here on purpose, and the runner says so at length.
		if null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0); err == nil {
			os.Stderr = null
		}
	}
	beam.Init()
	if dir := os.Getenv(driverEnv); dir != "" {
		driver(dir, os.Getenv(driverAtEnv))
		return
	}
	os.Exit(m.Run())
}

// bootWorker does what the container's boot program does: it asks the runner where to
// connect, and works for it. Prism wraps the id in quotes.
func bootWorker() {
	beam.Init()
	var id, provision string
	for _, arg := range os.Args[1:] {
		if v, ok := strings.CutPrefix(arg, "--id="); ok {
			id = strings.Trim(v, "'")
		}
		if v, ok := strings.CutPrefix(arg, "--provision_endpoint="); ok {
			provision = v
		}
	}
	if marker := os.Getenv(killEnv); marker != "" {
		fault = func(shard int64, behind bool) error {
			if shard == 1 && behind {
				// O_EXCL: only the first of all workers dies.
				f, err := os.OpenFile(marker, os.O_CREATE|os.O_EXCL, 0o600)
				if err == nil {
					f.Close()
					syscall.Kill(os.Getpid(), syscall.SIGKILL)
					select {}
				}
			}
			return nil
		}
	}
	ctx := grpcx.WriteWorkerID(context.Background(), id)
	info, err := tools.ProvisionInfo(ctx, provision)
	if err == nil {
		err = harness.MainWithOptions(ctx, info.GetLoggingEndpoint().GetUrl(),
			info.GetControlEndpoint().GetUrl(),
			harness.Options{RunnerCapabilities: info.GetRunnerCapabilities()})
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "worker:", err)
		os.Exit(1)
	}
}

// long reports whether the tests run at full size.
func long() bool { return os.Getenv("DARRM_LONG") == "1" }

func table(t testing.TB) []byte {
	t.Helper()
	return must.Get(os.ReadFile("testdata/table.json"))(t) // K = 11, m = 3, ε = 0.13577, Δ = 1e-4
}

func mechanism(t testing.TB) *ensemble.Mechanism {
	t.Helper()
	c, err := certify(context.Background(), table(t))
	if err != nil {
		t.Fatal(err)
	}
	plan, err := c.Plan(accountant.ReplaceOne)
	if err != nil {
		t.Fatal(err)
	}
	return plan.Mechanism()
}

// query is a row of a test's votes.
type query struct {
	id   string
	ones int
}

// queries returns n queries whose votes go through all numbers.
func queries(n int) []query {
	out := make([]query, n)
	for i := range out {
		out[i] = query{fmt.Sprintf("q-%d", i), i * 7 % 12}
	}
	return out
}

// writeVotes writes rows in the wide layout of 11 teachers, with ids or without.
func writeVotes(t testing.TB, path string, rows []query, ids bool) string {
	t.Helper()
	var b bytes.Buffer
	head := "t1,t2,t3,t4,t5,t6,t7,t8,t9,t10,t11\n"
	if ids {
		head = "query," + head
	}
	b.WriteString(head)
	for i, q := range rows {
		if ids {
			b.WriteString(q.id + ",")
		}
		for j := range 11 { // which teachers say 1 does not matter
			if j > 0 {
				b.WriteByte(',')
			}
			if (j+i)%11 < q.ones {
				b.WriteByte('1')
			} else {
				b.WriteByte('0')
			}
		}
		b.WriteByte('\n')
	}
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// newJob is a job in a new directory, with the votes in two files.
func newJob(t testing.TB, rows []query, ids bool) Job {
	t.Helper()
	dir := t.TempDir()
	cut := len(rows) / 3
	a := writeVotes(t, filepath.Join(dir, "votes-a.csv"), rows[:cut], ids)
	b := writeVotes(t, filepath.Join(dir, "votes-b.csv"), rows[cut:], ids)
	temp := filepath.Join(dir, "temp")
	if err := os.Mkdir(temp, 0o700); err != nil {
		t.Fatal(err)
	}
	return Job{Votes: []string{a, b}, Table: table(t), Out: filepath.Join(dir, "labels.csv"),
		Engine: Engine{Temp: temp, Run: runLocal},
		Charge: Charge{AcceptWeak: true}} // whatever a hundred labels and more cost
}

// runLocal runs a pipeline on Local, once more where Prism waits for ever. It does so about once
// in twenty thousand pipelines of these tests, without a fault of theirs (see Local).
func runLocal(ctx context.Context, p *beam.Pipeline) error {
	local := Local{Timeout: time.Minute}
	err := local.Run(ctx, p)
	if ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded) {
		err = local.Run(ctx, p)
	}
	return err
}

// injected is the fault of the test at work. An attempt that was given up may still ask for
// it when the test has ended.
var injected atomic.Pointer[func(shard int64, behind bool) error]

func init() {
	fault = func(shard int64, behind bool) error {
		if f := injected.Load(); f != nil {
			return (*f)(shard, behind)
		}
		return nil
	}
}

// setFault installs a fault for one test. It is called by many workers at once.
func setFault(t testing.TB, f func(shard int64, behind bool) error) {
	t.Helper()
	injected.Store(&f)
	t.Cleanup(func() { injected.Store(nil) })
}

// onlyKey returns the job key that is in memory.
func onlyKey(t testing.TB) *randsrc.Key {
	t.Helper()
	var found *randsrc.Key
	inMemory.Range(func(_, k any) bool {
		if found != nil {
			t.Error("two keys in memory")
		}
		found = k.(jobKeys).coins
		return true
	})
	if found == nil {
		t.Error("no key in memory")
	}
	return found
}

// spy wraps a job's runner: it counts the pipelines, keeps the job's key, and calls
// between before the n-th pipeline, from 0.
type spy struct {
	mu      sync.Mutex
	ran     int
	key     *randsrc.Key
	between func(n int) error
}

func (s *spy) wrap(t testing.TB, job *Job) {
	run := job.Run
	job.Run = func(ctx context.Context, p *beam.Pipeline) error {
		s.mu.Lock()
		n := s.ran
		s.ran++
		if job.KeyDir == "" {
			s.key = onlyKey(t)
		}
		s.mu.Unlock()
		if s.between != nil {
			if err := s.between(n); err != nil {
				return err
			}
		}
		return run(ctx, p)
	}
}

// checkLabels shows that the output holds each query once, in order, with the answer
// that the key has for it. A nil key leaves the answers unchecked.
func checkLabels(t testing.TB, path string, rows []query, ids bool, key *randsrc.Key) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(string(b), "\n"), "\n")
	if lines[0] != "query,label" || len(lines) != len(rows)+1 {
		t.Fatalf("%d rows behind the header %q, want %d", len(lines)-1, lines[0], len(rows))
	}
	m := mechanism(t)
	for i, q := range rows {
		id := q.id
		if !ids {
			id = fmt.Sprint(i)
		}
		got, label, _ := strings.Cut(lines[i+1], ",")
		if got != id || label != "0" && label != "1" {
			t.Fatalf("row %d is %q, want an answer to %q", i, lines[i+1], id)
		}
		if key == nil {
			continue
		}
		want, err := m.Answer(randsrc.KeyedCoins(key, ""), id, []int{m.Setting().K - q.ones, q.ones})
		if err != nil {
			t.Fatal(err)
		}
		if label != fmt.Sprint(want) {
			t.Fatalf("query %q: %s, want %d", id, label, want)
		}
	}
}

// checkClean shows that the job left neither key nor temporary files.
func checkClean(t testing.TB, job Job) {
	t.Helper()
	for _, dir := range []string{job.Temp, job.KeyDir} {
		if dir == "" || !isLocal(dir) {
			continue
		}
		entries, err := os.ReadDir(dir)
		if err != nil || len(entries) > 0 {
			t.Errorf("left in %s: %v %v", dir, entries, err)
		}
	}
	inMemory.Range(func(_, _ any) bool { t.Error("a key is left in memory"); return true })
}

func checkNoOutput(t testing.TB, job Job) {
	t.Helper()
	if _, err := os.Stat(job.Out); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("there is an output (%v)", err)
	}
	checkClean(t, job)
}
