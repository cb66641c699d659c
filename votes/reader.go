package votes

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
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
	current int // file that is being cut, for the goroutine cut alone

	ctx    context.Context
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
		pool: newBatchPool(4*opts.Workers + 4),
		done: make(chan struct{}),
	}
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
	// Twice as many slots as workers keep them busy while Next waits for the
	// slowest.
	r.order = make(chan *slot, 2*opts.Workers)
	r.work = make(chan *slot, 2*opts.Workers)
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

// cut turns the files into slots until they end, fail, or the context is done.
func (r *Reader) cut(d decoder) {
	defer close(r.work)
	defer close(r.order)
	before := int64(0) // bytes of the files that are behind
	for {
		t, err := d.next()
		f := r.files[r.current]
		if err == io.EOF {
			err = errors.Join(d.close(), f.close())
			d = nil
			before += max(0, f.size)
			if r.current++; err == nil && r.current < len(r.files) {
				d, err = r.open(r.current)
			} else if err == nil {
				return
			}
			if err == nil {
				continue
			}
		}
		s := &slot{task: t, err: err, bytes: before + f.read.Load(), ready: make(chan struct{})}
		if err != nil {
			close(s.ready)
		}
		if !r.send(r.order, s) || err != nil || !r.send(r.work, s) {
			if d != nil {
				d.close()
			}
			return
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
		close(s.ready)
	}
}

// K returns the number of teachers.
func (r *Reader) K() int { return r.about.k }

// Classes returns the names of the classes.
func (r *Reader) Classes() []string { return append([]string(nil), r.classes.names...) }

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
