package darrmbeam

import (
	"bytes"
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"slices"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/darrm/darrm/internal/memo"
	"github.com/darrm/darrm/learn/federated"
	"github.com/darrm/darrm/learn/federated/randomiser"
	"github.com/darrm/darrm/learn/federated/rounds"
)

func init() {
	beam.RegisterDoFn(&checkReports{})
	beam.RegisterDoFn(&readReports{})
	beam.RegisterDoFn(&orderCell{})
	beam.RegisterDoFn(&sumBlock{})
}

// reportFile is a silo's file of reports.
type reportFile struct {
	Number int64 // of the file, from 0
	Path   string
	// The second pipeline knows these from the first.
	Silo int64 // from 0
	Pin  []byte
}

// cellPart is the reports of one silo in a cell of a stream, with their numbers in the silo's file.
type cellPart struct {
	Silo     int64
	Numbers  []int64
	Messages []byte
}

// sortedPart is reports at consecutive places.
type sortedPart struct {
	First    int64
	Messages []byte
}

// siloReport is the result of the first pipeline for a file. A fault of the file is part of the
// result and not an error, after which the runner would try again.
type siloReport struct {
	Silo  int64
	Pin   []byte
	Cells [2][]int64 // reports by stream and cell
	Fault string
}

// cellStarts are the places, by stream, at which the cells begin, and the end of the last one.
type cellStarts [2][]int64

func siloName(file int64) string { return fmt.Sprintf("silo-%06d.json", file) }
func blockName(of randomiser.Stream, block int) string {
	return fmt.Sprintf("block-%d-%08d", of, block)
}

// A block or cell of a stream is one number in the pipeline.
func partKey(of randomiser.Stream, part int) int64 { return 2*int64(part) + int64(of) }

func partOf(key int64) (of randomiser.Stream, part int) {
	return randomiser.Stream(key % 2), int(key / 2)
}

// asked is a plan and its round.
type asked struct {
	plan  *rounds.Run
	round *rounds.Round
}

func (a asked) size() int { return a.plan.Federated().Randomizer().Size() }

// plans remembers what this process has priced, which takes up to seconds.
var plans memo.Of[[32]byte, asked] // by the SHA-256 of plan and round

func readAsked(plan, round []byte) (asked, error) {
	h := sha256.Sum256(plan)
	return plans.Get(sha256.Sum256(append(h[:], round...)), func() (a asked, err error) {
		if a.plan, err = rounds.ReadPlan(plan); err != nil {
			return a, fmt.Errorf("plan: %w", err)
		}
		if a.round, err = a.plan.ReadRound(round); err != nil {
			return a, fmt.Errorf("round: %w", err)
		}
		return a, nil
	})
}

// readFile reads a silo's file and its pin.
func (a asked) readFile(ctx context.Context, key jobKeys,
	path string) (silo int, reports federated.Reports, pin []byte, err error) {
	f, err := open(ctx, path)
	if err != nil {
		return 0, reports, nil, err
	}
	defer f.Close()                                                // only read from
	b, err := io.ReadAll(io.LimitReader(f, a.plan.MaxReports()+1)) // one byte more is refused
	if err != nil {
		return 0, reports, nil, err
	}
	h := key.Pin()
	h.Write(b)
	silo, reports, err = a.plan.ReadReports(ctx, a.round, b)
	return silo, reports, h.Sum(nil), err
}

// roundWorker is a worker of a round.
type roundWorker struct {
	worker
	Plan, Round []byte

	asked asked
}

func (f *roundWorker) Setup(ctx context.Context) (err error) {
	if f.asked, err = readAsked(f.Plan, f.Round); err != nil {
		return err
	}
	return f.worker.Setup(ctx)
}

// checkReports reads a file from beginning to end and leaves a report.
type checkReports struct{ roundWorker }

func (f *checkReports) ProcessElement(ctx context.Context, file reportFile) error {
	ctx, leave, err := f.Key.enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	silo, reports, pin, err := f.asked.readFile(ctx, f.keys, file.Path)
	out := siloReport{Silo: int64(silo), Pin: pin}
	var system *fs.PathError
	switch {
	case errors.Is(err, rounds.ErrFormat):
		out = siloReport{Fault: fmt.Sprintf("%s: %v", file.Path, err)}
	case errors.As(err, &system):
		out = siloReport{Fault: err.Error()}
	case err != nil:
		return err
	default:
		for k, messages := range reports {
			out.Cells[k] = make([]int64, rounds.Cells)
			for m := range slices.Chunk(messages, f.asked.size()) {
				out.Cells[k][rounds.Cell(m)]++
			}
		}
	}
	return f.report(ctx, siloName(file.Number), out)
}

// collect reads what the first pipeline found, and completes the files.
func (p *roundPlan) collect(ctx context.Context) error {
	var silos []int
	for k := range p.cells {
		p.cells[k] = make([]int64, rounds.Cells+1)
	}
	for i := range p.files {
		file := &p.files[i]
		var r siloReport
		if err := p.finding(ctx, siloName(file.Number), file.Path, &r); err != nil {
			return err
		}
		if r.Fault != "" {
			return inputf("%s", r.Fault)
		}
		file.Silo, file.Pin = r.Silo, r.Pin
		silos = append(silos, int(r.Silo))
		for k := range p.cells {
			for c, n := range r.Cells[k] {
				p.cells[k][c+1] += n
			}
		}
	}
	for _, starts := range p.cells {
		for c := range rounds.Cells {
			starts[c+1] += starts[c]
		}
	}
	var err error
	p.mix, err = p.asked.plan.NewMix(p.asked.round, silos)
	return err
}

// readReports reads a file and sends each of its reports to its cell.
type readReports struct{ roundWorker }

func (f *readReports) ProcessElement(ctx context.Context, file reportFile,
	emit func(int64, cellPart)) error {
	ctx, leave, err := f.Key.enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	silo, reports, pin, err := f.asked.readFile(ctx, f.keys, file.Path)
	if err == nil && (int64(silo) != file.Silo || !hmac.Equal(pin, file.Pin)) ||
		errors.Is(err, rounds.ErrFormat) {
		err = fmt.Errorf("%s %w while it was being shuffled", file.Path, errChanged)
	}
	if err != nil {
		return settled(err, lastingInput)
	}
	for k, messages := range reports {
		parts := map[int]*cellPart{}
		number := int64(0)
		for m := range slices.Chunk(messages, f.asked.size()) {
			cell := rounds.Cell(m)
			p := parts[cell]
			if p == nil {
				p = &cellPart{Silo: file.Silo}
				parts[cell] = p
			}
			p.Numbers, p.Messages = append(p.Numbers, number), append(p.Messages, m...)
			number++
		}
		for cell, part := range parts {
			emit(partKey(randomiser.Stream(k), cell), *part)
		}
	}
	return nil
}

// named is a report with its name in its stream.
type named struct {
	silo, number int64
	message      []byte
}

// unite returns the reports of all parts in the order of their bytes. One that came twice, because
// a piece of work was done twice, is there once; two of one name are an error.
func unite(parts func(*cellPart) bool, size int) (all []named, err error) {
	var p cellPart
	for parts(&p) {
		if len(p.Messages) != len(p.Numbers)*size {
			return nil, fmt.Errorf("%d bytes of %d reports", len(p.Messages), len(p.Numbers))
		}
		for i, number := range p.Numbers {
			all = append(all, named{p.Silo, number, p.Messages[i*size:][:size]})
		}
		p = cellPart{}
	}
	slices.SortFunc(all, func(a, b named) int {
		return cmp.Or(bytes.Compare(a.message, b.message), cmp.Compare(a.silo, b.silo),
			cmp.Compare(a.number, b.number))
	})
	all = slices.CompactFunc(all, func(a, b named) bool {
		return a.silo == b.silo && a.number == b.number && bytes.Equal(a.message, b.message)
	})
	seen := map[[2]int64]bool{}
	for _, r := range all {
		if name := [2]int64{r.silo, r.number}; seen[name] {
			return nil, fmt.Errorf("report %d of silo %d appears twice, with different messages", r.number+1, r.silo+1)
		} else {
			seen[name] = true
		}
	}
	return all, nil
}

// orderCell puts the reports of a cell in order, which gives them their places, and sends them to
// their blocks.
type orderCell struct {
	Size   int64 // bytes of a report
	Starts cellStarts
	Key    keyAt
}

func (f *orderCell) ProcessElement(ctx context.Context, key int64, parts func(*cellPart) bool,
	emit func(int64, sortedPart)) error {
	_, leave, err := f.Key.enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	of, cell := partOf(key)
	all, err := unite(parts, int(f.Size))
	if err != nil {
		return fmt.Errorf("cell %d of %v: %w", cell, of, err)
	}
	place, end := f.Starts[of][cell], f.Starts[of][cell+1]
	if int64(len(all)) != end-place {
		return fmt.Errorf("cell %d of %v has %d reports, but must have %d", cell, of, len(all), end-place)
	}
	for len(all) > 0 {
		block := place / rounds.BlockSize
		n := min(int64(len(all)), (block+1)*rounds.BlockSize-place)
		part := sortedPart{First: place}
		for _, r := range all[:n] {
			part.Messages = append(part.Messages, r.message...)
		}
		emit(partKey(of, int(block)), part)
		place, all = place+n, all[n:]
	}
	return nil
}

// sumBlock puts the parts of a block together, adds them up, and writes both to a file of the
// temporary directory. It gives the same file whenever it is run.
type sumBlock struct {
	roundWorker
	Silos []int

	mix *rounds.Mix
}

func (f *sumBlock) Setup(ctx context.Context) (err error) {
	if err = f.roundWorker.Setup(ctx); err == nil {
		f.mix, err = f.asked.plan.NewMix(f.asked.round, f.Silos)
	}
	return err
}

func (f *sumBlock) ProcessElement(ctx context.Context, key int64,
	parts func(*sortedPart) bool) error {
	ctx, leave, err := f.Key.enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	if err := fault(key, false); err != nil {
		return err
	}
	of, block := partOf(key)
	out, err := f.whole(of, block, parts)
	if err != nil {
		return err
	}
	sum, err := f.mix.BlockSum(ctx, of, out)
	if err != nil {
		return err
	}
	for _, v := range sum {
		out = binary.LittleEndian.AppendUint64(out, math.Float64bits(v))
	}
	if err := f.leave(ctx, blockName(of, block), out); err != nil {
		return err
	}
	return fault(key, true)
}

// whole returns the messages of a block. A part that came twice is there once; parts that overlap
// otherwise, and a gap, are an error.
func (f *sumBlock) whole(of randomiser.Stream, block int,
	parts func(*sortedPart) bool) (out []byte, err error) {
	var all []sortedPart
	var p sortedPart
	for parts(&p) {
		all = append(all, p)
		p = sortedPart{}
	}
	slices.SortFunc(all, func(a, b sortedPart) int {
		return cmp.Or(cmp.Compare(a.First, b.First), bytes.Compare(a.Messages, b.Messages))
	})
	all = slices.CompactFunc(all, func(a, b sortedPart) bool {
		return a.First == b.First && bytes.Equal(a.Messages, b.Messages)
	})
	size := f.asked.size()
	for _, p := range all {
		if want := int64(block)*rounds.BlockSize + int64(len(out)/size); p.First != want ||
			len(p.Messages)%size != 0 {
			return nil, fmt.Errorf(
				"block %d of %v: place %d comes where place %d should: reports were lost, or two lie at "+
					"one place", block, of, p.First, want)
		}
		out = append(out, p.Messages...)
	}
	if n, want := len(out)/size, f.mix.BlockReports(of, block); n != want {
		return nil, fmt.Errorf("block %d of %v has %d reports, but must have %d", block, of, n, want)
	}
	return out, nil
}
