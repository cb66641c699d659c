package votes

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/darrm/darrm/internal/handle"
	"github.com/darrm/darrm/internal/textrows"
)

// A Reader yields the queries of one or several files, batch by batch, in their
// order. Memory does not grow with the files, except for ids that do not count up
// by one (see Options.TrustIDs). It parses ahead on several goroutines; its
// methods but Progress are for one goroutine at a time.
type Reader struct {
	opts    Options
	classes *classList
	files   []*source
	first   *fileInfo // of the first file
	pool    sync.Pool // of batches

	caller context.Context // ends when the caller says so, not when the stream does
	ctx    context.Context // done as well when the Reader is at its end
	cancel context.CancelFunc
	ahead  *textrows.Pipeline[parsed]

	long     *pivot // nil but for LayoutLong
	longNext int64  // number of its next query

	next  int64 // number of the next query
	ids   idSet
	err   error // sticky
	bytes atomic.Int64
	rows  atomic.Int64
	total int64 // bytes; 0 if unknown
}

// A job is a task of a file, or the file's end.
type job struct {
	task  task
	file  *openFile
	bytes int64 // of all files, read when the task was cut
}

// parsed is the outcome of a job.
type parsed struct {
	batch *Batch // nil at a file's end, or if there is no file
	err   error  // behind the batch's rows
	job
}

// Progress counts what a Reader has read.
type Progress struct {
	Rows       int64 // queries returned by Next
	TotalRows  int64 // of all files; 0 if unknown
	Bytes      int64 // of the files as they are on disk, compressed or not
	TotalBytes int64 // 0 if unknown
}

// start reads the beginning of the first file and sets the goroutines to work.
// It closes the files on error.
func start(ctx context.Context, opts Options, classes *classList,
	files []*source) (*Reader, error) {
	r := &Reader{opts: opts, classes: classes, files: files, caller: ctx}
	r.pool.New = func() any { return new(Batch) }
	r.ctx, r.cancel = context.WithCancel(ctx)
	for _, f := range files {
		if f.size < 0 {
			r.total = 0
			break
		}
		r.total += f.size
	}
	f, err := r.open(0)
	if err != nil {
		r.cancel()
		return nil, errors.Join(err, closeAll(files))
	}
	r.first = f.info
	r.ahead = textrows.InOrder(r.ctx, opts.Workers, r.jobs(f), r.parse,
		func(err error) parsed { return parsed{err: err} })
	if r.opts.Layout == LayoutLong && opts.tally == nil { // a survey may have found the layout
		if err := r.startLong(); err != nil {
			return nil, errors.Join(err, r.Close())
		}
	}
	return r, nil
}

// open opens file i and compares it with the first.
func (r *Reader) open(i int) (*openFile, error) {
	f, err := r.files[i].decode(r.ctx, &r.opts, r.classes)
	if err != nil || i == 0 {
		return f, err
	}
	a, first := f.info, r.first
	switch {
	case a.k != first.k:
		return nil, a.errorf("K = %d teachers, but %s has K = %d", a.k, first.name, first.k)
	case a.ids != first.ids:
		return nil, a.errorf("the file %s query ids, but %s %s", has(a.ids), first.name, has(first.ids))
	case !a.roles.SameVotes(first.roles):
		return nil, a.errorf("%v, but in %s %v", a.roles, first.name, first.roles)
	}
	return f, nil
}

func has(yes bool) string {
	if yes {
		return "has"
	}
	return "has no"
}

// jobs cuts the files, of which f is the first, into jobs.
func (r *Reader) jobs(f *openFile) func() (job, error) {
	i, before := 0, int64(0) // before: bytes of the files that are behind
	return func() (job, error) {
		if f == nil {
			if i == len(r.files) {
				return job{}, io.EOF
			}
			var err error
			if f, err = r.open(i); err != nil {
				return job{}, err
			}
		}
		t, err := f.next()
		if err == io.EOF {
			ended := f
			before += max(0, f.size)
			f, i = nil, i+1
			return job{file: ended}, nil
		}
		return job{t, f, before + f.read.Load()}, err
	}
}

// parse does a job.
func (r *Reader) parse(j job) parsed {
	p := parsed{job: j}
	if j.task != nil {
		p.batch = r.pool.Get().(*Batch)
		p.batch.reset(j.file.info)
		p.batch.pool = &r.pool
		p.err = j.task(p.batch)
	}
	return p
}

var errNoReader = errors.New("reader must be given, of the text")

// K returns the number of teachers.
func (r *Reader) K() int {
	r = handle.Made(r)
	if r.long != nil {
		return r.long.k
	}
	return handle.Made(r.first).k
}

// Classes returns the names of the classes.
func (r *Reader) Classes() []string { return slices.Clone(handle.Made(handle.Made(r).classes).names) }

// Columns returns the columns of the first file that hold votes, ids and true labels. Columns of
// votes that have names have the same ones in every file.
func (r *Reader) Columns() Roles {
	r = handle.Made(r)
	c := handle.Made(r.first).roles
	if r.long != nil {
		c.Width = r.long.k
	}
	c.Votes, c.Unused = slices.Clone(c.Votes), slices.Clone(c.Unused)
	return c
}

// HasIDs reports whether ids come from the files; otherwise they are numbers.
func (r *Reader) HasIDs() bool { return handle.Made(handle.Made(r).first).ids }

// Next returns the next batch, never an empty one, and io.EOF after the last.
// Faults of a file are [*ParseError]s; a failing source's error is wrapped. When
// the context is done Next returns its error at once, even if a read is stuck.
// After an error it returns the same error again.
func (r *Reader) Next() (*Batch, error) {
	if r == nil || r.cancel == nil {
		return nil, errNoReader
	}
	if r.err != nil {
		return nil, r.err
	}
	next := r.nextBatch
	if r.long != nil {
		next = r.long.next
	}
	b, err := next()
	if err != nil {
		r.err = err
		r.cancel()
		return nil, err
	}
	return b, nil
}

func (r *Reader) nextBatch() (*Batch, error) {
	for {
		p, err := r.ahead.Next()
		if err != nil {
			return nil, err
		}
		if p.batch == nil && p.err == nil {
			p.file.close() // nothing was written, so its error means nothing
			continue
		}
		if p.batch != nil {
			// The rows before a fault come first, so that the first fault is reported
			// whatever the batches are.
			if err := r.numberQueries(p.batch); err != nil {
				return nil, err
			}
		}
		if p.err != nil {
			return nil, p.err
		}
		r.bytes.Store(p.bytes)
		r.rows.Add(int64(p.batch.Len()))
		if r.opts.sets != nil && r.opts.Layout != LayoutLong { // whose rows are no questions yet
			p.batch.perLabel(r.opts.Labels)
		}
		return p.batch, nil
	}
}

// numberQueries numbers the queries and refuses repeated ids: what depends on all
// batches before.
func (r *Reader) numberQueries(b *Batch) error {
	b.First = r.next
	r.next += int64(b.Len())
	if b.IDs == nil || r.opts.TrustIDs || r.opts.Layout == LayoutLong {
		return nil
	}
	f := b.file
	for i, id := range b.IDs {
		rule := ""
		if earlier, repeated := r.ids.add(id, place{f, b.places[i]}); repeated {
			rule = "query id " + quote(id) + " is already in "
			if earlier.file != f {
				rule += earlier.file.name + ", "
			}
			rule += earlier.file.placeName(earlier.at)
		} else if len(r.ids.other.places) > maxTrackedIDs && !r.opts.allIDs {
			rule = fmt.Sprintf("more than %d ids do not count up by one: to search them for repetitions "+
				"takes too much memory; trust them, or leave them out", maxTrackedIDs)
		}
		if rule != "" {
			return f.errorAt(b.places[i], f.idColumn, f.idName, rule)
		}
	}
	return nil
}

// Batches yields the batches up to the end, or up to an error.
func (r *Reader) Batches() iter.Seq2[*Batch, error] {
	return func(yield func(*Batch, error) bool) {
		for {
			b, err := r.Next()
			if err == io.EOF {
				return
			}
			if !yield(b, err) || err != nil {
				return
			}
		}
	}
}

// Progress returns how far Next is. It may be called from any goroutine.
func (r *Reader) Progress() Progress {
	r = handle.Made(r)
	p := Progress{Rows: r.rows.Load(), Bytes: r.bytes.Load(), TotalBytes: r.total}
	if len(r.files) == 1 {
		p.TotalRows = r.first.total
	}
	return p
}

// Close stops reading and closes the files. It does not wait for a read from
// stdin or from a reader of the caller that is stuck.
func (r *Reader) Close() error {
	if r == nil || r.cancel == nil { // it was never opened
		return nil
	}
	r.cancel()
	if r.err == nil {
		r.err = errors.New("votes: the Reader is closed")
	}
	// A read of a file or pipe that is closed returns.
	err := closeAll(r.files)
	for _, f := range r.files {
		if f.path == "" {
			return err
		}
	}
	<-r.ahead.Done
	return err
}

func closeAll(files []*source) error {
	var errs []error
	for _, f := range files {
		errs = append(errs, f.close())
	}
	return errors.Join(errs...)
}
