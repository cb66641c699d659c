//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/darrm/darrm/internal/testing/pgtest"
	"github.com/darrm/darrm/internal/testing/servetest"
	"github.com/darrm/darrm/ledger"
)

// months is a folder of a hospital's months, and the ledger that pays for all of them.
type months struct {
	*testing.T
	dir, book string
	stated    []string // of every release
}

// hospitals vote on each scan. In a long run there are twice as many, whose tables are four times as large.
var hospitals = some(12, 24)

// scans writes a file of so many scans, on which the hospitals vote for three classes. Each name has
// another order of the columns, and the true class of some scans.
func (m *months) scans(name string, n int) {
	m.Helper()
	coins := rand.New(rand.NewPCG(uint64(name[0]), uint64(n)))
	var rows strings.Builder
	rows.WriteString("truth,scan")
	for _, i := range coins.Perm(hospitals) {
		fmt.Fprintf(&rows, ",hospital-%d", i+1)
	}
	classes := []string{"clear", "shadow", "unclear"}
	for i := range n {
		fmt.Fprintf(&rows, "\n%s,%s-%d", append(classes, "", "NA")[coins.IntN(5)], name, i+1)
		for range hospitals {
			rows.WriteString("," + classes[min(coins.IntN(5), i%3)])
		}
	}
	if err := os.WriteFile(filepath.Join(m.dir, name+".csv"), []byte(rows.String()), 0o600); err != nil {
		m.Fatal(err)
	}
}

// aggregate are the arguments of a release of the month's labels.
func (m *months) aggregate(month string, more ...string) []string {
	args := append([]string{"aggregate", month + ".csv", "--id-column", "scan", "--classes",
		"clear,shadow,unclear", "--ledger", m.book, "--request-id", month, "--checkpoint", month + ".key",
		"--out", month + "-labels.csv"}, m.stated...)
	return append(args, more...)
}

// run runs a command, which ends with the exit code and says has.
func (m *months) run(code int, has string, args ...string) (stdout []byte) {
	m.Helper()
	var out, said bytes.Buffer
	c := process(m.T, m.dir, args...)
	c.Stdout, c.Stderr = &out, &said
	_ = c.Run()
	if got := c.ProcessState.ExitCode(); got != code ||
		!strings.Contains(strings.Join(strings.Fields(out.String()+said.String()), " "), has) {
		m.Fatalf("%s: exit %d, want %d and %q\n%s%s", args, got, code, has, out.String(), said.String())
	}
	return out.Bytes()
}

// figures are those that plan, --dry-run and a release have in common, as they are printed.
type figures struct {
	Total struct{ Epsilon, Delta json.Number }
	Agree json.Number
}

func (m *months) planned(args ...string) (f figures) {
	m.Helper()
	var p struct {
		Choices []struct {
			Total json.RawMessage `json:"all_labels"`
			Agree json.Number     `json:"agreement"`
		}
	}
	if err := json.Unmarshal(m.run(0, "", args...), &p); err != nil || len(p.Choices) == 0 {
		m.Fatal(err)
	}
	f.Agree = p.Choices[0].Agree
	if err := json.Unmarshal(p.Choices[0].Total, &f.Total); err != nil {
		m.Fatal(err)
	}
	return f
}

func (m *months) released(args ...string) (f figures) {
	m.Helper()
	var s struct {
		Total json.RawMessage `json:"all_labels_fresh_teachers"`
		Agree json.Number     `json:"expected_agreement"`
	}
	if err := json.Unmarshal(m.run(0, "", args...), &s); err != nil {
		m.Fatal(err)
	}
	f.Agree = s.Agree
	if err := json.Unmarshal(s.Total, &f.Total); err != nil {
		m.Fatal(err)
	}
	return f
}

// labels returns the labels of a month, of which the file has as many as the month has scans.
func (m *months) labels(month string, want int) []byte {
	m.Helper()
	b, err := os.ReadFile(filepath.Join(m.dir, month+"-labels.csv"))
	if err != nil || bytes.Count(b, []byte("\n")) != want+1 {
		m.Fatalf("%s has %d lines, %v", month, bytes.Count(b, []byte("\n")), err)
	}
	return b
}

// open returns the one charge of labels, and what was spent.
func (m *months) open() (taken uint64, spent ledger.Cost) {
	m.Helper()
	l, err := ledger.Open(m.Context(), m.book) // verifies all of it
	if err != nil {
		m.Fatal(err)
	}
	all, err := l.Quotas(m.Context())
	if err != nil || len(all) != 1 {
		m.Fatalf("%d charges, %v", len(all), err)
	}
	state, err := l.State(m.Context())
	if err != nil {
		m.Fatal(err)
	}
	return all[0].Taken, state.Spent
}

// Two months of one budget: what October was planned for pays for November too, and for scans that a
// server answers between them. plan, --dry-run and the release have the same figures to the last
// digit, and what was paid for is drawn again without a cache and without any solver.
func TestTwoMonths(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	twoMonths(&months{T: t, dir: dir, book: filepath.Join(dir, "l.ledger")})
}

func TestPostgresMonths(t *testing.T) {
	s := pgtest.Start(t)
	dir := t.TempDir()
	twoMonths(&months{T: t, dir: dir, book: s.URL("ledger=scans&secret=" + filepath.Join(dir, "secret"))})
}

func twoMonths(m *months) {
	m.stated = []string{"--data", "disjoint", "--budget-eps", "3", "--budget-delta", "1e-6", "--queries", "802"}
	m.scans("october", 400)
	m.scans("november", 400)
	m.run(0, "granted", "budget", "init", m.book, "--eps", "3", "--delta", "1e-6")

	plan := m.planned(append([]string{"plan", "--K", fmt.Sprint(hospitals), "--num-classes", "3", "--json"}, m.stated...)...)
	for _, more := range [][]string{{"--dry-run", "--json"}, {"--dry-run", "--json", "--no-cache"}} {
		if got := m.released(m.aggregate("october", more...)...); got != plan {
			m.Errorf("%s: %v, planned %v", more, got, plan)
		}
	}
	// A process that stood still meanwhile has the same figures.
	if got := m.stopped(m.aggregate("october", "--dry-run", "--json", "--no-cache")...); got != plan {
		m.Errorf("stopped: %v, planned %v", got, plan)
	}
	m.run(0, "400 of 802 labels are taken; 402 are left", m.aggregate("october")...)
	october := m.labels("october", 400)

	m.serve(2)
	if got := m.released(m.aggregate("november", "--dry-run", "--json", "--no-cache", "--solve-within", "1ns")...); got != plan {
		m.Errorf("november: %v, planned %v", got, plan)
	}
	m.run(0, "802 of 802 labels are taken, and none is left", m.aggregate("november", "--no-cache")...)
	november := m.labels("november", 400)
	if taken, spent := m.open(); taken != 802 || spent.String() != "(3, 1e-6)" {
		m.Errorf("%d labels are taken, %v is spent", taken, spent)
	}

	// Again: the same labels, with no table at hand and no time for a solver, and nothing is paid.
	for month, labels := range map[string][]byte{"october": october, "november": november} {
		m.run(0, "", m.aggregate(month, "--no-cache", "--solve-within", "1ns")...)
		if !bytes.Equal(m.labels(month, 400), labels) {
			m.Errorf("%s has other labels", month)
		}
	}
	m.scans("december", 3)
	m.run(7, "0 labels are left of the charge", m.aggregate("december")...)
	checkAbsent(m.T, filepath.Join(m.dir, "december-labels.csv"))
	if taken, spent := m.open(); taken != 802 || spent.String() != "(3, 1e-6)" {
		m.Errorf("at the end %d labels are taken, %v is spent", taken, spent)
	}
}

// serve answers so many scans from the same charge.
func (m *months) serve(n int) {
	m.Helper()
	folder, err := os.MkdirTemp("", "months") // the name of a socket has little room
	if err != nil {
		m.Fatal(err)
	}
	m.Cleanup(func() { os.RemoveAll(folder) })
	self, err := os.Executable()
	if err != nil {
		m.Fatal(err)
	}
	program, socket := filepath.Join(folder, "darrm"), filepath.Join(folder, "s") // TestMain goes by the name
	if err := os.Symlink(self, program); err != nil {
		m.Fatal(err)
	}
	s := &servetest.Server{Program: program, Socket: socket, Env: []string{"DARRM_CACHE=" + folder},
		Args: append([]string{"serve", "--listen", "unix:" + socket, "--ledger", m.book, "--key",
			filepath.Join(m.dir, "service.key"), "--K", fmt.Sprint(hospitals), "--classes", "clear,shadow,unclear"}, m.stated...)}
	start(m.T, s)
	defer s.Kill()
	c := servetest.NewClient(socket)
	defer c.Close()
	for i := range n {
		if _, err := c.Once(m.Context(), fmt.Sprintf("phone-%d", i), []int{hospitals - 4, 3, 1}); err != nil {
			m.Fatal(err)
		}
	}
}

// stopped runs a command that stands still while it works.
func (m *months) stopped(args ...string) figures {
	m.Helper()
	var out bytes.Buffer
	c := process(m.T, m.dir, args...)
	c.Stdout = &out
	if err := c.Start(); err != nil {
		m.Fatal(err)
	}
	time.Sleep(100 * time.Millisecond)
	_ = c.Process.Signal(syscall.SIGSTOP)
	time.Sleep(time.Duration(some(1, 30)) * time.Second)
	_ = c.Process.Signal(syscall.SIGCONT)
	if err := c.Wait(); err != nil {
		m.Fatal(err)
	}
	var s struct {
		Total struct{ Epsilon, Delta json.Number } `json:"all_labels_fresh_teachers"`
		Agree json.Number                          `json:"expected_agreement"`
	}
	if err := json.Unmarshal(out.Bytes(), &s); err != nil {
		m.Fatal(err)
	}
	return figures{s.Total, s.Agree}
}

// Two releases at once of one charge, each killed again and again, take as many labels as they
// release, and each release is finished with its own coins.
func TestMonthsKilled(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	const perRound = 4
	rounds := some(3, 60)
	m := &months{T: t, dir: dir, book: filepath.Join(dir, "l.ledger"), stated: []string{"--data", "disjoint",
		"--budget-eps", "3", "--budget-delta", "1e-6", "--queries", fmt.Sprint(perRound * rounds), "-q"}}
	m.run(0, "granted", "budget", "init", m.book, "--eps", "3", "--delta", "1e-6")
	noted := map[string]ledger.Digest{}
	killed, charged, longest := 0, 0, 400*time.Millisecond
	for round := range rounds {
		pair := []string{fmt.Sprintf("a%d", round), fmt.Sprintf("b%d", round)}
		var all sync.WaitGroup
		for _, month := range pair {
			m.scans(month, perRound/2)
			c := process(t, dir, m.aggregate(month)...)
			pause := time.Duration(rand.Int64N(int64(longest)))
			all.Go(func() {
				if c.Start() != nil {
					return
				}
				exited := make(chan error, 1)
				go func() { exited <- c.Wait() }()
				for end := time.Now().Add(pause); time.Now().Before(end) && len(exited) == 0; time.Sleep(time.Millisecond) {
					if b, _ := os.ReadFile(m.book); bytes.Contains(b, []byte(`"`+month+`"`)) && round%2 == 0 {
						break // it is charged
					}
				}
				_ = c.Process.Kill()
				<-exited
			})
		}
		all.Wait()
		before := historyOf(t, m.book)
		for _, month := range pair {
			_, err := os.Stat(filepath.Join(dir, month+"-labels.csv"))
			if err != nil {
				killed++
			}
			if slices.ContainsFunc(before, func(e ledger.Entry) bool { return e.ID == month }) && err != nil {
				charged++
			}
			began := time.Now()
			m.run(0, "", m.aggregate(month, "--no-cache")...)
			longest = min(2*time.Since(began), 2*time.Second) // two at once
			m.labels(month, perRound/2)
			checkAbsent(t, filepath.Join(dir, month+".key"))
			noted[month] = digestOf(t, filepath.Join(dir, month+"-labels.csv"))
		}
	}
	if taken, spent := m.open(); taken != uint64(perRound*rounds) || spent.String() != "(3, 1e-6)" {
		t.Errorf("%d labels are taken of %d, %v is spent", taken, perRound*rounds, spent)
	}
	results := map[string]int{}
	for _, e := range historyOf(t, m.book) {
		if e.Kind == ledger.KindResult {
			results[e.ID]++
			if e.Result != noted[e.ID] {
				t.Errorf("%s: the labels are not those that were noted", e.ID)
			}
		}
	}
	for month := range noted {
		if results[month] != 1 {
			t.Errorf("%s has %d results", month, results[month])
		}
	}
	t.Logf("%d of %d releases were killed, %d of them after their charge", killed, 2*rounds, charged)
}
