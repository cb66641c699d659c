package darrmbeam

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"strings"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"github.com/darrm/darrm/ledger"
	"github.com/darrm/darrm/release"
	"github.com/darrm/darrm/votes"
)

func init() {
	register.DoFn3x1[context.Context, fileTask, func(int64, idBlock), error](&checkFile{})
	register.DoFn3x1[context.Context, int64, func(*idBlock) bool, error](&findRepeated{})
	register.Emitter2[int64, idBlock]()
	register.Iter1[idBlock]()
	beam.RegisterType(reflectType[fileTask]())
	beam.RegisterType(reflectType[idBlock]())
}

const (
	// idBuckets is how many groups the ids are searched in; each fits a worker's memory.
	idBuckets = 1024
	// idBlockRows bounds what waits in a reader for its bucket to fill: buckets × rows ids.
	idBlockRows = 256
)

// fileTask is a file to read.
type fileTask struct {
	Number int64 // of the file, from 0
	Path   string
	// The second pipeline knows these from the first.
	First int64  // number of its first query
	Rows  int64  // its queries
	Pin   []byte // of its votes
}

// fileReport is what the first pipeline found in a file. A fault of the file is a
// finding and not a failure, which the runner would answer by trying again.
type fileReport struct {
	Rows        int64
	K           int
	IDs, Labels bool
	Columns     votes.Roles
	Pin         []byte
	Votes       []byte // part of the digest by which the ledger recognises the votes; nil where it need not
	Fault       string
}

// repeatReport is a query id that stands in two places.
type repeatReport struct {
	ID                  string
	File, Row           int64 // of the later one
	FirstFile, FirstRow int64
}

func reportPath(temp string, file int64) string {
	return join(temp, fmt.Sprintf("file-%06d.json", file))
}
func repeatPath(temp string, bucket int64) string {
	return join(temp, fmt.Sprintf("repeated-%04d.json", bucket))
}

// idBlock is some query ids of a file.
type idBlock struct {
	File int64
	Rows []int64 // number in the file, from 0
	IDs  []string
}

// checkFile reads a file from beginning to end, leaves a report, and passes its ids on
// to be compared with those of all other files.
type checkFile struct {
	Read ReadOptions
	K    int
	Temp string
	Key  keyAt

	keys jobKeys
}

func (f *checkFile) Setup(ctx context.Context) (err error) {
	f.keys, err = f.Key.find(ctx)
	return err
}

func (f *checkFile) ProcessElement(ctx context.Context, task fileTask, emit func(int64, idBlock)) error {
	opts, err := f.Read.resolve(f.K)
	if err != nil {
		return err
	}
	var r fileReport
	buckets := make([]idBlock, idBuckets)
	pin := pinner{hash: f.keys.coins.Pin()}
	opts = release.Hashed(opts, f.keys.votes)
	var hash *ledger.VoteHash // of the votes; nil where the ledger need not recognise them
	if f.keys.votes != nil {
		hash = f.keys.votes.New()
	}
	info, err := readFile(ctx, task.Path, opts, func(info fileInfo, b *votes.Batch) error {
		pin.add(info, b)
		if hash != nil {
			release.HashVotes(hash, b)
		}
		for i, id := range b.IDs {
			n := bucketOf(id)
			in := &buckets[n]
			in.Rows = append(in.Rows, r.Rows+int64(i))
			in.IDs = append(in.IDs, strings.Clone(id)) // the batch is reused
			if len(in.IDs) == idBlockRows {
				in.File = task.Number
				emit(n, *in)
				*in = idBlock{}
			}
		}
		r.Rows += int64(b.Len())
		return nil
	})
	var fault *votes.ParseError
	switch {
	case errors.As(err, &fault):
		return f.leave(ctx, task, fileReport{Fault: fault.Error()})
	case err != nil:
		return err
	}
	for n, in := range buckets {
		if len(in.IDs) > 0 {
			in.File = task.Number
			emit(int64(n), in)
		}
	}
	r.K, r.IDs, r.Labels, r.Columns, r.Pin = info.k, info.ids, info.labels, info.columns, pin.sum()
	if hash != nil {
		r.Votes = hash.Part()
	}
	return f.leave(ctx, task, r)
}

func (f *checkFile) leave(ctx context.Context, task fileTask, r fileReport) error {
	b, err := json.Marshal(r)
	if err != nil {
		return err
	}
	return put(ctx, reportPath(f.Temp, task.Number), b)
}

// bucketOf spreads ids evenly; equal ids share a bucket.
func bucketOf(id string) int64 {
	h := fnv.New64a()
	h.Write([]byte(id))
	return int64(h.Sum64() % idBuckets)
}

// findRepeated reports the first repeated id of a bucket.
type findRepeated struct{ Temp string }

func (f *findRepeated) ProcessElement(ctx context.Context, bucket int64, blocks func(*idBlock) bool) error {
	type place struct{ file, row int64 }
	before := func(a, b place) bool { return a.file < b.file || a.file == b.file && a.row < b.row }
	seen := map[string]place{}
	var first *repeatReport
	var b idBlock
	for blocks(&b) {
		for i, id := range b.IDs {
			here := place{b.File, b.Rows[i]}
			there, ok := seen[id]
			if !ok || before(here, there) {
				seen[id] = here
			}
			if !ok {
				continue
			}
			if before(here, there) {
				here, there = there, here
			}
			// Blocks come in any order; the report must not depend on it.
			if first == nil || before(here, place{first.File, first.Row}) {
				first = &repeatReport{ID: id, File: here.file, Row: here.row, FirstFile: there.file, FirstRow: there.row}
			}
		}
		b = idBlock{}
	}
	if first == nil {
		return nil
	}
	out, err := json.Marshal(first)
	if err != nil {
		return err
	}
	return put(ctx, repeatPath(f.Temp, bucket), out)
}

// checkPipeline builds the first pipeline.
func (j *plan) checkPipeline() *beam.Pipeline {
	p, s := beam.NewPipelineWithRoot()
	files := beam.Reshuffle(s, beam.CreateList(s, j.tasks)) // else one worker reads all
	ids := beam.ParDo(s.Scope("check"), &checkFile{Read: j.job.Read, K: j.planned.Mechanism.Setting().K, Temp: j.temp, Key: j.keyAt}, files)
	beam.ParDo0(s.Scope("repeated ids"), &findRepeated{Temp: j.temp}, beam.GroupByKey(s, ids))
	return p
}

// collect reads the reports of the first pipeline and completes the tasks.
func (j *plan) collect(ctx context.Context) error {
	var first fileReport
	for i := range j.tasks {
		t := &j.tasks[i]
		var r fileReport
		if err := j.finding(ctx, reportPath(j.temp, t.Number), t.Path, &r); err != nil {
			return err
		}
		if r.Fault != "" {
			return &InputError{r.Fault}
		}
		if i == 0 {
			first, j.columns = r, r.Columns
		}
		switch {
		case r.K != j.planned.Mechanism.Setting().K:
			return &InputError{fmt.Sprintf("%s: the votes have K = %d teachers, but the table is for %d", t.Path, r.K, j.planned.Mechanism.Setting().K)}
		case r.IDs != first.IDs:
			return &InputError{fmt.Sprintf("%s: of the files, some have query ids and some have none: this one and %s differ", t.Path, j.tasks[0].Path)}
		case !r.Columns.SameVotes(first.Columns):
			return &InputError{fmt.Sprintf("%s: %v, but in %s %v", t.Path, r.Columns, j.tasks[0].Path, first.Columns)}
		case r.Labels != first.Labels:
			return &InputError{fmt.Sprintf("%s: of the files, some have true labels and some have none: this one and %s differ", t.Path, j.tasks[0].Path)}
		}
		if j.votes != nil {
			if err := j.votes.MergePart(r.Votes); err != nil {
				return fmt.Errorf("%s: %w", reportPath(j.temp, t.Number), err)
			}
		}
		t.First, t.Rows, t.Pin = j.queries, r.Rows, r.Pin
		j.queries += r.Rows
	}
	repeats, err := list(ctx, j.temp, "repeated-*.json")
	if err != nil {
		return err
	}
	if len(repeats) == 0 {
		return nil
	}
	b, err := get(ctx, repeats[0])
	if err != nil {
		return err
	}
	var r repeatReport
	if err := json.Unmarshal(b, &r); err != nil {
		return fmt.Errorf("%s: %w", repeats[0], err)
	}
	return &InputError{fmt.Sprintf("%s: query %d, counted from 0: query id %.80q is already query %d in %s",
		j.tasks[r.File].Path, r.Row, r.ID, r.FirstRow, j.tasks[r.FirstFile].Path)}
}
