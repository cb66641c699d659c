package votes

import (
	"context"
	"fmt"
	"io"

	"github.com/darrm/darrm/internal/check"
	"github.com/darrm/darrm/internal/npy"
	"github.com/darrm/darrm/votes/format"
)

// npyArray is an array whose elements can be read at any place.
type npyArray struct {
	*npyHeader
	member string      // of an archive, for messages
	at     io.ReaderAt // element 0 is at offset 0
}

// npyHeader is an array's header, of a type that votes can have.
type npyHeader struct {
	*npy.Header
	dtype dtype
	data  int64 // bytes of all elements
}

// readNPYHeader reads a header. Its errors are rules: they do not name the file.
func readNPYHeader(r io.Reader) (*npyHeader, error) {
	head, err := npy.ReadHeader(r)
	if err != nil {
		return nil, err
	}
	h := &npyHeader{Header: head}
	if h.dtype, err = parseDtype(head.Descr); err != nil {
		return nil, err
	}
	h.data, err = head.Bytes(h.dtype.Size)
	return h, err
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
	width   int   // numbers of a vote, side by side: one for each of several labels, else 1
	columns bool  // votes lies column by column
	votes   *npyArray
	idArray *npyArray // nil if there is none
	labels  *npyArray
	perTask int64
	row     int64 // next
}

// openNPY opens a file of one array.
func openNPY(ctx context.Context, info *fileInfo, s *source) (decoder, error) {
	if err := info.arrayLayout(); err != nil {
		return nil, err
	}
	r, err := s.stream(info)
	if err != nil {
		return nil, err
	}
	d := &npyDecoder{fileInfo: info, src: s, votes: &npyArray{}}
	if d.votes.npyHeader, err = readNPYHeader(r); err != nil {
		return nil, info.arrayError(err, "")
	}
	h := d.votes.npyHeader
	if err := d.shapeVotes(); err != nil {
		return nil, err
	}
	var got int64
	if s.plain() {
		d.votes.at, got = io.NewSectionReader(s.at, h.Size, h.data), s.size-h.Size
	} else if d.votes.at, got, err = s.spool(ctx, info, io.LimitReader(r, h.data+1)); err != nil {
		return nil, info.arrayError(err, "")
	}
	if got != h.data {
		return nil, info.errorf("the header claims %s elements of %d bytes, %d in all, but %s", h.Dims(),
			h.dtype.Size, h.data, moreOrLess(got, h.data))
	}
	return d.complete(), nil
}

func moreOrLess(got, want int64) string {
	if got > want {
		return "more bytes follow"
	}
	return fmt.Sprintf("there are %d", got)
}

// arrayLayout refuses an array whose dimensions have no stated meaning.
func (f *fileInfo) arrayLayout() error {
	f.rows = true
	if len(f.opts.VoteColumns) > 0 {
		return f.errorf("vote columns are listed (%s), but the columns of an array have no names: the "+
			"layout says what they are", pVoteColumns)
	}
	if f.layout == LayoutLong {
		return f.errorf("the layout long is for files with named columns: a row of it is one vote")
	}
	if f.layout == LayoutDefault && f.opts.found != nil {
		f.layout, f.opts.Layout, f.opts.found.array = LayoutWide, LayoutWide, true
	}
	if f.layout == LayoutDefault {
		return f.errorf("say the layout of the array: wide (queries × teachers), teachers (teachers × " +
			"queries) or counts (queries × classes)")
	}
	return nil
}

// shapeVotes takes queries and columns from the votes' shape.
func (d *npyDecoder) shapeVotes() error {
	h := d.votes.npyHeader
	fail := func(rule string, args ...any) error {
		return d.arrayError(format.Errorf(rule, args...), d.votes.member)
	}
	d.width = 1
	if d.sets != nil {
		if rule := d.shapeLabels(); rule != "" {
			return fail("%s", rule)
		}
	} else if len(h.Shape) != 2 {
		advice := ""
		if len(h.Shape) == 3 {
			advice = ": of probabilities or marks for each class, write the class (argmax over the last axis); of " +
				"several yes/no labels, name these"
		}
		return fail("the array has %d dimensions (%s), want 2%s", len(h.Shape), h.Dims(), advice)
	}
	n, m := h.Shape[0], h.Shape[1]
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
			return fail("%s elements, but in the layout counts the second dimension is the number of "+
				"classes, %d", h.Dims(), d.classes.len())
		}
	}
	switch {
	case n == 0:
		return fail("there are no queries (%s elements)", h.Dims())
	case m == 0:
		return fail("there are no %s (%s elements)", what, h.Dims())
	case what == "teachers" && d.opts.K != 0 && m != int64(d.opts.K):
		hint := ""
		if n == int64(d.opts.K) {
			other := LayoutTeachers
			if d.layout == LayoutTeachers {
				other = LayoutWide
			}
			hint = fmt.Sprintf("; is the layout %s?", other)
		}
		return fail("%s elements in the layout %s are K = %d teachers, but K = %d teachers are expected%s", h.Dims(), d.layout, m, d.opts.K, hint)
	case what == "teachers" && m > check.MaxTeachers:
		return fail("%s elements in the layout %s are %d teachers, want at most %d", h.Dims(), d.layout,
			m, check.MaxTeachers)
	}
	d.n, d.m, d.total = n, int(m), n
	if d.layout != LayoutCounts {
		d.k = d.m
	}
	d.columns = (d.layout == LayoutTeachers) != h.Fortran
	return nil
}

// shapeLabels returns what is wrong with the shape of an array with a number for each of several labels;
// "" for nothing.
func (d *npyDecoder) shapeLabels() string {
	h, labels := d.votes.npyHeader, d.sets.list.len()
	switch {
	case len(h.Shape) == 2 && h.dtype.isText(): // sets as in cells of other formats
		return ""
	case len(h.Shape) != 3:
		return fmt.Sprintf("the array has %d dimensions (%s), want 3: the last is the labels", len(h.Shape), h.Dims())
	case h.Shape[2] != int64(labels):
		return fmt.Sprintf("%s elements are vectors of %d labels, want %d", h.Dims(), h.Shape[2], labels)
	case h.Fortran:
		return "the array of three dimensions is in Fortran order: save it in that of C (numpy.ascontiguousarray)"
	case h.dtype.isText():
		return fmt.Sprintf("the elements are text (%s), want 0 or 1 for each label", h.dtype.text)
	}
	d.width, d.vectors = labels, true
	return ""
}

// complete sets the roles and sizes of the file, once all arrays are open.
func (d *npyDecoder) complete() *npyDecoder {
	d.idColumn = -1
	d.roles = Roles{Layout: d.layout.String(), In: "array", Width: d.m}
	if d.votes.member != "" {
		d.roles.Votes = []string{d.votes.member}
	}
	if d.fileInfo.ids = d.idArray != nil; d.ids {
		d.roles.ID = d.idArray.member
	}
	if d.fileInfo.labels = d.labels != nil; d.fileInfo.labels {
		d.roles.Truth = d.labels.member
	}
	target := defaultChunkBytes
	if d.opts.chunkBytes > 0 {
		target = d.opts.chunkBytes
	}
	d.perTask = int64(max(1, min(target/(d.m*d.width*d.votes.dtype.Size), d.batchRows(d.m))))
	return d
}

func (d *npyDecoder) next() (task, error) {
	if d.row == d.n {
		return nil, io.EOF
	}
	first := d.row
	rows := int(min(d.perTask, d.n-first))
	d.row += int64(rows)
	d.src.progress(d.row, d.n)
	return func(b *Batch) error { return d.read(first, rows, b) }, nil
}

// read reads rows into a batch. An error leaves the rows before the fault.
func (d *npyDecoder) read(first int64, rows int, b *Batch) error {
	data, err := d.readVotes(first, rows)
	if err != nil {
		return err
	}
	var ids, labels []byte
	if d.ids {
		if ids, err = d.readRun(d.idArray, first, rows); err != nil {
			return err
		}
	}
	if d.labels != nil {
		if labels, err = d.readRun(d.labels, first*int64(d.width), rows*d.width); err != nil {
			return err
		}
	}
	element := func(a *npyArray, data []byte, i int, c *cell) {
		a.dtype.read(data[i*a.dtype.Size:(i+1)*a.dtype.Size], c)
	}
	row, column := d.m, 1 // steps between columns
	if d.columns {
		row, column = 1, rows
	}
	width := d.width
	rec := record{votes: make([]cell, d.m*width), truth: make([]cell, width)}
	for i := range rows {
		rec.place = int(first) + i
		for t := range rec.votes {
			element(d.votes, data, (i*row+t/width*column)*width+t%width, &rec.votes[t])
		}
		if ids != nil {
			element(d.idArray, ids, i, &rec.id)
		}
		if labels != nil && d.vectors {
			for l := range width {
				element(d.labels, labels, i*width+l, &rec.truth[l])
			}
		} else if labels != nil {
			element(d.labels, labels, i, &rec.label)
		}
		if wrong := d.add(b, &rec); wrong != nil {
			return d.faultAt(rec.place, max(-1, wrong.at), "", wrong)
		}
	}
	return nil
}

// readVotes reads the votes of some queries as they lie in the array.
func (d *npyDecoder) readVotes(first int64, rows int) ([]byte, error) {
	if !d.columns {
		return d.readRun(d.votes, first*int64(d.m*d.width), rows*d.m*d.width)
	}
	var data []byte
	for c := range d.m {
		run, err := d.readRun(d.votes, (int64(c)*d.n+first)*int64(d.width), rows*d.width)
		if err != nil {
			return nil, err
		}
		data = append(data, run...)
	}
	return data, nil
}

// readRun reads elements that lie side by side.
func (d *npyDecoder) readRun(a *npyArray, first int64, n int) ([]byte, error) {
	size := a.dtype.Size
	data := make([]byte, n*size)
	if got, err := a.at.ReadAt(data, first*int64(size)); got < len(data) {
		return nil, d.arrayError(err, a.member)
	}
	return data, nil
}
