package darrmbeam

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/options/jobopts"
)

// size is the number of queries of the large tests.
func size() int {
	if long() {
		return 1_000_000
	}
	return 20_000
}

func TestEveryQueryIsAnsweredOnceInOrder(t *testing.T) {
	for _, ids := range []bool{true, false} {
		rows := queries(size())
		job := newJob(t, rows, ids)
		job.ShardRows = size()/7 + 1 // shards cut batches, files cut shards
		var s spy
		s.wrap(t, &job)
		r, err := Run(context.Background(), job)
		if err != nil {
			t.Fatal(err)
		}
		if r.Queries != len(rows) || r.Attempts != 1 || s.ran != 2 {
			t.Errorf("%d queries, %d attempts, %d pipelines", r.Queries, r.Attempts, s.ran)
		}
		checkLabels(t, job.Out, rows, ids, s.key)
		checkClean(t, job)
	}
}

// The labels of one job over the whole pipeline, with a key of the system: for each
// number of votes l the share of ones is that of ProbabilityOfOne. Bound by Hoeffding:
// Pr[|X/n-p| ≥ t] ≤ 2·exp(-2nt²), which is 1e-6/12 at t = √(ln(24e6)/2n): together a
// false alarm below 1e-6, whatever p. That each label is the mechanism's for the
// query's coins is shown exactly by the test above, and that those have exactly this
// law by package ensemble.
func TestLabelsHaveTheMechanismsLaw(t *testing.T) {
	rows := queries(60_000)
	job := newJob(t, rows, true)
	if _, err := Run(context.Background(), job); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(job.Out)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(b), "\n")[1:]
	m := mechanism(t)
	check := func(label func(i int) bool) string {
		var n, ones [12]int
		for i, q := range rows {
			n[q.ones]++
			if label(i) {
				ones[q.ones]++
			}
		}
		for l := range n {
			law, err := m.Probabilities([]int{m.Setting().K - l, l})
			if err != nil {
				t.Fatal(err)
			}
			p := law[1]
			share, limit := float64(ones[l])/float64(n[l]), math.Sqrt(math.Log(24e6)/(2*float64(n[l])))
			if math.Abs(share-p) >= limit {
				return fmt.Sprintf("l = %d: share of ones %.4f, probability %.4f", l, share, p)
			}
		}
		return ""
	}
	if what := check(func(i int) bool { return strings.HasSuffix(lines[i], ",1") }); what != "" {
		t.Error(what)
	}
	for name, mutant := range map[string]func(i int) bool{
		"majority without noise": func(i int) bool { return rows[i].ones > 5 },
		"shifted by a query": func(i int) bool {
			return strings.HasSuffix(lines[(i+1)%len(rows)], ",1")
		},
		"always a coin": func(i int) bool { return i/12%2 == 0 },
	} {
		if check(mutant) == "" {
			t.Errorf("mutant %q passes", name)
		}
	}
}

// Bundles fail on their first tries, after they have answered and written, by error and
// by panic: the results are complete, each query is answered once, and what
// the failed tries wrote is what is released.
func TestFailingBundles(t *testing.T) {
	rows := queries(size())
	job := newJob(t, rows, true)
	job.ShardRows, job.Attempts = size()/16, 6
	var mu sync.Mutex
	tries := map[int64]int{}
	setFault(t, func(shard int64, behind bool) error {
		mu.Lock()
		defer mu.Unlock()
		if !behind {
			return nil
		}
		tries[shard]++
		switch {
		case shard == 3 && tries[shard] <= 2:
			return errors.New("a bundle fails behind its output")
		case shard == 8 && tries[shard] == 1:
			panic("a bundle panics behind its output")
		}
		return nil
	})
	// What failed attempts wrote, by name: a shard is there when its bundle has failed.
	written := map[string]string{}
	var s spy
	s.between = func(int) error {
		found, err := filepath.Glob(filepath.Join(job.Temp, "darrm-beam-*", "labels-*.csv"))
		for _, path := range found {
			b, rerr := os.ReadFile(path)
			// without the seal
			written[filepath.Base(path)] = strings.TrimPrefix(string(b[:max(0, len(b)-32)]), "query,label\n")
			err = errors.Join(err, rerr)
		}
		return err
	}
	s.wrap(t, &job)
	retried := 0
	job.Retrying = func(int, error) { retried++ }
	r, err := Run(context.Background(), job)
	if err != nil {
		t.Fatal(err)
	}
	mu.Lock() // an attempt that failed may not be over
	defer mu.Unlock()
	// Three failures in two or three attempts: two bundles can fail in one.
	if r.Attempts < 3 || retried != r.Attempts-1 || tries[3] < 3 || tries[8] < 2 {
		t.Errorf("%d attempts, %d retries, tries %v: the faults did not happen", r.Attempts, retried,
			tries)
	}
	checkLabels(t, job.Out, rows, true, s.key)
	checkClean(t, job)
	b, err := os.ReadFile(job.Out)
	if err != nil {
		t.Fatal(err)
	}
	for name, rows := range written {
		if rows == "" || !strings.Contains(string(b), "\n"+rows) {
			t.Errorf("%s of a failed attempt is not what was released", name)
		}
	}
	if written["labels-00000003.csv"] == "" || written["labels-00000008.csv"] == "" {
		t.Error("the failed attempts wrote nothing")
	}
}

// Prism does not run a bundle again: the first that fails ends the pipeline. When this
// fails because it does, the documentation of Local has to change, and nothing else.
func TestPrismDoesNotRepeatBundles(t *testing.T) {
	rows := queries(300)
	job := newJob(t, rows, true)
	job.Attempts = 1
	var tries atomic.Int64
	setFault(t, func(int64, bool) error {
		tries.Add(1)
		return errors.New("this bundle always fails")
	})
	_, err := Run(context.Background(), job)
	if err == nil || !strings.Contains(err.Error(), "this bundle always fails") {
		t.Errorf("error %v", err)
	}
	if n := tries.Load(); n != 1 {
		t.Errorf("the bundle was tried %d times", n)
	}
	checkNoOutput(t, job)
}

// A worker process is killed (SIGKILL) behind its second shard. The key comes to
// the workers through a directory, which is empty in the end.
func TestKilledWorker(t *testing.T) {
	rows := queries(size())
	job := newJob(t, rows, true)
	job.ShardRows = size() / 5
	dir := filepath.Dir(job.Out)
	job.KeyDir = filepath.Join(dir, "keys")
	if err := os.Mkdir(job.KeyDir, 0o700); err != nil {
		t.Fatal(err)
	}
	marker := filepath.Join(dir, "killed")
	processWorkers(t, dir, map[string]string{killEnv: marker})
	var retries []string
	job.Retrying = func(_ int, err error) { retries = append(retries, err.Error()) }
	var s spy
	s.between = func(int) error {
		files, err := os.ReadDir(job.KeyDir)
		if err != nil || len(files) != 1 {
			return fmt.Errorf("key directory: %v, %v", files, err)
		}
		info, err := files[0].Info()
		if err == nil && info.Mode().Perm() != 0o600 {
			err = fmt.Errorf("the key has permissions %v", info.Mode().Perm())
		}
		return err
	}
	s.wrap(t, &job)
	r, err := Run(context.Background(), job)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(marker); err != nil {
		t.Errorf("no worker was killed: %v", err)
	}
	if r.Attempts != 2 || len(retries) != 1 {
		t.Errorf("%d attempts, retries after %q", r.Attempts, retries)
	}
	checkLabels(t, job.Out, rows, true, nil)
	checkClean(t, job)
}

// processWorkers makes Prism start workers as processes of this binary.
func processWorkers(t *testing.T, dir string, env map[string]string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	script := "#!/bin/sh\nexport " + workerEnv + "=1\n"
	for k, v := range env {
		script += fmt.Sprintf("export %s='%s'\n", k, v)
	}
	// The boot program outlives its worker for a moment, as in a container. Where it goes
	// at the same time Prism may miss the loss and wait for ever (see Local).
	script += self + " \"$@\" 2>>" + filepath.Join(dir, "worker.log") + "\nsleep 2\n"
	command := filepath.Join(dir, "worker.sh")
	if err := os.WriteFile(command, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	oldType, oldConfig, oldBinary := *jobopts.EnvironmentType, *jobopts.EnvironmentConfig,
		*jobopts.WorkerBinary
	*jobopts.EnvironmentType, *jobopts.EnvironmentConfig, *jobopts.WorkerBinary = "process",
		fmt.Sprintf(`{"command": %q}`, command), command
	t.Cleanup(func() {
		*jobopts.EnvironmentType, *jobopts.EnvironmentConfig, *jobopts.WorkerBinary = oldType, oldConfig,
			oldBinary
		if t.Failed() {
			b, _ := os.ReadFile(filepath.Join(dir, "worker.log"))
			t.Logf("worker: %s", b)
		}
	})
}

// An attempt that hangs is given up in time; the next answers. The local runner has a limit
// of its own, which the job's replaces.
func TestHangingAttempt(t *testing.T) {
	t.Run("job", func(t *testing.T) { hangingAttempt(t, 2*time.Second, 0) })
	t.Run("runner", func(t *testing.T) { hangingAttempt(t, 0, 2*time.Second) })
	t.Run("job before runner", func(t *testing.T) {
		hangingAttempt(t, 2*time.Second, time.Nanosecond)
	})
}

// hangingAttempt raises the limits where a busy machine takes longer to answer than they are.
func hangingAttempt(t *testing.T, ofJob, ofRunner time.Duration) {
	for patience := range 5 {
		if answersOnceHung(t, ofJob<<patience, ofRunner<<patience, patience == 4) {
			return
		}
	}
}

// answersOnceHung reports whether the attempt after the one that hangs answers in time. The last time it must.
func answersOnceHung(t *testing.T, ofJob, ofRunner time.Duration, last bool) bool {
	rows := queries(100)
	job := newJob(t, rows, true)
	job.AttemptTimeout, job.Run = ofJob, Local{Timeout: ofRunner}.Run
	release := make(chan struct{})
	defer close(release)
	var hung atomic.Bool
	setFault(t, func(_ int64, behind bool) error {
		if behind && hung.CompareAndSwap(false, true) {
			<-release
		}
		return nil
	})
	var s spy
	s.wrap(t, &job)
	r, err := Run(context.Background(), job)
	if late := err == nil && r.Attempts > 2 || err != nil && strings.Contains(err.Error(),
		context.DeadlineExceeded.Error()); late && !last {
		return false
	}
	if err != nil || r.Attempts != 2 {
		t.Fatalf("%+v, %v", r, err)
	}
	checkLabels(t, job.Out, rows, true, s.key)
	checkClean(t, job)
	return true
}

// Workers of another process do not find a key that is in this one's memory, and say
// so before anything is charged.
func TestWorkersElsewhereNeedAKeyDirectory(t *testing.T) {
	job := newJob(t, queries(100), true)
	job.Charge = newCharge(t, 1e4, "fresh")
	processWorkers(t, filepath.Dir(job.Out), nil)
	_, err := Run(context.Background(), job)
	if err == nil || !strings.Contains(err.Error(), "need a key directory") {
		t.Errorf("error %v", err)
	}
	checkSpent(t, job.Charge, 0)
	checkNoOutput(t, job)
}

// Everything of the job on a file system that is not this machine's: Beam's memory one.
func TestRemoteFiles(t *testing.T) {
	rows := queries(3000)
	job := newJob(t, rows, true)
	ctx := context.Background()
	for i, path := range job.Votes {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := put(ctx, fmt.Sprintf("memfs://%s/votes-%d.csv", t.Name(), i), b); err != nil {
			t.Fatal(err)
		}
	}
	local := job.Out
	job.Votes = []string{"memfs://" + t.Name() + "/votes-*.csv"}
	job.Out = "memfs://" + t.Name() + "/labels.csv"
	job.Temp = "memfs://" + t.Name() + "/temp"
	job.KeyDir = "memfs://" + t.Name() + "/keys"
	job.ShardRows = 700
	if _, err := Run(ctx, job); err != nil {
		t.Fatal(err)
	}
	b, err := get(ctx, job.Out)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(local, b, 0o600); err != nil {
		t.Fatal(err)
	}
	checkLabels(t, local, rows, true, nil)
	left, err := glob(ctx, "memfs://"+t.Name()+"/*/*")
	if more, err := glob(ctx, "memfs://"+t.Name()+"/*/*/*"); err != nil || len(left)+len(more) > 0 {
		t.Errorf("left: %v %v", left, more)
	}
	if err != nil {
		t.Error(err)
	}
}

// driver runs this binary as a driver that is killed: where it answers, or where the labels
// are in the ledger and not yet in their place.
func driver(dir, at string) {
	b, err := os.ReadFile("testdata/table.json")
	if err == nil {
		fault = func(shard int64, behind bool) error {
			if at == "answer" && shard == 1 && behind || at == "publish" && shard == outputShard {
				p, _ := os.FindProcess(os.Getpid())
				p.Kill()
				select {}
			}
			return nil
		}
		job := driverJob(dir)
		job.Table = b
		_, err = Run(context.Background(), job)
	}
	fmt.Println("the driver was not killed:", err)
	os.Exit(3)
}

func driverJob(dir string) Job {
	return Job{
		Votes: []string{filepath.Join(dir, "votes-*.csv")}, Out: filepath.Join(dir, "labels.csv"),
		ShardRows: 100, Engine: Engine{Temp: filepath.Join(dir, "temp"),
			Run: runLocal},
		Charge: Charge{Ledger: filepath.Join(dir, "ledger"), RequestID: "march", Teachers: "fresh",
			AcceptWeak: true},
	}
}

// A driver that is killed behind the charge leaves the budget spent, no output and no
// key, also where the labels are noted already; the same request again is refused, and so is
// not answered twice.
func TestKilledDriver(t *testing.T) {
	for _, tt := range []struct {
		at      string
		entries int
	}{{"answer", 1}, {"publish", 2}} {
		t.Run(tt.at, func(t *testing.T) {
			rows := queries(1000)
			job := newJob(t, rows, true)
			dir := filepath.Dir(job.Out)
			charge := chargeIn(t, dir, 1e4, "fresh")
			self, err := os.Executable()
			if err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command(self)
			cmd.Env = append(os.Environ(), driverEnv+"="+dir, driverAtEnv+"="+tt.at)
			out, err := cmd.CombinedOutput()
			if err == nil || cmd.ProcessState.ExitCode() != -1 { // by a signal
				t.Fatalf("the driver was not killed: %v, %s", err, out)
			}
			if _, err := os.Stat(job.Out); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("there is an output (%v)", err)
			}
			spent, left := spentOf(t, charge), entries(t, charge.Ledger)
			if spent == 0 {
				t.Error("nothing was charged")
			}
			if len(left) != tt.entries {
				t.Errorf("entries %q", left)
			}
			// The shards are left: labels that are paid for. Nothing else is.
			filepath.WalkDir(filepath.Join(dir, "temp"), func(path string, d os.DirEntry, err error) error {
				if err == nil && !d.IsDir() && !strings.HasPrefix(d.Name(), "labels-") &&
					!strings.HasPrefix(d.Name(), "file-") && !strings.HasPrefix(d.Name(), "ids-") {
					t.Errorf("left: %s", path)
				}
				return err
			})
			again := driverJob(dir)
			again.Table, again.Temp = job.Table, t.TempDir()
			var s spy
			s.wrap(t, &again)
			if _, err := Run(context.Background(), again); !isReplay(err) {
				t.Errorf("the same request again: %v", err)
			}
			if s.ran != 1 {
				t.Errorf("%d pipelines ran, want the first only", s.ran)
			}
			if got := entries(t, charge.Ledger); strings.Join(got, "\n") != strings.Join(left, "\n") {
				t.Errorf("entries %q, then %q", left, got)
			}
			checkSpent(t, charge, spent)
			checkNoOutput(t, again)
		})
	}
}
