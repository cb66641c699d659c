package darrmbeam

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/internal/must"
	"github.com/darrm/darrm/internal/randsrc/stream"
	"github.com/darrm/darrm/learn/data"
	"github.com/darrm/darrm/learn/federated"
	"github.com/darrm/darrm/learn/federated/report"
	"github.com/darrm/darrm/learn/federated/rounds"
	"github.com/darrm/darrm/learn/loss"
)

// roundTest is a round of a run of four silos, with the silos' answers.
type roundTest struct {
	plan  *rounds.Plan
	round *rounds.Round
	files [][]byte // by silo
	job   RoundJob
}

// siloSizes are those of a round's test: more than two blocks of a stream.
func siloSizes() []int {
	if long() {
		return []int{400_000, 1, 350_000, 250_000}
	}
	return []int{9000, 1, 6000, 4000}
}

// newRound returns the second round of a run, which has both streams, with a job whose files lie in a
// directory under names that are in no order.
func newRound(t testing.TB, change func(*federated.PSGM)) *roundTest {
	t.Helper()
	c := federated.PSGM{
		Setting: federated.Setting{
			Loss: loss.Logistic{}, Silos: siloSizes(), Rounds: 4, StepSize: 0.3, GradientClip: 1, DifferenceClip: 1,
			Target: accountant.Cost{Delta: 1e-7},
		},
		Momentum: 0.4, Epsilon: 2, Account: federated.Unshuffled,
	}
	if change != nil {
		change(&c)
	}
	x := &roundTest{plan: must.Get(rounds.New(c, 3, rounds.Columns{Intercept: true}))(t)}
	rng := rand.New(rand.NewPCG(5, 6))
	var silos []*data.Records
	for _, n := range c.Silos {
		f, y := make([]float64, 3*n), make([]float64, n)
		for i := range f {
			f[i] = rng.NormFloat64()
		}
		for i := range y {
			y[i] = float64(rng.IntN(2))
		}
		silos = append(silos, must.Get(data.NewRecords(n, 3, f, y))(t).WithIntercept())
	}
	answer := func() (files [][]byte) {
		for m, s := range silos {
			files = append(files, must.Get(x.plan.Answer(t.Context(), x.round, m, s, stream.Seeded(uint64(m))))(t))
		}
		return files
	}
	x.round = x.plan.First()
	x.round = must.Get(x.plan.Aggregate(t.Context(), x.round, x.inOnePlace(t, answer(), rounds.Book(t.TempDir()))))(t)
	x.files = answer()

	dir := t.TempDir()
	for _, name := range []string{"temp", "book", "in"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for m, name := range []string{"west", "east", "north", "south"} {
		write(t, filepath.Join(dir, "in", name+".reports"), x.files[m])
	}
	x.job = RoundJob{
		Engine: Engine{Temp: filepath.Join(dir, "temp"), Run: Local{Timeout: 2 * time.Minute}.Run},
		Plan:   must.Get(x.plan.Encode())(t), Round: must.Get(x.round.Encode())(t), Reports: []string{filepath.Join(dir, "in", "*.reports")},
		Book: filepath.Join(dir, "book"), Out: filepath.Join(dir, "next"), Shuffled: filepath.Join(dir, "shuffled"),
	}
	return x
}

func write(t testing.TB, path string, b []byte) {
	t.Helper()
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

// inOnePlace is what darrm federated shuffle writes.
func (x *roundTest) inOnePlace(t testing.TB, files [][]byte, book rounds.Book) []byte {
	t.Helper()
	s := must.Get(x.plan.NewShuffle(x.round))(t)
	for _, f := range files {
		must.Get(s.Add(t.Context(), f))(t)
	}
	return must.Get(s.Release(book))(t)
}

// messages returns the streams of a file of n and n reports behind its head.
func messages(b []byte, n int) (out [2][]string) {
	for k := range out {
		for m := range slices.Chunk(b[len(b)-9*n*(2-k):][:9*n], 9) {
			out[k] = append(out[k], string(m))
		}
	}
	return out
}

func total(files ...[]byte) (n int) {
	for _, f := range files {
		n += int(binary.LittleEndian.Uint64(f[len("darrm federated reports 1 \n")+64+8:]))
	}
	return n
}

// check shows that the outputs are those of darrm federated shuffle and aggregate: the shuffled file has the
// head of a shuffle in one place and its reports, each once, in another order and the streams in orders of their
// own; the next round is what Aggregate works out from it, bit for bit; the book is one that a shuffle in one
// place knows. It returns the shuffled file.
func (x *roundTest) check(t testing.TB, r *RoundReport, files ...[]byte) []byte {
	t.Helper()
	got := must.Get(os.ReadFile(x.job.Shuffled))(t)
	want := x.inOnePlace(t, files, rounds.Book(x.job.Book)) // the book takes these reports for the same
	n := total(files...)
	if r.Reports != [2]int{n, n} || r.Silos != len(files) || len(r.Missing) != len(x.files)-len(files) || len(got) != len(want) {
		t.Fatalf("%+v, %d bytes, want %d reports in %d bytes", r, len(got), n, len(want))
	}
	if head := len(want) - 18*n; !bytes.Equal(got[:head], want[:head]) {
		t.Errorf("the head is %q, want %q", got[:head], want[:head])
	}
	a, b := messages(got, n), messages(want, n)
	var sent [2][]string
	for _, f := range files {
		for k, s := range messages(f, total(f)) {
			sent[k] = append(sent[k], s...)
		}
	}
	for k := range a {
		if slices.Equal(a[k], sent[k]) || slices.Equal(a[k], b[k]) {
			t.Errorf("stream %d has an order that it should not have", k)
		}
		x, y := slices.Sorted(slices.Values(a[k])), slices.Sorted(slices.Values(sent[k]))
		if !slices.Equal(x, y) {
			t.Errorf("stream %d: not the silos' reports, each once", k)
		}
		if len(slices.Compact(x)) != n {
			t.Errorf("stream %d has a report twice", k)
		}
	}
	next := must.Get(x.plan.ReadRound(must.Get(os.ReadFile(x.job.Out))(t)))(t)
	if want := must.Get(x.plan.Aggregate(t.Context(), x.round, got))(t); !reflect.DeepEqual(next, want) || !reflect.DeepEqual(r.Next, want) {
		t.Errorf("the next round is\n%+v\nof the shuffled file\n%+v", next, want)
	}
	x.checkClean(t)
	return got
}

func (x *roundTest) checkClean(t testing.TB) { t.Helper(); checkClean(t, Job{Engine: x.job.Engine}) }

// checkNothing shows that a job has left nothing.
func (x *roundTest) checkNothing(t testing.TB) {
	t.Helper()
	for _, path := range []string{x.job.Out, x.job.Shuffled} {
		if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("there is %s (%v)", path, err)
		}
	}
	if names := must.Get(os.ReadDir(x.job.Book))(t); len(names) != 0 {
		t.Errorf("the book has %v", names)
	}
	x.checkClean(t)
}

// The pipeline does what darrm federated shuffle and aggregate do, over several blocks; a second run mixes the
// same reports in another order, which tells nothing new; one with a silo fewer is refused, and leaves the
// outputs as they were.
func TestRound(t *testing.T) {
	x := newRound(t, func(c *federated.PSGM) { c.Missing = c.Silos[2] })
	first := x.check(t, must.Get(RunRound(t.Context(), x.job))(t), x.files...)
	second := x.check(t, must.Get(RunRound(t.Context(), x.job))(t), x.files...)
	if bytes.Equal(first, second) {
		t.Error("two jobs have one order")
	}
	out := must.Get(os.ReadFile(x.job.Out))(t)
	in := filepath.Dir(x.job.Reports[0])
	x.job.Reports = []string{filepath.Join(in, "west.reports"), filepath.Join(in, "south.reports"), filepath.Join(in, "east.reports")}
	if _, err := RunRound(t.Context(), x.job); !errors.Is(err, rounds.ErrReleased) {
		t.Errorf("without a silo that was in before: %v", err)
	}
	if !bytes.Equal(must.Get(os.ReadFile(x.job.Shuffled))(t), second) || !bytes.Equal(must.Get(os.ReadFile(x.job.Out))(t), out) {
		t.Error("a refused round has changed an output")
	}
	x.job.Book = t.TempDir()
	x.check(t, must.Get(RunRound(t.Context(), x.job))(t), x.files[0], x.files[3], x.files[1])
}

// Bundles fail by error and by panic after they have placed, added up and written: what failed tries wrote is
// what is released, no report is lost, and none counts twice.
func TestRoundWithFailingBundles(t *testing.T) {
	x := newRound(t, nil)
	x.job.Attempts = 6
	var mu sync.Mutex
	tries := map[int64]int{}
	setFault(t, func(key int64, behind bool) error {
		mu.Lock()
		defer mu.Unlock()
		if !behind {
			return nil
		}
		tries[key]++
		switch {
		case key == partKey(report.Differences, 1) && tries[key] <= 2:
			return errors.New("a bundle fails behind its output")
		case key == partKey(report.Gradients, 0) && tries[key] == 1:
			panic("a bundle panics behind its output")
		}
		return nil
	})
	written := map[string][]byte{}
	run := x.job.Run
	x.job.Run = func(ctx context.Context, p *beam.Pipeline) error {
		err := run(ctx, p)
		found, _ := filepath.Glob(filepath.Join(x.job.Temp, "darrm-beam-*", "block-*"))
		for _, path := range found {
			b, rerr := os.ReadFile(path)
			name := filepath.Base(path)
			if was, ok := written[name]; ok && !bytes.Equal(was, b) {
				t.Errorf("%s changed between two attempts", name)
			}
			written[name], err = b, errors.Join(err, rerr)
		}
		return err
	}
	r := must.Get(RunRound(t.Context(), x.job))(t)
	mu.Lock() // an attempt that failed may not be over
	defer mu.Unlock()
	if r.Attempts < 3 || tries[partKey(report.Differences, 1)] < 3 || tries[partKey(report.Gradients, 0)] < 2 {
		t.Errorf("%d attempts, tries %v: the faults did not happen", r.Attempts, tries)
	}
	out := x.check(t, r, x.files...)
	n := r.Reports[0]
	for k := range 2 {
		for i := range (n + rounds.BlockSize - 1) / rounds.BlockSize {
			b := written[filepath.Base(blockPath("", report.Stream(k), i))]
			from, to := i*rounds.BlockSize, min(n, (i+1)*rounds.BlockSize)
			if want := out[len(out)-9*n*(2-k):][9*from : 9*to]; !bytes.HasPrefix(b, want) {
				t.Errorf("block %d of stream %d of a failed attempt is not what was released", i, k)
			}
		}
	}
}

// A worker process is killed (SIGKILL) behind a block. The key comes to the workers through a directory,
// which is empty in the end.
func TestRoundWithKilledWorker(t *testing.T) {
	x := newRound(t, nil)
	dir := filepath.Dir(x.job.Out)
	x.job.KeyDir = filepath.Join(dir, "keys")
	if err := os.Mkdir(x.job.KeyDir, 0o700); err != nil {
		t.Fatal(err)
	}
	marker := filepath.Join(dir, "killed")
	processWorkers(t, dir, map[string]string{killEnv: marker})
	r := must.Get(RunRound(t.Context(), x.job))(t)
	if _, err := os.Stat(marker); err != nil || r.Attempts != 2 {
		t.Errorf("no worker was killed: %v, %d attempts", err, r.Attempts)
	}
	x.check(t, r, x.files...)
}

// parts is what a GroupByKey hands on.
func parts(p ...reportPart) func(*reportPart) bool {
	return func(out *reportPart) bool {
		if len(p) == 0 {
			return false
		}
		*out, p = p[0], p[1:]
		return true
	}
}

// A runner may hand a bundle's reports on twice, because two tries of it both finished. The block and the book's
// digest are the same; two reports at one place, a lost one and one too many are errors.
func TestReportThatCameTwice(t *testing.T) {
	x := newRound(t, func(c *federated.PSGM) { c.Silos = []int{30, 20, 25, 5} })
	key := must.Get(rounds.NewMixKey())(t)
	at, forget, err := placeKey(t.Context(), "", key)
	if err != nil {
		t.Fatal(err)
	}
	defer forget()
	dir, silos := t.TempDir(), []int{0, 1, 2, 3}
	var blocks, buckets []reportPart
	place := &placeReports{Plan: x.job.Plan, Round: x.job.Round, Silos: silos, Key: at}
	if err := place.Setup(t.Context()); err != nil {
		t.Fatal(err)
	}
	for m, f := range x.files {
		path := filepath.Join(dir, fmt.Sprint(m))
		write(t, path, f)
		h := key.Pin()
		h.Write(f)
		err := place.ProcessElement(t.Context(), reportFile{Path: path, Silo: int64(m), Pin: h.Sum(nil)}, func(key int64, p reportPart) {
			if key == partKey(report.Gradients, 0) {
				blocks = append(blocks, p)
			}
		}, func(key int64, p reportPart) {
			if of, _ := partOf(key); of == report.Gradients && len(buckets) == 0 {
				buckets = append(buckets, p)
			}
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	sum := func(p ...reportPart) ([]byte, error) {
		f := &sumBlock{Plan: x.job.Plan, Round: x.job.Round, Silos: silos, Temp: t.TempDir()}
		err := f.Setup(t.Context())
		if err == nil {
			err = f.ProcessElement(t.Context(), partKey(report.Gradients, 0), parts(p...))
		}
		if err != nil {
			return nil, err
		}
		return os.ReadFile(blockPath(f.Temp, report.Gradients, 0))
	}
	digest := func(p ...reportPart) []byte {
		f := &hashBucket{Plan: x.job.Plan, Round: x.job.Round, Temp: t.TempDir()}
		bucket := rounds.Bucket(p[0].Messages)
		if err := errors.Join(f.Setup(t.Context()), f.ProcessElement(t.Context(), partKey(report.Gradients, bucket), parts(p...))); err != nil {
			t.Fatal(err)
		}
		return must.Get(os.ReadFile(bucketPath(f.Temp, report.Gradients, bucket)))(t)
	}
	once := must.Get(sum(blocks...))(t)
	twice := slices.Concat(blocks[2:3], blocks, blocks[:2])
	if got := must.Get(sum(twice...))(t); !bytes.Equal(got, once) {
		t.Error("reports that came twice count twice, or lie elsewhere")
	}
	if !bytes.Equal(digest(buckets[0]), digest(buckets[0], buckets[0])) {
		t.Error("reports that came twice are twice in the book's digest")
	}
	other := reportPart{blocks[0].Places[:1], bytes.Clone(blocks[0].Messages[:9])}
	other.Messages[3] ^= 1
	beyond := reportPart{[]int64{80}, blocks[0].Messages[:9]}
	for name, p := range map[string][]reportPart{
		"two reports at one place": append(slices.Clone(blocks), other), "two, and one lost": append(slices.Clone(blocks[:1]), reportPart{blocks[1].Places[1:], blocks[1].Messages[9:]}, blocks[2], blocks[3], other), "a lost part": blocks[1:], "a place beyond": append(slices.Clone(blocks), beyond),
		"half a report": append(slices.Clone(blocks), reportPart{[]int64{0}, blocks[0].Messages[:8]}),
	} {
		if _, err := sum(p...); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// What is wrong with the reports is found before anything is written, and said with the file's name.
func TestRoundRefusals(t *testing.T) {
	small := func(c *federated.PSGM) { c.Silos = []int{30, 20, 25, 5} }
	for name, tt := range map[string]struct {
		change func(t *testing.T, x *roundTest, in string)
		want   string
		is     error
	}{
		"a silo twice":   {func(t *testing.T, x *roundTest, in string) { write(t, filepath.Join(in, "copy.reports"), x.files[1]) }, "silo 2 has sent", nil},
		"a silo missing": {func(t *testing.T, _ *roundTest, in string) { os.Remove(filepath.Join(in, "north.reports")) }, "55 of 80", rounds.ErrPartialRound},
		"no report": {func(t *testing.T, x *roundTest, in string) {
			x.files[0][len(x.files[0])-1] = 7
			write(t, filepath.Join(in, "west.reports"), x.files[0])
		}, "west.reports", nil},
		"too long": {func(t *testing.T, x *roundTest, in string) {
			write(t, filepath.Join(in, "west.reports"), append(x.files[0], make([]byte, 5000)...))
		}, "west.reports", nil},
		"another round": {func(t *testing.T, x *roundTest, _ string) { x.job.Round = must.Get(x.plan.First().Encode())(t) }, "another question", nil},
		"no plan":       {func(t *testing.T, x *roundTest, _ string) { x.job.Plan = x.job.Round }, "plan", nil},
		"no book":       {func(t *testing.T, x *roundTest, _ string) { x.job.Book = "" }, "no book", nil},
		"one output":    {func(t *testing.T, x *roundTest, _ string) { x.job.Shuffled = x.job.Out }, "same file", nil},
		"over a report": {func(t *testing.T, x *roundTest, in string) { x.job.Shuffled = filepath.Join(in, "west.reports") }, "same file", nil},
		"changes": {func(t *testing.T, x *roundTest, in string) {
			run, n := x.job.Run, 0
			x.job.Attempts = 1
			x.job.Run = func(ctx context.Context, p *beam.Pipeline) error {
				if n++; n == 2 { // another file of the same silo, whole and well made
					b := slices.Clone(x.files[0])
					b[len(b)-1] ^= 1
					write(t, filepath.Join(in, "west.reports"), b)
				}
				return run(ctx, p)
			}
		}, "changed while", nil},
	} {
		t.Run(name, func(t *testing.T) {
			x := newRound(t, small)
			book := x.job.Book
			tt.change(t, x, filepath.Dir(x.job.Reports[0]))
			r, err := RunRound(t.Context(), x.job)
			if err == nil || !strings.Contains(err.Error(), tt.want) || tt.is != nil && !errors.Is(err, tt.is) || r != nil && r.Next != nil {
				t.Errorf("%v, want %q", err, tt.want)
			}
			x.job.Book = book
			if name == "over a report" {
				x.job.Shuffled = filepath.Join(t.TempDir(), "none")
			}
			x.checkNothing(t)
		})
	}
}
