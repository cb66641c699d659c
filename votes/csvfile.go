package votes

import (
	"bytes"
	"io"
	"math"
)

// csvDecoder cuts a CSV or TSV file into tasks.
type csvDecoder struct {
	shape *csvShape
	lines *lineChunks
	pool  *batchPool
	ends  lineEnds
	bufs  *bufferPool

	first task       // the first rows
	slow  *rowReader // once a quote has been seen: everything that is left
	err   error
}

// openCSV reads the header and the first row.
func openCSV(info *fileInfo, r io.Reader, comma byte, pool *batchPool) (decoder, error) {
	d := &csvDecoder{
		shape: &csvShape{fileInfo: info, comma: comma},
		pool:  pool,
		lines: newLineChunks(r, info.chunkBytes(1)),
		bufs:  newBufferPool(info.opts.Workers + 2),
	}
	// Two lines: a header and a row.
	ch, err := d.lines.next(nil, 2)
	if err != nil && err != io.EOF {
		return nil, info.sourceError(err, 0)
	}
	if err == nil && !info.opts.slow && !quoted(ch.data) {
		rows := newRowReader(d.shape, bytes.NewReader(ch.data), 0, 0, endsUnknown)
		b := pool.get(0, 0)
		if err := rows.start(b); err == nil {
			d.first = d.finish(rows, b)
			d.ends = rows.guard.ends
			d.lines.size = info.chunkBytes(d.shape.k)
			d.shape.nameID()
			return d, nil
		} else if d.lines.err == io.EOF {
			return nil, err
		}
		// Perhaps only because the chunk was cut: blank lines or a header without a
		// row, and more to come.
		*d.shape = csvShape{fileInfo: info, comma: comma}
	}
	rows := newRowReader(d.shape, d.lines.remainder(ch), 0, 0, endsUnknown)
	b := pool.get(0, 0)
	if err := rows.start(b); err != nil {
		return nil, err
	}
	d.first = func(into *Batch) error { swap(into, b); return nil }
	d.slow = rows
	d.shape.nameID()
	return d, nil
}

// nameID remembers which column holds the ids, for messages.
func (s *csvShape) nameID() {
	s.idColumn = s.cols.id
	if s.idColumn >= 0 && s.header != nil {
		s.idName = s.header[s.idColumn]
	}
}

func (d *csvDecoder) about() about {
	s := d.shape
	return about{k: s.k, ids: s.cols.id >= 0, labels: s.cols.label >= 0, roles: s.roles}
}

// finish is the task of reading the rows that are left of a chunk into b.
func (d *csvDecoder) finish(rows *rowReader, b *Batch) task {
	return func(into *Batch) error {
		err := rows.fill(b, math.MaxInt)
		swap(into, b)
		if err == io.EOF {
			err = nil
		}
		return err
	}
}

func (d *csvDecoder) next() (task, error) {
	if t := d.first; t != nil {
		d.first = nil
		return t, nil
	}
	if d.slow != nil {
		return d.nextSlow()
	}
	buf := d.bufs.get()
	ch, err := d.lines.next(buf, 1)
	if err == io.EOF {
		return nil, err
	}
	if err != nil {
		return nil, d.shape.sourceError(err, d.lines.end)
	}
	if quoted(ch.data) {
		d.slow = newRowReader(d.shape, d.lines.remainder(ch), ch.line-1, ch.end, d.ends)
		return d.nextSlow()
	}
	return func(b *Batch) error {
		defer d.bufs.put(ch.data)
		b.reset(d.shape.k, d.shape.classes.len())
		b.file = d.shape.fileInfo
		if d.shape.fastRows(ch, d.ends, b) {
			return nil
		}
		b.reset(d.shape.k, d.shape.classes.len())
		b.file = d.shape.fileInfo
		rows := newRowReader(d.shape, bytes.NewReader(ch.data), ch.line-1, ch.end, d.ends)
		if err := rows.fill(b, math.MaxInt); err != io.EOF {
			return err
		}
		return nil
	}, nil
}

// nextSlow reads a batch at once: where a row ends is known only when all before
// it are read.
func (d *csvDecoder) nextSlow() (task, error) {
	if d.err != nil {
		return nil, d.err
	}
	b := d.pool.get(0, 0)
	d.slow.prepare(b)
	d.err = d.slow.fill(b, d.shape.batchRows(d.shape.k))
	if b.n == 0 && d.err != nil {
		return nil, d.err
	}
	return func(into *Batch) error { swap(into, b); return nil }, nil
}

func (d *csvDecoder) close() error { return nil }

// swap gives the content of b to into, and b the memory of into.
func swap(into, b *Batch) { *into, *b = *b, *into }
