package votes

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"math/bits"
)

// npyArray is an array whose elements can be read: one row after the other from
// r, or at any place from at, where element 0 is at offset 0.
type npyArray struct {
	*npyHeader
	member string // of an archive, for messages
	r      io.Reader
	at     io.ReaderAt
}

// npyDecoder cuts arrays into tasks. An array of votes is a matrix of n queries
// and m columns (teachers or classes). In memory it lies query by query, or
// column by column where exactly one of LayoutTeachers and Fortran order is
// true.
type npyDecoder struct {
	*fileInfo
	src     *source
	n       int64 // queries
	m       int   // columns
	k       int   // teachers
	votes   *npyArray
	columns bool // votes lies column by column, and has at
	byRows  bool // no stream counts the bytes that are behind
	ids     *npyArray
	labels  *npyArray
	perTask int64
	row     int64 // next
	bufs    *bufferPool
	closers []io.Closer
}

// openNPY opens a file of one array.
func openNPY(ctx context.Context, info *fileInfo, s *source, pool *batchPool) (decoder, error) {
	info.rows = true
	if err := info.arrayLayout(); err != nil {
		return nil, err
	}
	plain := s.file != nil && s.size >= 0 && s.compression == CompressionNone
	var r io.Reader
	var at io.ReaderAt
	size := int64(-1)
	if plain {
		at, size = s.file, s.size
		r = io.NewSectionReader(at, 0, size)
	} else {
		var err error
		if r, err = s.stream(info); err != nil {
			return nil, err
		}
	}
	h, err := readNPYHeader(r)
	if err != nil {
		return nil, info.arrayError(err, "")
	}
	d := &npyDecoder{fileInfo: info, src: s, votes: &npyArray{npyHeader: h, r: r}, byRows: plain}
	if err := d.shapeVotes(); err != nil {
		return nil, err
	}
	if size >= 0 && size != h.size+h.data {
		return nil, info.errorf("the header claims %s elements of %d bytes, %d with the header, but the file has %d bytes", h.dims(), h.dtype.size, h.size+h.data, size)
	}
	if d.columns && !plain {
		// The rest of the stream, so that all columns can be read side by side.
		f, got, err := spool(ctx, io.LimitReader(r, h.data+1), info.opts)
		if err != nil {
			return nil, info.arrayError(err, "")
		}
		d.closers = append(d.closers, f)
		if got != h.data {
			return nil, errors.Join(info.errorf("the header claims %s elements of %d bytes, %d in all, but there are %d", h.dims(), h.dtype.size, h.data, got), d.close())
		}
		at = f
		d.votes.at = f
	} else if plain {
		d.votes.at = io.NewSectionReader(at, h.size, h.data)
	}
	return d.ready()
}

// arrayLayout makes sure that somebody said what the dimensions mean.
func (f *fileInfo) arrayLayout() error {
	if len(f.opts.VoteColumns) > 0 {
		return f.errorf("vote columns are listed (--vote-columns), but the columns of an array have no names: the layout says what they are")
	}
	if f.layout == LayoutDefault {
		return f.errorf("say the layout of the array: wide (queries × teachers), teachers (teachers × queries) or counts (queries × classes)")
	}
	return nil
}

// arrayError puts the file's name on a fault of an array.
func (f *fileInfo) arrayError(err error, member string) error {
	var rule *ruleError
	if !errors.As(err, &rule) {
		return f.sourceError(err, 0)
	}
	if member != "" {
		return f.errorf("array %s: %s", quote(member), rule.rule)
	}
	return f.errorf("%s", rule.rule)
}

// shapeVotes takes queries and columns from the votes' shape.
func (d *npyDecoder) shapeVotes() error {
	h := d.votes.npyHeader
	fail := func(format string, args ...any) error {
		return d.arrayError(rulef(format, args...), d.votes.member)
	}
	if len(h.shape) != 2 {
		return fail("the array has %d dimensions (%s), want 2", len(h.shape), h.dims())
	}
	n, m := h.shape[0], h.shape[1]
	what := "teachers"
	switch d.layout {
	case LayoutTeachers:
		n, m = m, n
	case LayoutCounts:
		what = "classes"
		if h.dtype.isText() {
			return fail("the elements are text (%s), want counts", h.dtype.text)
		}
		if m != int64(d.classes.len()) {
			return fail("%s elements, but in the layout counts the second dimension is the number of classes, %d", h.dims(), d.classes.len())
		}
	}
	switch {
	case n == 0:
		return fail("there are no queries (%s elements)", h.dims())
	case m == 0:
		return fail("there are no %s (%s elements)", what, h.dims())
	case what == "teachers" && d.opts.K != 0 && m != int64(d.opts.K):
		hint := ""
		if n == int64(d.opts.K) {
			other := LayoutTeachers
			if d.layout == LayoutTeachers {
				other = LayoutWide
			}
			hint = fmt.Sprintf("; is the layout %s?", other)
		}
		return fail("%s elements in the layout %s are K = %d teachers, but K = %d teachers are expected%s", h.dims(), d.layout, m, d.opts.K, hint)
	case m > MaxTeachers:
		return fail("%s elements in the layout %s are %d %s, want at most %d", h.dims(), d.layout, m, what, MaxTeachers)
	case m*int64(h.dtype.size) > MaxRecordBytes:
		return fail("a query takes %d bytes, want at most %d", m*int64(h.dtype.size), MaxRecordBytes)
	}
	d.n, d.m, d.k = n, int(m), int(m)
	d.columns = (d.layout == LayoutTeachers) != h.fortran
	return nil
}

// ready reads what must be known before the first task. It closes d on error.
func (d *npyDecoder) ready() (decoder, error) {
	size := d.votes.dtype.size
	if d.layout == LayoutCounts {
		if err := d.firstK(); err != nil {
			return nil, errors.Join(err, d.close())
		}
	}
	row := d.m * size
	for _, a := range []*npyArray{d.ids, d.labels} {
		if a != nil {
			row += a.dtype.size
		}
	}
	target := defaultChunkBytes
	if d.opts.chunkBytes > 0 {
		target = d.opts.chunkBytes
	}
	d.perTask = int64(max(1, min(target/row, d.batchRows(d.k))))
	d.bufs = newBufferPool(d.opts.Workers + 2)
	return d, nil
}

// firstK sums the counts of the first query.
func (d *npyDecoder) firstK() error {
	size := d.votes.dtype.size
	data := make([]byte, d.m*size)
	if d.columns {
		if err := d.readColumns(data, 0, 1); err != nil {
			return err
		}
	} else if d.votes.at != nil {
		if _, err := d.votes.at.ReadAt(data, 0); err != nil && err != io.EOF {
			return d.arrayError(err, d.votes.member)
		}
	} else {
		r := bufio.NewReaderSize(d.votes.r, max(64<<10, len(data)))
		head, err := r.Peek(len(data))
		if err != nil {
			return d.short(err, 0)
		}
		copy(data, head)
		d.votes.r = r
	}
	b := new(Batch)
	b.reset(0, d.m)
	d.k = 0
	if err := d.counts(data, 0, 1, b); err != nil {
		return err
	}
	for _, n := range b.Counts {
		d.k += n
	}
	if rule := d.kRule(d.k, fmt.Sprintf("%s sum to %d", countsName(d.classes), d.k)); rule != "" {
		return d.errorAt(0, -1, rule)
	}
	return nil
}

func (d *npyDecoder) about() about {
	r := Roles{Layout: d.layout.String(), In: "array", Width: d.m}
	if d.votes.member != "" {
		r.Votes = []string{d.votes.member}
	}
	if d.ids != nil {
		r.ID = d.ids.member
	}
	if d.labels != nil {
		r.Truth = d.labels.member
	}
	return about{k: d.k, ids: d.ids != nil, labels: d.labels != nil, rows: d.n, roles: r}
}

func (d *npyDecoder) close() error {
	var errs []error
	for _, c := range d.closers {
		errs = append(errs, c.Close())
	}
	d.closers = nil
	return errors.Join(errs...)
}

func (d *npyDecoder) next() (task, error) {
	if d.row == d.n {
		for _, a := range []*npyArray{d.votes, d.ids, d.labels} {
			if err := d.ended(a); err != nil {
				return nil, err
			}
		}
		return nil, io.EOF
	}
	first := d.row
	rows := int(min(d.perTask, d.n-first))
	d.row += int64(rows)
	if s := d.src; d.byRows {
		s.read.Store(int64(float64(s.size) * float64(d.row) / float64(d.n)))
	}
	var votes []byte
	if d.votes.at == nil {
		var err error
		if votes, err = d.read(d.votes, first, rows, d.bufs.get()); err != nil {
			return nil, err
		}
	}
	var ids, labels []byte
	var err error
	if d.ids != nil {
		if ids, err = d.read(d.ids, first, rows, nil); err != nil {
			return nil, err
		}
	}
	if d.labels != nil {
		if labels, err = d.read(d.labels, first, rows, nil); err != nil {
			return nil, err
		}
	}
	return func(b *Batch) error {
		b.reset(d.k, d.classes.len())
		b.file = d.fileInfo
		b.line = int(first)
		data := votes
		if d.votes.at != nil {
			size := rows * d.m * d.votes.dtype.size
			if data = d.bufs.get(); cap(data) < size {
				data = make([]byte, size)
			}
			data = data[:size]
			var err error
			if d.columns {
				err = d.readColumns(data, first, rows)
			} else if n, e := d.votes.at.ReadAt(data, first*int64(d.m*d.votes.dtype.size)); n < len(data) {
				err = d.arrayError(e, d.votes.member)
			}
			if err != nil {
				return err
			}
		}
		defer d.bufs.put(data)
		return d.parse(first, rows, data, ids, labels, b)
	}, nil
}

// read reads the next rows of an array whose rows lie one after the other.
func (d *npyDecoder) read(a *npyArray, first int64, rows int, buf []byte) ([]byte, error) {
	size := rows * a.dtype.size
	if a == d.votes {
		size *= d.m
	}
	if cap(buf) < size {
		buf = make([]byte, size)
	}
	buf = buf[:size]
	if n, err := readFull(a.r, buf); n < len(buf) {
		return nil, d.short(err, first+int64(n/(size/rows)))
	}
	return buf, nil
}

// short is about a stream that failed or ended in the given row.
func (d *npyDecoder) short(err error, row int64) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return d.errorAt(row, -1, fmt.Sprintf("the data end here, but the header claims %s elements", d.votes.dims()))
	}
	return d.arrayError(err, d.votes.member)
}

// ended makes sure that nothing stands behind an array, and that a checksum of
// the archive's is looked at.
func (d *npyDecoder) ended(a *npyArray) error {
	if a == nil || a.at != nil {
		return nil
	}
	n, err := readFull(a.r, make([]byte, 1))
	if n > 0 {
		return d.arrayError(rulef("there are bytes behind the %s elements", a.dims()), a.member)
	}
	if err != io.EOF {
		return d.arrayError(err, a.member)
	}
	return nil
}

// readColumns reads some rows of an array that lies column by column, one run of
// elements for each column.
func (d *npyDecoder) readColumns(data []byte, first int64, rows int) error {
	size := int64(d.votes.dtype.size)
	run := rows * int(size)
	for c := range d.m {
		off := (int64(c)*d.n + first) * size
		if n, err := d.votes.at.ReadAt(data[c*run:(c+1)*run], off); n < run {
			return d.arrayError(err, d.votes.member)
		}
	}
	return nil
}

// errorAt is a fault of a column (from 0, or -1) of a row.
func (d *npyDecoder) errorAt(row int64, column int, rule string) error {
	return &ParseError{File: d.name, Row: row, HasRow: true, Column: column + 1, Rule: rule}
}

// parse turns elements into a batch. An error leaves the rows before the fault.
func (d *npyDecoder) parse(first int64, rows int, data, ids, labels []byte, b *Batch) error {
	var err error
	switch {
	case d.layout == LayoutCounts:
		err = d.counts(data, first, rows, b)
	case d.classes.binary && !d.opts.KeepVotes && d.bits(data, rows, b):
	default:
		err = d.classesOf(data, first, rows, b)
	}
	// The rows that were read, even before a fault, get their label and id.
	if labels != nil {
		b.Labels = b.labels
		size := d.labels.dtype.size
		for i := range b.n {
			e := labels[i*size : (i+1)*size]
			c, _ := d.labels.dtype.class(e, d.classes)
			if c < 0 {
				err = d.errorAt(first+int64(i), -1, "label "+d.labels.dtype.describe(e)+" "+d.classes.rule())
				b.cut(i)
				break
			}
			b.Labels = append(b.Labels, c)
		}
	}
	if ids != nil {
		b.IDs = b.ids
		size := d.ids.dtype.size
		for i := range b.n {
			e := ids[i*size : (i+1)*size]
			id, ok := d.ids.dtype.string(e)
			rule := idRule(id)
			switch {
			case !ok:
				rule = "the query id is not valid text"
			case rule == "" && checkID(id) != nil:
				rule = checkID(id).Error()
			}
			if rule != "" {
				err = d.errorAt(first+int64(i), -1, rule)
				b.cut(i)
				break
			}
			b.IDs = append(b.IDs, id)
		}
	}
	return err
}

// cut leaves the first n queries.
func (b *Batch) cut(n int) {
	b.n = n
	b.Counts = b.Counts[:n*b.Classes]
	if b.Missing != nil {
		b.Missing = b.Missing[:n]
	}
	if b.Votes != nil {
		b.Votes = b.Votes[:n*b.K]
	}
	if b.Labels != nil {
		b.Labels = b.Labels[:min(n, len(b.Labels))]
	}
	if b.IDs != nil {
		b.IDs = b.IDs[:min(n, len(b.IDs))]
	}
}

// describe prints an element for a message.
func (t dtype) describe(e []byte) string {
	text, ok := t.string(e)
	switch {
	case !ok:
		return "(invalid text)"
	case t.isText():
		return quote(text)
	}
	return text
}

// element returns the bytes of row i and column c.
func (d *npyDecoder) element(data []byte, rows, i, c int) []byte {
	at := i*d.m + c
	if d.columns {
		at = c*rows + i
	}
	size := d.votes.dtype.size
	return data[at*size : (at+1)*size]
}

// classesOf reads votes of any type and classes.
func (d *npyDecoder) classesOf(data []byte, first int64, rows int, b *Batch) error {
	for i := range rows {
		n, counts, missing, votes := b.n, b.Counts, b.Missing, b.Votes
		row := b.addRow()
		for t := range d.m {
			e := d.element(data, rows, i, t)
			c, gone := d.votes.dtype.class(e, d.classes)
			switch {
			case c >= 0:
				row[c]++
			case gone && d.opts.Missing == MissingCoin:
				b.addMissing(b.n - 1)
			default:
				b.n, b.Counts, b.Missing, b.Votes = n, counts, missing, votes
				rule := "vote " + d.votes.dtype.describe(e) + " " + d.classes.rule()
				if gone {
					rule = voteRule(d.votes.dtype.plain(e), d.classes)
				}
				return d.errorAt(first+int64(i), t, rule)
			}
			if d.opts.KeepVotes {
				b.Votes = append(b.Votes, c)
			}
		}
	}
	return nil
}

// plain is describe without quotes.
func (t dtype) plain(e []byte) string {
	text, _ := t.string(e)
	return text
}

// counts reads counts of classes. With d.k = 0 any sum is right.
func (d *npyDecoder) counts(data []byte, first int64, rows int, b *Batch) error {
	for i := range rows {
		row := b.addRow()
		k := 0
		fail := func(column int, rule string) error {
			b.cut(i)
			return d.errorAt(first+int64(i), column, rule)
		}
		for c := range d.m {
			e := d.element(data, rows, i, c)
			n, ok := d.votes.dtype.integer(e)
			switch {
			case !ok || n < 0:
				return fail(c, "count "+d.votes.dtype.describe(e)+" is not a whole number ≥ 0")
			case n > MaxTeachers:
				return fail(c, fmt.Sprintf("count %d, want at most %d", n, MaxTeachers))
			}
			row[c] = int(n)
			k += int(n)
		}
		if k == 0 {
			return fail(-1, countsName(d.classes)+" are all 0: there are no votes")
		}
		if d.k != 0 && k != d.k {
			return fail(-1, fmt.Sprintf("%s sum to K = %d, but to K = %d in row 0", countsName(d.classes), k, d.k))
		}
	}
	return nil
}

// bits reads votes of two classes from numbers, and reports false, with b
// unchanged, if there is any other element. The bits of all elements are gathered
// on the way: if none but the lowest is set anywhere, all are 0 or 1.
func (d *npyDecoder) bits(data []byte, rows int, b *Batch) bool {
	t := d.votes.dtype
	if t.isText() || t.big && t.size > 1 {
		return false
	}
	counts := b.addRows(rows)
	var all uint64
	if d.columns {
		run := rows * t.size
		for c := range d.m {
			col := data[c*run : (c+1)*run]
			switch {
			case t.kind == 'f':
				one := t.one()
				for i := range rows {
					v := floatBit(littleEndian(col[i*t.size:], t.size), one)
					all |= v
					counts[2*i+1] += int(v & 1)
				}
			case t.size == 1:
				for i, v := range col {
					all |= uint64(v)
					counts[2*i+1] += int(v & 1)
				}
			default:
				for i := range rows {
					v := littleEndian(col[i*t.size:], t.size)
					all |= v
					counts[2*i+1] += int(v & 1)
				}
			}
		}
	} else {
		row := d.m * t.size
		for i := range rows {
			var more uint64
			counts[2*i+1], more = sumBits(data[i*row:(i+1)*row], t)
			all |= more
		}
	}
	if all&^1 != 0 {
		b.cut(0)
		return false
	}
	for i := range rows {
		counts[2*i] = d.m - counts[2*i+1]
	}
	return true
}

// one returns the bits of the floating-point number 1.
func (d dtype) one() uint64 {
	if d.size == 4 {
		return uint64(math.Float32bits(1))
	}
	return math.Float64bits(1)
}

// floatBit returns 0 or 1 for the bits of these numbers, and 2 for others. That
// includes -0, which is read the long way.
func floatBit(v, one uint64) uint64 {
	switch v {
	case 0:
		return 0
	case one:
		return 1
	}
	return 2
}

// sumBits adds up numbers that ought to be 0 or 1. all has every bit that is set
// in any of them.
func sumBits(row []byte, t dtype) (ones int, all uint64) {
	switch {
	case t.kind == 'f':
		one := t.one()
		for ; len(row) >= t.size; row = row[t.size:] {
			v := floatBit(littleEndian(row, t.size), one)
			all |= v
			ones += int(v & 1)
		}
	case t.size == 1:
		for ; len(row) >= 8; row = row[8:] {
			v := binary.LittleEndian.Uint64(row)
			if v&0xfefe_fefe_fefe_fefe != 0 {
				all |= 2
			}
			ones += bits.OnesCount64(v & 0x0101_0101_0101_0101)
		}
		for _, v := range row {
			all |= uint64(v)
			ones += int(v & 1)
		}
	case t.size == 8:
		for ; len(row) >= 8; row = row[8:] {
			v := binary.LittleEndian.Uint64(row)
			all |= v
			ones += int(v & 1)
		}
	default:
		for ; len(row) >= t.size; row = row[t.size:] {
			v := littleEndian(row, t.size)
			all |= v
			ones += int(v & 1)
		}
	}
	return ones, all
}
