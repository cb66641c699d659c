package darrmbeam

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"strings"
	"sync"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"golang.org/x/sync/errgroup"

	"github.com/darrm/darrm/ledger"
	"github.com/darrm/darrm/release"
	"github.com/darrm/darrm/votes"
)

func init() {
	beam.RegisterDoFn(&checkFile{})
	beam.RegisterDoFn(&findRepeated{})
}

const (
	// idBuckets is the number of groups that the ids are searched in. Each fits a worker's memory.
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

// fileReport is the result of the first pipeline for a file. A fault of the file is part of the
// result and not an error, after which the runner would try again.
type fileReport struct {
	Rows    int64
	K       int
	IDs     bool
	Columns votes.Roles
	Pin     []byte
	// part of the digest by which the ledger recognises the votes; nil where it need not
	Votes   []byte
	Buckets []int // where its ids are compared
	Fault   string
}

// repeatReport is a query id that stands in two places.
type repeatReport struct {
	ID                  string
	File, Row           int64 // of the later one
	FirstFile, FirstRow int64
}

func reportName(file int64) string { return fmt.Sprintf("file-%06d.json", file) }
func idsName(bucket int) string    { return fmt.Sprintf("ids-%04d.json", bucket) }

// idBlock is some query ids of a file.
type idBlock struct {
	File int64
	Rows []int64 // number in the file, from 0
	IDs  []string
}

// checkFile reads a file from beginning to end, leaves a report, and passes its ids on
// to be compared with those of all other files.
type checkFile struct {
	worker
	Read ReadOptions
	K    int
}

func (f *checkFile) ProcessElement(ctx context.Context, task fileTask,
	emit func(int64, idBlock)) error {
	ctx, leave, err := f.Key.enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	opts, err := f.Read.resolve(f.K)
	if err != nil {
		return err
	}
	var r fileReport
	buckets, used := make([]idBlock, idBuckets), make([]bool, idBuckets)
	pin := f.keys.Pin()
	opts = release.Hashed(opts, f.keys.votes)
	var hash *ledger.VoteHash // of the votes; nil where the ledger need not recognise them
	if f.keys.votes != nil {
		hash = f.keys.votes.New()
	}
	info, err := readFile(ctx, task.Path, opts, func(info fileInfo, b *votes.Batch) error {
		release.PinVotes(pin, b)
		if hash != nil {
			release.HashVotes(hash, b)
		}
		for i, id := range b.IDs {
			n := bucketOf(id)
			in := &buckets[n]
			used[n] = true
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
	var parse *votes.ParseError
	var system *fs.PathError
	switch {
	case errors.As(err, &parse), errors.As(err, &system):
		return f.report(ctx, reportName(task.Number), fileReport{Fault: err.Error()})
	case err != nil:
		return err
	}
	for n, in := range buckets {
		if len(in.IDs) > 0 {
			in.File = task.Number
			emit(int64(n), in)
		}
		if used[n] {
			r.Buckets = append(r.Buckets, n)
		}
	}
	r.K, r.IDs, r.Columns, r.Pin = info.k, info.ids, info.columns, pin.Sum(nil)
	if hash != nil {
		r.Votes = hash.Part()
	}
	return f.report(ctx, reportName(task.Number), r)
}

// bucketOf spreads ids evenly; equal ids share a bucket.
func bucketOf(id string) int64 {
	h := fnv.New64a()
	h.Write([]byte(id))
	return int64(h.Sum64() % idBuckets)
}

// findRepeated leaves the first repeated id of a bucket, or that there is none: a bucket of which
// nothing is left was not searched.
type findRepeated struct{ worker }

func (f *findRepeated) ProcessElement(ctx context.Context, bucket int64,
	blocks func(*idBlock) bool) error {
	ctx, leave, err := f.Key.enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	first, err := firstRepeated(ctx, blocks)
	if err != nil {
		return err
	}
	return f.report(ctx, idsName(int(bucket)), first)
}

// firstRepeated returns the first id, by its places, that stands in two places; nil if none does. A
// block that comes twice, because a bundle was run twice, is the same places again.
func firstRepeated(ctx context.Context, blocks func(*idBlock) bool) (
	first *repeatReport, err error) {
	type place struct{ file, row int64 }
	before := func(a, b place) bool { return a.file < b.file || a.file == b.file && a.row < b.row }
	seen := map[string]place{}
	var b idBlock
	for blocks(&b) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		for i, id := range b.IDs {
			here := place{b.File, b.Rows[i]}
			there, ok := seen[id]
			if !ok || before(here, there) {
				seen[id] = here
			}
			if !ok || here == there {
				continue
			}
			if before(here, there) {
				here, there = there, here
			}
			// Blocks come in any order; the report must not depend on it.
			if first == nil || before(here, place{first.File, first.Row}) {
				first = &repeatReport{ID: id, File: here.file, Row: here.row, FirstFile: there.file,
					FirstRow: there.row}
			}
		}
		b = idBlock{}
	}
	return first, nil
}

// checkPipeline builds the first pipeline.
func (j *plan) checkPipeline() *beam.Pipeline {
	p, s := beam.NewPipelineWithRoot()
	files := beam.Reshuffle(s, beam.CreateList(s, j.tasks)) // else one worker reads all
	ids := beam.ParDo(s.Scope("check"), &checkFile{Read: j.job.Read,
		K: j.planned.Mechanism().Setting().K, worker: j.worker()}, files)
	beam.ParDo0(s.Scope("repeated ids"), &findRepeated{j.worker()},
		beam.GroupByKey(s, ids))
	return p
}

// collect reads the reports of the first pipeline and completes the tasks.
func (j *plan) collect(ctx context.Context) error {
	var first fileReport
	buckets := map[int]bool{}
	for i := range j.tasks {
		t := &j.tasks[i]
		var r fileReport
		if err := j.finding(ctx, reportName(t.Number), t.Path, &r); err != nil {
			return err
		}
		if r.Fault != "" {
			return inputf("%s", r.Fault)
		}
		if i == 0 {
			first, j.columns = r, r.Columns
		}
		switch {
		case r.K != j.planned.Mechanism().Setting().K:
			return inputf("%s: the votes have K = %d teachers, but the table is for %d", t.Path, r.K,
				j.planned.Mechanism().Setting().K)
		case r.IDs != first.IDs:
			return inputf("%s: of the files, some have query ids and some have none: this one and %s differ",
				t.Path, j.tasks[0].Path)
		case !r.Columns.SameVotes(first.Columns):
			return inputf("%s: %v, but in %s %v", t.Path, r.Columns, j.tasks[0].Path, first.Columns)
		}
		if j.votes != nil {
			if err := j.votes.MergePart(r.Votes); err != nil {
				return fmt.Errorf("%s: %w", join(j.dir, reportName(t.Number)), err)
			}
		}
		for _, n := range r.Buckets {
			buckets[n] = true
		}
		t.First, t.Rows, t.Pin = j.queries, r.Rows, r.Pin
		j.queries += r.Rows
	}
	return j.checkIDs(ctx, buckets)
}

// checkIDs reads what was found of the ids, of every bucket in which there are any: first the first
// file's.
func (j *plan) checkIDs(ctx context.Context, buckets map[int]bool) error {
	var mu sync.Mutex
	var first *repeatReport
	var g errgroup.Group
	g.SetLimit(16) // on a file system across a network each takes its time
	for n := range buckets {
		g.Go(func() error {
			var r *repeatReport
			if err := j.finding(ctx, idsName(n), "query ids", &r); err != nil || r == nil {
				return err
			}
			mu.Lock()
			defer mu.Unlock()
			if first == nil || r.File < first.File || r.File == first.File && r.Row < first.Row {
				first = r
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil || first == nil {
		return err
	}
	return inputf("%s: query %d, counted from 0: query id %.80q is already query %d in %s",
		j.tasks[first.File].Path, first.Row, first.ID, first.FirstRow, j.tasks[first.FirstFile].Path)
}
