package darrmbeam

import (
	"bytes"
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"sync"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"github.com/darrm/darrm/learn/federated"
	"github.com/darrm/darrm/learn/federated/report"
	"github.com/darrm/darrm/learn/federated/rounds"
)

func init() {
	register.DoFn2x1[context.Context, reportFile, error](&checkReports{})
	register.DoFn4x1[context.Context, reportFile, func(int64, reportPart), func(int64, reportPart), error](&placeReports{})
	register.DoFn3x1[context.Context, int64, func(*reportPart) bool, error](&sumBlock{})
	register.DoFn3x1[context.Context, int64, func(*reportPart) bool, error](&hashBucket{})
	register.Emitter2[int64, reportPart]()
	register.Iter1[reportPart]()
	beam.RegisterType(reflectType[reportFile]())
	beam.RegisterType(reflectType[reportPart]())
}

// reportFile is a silo's file of reports.
type reportFile struct {
	Number int64 // of the file, from 0
	Path   string
	// The second pipeline knows these from the first.
	Silo int64 // from 0
	Pin  []byte
}

// reportPart is some reports of one silo and stream, with their places.
type reportPart struct {
	Places   []int64
	Messages []byte
}

// siloReport is what the first pipeline found in a file. A fault of the file is a finding and not a failure,
// which the runner would answer by trying again.
type siloReport struct {
	Silo  int64
	Pin   []byte
	Fault string
}

func siloPath(temp string, file int64) string { return join(temp, fmt.Sprintf("silo-%06d.json", file)) }
func blockPath(temp string, of report.Stream, block int) string {
	return join(temp, fmt.Sprintf("block-%d-%08d", of, block))
}
func bucketPath(temp string, of report.Stream, bucket int) string {
	return join(temp, fmt.Sprintf("bucket-%d-%03d.json", of, bucket))
}

// A block or bucket of a stream is one number in the pipeline.
func partKey(of report.Stream, part int) int64 { return 2*int64(part) + int64(of) }
func partOf(key int64) (report.Stream, int)    { return report.Stream(key % 2), int(key / 2) }

// asked is a plan and its round.
type asked struct {
	plan  *rounds.Plan
	round *rounds.Round
}

func (a asked) size() int { return a.plan.Federated().Randomizer().Size() }

// plans remembers what this process has priced, which takes up to seconds.
var plans sync.Map // SHA-256 of plan and round → asked

func readAsked(plan, round []byte) (a asked, err error) {
	h := sha256.Sum256(plan)
	id := sha256.Sum256(append(h[:], round...))
	if v, ok := plans.Load(id); ok {
		return v.(asked), nil
	}
	if a.plan, err = rounds.ReadPlan(plan); err != nil {
		return a, fmt.Errorf("plan: %w", err)
	}
	if a.round, err = a.plan.ReadRound(round); err != nil {
		return a, fmt.Errorf("round: %w", err)
	}
	plans.Store(id, a)
	return a, nil
}

// readReports reads a silo's file and its pin.
func (a asked) readReports(ctx context.Context, key *rounds.MixKey, path string) (silo int, reports federated.Reports, pin []byte, err error) {
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

func findMixKey(ctx context.Context, at keyAt) (*rounds.MixKey, error) {
	return findKey(ctx, at, func(b []byte, name [32]byte) (*rounds.MixKey, error) {
		return rounds.ReadMixKey(bytes.NewReader(b), name)
	})
}

// checkReports reads a file from beginning to end and leaves a report.
type checkReports struct {
	Plan, Round []byte
	Temp        string
	Key         keyAt

	asked asked
	key   *rounds.MixKey
}

func (f *checkReports) Setup(ctx context.Context) (err error) {
	if f.asked, err = readAsked(f.Plan, f.Round); err != nil {
		return err
	}
	f.key, err = findMixKey(ctx, f.Key)
	return err
}

func (f *checkReports) ProcessElement(ctx context.Context, file reportFile) error {
	silo, _, pin, err := f.asked.readReports(ctx, f.key, file.Path)
	out := siloReport{Silo: int64(silo), Pin: pin}
	switch {
	case errors.Is(err, rounds.ErrFormat):
		out = siloReport{Fault: err.Error()}
	case err != nil:
		return err
	}
	b, err := json.Marshal(out)
	if err != nil {
		return err
	}
	return put(ctx, siloPath(f.Temp, file.Number), b)
}

// collect reads what the first pipeline found, and completes the files.
func (p *roundPlan) collect(ctx context.Context) error {
	var silos []int
	for i := range p.files {
		file := &p.files[i]
		var r siloReport
		if err := p.finding(ctx, siloPath(p.temp, file.Number), file.Path, &r); err != nil {
			return err
		}
		if r.Fault != "" {
			return &InputError{fmt.Sprintf("%s: %s", file.Path, r.Fault)}
		}
		file.Silo, file.Pin = r.Silo, r.Pin
		silos = append(silos, int(r.Silo))
	}
	var err error
	p.mix, err = p.asked.plan.NewMix(p.asked.round, silos)
	if errors.Is(err, rounds.ErrFormat) {
		err = &InputError{err.Error()}
	}
	return err
}

// placeReports reads a file and sends each of its reports to the block of its place and to the bucket of the
// book's digest.
type placeReports struct {
	Plan, Round []byte
	Silos       []int
	Key         keyAt

	asked asked
	key   *rounds.MixKey
	order [2]*rounds.Order
}

func (f *placeReports) Setup(ctx context.Context) (err error) {
	if f.asked, err = readAsked(f.Plan, f.Round); err != nil {
		return err
	}
	if f.key, err = findMixKey(ctx, f.Key); err != nil {
		return err
	}
	mix, err := f.asked.plan.NewMix(f.asked.round, f.Silos)
	if err != nil {
		return err
	}
	for k := range f.order {
		f.order[k] = mix.Order(f.key, report.Stream(k))
	}
	return nil
}

func (f *placeReports) ProcessElement(ctx context.Context, file reportFile, toBlock, toBucket func(int64, reportPart)) error {
	silo, reports, pin, err := f.asked.readReports(ctx, f.key, file.Path)
	if err != nil {
		return err
	}
	if int64(silo) != file.Silo || !hmac.Equal(pin, file.Pin) {
		return fmt.Errorf("%s changed while it was being shuffled", file.Path)
	}
	for k, messages := range reports {
		of := report.Stream(k)
		blocks, buckets := map[int64]*reportPart{}, map[int64]*reportPart{}
		number := 0
		for m := range slices.Chunk(messages, f.asked.size()) {
			place := f.order[k].Place(silo, number)
			add(blocks, partKey(of, place/rounds.BlockSize), place, m)
			add(buckets, partKey(of, rounds.Bucket(m)), place, m)
			number++
		}
		for key, part := range blocks {
			toBlock(key, *part)
		}
		for key, part := range buckets {
			toBucket(key, *part)
		}
	}
	return nil
}

func add(parts map[int64]*reportPart, key int64, place int, message []byte) {
	p := parts[key]
	if p == nil {
		p = new(reportPart)
		parts[key] = p
	}
	p.Places, p.Messages = append(p.Places, int64(place)), append(p.Messages, message...)
}

// placed is a report at its place.
type placed struct {
	place   int64
	message []byte
}

// unite returns the reports of all parts by place. One that came twice, because a piece of work was done twice,
// is there once; of two reports at one place there are both, which are too many for whoever counts.
func unite(parts func(*reportPart) bool, size int) (all []placed, err error) {
	var p reportPart
	for parts(&p) {
		if len(p.Messages) != len(p.Places)*size {
			return nil, fmt.Errorf("%d bytes of %d reports", len(p.Messages), len(p.Places))
		}
		for i, place := range p.Places {
			all = append(all, placed{place, p.Messages[i*size:][:size]})
		}
		p = reportPart{}
	}
	slices.SortFunc(all, func(a, b placed) int {
		return cmp.Or(cmp.Compare(a.place, b.place), bytes.Compare(a.message, b.message))
	})
	all = slices.CompactFunc(all, func(a, b placed) bool { return a.place == b.place && bytes.Equal(a.message, b.message) })
	return all, nil
}

// sumBlock puts the reports of a block in order, adds them up, and writes both to a file of the temporary
// directory. It gives the same file whenever it is run.
type sumBlock struct {
	Plan, Round []byte
	Silos       []int
	Temp        string

	asked asked
	mix   *rounds.Mix
}

func (f *sumBlock) Setup(context.Context) (err error) {
	if f.asked, err = readAsked(f.Plan, f.Round); err != nil {
		return err
	}
	f.mix, err = f.asked.plan.NewMix(f.asked.round, f.Silos)
	return err
}

func (f *sumBlock) ProcessElement(ctx context.Context, key int64, parts func(*reportPart) bool) error {
	if err := fault(key, false); err != nil {
		return err
	}
	of, block := partOf(key)
	all, err := unite(parts, f.asked.size())
	if err != nil {
		return fmt.Errorf("block %d of %v: %w", block, of, err)
	}
	if want := f.mix.BlockReports(of, block); len(all) != want {
		return fmt.Errorf("block %d of %v has %d reports, but must have %d", block, of, len(all), want)
	}
	var out []byte
	for i, r := range all {
		if want := int64(block)*rounds.BlockSize + int64(i); r.place != want {
			return fmt.Errorf("block %d of %v: place %d comes where place %d should: reports were lost, or two lie at one place", block, of, r.place, want)
		}
		out = append(out, r.message...)
	}
	sum, err := f.mix.BlockSum(ctx, of, out)
	if err != nil {
		return err
	}
	for _, v := range sum {
		out = binary.LittleEndian.AppendUint64(out, math.Float64bits(v))
	}
	if err := put(ctx, blockPath(f.Temp, of, block), out); err != nil {
		return err
	}
	return fault(key, true)
}

// hashBucket writes the digest of a bucket, which does not depend on places.
type hashBucket struct {
	Plan, Round []byte
	Temp        string

	asked asked
}

func (f *hashBucket) Setup(context.Context) (err error) {
	f.asked, err = readAsked(f.Plan, f.Round)
	return err
}

func (f *hashBucket) ProcessElement(ctx context.Context, key int64, parts func(*reportPart) bool) error {
	of, bucket := partOf(key)
	all, err := unite(parts, f.asked.size())
	if err != nil {
		return fmt.Errorf("bucket %d of %v: %w", bucket, of, err)
	}
	var messages [][]byte
	for _, r := range all {
		messages = append(messages, r.message)
	}
	var c rounds.Contents
	c.Set(of, bucket, messages)
	b, err := json.Marshal(c[of][bucket])
	if err != nil {
		return err
	}
	return put(ctx, bucketPath(f.Temp, of, bucket), b)
}
