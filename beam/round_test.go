package darrmbeam

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/darrm/darrm/accountant"
	"github.com/darrm/darrm/internal/randsrc"
	"github.com/darrm/darrm/internal/randsrc/stream"
	"github.com/darrm/darrm/internal/testing/must"
	"github.com/darrm/darrm/learn/data"
	"github.com/darrm/darrm/learn/federated"
	"github.com/darrm/darrm/learn/federated/randomiser"
	"github.com/darrm/darrm/learn/federated/rounds"
	"github.com/darrm/darrm/learn/loss"
	"github.com/darrm/darrm/release"
)

// roundTest is a round of a run of four silos, with the silos' answers.
type roundTest struct {
	plan  *rounds.Run
	round *rounds.Round
	files [][]byte // by silo
	job   RoundJob
}

// siloSizes are the numbers of records in a round's test: more than two blocks of a stream.
func siloSizes() []int {
	if long() {
		return []int{400_000, 1, 350_000, 250_000}
	}
	return []int{9000, 1, 6000, 4000}
}

// newRound returns the second round of a run, which has both streams, with a job whose files lie in
// a directory under names that are in no order.
func newRound(t testing.TB, change func(*federated.PSGM)) *roundTest {
	t.Helper()
	c := federated.PSGM{
		Setting: federated.Setting{
			Loss: loss.Logistic{}, Silos: siloSizes(), Rounds: 4, StepSize: 0.3, GradientClip: 1,
			DifferenceClip: 1,
			Target:         accountant.Cost{Delta: 1e-7},
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
			files = append(files,
				must.Get(x.plan.Answer(t.Context(), x.round, m, s, stream.Seeded(uint64(m))))(t))
		}
		return files
	}
	x.round = x.plan.First()
	x.round = must.Get(x.plan.Aggregate(t.Context(), x.round,
		x.inOnePlace(t, answer(), rounds.Book{Folder: t.TempDir()})))(t)
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
		Engine: Engine{Temp: filepath.Join(dir, "temp"), Run: runLocal},
		Plan:   must.Get(x.plan.Encode())(t), Round: must.Get(x.round.Encode())(t),
		Reports: []string{filepath.Join(dir, "in", "*.reports")},
		Book:    rounds.Book{Folder: filepath.Join(dir, "book"), Begins: true},
		Out:     filepath.Join(dir, "next"), Shuffled: filepath.Join(dir, "shuffled"),
	}
	return x
}

func write(t testing.TB, path string, b []byte) {
	t.Helper()
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

// inOnePlace returns the output of darrm federated shuffle.
func (x *roundTest) inOnePlace(t testing.TB, files [][]byte, book rounds.Book) []byte {
	t.Helper()
	s := must.Get(x.plan.NewShuffle(x.round))(t)
	for _, f := range files {
		must.Get(s.Add(t.Context(), f))(t)
	}
	return must.Get(s.Release(book))(t)
}

func total(files ...[]byte) (n int) {
	for _, f := range files {
		n += int(binary.LittleEndian.Uint64(f[len("darrm federated reports 1 \n")+64+8:]))
	}
	return n
}

// check shows that the outputs are those of darrm federated shuffle and aggregate, bit for bit, and
// that the book is one that a shuffle in one place knows. It returns the shuffled file.
func (x *roundTest) check(t testing.TB, r *RoundReport, files ...[]byte) []byte {
	t.Helper()
	got := must.Get(os.ReadFile(x.job.Shuffled))(t)
	n := total(files...)
	if r.Reports != [2]int{n, n} || r.Silos != len(files) ||
		len(r.Missing) != len(x.files)-len(files) {
		t.Fatalf("%+v, want %d reports", r, n)
	}
	// The book takes these reports for the same.
	if want := x.inOnePlace(t, files, rounds.Book{Folder: x.job.Book.Folder}); !bytes.Equal(got,
		want) {
		t.Fatalf("%d bytes, not the %d of a shuffle in one place", len(got), len(want))
	}
	next := must.Get(x.plan.ReadRound(must.Get(os.ReadFile(x.job.Out))(t)))(t)
	if want := must.Get(x.plan.Aggregate(t.Context(), x.round, got))(t); !reflect.DeepEqual(next,
		want) || !reflect.DeepEqual(r.Next, want) {
		t.Errorf("the next round is\n%+v\nof the shuffled file\n%+v", next, want)
	}
	x.checkClean(t)
	return got
}

func (x *roundTest) checkClean(t testing.TB) {
	t.Helper()
	checkClean(t, Job{Engine: x.job.Engine})
}

// checkNothing shows that a job has left nothing.
func (x *roundTest) checkNothing(t testing.TB) {
	t.Helper()
	for _, path := range []string{x.job.Out, x.job.Shuffled} {
		if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("there is %s (%v)", path, err)
		}
	}
	if names := must.Get(os.ReadDir(x.job.Book.Folder))(t); len(names) != 0 {
		t.Errorf("the book has %v", names)
	}
	x.checkClean(t)
}

// The pipeline does what darrm federated shuffle and aggregate do, over several blocks, with a silo
// missing and without; one with a silo fewer than before is refused, and leaves the outputs as they
// were.
func TestRound(t *testing.T) {
	x := newRound(t, func(c *federated.PSGM) { c.Missing = c.Silos[2] })
	shuffled := x.check(t, must.Get(RunRound(t.Context(), x.job))(t), x.files...)
	out := must.Get(os.ReadFile(x.job.Out))(t)
	in := filepath.Dir(x.job.Reports[0])
	x.job.Reports = []string{filepath.Join(in, "west.reports"), filepath.Join(in, "south.reports"),
		filepath.Join(in, "east.reports")}
	if _, err := RunRound(t.Context(), x.job); !errors.Is(err, rounds.ErrReleased) {
		t.Errorf("without a silo that was in before: %v", err)
	}
	if !bytes.Equal(must.Get(os.ReadFile(x.job.Shuffled))(t), shuffled) ||
		!bytes.Equal(must.Get(os.ReadFile(x.job.Out))(t), out) {
		t.Error("a refused round has changed an output")
	}
	x.job.Book.Folder, x.job.Out, x.job.Shuffled = t.TempDir(), filepath.Join(t.TempDir(), "next"),
		filepath.Join(t.TempDir(), "shuffled")
	x.check(t, must.Get(RunRound(t.Context(), x.job))(t), x.files[0], x.files[3], x.files[1])
}

// A round that is done again, by another job, from files of other names and in another place, is
// the same. What was published stays as it is, and so does a file that holds something else.
func TestRoundAgain(t *testing.T) {
	x := newRound(t, func(c *federated.PSGM) { c.Silos = []int{300, 1, 250, 40} })
	first := must.Get(RunRound(t.Context(), x.job))(t)
	shuffled := x.check(t, first, x.files...)
	out := must.Get(os.ReadFile(x.job.Out))(t)
	before := must.Get(os.Stat(x.job.Out))(t)
	in := t.TempDir()
	x.job.Reports = nil
	for m, name := range []string{"d", "b", "a", "c"} {
		x.job.Reports = append(x.job.Reports, filepath.Join(in, name))
		write(t, filepath.Join(in, name), x.files[m])
	}
	again := must.Get(RunRound(t.Context(), x.job))(t)
	if first.Unchanged || !again.Unchanged || !bytes.Equal(x.check(t, again, x.files...), shuffled) {
		t.Errorf("unchanged %t, then %t", first.Unchanged, again.Unchanged)
	}
	if now := must.Get(os.Stat(x.job.Out))(t); !os.SameFile(before, now) ||
		now.ModTime() != before.ModTime() {
		t.Error("the next round was written again")
	}
	job := x.job
	x.job.Out, x.job.Shuffled = filepath.Join(in, "next"), filepath.Join(in, "shuffled")
	x.check(t, must.Get(RunRound(t.Context(), x.job))(t), x.files...)
	if !bytes.Equal(must.Get(os.ReadFile(x.job.Out))(t), out) {
		t.Error("a second place has another round")
	}
	write(t, job.Out, []byte("what silos have answered"))
	var output *release.OutputError
	if _, err := RunRound(t.Context(), job); !errors.As(err, &output) || !errors.Is(err, fs.ErrExist) {
		t.Errorf("over another round: %v", err)
	}
	if got := must.Get(os.ReadFile(job.Out))(t); string(got) != "what silos have answered" {
		t.Errorf("replaced by %d bytes", len(got))
	}
}

// A book that does not know the round before may have been emptied: nothing is released unless it
// is stated.
func TestRoundWithAnEmptiedBook(t *testing.T) {
	x := newRound(t, func(c *federated.PSGM) { c.Silos = []int{30, 20, 25, 5} })
	x.job.Book.Begins = false
	if _, err := RunRound(t.Context(), x.job); !errors.Is(err, rounds.ErrOtherBook) {
		t.Errorf("%v", err)
	}
	x.checkNothing(t)
}

// Bundles fail by error and by panic after they have placed, added up and written: what failed
// tries wrote is what is released, no report is lost, and none counts twice.
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
		case key == partKey(randomiser.Differences, 1) && tries[key] <= 2:
			return errors.New("a bundle fails behind its output")
		case key == partKey(randomiser.Gradients, 0) && tries[key] == 1:
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
	if r.Attempts < 3 || tries[partKey(randomiser.Differences, 1)] < 3 ||
		tries[partKey(randomiser.Gradients, 0)] < 2 {
		t.Errorf("%d attempts, tries %v: the faults did not happen", r.Attempts, tries)
	}
	out := x.check(t, r, x.files...)
	n := r.Reports[0]
	for k := range 2 {
		for i := range (n + rounds.BlockSize - 1) / rounds.BlockSize {
			b := written[blockName(randomiser.Stream(k), i)]
			from, to := i*rounds.BlockSize, min(n, (i+1)*rounds.BlockSize)
			if want := out[len(out)-9*n*(2-k):][9*from : 9*to]; !bytes.HasPrefix(b, want) {
				t.Errorf("block %d of stream %d of a failed attempt is not what was released", i, k)
			}
		}
	}
}

// A worker process is killed (SIGKILL) behind a block. The key comes to the workers through a
// directory, which is empty in the end.
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

// parts returns an iterator as GroupByKey passes it to a function.
func parts[T any](p []T) func(*T) bool {
	return func(out *T) bool {
		if len(p) == 0 {
			return false
		}
		*out, p = p[0], p[1:]
		return true
	}
}

// A runner may hand a bundle's reports on twice, because two tries of it both finished. Cells and
// blocks are the same; two reports of one name, a lost one and one too many are errors.
func TestReportThatCameTwice(t *testing.T) {
	x := newRound(t, func(c *federated.PSGM) { c.Silos = []int{30, 20, 25, 5} })
	key := jobKeys{coins: must.Get(randsrc.NewKey())(t)}
	at, forget, err := placeKey(t.Context(), "", key)
	if err != nil {
		t.Fatal(err)
	}
	defer forget()
	beginWork(key.Fingerprint())
	defer works.Delete(key.Fingerprint())
	p := &roundPlan{job: &x.job, shared: shared{box{t.TempDir(), key}, at}}
	if p.asked, err = readAsked(x.job.Plan, x.job.Round); err != nil {
		t.Fatal(err)
	}
	common := p.roundWorker()
	check := &checkReports{common}
	read := &readReports{common}
	if err := errors.Join(check.Setup(t.Context()), read.Setup(t.Context())); err != nil {
		t.Fatal(err)
	}
	for m, f := range x.files {
		file := reportFile{Number: int64(m), Path: filepath.Join(t.TempDir(), fmt.Sprint(m))}
		write(t, file.Path, f)
		p.files = append(p.files, file)
		for range 2 { // which leaves the finding that is there
			if err := check.ProcessElement(t.Context(), file); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := p.collect(t.Context()); err != nil {
		t.Fatal(err)
	}
	cells := map[int64][]cellPart{}
	for _, f := range p.files {
		if err := read.ProcessElement(t.Context(), f, func(key int64, part cellPart) {
			cells[key] = append(cells[key], part)
		}); err != nil {
			t.Fatal(err)
		}
	}
	order := &orderCell{Size: int64(p.asked.size()), Starts: p.cells, Key: at}
	blocks := map[int64][]sortedPart{}
	var some int64 // a cell of gradients
	for cell, all := range cells {
		var once, twice []sortedPart
		err := errors.Join(
			order.ProcessElement(t.Context(), cell, parts(all),
				func(_ int64, p sortedPart) { once = append(once, p) }),
			order.ProcessElement(t.Context(), cell, parts(slices.Concat(all[1:], all, all[:1])),
				func(key int64, p sortedPart) {
					twice, blocks[key] = append(twice, p),
						append(blocks[key], p)
				}),
		)
		if err != nil || !reflect.DeepEqual(once, twice) {
			t.Fatalf("cell %d: %v, %v, of reports that came twice %v", cell, err, once, twice)
		}
		if of, _ := partOf(cell); of == randomiser.Gradients {
			some = cell
		}
	}
	other := cellPart{cells[some][0].Silo, cells[some][0].Numbers[:1],
		bytes.Clone(cells[some][0].Messages[:9])}
	other.Messages[3] ^= 1
	stranger := cellPart{3, []int64{4000}, other.Messages}
	for name, all := range map[string][]cellPart{
		"two of one name": append(slices.Clone(cells[some]), other),
		"lost":            cells[some][1:], "one more": append(slices.Clone(cells[some]), stranger),
		"half a report": append(slices.Clone(cells[some]), cellPart{0, []int64{0}, other.Messages[:8]}),
	} {
		if err := order.ProcessElement(t.Context(), some, parts(all), func(int64, sortedPart) {}); err ==
			nil {
			t.Errorf("a cell: %s: no error", name)
		}
	}

	sum := func(p ...sortedPart) ([]byte, error) {
		f := &sumBlock{roundWorker: common, Silos: []int{0, 1, 2, 3}}
		f.Temp = t.TempDir()
		err := f.Setup(t.Context())
		if err == nil {
			err = f.ProcessElement(t.Context(), partKey(randomiser.Gradients, 0), parts(p))
		}
		if err != nil {
			return nil, err
		}
		return box{f.Temp, key}.get(t.Context(), blockName(randomiser.Gradients, 0))
	}
	all := blocks[partKey(randomiser.Gradients, 0)]
	once := must.Get(sum(all...))(t)
	if got := must.Get(sum(slices.Concat(all[2:3], all, all[:2])...))(t); !bytes.Equal(got, once) {
		t.Error("parts that came twice count twice, or lie elsewhere")
	}
	flipped := sortedPart{all[0].First, bytes.Clone(all[0].Messages)}
	flipped.Messages[3] ^= 1
	for name, p := range map[string][]sortedPart{
		"two at one place": append(slices.Clone(all), flipped), "a lost part": all[1:],
		"a place beyond": append(slices.Clone(all), sortedPart{80, flipped.Messages}),
		"half a report":  append(slices.Clone(all), sortedPart{80, flipped.Messages[:8]}),
	} {
		if _, err := sum(p...); err == nil {
			t.Errorf("a block: %s: no error", name)
		}
	}
}

// What is wrong with the reports is found before anything is written, and said with the file's
// name.
func TestRoundRefusals(t *testing.T) {
	small := func(c *federated.PSGM) { c.Silos = []int{30, 20, 25, 5} }
	for name, tt := range map[string]struct {
		change func(t *testing.T, x *roundTest, in string)
		want   string
		is     error
	}{
		"a silo twice": {func(t *testing.T, x *roundTest, in string) {
			write(t, filepath.Join(in, "copy.reports"), x.files[1])
		}, "silo 2 has sent", nil},
		"a silo missing": {func(t *testing.T, _ *roundTest, in string) {
			os.Remove(filepath.Join(in, "north.reports"))
		}, "55 of 80", rounds.ErrPartialRound},
		"no report": {func(t *testing.T, x *roundTest, in string) {
			x.files[0][len(x.files[0])-1] = 7
			write(t, filepath.Join(in, "west.reports"), x.files[0])
		}, "west.reports", nil},
		"too long": {func(t *testing.T, x *roundTest, in string) {
			write(t, filepath.Join(in, "west.reports"), append(x.files[0], make([]byte, 5000)...))
		}, "west.reports", nil},
		"another round": {func(t *testing.T, x *roundTest, _ string) {
			x.job.Round = must.Get(x.plan.First().Encode())(t)
		}, "another question", nil},
		"no plan": {func(t *testing.T, x *roundTest, _ string) { x.job.Plan = x.job.Round }, "plan",
			nil},
		"no book": {func(t *testing.T, x *roundTest, _ string) { x.job.Book.Folder = "" },
			"--book is missing", nil},
		"one output": {func(t *testing.T, x *roundTest, _ string) { x.job.Shuffled = x.job.Out },
			"same file", nil},
		"over a report": {func(t *testing.T, x *roundTest, in string) {
			x.job.Shuffled = filepath.Join(in, "west.reports")
		}, "same file", nil},
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
			if err == nil || !strings.Contains(err.Error(), tt.want) || tt.is != nil &&
				!errors.Is(err, tt.is) || r != nil && r.Next != nil {
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
