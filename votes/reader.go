package votes

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// A Reader yields the queries of one or several files, batch by batch, in their
// order. Memory does not grow with the files, except for ids that do not count up
// by one (see Options.TrustIDs). It parses ahead on several goroutines; its
// methods but Progress are for one goroutine at a time.
type Reader struct {
	opts    Options
	classes *classList
	about   about
	pool    *batchPool
	files   []*source

	caller context.Context // ends when the caller says so, not when the stream does
	parent context.Context // the caller's
	ctx    context.Context // done as well when the Reader is at its end
	cancel context.CancelFunc
	order  chan *slot // in the order of the stream
	work   chan *slot
	done   chan struct{} // cut has returned
	group  sync.WaitGroup

	next     int64 // number of the next query
	ids      idSet
	err      error // sticky
	bytes    atomic.Int64
	rows     atomic.Int64
	total    int64 // bytes; 0 if unknown
	knowRows atomic.Int64
}

// slot is the place of a batch in the stream. Whoever closes ready has set the
// rest.
type slot struct {
	task  task
	file  *openFile
	batch *Batch
	err   error
	bytes int64 // of all files, read when the task was cut
	ready chan struct{}
}

// Progress says how far a Reader is.
type Progress struct {
	Rows       int64 // queries returned by Next
	TotalRows  int64 // of all files; 0 if unknown
	Bytes      int64 // of the files as they are on disk, compressed or not
	TotalBytes int64 // 0 if unknown
}

// start reads the beginning of the first file and sets the goroutines to work.
// It closes the files on error.
func start(ctx context.Context, opts Options, classes *classList, files []*source) (*Reader, error) {
	r := &Reader{
		opts: opts, classes: classes, files: files,
		pool: newBatchPool(3*opts.Workers + 6),
		done: make(chan struct{}), parent: ctx,
	}
	r.caller = ctx
	r.ctx, r.cancel = context.WithCancel(ctx)
	for _, f := range files {
		if f.size < 0 {
			r.total = 0
			break
		}
		r.total += f.size
	}
	d, err := r.open(0)
	if err != nil {
		r.cancel()
		return nil, errors.Join(err, closeAll(files))
	}
	r.about = d.about()
	if len(files) == 1 {
		r.knowRows.Store(r.about.rows)
	}
	// Some more slots than workers keep them busy while Next waits for the slowest.
	r.order = make(chan *slot, opts.Workers+2)
	r.work = make(chan *slot, opts.Workers)
	for range opts.Workers {
		r.group.Go(r.parse)
	}
	go func() {
		defer close(r.done)
		r.cut(d)
	}()
	return r, nil
}

// open makes the decoder of file i and compares it with the first.
func (r *Reader) open(i int) (decoder, error) {
	f := r.files[i]
	d, err := f.decode(r.ctx, &r.opts, r.classes, r.pool)
	if err != nil {
		return nil, err
	}
	if i == 0 {
		return d, nil
	}
	a, first := d.about(), r.about
	var rule string
	switch {
	case a.k != first.k:
		rule = fmt.Sprintf("K = %d teachers, but %s has K = %d", a.k, r.files[0].name, first.k)
	case a.ids != first.ids:
		rule = fmt.Sprintf("the file %s query ids, but %s %s", has(a.ids), r.files[0].name, has(first.ids))
	case a.labels != first.labels:
		rule = fmt.Sprintf("the file %s true labels, but %s %s", has(a.labels), r.files[0].name, has(first.labels))
	case !a.roles.SameVotes(first.roles):
		rule = fmt.Sprintf("%v, but in %s %v", a.roles, r.files[0].name, first.roles)
	default:
		return d, nil
	}
	return nil, errors.Join(&ParseError{File: f.name, Rule: rule}, d.close())
}

func has(yes bool) string {
	if yes {
		return "has"
	}
	return "has no"
}

// openFile is a file that tasks read from. It is closed when it has been cut and
// all its tasks are done. Nothing was written, so an error of closing means
// nothing.
type openFile struct {
	d       decoder
	s       *source
	holders atomic.Int64 // cut, and the tasks
}

func hold(d decoder, s *source) *openFile {
	f := &openFile{d: d, s: s}
	f.holders.Store(1)
	return f
}

func (f *openFile) release() {
	if f.holders.Add(-1) == 0 {
		f.d.close()
		f.s.close()
	}
}

// cut turns the files into slots until they end, fail, or the context is done.
func (r *Reader) cut(d decoder) {
	defer close(r.work)
	defer close(r.order)
	before := int64(0) // bytes of the files that are behind
	for i, s := range r.files {
		if i > 0 {
			var err error
			if d, err = r.open(i); err != nil {
				r.fail(err)
				return
			}
		}
		f := hold(d, s)
		err := r.cutFile(f, before)
		f.release()
		if err != nil {
			r.fail(err)
			return
		}
		before += max(0, s.size)
	}
}

// fail puts an error at the end of the stream.
func (r *Reader) fail(err error) {
	s := &slot{err: err, ready: make(chan struct{})}
	close(s.ready)
	r.send(r.order, s)
}

// cutFile turns one file into slots. before is how many bytes the files before it
// have.
func (r *Reader) cutFile(f *openFile, before int64) error {
	for {
		t, err := f.d.next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		s := &slot{task: t, file: f, bytes: before + f.s.read.Load(), ready: make(chan struct{})}
		if !r.send(r.order, s) {
			return r.ctx.Err()
		}
		f.holders.Add(1)
		if !r.send(r.work, s) {
			f.release()
			return r.ctx.Err()
		}
	}
}

func (r *Reader) send(c chan<- *slot, s *slot) bool {
	select {
	case c <- s:
		return true
	case <-r.ctx.Done():
		return false
	}
}

// parse does the tasks.
func (r *Reader) parse() {
	for s := range r.work {
		if r.ctx.Err() == nil {
			s.batch = r.pool.get(r.about.k, r.classes.len())
			s.err = s.task(s.batch)
		} else {
			s.err = r.ctx.Err()
		}
		s.task = nil
		s.file.release()
		close(s.ready)
	}
}

// K returns the number of teachers.
func (r *Reader) K() int { return r.about.k }

// Classes returns the names of the classes.
func (r *Reader) Classes() []string { return append([]string(nil), r.classes.names...) }

// Columns says which columns of the first file are votes, ids and true labels. Columns of
// votes that have names have the same ones in every file.
func (r *Reader) Columns() Roles {
	c := r.about.roles
	c.Votes, c.Unused = slices.Clone(c.Votes), slices.Clone(c.Unused)
	return c
}

// HasIDs reports whether ids come from the files; otherwise they are numbers.
func (r *Reader) HasIDs() bool { return r.about.ids }

// HasLabels reports whether the files have true answers.
func (r *Reader) HasLabels() bool { return r.about.labels }

// Next returns the next batch, never an empty one, and io.EOF after the last.
// Faults of a file are [*ParseError]s; a failing source's error is wrapped. When
// the context is done Next returns its error at once, even if a read is stuck.
// After an error it returns the same error again.
func (r *Reader) Next() (*Batch, error) {
	if r.err != nil {
		return nil, r.err
	}
	b, err := r.nextBatch()
	if err != nil {
		r.err = err
		r.cancel()
		return nil, err
	}
	return b, nil
}

func (r *Reader) nextBatch() (*Batch, error) {
	for {
		if err := r.ctx.Err(); err != nil {
			return nil, context.Cause(r.ctx)
		}
		var s *slot
		var ok bool
		select {
		case s, ok = <-r.order:
		case <-r.ctx.Done():
			return nil, context.Cause(r.ctx)
		}
		if !ok {
			return nil, io.EOF
		}
		select {
		case <-s.ready:
		case <-r.ctx.Done():
			return nil, context.Cause(r.ctx)
		}
		if s.batch != nil {
			// The rows before a fault come first, so that the first fault is reported
			// whatever the batches are.
			if err := r.admit(s.batch); err != nil {
				return nil, err
			}
		}
		if s.err != nil {
			return nil, s.err
		}
		r.bytes.Store(s.bytes)
		if s.batch.n == 0 {
			s.batch.Release()
			continue
		}
		r.rows.Add(int64(s.batch.n))
		return s.batch, nil
	}
}

// admit numbers the queries and refuses repeated ids: what depends on all
// batches before.
func (r *Reader) admit(b *Batch) error {
	b.First = r.next
	r.next += int64(b.n)
	if b.IDs == nil || r.opts.TrustIDs {
		return nil
	}
	for i, id := range b.IDs {
		at := place{b.file, b.place(i)}
		if earlier, repeated := r.ids.add(id, at); repeated {
			return b.idError(i, "query id "+quote(id)+" is already in "+earlier.from(b.file))
		}
		if len(r.ids.other) > MaxTrackedIDs && !r.opts.allIDs {
			return b.idError(i, fmt.Sprintf("more than %d ids do not count up by one: to search them for repetitions takes too much memory; trust them, or leave them out", MaxTrackedIDs))
		}
	}
	return nil
}

// from names a place as seen from a file.
func (p place) from(f *fileInfo) string {
	what := "line"
	if p.file.rows {
		what = "row"
	}
	if p.file == f {
		return fmt.Sprintf("%s %d", what, p.at)
	}
	return fmt.Sprintf("%s, %s %d", p.file.name, what, p.at)
}

// idError is a fault of the id of query i.
func (b *Batch) idError(i int, rule string) error {
	e := &ParseError{File: b.file.name, Column: b.file.idColumn + 1, ColumnName: b.file.idName, Rule: rule}
	if b.file.rows {
		e.Row, e.HasRow = int64(b.place(i)), true
	} else {
		e.Line = b.place(i)
	}
	return e
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

// Table reads all that is left into a table of two classes; memory grows with the
// number of queries. each, if it is not nil, is called with every batch before:
// there missing votes can be resolved. A vote that is still missing is an error.
func (r *Reader) Table(each func(*Batch) error) (*Table, error) {
	if n := r.classes.len(); n != 2 {
		return nil, fmt.Errorf("a table holds votes of two classes, not of %d", n)
	}
	t := &Table{K: r.about.k}
	for b, err := range r.Batches() {
		if err == nil && each != nil {
			err = each(b)
		}
		if err != nil {
			return nil, err
		}
		for i := range b.n {
			if b.Missing != nil && b.Missing[i] > 0 {
				return nil, fmt.Errorf("query %s: %d votes are missing, a table holds none that is", quote(b.ID(i)), b.Missing[i])
			}
			t.Ones = append(t.Ones, b.Counts[2*i+1])
		}
		for _, id := range b.IDs {
			t.IDs = append(t.IDs, strings.Clone(id)) // not the whole batch's memory
		}
		for _, c := range b.Labels {
			t.Labels = append(t.Labels, LabelOf(c == 1))
		}
		b.Release()
	}
	return t, nil
}

// Progress returns how far Next is. It may be called from any goroutine.
func (r *Reader) Progress() Progress {
	return Progress{Rows: r.rows.Load(), TotalRows: r.knowRows.Load(), Bytes: r.bytes.Load(), TotalBytes: r.total}
}

// Close stops reading and closes the files. It does not wait for a read from
// stdin or from a reader of the caller that is stuck.
func (r *Reader) Close() error {
	r.cancel()
	if r.err == nil {
		r.err = errors.New("votes: the Reader is closed")
	}
	// A read of a file or pipe that is closed returns.
	err := closeAll(r.files)
	wait := true
	for _, f := range r.files {
		wait = wait && f.closer != nil
	}
	if wait {
		<-r.done
		r.group.Wait()
	}
	return err
}

func closeAll(files []*source) error {
	var errs []error
	for _, f := range files {
		errs = append(errs, f.close())
	}
	return errors.Join(errs...)
}
