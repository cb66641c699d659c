//go:build unix

package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/darrm/darrm/internal/randsrc/stream"
	"github.com/darrm/darrm/learn/federated"
	"github.com/darrm/darrm/learn/federated/rounds"
	"github.com/darrm/darrm/ledger"
)

// fleet is a run of ten silos, each a process of its own with a ledger of its own.
type fleet struct {
	t      *testing.T
	dir    string
	silos  int
	plan   *rounds.Run
	mu     sync.Mutex
	states map[string]int // what kills left behind, by kind
	kills  int
}

const siloRecords = 20

func newFleet(t *testing.T, roundCount int, more ...string) *fleet {
	f := &fleet{t: t, dir: t.TempDir(), silos: 10, states: map[string]int{}}
	rng := rand.New(rand.NewPCG(1, 2))
	sizes := ""
	for m := range f.silos {
		text := "a,b,y\n"
		for range siloRecords {
			a, b := rng.NormFloat64(), rng.NormFloat64()
			text += fmt.Sprintf("%.4f,%.4f,%d\n", a, b, map[bool]int{true: 1}[a > b])
		}
		f.write(fmt.Sprintf("%d.csv", m), text)
		sizes += fmt.Sprintf(",%d", siloRecords)
		f.run("budget", "init", fmt.Sprintf("%d.ledger", m), "--eps", "20", "--delta", "1e-4", "-q")
	}
	if err := os.Mkdir(filepath.Join(f.dir, "book"), 0o700); err != nil {
		t.Fatal(err)
	}
	f.run(append([]string{
		"federated", "init", "-q", "--silos", sizes[1:], "--columns", "a,b", "--response", "y", "--task",
		"logistic", "--intercept", "--clip", "1", "--difference-clip", "1",
		"--step-size", "0.5", "--rounds", fmt.Sprint(roundCount), "--missing", fmt.Sprint(siloRecords),
		"--eps", "8", "--delta", "1e-5", "-o", "plan.json", "--round", "0.round",
	}, more...)...)
	var err error
	if f.plan, err = rounds.ReadPlan(f.read("plan.json")); err != nil {
		t.Fatal(err)
	}
	return f
}

func (f *fleet) path(name string) string { return filepath.Join(f.dir, name) }

func (f *fleet) write(name, text string) {
	if err := os.WriteFile(f.path(name), []byte(text), 0o600); err != nil {
		f.t.Fatal(err)
	}
}

func (f *fleet) read(name string) []byte {
	b, err := os.ReadFile(f.path(name))
	if err != nil {
		f.t.Error(err)
	}
	return b
}

func (f *fleet) there(name string) bool {
	_, err := os.Stat(f.path(name))
	return err == nil
}

func (f *fleet) run(args ...string) {
	if out, err := process(f.t, f.dir, args...).CombinedOutput(); err != nil {
		f.t.Errorf("%v: %v\n%s", args, err, out)
	}
}

// refused runs a command that must end with the code, and leave no file at out.
func (f *fleet) refused(code int, out string, args ...string) {
	got, said := exitOf(f.t, f.dir, args...)
	if got != code || f.there(out) {
		f.t.Errorf("%v: exit code %d, want %d, output there: %t: %s", args, got, code, f.there(out), said)
	}
}

// killed runs a command and kills it with SIGKILL once what it waits for has come, or after a
// while.
func (f *fleet) killed(when func() bool, args ...string) {
	c := process(f.t, f.dir, args...)
	if err := c.Start(); err != nil {
		f.t.Error(err)
		return
	}
	for end := time.Now().Add(30 * time.Second); !when() && time.Now().Before(end) &&
		running(c); time.Sleep(100 * time.Microsecond) {
	}
	_ = c.Process.Kill()
	_ = c.Wait()
	f.mu.Lock()
	defer f.mu.Unlock()
	f.kills++
}

// running reports whether a process still runs. A zombie, which ended but was not waited for, still
// takes signals. So signals do not tell the two apart, and its state in /proc does.
func running(c *exec.Cmd) bool {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", c.Process.Pid))
	return err != nil || !bytes.Contains(b, []byte(") Z "))
}

// saw counts what a kill left behind.
func (f *fleet) saw(state string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.states[state]++
}

// answer has a silo answer a round: it is killed at a stage that changes from silo to silo and
// round to round, and asked again.
func (f *fleet) answer(command string, m, round, stage int, roundFile, out string) {
	book, key := fmt.Sprintf("%d.ledger", m), fmt.Sprintf("%d.key", m)
	size := func() int64 {
		info, err := os.Stat(f.path(book))
		if err != nil {
			return 0
		}
		return info.Size()
	}
	before := size()
	entries := len(historyOf(f.t, f.path(book)))
	args := func(out string) []string {
		return []string{"federated", command, "plan.json", roundFile, "-q", "--silo", fmt.Sprint(m + 1),
			"--private", fmt.Sprintf("%d.csv", m), "--ledger", book, "--checkpoint", key, "-o", out}
	}
	start := time.Now()
	when := []func() bool{
		func() bool { return time.Since(start) > time.Duration(5*(m+1))*time.Millisecond },
		func() bool { return f.there(key) },
		func() bool { return size() > before },
		func() bool { return f.there(out) },
		nil, // with a pipe that nobody reads, after all is noted
	}[stage%5]
	to := out
	if when == nil {
		to = out + ".pipe"
		if err := syscall.Mkfifo(f.path(to), 0o600); err != nil {
			f.t.Error(err)
		}
		when = func() bool {
			return len(historyOf(f.t, f.path(book))) >= entries+2 && hasResult(f.t, f.path(book), round)
		}
	}
	f.killed(when, args(to)...)
	var kept []byte
	now := historyOf(f.t, f.path(book))
	switch {
	case f.there(out):
		kept = f.read(out)
		f.saw("answer out")
		if f.there(key) {
			f.saw("answer out, key there")
		}
	case len(now) == entries && f.there(key):
		f.saw("key, not charged")
	case len(now) == entries:
		f.saw("nothing")
	case now[len(now)-1].Kind == ledger.KindResult:
		f.saw("noted, not out")
	default:
		f.saw("charged, not noted")
	}
	// Without its key a paid answer is lost, and not drawn anew.
	if !f.there(out) && len(now) > entries {
		without := slices.DeleteFunc(args(out+".second"), func(s string) bool {
			return s == "--checkpoint" || s == key
		})
		f.refused(7, out+".second", without...)
	}
	f.run(args(out)...)
	if got := f.read(out); kept != nil && !bytes.Equal(kept, got) {
		f.t.Errorf("silo %d, round %d: the answer changed after the kill", m, round)
	}
	if f.there(key) {
		f.t.Errorf("silo %d, round %d: the key is still there", m, round)
	}
	// The ledger has the digest of just this answer.
	last := historyOf(f.t, f.path(book))
	if digest := sha256.Sum256(f.read(out)); last[len(last)-1].Kind != ledger.KindResult ||
		last[len(last)-1].Result != ledger.Digest(digest) {
		f.t.Errorf("silo %d, round %d: the ledger notes another answer", m, round)
	}
}

func hasResult(t *testing.T, book string, round int) bool {
	h := historyOf(t, book)
	return len(h) > 0 && h[len(h)-1].Kind == ledger.KindResult &&
		strings.Contains(h[len(h)-1].ID, fmt.Sprintf("round %d ", round))
}

// sent returns the reports in a silo's file, read by its layout alone.
func (f *fleet) sent(name string) (out federated.Reports) {
	b := f.read(name)[27+32+32+8:]
	size := int(binary.LittleEndian.Uint64(b[16:]))
	at := 24
	for k := range out {
		n := int(binary.LittleEndian.Uint64(b[8*k:])) * size
		out[k] = b[at : at+n]
		at += n
	}
	return out
}

// all runs f for every silo, two at a time: each is a process.
func (f *fleet) all(do func(m int)) {
	var g errgroup.Group
	g.SetLimit(2)
	for m := range f.silos {
		g.Go(func() error { do(m); return nil })
	}
	_ = g.Wait()
}

// Ten silos as processes, each killed with SIGKILL in every round at a stage of its answer, and
// shuffler and server killed too. In one round a silo is missing, and comes too late. Nothing is
// charged twice, no round is answered or released twice, and the model is, round by round, that of
// the roles in one process for the very reports that came.
func TestTenSilos(t *testing.T) {
	t.Parallel()
	count := 2
	if os.Getenv("DARRM_LONG") != "" {
		count = 12
	}
	tenSilos(t, count)
}

func TestTenSilosWithLocalSteps(t *testing.T) {
	if os.Getenv("DARRM_LONG") == "" {
		t.Skip("DARRM_LONG is not set")
	}
	tenSilos(t, 6, "--local-steps", "3", "--local-batch", "5", "--local-clip", "1")
}

func tenSilos(t *testing.T, count int, more ...string) {
	f := newFleet(t, count, more...)
	server := f.plan.Federated().NewServer(stream.Seeded(1))
	const missing, missingIn = 4, 0
	for r := range count {
		round := fmt.Sprintf("%d.round", r)
		file := func(m int) string { return fmt.Sprintf("%d-%d.reports", r, m) }
		f.all(func(m int) {
			if m != missing || r != missingIn {
				f.answer("encode", m, r, m+r, round, file(m))
			}
		})
		var all federated.Reports
		shuffle := []string{"federated", "shuffle", "plan.json", round, "--book", "book", "-q"}
		for m := range f.silos {
			if m == missing && r == missingIn {
				continue
			}
			for k, messages := range f.sent(file(m)) {
				all[k] = append(all[k], messages...)
			}
			shuffle = append(shuffle, file(m))
		}
		shuffled, next := fmt.Sprintf("%d.shuffled", r), fmt.Sprintf("%d.round", r+1)
		// Too few.
		f.refused(3, shuffled, append(slices.Clone(shuffle[:len(shuffle)-2]), "-o", shuffled)...)
		noted := func() bool {
			names, _ := os.ReadDir(f.path("book"))
			return len(names) > r && !strings.HasPrefix(names[len(names)-1].Name(), ".")
		}
		f.killed(noted, append(shuffle, "-o", shuffled)...)
		switch {
		case f.there(shuffled):
			f.saw("shuffled")
		case noted():
			f.saw("in the book, not shuffled")
		default:
			f.saw("not in the book")
		}
		f.run(append(shuffle, "-o", shuffled)...)
		if r == missingIn {
			f.answer("encode", missing, r, 3, round, file(missing)) // too late
			f.refused(7, shuffled+"2", append(shuffle, file(missing), "-o", shuffled+"2")...)
		}
		local := next
		if f.plan.LocalSteps() > 1 {
			local = next + ".local"
		}
		aggregate := []string{"federated", "aggregate", "plan.json", round, shuffled, "-q", "-o", local}
		start := time.Now()
		f.killed(func() bool { return time.Since(start) > time.Duration(4*(r+1))*time.Millisecond },
			aggregate...)
		f.run(aggregate...)
		first := f.read(local)
		f.run(aggregate...)
		if !bytes.Equal(first, f.read(local)) {
			t.Errorf("round %d: two aggregates of the same files differ", r)
		}
		q, err := server.Receive(t.Context(), all)
		if err != nil {
			t.Fatal(err)
		}
		var reply federated.Reply
		if f.plan.LocalSteps() > 1 {
			asked := r % f.silos
			f.answer("local", asked, r, r, local, "reply"+fmt.Sprint(r))
			f.run("federated", "aggregate", "plan.json", local, "reply"+fmt.Sprint(r), "-q", "-o", next)
			got := f.round(next)
			reply = federated.Reply{Round: r, Model: got.Model}
			if q.Keep >= 0 {
				reply.Kept = got.Model
			}
		} else if reply, err = server.Step(t.Context(), q); err != nil {
			t.Fatal(err)
		}
		if err := server.Accept(q, reply); err != nil {
			t.Fatal(err)
		}
		got := f.round(next)
		for _, v := range server.State() {
			if want := map[string][]float64{"x": got.Model, "v": got.Direction,
				"previous": got.Previous}[v.Name]; want != nil {
				for j := range want {
					if math.Abs(want[j]-v.Values[j]) > 1e-9*(1+math.Abs(v.Values[j])) {
						t.Errorf("round %d: %s is %v by files, %v in one process", r, v.Name, want, v.Values)
						break
					}
				}
			}
		}
	}
	f.checkLedgers(count)
	t.Logf("%d kills left behind: %v", f.kills, f.states)
	// A pipe that nobody reads holds an answer that is noted, and its file that it is out.
	for _, state := range []string{"noted, not out", "answer out"} {
		if f.states[state] == 0 {
			t.Errorf("no kill left behind %q: %v", state, f.states)
		}
	}
	if n := f.states["nothing"] + f.states["key, not charged"]; n == 0 {
		t.Errorf("no kill came before the charge: %v", f.states)
	}
}

func (f *fleet) round(name string) *rounds.Round {
	r, err := f.plan.ReadRound(f.read(name))
	if err != nil {
		f.t.Fatal(err)
	}
	return r
}

// checkLedgers wants in each ledger one charge of the run, its whole price, and a charge at no cost
// with its result for every round.
func (f *fleet) checkLedgers(count int) {
	cost, err := ledger.NewCost(f.plan.Cost().Epsilon, f.plan.Cost().Delta)
	if err != nil {
		f.t.Fatal(err)
	}
	for m := range f.silos {
		path := f.path(fmt.Sprintf("%d.ledger", m))
		f.run("budget", "verify", path, "-q")
		var spent ledger.Cost
		charges, results := map[string]int{}, map[string]int{}
		for _, e := range historyOf(f.t, path) {
			if e.Kind == ledger.KindResult {
				results[e.ID]++
				continue
			}
			charges[e.ID]++
			spent = spent.Plus(e.Total())
		}
		want := count
		if f.plan.LocalSteps() > 1 {
			want += (count - m + f.silos - 1) / f.silos // its turns
		}
		if spent != cost || len(charges) != want+1 || len(results) != want {
			f.t.Errorf("silo %d: spent %v, %d charges and %d results; want %v, %d and %d", m, spent,
				len(charges), len(results), cost, want+1, want)
		}
		for id, n := range charges {
			if n != 1 || results[id] != 1 && !strings.HasPrefix(id, "run:") {
				f.t.Errorf("silo %d: %q has %d charges and %d results", m, id, n, results[id])
			}
		}
	}
}
